package trajectory

import (
	"ctxplugin/compartments"
	"ctxplugin/decay"
	"ctxplugin/lab/provider"
)

// Observe watches the frames of a policy: a record for each turn. under says which
// run it is; its window is filled in.
func (p *Played) Observe(frames []Frame, run Run) []Turn {
	run.Script, run.Seed, run.Window = p.Script.Name, p.Script.Seed, p.Setup.Window
	if run.Usable == 0 {
		run.Usable = p.Window.Usable
	}
	cache := provider.NewCache(p.Setup.Prices)
	var out []Turn
	var before []provider.Block
	was := map[compartments.CompartmentID]compartments.Tier{}
	moved := map[compartments.CompartmentID]int{}
	last := map[string]bool{}
	for n := range frames {
		f, st := &frames[n], &p.steps[n]
		if len(out) == 0 || out[len(out)-1].Turn != st.turn {
			out = append(out, Turn{Run: run, Turn: st.turn})
		}
		t := &out[len(out)-1]
		size := p.size(f)
		if st.starts || t.Requests == 0 {
			p.look(t, f, n, size)
		}
		t.Requests++
		t.Mean += size
		if size > run.Usable {
			t.OverWindow++
		}
		if !sameHead(f.Head, last) {
			t.Folds++
			t.Switches, t.Reversals = t.count(f.tiers, was, moved)
			last = map[string]bool{}
			for _, text := range f.Head {
				last[text] = true
			}
		}
		blocks := p.blocks(f)
		if !startsWith(blocks, before) {
			t.Prefixes++
		}
		before = blocks
		b := cache.Bill(provider.Request{Now: st.now, Blocks: blocks, Output: p.output(st.reply)})
		t.Read += b.Read
		t.Write += b.Write
		t.Fresh += b.Fresh
		t.Output += b.Output
		t.Cost += decay.Cost(b, p.Setup.Prices)
	}
	for i := range out {
		out[i].Mean /= max(1, out[i].Requests)
	}
	return out
}

func sameHead(head []string, last map[string]bool) bool {
	if len(head) != len(last) {
		return false
	}
	for _, text := range head {
		if !last[text] {
			return false
		}
	}
	return true
}

// count compares the tiers of a fold with those before it.
func (t *Turn) count(now, was map[compartments.CompartmentID]compartments.Tier, moved map[compartments.CompartmentID]int) (switches, reversals int) {
	switches, reversals = t.Switches, t.Reversals
	for id, tier := range now {
		if tier == compartments.TierNone {
			tier = compartments.TierArchived // below all others
		}
		before, shown := was[id]
		was[id] = tier
		if !shown || before == tier {
			continue
		}
		switches++
		direction := 1
		if tier < before {
			direction = -1
		}
		if moved[id] == -direction {
			reversals++
		}
		moved[id] = direction
	}
	return switches, reversals
}

// look records what the first request of a turn shows.
func (p *Played) look(t *Turn, f *Frame, n, size int) {
	t.Size, t.Head = size, p.headTokens(f)
	t.Pressure = decay.Pressure(size, t.Usable)
	if fold := p.steps[n].fold; fold >= 0 && t.Schedule == "same" {
		in := &p.folds[fold].Inputs
		t.Budget = in.Budget
		if in.Recording != nil {
			t.Budget = in.Recording.Budget
		}
		t.OverBudget = t.Head > max(t.Budget, in.Budget)
	}
	if len(f.tiers) > 0 {
		t.Tiers, t.TierTokens = map[string]int{}, map[string]int{}
		for id, tier := range f.tiers {
			t.Tiers[tier.String()]++
			t.TierTokens[tier.String()] += p.entryTokens(id, tier)
		}
	}
	if t.Policy == Ours && len(f.tiers) > 0 {
		t.Classes = map[string]int{}
		for id := range f.tiers {
			c := p.lookup(id)
			t.Classes[p.class(c, t.Turn)] += c.RawTokens
		}
	}
	text := ""
	needed := map[compartments.CompartmentID]bool{}
	for _, probe := range p.dueAt(n) {
		if text == "" {
			text = p.shows(f)
		}
		a := Answer{Probe: probe.ID, Dimension: probe.Dimension, Relevance: probe.Relevance, Grade: probe.Grade(text),
			Age: t.Turn - p.turnOf(probe.Source)}
		c := p.holding(f, probe.Source)
		switch {
		case f.sends(probe.Source):
			a.Shown = compartments.TierRaw.String()
		case c != nil:
			a.Shown = f.tiers[c.ID].String()
		default:
			a.Shown = compartments.TierNone.String()
		}
		if c == nil {
			c = p.over(probe.Source)
		}
		if c != nil {
			a.Enough = p.sufficient(c, probe).String()
			if a.Grade.Success && f.tiers[c.ID] != compartments.TierNone && !needed[c.ID] {
				needed[c.ID] = true
				t.Needed += p.entryTokens(c.ID, f.tiers[c.ID])
			}
		} else {
			a.Enough = compartments.TierRaw.String()
		}
		t.Asked = append(t.Asked, a)
	}
}

func (p *Played) entryTokens(id compartments.CompartmentID, t compartments.Tier) int {
	if t == compartments.TierIndex {
		return compartments.TierIndex.Ceiling() / indexGroup
	}
	return takes(p.lookup(id), t)
}

// sends reports whether a message stays under a frame.
func (f *Frame) sends(i int) bool {
	if i >= f.From {
		return i < f.To
	}
	for _, k := range f.Keep {
		if k == i {
			return true
		}
	}
	return false
}

// holding is the compartment of the head that a message is in; nil if there is none.
func (p *Played) holding(f *Frame, i int) *compartments.Compartment {
	o := compartments.Ordinal(i + 1)
	for id := range f.tiers {
		if c := p.lookup(id); c.First <= o && o <= c.Last {
			return c
		}
	}
	return nil
}

// over is the compartment that ours ended with for a message; nil if it was raw
// still.
func (p *Played) over(i int) *compartments.Compartment {
	o := compartments.Ordinal(i + 1)
	for k := range p.served {
		if c := &p.served[k]; c.First <= o && o <= c.Last {
			return c
		}
	}
	return nil
}

// turnOf is the turn that a message belongs to.
func (p *Played) turnOf(message int) int { return p.turns[message] }

// The classes of old context, by when a probe needs it next.
const (
	ClassSoon  = "needed within ten turns"
	ClassLater = "needed later"
	ClassDone  = "not needed again"
)

// soon is how many turns ahead are soon.
const soon = 10

// class is when a compartment is needed next, seen from a turn.
func (p *Played) class(c *compartments.Compartment, turn int) string {
	out := ClassDone
	for i := range p.Script.Probes {
		probe := &p.Script.Probes[i]
		if o := compartments.Ordinal(probe.Source + 1); o < c.First || o > c.Last {
			continue
		}
		switch at := p.turnOf(probe.At); {
		case at < turn:
		case at < turn+soon:
			return ClassSoon
		default:
			out = ClassLater
		}
	}
	return out
}

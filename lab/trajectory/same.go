package trajectory

import (
	"slices"

	"ctxplugin/compartments"
	"ctxplugin/decay"
)

// moment is a fold of ours as it is put to a policy.
func (p *Played) moment(fold int, was map[compartments.CompartmentID]compartments.Tier) *Moment {
	f := &p.folds[fold]
	m := &Moment{Number: fold, Room: f.Inputs.Budget - decay.Preamble(true)}
	if r := f.Inputs.Recording; r != nil {
		m.Room = r.Budget - decay.Preamble(true)
	}
	for i := range f.Layout {
		for _, item := range f.Layout[i].Items {
			for _, id := range item.Compartments {
				c := p.lookup(id)
				m.Compartments = append(m.Compartments, c)
				t, ok := was[id]
				if !ok {
					t = compartments.TierRaw
				}
				m.Applied = append(m.Applied, t)
			}
		}
	}
	return m
}

// AtOurs are the frames of a policy that folds when ours does.
func (p *Played) AtOurs(policy Policy) []Frame {
	ours := p.frames()
	if policy == (everything{}) {
		for n := range ours {
			ours[n] = Frame{To: ours[n].To}
		}
		return ours
	}
	h := &head{lookup: p.lookup}
	var shown Frame
	last := -1
	for n := range ours {
		st := &p.steps[n]
		if st.fold < 0 {
			continue
		}
		if st.fold != last {
			last = st.fold
			m := p.moment(last, h.tiers())
			if _, knows := policy.(knowing); knows {
				m.need = p.need(n, ours)
			}
			choice := policy.Choose(m)
			p.put(h, m, choice)
			shown = Frame{Head: h.texts(), From: ours[n].From, tiers: h.tiers()}
			for i := len(choice) - 1; i >= 0 && choice[i] == compartments.TierRaw; i-- {
				shown.From = int(m.Compartments[i].First) - 1
				shown.tiers[m.Compartments[i].ID] = compartments.TierRaw
			}
		}
		f := shown
		f.To, f.Edits, f.plan = ours[n].To, ours[n].Edits, ours[n].plan
		for _, i := range ours[n].Keep {
			if i < f.From {
				f.Keep = append(f.Keep, i)
			}
		}
		ours[n] = f
	}
	return ours
}

// put shows a choice. Where pairs that were kept make the head too large, it becomes
// one pair.
func (p *Played) put(h *head, m *Moment, choice []compartments.Tier) {
	h.show(m.Compartments, choice, true)
	if p.headTokens(&Frame{Head: h.texts()}) > m.Room+decay.Preamble(true) {
		h.show(m.Compartments, choice, false)
	}
}

// schedule is when and how far a policy of its own folds, in tokens.
type schedule struct {
	usable int
	tail   int
	room   int
	aim    int
}

func scheduleFor(usable int) schedule {
	s := decay.Defaults()
	return schedule{usable: usable, tail: decay.Tail(usable, s), room: decay.Budget(usable, s) - decay.Preamble(true), aim: usable * s.ForceAim / 1000}
}

// OnOwn are the frames of a policy that folds by pressure alone, within a usable
// window, over the compartments that ours ended with.
func (p *Played) OnOwn(policy Policy, usable int) []Frame {
	sc, mark := scheduleFor(usable), decay.Defaults().ForceMark
	h := &head{lookup: p.lookup}
	sums := make([]int, len(p.whole)+1)
	for i, n := range p.whole {
		sums[i+1] = sums[i] + n
	}
	out := make([]Frame, len(p.steps))
	var now Frame
	covered, folds := 0, 0
	for n := range p.steps {
		now.To = p.steps[n].reply
		now.Keep = p.question(&now)
		if policy != (everything{}) && decay.Pressure(p.size(&now), usable) >= mark {
			if cut := p.cut(sc.tail, now.To, sums); cut > covered {
				covered = cut
				m := &Moment{Number: folds, Room: sc.room}
				folds++
				was := h.tiers()
				for i := range p.served[:cut] {
					m.Compartments = append(m.Compartments, &p.served[i])
					m.Applied = append(m.Applied, was[p.served[i].ID])
				}
				from := int(p.served[cut-1].Last)
				if policy == (truncation{}) {
					m.Room = max(0, sc.aim-(sums[now.To]-sums[from]))
				}
				choice := policy.Choose(m)
				p.put(h, m, choice)
				now = Frame{Head: h.texts(), From: from, To: now.To, tiers: h.tiers()}
				for i := len(choice) - 1; i >= 0 && choice[i] == compartments.TierRaw; i-- {
					now.From = int(m.Compartments[i].First) - 1
					now.tiers[m.Compartments[i].ID] = compartments.TierRaw
				}
				now.Keep = p.question(&now)
			}
		}
		out[n] = now
		out[n].Keep = slices.Clone(now.Keep)
	}
	return out
}

// question is the newest message of a person, if a frame would lose it.
func (p *Played) question(f *Frame) []int {
	for i := f.To - 1; i >= 0; i-- {
		if p.Script.Messages[i].RealUser() {
			if i < f.From {
				return []int{i}
			}
			return nil
		}
	}
	return nil
}

// cut is how many of the compartments that ours ended with lie before a tail.
func (p *Played) cut(tail, to int, sums []int) int {
	n := 0
	for n < len(p.served) && int(p.served[n].Last) < to && sums[to]-sums[p.served[n].Last] >= tail {
		n++
	}
	return n
}

// mean is the mean size of frames, in tokens.
func (p *Played) mean(frames []Frame) int {
	sum := 0
	for i := range frames {
		sum += p.size(&frames[i])
	}
	return sum / max(1, len(frames))
}

// matchSteps is how often the window of a run of its own is halved in.
const matchSteps = 9

// Matched are the frames of a policy on a schedule of its own, in the window for
// which its mean size is nearest to that of ours.
func (p *Played) Matched(policy func() Policy, mean int) (frames []Frame, usable int) {
	low, high := p.Window.Usable/4, 4*p.Window.Usable
	best := -1
	for range matchSteps {
		middle := (low + high) / 2
		f := p.OnOwn(policy(), middle)
		m := p.mean(f)
		if off := max(m-mean, mean-m); best < 0 || off < best {
			best, frames, usable = off, f, middle
		}
		if m > mean {
			high = middle
		} else {
			low = middle
		}
	}
	return frames, usable
}

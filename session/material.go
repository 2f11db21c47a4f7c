package session

import (
	"slices"

	"ctxplugin/compartments"
	"ctxplugin/decay"
)

// material gathers the pairs of the head that can be rendered again and the
// compartments behind them that end at or before the cut without a gap.
func (p *pass) material(cut int) decay.Material {
	m := decay.Material{Cold: p.cold, Memory: &p.rungs}
	applied := make(map[compartments.CompartmentID]compartments.Tier, len(p.v.served))
	for _, pair := range p.st.Layout {
		for _, item := range pair.Items {
			for _, id := range item.Compartments {
				applied[id] = item.Tier
			}
		}
	}
	candidate := func(c *compartments.Compartment, rendered bool) decay.Candidate {
		t, ok := applied[c.ID]
		switch {
		case ok:
		case rendered:
			t = compartments.TierIndex // it replaces one that was rendered
		default:
			t = compartments.TierRaw
		}
		return decay.Candidate{Compartment: c, Applied: t, Relevance: p.settings().Relevance(p.turnsBehind(c)), Saved: p.savedIn(c)}
	}
	next, at := 0, p.v.start
	for _, pair := range p.st.Layout[:p.v.firm] {
		to := p.v.place[pair.Last-1] + 1
		ends := next
		for ends < len(p.v.served) && p.v.served[ends].to <= to {
			ends++
		}
		d := decay.Pair{Layout: pair, Candidates: make([]decay.Candidate, 0, ends-next)}
		for ; next < ends; next++ {
			if p.v.served[next].from >= at {
				d.Candidates = append(d.Candidates, candidate(p.v.served[next].c, true))
			}
		}
		m.Pairs = append(m.Pairs, d)
		at = to
	}
	// what lies behind them but is not in view raw is rendered in any case
	through, dropped := at, max(p.dropped(), p.v.hidden)
	for ; next < len(p.v.served) && p.v.served[next].from == at && p.v.served[next].to <= cut; next++ {
		c := candidate(p.v.served[next].c, p.v.served[next].from < dropped)
		c.NotRaw = at > p.v.start && !p.led(p.v, at)
		m.New = append(m.New, c)
		at = p.v.served[next].to
	}
	if p.thinned != nil {
		m.Saves = p.thinned.fresh
	}
	for i := at; i < len(p.v.order); i++ { // what no compartment covers stays raw too
		m.Tail += p.tokensAt(p.v, i)
	}
	p.hold(&m)
	var unfading []run
	for _, r := range p.v.served {
		if p.unfading(r.c, p.eased[r.c.ID]) && !p.away[r.c.ID] {
			unfading = append(unfading, r)
		}
	}
	m.Keeps = append(m.Keeps, p.keptTokens(through, unfading))
	for _, c := range m.New {
		through += len(c.Compartment.Members)
		m.Keeps = append(m.Keeps, p.keptTokens(through, unfading))
	}
	return m
}

// reach is the place behind all that a material can render.
func (p *pass) reach(m *decay.Material) int {
	at := p.v.start
	if n := len(m.Pairs); n > 0 {
		at = p.v.place[m.Pairs[n-1].Layout.Last-1] + 1
	}
	for _, c := range m.New {
		at += len(c.Compartment.Members)
	}
	return at
}

// turnsBehind is how many turns began after the last message of a compartment;
// 0 means that the running turn is in it. It counts to a few and no further.
func (p *pass) turnsBehind(c *compartments.Compartment) int {
	turns := p.toCome
	for t := p.turnStart(p.v); t > p.v.place[c.Last-1] && turns < turnsTold; turns++ {
		if t = p.v.users[t-1]; t < p.v.first {
			t = -1
		}
	}
	return turns
}

// turnsTold is how many turns back a compartment is told from an older one.
const turnsTold = 3

// keptTokens is what stays raw before a place, in tokens: of the compartments that
// may not fade, those that end there or earlier.
func (p *pass) keptTokens(through int, unfading []run) int {
	n := 0
	var held []compartments.Ordinal
	for _, r := range unfading {
		if r.to <= through {
			held = p.keepWhole(held, r.c)
		}
	}
	for _, o := range p.keptWith(through, held) {
		n += p.entry(o).Tokens() - p.saved[o]
	}
	return n
}

// cuts are the places where a forced fold may let the tail begin, in the order
// in which they are tried: the tail as it should be, the least one, and, for a
// request that would not fit even so, the newest user message alone, when the
// newest step belongs to the turn before it and would keep that turn's user
// message in view. Those behind which a reply would stand first come last.
func (p *pass) cuts() []int {
	cuts := []int{p.tailCut(p.v, decay.Tail(p.w.Usable, p.settings()))}
	if least := p.tailCut(p.v, 0); least > cuts[0] {
		cuts = append(cuts, least)
	}
	if t := p.turnStart(p.v); t > cuts[len(cuts)-1] {
		cuts = append(cuts, t)
	}
	slices.SortStableFunc(cuts, func(a, b int) int {
		switch led := p.led(p.v, a); {
		case led == p.led(p.v, b):
			return 0
		case led:
			return -1
		}
		return 1
	})
	return cuts
}

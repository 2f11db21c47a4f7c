package decay

import (
	"math"

	"ctxplugin/compartments"
)

// rung is one tier that policy allows a compartment, raw among them.
type rung struct {
	tier     compartments.Tier
	survival int32 // that is expected of it, permille
	tokens   int32 // of the text alone
}

// rungs are those of one compartment, most tokens first, and all that a selection
// asks of its texts. A fold weighs the same compartment several times, at other ages
// and beside others; these stay.
type rungs struct {
	n  int
	at [compartments.MostLegal]rung
}

func (r *rungs) all() []rung { return r.at[:r.n] }

// rungsOf works them out.
func rungsOf(candidate *Candidate, s *Settings) (out rungs) {
	c := candidate.Compartment
	var kept [compartments.MostLegal]compartments.Survival
	var fading [compartments.Dimensions]bool
	fades := func(s *compartments.Survival) {
		for d := range fading {
			fading[d] = fading[d] || s[d] < 1000
		}
	}
	c.EachLegal(candidate.floor(s), func(t compartments.Tier, r compartments.Rendition) {
		out.at[out.n] = rung{tier: t, survival: 1000}
		if t != compartments.TierRaw {
			out.at[out.n].tokens, kept[out.n] = int32(min(r.Tokens, math.MaxInt32)), r.Survival
			fades(&r.Survival)
		}
		out.n++
	})
	if out.n < len(out.at) { // what is not legal fades too
		for _, r := range c.Tiers {
			fades(&r.Survival)
		}
	}
	for i := range out.all() {
		if r := &out.at[i]; r.tier != compartments.TierRaw {
			r.survival = int32(survivalOf(&kept[i], r.tier, &fading, s.Trust))
		}
	}
	return out
}

// Memory remembers the rungs of compartments from fold to fold: a compartment never
// changes, one of another class is another one, and the texts of a long session's lie
// all over the memory. The zero value is empty. It may be used by one fold at a time.
type Memory struct {
	floor compartments.Survival
	trust int64
	known []remembered // by compartment
}

type remembered struct {
	of    *compartments.Compartment
	rungs rungs
}

// memoryMost bounds what is remembered: compartments are numbered from 1 on.
const memoryMost = 1 << 16

// ready makes a memory fit for settings, and for compartments up to a number.
func (m *Memory) ready(s *Settings, last compartments.CompartmentID) {
	if floor := s.Floor(); m.floor != floor || m.trust != s.Trust {
		m.floor, m.trust, m.known = floor, s.Trust, nil
	}
	if n := int(min(last, memoryMost)) + 1; n > len(m.known) {
		m.known = append(m.known, make([]remembered, n-len(m.known))...)
	}
}

// rungs are those of a candidate, remembered if they may be.
func (m *Memory) rungs(c *Candidate, s *Settings) *rungs {
	if id := c.Compartment.ID; !c.Eased && id > 0 && id < compartments.CompartmentID(len(m.known)) {
		r := &m.known[id]
		if r.of != c.Compartment {
			r.of, r.rungs = c.Compartment, rungsOf(c, s)
		}
		return &r.rungs
	}
	r := rungsOf(c, s)
	return &r
}

// measure works out the rungs of all candidates, once for all folds that are
// weighed.
func (m *Material) measure(s *Settings) {
	n, last := 0, compartments.CompartmentID(0)
	each := func(do func(*Candidate)) {
		for i := range m.Pairs {
			for j := range m.Pairs[i].Candidates {
				do(&m.Pairs[i].Candidates[j])
			}
		}
		for i := range m.New {
			do(&m.New[i])
		}
	}
	each(func(c *Candidate) {
		n++
		last = max(last, c.Compartment.ID)
	})
	if m.Memory != nil {
		m.Memory.ready(s, last)
		each(func(c *Candidate) { c.rungs = m.Memory.rungs(c, s) })
		return
	}
	all := make([]rungs, 0, n)
	each(func(c *Candidate) {
		all = append(all, rungsOf(c, s))
		c.rungs = &all[len(all)-1]
	})
}

package decay

import "ctxplugin/compartments"

// rung is one tier that policy allows a compartment, raw among them.
type rung struct {
	tier     compartments.Tier
	tokens   int   // of the text alone
	survival int64 // that is expected of it, permille
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
			out.at[out.n].tokens, kept[out.n] = r.Tokens, r.Survival
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
			r.survival = survivalOf(&kept[i], r.tier, &fading, s.Trust)
		}
	}
	return out
}

// measure works out the rungs of all candidates, once for all folds that are
// weighed.
func (m *Material) measure(s *Settings) {
	n := len(m.New)
	for i := range m.Pairs {
		n += len(m.Pairs[i].Candidates)
	}
	all := make([]rungs, 0, n)
	of := func(candidates []Candidate) {
		for i := range candidates {
			all = append(all, rungsOf(&candidates[i], s))
			candidates[i].rungs = &all[len(all)-1]
		}
	}
	for i := range m.Pairs {
		of(m.Pairs[i].Candidates)
	}
	of(m.New)
}

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
	var texts [compartments.TierAnchor + 1]compartments.Rendition
	var fading [compartments.Dimensions]bool
	for _, t := range compartments.Rendered {
		r, ok := c.Tiers[t]
		if !ok {
			continue
		}
		texts[t] = r
		for d := range fading {
			fading[d] = fading[d] || r.Survival[d] < 1000
		}
	}
	var room [compartments.MostLegal]compartments.Tier
	for _, t := range c.AppendLegal(room[:0], candidate.floor(s)) {
		r := rung{tier: t, survival: 1000}
		if t != compartments.TierRaw {
			r.tokens, r.survival = texts[t].Tokens, survivalOf(&texts[t].Survival, t, &fading, s.Trust)
		}
		out.at[out.n] = r
		out.n++
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

package decay

import "ctxplugin/compartments"

// Record begins the recording of a fold with the moment at which it is weighed.
func (m Moment) Record(w Window, s Settings) *compartments.Recording {
	return &compartments.Recording{HalfLife: s.HalfLife, PromoteBelow: s.PromoteBelow, ForceTier: s.ForceTier, Ablate: s.Ablate.String(), DemoteShare: s.DemoteTo, ForceMark: s.ForceMark,
		Floors: s.RecordedFloors(), LeastGain: LeastGain(w.Usable, s), TurnMost: share(w.Usable, s.TurnShare),
		Moment: compartments.FoldMoment{Grown: m.Growth, Turn: m.Turn, TurnStart: m.TurnStart,
			Cold: m.Cold, Overflowed: m.Overflowed, Stale: m.Stale, Asked: m.Asked, Pending: m.Pending}}
}

// Record adds to a recording what the option's choice followed from. Only what
// Choose returned has that. perStep is the growth a step, in tokens.
func (o *Option) Record(r *compartments.Recording, perStep int, prices compartments.Prices) {
	r.Budget, r.DemoteTo, r.Limit, r.Spare, r.Tail, r.Weighed = o.budget, o.demoteTo, o.limit, o.spare, o.from.Tail, o.Weighed
	for i := range r.Weighed {
		r.Weighed[i].Spacing = Spacing(r.Weighed[i].Behind, perStep, prices)
	}
	r.Rest, r.Holds, r.Saved, r.Saves = o.Rest, nil, nil, o.Saves
	add := func(candidates []Candidate) {
		for i := range candidates {
			c := &candidates[i]
			if h := c.hold(len(r.Candidates)); h != nil {
				r.Holds = append(r.Holds, *h)
			}
			if c.Saved != 0 {
				r.Saved = append(r.Saved, compartments.Saved{At: len(r.Candidates), Tokens: c.Saved})
			}
			r.Candidates = append(r.Candidates, compartments.CandidateRecord{Compartment: c.Compartment.ID, Applied: c.Applied, Relevance: c.Relevance})
		}
	}
	for i := range o.from.Pairs {
		add(o.from.Pairs[i].Candidates)
		r.Pairs = append(r.Pairs, len(o.from.Pairs[i].Candidates))
	}
	add(o.from.New)
}

// hold is what holds a candidate besides its worth; nil if nothing does.
func (c *Candidate) hold(at int) *compartments.Hold {
	class := c.Compartment.Retention
	if class == compartments.Compressible && len(c.Pins) == 0 && !c.Away && !c.Eased && !c.NotRaw {
		return nil
	}
	h := &compartments.Hold{At: at, Class: class, Pins: c.pinIDs(nil), Away: c.Away, Eased: c.Eased, NotRaw: c.NotRaw}
	for _, p := range c.Pins {
		h.Tokens = append(h.Tokens, p.Tokens)
	}
	return h
}

// RecordedFloors are the floors as a recording has them: none where the policy
// demands none.
func (s *Settings) RecordedFloors() []int {
	if s.Floors == [compartments.Dimensions]int{} {
		return nil
	}
	return append([]int(nil), s.Floors[:]...)
}

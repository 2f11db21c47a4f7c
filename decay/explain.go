package decay

import "ctxplugin/compartments"

// Explained is a selection that a fold made, with all that it followed from, so
// that a reader can make it again with no more than this. Tokens of points and
// savings are in 1/TokenUnit, because an index line is shared by many.
type Explained struct {
	Divergence  int  `json:"divergence"`  // pairs kept
	Budget      int  `json:"budget"`      // of the history, in tokens
	DemoteShare int  `json:"demoteShare"` // permille of the budget that a selection that demotes goes down to
	Kept        int  `json:"kept"`        // tokens of the pairs kept, and of messages of theirs that stay raw
	Opening     int  `json:"opening"`     // tokens put aside for the opening of the new pair
	Target      int  `json:"target"`      // tokens that the entries may take
	Tokens      int  `json:"tokens"`      // that they take
	Fits        bool `json:"fits"`
	Group       int  `json:"group"`     // compartments in one index line
	Demotions   int  `json:"demotions"` // in the whole list
	Taken       int  `json:"taken"`     // of them, from the front
	// Floors are the floors that the fold had, permille, by the name of their setting.
	Floors     map[string]int `json:"floors,omitempty"`
	Candidates []Explainer    `json:"candidates"`
}

// TokenUnit is the fraction of a token in which an Explained counts.
const TokenUnit = tokenUnit

// Explainer is one candidate of a selection.
type Explainer struct {
	Compartment compartments.CompartmentID `json:"compartment"`
	Class       string                     `json:"class"`           // that it had
	Highest     string                     `json:"highest"`         // of the tiers that policy allowed
	Lowest      string                     `json:"lowest"`          // index and archived among them
	Eased       bool                       `json:"eased,omitempty"` // the floors had no room for it, and did not hold it
	Away        bool                       `json:"away,omitempty"`  // what it may not lose had no room: it is none
	Applied     string                     `json:"applied"`         // before
	Tier        string                     `json:"tier"`            // picked
	Relevance   int                        `json:"relevance"`       // permille
	Age         int                        `json:"age"`             // newer candidates
	Points      []Point                    `json:"points"`          // legal, most tokens first
	Below       *Point                     `json:"below,omitempty"`
	Steps       []Step                     `json:"steps"` // down the hull of the points
}

// Point is one legal representation. Below the last of a candidate's points may
// lie an index line or the archive; the share of an index line's own tokens is
// counted in, its exact spans are Spans.
type Point struct {
	Tier   string `json:"tier"`
	Tokens int64  `json:"tokens"` // in 1/TokenUnit
	Value  int64  `json:"value"`
	Spans  int    `json:"spans,omitempty"` // tokens
}

// Step is one demotion of a candidate.
type Step struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Saves int64  `json:"saves"` // in 1/TokenUnit
	Loss  uint64 `json:"loss"`  // value lost for each unit saved, in 1/2^20
	Place int    `json:"place"` // in the list of all demotions, from 1
	Taken bool   `json:"taken"`
}

// PerToken is the value lost for each token saved.
func (s Step) PerToken() uint64 { return s.Loss * tokenUnit >> 20 }

// Turning is a budget at which a candidate's tier changes: at Budget it is not
// that of one token less. Tier is the other tier: that of a token less for the
// turning point below the budget, that of Budget itself for the one above.
type Turning struct {
	Budget int    `json:"budget"`
	Tier   string `json:"tier"`
}

// Explain takes a recorded fold apart.
func Explain(r *compartments.Recording, lookup Lookup) (*Explanation, error) {
	again, err := Replay(r, lookup)
	if err != nil {
		return nil, err
	}
	o := again.Made
	e := &Explanation{r: r, o: o, tried: map[int][]compartments.Tier{}}
	s := recordedSettings(r)
	list := demotionsOf(o.Candidates, o.Selection.GroupSize, s)
	e.Explained = Explained{Divergence: o.Divergence, Budget: r.Budget, DemoteShare: r.DemoteShare, Kept: o.Kept + o.Held, Opening: o.opening(),
		Target: o.Target, Tokens: o.Selection.Tokens, Fits: o.Fits, Group: o.Selection.GroupSize,
		Demotions: len(list.turns), Taken: o.Selection.taken, Floors: FloorsByName(s.Floor()), Candidates: make([]Explainer, len(o.Candidates))}
	from := make([]compartments.Tier, len(o.Candidates))
	for i := range o.Candidates {
		c := &o.Candidates[i]
		age := len(o.Candidates) - 1 - i
		points, below := legalPoints(nil, c, age, o.Selection.GroupSize, s)
		x := &e.Candidates[i]
		*x = Explainer{Compartment: c.Compartment.ID, Applied: c.Applied.String(), Tier: o.Selection.Tiers[i].String(), Relevance: c.Relevance, Age: age, Steps: []Step{},
			Class: c.Compartment.Retention.String(), Eased: c.Eased, Away: c.Away}
		highest, lowest := c.Range(s)
		x.Highest, x.Lowest = highest.String(), lowest.String()
		for _, p := range points {
			x.Points = append(x.Points, Point{Tier: p.tier.String(), Tokens: p.tokens, Value: p.value})
		}
		if below.tier != compartments.TierNone {
			x.Below = &Point{Tier: below.tier.String(), Tokens: below.tokens, Value: below.value}
			if below.tier == compartments.TierIndex {
				x.Below.Spans = spanTokens(c)
			}
		}
		from[i] = list.now[i].tier
	}
	for place, t := range list.turns { // a candidate's steps come in order
		st := list.steps[t.at]
		x := &e.Candidates[st.candidate]
		x.Steps = append(x.Steps, Step{From: from[st.candidate].String(), To: st.to.tier.String(), Saves: st.saves, Loss: uint64(t.loss), Place: place + 1, Taken: place < o.Selection.taken})
		from[st.candidate] = st.to.tier
	}
	return e, nil
}

// Explanation is a recorded fold taken apart.
type Explanation struct {
	Explained
	r     *compartments.Recording
	o     *Option
	tried map[int][]compartments.Tier // tiers by budget
}

// Find returns the place of a compartment among the candidates.
func (e *Explanation) Find(id compartments.CompartmentID) (i int, ok bool) {
	for i := range e.Candidates {
		if e.Candidates[i].Compartment == id {
			return i, true
		}
	}
	return 0, false
}

// at is what the selection would have been with another budget, all else the
// same.
func (e *Explanation) at(budget int) []compartments.Tier {
	if tiers, ok := e.tried[budget]; ok {
		return tiers
	}
	o := Option{Divergence: e.o.Divergence, Candidates: e.o.Candidates, Kept: e.o.Kept, Held: e.o.Held, Rest: e.o.Rest}
	o.choose(budget, budget*e.r.DemoteShare/1000, recordedSettings(e.r))
	e.tried[budget] = o.Selection.Tiers
	return o.Selection.Tiers
}

// Turning returns the budgets at which the tier of candidate i changes, nil
// where no budget of the history changes it: less is the smallest budget that
// still gives what it has, more the smallest that gives it more. The pairs that
// the fold kept, and the place where it diverged, are taken as they were.
func (e *Explanation) Turning(i int) (less, more *Turning) {
	tier := e.o.Selection.Tiers[i]
	low, high := 0, e.Budget
	if e.at(high)[i] != tier { // a demotion aims lower than the budget that demands it
		return nil, nil
	}
	if e.at(low)[i] != tier {
		for high-low > 1 {
			if middle := low + (high-low)/2; e.at(middle)[i] == tier {
				high = middle
			} else {
				low = middle
			}
		}
		less = &Turning{Budget: high, Tier: e.at(low)[i].String()}
	}
	low, high = e.Budget, e.most()
	if high > low && e.at(high)[i] != tier {
		for high-low > 1 {
			if middle := low + (high-low)/2; e.at(middle)[i] == tier {
				low = middle
			} else {
				high = middle
			}
		}
		more = &Turning{Budget: high, Tier: e.at(high)[i].String()}
	}
	return less, more
}

// most is a budget under which nothing is demoted.
func (e *Explanation) most() int {
	n := int64(0)
	for i := range e.Candidates {
		n += e.Candidates[i].Points[0].Tokens
	}
	return e.Kept + e.Opening + int(n/tokenUnit) + 1
}

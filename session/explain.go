package session

import (
	"context"
	"fmt"
	"slices"

	"ctxplugin/compartments"
	"ctxplugin/decay"
)

// Explanation says why the head is as it is, with every number that it followed
// from: tiers and costs can be worked out again from it alone. Tokens unless said
// otherwise; money is in micro-units.
type Explanation struct {
	Session      compartments.SessionID `json:"session"`
	PlanID       string                 `json:"planID"`
	Stats        Stats                  `json:"stats"`
	Compartments []Explained            `json:"compartments"` // that are valid, in list order
	Selections   []Selection            `json:"selections"`   // of the folds that rendered what is in force
	Folds        []FoldCost             `json:"folds"`        // all, oldest first
	NotInView    []OutOfView            `json:"notInView"`    // in list order
	Next         *Preview               `json:"next,omitempty"`
}

// Explained is one compartment and the tier that it has.
type Explained struct {
	Compartment compartments.CompartmentID `json:"compartment"`
	First       compartments.Ordinal       `json:"first"`
	Last        compartments.Ordinal       `json:"last"`
	Title       string                     `json:"title"`
	Tier        string                     `json:"tier"`
	Tokens      int                        `json:"tokens"`    // at that tier, its heading apart; of an index line its share
	RawTokens   int                        `json:"rawTokens"` // of the messages themselves
	Importance  int                        `json:"importance"`
	Retention   string                     `json:"retention"` // its class now
	Class       string                     `json:"class"`     // that it had at the fold that rendered it
	Highest     string                     `json:"highest"`   // of the tiers that policy allowed at the fold that rendered it, or allows now
	Lowest      string                     `json:"lowest"`
	Floors      map[string]int             `json:"floors,omitempty"` // permille by setting, of that fold, or as they are now
	Eased       bool                       `json:"eased,omitempty"`  // that fold had no room for them, so that they do not hold this one
	Below       bool                       `json:"below,omitempty"`  // it is shown below them
	Fold        int                        `json:"fold"`             // that rendered it; 0 if none did
	Pair        int                        `json:"pair"`             // of the head; -1 if it is in none
	Why         string                     `json:"why"`

	Less *decay.Turning `json:"less,omitempty"` // smallest history budget that still gives this tier
	More *decay.Turning `json:"more,omitempty"` // smallest one that gives more
}

// Selection is what one fold chose, and from what.
type Selection struct {
	Fold int `json:"fold"`
	decay.Explained
}

// FoldCost is one fold in the ledger, with what it cost and saved.
type FoldCost struct {
	FoldLine
	First   int64               `json:"first"` // first message that its new pair stands for; 0 if it made none
	Stubs   int                 `json:"stubs"`
	Behind  int                 `json:"behind"` // tokens behind the divergence: D
	Spacing int                 `json:"spacing"`
	Prices  compartments.Prices `json:"prices"`
	Costs   decay.Costs         `json:"costs"`
	Undoes  int                 `json:"undoes,omitempty"` // fold that it takes back
	Stands  bool                `json:"stands"`           // nobody took it back
	Again   bool                `json:"again"`            // it can be made again from its recording
}

// OutOfView is a run of messages, or a part, that the model does not see as it
// was, and the call that returns it.
type OutOfView struct {
	First compartments.Ordinal `json:"first"`
	Last  compartments.Ordinal `json:"last"`
	Part  int                  `json:"part"` // -1: whole messages
	What  string               `json:"what"`
	Call  string               `json:"call"`
}

// Explain says why the head of a session is as it is. With turning, the budgets at
// which a compartment would have another tier are worked out for that one, or with
// a negative number for all. It changes nothing.
func (s *Sessions) Explain(ctx context.Context, id compartments.SessionID, turning compartments.CompartmentID) (Explanation, error) {
	var out Explanation
	err := s.current(ctx, id, func(se *Session) error {
		if err := se.mustExist(); err != nil {
			return err
		}
		a, err := se.archive(ctx)
		if err != nil {
			return err
		}
		out, err = a.explain(turning)
		return err
	})
	return out, err
}

func (a *archive) explain(turning compartments.CompartmentID) (Explanation, error) {
	out := Explanation{Session: a.id, PlanID: a.planID, Stats: a.currentStats(), Compartments: []Explained{}, Selections: []Selection{}, Folds: a.ledger(), NotInView: a.notInView()}
	madeBy := a.madeBy()
	selections := map[int]*decay.Explanation{}
	for pair, at := range madeBy {
		if at < 0 || selections[at] != nil || !decay.Recomputable(&a.folds[at]) {
			continue
		}
		e, err := decay.Explain(a.folds[at].Inputs.Recording, a.lookup)
		if err != nil {
			return out, compartments.Errorf(compartments.CodeStorage, "session %s, fold %d, pair %d: %w", a.id, a.folds[at].Number, pair, err)
		}
		selections[at] = e
		out.Selections = append(out.Selections, Selection{a.folds[at].Number, e.Explained})
	}
	shown := a.shown()
	for _, r := range a.view.served {
		x := a.explained(r.c)
		if at, ok := shown[r.c.ID]; ok {
			x.Pair, x.Tier, x.Tokens = at.pair, at.tier.String(), r.c.Tokens(at.tier)
			if at.tier == compartments.TierIndex {
				x.Tokens = at.share
			}
			x.bound(r.c, decay.Settings{}) // what held at that fold, unless its recording says more
			x.Below = at.below
			x.Why = "fold of an older version: what it followed from is not recorded"
			if fold := madeBy[at.pair]; fold >= 0 {
				x.Fold = a.folds[fold].Number
				if e := selections[fold]; e != nil {
					explainIn(&x, e, turning < 0 || turning == r.c.ID)
				}
			}
		} else {
			x.bound(r.c, a.settings())
			x.Why = a.whyRaw(r)
		}
		out.Compartments = append(out.Compartments, x)
	}
	return out, nil
}

func (a *archive) explained(c *compartments.Compartment) Explained {
	return Explained{Compartment: c.ID, First: c.First, Last: c.Last, Title: c.Title, Tier: compartments.TierRaw.String(), Tokens: c.RawTokens,
		RawTokens: c.RawTokens, Importance: c.Importance, Retention: c.Retention.String(), Class: c.Retention.String(), Pair: -1}
}

// bound says what policy allows a compartment under some settings.
func (x *Explained) bound(c *compartments.Compartment, s decay.Settings) {
	highest, lowest := (&decay.Candidate{Compartment: c}).Range(s)
	x.Highest, x.Lowest, x.Floors = highest.String(), lowest.String(), decay.FloorsByName(s.Floor())
}

// explainIn says why a compartment has its tier, by the selection that gave it.
func explainIn(x *Explained, e *decay.Explanation, turning bool) {
	i, ok := e.Find(x.Compartment)
	if !ok {
		x.Why = "it was written again since that fold"
		return
	}
	c := &e.Candidates[i]
	x.Class, x.Highest, x.Lowest, x.Floors, x.Eased = c.Class, c.Highest, c.Lowest, e.Floors, c.Eased
	next := -1
	taken := 0
	for j := range c.Steps {
		if c.Steps[j].Taken {
			taken = j + 1
		} else if next < 0 {
			next = j
		}
	}
	switch {
	case c.Away:
		x.Why = "it is to be kept whole, and there was no room for that: the record names the call that opens it"
		return
	case c.Highest == c.Lowest && c.Class == compartments.Pinned.String():
		x.Why = "it is pinned, and stays whole"
		return
	case c.Highest == c.Lowest:
		x.Why = "no tier keeps what the floors demand, so it stays whole"
		return
	case taken > 0:
		st := c.Steps[taken-1]
		x.Why = fmt.Sprintf("demotion %d of %d, the first %d of which were needed: %s to %s, %d value lost for each token saved",
			st.Place, e.Demotions, e.Taken, st.From, st.To, st.PerToken())
	case c.Applied == compartments.TierRaw.String() && c.Tier != compartments.TierRaw.String():
		x.Why = "no demotion of it was needed; it is rendered because what stands behind it is"
	default:
		x.Why = "no demotion of it was needed"
	}
	if next >= 0 {
		st := c.Steps[next]
		x.Why += fmt.Sprintf("; its next one would be %d of %d: to %s, %d value for each token", st.Place, e.Demotions, st.To, st.PerToken())
	} else if c.Lowest == c.Tier {
		x.Why += "; policy allows no less"
	}
	if turning {
		x.Less, x.More = e.Turning(i)
	}
}

// whyRaw says why a compartment that no pair shows is still raw.
func (a *archive) whyRaw(r run) string {
	usable := a.st.Stats.Usable
	if usable == 0 {
		return "raw: no request was prepared yet"
	}
	if r.to > a.tailCut(&a.view, decay.Tail(usable, a.settings())) {
		return "raw: it stands in the protected tail"
	}
	return "raw: it was written since the last fold, and waits for the next one"
}

// place is where the head shows a compartment.
type place struct {
	pair  int
	tier  compartments.Tier
	share int  // of the tokens of its entry
	below bool // the floors, which were eased for it
}

func (se *Session) shown() map[compartments.CompartmentID]place {
	shown := map[compartments.CompartmentID]place{}
	for i, pair := range se.st.Layout {
		for _, item := range pair.Items {
			for _, id := range item.Compartments {
				shown[id] = place{i, item.Tier, item.Tokens / len(item.Compartments), slices.Contains(item.Eased, id)}
			}
		}
	}
	return shown
}

// madeBy names for each pair of the head the place in the ledger of the fold that
// rendered it; -1 for none that is stored here.
func (a *archive) madeBy() []int {
	by := make([]int, len(a.st.Layout))
	for i := range by {
		by[i] = -1
	}
	for _, at := range compartments.Standing(a.folds) {
		if f := &a.folds[at]; f.Divergence < len(by) {
			by[f.Divergence] = at
		}
	}
	return by
}

// ledger prices all folds.
func (a *archive) ledger() []FoldCost {
	stands := map[int]bool{}
	for _, at := range compartments.Standing(a.folds) {
		stands[at] = true
	}
	out := make([]FoldCost, 0, len(a.folds))
	for i := range a.folds {
		f := &a.folds[i]
		in := &f.Inputs
		cold := f.Reason == compartments.ReasonFirst || in.Recording != nil && in.Recording.Moment.Cold
		c := FoldCost{FoldLine: lineOf(f.Summary()), Stubs: in.Stubs, Behind: in.Behind, Spacing: in.Spacing, Prices: in.Prices,
			Costs: decay.CostsOf(in.Behind, in.Before-in.After, cold, in.Prices), Undoes: in.Undoes, Stands: stands[i], Again: decay.Recomputable(f)}
		if f.Divergence < len(f.Layout) {
			c.First = int64(f.Layout[f.Divergence].First)
		}
		out = append(out, c)
	}
	return out
}

// notInView lists what the model does not see as it was said.
func (a *archive) notInView() []OutOfView {
	out := []OutOfView{}
	add := func(first, last compartments.Ordinal, what string) {
		if n := len(out); n > 0 && out[n-1].What == what && out[n-1].Part < 0 && out[n-1].Last+1 == first {
			out[n-1].Last = last
		} else {
			out = append(out, OutOfView{First: first, Last: last, Part: -1, What: what})
		}
		n := len(out) - 1
		out[n].Call = fmt.Sprintf(`ctx_expand({"first": %d, "last": %d})`, out[n].First, out[n].Last)
	}
	shown := a.shown()
	dropped := (&pass{Session: a.Session, v: &a.view}).dropped()
	for i := 0; i < dropped; i++ {
		if r, ok := a.runAt(i); ok {
			if at, ok := shown[r.c.ID]; ok {
				add(r.c.First, r.c.Last, at.tier.String())
				i = r.to - 1
				continue
			}
		}
		add(a.view.order[i], a.view.order[i], "another entry")
	}
	for _, e := range a.plan.Edits {
		if o, ok := a.byID[e.MessageID]; ok {
			out = append(out, OutOfView{First: o, Last: o, Part: e.Part, What: "stub", Call: fmt.Sprintf(`ctx_expand({"message": %d, "part": %d})`, o, e.Part)})
		}
	}
	for o := range a.view.place {
		if a.view.place[o] < 0 && !slices.Contains(a.list[:min(2, len(a.list))], compartments.Ordinal(o+1)) {
			add(compartments.Ordinal(o+1), compartments.Ordinal(o+1), "withdrawn by the host")
		}
	}
	return out
}

// runAt is the compartment that serves and begins at a place.
func (se *Session) runAt(at int) (run, bool) {
	i, found := slices.BinarySearchFunc(se.view.served, at, func(r run, p int) int { return r.from - p })
	if !found {
		return run{}, false
	}
	return se.view.served[i], true
}

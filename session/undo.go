package session

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"ctxplugin/compartments"
	"ctxplugin/decay"
)

// UndoReply says whether a fold was taken back.
type UndoReply struct {
	Undone bool   `json:"undone"`
	Fold   int    `json:"fold"` // the fold that was taken back, or that cannot be; 0 for none
	PlanID string `json:"planID"`
	Reason string `json:"reason"`
}

// Undo takes back the last fold that stands: the plan before it is in force
// again, with the stubs that were made since. Said again it takes back the one
// before that. It is refused, and nothing changes, if that plan is no longer
// kept, stands for messages that changed, or would be folded at once by force.
func (s *Sessions) Undo(ctx context.Context, id compartments.SessionID) (UndoReply, error) {
	var out UndoReply
	err := s.current(ctx, id, func(se *Session) error {
		if err := se.mustExist(); err != nil {
			return err
		}
		folds, err := s.cfg.Store.Folds(ctx, id)
		if err != nil {
			return err
		}
		if out, err = se.undo(ctx, folds); out.Undone {
			se.outdated(false)
		}
		return err
	})
	return out, err
}

// undoing is what an undo puts in force.
type undoing struct {
	fold   *compartments.Fold // to be taken back
	layout []compartments.PairLayout
	plan   compartments.Plan
}

func (se *Session) undo(ctx context.Context, folds []compartments.Fold) (UndoReply, error) {
	out := UndoReply{PlanID: se.planID}
	u, refusal, err := se.before(ctx, folds)
	if u.fold != nil {
		out.Fold = u.fold.Number
	}
	if err != nil || refusal != "" {
		out.Reason = refusal
		return out, err
	}
	se.touched = true
	p := &pass{Session: se, v: &se.view, w: decay.Window{Usable: se.st.Stats.Usable, Budget: se.st.Stats.Budget}}
	before, shown, replaces := p.messages(), se.st.Layout, se.planID
	if refusal, err = p.restore(u); err != nil {
		return out, err
	}
	if refusal != "" {
		se.loaded = false // read again, as it was
		out.Reason = refusal
		return out, nil
	}
	se.folds++
	st := &se.st
	st.Undone, st.Asked, st.Applied = se.reached(u.fold), false, false
	after := p.messages()
	st.FoldAt, st.Steps = after-headTokens(st.Layout), 0
	fold := &compartments.Fold{Number: se.folds, At: st.Now, Reason: compartments.ReasonUndone, Divergence: alikePairs(shown, st.Layout),
		Through: st.Through, PlanID: se.planID, Layout: st.Layout, Decisions: se.changes(shown, st.Layout),
		Inputs: compartments.FoldInputs{Window: st.Stats.Window, Usable: p.w.Usable, Reserve: st.Stats.Reserve, Fixed: st.Stats.Fixed, Budget: p.w.Budget,
			Before: before, After: after, Pressure: decay.Pressure(before, p.w.Usable), Prices: st.Prices, Policy: decay.Policy, Renderer: decay.Renderer,
			Replaces: replaces, Stubs: len(se.plan.Edits), Undoes: u.fold.Number, Floors: p.cfg.Settings.RecordedFloors()}}
	fold.Inputs.Behind = after
	for _, pair := range st.Layout[:fold.Divergence] {
		fold.Inputs.Behind -= pair.Tokens
	}
	if len(fold.Decisions) > 0 {
		if c := se.all[fold.Decisions[0].Compartment]; c != nil {
			fold.FirstMoved = c.First
		}
	}
	fold.InputsHash = hashInputs(fold)
	if err := se.commit(ctx, &compartments.Batch{ListFrom: -1, Fold: fold, PlanID: se.planID, Plan: se.encoded}); err != nil {
		return out, err
	}
	out.Undone, out.PlanID = true, se.planID
	out.Reason = fmt.Sprintf("fold %d is taken back: from %d to %d tokens at the next request", u.fold.Number, before, after)
	return out, nil
}

// before finds what was in force before the last fold that stands; refusal says
// why that cannot be known.
func (se *Session) before(ctx context.Context, folds []compartments.Fold) (u undoing, refusal string, err error) {
	standing := compartments.Standing(folds)
	if len(standing) == 0 {
		return u, "no fold stands that could be taken back", nil
	}
	u.fold = &folds[standing[len(standing)-1]]
	number, id := u.fold.Number, u.fold.Inputs.Replaces
	u.layout = u.fold.Inputs.Inherited
	if n := len(standing); n > 1 {
		earlier := &folds[standing[n-2]]
		u.layout = earlier.Layout
		if id == "" { // from before that was recorded
			id = earlier.PlanID
		}
	}
	if id == "" {
		return u, fmt.Sprintf("fold %d was made by an older version, which did not record what was in force before it", number), nil
	}
	if u.plan, err = se.planNamed(ctx, id); compartments.CodeOf(err) == compartments.CodeNotFound {
		return u, fmt.Sprintf("the plan before fold %d is no longer kept: those of the last 20 folds are", number), nil
	} else if err != nil {
		return u, "", err
	}
	if len(u.plan.Head) != len(u.layout) {
		return u, fmt.Sprintf("what the plan before fold %d was rendered from is not known any more", number), nil
	}
	u.layout = slices.Clone(u.layout)
	for i := range u.layout {
		u.layout[i].Text = u.plan.Head[i].Text
	}
	made, err := se.planNamed(ctx, u.fold.PlanID)
	if err != nil && compartments.CodeOf(err) != compartments.CodeNotFound {
		return u, "", err
	}
	for _, e := range se.plan.Edits { // stubs that were made since the fold stay
		if err != nil || slices.Contains(made.Edits, e) {
			continue
		}
		if i := slices.IndexFunc(u.plan.Edits, func(o compartments.Edit) bool {
			return o.MessageID == e.MessageID && o.Part == e.Part && o.Field == e.Field
		}); i >= 0 {
			u.plan.Edits[i] = e
		} else {
			u.plan.Edits = append(u.plan.Edits, e)
		}
	}
	return u, "", nil
}

// planNamed returns a stored plan. The one that changes nothing need not be
// stored.
func (se *Session) planNamed(ctx context.Context, id string) (compartments.Plan, error) {
	empty := compartments.Plan{}
	if name, _, err := empty.Encode(); err != nil || name == id {
		return empty, err
	}
	b, err := se.cfg.Store.Plan(ctx, se.id, id)
	if err != nil {
		return empty, err
	}
	if name := fmt.Sprintf("%x", sha256.Sum256(b)); name != id {
		return empty, compartments.Errorf(compartments.CodeStorage, "session %s: the plan %s is stored with other bytes", se.id, id)
	}
	return compartments.DecodePlan(b)
}

// restore puts an earlier plan in force if it may be.
func (p *pass) restore(u undoing) (refusal string, err error) {
	s, st := p.settings(), &p.st
	if st.Overflow {
		return "the provider refused the last request as too long", nil
	}
	st.Layout, st.Through = u.layout, 0
	if n := len(u.layout); n > 0 {
		st.Through = u.layout[n-1].Last
	}
	if err := p.setPlan(u.plan); err != nil {
		return "", err
	}
	p.view = p.look()
	if p.stale() {
		return fmt.Sprintf("messages changed since: what was shown before fold %d no longer stands for the list as it is", u.fold.Number), nil
	}
	for i := range u.layout {
		for _, item := range u.layout[i].Items {
			for _, id := range item.Compartments {
				if c := p.all[id]; c != nil && !c.Allows(item.Tier, item.Demands(id, s.Floor())) {
					return fmt.Sprintf("pins or floors changed since: what was shown before fold %d is now forbidden", u.fold.Number), nil
				}
			}
		}
	}
	messages := p.messages()
	if messages > p.w.Usable {
		return fmt.Sprintf("without fold %d the next request would take %d tokens where %d fit", u.fold.Number, messages, p.w.Usable), nil
	}
	if pressure := decay.Pressure(messages, p.w.Usable); pressure >= s.ForceMark {
		return fmt.Sprintf("without fold %d the next request would be at %d %% of the usable window, and at %d %% a fold is forced",
			u.fold.Number, pressure/10, s.ForceMark/10), nil
	}
	return "", nil
}

// reached is the last message that a fold could have rendered: of its material
// some may have stayed raw.
func (se *Session) reached(f *compartments.Fold) compartments.Ordinal {
	if r := f.Inputs.Recording; r != nil && len(r.Candidates) > 0 {
		if c := se.all[r.Candidates[len(r.Candidates)-1].Compartment]; c != nil {
			return c.Last
		}
	}
	return f.Through
}

// heldBack reports whether a fold that nothing forces and nobody asked for would
// make again what the user took back: it waits for material behind that.
func (p *pass) heldBack(m *decay.Material) bool {
	if p.st.Undone == 0 || p.st.Asked || int(p.st.Undone) > len(p.v.place) || p.v.place[p.st.Undone-1] < 0 {
		return false
	}
	n := len(m.New)
	return n == 0 || p.v.place[m.New[n-1].Compartment.Last-1] <= p.v.place[p.st.Undone-1]
}

// alikePairs counts the pairs that two layouts begin with alike.
func alikePairs(a, b []compartments.PairLayout) int {
	n := 0
	for n < min(len(a), len(b)) && a[n].Text == b[n].Text {
		n++
	}
	return n
}

// changes lists what becomes of each compartment when one layout takes the place
// of another.
func (se *Session) changes(from, to []compartments.PairLayout) []compartments.Decision {
	is, was := tiersOf(to), tiersOf(from)
	var out []compartments.Decision
	add := func(id compartments.CompartmentID) {
		d := compartments.Decision{Compartment: id, From: compartments.TierRaw, To: compartments.TierRaw, Reason: compartments.ReasonUndone,
			Highest: compartments.TierRaw, Lowest: compartments.TierArchived}
		if t, ok := was[id]; ok {
			d.From = t
		}
		if t, ok := is[id]; ok {
			d.To = t
		}
		if c := se.all[id]; c != nil {
			legal := c.Legal()
			d.Highest, d.Lowest = legal[0], legal[len(legal)-1]
		}
		if d.From != d.To {
			out = append(out, d)
		}
	}
	for _, id := range shownIn(from) {
		add(id)
	}
	for _, id := range shownIn(to) {
		if _, told := was[id]; !told {
			add(id)
		}
	}
	return out
}

// shownIn lists the compartments of a layout, in its order.
func shownIn(layout []compartments.PairLayout) []compartments.CompartmentID {
	var ids []compartments.CompartmentID
	for _, pair := range layout {
		for _, item := range pair.Items {
			ids = append(ids, item.Compartments...)
		}
	}
	return ids
}

func tiersOf(layout []compartments.PairLayout) map[compartments.CompartmentID]compartments.Tier {
	tiers := map[compartments.CompartmentID]compartments.Tier{}
	for _, pair := range layout {
		for _, item := range pair.Items {
			for _, id := range item.Compartments {
				tiers[id] = item.Tier
			}
		}
	}
	return tiers
}

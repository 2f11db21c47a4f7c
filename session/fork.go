package session

import (
	"context"
	"slices"

	"ctxplugin/compartments"
)

// candidates is how many sessions are looked at for the source of a fork.
const candidates = 8

// inherit recognises a fork: a new session whose first messages are copies of
// another's, under new ids or the same. The copies take over ordinals and
// compartments, and with the last piece of the list the plan, so that the head
// keeps its bytes. A first message alone is no evidence unless it is all there
// is: people begin sessions with the same words, but not at the same
// millisecond; a copy keeps its creation time, which the content hash covers.
//
// It returns the source while the copies go on from the messages that the piece
// keeps, and puts what is taken over into the batch.
func (se *Session) inherit(ctx context.Context, b *compartments.Batch, kept []compartments.Ordinal, messages []arrival) (*compartments.Stored, error) {
	var source *compartments.Stored
	var err error
	switch {
	case se.st.Source != "":
		source, err = se.cfg.Store.Load(ctx, se.st.Source)
	case se.version == 0 && len(kept) == 0 && len(messages) > 0:
		source, err = se.source(ctx, messages)
	}
	if err != nil || source == nil {
		se.st.Source = ""
		return nil, err
	}
	se.st.Source = source.Session
	if len(kept) > len(source.List) || !slices.Equal(kept, source.List[:len(kept)]) {
		return source, nil // what follows the copies is the fork's own
	}
	n := alike(source, len(kept), messages)
	return source, se.copy(ctx, b, source, source.List[len(kept):len(kept)+n], messages)
}

// source finds the session that messages are copies of: the one with the most
// of them, or of several the one that was changed last.
func (se *Session) source(ctx context.Context, messages []arrival) (*compartments.Stored, error) {
	if messages[0].Time == 0 {
		return nil, nil
	}
	ids, err := se.cfg.Store.Copies(ctx, se.id, messages[0].ContentHash())
	if err != nil {
		return nil, err
	}
	var best *compartments.Stored
	most := min(1, len(messages)-1)
	for _, id := range ids[:min(len(ids), candidates)] {
		stored, err := se.cfg.Store.Load(ctx, id)
		if err != nil {
			return nil, err
		}
		if stored == nil {
			continue
		}
		if n := alike(stored, 0, messages); n > most {
			best, most = stored, n
		}
	}
	return best, nil
}

// alike counts the messages that are copies of a stored list from a place on.
func alike(source *compartments.Stored, from int, messages []arrival) int {
	n := 0
	for n < len(messages) && from+n < len(source.List) && source.Entries[source.List[from+n]-1].Hash == messages[n].ContentHash() {
		n++
	}
	return n
}

// copy takes over the entries of copied messages, under their new ids, and the
// compartments that end with them. Ordinals before the last of them are taken
// too, those of messages that the fork does not list: these are copied as
// withdrawn.
func (se *Session) copy(ctx context.Context, b *compartments.Batch, source *compartments.Stored, ordinals []compartments.Ordinal, messages []arrival) error {
	if len(ordinals) == 0 {
		return nil
	}
	known := compartments.Ordinal(len(se.entries))
	last := max(known, slices.Max(ordinals))
	copied := make(map[compartments.Ordinal]compartments.MessageID, len(ordinals))
	for i, o := range ordinals {
		copied[o] = messages[i].ID
	}
	var withdrawn []compartments.Ordinal
	for o := known + 1; o <= last; o++ {
		if copied[o] == "" {
			withdrawn = append(withdrawn, o)
		}
	}
	raws, err := se.cfg.Store.Raw(ctx, source.Session, withdrawn)
	if err != nil {
		return err
	}
	for o := known + 1; o <= last; o++ {
		e := source.Entries[o-1]
		if id := copied[o]; id != "" {
			e.ID = id
		} else {
			e.ID = "withdrawn-" + e.ID // the fork may give that id to another message
			b.Entries = append(b.Entries, compartments.EntryWrite{Entry: e, Raw: raws[0]})
			raws = raws[1:]
		}
		*se.entry(se.extend(e.ID)) = e
	}
	for i, o := range ordinals { // those that were copied as withdrawn before
		if e := se.entry(o); e.ID != messages[i].ID {
			delete(se.byID, e.ID)
			e.ID = messages[i].ID
			se.byID[e.ID] = o
		}
	}
	for i := range source.Compartments {
		c := source.Compartments[i]
		if se.all[c.ID] == nil && slices.Max(c.Members) <= last {
			b.Compartments = append(b.Compartments, c)
			se.serve(&c)
		}
	}
	return nil
}

// assume takes over the state and the plan of the source once the whole list of
// a fork is there. A fork that ends inside the head keeps the pairs before its
// end.
func (se *Session) assume(ctx context.Context, b *compartments.Batch, source *compartments.Stored) error {
	st, plan, err := se.lastSent(ctx, source)
	if err != nil {
		return err
	}
	st.Ahead, st.Applied, st.Unnamed, st.Asked, st.Owed, st.Rev, st.Source = false, false, 0, false, 0, "", ""
	st.Now, st.Again = 0, nil // no request of this session was made yet, and nothing is paid for twice
	n := 0
	for n < len(se.list) && n < len(source.List) && se.list[n] == source.List[n] && se.entry(se.list[n]).Hash == source.Entries[source.List[n]-1].Hash {
		n++
	}
	if n < 2 || len(st.Hidden) > 0 && int(slices.Max(st.Hidden)) > len(se.entries) {
		st.Hidden, st.HiddenBy, st.Stands = nil, 0, 0 // the host's own summary, or what it hides, was not copied
	}
	se.st = st
	if n > 0 {
		se.copyPins(b, source, slices.Max(source.List[:n]))
	}
	se.view = se.look()
	if se.view.pairs < len(st.Layout) || !se.rename(&plan, source, n) {
		se.st.Layout = st.Layout[:se.view.pairs]
		plan, se.st.Through = se.planOf(se.st.Layout, se.view.headEnd), 0
		if end := se.view.headEnd; end > se.view.start {
			se.st.Through = se.view.order[end-1]
		}
	}
	if err := se.setPlan(plan); err != nil {
		return err
	}
	b.PlanID, b.Plan = se.planID, se.encoded
	return nil
}

// lastSent is the state of a session, and the plan that its last request was made
// with, which the provider's cache holds: not that of a fold made since.
func (se *Session) lastSent(ctx context.Context, source *compartments.Stored) (state, compartments.Plan, error) {
	st, err := decodeState(source.State)
	if err != nil {
		return st, compartments.Plan{}, err
	}
	plan, err := compartments.DecodePlan(source.Plan)
	if err != nil {
		st.Layout = nil
		return st, compartments.Plan{}, nil
	}
	for i := range st.Layout {
		if i < len(plan.Head) {
			st.Layout[i].Text = plan.Head[i].Text
		}
	}
	if !st.Ahead {
		return st, plan, nil
	}
	folds, err := se.cfg.Store.Folds(ctx, source.Session)
	if err != nil {
		return st, plan, err
	}
	u, refusal, err := (&Session{cfg: se.cfg, id: source.Session}).before(ctx, folds)
	if err != nil || refusal != "" {
		return st, plan, err
	}
	st.Layout, st.Through = u.layout, 0
	if n := len(u.layout); n > 0 {
		st.Through = u.layout[n-1].Last
	}
	return st, u.plan, nil
}

// rename gives a plan over the first n messages of the source's list the ids of
// their copies; ok is false if it drops through another one.
func (se *Session) rename(plan *compartments.Plan, source *compartments.Stored, n int) (ok bool) {
	ids := make(map[compartments.MessageID]compartments.MessageID, n)
	for _, o := range se.list[:n] {
		ids[source.Entries[o-1].ID] = se.entry(o).ID
	}
	through, ok := ids[plan.Through]
	if !ok && plan.Through != "" {
		return false
	}
	plan.Through = through
	keep, edits := plan.Keep, plan.Edits
	plan.Keep, plan.Edits = nil, nil
	for _, id := range keep {
		if to, ok := ids[id]; ok {
			plan.Keep = append(plan.Keep, to)
		}
	}
	for _, e := range edits {
		if to, ok := ids[e.MessageID]; ok {
			e.MessageID = to
			plan.Edits = append(plan.Edits, e)
		}
	}
	return true
}

package session

import (
	"context"
	"slices"

	"ctxplugin/compartments"
)

// inherit recognises a fork: a new session whose first messages are copies of
// another's, under new ids. The copies take over ordinals, compartments and
// the plan in force, so that the head keeps its bytes. A first message alone is
// no evidence: people begin sessions with the same words, but not at the same
// millisecond; a copy keeps its creation time, which the content hash covers.
func (se *Session) inherit(ctx context.Context, messages []compartments.Message) error {
	if messages[0].Time == 0 {
		return nil
	}
	sources, err := se.cfg.Store.Copies(ctx, se.id, messages[0].ContentHash())
	if err != nil {
		return err
	}
	for _, id := range sources {
		stored, err := se.cfg.Store.Load(ctx, id)
		if err != nil {
			return err
		}
		if stored == nil {
			continue
		}
		n := 0
		for n < len(stored.List) && n < len(messages) && stored.Entries[stored.List[n]-1].Hash == messages[n].ContentHash() {
			n++
		}
		if n == len(messages) || n >= 2 {
			return se.inheritFrom(ctx, stored, messages[:n])
		}
	}
	return nil
}

// inheritFrom seeds the session with what its source has of the copied messages,
// and stores it.
func (se *Session) inheritFrom(ctx context.Context, source *compartments.Stored, copies []compartments.Message) error {
	renamed := make(map[compartments.MessageID]compartments.MessageID, len(copies))
	last := compartments.Ordinal(0)
	for i := range copies {
		o := source.List[i]
		renamed[source.Entries[o-1].ID] = copies[i].ID
		last = max(last, o)
	}
	// Ordinals up to the last copied one are taken, also those of messages that
	// were withdrawn: these are copied as withdrawn.
	ordinals := make([]compartments.Ordinal, last)
	for i := range ordinals {
		ordinals[i] = compartments.Ordinal(i + 1)
	}
	raws, err := se.cfg.Store.Raw(ctx, source.Session, ordinals)
	if err != nil {
		return err
	}
	seed := &compartments.Batch{List: slices.Clone(source.List[:len(copies)])}
	for i, e := range source.Entries[:last] {
		if id, ok := renamed[e.ID]; ok {
			e.ID = id
		} else {
			e.ID = "withdrawn-" + e.ID
		}
		seed.Entries = append(seed.Entries, compartments.EntryWrite{Entry: e, Raw: raws[i]})
	}
	for _, c := range source.Compartments {
		if slices.Max(c.Members) <= last {
			seed.Compartments = append(seed.Compartments, c)
		}
	}
	st, err := decodeState(source.State)
	if err != nil {
		return err
	}
	st.Applied, st.Unnamed, st.Hidden = false, 0, nil
	plan, ok := renamePlan(source.Plan, renamed)
	if !ok {
		st.Layout = nil // the fork ends before the fold: it starts raw, with the same compartments
	}
	se.st, se.plan = st, plan
	if seed.PlanID, seed.Plan, err = plan.Encode(); err != nil {
		return err
	}
	if err := se.commit(ctx, seed); err != nil {
		return err
	}
	se.loaded = false
	return se.load(ctx)
}

// renamePlan is a stored plan over copies of its messages; ok is false, and the
// plan empty, if the copies end before what it drops.
func renamePlan(encoded []byte, renamed map[compartments.MessageID]compartments.MessageID) (plan compartments.Plan, ok bool) {
	source, err := compartments.DecodePlan(encoded)
	if err != nil {
		return compartments.Plan{}, false
	}
	plan.Head = source.Head
	if plan.Through, ok = renamed[source.Through]; !ok {
		return compartments.Plan{}, source.Through == ""
	}
	for _, id := range source.Keep {
		if to, ok := renamed[id]; ok {
			plan.Keep = append(plan.Keep, to)
		}
	}
	for _, e := range source.Edits {
		if to, ok := renamed[e.MessageID]; ok {
			e.MessageID = to
			plan.Edits = append(plan.Edits, e)
		}
	}
	return plan, true
}

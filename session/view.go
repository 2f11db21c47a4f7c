package session

import (
	"slices"

	"ctxplugin/compartments"
)

// view is a session as decisions see it: the messages that stand, in order, and
// the compartments that are valid over them. It is worked out anew after every
// change and holds nothing that is not in the rest of the session.
type view struct {
	order  []compartments.Ordinal
	place  []int // by ordinal-1: index in order, or -1
	served []run // valid compartments, in order, not overlapping
	hidden int   // how many of order are behind the host's own summary
	// pairs is how many pairs of the head still stand for exactly their messages;
	// headEnd is the place behind the last of them.
	pairs, headEnd int
}

// run is a valid compartment and its places [from, to).
type run struct {
	c        *compartments.Compartment
	from, to int
}

// look works out the view. Messages behind the host's own summary are part of
// it where compartments cover all of them; otherwise the summary stands for
// them.
func (se *Session) look() view {
	if whole, hidden := se.whole(); hidden > 0 {
		if v := se.lookOver(whole); v.tiled(0, hidden) {
			v.hidden = hidden
			return v
		}
	}
	return se.lookOver(se.list)
}

// whole is the list with what the host's own summary hides in its place, and
// how many messages that is; 0 if nothing is hidden.
func (se *Session) whole() (order []compartments.Ordinal, hidden int) {
	if len(se.st.Hidden) == 0 || !se.compacted(se.list) {
		return nil, 0
	}
	return slices.Concat(se.st.Hidden, se.list[2:]), len(se.st.Hidden)
}

func (se *Session) lookOver(order []compartments.Ordinal) view {
	v := view{order: order, place: make([]int, len(se.entries))}
	for i := range v.place {
		v.place[i] = -1
	}
	for i, o := range order {
		v.place[o-1] = i
	}
	for _, c := range se.all {
		if from, ok := se.stands(&v, c); ok {
			v.served = append(v.served, run{c, from, from + len(c.Members)})
		}
	}
	slices.SortFunc(v.served, func(a, b run) int {
		if a.from != b.from {
			return a.from - b.from
		}
		return int(a.c.ID - b.c.ID)
	})
	// of two that overlap, the one that was written later serves
	kept := v.served[:0]
	for _, r := range v.served {
		for len(kept) > 0 && kept[len(kept)-1].to > r.from && kept[len(kept)-1].c.ID < r.c.ID {
			kept = kept[:len(kept)-1]
		}
		if len(kept) == 0 || kept[len(kept)-1].to <= r.from {
			kept = append(kept, r)
		}
	}
	v.served = kept
	for _, p := range se.st.Layout {
		to, ok := se.pairStands(&v, p)
		if !ok {
			break
		}
		v.pairs++
		v.headEnd = to
	}
	return v
}

// stands reports whether exactly the compartment's run stands in the order, and
// where.
func (se *Session) stands(v *view, c *compartments.Compartment) (from int, ok bool) {
	if int(c.First) > len(v.place) {
		return 0, false
	}
	from = v.place[c.First-1]
	if from < 0 || from+len(c.Members) > len(v.order) {
		return 0, false
	}
	edited := se.unverified
	for i, m := range c.Members {
		if v.order[from+i] != m {
			return 0, false
		}
		edited = edited || se.changed[m]
	}
	if edited && se.runHash(c.Members) != c.SourceHash {
		return 0, false
	}
	return from, true
}

// pairStands reports whether a pair of the head follows the ones before it and
// still stands for the messages that it was rendered from.
func (se *Session) pairStands(v *view, p compartments.PairLayout) (to int, ok bool) {
	if int(p.First) > len(v.place) || int(p.Last) > len(v.place) || v.place[p.First-1] != v.headEnd {
		return 0, false
	}
	to = v.place[p.Last-1] + 1
	if to <= v.headEnd {
		return 0, false
	}
	members := v.order[v.headEnd:to]
	if se.unverified || len(se.changed) > 0 || len(members) != p.Count {
		if se.runHash(members) != p.Source {
			return 0, false
		}
	}
	return to, v.tiled(v.headEnd, to)
}

// tiled reports whether compartments cover the places [from, to) without a gap:
// what a pair stands for can be rendered again.
func (v *view) tiled(from, to int) bool {
	i, _ := slices.BinarySearchFunc(v.served, from, func(r run, place int) int { return r.from - place })
	for at := from; at < to; i++ {
		if i >= len(v.served) || v.served[i].from != at {
			return false
		}
		at = v.served[i].to
	}
	return true
}

func (se *Session) runHash(members []compartments.Ordinal) compartments.Hash {
	hashes := make([]compartments.Hash, len(members))
	for i, m := range members {
		hashes[i] = se.entry(m).Hash
	}
	return compartments.RunHash(hashes)
}

// compacted reports whether a list begins with the host's own compaction pair.
func (se *Session) compacted(list []compartments.Ordinal) bool {
	return len(list) >= 2 && se.entry(list[0]).Compact && se.entry(list[1]).Summary
}

// hide remembers which messages a new list hides behind the host's own summary:
// those that stood before the first message that it keeps. What is missing
// elsewhere is withdrawn.
func (se *Session) hide(next []compartments.Ordinal) {
	if !se.compacted(next) {
		se.st.Hidden = nil
		return
	}
	if len(se.list) > 0 && se.list[0] == next[0] {
		return // the same summary as before
	}
	standing := se.view.order
	end := len(standing)
	if len(next) > 2 {
		if o := next[2]; int(o) <= len(se.view.place) && se.view.place[o-1] >= 0 {
			end = se.view.place[o-1]
		}
	}
	listed := make(map[compartments.Ordinal]bool, len(next))
	for _, o := range next {
		listed[o] = true
	}
	hidden := make([]compartments.Ordinal, 0, end)
	for _, o := range standing[:end] {
		if !listed[o] {
			hidden = append(hidden, o)
		}
	}
	se.st.Hidden = hidden
}

// tokensAt is what the message at a place adds to a request under the edits of
// the plan in force.
func (se *Session) tokensAt(v *view, place int) int {
	o := v.order[place]
	return se.entry(o).Tokens() - se.saved[o]
}

// weighEdits works out what the edits of the plan in force save, by message.
func (se *Session) weighEdits() {
	se.saved = map[compartments.Ordinal]int{}
	for _, edit := range se.plan.Edits {
		o, ok := se.byID[edit.MessageID]
		if !ok || edit.Part >= len(se.entry(o).Sizes) {
			continue
		}
		se.saved[o] += se.entry(o).Sizes[edit.Part].Tokens - callTokens - se.cfg.Count(edit.Value)
	}
}

// turnStart is the place of the newest real user message, or -1.
func (se *Session) turnStart(v *view) int {
	for i := len(v.order) - 1; i >= 0; i-- {
		if se.entry(v.order[i]).Real {
			return i
		}
	}
	return -1
}

// mayCut reports whether the list may be cut before a place: never between a
// call and results that are messages of their own, and never between machine
// text and the user message right behind it.
func (se *Session) mayCut(v *view, place int) bool {
	if place <= 0 || place >= len(v.order) {
		return true
	}
	e := se.entry(v.order[place])
	if e.Role == compartments.RoleTool {
		return false
	}
	before := se.entry(v.order[place-1])
	return !(e.Role == compartments.RoleUser && before.Role == compartments.RoleUser && !before.Real && !before.Compact)
}

// tailCut is the place where the protected tail begins: behind it stand the
// newest step, every message after it, and further raw steps of up to extra
// tokens. A call that is open before the newest step is dead and protects
// nothing. The newest real user message is protected too, but by being kept, so
// that a long turn has places to cut.
func (se *Session) tailCut(v *view, extra int) int {
	n := len(v.order)
	cut := n
	for cut > 0 { // newest step, and what follows it
		cut--
		if e := se.entry(v.order[cut]); e.Role == compartments.RoleAssistant {
			break
		}
	}
	for cut > 0 && !se.mayCut(v, cut) {
		cut--
	}
	used, best := 0, cut
	user := se.turnUser(v, cut)
	for i := cut - 1; i >= 0; i-- {
		if used += se.tokensAt(v, i); used > extra {
			break
		}
		if i <= user {
			user = se.turnUser(v, i)
		}
		kept := 0 // a cut inside a turn keeps the user message that began it
		if user >= 0 && user < i {
			kept = se.entry(v.order[user]).Tokens()
		}
		if used+kept <= extra && se.mayCut(v, i) {
			best = i
		}
	}
	return best
}

// turnUser is the place of the user message of the turn that the message at a
// place belongs to: itself if it is one, or the nearest before it, a real one if
// there is one; -1 if there is none.
func (se *Session) turnUser(v *view, place int) int {
	if place >= len(v.order) || se.entry(v.order[place]).Role == compartments.RoleUser {
		return place
	}
	user := -1
	for i := place - 1; i >= v.hidden; i-- {
		e := se.entry(v.order[i])
		if e.Real {
			return i
		}
		if user < 0 && e.Role == compartments.RoleUser && e.Tokens() > 0 {
			user = i
		}
	}
	return user
}

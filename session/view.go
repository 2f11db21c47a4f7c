package session

import (
	"cmp"
	"slices"

	"ctxplugin/compartments"
)

// view is a session as decisions see it: the messages that stand, in order, and
// the compartments that are valid over them. It holds nothing that is not in
// the rest of the session.
type view struct {
	order  []compartments.Ordinal
	place  []int // by ordinal-1: index in order, or -1
	served []run // valid compartments, in order, not overlapping
	hidden int   // how many of order are behind the host's own summary
	// start is the place of the first message that compartments may stand for. It
	// is 2 where the host's own summary stands for messages that they do not
	// cover: the summary stays in view then.
	start int
	// pairs is how many pairs of the head still stand for exactly their messages;
	// headEnd is the place behind the last of them. The first firm ones of them
	// can be rendered again one by one: compartments that serve tile each.
	pairs, headEnd int
	firm           int
	// users names for each place the user message in force there: the newest real
	// one up to it, or before the first real one the newest of any kind; -1 for
	// none. first is the place of the first real one, or -1. Neither sees what is
	// hidden; task is the first real one of all.
	users       []int
	first, task int
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
	whole, hidden := se.whole()
	if hidden > 0 {
		if v := se.lookOver(whole, hidden, 0); v.tiled(0, hidden) {
			return v
		}
	}
	start := 0
	if se.compacted(se.list) {
		start = 2
	}
	return se.lookOver(se.list, 0, start)
}

// lookOver works out the view over an order. Of compartments that overlap the
// one written first serves, so that after an undo those before it serve again;
// a scanned one gives way to any other.
func (se *Session) lookOver(order []compartments.Ordinal, hidden, start int) view {
	v := view{order: order, place: make([]int, len(se.entries)), hidden: hidden, start: start}
	for i := range v.place {
		v.place[i] = -1
	}
	for i, o := range order {
		v.place[o-1] = i
	}
	se.findUsers(&v)
	standing := make([]run, 0, len(se.all))
	for _, c := range se.all {
		if from, ok := se.stands(&v, c); ok {
			standing = append(standing, run{c, from, from + len(c.Members)})
		}
	}
	slices.SortFunc(standing, func(a, b run) int {
		if scanned := a.c.Strategy == compartments.StrategyScan; scanned != (b.c.Strategy == compartments.StrategyScan) {
			if scanned {
				return 1
			}
			return -1
		}
		return cmp.Compare(a.c.ID, b.c.ID)
	})
	taken := make([]bool, len(order))
	for _, r := range standing {
		if !slices.Contains(taken[r.from:r.to], true) {
			v.served = append(v.served, r)
			for i := r.from; i < r.to; i++ {
				taken[i] = true
			}
		}
	}
	slices.SortFunc(v.served, func(a, b run) int { return a.from - b.from })
	se.lookAtHead(&v, 0)
	return v
}

// lookAtHead works out what of a view depends on the head: all that a fold changes.
// The messages of the first known pairs are known to be those that the pairs were
// made of, and are not hashed again.
func (se *Session) lookAtHead(v *view, known int) {
	v.pairs, v.firm, v.headEnd = 0, 0, v.start
	for i, p := range se.st.Layout {
		to, ok := se.pairStands(v, p, i < known)
		if !ok {
			break
		}
		if v.firm == v.pairs && v.tiled(v.headEnd, to) {
			v.firm++
		}
		v.pairs++
		v.headEnd = to
	}
}

// append adds messages that were never seen before to the end of the view. It
// does not where they may change what stands: results right behind what
// compartments or the head stand for.
func (se *Session) append(fresh []compartments.Ordinal) (ok bool) {
	v := &se.view
	end := len(v.order)
	if len(fresh) > 0 && se.entry(fresh[0]).Role == compartments.RoleTool &&
		(v.headEnd == end || len(v.served) > 0 && v.served[len(v.served)-1].to == end) {
		return false
	}
	v.order = se.list
	if v.hidden > 0 {
		v.order, _ = se.whole()
	}
	v.place = append(v.place, make([]int, len(se.entries)-len(v.place))...)
	for i, o := range fresh {
		v.place[o-1] = len(v.order) - len(fresh) + i
	}
	se.findUsers(v)
	return true
}

// findUsers goes on with the users of a view up to its end.
func (se *Session) findUsers(v *view) {
	user := -1
	if n := len(v.users); n > 0 {
		user = v.users[n-1]
	} else {
		v.first, v.task = -1, -1
	}
	for i := len(v.users); i < len(v.order); i++ {
		e := se.entry(v.order[i])
		if e.Real && v.task < 0 {
			v.task = i
		}
		if i >= v.hidden && e.Role == compartments.RoleUser {
			switch {
			case e.Real:
				if user = i; v.first < 0 {
					v.first = i
				}
			case v.first < 0 && e.Tokens() > 0:
				user = i
			}
		}
		v.users = append(v.users, user)
	}
}

// stands reports whether exactly the compartment's run stands in the order, or
// is hidden as a whole, and where. A result behind it whose call is in it makes
// it incomplete.
func (se *Session) stands(v *view, c *compartments.Compartment) (from int, ok bool) {
	if int(c.First) > len(v.place) {
		return 0, false
	}
	from = v.place[c.First-1]
	to := from + len(c.Members)
	if from < v.start || to > len(v.order) || from < v.hidden && to > v.hidden || se.severed(v, to) {
		return 0, false
	}
	changed := false
	for i, m := range c.Members {
		if v.order[from+i] != m {
			return 0, false
		}
		changed = changed || se.changed[m-1]
	}
	if changed && se.runHash(c.Members) != c.SourceHash {
		return 0, false
	}
	return from, true
}

// pairStands reports whether a pair of the head follows the ones before it and
// still stands for the messages that it was rendered from.
func (se *Session) pairStands(v *view, p compartments.PairLayout, known bool) (to int, ok bool) {
	if int(p.First) > len(v.place) || int(p.Last) > len(v.place) || v.place[p.First-1] != v.headEnd {
		return 0, false
	}
	to = v.place[p.Last-1] + 1
	if to-v.headEnd != p.Count || to <= v.headEnd || se.severed(v, to) {
		return 0, false
	}
	members := v.order[v.headEnd:to]
	// the order may differ even where first, last and count agree
	return to, known || se.runHash(members) == p.Source
}

// tiled reports whether compartments that serve cover exactly the places
// [from, to) without a gap.
func (v *view) tiled(from, to int) bool {
	i, _ := slices.BinarySearchFunc(v.served, from, func(r run, place int) int { return r.from - place })
	at := from
	for ; at < to; i++ {
		if i >= len(v.served) || v.served[i].from != at {
			return false
		}
		at = v.served[i].to
	}
	return at == to
}

func (se *Session) runHash(members []compartments.Ordinal) compartments.Hash {
	return compartments.RunHashOf(len(members), func(i int) *compartments.Hash { return &se.entry(members[i]).Hash })
}

// compacted reports whether a list begins with the host's own compaction pair.
func (se *Session) compacted(list []compartments.Ordinal) bool {
	return len(list) >= 2 && se.entry(list[0]).Compact && se.entry(list[1]).Summary
}

// whole is the list with what the host's own summary hides in its place, and
// how many messages that is; 0 if nothing is known to be hidden.
func (se *Session) whole() (order []compartments.Ordinal, hidden int) {
	if len(se.st.Hidden) == 0 || !se.compacted(se.list) || se.list[0] != se.st.HiddenBy {
		return nil, 0
	}
	return slices.Concat(se.st.Hidden, se.list[2:]), len(se.st.Hidden)
}

// hide remembers which messages a new list hides behind the host's own summary:
// those that were there before it and stood before the first message that it
// keeps, those behind an earlier summary included. What is missing elsewhere is
// withdrawn. A summary that comes back after an undo hides what it hid.
func (se *Session) hide(next []compartments.Ordinal) {
	if !se.compacted(next) {
		return
	}
	listed := make(map[compartments.Ordinal]bool, len(next))
	for _, o := range next {
		listed[o] = true
	}
	before := se.st.Hidden
	if se.st.HiddenBy != next[0] {
		before = se.beforeSummary(next)
	}
	hidden := make([]compartments.Ordinal, 0, len(before))
	for _, o := range before {
		if !listed[o] {
			hidden = append(hidden, o)
		}
	}
	se.st.Hidden, se.st.HiddenBy = hidden, next[0]
}

// beforeSummary lists what stood before the first message that a new summary
// keeps; nothing if that is behind another summary whose messages were never
// seen.
func (se *Session) beforeSummary(next []compartments.Ordinal) []compartments.Ordinal {
	before, known := se.whole()
	if known == 0 {
		if before = se.list; se.compacted(before) {
			return nil
		}
	}
	if len(next) > 2 {
		if i := slices.Index(before, next[2]); i >= 0 {
			before = before[:i]
		}
	}
	return slices.DeleteFunc(slices.Clone(before), func(o compartments.Ordinal) bool { return o > next[0] })
}

// tokensAt is what the message at a place adds to a request under the edits of
// the plan in force.
func (se *Session) tokensAt(v *view, place int) int {
	o := v.order[place]
	return se.entry(o).Tokens() - se.saved[o]
}

// weighEdits works out what the edits of the plan in force save, by message.
func (se *Session) weighEdits() { se.saved = se.weigh(se.plan.Edits) }

// toolNameTokens is what the name of a tool takes at most, in tokens: it is counted
// with the arguments, and a stub of these leaves it.
const toolNameTokens = 8

func (se *Session) weigh(edits []compartments.Edit) map[compartments.Ordinal]int {
	saved := map[compartments.Ordinal]int{}
	for _, edit := range edits {
		o, ok := se.byID[edit.MessageID]
		if !ok || edit.Part >= len(se.entry(o).Sizes) {
			continue
		}
		z := se.entry(o).Sizes[edit.Part]
		switch {
		case z.Silent:
		case edit.Field == compartments.FieldInput:
			saved[o] += z.Input - toolNameTokens - se.cfg.Count(edit.Value)
		case z.Kind == compartments.PartTool:
			saved[o] += z.Tokens - callTokens - se.cfg.Count(edit.Value)
		default:
			saved[o] += z.Tokens - se.cfg.Count(edit.Value)
		}
	}
	return saved
}

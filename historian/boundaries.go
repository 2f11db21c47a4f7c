package historian

import "slices"

// The numbers of the cut, in effective tokens.
const (
	smallest  = 800    // below this a run joins a neighbour
	preferred = 8_000  // weak boundaries fall while the joined run stays below this
	largest   = 12_000 // above this a run is split inside its turn
	keepScore = 7      // a boundary with less is weak
	hostScore = 100    // the host compacted here
)

// turn is a stretch from one message of a person to the next.
type turn struct {
	from, to  int // places, half open
	user      bool
	host      bool
	width     int
	tokens    int
	edits     int
	committed bool
	uses      int
	names     map[int32]bool // outside of outputs
	paths     map[string]bool
	userNames []int32
	pause     int64 // ms before it, 0 unknown
	score     int
}

// cut divides the messages into runs, each of one objective, and returns the
// place at which each begins. It never cuts between a call and its result, nor
// between machine text and the user message right behind it.
func cut(ms []message, names []name) []int {
	turns := turnsOf(ms)
	for i := range turns {
		if i > 0 {
			turns[i].score = score(&turns[i-1], &turns[i], names)
		}
	}
	runs := mergeTurns(turns)
	var out []int
	for _, r := range runs {
		out = splitRun(ms, r.from, r.to, out)
	}
	return out
}

func turnsOf(ms []message) []turn {
	var turns []turn
	start := 0
	closeTurn := func(to int) {
		if to > start {
			turns = append(turns, measure(ms, start, to))
			start = to
		}
	}
	for i := range ms {
		begins := ms[i].who == person || ms[i].who == host && (i == 0 || ms[i-1].who != host)
		if !begins {
			continue
		}
		to := i
		for to > start && ms[to-1].who == machine {
			to--
		}
		closeTurn(to)
	}
	closeTurn(len(ms))
	return turns
}

func measure(ms []message, from, to int) turn {
	t := turn{from: from, to: to, names: map[int32]bool{}, paths: map[string]bool{}}
	for i := from; i < to; i++ {
		m := &ms[i]
		t.tokens += m.tokens
		switch m.who {
		case host:
			t.host = true
		case person:
			if !t.user {
				t.user = true
				t.width = width(m.speech.own)
				if from > 0 && m.time > 0 && ms[from-1].time > 0 {
					t.pause = m.time - ms[from-1].time
				}
			}
			for _, n := range m.names {
				t.userNames = append(t.userNames, n.id)
			}
		}
		for _, n := range m.names {
			if n.visible {
				t.names[n.id] = true
			}
		}
		t.uses += len(m.uses)
		for j := range m.uses {
			u := &m.uses[j]
			t.edits += len(u.changes)
			for _, c := range u.changes {
				t.paths[lastTwo(c.path)] = true
			}
			if u.path != "" {
				t.paths[lastTwo(u.path)] = true
			}
			for _, h := range u.hashes {
				if h.event == "commit" || h.event == "push" || h.event == "link" {
					t.committed = true
				}
			}
		}
	}
	return t
}

// score says how much speaks for a change of objective at the start of a turn.
func score(prev, t *turn, names []name) int {
	if t.host || prev.host {
		return hostScore
	}
	n := 0
	if t.width >= 12 {
		n += 2
	}
	if t.width >= 24 {
		n += 2
	}
	if t.width >= 80 {
		n += 2
	}
	if t.pause >= 5*60*1000 {
		n += 3
	}
	if prev.edits > 0 {
		n += 3
	}
	if prev.committed {
		n += 2
	}
	switch over := overlap(prev.names, t.names); {
	case over < 200:
		n += 2
	case over >= 500:
		n -= 2
	}
	if t.uses >= 3 {
		n += 2
	}
	for _, id := range t.userNames {
		if names[id].first >= t.from && !names[id].known {
			n++
			break
		}
	}
	if len(prev.paths) > 0 && len(t.paths) > 0 && overlap(prev.paths, t.paths) < 300 {
		n++
	}
	if prev.tokens >= 4000 {
		n++
	}
	return n
}

// overlap is the shared part of the smaller set, in permille.
func overlap[K comparable](a, b map[K]bool) int {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) == 0 {
		return 0
	}
	shared := 0
	for k := range a {
		if b[k] {
			shared++
		}
	}
	return 1000 * shared / len(a)
}

type run struct {
	from, to int
	tokens   int
	score    int // of the boundary before it
	host     bool
}

// mergeTurns drops weak boundaries while the joined run stays small, then joins
// runs that are too small to stand alone.
func mergeTurns(turns []turn) []run {
	runs := make([]run, len(turns))
	next := make([]int, len(turns)) // following run still standing
	prev := make([]int, len(turns))
	var weak []int
	for i := range turns {
		runs[i] = run{turns[i].from, turns[i].to, turns[i].tokens, turns[i].score, turns[i].host}
		next[i], prev[i] = i+1, i-1
		if i > 0 && turns[i].score < keepScore {
			weak = append(weak, i)
		}
	}
	join := func(i int) { // run i into the one before it
		p := prev[i]
		runs[p].to, runs[p].tokens = runs[i].to, runs[p].tokens+runs[i].tokens
		runs[p].host = runs[p].host || runs[i].host
		runs[i].to = runs[i].from // gone
		next[p] = next[i]
		if next[i] < len(runs) {
			prev[next[i]] = p
		}
	}
	slices.SortStableFunc(weak, func(a, b int) int { return turns[a].score - turns[b].score })
	for _, i := range weak {
		if runs[prev[i]].tokens+runs[i].tokens <= preferred {
			join(i)
		}
	}
	for i := 0; i < len(runs); i = next[i] {
		for runs[i].tokens < smallest {
			before, after := prev[i], next[i]
			canBefore := before >= 0 && runs[i].score < hostScore
			canAfter := after < len(runs) && runs[after].score < hostScore
			switch {
			case !canBefore && !canAfter:
			case canAfter && (!canBefore || runs[after].score <= runs[i].score && runs[after].tokens+runs[i].tokens <= largest || runs[before].tokens+runs[i].tokens > largest && runs[after].tokens < runs[before].tokens):
				join(after)
				continue
			default:
				join(i)
				i = before
			}
			break
		}
	}
	var out []run
	for _, r := range runs {
		if r.to > r.from {
			out = append(out, r)
		}
	}
	return out
}

// splitRun appends the beginnings of the pieces of a run, each at most largest
// where a legal place exists.
func splitRun(ms []message, from, to int, out []int) []int {
	total := 0
	for i := from; i < to; i++ {
		total += ms[i].tokens
	}
	if total <= largest {
		return append(out, from)
	}
	best, bestScore, at := -1, 0, 0
	size := 0
	for i := from; i < to; i++ {
		if i > from && mayStart(ms, i) && 4*size >= total && 4*size <= 3*total {
			s := insideScore(ms, from, to, i)*100 - 400*abs(2*size-total)/total
			if best < 0 || s > bestScore {
				best, bestScore, at = i, s, size
			}
		}
		size += ms[i].tokens
	}
	if best < 0 { // no place near the middle: the legal one nearest to it
		size, nearest := 0, total+1
		for i := from; i < to; i++ {
			if i > from && size > 0 && size < total && mayStart(ms, i) && abs(2*size-total) < nearest {
				best, nearest, at = i, abs(2*size-total), size
			}
			size += ms[i].tokens
		}
	}
	if best < 0 || at == 0 {
		return append(out, from)
	}
	out = splitRun(ms, from, best, out)
	return splitRun(ms, best, to, out)
}

// mayStart reports whether a run may begin at a place.
func mayStart(ms []message, i int) bool {
	if ms[i].who == results {
		return false
	}
	return i == 0 || ms[i-1].who != machine || ms[i].who != person
}

// insideScore says how much speaks for a turning point inside a turn.
func insideScore(ms []message, from, to, i int) int {
	n := 0
	prev := &ms[i-1]
	for j := range prev.uses {
		u := &prev.uses[j]
		if u.kind == useShell && u.cmd.class == classVerify {
			if u.failed {
				n++
			} else {
				n += 2
			}
			break
		}
	}
	for j := range prev.uses {
		if len(prev.uses[j].hashes) > 0 {
			n += 3
			break
		}
	}
	m := &ms[i]
	if m.who == person {
		n += 4
	}
	for j := range m.uses {
		if m.uses[j].kind == useTodo {
			n += 2
			break
		}
	}
	said := 0
	for _, list := range [...][]unit{m.narrate, m.units} {
		for _, u := range list {
			said += width(u.text)
		}
	}
	if said >= 80 {
		n++
	}
	if said >= 300 {
		n++
	}
	before, after := map[string]bool{}, map[string]bool{}
	for j := max(from, i-6); j < min(to, i+6); j++ {
		set := before
		if j >= i {
			set = after
		}
		for k := range ms[j].uses {
			u := &ms[j].uses[k]
			if u.path != "" {
				set[lastTwo(u.path)] = true
			}
			for _, c := range u.changes {
				set[lastTwo(c.path)] = true
			}
		}
	}
	if len(before) > 0 && len(after) > 0 && overlap(before, after) == 0 {
		n += 2
	}
	return n
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}

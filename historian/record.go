package historian

import (
	"slices"
	"strings"

	"ctxplugin/compartments"
)

// record is the canonical record of one run: what a successor needs, each fact
// with the message that shows it.
type record struct {
	first, last compartments.Ordinal
	title       string
	head        string // the title as it stands in tiers, where the outcome has its own line
	effective   int

	asks     []ask
	force    *request // the request in force when the run begins without one
	outcomes []outcome
	state    *said // what the agent said last, where it never concluded
	why      []said
	steps    []said
	details  []said // more of the narrations, for where there is room
	failures []failure
	files    []file
	reads    []reading
	ran      []ran
	git      []gitFact
	answered []said
	handed   []said // delegated work
	todo     *said
	todoLeft []string
	question *said // open question to the user
	running  []said
	stopped  bool // the user stopped the last turn
	names    []string
	spans    []compartments.ExactSpan

	narrations int
	talk       bool // few calls or none
	hostOnly   bool // nothing but the host's own messages
	newPaths   int
	newNames   int
	allNames   int
	marks      int // user units with a constraint marker
}

// request is what a person asked, as later runs refer to it.
type request struct {
	ord   compartments.Ordinal
	title string
	shown string // as much of the title as a run may show that did not ask it
}

// said is one unit of text with the message it stands in.
type said struct {
	ord   compartments.Ordinal
	text  string
	score int
	cause bool // marks a cause or a rejected way
	seq   int  // order inside the message
}

// outcome is what one turn came to.
type outcome struct {
	ord     compartments.Ordinal
	main    string
	more    []said
	caveats []said
}

// view is the messages of the whole range and the run that is recorded.
type view struct {
	ms       []message
	from, to int
	lex      *lexicon
	named    map[string]bool // names of the run, once asked for
}

func (v *view) run() []message { return v.ms[v.from:v.to] }

// spoken tells which names stood outside of tool outputs in the run, as 1.
func (v *view) spoken() map[string]int {
	out := map[string]int{}
	for i := v.from; i < v.to; i++ {
		for _, m := range v.ms[i].names {
			if m.visible {
				out[v.lex.list[m.id].text] = 1
			}
		}
	}
	return out
}

// native cuts a text from outside the run before the first name that the run
// does not mention itself: a tier holds no identifier that its source lacks. It
// returns "" when too little is left.
func (v *view) native(text string) string {
	if v.named == nil {
		v.named = map[string]bool{}
		for i := v.from; i < v.to; i++ {
			for _, m := range v.ms[i].names {
				v.named[v.lex.list[m.id].text] = true
			}
		}
	}
	end := len(text)
	scanNames(text, func(n string, k kind) {
		if at := strings.Index(text, n); !v.named[nameKey(n, k)] && at < end {
			end = at
		}
	})
	if end == len(text) {
		return text
	}
	cut := strings.TrimRight(text[:end], " `'\"([{,;:-–—/@.")
	if strings.Count(cut, "`")%2 == 1 {
		cut = strings.TrimRight(cut[:strings.LastIndexByte(cut, '`')], " ([{,;:")
	}
	if width(cut) < 16 {
		return ""
	}
	return strings.TrimSuffix(cut, " …") + " …"
}

// compile builds the record of a run. force is the last request before it.
func compile(v *view, force *request) *record {
	ms := v.run()
	r := &record{first: ms[0].ord, last: ms[len(ms)-1].ord}
	for i := range ms {
		r.effective += ms[i].tokens
	}
	r.collectAsks(v)
	r.hostOnly = true
	for i := range ms {
		r.hostOnly = r.hostOnly && ms[i].who == host
	}
	if !r.hostOnly && force != nil && (len(r.asks) == 0 || v.opensInTurn()) {
		r.force = &request{force.ord, force.title, v.native(force.title)}
	}
	r.collectOutcomes(v)
	r.collectFailures(ms)
	r.collectWhy(v)
	r.collectFiles(v)
	r.collectGit(ms)
	r.collectRan(ms)
	r.collectTalk(ms)
	r.collectOpen(v)
	r.rankNames(v)
	r.entitle()
	r.collectSpans(ms)
	return r
}

// opensInTurn reports whether the run begins behind the request that it works on.
func (v *view) opensInTurn() bool {
	for _, m := range v.run() {
		switch m.who {
		case person:
			return false
		case agent:
			return true
		}
	}
	return false
}

// fact is one unit as it may stand in a tier; "" if nothing of it may.
func fact(s string) string {
	s = safe(s)
	if extent(s) > unitExtent {
		s = shorten(s, unitExtent)
	}
	return s
}

// unitExtent is the most room a unit takes at full.
const unitExtent = 340

// collectOutcomes takes what turn-final texts conclude.
func (r *record) collectOutcomes(v *view) {
	ms := v.run()
	var finals [][]int // places of the messages of each final text
	for i := range ms {
		m := &ms[i]
		if m.who != agent {
			if m.who != results {
				finals = append(finals, nil)
			}
			continue
		}
		if len(m.narrate) > 0 || len(m.units) > 0 && !m.final {
			r.narrations++
		}
		if !m.final {
			continue
		}
		if len(finals) == 0 {
			finals = append(finals, nil)
		}
		finals[len(finals)-1] = append(finals[len(finals)-1], i)
	}
	finals = slices.DeleteFunc(finals, func(f []int) bool { return len(f) == 0 })
	acts := 0
	for i := range ms {
		for j := range ms[i].uses {
			if k := ms[i].uses[j].kind; k != useTodo && k != useOwn {
				acts++
			}
		}
	}
	r.talk = acts < 4
	for n, group := range finals {
		var units []unit
		ord := ms[group[len(group)-1]].ord
		for _, i := range group {
			units = append(units, ms[i].units...)
		}
		more := 6
		if n == len(finals)-1 {
			more = 10
		}
		if r.talk { // what was said is all there is
			more *= 2
		}
		if o, ok := conclude(units, ord, more); ok {
			r.outcomes = append(r.outcomes, o)
		}
	}
	r.state = standing(ms, len(r.outcomes) > 0)
}

// standing is what the agent said last in a turn that has no conclusion in the
// run: of its last few narrations the one that says most, so that an
// announcement of the next step does not hide what was found.
func standing(ms []message, concluded bool) *said {
	var best *said
	narrations := 0
	for i := len(ms) - 1; i >= 0 && narrations < 5; i-- {
		if ms[i].who == agent && ms[i].final || ms[i].who == person && concluded {
			break
		}
		if ms[i].who != agent {
			continue
		}
		units := append(ms[i].narrate[:len(ms[i].narrate):len(ms[i].narrate)], ms[i].units...)
		if len(units) == 0 {
			continue
		}
		for j := len(units) - 1; j >= 0; j-- {
			u := units[j]
			if width(u.text) < 12 || u.kind == unitHeader {
				continue
			}
			n := 10 - 2*narrations + min(2, countNames(u.text))
			low := strings.ToLower(u.text)
			if starts(low, chatOpeners) {
				n -= 6
			}
			if strings.HasSuffix(u.text, ":") {
				n -= 3
			}
			if hasAny(low, causes) || hasAny(low, caveats) {
				n++
			}
			if text := fact(u.text); text != "" && (best == nil || n > best.score) {
				best = &said{ord: ms[i].ord, text: strings.TrimRight(text, ":"), score: n}
			}
		}
		narrations++
	}
	return best
}

// conclude takes the outcome from a turn-final text: the first unit with
// content, behind its heading or opener, then the best of the others, and the
// closing caveats.
func conclude(units []unit, ord compartments.Ordinal, more int) (outcome, bool) {
	o := outcome{ord: ord}
	used := make([]bool, len(units))
	prefix, titled := "", false
	for pass := range 2 { // the second pass takes small talk if there is nothing else
		for i := 0; i < len(units) && o.main == ""; i++ {
			u := units[i]
			low := strings.ToLower(u.text)
			switch {
			case u.kind == unitHeader:
			case u.kind == unitHeading:
				if pass == 0 && !titled { // of nested headings the first says most
					prefix = strings.TrimRight(u.text, ":!.") + ": "
					used[i], titled = true, true
				}
			case pass == 0 && (hasAny(low, offers) || question(u.text)):
			case pass == 0 && starts(low, chatOpeners) && countNames(u.text) == 0 && width(u.text) < 80:
			case strings.HasSuffix(u.text, ":") || strings.HasSuffix(u.text, "："):
				text, taken := joinBullets(units, i)
				if text == "" {
					continue
				}
				o.main = prefix + text
				for j := i; j <= i+taken; j++ {
					used[j] = true
				}
			case width(u.text) < 24 && countNames(u.text) == 0 && i+1 < len(units) && pass == 0:
				if u.kind == unitProse {
					prefix = u.text + " "
					used[i] = true
				}
			default:
				o.main = prefix + u.text
				used[i] = true
			}
		}
	}
	if o.main == "" {
		o.main = strings.TrimSpace(prefix)
	}
	o.main = fact(o.main)
	if o.main == "" {
		return o, false
	}
	for i, u := range units {
		low := strings.ToLower(u.text)
		// What does not hold is said at the end, or in a few words anywhere.
		if i < len(units)-3 && (extent(u.text) > 100 || !hasAny(low, negations)) || len(o.caveats) == 4 {
			continue
		}
		if used[i] || question(u.text) || strings.HasSuffix(u.text, ":") || hasAny(low, offers) || !hasAny(low, caveats) && !hasAny(low, negations) || u.kind == unitHeader {
			continue
		}
		if text := fact(u.text); text != "" {
			o.caveats = append(o.caveats, said{ord: ord, text: text, seq: i})
			used[i] = true
		}
	}
	type scored struct{ place, score int }
	var rest []scored
	for i, u := range units {
		if used[i] || u.kind == unitHeader || u.kind == unitHeading || width(u.text) < 12 {
			continue
		}
		low := strings.ToLower(u.text)
		s := 10 + 2*min(countNames(u.text), 3) + 4*(len(units)-i)/len(units)
		if hasAny(low, negations) {
			s += 3
		}
		if hasAny(low, offers) {
			s -= 8
		} else if question(u.text) {
			s -= 4
		}
		if u.kind == unitProse {
			s += 3
		}
		if hasDigit(u.text) {
			s += 2
		}
		if u.bold {
			s += 4
		}
		if nameAlone(u.text) {
			s -= 8 // the lists of names and files carry those
		}
		if starts(low, chatOpeners) {
			s -= 12
			if strings.HasSuffix(u.text, ":") {
				continue
			}
		}
		if hasAny(low, causes) || hasAny(low, rejections) {
			s += 5
		}
		if i < 3 {
			s += 3
		}
		if i == len(units)-1 {
			s += 2
		}
		if u.kind == unitRow {
			s -= 3
		}
		if len(u.text) > 400 {
			s -= 3
		}
		rest = append(rest, scored{i, s})
	}
	slices.SortStableFunc(rest, func(a, b scored) int { return b.score - a.score })
	for rank, s := range rest[:min(more, len(rest))] {
		text := units[s.place].text
		if used[s.place] {
			continue
		}
		if strings.HasSuffix(text, ":") {
			joined, taken := joinBullets(units, s.place)
			for j := s.place + 1; j <= s.place+taken; j++ {
				used[j] = true
			}
			text = joined
		}
		if text = fact(text); text != "" {
			o.more = append(o.more, said{ord: ord, text: text, score: rank, seq: s.place})
			used[s.place] = true
		}
	}
	return o, true
}

// joinBullets joins an introduction that ends in a colon with the items behind
// it. A list of which half are questions is an offer and gives "".
func joinBullets(units []unit, at int) (string, int) {
	var items []string
	asked := 0
	if at+1 < len(units) && units[at+1].kind == unitHeading { // sections that it introduces
		for j := at + 1; j < len(units) && len(items) < 3; j++ {
			if units[j].kind == unitHeading {
				items = append(items, strings.TrimRight(units[j].text, " .;:"))
			}
		}
		return units[at].text + " " + strings.Join(items, "; "), 0
	}
	for j := at + 1; j < len(units) && len(items) < 3; j++ {
		if units[j].kind == unitHeader {
			continue
		}
		if units[j].kind != unitBullet && units[j].kind != unitRow && (len(items) > 0 || units[j].kind == unitHeading) {
			break
		}
		if question(units[j].text) {
			asked++
		}
		items = append(items, strings.TrimRight(units[j].text, " .;"))
		if units[j].kind == unitProse {
			break
		}
	}
	if len(items) == 0 || 2*asked >= len(items) {
		return "", 0
	}
	if room := (unitExtent - extent(units[at].text)) / len(items); len(items) > 1 { // the head of each item rather than all of the first
		for i := range items {
			if short := shorten(items[i], max(room, 60)); short != "" {
				items[i] = short
			}
		}
	}
	return units[at].text + " " + strings.Join(items, "; "), len(items)
}

// nameAlone reports a unit that is little more than a name.
func nameAlone(s string) bool {
	named := 0
	scanNames(s, func(n string, _ kind) { named += width(n) })
	return 5*named > 3*width(s)
}

func countNames(s string) int {
	n := 0
	scanNames(s, func(string, kind) { n++ })
	return n
}

// collectWhy looks for causes, choices and rejected ways: first of all in what
// the agent says right after something failed.
func (r *record) collectWhy(v *view) {
	ms := v.run()
	failed := false
	for i := range ms {
		m := &ms[i]
		if m.who == person || m.who == host {
			failed = false
		}
		if m.who != agent {
			continue
		}
		units := append(m.narrate[:len(m.narrate):len(m.narrate)], m.units...)
		best, bestScore := -1, 0
		for j, u := range units {
			if u.kind == unitHeader || width(u.text) < 24 {
				continue
			}
			low := strings.ToLower(u.text)
			n, marked := 0, false
			if failed && j < 3 {
				n += 3
				marked = true
				if j == 0 {
					n++
				}
			}
			cause := hasAny(low, causes)
			rejected := hasAny(low, rejections)
			if cause {
				n += 3
			}
			if rejected {
				n += 3
			}
			if !marked && !cause && !rejected {
				continue
			}
			if m.final {
				n++
			}
			if k := countNames(u.text); k == 0 && !(failed && j == 0) {
				n -= 2
			} else {
				n += min(k, 2)
			}
			if starts(low, chatOpeners) {
				n -= 3
			}
			if hasAny(low, hedges) {
				n--
			}
			if question(u.text) || strings.HasSuffix(u.text, ":") || hasAny(low, offers) {
				n -= 4
			}
			if n >= 4 {
				if m.final { // finals may hold several
					if text := fact(u.text); text != "" {
						r.why = append(r.why, said{ord: m.ord, text: text, score: n, cause: cause || rejected, seq: j})
					}
				} else if best < 0 || n > bestScore {
					best, bestScore = j, n
				}
			}
		}
		if best >= 0 {
			low := strings.ToLower(units[best].text)
			if text := fact(units[best].text); text != "" {
				r.why = append(r.why, said{ord: m.ord, text: text, score: bestScore, cause: hasAny(low, causes) || hasAny(low, rejections), seq: best})
			}
		}
		if !m.final && len(units) > 0 {
			r.step(m, units)
		}
		failed = false
		for j := range m.uses {
			failed = failed || m.uses[j].failed
		}
	}
	slices.SortStableFunc(r.why, func(a, b said) int { return b.score - a.score })
	r.why = r.why[:min(len(r.why), 10)]
	if len(r.outcomes) == 0 {
		r.steps = spread(r.steps, 16)
		r.details = best(r.details, 24-len(r.steps))
	} else {
		r.steps = spread(r.steps, 8)
		r.details = best(r.details, 6)
	}
}

// step takes the best of the first units of a narration.
func (r *record) step(m *message, units []unit) {
	best, bestScore := -1, 0
	for j, u := range units[:min(len(units), 4)] {
		low := strings.ToLower(u.text)
		if width(u.text) < 16 || u.kind == unitHeader || starts(low, chatOpeners) && countNames(u.text) == 0 && width(u.text) < 60 {
			continue
		}
		n := 4 + 2*min(countNames(u.text), 3) - j
		if starts(low, chatOpeners) {
			n -= 3
		}
		if question(u.text) {
			n -= 2
		}
		if best < 0 || n > bestScore {
			best, bestScore = j, n
		}
	}
	if best < 0 {
		return
	}
	text := units[best].text
	if joined, _ := joinBullets(units, best); joined != "" && strings.HasSuffix(text, ":") {
		text = joined
	}
	if text = fact(text); text != "" {
		r.steps = append(r.steps, said{ord: m.ord, text: strings.TrimRight(text, ":"), score: bestScore, seq: best})
	}
	for j, u := range units[:min(len(units), 10)] {
		low := strings.ToLower(u.text)
		if j == best || width(u.text) < 24 || u.kind == unitHeader || u.kind == unitHeading || starts(low, chatOpeners) || strings.HasSuffix(u.text, ":") || question(u.text) {
			continue
		}
		n := 2 * min(countNames(u.text), 3)
		if hasAny(low, causes) || hasAny(low, negations) {
			n += 3
		}
		if hasDigit(u.text) {
			n++
		}
		if u.bold {
			n += 3
		}
		if text := fact(u.text); text != "" && n > 0 {
			r.details = append(r.details, said{ord: m.ord, text: text, score: n, seq: j})
		}
	}
}

// best keeps the n of the highest score, in their order.
func best(s []said, n int) []said {
	if len(s) <= n {
		return s
	}
	ranked := slices.Clone(s)
	slices.SortStableFunc(ranked, func(a, b said) int { return b.score - a.score })
	least := ranked[n].score
	out := s[:0]
	for _, x := range s {
		if x.score > least {
			out = append(out, x)
		}
	}
	return out
}

func (r *record) concluded() int {
	n := 0
	for _, o := range r.outcomes {
		n += 1 + len(o.more)
	}
	return n
}

// spread keeps at most n of the steps: the better one of each stretch, so that
// the way stays visible from its beginning to its end.
func spread(s []said, n int) []said {
	if len(s) <= n {
		return s
	}
	out := make([]said, 0, n)
	for k := range n {
		from, to := k*len(s)/n, (k+1)*len(s)/n
		best := from
		for i := from + 1; i < to; i++ {
			if s[i].score > s[best].score {
				best = i
			}
		}
		out = append(out, s[best])
	}
	return out
}

// collectTalk takes answers given through question tools, and delegated work.
func (r *record) collectTalk(ms []message) {
	for i := range ms {
		for j := range ms[i].uses {
			u := &ms[i].uses[j]
			switch u.kind {
			case useAsk:
				for _, p := range u.pairs {
					if p.reply == "" {
						continue
					}
					q, a := shorten(safe(p.question), 160), shorten(safe(p.reply), 160)
					r.answered = append(r.answered, said{ord: ms[i].ord, text: q + " → \"" + a + "\""})
				}
			case useTask:
				if u.stopped || u.refused {
					continue
				}
				text := shorten(safe(u.task), 120)
				if o, ok := conclude(split(u.result, false), ms[i].ord, 4); ok {
					text += " → " + shorten(o.main, 200)
					for _, m := range append(o.caveats, o.more...) {
						text += " " + shorten(m.text, 120)
					}
				} else if u.failed {
					text += " → failed: " + shorten(safe(u.errLine), 120)
				}
				r.handed = append(r.handed, said{ord: ms[i].ord, text: text})
			}
		}
	}
}

// collectOpen takes what is still to be done at the end of the run.
func (r *record) collectOpen(v *view) {
	ms := v.run()
	processes := map[string]int{}
	for i := range ms {
		for j := range ms[i].uses {
			u := &ms[i].uses[j]
			switch {
			case u.kind == useTodo && len(u.todos) > 0:
				r.todoLeft = r.todoLeft[:0]
				done := 0
				for _, t := range u.todos {
					switch t.status {
					case "completed", "done", "cancelled":
						done++
						continue
					}
					text := shorten(safe(t.text), 100)
					if t.status == "in_progress" {
						text += " (begun)"
					}
					r.todoLeft = append(r.todoLeft, text)
				}
				r.todo = &said{ord: ms[i].ord, score: done}
			case u.kind == useShell && !u.failed:
				if id := processID(u.output); id != "" {
					if len(r.running) < 4 {
						processes[id] = len(r.running)
						r.running = append(r.running, said{ord: ms[i].ord, text: shorten(safe(u.cmd.text), 80) + " (" + safe(id) + ")"})
					}
				}
			case u.kind == useOther && len(processes) > 0:
				low := strings.ToLower(head(u.output, 300))
				if strings.Contains(low, "exited") || strings.Contains(low, "killed") || strings.Contains(low, "<status>completed") || strings.Contains(low, "terminated") {
					for id, k := range processes {
						if strings.Contains(u.output, id) {
							r.running[k].text = ""
						}
					}
				}
			case u.open && u.kind != useOwn && i == len(ms)-1:
				what := u.cmd.text
				if what == "" {
					what = u.name + " " + lastTwo(u.path)
				}
				r.running = append(r.running, said{ord: ms[i].ord, text: shorten(safe(what), 100) + " (no result yet)"})
			}
		}
	}
	r.running = slices.DeleteFunc(r.running, func(s said) bool { return s.text == "" })
	if v.to < len(v.ms) && v.ms[v.to].who != agent {
		r.stopped = v.ms[v.to].speech.interrupted
	}
	for i := len(ms) - 1; i >= 0; i-- {
		if ms[i].who == person {
			if i == len(ms)-1 || len(ms[i].units) > 0 {
				break
			}
		}
		if ms[i].who != agent || !ms[i].final {
			continue
		}
		units := ms[i].units
		for j := len(units) - 1; j >= 0; j-- {
			if question(units[j].text) || j == len(units)-1 && hasAny(strings.ToLower(units[j].text), offers) {
				if text := fact(units[j].text); text != "" {
					r.question = &said{ord: ms[i].ord, text: text}
				}
				break
			}
		}
		break
	}
}

// processID finds the id under which a host reports a process that still runs.
func processID(out string) string {
	top := head(out, 600)
	low := strings.ToLower(top)
	if !strings.Contains(low, "running") {
		return ""
	}
	at := strings.Index(low, "id: ")
	if at < 0 {
		return ""
	}
	f := strings.Fields(top[at+4:])
	if len(f) == 0 || len(f[0]) > 40 {
		return ""
	}
	return strings.Trim(f[0], ".,;`'\"")
}

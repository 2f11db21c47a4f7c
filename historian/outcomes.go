package historian

import (
	"slices"
	"strings"

	"ctxplugin/compartments"
)

// outcome is what one turn came to.
type outcome struct {
	ord     compartments.Ordinal
	main    string
	more    []said
	caveats []said

	objected compartments.Ordinal // of the message in which the user did not want it; 0 for none
	proposal bool                 // and nothing was done for it
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

// stretch is the final text of a stretch between two messages that are not the
// agent's, and what its turn did.
type stretch struct {
	texts  []int // places in the run
	acts   int   // calls of the turn, those that plan apart
	worked bool  // it did more than look
	did    bool  // it changed files or committed
	hello  bool  // the turn begins with the first words of a session, and few
}

// stretches lists the final texts of a run.
func (v *view) stretches() []stretch {
	ms := v.run()
	var out []stretch
	cur := stretch{}
	flush := func() {
		if len(cur.texts) > 0 {
			out = append(out, cur)
		}
		cur.texts = nil
	}
	for i := range ms {
		m := &ms[i]
		if m.who != agent && m.who != results {
			flush()
		}
		if m.who == person {
			cur = stretch{hello: width(m.speech.own) < 12 && v.opens(v.from+i)}
		}
		if m.who == agent && m.final {
			cur.texts = append(cur.texts, i)
		}
		for j := range m.uses {
			u := &m.uses[j]
			if u.kind != useTodo && u.kind != useOwn {
				cur.acts++
			}
			cur.worked = cur.worked || u.kind == useTask || u.kind == useShell && u.cmd.class != classLook
			cur.did = cur.did || !u.failed && len(u.changes) > 0 || len(u.hashes) > 0
		}
	}
	flush()
	return out
}

// collectOutcomes takes what turn-final texts conclude.
func (r *record) collectOutcomes(v *view) {
	ms := v.run()
	acts := 0
	for i := range ms {
		m := &ms[i]
		if m.who == agent && (len(m.narrate) > 0 || len(m.units) > 0 && !m.final) {
			r.narrations++
		}
		for j := range m.uses {
			if k := m.uses[j].kind; k != useTodo && k != useOwn {
				acts++
			}
		}
	}
	r.talk = acts < 4
	ends := v.stretches()
	best := 0
	for n, end := range ends {
		var units []unit
		last := end.texts[len(end.texts)-1]
		ord := ms[last].ord
		for _, i := range end.texts {
			units = append(units, ms[i].units...)
		}
		more := 6
		if n == len(ends)-1 {
			more = 10
		}
		if r.talk { // what was said is all there is
			more *= 2
		}
		o, ok := conclude(v, units, ord, more)
		if !ok || end.hello && end.acts == 0 { // a greeting returned
			continue
		}
		weight := 1
		if end.did || solves(units) || end.worked && !asks(units) {
			weight = 2
		}
		next := v.reply(v.from + last)
		if next != nil && !pointByPoint(next.speech.own) { // what was asked has an answer
			o.more = slices.DeleteFunc(o.more, func(s said) bool { return question(s.text) })
		}
		if next != nil && objects(next.speech.own) {
			o.objected = next.ord
			weight = 0
			if !end.did && end.acts < 4 { // what the user wants instead stands behind it
				o.proposal = true
				o.more = o.more[:min(1, len(o.more))]
			}
		}
		if len(r.outcomes) == 0 || weight >= best {
			best, r.outcome = weight, len(r.outcomes)
		}
		r.outcomes = append(r.outcomes, o)
	}
	r.state, r.loose = standing(ms, len(r.outcomes) > 0)
}

// opens reports whether nobody spoke before the message at a place.
func (v *view) opens(place int) bool {
	if len(v.prior) > 0 {
		return false
	}
	for i := range v.ms[:place] {
		if v.ms[i].who == agent || v.ms[i].who == person {
			return false
		}
	}
	return true
}

// reply is the message of a person right behind a place of the range; nil if there is
// none.
func (v *view) reply(place int) *message {
	for i := place + 1; i < len(v.ms); i++ {
		switch v.ms[i].who {
		case agent:
			return nil
		case person:
			return &v.ms[i]
		}
	}
	return nil
}

// solves reports a text that has a heading for what was wrong or what mends it.
func solves(units []unit) bool {
	for _, u := range units {
		if low := strings.ToLower(u.text); u.kind == unitHeading && (hasAny(low, causeHeads) || hasAny(low, solvedHeads)) {
			return true
		}
	}
	return false
}

// conclude takes the outcome from a turn-final text: the first unit with
// content, behind its heading or opener, then the best of the others, and the
// closing caveats.
func conclude(v *view, units []unit, ord compartments.Ordinal, more int) (outcome, bool) {
	o := outcome{ord: ord}
	used := make([]bool, len(units))
	prefix, titled := "", false
	choice := len(units) > 0 && question(units[len(units)-1].text) // the numbered items are for the user to choose from
	options := asks(units)
	for i := offered(units); i < len(units); i++ { // it stands as what is open
		used[i] = true
	}
	for pass := range 2 { // the second pass takes small talk if there is nothing else
		for i := 0; i < len(units) && o.main == ""; i++ {
			u := units[i]
			low := strings.ToLower(u.text)
			switch {
			case u.kind == unitHeader, choice && u.num > 0, used[i]:
			case options && option(&u) && pass == 0:
			case u.kind == unitHeading:
				if pass == 0 && !titled { // of nested headings the first says most
					prefix = strings.TrimRight(u.text, ":!.") + ": "
					used[i], titled = true, true
				}
			case pass == 0 && (offers(u.text) || question(u.text)):
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
	if lone := strings.TrimSpace(prefix); o.main == "" || o.main == lone+" "+lone { // said before and behind the work
		o.main = lone
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
		if used[i] || question(u.text) || strings.HasSuffix(u.text, ":") || offers(u.text) || !hasAny(low, caveats) && !hasAny(low, negations) || u.kind == unitHeader {
			continue
		}
		if text := fact(u.text); text != "" {
			o.caveats = append(o.caveats, said{ord: ord, text: text, seq: i, option: options && option(&u)})
			used[i] = true
		}
	}
	type scored struct{ place, score int }
	var rest []scored
	for i, u := range units {
		if used[i] || u.kind == unitHeader || u.kind == unitHeading || width(u.text) < 12 || choice && u.num > 0 && width(u.text) < 32 {
			continue
		}
		low := strings.ToLower(u.text)
		s := 10 + 4*(len(units)-i)/len(units)
		if v != nil {
			all, news := v.names(u.text)
			s += 2*min(all, 3) + 2*news
		} else {
			s += 2 * min(countNames(u.text), 3)
		}
		if hasAny(low, negations) {
			s += 3
		}
		if offers(u.text) {
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
		if numbered(u.text) {
			s -= 6 // an option, or a step for somebody else
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
			o.more = append(o.more, said{ord: ord, text: text, score: rank, seq: s.place, option: options && option(&units[s.place])})
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
	skipped := 0
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
		if strings.HasSuffix(units[j].text, ":") && j+1 < len(units) && units[j+1].kind == unitBullet {
			skipped++ // the head of a list in the list
			continue
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
	return units[at].text + " " + strings.Join(items, "; "), len(items) + skipped
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

package historian

import "strings"

// standing is what the agent said last in a turn that has no conclusion in the
// run: of its last few narrations the one that says most, so that an
// announcement of the next step does not hide what was found.
//
// It is loose where even that only announces, asks or supposes.
func standing(ms []message, concluded bool) (best *said, loose bool) {
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
			if width(u.text) < 12 || u.kind == unitHeader || nameAlone(u.text) {
				continue
			}
			n := 10 - 2*narrations + min(2, countNames(u.text))
			low := strings.ToLower(u.text)
			open := starts(low, chatOpeners) || supposed(u.text)
			if open {
				n -= 6
			}
			if strings.HasSuffix(u.text, ":") {
				n -= 3
			}
			if width(u.text) < remarkWidth && countNames(u.text) == 0 {
				n -= 3 // "This is complex", between one that says something and one that only announces
			}
			if hasAny(low, causes) || hasAny(low, caveats) {
				n++
			}
			if text := fact(u.text); text != "" && (best == nil || n > best.score) {
				best, loose = &said{ord: ms[i].ord, text: strings.TrimRight(text, ":"), score: n}, open
			}
		}
		narrations++
	}
	return best, loose
}

// remarkWidth is the width up to which a sentence that names nothing is a remark.
const remarkWidth = 24

// supposed reports a text that asks or supposes rather than says what is so.
func supposed(s string) bool {
	low := strings.ToLower(s)
	return question(s) || starts(low, conditions) || hasAny(low, hedges)
}

package historian

import (
	"math/bits"
	"slices"
	"strings"

	"ctxplugin/compartments"
)

// candidate is a line that may be admitted.
type candidate struct {
	l     *line
	limit int    // extent of the form above
	names uint64 // of the record, that its longest form shows
}

// inOrder sorts candidates: what must stand first, then by message.
func inOrder(all []candidate, level int) {
	slices.SortStableFunc(all, func(a, b candidate) int {
		if x, y := a.l.stays(level), b.l.stays(level); x != y {
			if x {
				return -1
			}
			return 1
		}
		if x, y := a.l.prio, b.l.prio; x != y {
			return y - x
		}
		if a.l.ord != b.l.ord {
			return int(a.l.ord - b.l.ord)
		}
		return a.l.seq - b.l.seq
	})
}

// rank is the priority of a line beside what is already admitted. Below full a
// line gains by the names that it is the first to show, and by its shortness: where
// room is short, a fact goes before a sentence about what is known.
func (r *record) rank(c *candidate, level int, known uint64) int {
	n := c.l.prio
	if level == atCompact && c.l.brief != 0 {
		n = c.l.brief
	}
	if level == atFull || len(c.l.forms[level]) == 0 {
		return n
	}
	gain := 0
	for new := c.names &^ known; new != 0; new &= new - 1 {
		gain += r.worth[bits.TrailingZeros64(new)]
	}
	switch c.l.sec {
	case secAsked, secAnswered:
		n += 10 // what people want goes before what came of it
		gain /= 2
	case secChanged, secGit:
		n += 12
	case secOpen:
		n += 8
	case secOutcome:
		if c.l.dim == compartments.Uncertainty {
			n += 8 // what does not hold
		}
	case secFailed:
		gain /= 2 // where it broke is mostly not where the work goes on
		if c.l.prio >= 80 {
			n += 8
		}
	case secWhy, secSteps:
		if gain == 0 {
			return n - 12
		}
	}
	if c.l.chat {
		n -= 8 // what is about to be done shows in what was done
	}
	return n + min(gain, mostGain) - extent(c.l.forms[level][0])/10
}

// shown is the set of the record's names that a text shows.
func (r *record) shown(text string) uint64 {
	var set uint64
	for i, n := range r.names {
		if strings.Contains(text, n) || fileLike(n) && strings.Contains(text, baseName(n)) {
			set |= 1 << i
		}
	}
	return set
}

// mostGain is the most that a line gains by the names that it brings.
const mostGain = 34

// filling is a level while lines are admitted to it.
type filling struct {
	r        *record
	p        *page
	above    *page
	count    func(string) int
	ceiling  int
	used     int
	labelled [sections]bool
	whole    string   // the title's letters
	said     []string // the letters of what is admitted
	known    uint64   // the names that stand in it
}

// fill admits candidates, the best first, while they fit the room, and returns those
// for which there was none.
func (f *filling) fill(all []candidate, room int) (left []candidate) {
	level := f.p.level
	for i := range all {
		if forms := all[i].l.forms[level]; level != atFull && len(forms) > 0 {
			all[i].names = f.r.shown(forms[0])
		}
	}
	for len(all) > 0 {
		at := 0
		if level != atFull && !all[0].l.stays(level) {
			best := f.r.rank(&all[0], level, f.known)
			for i := 1; i < len(all); i++ {
				if n := f.r.rank(&all[i], level, f.known); n > best {
					at, best = i, n
				}
			}
		}
		c := all[at]
		all = slices.Delete(all, at, at+1)
		if f.take(&c, room) {
			left = append(left, c)
		}
	}
	return left
}

// take admits a candidate in the longest form that fits. It reports whether there
// was no room for any.
func (f *filling) take(c *candidate, room int) (crowded bool) {
	level := f.p.level
	forms := c.l.forms[level]
	for k, text := range forms {
		if extent(text) > c.limit || f.above != nil && !within(text, f.above.text) {
			continue
		}
		folded := letters(text, 400)
		if repeated(f.said, folded, c.l.sec) {
			return false
		}
		if fresh := c.names &^ f.known; k > 0 && fresh != 0 && f.r.shown(text)&fresh == 0 && !c.l.stays(level) {
			return crowded // what it was to bring is cut off
		}
		if c.l.sec == secAsked && f.whole == folded {
			return false // the title is the request
		}
		cost := f.count(text) + 2
		if level != atCompact && c.l.ord != 0 {
			cost += 4
		}
		if !f.labelled[c.l.sec] {
			cost += 3
		}
		if f.used+cost > room && !(c.l.stays(level) && k == len(forms)-1 && f.used+cost <= f.ceiling) {
			crowded = true
			continue
		}
		f.used += cost
		f.labelled[c.l.sec] = true
		f.p.lines = append(f.p.lines, placed{c.l, text})
		f.said = append(f.said, folded)
		f.known |= f.r.shown(text)
		return false
	}
	return crowded
}

// sort puts the lines in the order in which they are shown.
func (p *page) sort() {
	slices.SortStableFunc(p.lines, func(a, b placed) int {
		if a.sec != b.sec {
			return int(a.sec) - int(b.sec)
		}
		if a.ord != b.ord {
			return int(a.ord - b.ord)
		}
		return a.seq - b.seq
	})
}

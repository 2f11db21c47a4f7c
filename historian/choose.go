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
	wide  int    // extent of that form
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
		n += 13 // what people want goes before what came of it
		gain /= 2
	case secChanged, secGit:
		n += 12
	case secOpen:
		n += 8
	case secOutcome:
		if c.l.dim == compartments.Uncertainty {
			n += 8 // what does not hold
		} else if c.names == 0 && c.wide <= politeExtent {
			n -= 20
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
	return n + min(gain, mostGain) - c.wide/10
}

// shown is the set of the record's names that a text shows. A file is known by its
// bare name.
func (r *record) shown(text string) uint64 {
	var set uint64
	var has [256]bool
	for i := 0; i < len(text); i++ {
		has[text[i]] = true
	}
	for i, n := range r.calls {
		if has[n[0]] && has[n[len(n)-1]] && strings.Contains(text, n) {
			set |= 1 << i
		}
	}
	return set
}

// politeExtent is the extent up to which an outcome that names nothing is hardly more
// than a courtesy.
const politeExtent = 32

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
	whole    string            // the title's letters
	said     []string          // the letters of what is admitted
	known    uint64            // the names that stand in it
	told     []map[string]bool // the words of its sentences
}

// leastLine is the fewest tokens that a line takes.
const leastLine = 6

// fill admits candidates, the best first, while they fit the room, and returns those
// for which there was none.
func (f *filling) fill(all []candidate, room int) (left []candidate) {
	level := f.p.level
	for i := range all {
		if forms := all[i].l.forms[level]; level != atFull && len(forms) > 0 && all[i].wide == 0 {
			all[i].names, all[i].wide = f.r.shown(forms[0]), extent(forms[0])
		}
	}
	for len(all) > 0 {
		if f.used+leastLine > room && !all[0].l.stays(level) {
			return append(left, all...)
		}
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
		if k == 0 && c.names&^f.known == 0 && !c.l.stays(level) && f.reworded(c.l.telling()) && (level != atFull || f.r.shown(text)&^f.named() == 0) {
			return false
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
		if level != atFull {
			f.known |= f.r.shown(text)
		}
		if words := c.l.telling(); len(words) > 0 {
			set := make(map[string]bool, len(words))
			for _, w := range words {
				set[w] = true
			}
			f.told = append(f.told, set)
		}
		return false
	}
	return crowded
}

// reworded reports a sentence nearly all of whose words stand in one that is admitted.
func (f *filling) reworded(words []string) bool {
	if len(words) < 4 {
		return false
	}
	for _, set := range f.told {
		same := 0
		for _, w := range words {
			if set[w] {
				same++
			}
		}
		if 100*same >= rewordedShare*len(words) {
			return true
		}
	}
	return false
}

// named are the names that the admitted lines show.
func (f *filling) named() uint64 {
	set := f.known
	for i := range f.p.lines {
		set |= f.r.shown(f.p.lines[i].text)
	}
	return set
}

// rewordedShare is the share of the words of a sentence, in percent, that makes it the
// same as another.
const rewordedShare = 80

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

package historian

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"ctxplugin/compartments"
)

// ceilings of a run: full is a quarter of the raw messages, the others follow
// the tier above, each within what its tier may take at all.
//
// A quarter of very little holds nothing, so small runs get more, and most of
// all those in which only words were exchanged: there what was said is all there
// is.
func ceilings(raw int, talk bool) [levels]int {
	full := raw / 4
	if talk {
		full = max(full, min(440, raw/2))
	} else {
		full = max(full, min(360, raw*2/5))
	}
	full = min(full, compartments.TierFull.Ceiling())
	dense := min(full, compartments.TierDense.Ceiling())
	compact := min(dense, compartments.TierCompact.Ceiling())
	return [levels]int{full, dense, compact}
}

// renderTiers writes the four tiers of a record.
func renderTiers(r *record, raw int, count func(string) int) (map[compartments.Tier]compartments.Rendition, []line) {
	lines := r.lines()
	limits := ceilings(raw, r.talk)
	share := [levels]int{0, 79, 60} // of the level above, in percent
	least := [levels]int{0, 170, 100}
	var pages [levels]*page
	for level := range levels {
		var above *page
		if level > 0 {
			above = pages[level-1]
			limits[level] = min(limits[level], max(above.tokens*share[level]/100, least[level]))
		}
		pages[level] = admit(r, lines, level, limits[level], above, count)
	}
	anchor := anchorText(r, pages[atCompact], count)
	texts := [...]string{pages[atFull].text, pages[atDense].text, pages[atCompact].text, anchor}
	out := map[compartments.Tier]compartments.Rendition{}
	above := 0
	for i, t := range compartments.Rendered {
		n := count(texts[i])
		if i > 0 && n > above { // a run so small that the lower form is the longer one
			texts[i], n = texts[i-1], above
		}
		above = n
		out[t] = compartments.Rendition{Text: texts[i], Tokens: n}
	}
	return out, lines
}

// anchorText is one line: what was wanted, what came of it, and the names to find
// it by, all taken from what compact shows.
func anchorText(r *record, compact *page, count func(string) int) string {
	ceiling := compartments.TierAnchor.Ceiling()
	for _, s := range r.spans {
		ceiling += count(s.Text)
	}
	var marks []string
	if slices.ContainsFunc(compact.lines, func(l placed) bool { return l.sec == secGit }) {
		for i := len(r.git) - 1; i >= 0 && len(marks) < 2; i-- {
			if h := r.git[i].hash; h != "" && strings.Contains(compact.text, head(h, 7)) {
				marks = append(marks, head(h, 7))
			}
		}
	}
	for i := range r.files {
		if n := baseName(r.files[i].shown); strings.Contains(compact.text, n) {
			marks = append(marks, n)
		}
	}
	for _, n := range r.names {
		if fileLike(baseName(n)) {
			n = baseName(n)
		}
		if strings.Contains(compact.text, n) {
			marks = append(marks, n)
		}
	}
	fold := func(s string) string { return letters(s, 400) }
	place := fmt.Sprintf("[%d-%d] ", r.first, r.last)
	join := func(title, came string, marks []string) string {
		s := place + title
		if came != "" {
			s += " → " + came
		}
		if len(marks) > 0 {
			s += " (" + strings.Join(marks, "; ") + ")"
		}
		return s
	}
	rule := ""
	fits := func(s string) bool { return count(s+rule) <= ceiling }
	// What fits is guessed from the parts; the whole is counted once.
	marks = marks[:min(len(marks), 12)]
	each := make([]int, len(marks))
	for i, m := range marks {
		each[i] = count(m) + 1
	}
	told := r.tidings(compact, count)
	var best choice
	best.score = -1
	for _, n := range [...]int{64, 48, 36, 24, 12} {
		title := shorten(compact.title, n)
		rule = quoted(missing(r.spans, title))
		if title == "" || r.force != nil && n > 36 && len(told) > 0 && strings.HasPrefix(compact.title, "(cont. of [") {
			continue // its beginning says which; what came is news
		}
		room := ceiling - count(place+title+rule)
		if room < 0 {
			continue
		}
		names := r.shown(title)
		score := r.sum(names) + extent(title)/anchorTitle
		for marked := 0; marked <= anchorLead; marked++ {
			lead, left := room, names
			var taken []string
			for i, m := range marks {
				if len(taken) == marked {
					break
				}
				if cost := each[i] + 1; cost <= lead && !strings.Contains(title, m) && len(m) <= 50 && !slices.Contains(taken, m) {
					taken = append(taken, m)
					lead -= cost
					left |= r.shown(m)
				}
			}
			if len(taken) < marked {
				break
			}
			c := choice{score + anchorMark*marked, title, "", taken}
			if c.score > best.score {
				best = c
			}
			for i := range told {
				if t := &told[i]; !repeated([]string{fold(title)}, t.folded, secOutcome) {
					for _, f := range t.forms {
						if f.tokens+2 > lead {
							continue
						}
						if s := c.score + t.worth + r.sum(f.names&^left) - f.cut; s > best.score {
							best = choice{s, title, f.text, taken}
						}
						break
					}
				}
			}
		}
	}
	if best.title == "" {
		best.title = fmt.Sprintf("%d messages", max(1, r.last-r.first+1))
	}
	rule = quoted(missing(r.spans, best.title))
	for len(best.marks) > 0 && !fits(join(best.title, best.came, best.marks)) {
		best.marks = best.marks[:len(best.marks)-1]
	}
	for best.came != "" && !fits(join(best.title, best.came, best.marks)) {
		best.came = shorten(best.came, extent(best.came)*3/4)
	}
	chosen := addMarks(best.marks, marks, 8, func(m []string) bool { return fits(join(best.title, best.came, m)) }, best.title+best.came)
	return join(best.title, best.came, chosen) + rule
}

// choice is what an anchor may be made of.
type choice struct {
	score       int
	title, came string
	marks       []string
}

// What an anchor is made of is weighed: names before what came, the extent of a title
// that counts as much as one point of a name's worth, and what a cut costs.
const (
	anchorLead  = 2
	anchorMark  = 10
	anchorTitle = 4
	anchorCut   = 14
)

// tiding is a line of compact as an anchor may tell it.
type tiding struct {
	text   string
	worth  int
	folded string
	forms  []tidingForm // longest first
}

// tidingForm is a tiding in a certain room.
type tidingForm struct {
	text   string
	tokens int
	names  uint64
	cut    int // what it costs that it is no whole statement
}

// tidings lists what an anchor may tell: first of all what came of the run, and else
// what compact shows of causes, failures and steps.
func (r *record) tidings(compact *page, count func(string) int) []tiding {
	var out []tiding
	for _, l := range compact.lines {
		t := tiding{text: l.text}
		if l.closes {
			continue // needed where the open thing was shown, and not told to find this by
		}
		switch l.sec {
		case secOutcome:
			if l.open || numbered(l.text) { // or a step for somebody else
				continue
			}
			t.worth = 12
			if l.must || r.state != nil && strings.HasPrefix(l.text, "(in progress) ") {
				t.text, t.worth = strings.TrimPrefix(l.text, "(in progress) "), 24
				if !l.must && r.loose {
					t.worth = 0
				}
			}
			t.text, _, _ = strings.Cut(t.text, objectedMark)
		case secGit:
			if t.text, t.worth = shorten(r.commit(), commitExtent), 16; t.text == "" || !r.silent() || !strings.Contains(l.text, t.text) {
				continue
			}
		case secMended:
			t.text, t.worth = "passes now: "+l.text, 20
		case secWhy, secOpen:
			t.worth = 14
		case secFailed:
			if t.text, t.worth = "failed: "+l.text, 10; strings.HasPrefix(l.text, halfDone) {
				t.text, t.worth = l.text, 36
			}
		case secSteps, secDelegated, secRan:
			t.worth = 8
		default:
			continue
		}
		if l.chat {
			t.worth -= 6
		}
		t.folded = letters(t.text, 400)
		for k, limit := range [...]int{150, 90, 64, 44, 28} {
			f := tidingForm{text: shorten(t.text, limit)}
			if f.text == "" || width(f.text) < 8 || k > 0 && extent(t.text) <= limit {
				continue
			}
			if len(f.text) < len(t.text) {
				f.cut = anchorCut
			}
			f.tokens, f.names = count(f.text), r.shown(f.text)
			t.forms = append(t.forms, f)
		}
		out = append(out, t)
	}
	return out
}

// sum is what names are worth to an anchor.
func (r *record) sum(names uint64) int {
	n := 0
	for ; names != 0; names &= names - 1 {
		n += r.worth[bits.TrailingZeros64(names)]
	}
	return min(n/2, 24)
}

// addMarks adds names that are not said yet, up to most, while they fit.
func addMarks(chosen, marks []string, most int, fits func([]string) bool, said string) []string {
	for _, m := range marks {
		if len(chosen) >= most {
			break
		}
		known := strings.Contains(said, m)
		for _, c := range chosen {
			known = known || c == m
		}
		if known || len(m) > 50 {
			continue
		}
		if next := append(chosen[:len(chosen):len(chosen)], m); fits(next) {
			chosen = next
		}
	}
	return chosen
}

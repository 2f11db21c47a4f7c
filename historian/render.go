package historian

import (
	"fmt"
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
	share := [levels]int{0, 80, 60} // of the level above, in percent
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
	rule := ""
	rules := func(title string) { rule = quoted(missing(r.spans, title)) }
	outcome := ""
	var marks []string
	for _, l := range compact.lines {
		switch l.sec {
		case secOutcome:
			if l.must || r.state != nil && strings.HasPrefix(l.text, "(in progress) ") {
				outcome = strings.TrimPrefix(l.text, "(in progress) ")
			}
		case secGit:
			for i := len(r.git) - 1; i >= 0 && len(marks) < 2; i-- {
				if h := r.git[i].hash; h != "" && strings.Contains(compact.text, head(h, 7)) {
					marks = append(marks, head(h, 7))
				}
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
	lead, room := 2, 90 // names before the outcome, and the room of that
	if outcome == "" {
		outcome, lead, room = instead(compact), 4, 60
	}
	head := fmt.Sprintf("[%d-%d] ", r.first, r.last)
	join := func(title, outcome string, marks []string) string {
		s := head + title
		if outcome != "" {
			s += " → " + outcome
		}
		if len(marks) > 0 {
			s += " (" + strings.Join(marks, "; ") + ")"
		}
		return s
	}
	fits := func(s string) bool { return count(s+rule) <= ceiling }
	title := ""
	widest := 64
	if r.force != nil && outcome != "" && strings.HasPrefix(compact.title, "(cont. of [") {
		widest = 36 // its beginning says which; what came is news
	}
	for _, n := range [...]int{64, 48, 36, 24, 12} {
		if n > widest {
			continue
		}
		title = shorten(compact.title, n)
		rules(title)
		if title != "" && fits(join(title, "", nil)) {
			break
		}
		title = ""
	}
	if title == "" {
		title = fmt.Sprintf("%d messages", max(1, r.last-r.first+1))
		rules(title)
	}
	chosen := addMarks(nil, marks, lead, func(m []string) bool { return fits(join(title, "", m)) }, title)
	came := ""
	if outcome != "" && !repeated([]string{letters(title, 400)}, letters(outcome, 20), secOutcome) {
		for _, n := range [...]int{90, 70, 54, 40, 28} {
			if t := shorten(outcome, min(n, room)); t != "" && width(t) >= 8 && fits(join(title, t, chosen)) {
				came = t
				break
			}
		}
	}
	chosen = addMarks(chosen, marks, 8, func(m []string) bool { return fits(join(title, came, m)) }, title+came)
	return join(title, came, chosen) + rule
}

// instead is what an anchor tells of a run that came to nothing yet: what it
// closed, why, what failed, what was done, whichever compact shows first.
func instead(compact *page) string {
	for _, sec := range [...]section{secMended, secWhy, secFailed, secSteps, secDelegated, secRan} {
		for _, l := range compact.lines {
			if l.sec != sec {
				continue
			}
			switch sec {
			case secMended:
				return "passes now: " + l.text
			case secFailed:
				return "failed: " + l.text
			}
			return l.text
		}
	}
	return ""
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

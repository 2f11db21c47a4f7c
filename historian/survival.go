package historian

import (
	"strings"

	"ctxplugin/compartments"
)

// probeLetters is how many letters of an item are looked for at once, and probesMost
// how many such pieces of one item are.
const (
	probeLetters = 24
	probesMost   = 12
)

// measureSurvival says how much of the record each tier still holds, by
// dimension: a piece of an item counts as kept when its letters stand in the
// text.
//
// A long item is measured in pieces, so that one of which only the beginning is
// left counts for that share.
func measureSurvival(r *record, lines []line, tiers map[compartments.Tier]compartments.Rendition) {
	items := itemsOf(r, lines)
	above := compartments.Survival{}
	for d := range above {
		above[d] = 1000
	}
	for _, t := range compartments.Rendered {
		rendition := tiers[t]
		text := letters(rendition.Text, len(rendition.Text)+1)
		var kept, all [compartments.Dimensions]int
		for _, it := range items {
			all[it.dim]++
			if strings.Contains(text, it.probe) {
				kept[it.dim]++
			}
		}
		for _, l := range lines { // provenance: facts that still name their message
			if l.ord != 0 {
				all[compartments.Provenance]++
				if strings.Contains(rendition.Text, "["+itoa(int(l.ord))+"]") {
					kept[compartments.Provenance]++
				}
			}
		}
		for d := range all {
			share := 1000
			if all[d] > 0 {
				share = 1000 * kept[d] / all[d]
			}
			// A lower tier is a subset; a short probe may still find itself in the
			// middle of another word.
			rendition.Survival[d] = min(uint16(share), above[d])
		}
		above = rendition.Survival
		tiers[t] = rendition
	}
}

// item is a piece of a fact, folded to its letters.
type item struct {
	dim   compartments.Dimension
	probe string
}

// itemsOf lists what a record holds, in pieces.
func itemsOf(r *record, lines []line) []item {
	var items []item
	eachFact(r, lines, func(d compartments.Dimension, text string) {
		runes := []rune(letters(text, probeLetters*probesMost))
		for n := 0; len(runes) > 0 && n < probesMost; n++ {
			end := min(probeLetters, len(runes))
			items = append(items, item{d, string(runes[:end])})
			runes = runes[end:]
		}
	})
	return items
}

// eachFact calls put for each fact that a record holds.
func eachFact(r *record, lines []line, put func(compartments.Dimension, string)) {
	for i := range lines {
		l := &lines[i]
		probe := l.probe
		if probe == "" {
			for _, forms := range l.forms {
				if len(forms) > 0 {
					probe = forms[0]
					break
				}
			}
		}
		put(l.dim, probe)
	}
	for i := range r.files {
		put(compartments.Location, baseName(r.files[i].shown))
	}
	for i := range r.reads {
		put(compartments.Location, baseName(r.reads[i].shown))
	}
	for _, n := range r.names[:min(len(r.names), 24)] {
		put(compartments.Identifiers, baseName(n))
	}
	for _, s := range r.spans {
		put(compartments.Constraints, s.Text)
	}
	for _, f := range r.failures {
		if f.passed == 0 {
			put(compartments.Uncertainty, f.line)
		}
	}
	put(compartments.Narrative, r.head)
}

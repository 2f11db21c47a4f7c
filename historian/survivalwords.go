package historian

import (
	"strings"
	"unicode"

	"ctxplugin/compartments"
)

// keptShare is how many of the words of a fact a text must hold for the fact to
// count as kept, in percent: whoever words it anew leaves some out.
const keptShare = 60

// measureWords is measureSurvival for tiers that do not quote the record: a fact
// counts as kept when most of its words stand in the text, or its letters do. What
// quotes the record scores the same by both, so the two can be compared.
func measureWords(r *record, lines []line, tiers map[compartments.Tier]compartments.Rendition) {
	type fact struct {
		dim   compartments.Dimension
		probe string   // its first letters
		words []string // that tell it from others
	}
	var facts []fact
	eachFact(r, lines, func(d compartments.Dimension, text string) {
		if words := telling(text); len(words) > 0 {
			facts = append(facts, fact{d, letters(text, probeLetters), words})
		}
	})
	cited := map[compartments.Ordinal]bool{}
	for i := range lines {
		if lines[i].ord != 0 {
			cited[lines[i].ord] = true
		}
	}
	above := compartments.Survival{}
	for d := range above {
		above[d] = 1000
	}
	for _, t := range compartments.Rendered {
		rendition := tiers[t]
		folded := letters(rendition.Text, len(rendition.Text)+1)
		var kept, all [compartments.Dimensions]int
		for _, f := range facts {
			all[f.dim]++
			held := 0
			for _, w := range f.words {
				if strings.Contains(folded, w) {
					held++
				}
			}
			if 100*held >= keptShare*len(f.words) || strings.Contains(folded, f.probe) {
				kept[f.dim]++
			}
		}
		for ord := range cited {
			all[compartments.Provenance]++
			if strings.Contains(rendition.Text, "["+itoa(int(ord))+"]") {
				kept[compartments.Provenance]++
			}
		}
		for d := range all {
			share := 1000
			if all[d] > 0 {
				share = 1000 * kept[d] / all[d]
			}
			rendition.Survival[d] = min(uint16(share), above[d])
		}
		above = rendition.Survival
		tiers[t] = rendition
	}
}

// telling lists the words of a text that tell it from others, folded to their
// letters: of at least four, and pairs of wide characters.
func telling(text string) []string {
	const most = 24
	var out []string
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		runes := []rune(strings.ToLower(w))
		if wide(runes[0]) {
			for i := 0; i+1 < len(runes) && len(out) < most; i += 2 {
				out = append(out, string(runes[i:i+2]))
			}
		} else if (len(runes) > 3 || hasDigit(w)) && len(out) < most {
			out = append(out, string(runes))
		}
	}
	if len(out) == 0 {
		if l := letters(text, probeLetters); l != "" {
			out = append(out, l)
		}
	}
	return out
}

package historian

import (
	"slices"
	"strings"
	"unicode"

	"ctxplugin/compartments"
)

// Bounds of the exact spans of one compartment: how many of the user's rules, their
// tokens in all, and the room of each. The rest is in stated.go.
const (
	spansMost   = 4
	spansTokens = 120
	spanWhole   = 110 // extent up to which a sentence is kept whole
	spanLongest = 150
	priorTold   = 12 // compartments that are looked at for what the agent said before
)

// span is an exact span with what it says.
type span struct {
	compartments.ExactSpan
	order order
}

// collectSpans picks what must stand unchanged at every tier: what the user
// forbids, and then what always holds; names that the user states; and the way that
// was rejected, with its cause. Each as it stands in the source.
func (r *record) collectSpans(v *view) {
	ms := v.run()
	type candidate struct {
		span
		tokens int
	}
	var all []candidate
	for i := range ms {
		if ms[i].who != person {
			continue
		}
		own := ms[i].speech.own
		list := ownSentences(own)
		for k, s := range list {
			o, from, to := ruleIn(s)
			if o == noOrder {
				o, from, to = statedIn(s)
			}
			if o == noOrder || o < ban && ms[i].speech.harness { // most of what it lays down is the form of an answer
				continue
			}
			text := ruleText(s, from, to)
			if k > 0 && strings.HasSuffix(s, text) && pointing(text) {
				// What "it" means stands in the sentence before.
				if both := list[k-1] + " " + s; extent(both) <= spanWhole && strings.Contains(own, both) && !question(list[k-1]) {
					text = both
				}
			}
			if text == "" || width(text) < 8 || strings.Count(text, ")") > strings.Count(text, "(") || safe(text) != text || !v.holds(ms[i].ord, text) || v.toldBefore(text) {
				continue
			}
			all = append(all, candidate{span{compartments.ExactSpan{Ordinal: ms[i].ord, Text: text}, o}, estimate(text, 600)})
		}
		for _, text := range ms[i].speech.verbatim {
			if safe(text) == text {
				all = append(all, candidate{span{compartments.ExactSpan{Ordinal: ms[i].ord, Text: text}, statement}, estimate(text, 600)})
			}
		}
	}
	if s, ok := r.rejected(v); ok {
		all = append(all, candidate{s, estimate(s.Text, 600)})
	}
	ranked := slices.Clone(all)
	slices.SortStableFunc(ranked, func(a, b candidate) int { return int(b.order) - int(a.order) })
	keep := map[string]bool{}
	rules := room{spansMost, spansTokens}
	rooms := map[order]*room{ban: &rules, lasting: &rules, statement: {statedMost, statedTokens}, rejection: {1, rejectedTokens}}
	for _, c := range ranked {
		if !keep[c.Text] && rooms[c.order].take(c.tokens) {
			keep[c.Text] = true
		}
	}
	for _, c := range all {
		if keep[c.Text] {
			keep[c.Text] = false
			r.spans = append(r.spans, c.span)
		}
	}
}

// room is what there is for more spans.
type room struct{ spans, tokens int }

func (r *room) take(tokens int) bool {
	if r.spans == 0 || tokens > r.tokens {
		return false
	}
	r.spans--
	r.tokens -= tokens
	return true
}

// pointing reports a text that speaks of something by a pronoun alone.
func pointing(s string) bool {
	return countNames(s) == 0 && width(s) < 40 && hasWord(strings.ToLower(s), pronouns)
}

// toldBefore reports whether an earlier compartment has a text as something other
// than the user's words: what the agent said, and the user quoted.
func (v *view) toldBefore(text string) bool {
	key := letters(text, quotedLetters)
	for i := len(v.prior) - 1; i >= 0 && i >= len(v.prior)-priorTold; i-- {
		full := v.prior[i].Tiers[compartments.TierFull].Text
		asked := true
		for line := range strings.SplitSeq(full, "\n") {
			if len(line) > 0 && line[0] != '-' {
				asked = strings.HasPrefix(line, "[") || strings.HasPrefix(line, sectionLabels[secAsked]) || strings.HasPrefix(line, spansOfUser)
			}
			if !asked && strings.Contains(letters(line, len(line)), key) {
				return true
			}
		}
	}
	return false
}

// ownSentences cuts a person's words into sentences, without those that stand in
// what somebody else wrote: quotations, and reports that were passed on.
func ownSentences(own string) []string {
	var out []string
	var para []string
	flush := func() {
		if len(para) > 0 {
			out = append(out, apart(sentences(strings.Join(para, " "), true))...)
			para = para[:0]
		}
	}
	foreign, shape := false, 0
	lines := strings.Split(own, "\n")
	for i, line := range lines {
		t := strings.TrimSpace(line)
		structured := t != "" && (t[0] == '#' && isHeading(t) || t[0] == '|' || strings.HasPrefix(t, "**") || bulletLen(t) > 0)
		if t == "" {
			flush()
			// What was introduced ends with its paragraph, or with its list.
			next := ""
			for _, l := range lines[i:] {
				if next = strings.TrimSpace(l); next != "" {
					break
				}
			}
			if foreign && shape > 0 && !(next != "" && (next[0] == '#' || next[0] == '|' || strings.HasPrefix(next, "**") || bulletLen(next) > 0)) {
				foreign = false
			}
			continue
		}
		if foreign || reported(t) {
			shape++
			foreign = true
			continue
		}
		if introduces(t) && i+1 < len(lines) {
			foreign, shape = true, 0
		}
		if structured {
			flush()
			t = strings.TrimSpace(strings.TrimLeft(t[bulletLen(t):], "#"))
			out = append(out, apart(sentences(t, true))...)
			continue
		}
		para = append(para, t)
	}
	flush()
	return out
}

// apart cuts sentences where several blanks stand behind their end: what follows begins
// in small letters with many people.
func apart(list []string) []string {
	var out []string
	for _, s := range list {
		from := 0
		for i := 0; i+2 < len(s); i++ {
			if (s[i] == '.' || s[i] == '!' || s[i] == '?') && s[i+1] == ' ' && s[i+2] == ' ' {
				out = append(out, strings.TrimSpace(s[from:i+1]))
				from = i + 1
			}
		}
		if rest := strings.TrimSpace(s[from:]); rest != "" {
			out = append(out, rest)
		}
	}
	return out
}

// reported reports a line with which an agent's report begins: it says in its own
// name what it did, or ticks it off.
func reported(t string) bool {
	t = strings.TrimLeft(t, "#*- >")
	for _, mark := range [...]string{"✅", "☑", "✔", "❌", "🎉"} {
		if strings.HasPrefix(t, mark) {
			return true
		}
	}
	low := strings.ToLower(t)
	return starts(low, reportOpeners)
}

// introduces reports a line behind which comes what somebody else wrote.
func introduces(t string) bool {
	if !strings.HasSuffix(t, ":") && !strings.HasSuffix(t, "：") {
		return false
	}
	low := strings.ToLower(t)
	return (hasWord(low, quoteWords) || hasAny(t, quoteSigns)) && !hasWord(low, eachWords) && !hasAny(t, eachSigns)
}

// hasWord reports whether one of the words stands in a lower-case text as a word.
func hasWord(low string, words map[string]bool) bool {
	for _, w := range strings.FieldsFunc(low, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' }) {
		if words[w] {
			return true
		}
	}
	return false
}

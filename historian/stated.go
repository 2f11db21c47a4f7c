package historian

import (
	"strings"

	"ctxplugin/compartments"
)

// Bounds of the exact spans that are no rules.
const (
	statedMost     = 2
	statedTokens   = 70
	rejectedTokens = 64
)

// spansOfUser begins every label of spans that are the user's words.
const spansOfUser = "User's "

// quoted writes spans as they stand in a tier: the user's rules, then the names
// that the user stated, then what was rejected.
func quoted(spans []span) string {
	var b strings.Builder
	for _, group := range [...]struct {
		label    string
		from, to order
	}{{spansOfUser + "rule", lasting, ban}, {spansOfUser + "words", statement, statement}, {"Rejected", rejection, rejection}} {
		sep := "\n" + group.label + ": \""
		for _, s := range spans {
			if s.order >= group.from && s.order <= group.to {
				b.WriteString(sep + s.Text + "\"")
				sep = "; \""
			}
		}
	}
	return b.String()
}

// statedIn finds a name that a sentence of the user states as the very one to use,
// and the clause that does: "the tenant id is tn-12", "use exactly tn-12".
func statedIn(s string) (o order, from, to int) {
	if len(s) > 1200 || question(s) || !hasDigit(s) && !strings.Contains(s, "`") {
		return noOrder, 0, 0
	}
	at := -1
	scanNames(s, func(n string, _ kind) {
		if i := strings.Index(s, n); at < 0 && i >= 0 && leadsToName(s[:i]) {
			at = i
		}
	})
	if at < 0 {
		return noOrder, 0, 0
	}
	for _, c := range clauses(s) {
		if c.from <= at && at < c.to {
			return statement, c.from, c.to
		}
	}
	return statement, 0, len(s)
}

// leadsToName reports whether the words before a name make it the one that is
// meant: a word for a kind of name that the name is said to be, or "exactly".
func leadsToName(before string) bool {
	before = strings.ToLower(strings.TrimRight(before, " `'\"“‘*"))
	said := strings.HasSuffix(before, ":")
	words := strings.FieldsFunc(before, func(r rune) bool { return strings.ContainsRune(" \t,;:.=()*`\"“”", r) })
	last := func(i int) string {
		if i < len(words) {
			return words[len(words)-1-i]
		}
		return ""
	}
	if exactWords[last(0)] {
		return true
	}
	skip := 0
	for stillWords[last(skip)] {
		skip++
	}
	if copulas[last(skip)] {
		said = true
		skip++
	}
	if !said {
		return idWords[last(0)]
	}
	for i := skip; i < skip+3; i++ {
		if w := last(i); idWords[w] || nameWords[w] {
			return true
		}
	}
	return false
}

var (
	exactWords = wordSet(`exactly verbatim literally genau exakt exactement exactamente exatamente`)
	stillWords = wordSet(`now always still exactly called named jetzt immer ahora siempre agora sempre maintenant toujours`)
	copulas    = wordSet(`is are was be ist sind lautet heißt es son est sont é são`)
	// idWords are kinds of names that mean nothing without their letters.
	idWords = wordSet(`id ids uuid guid identifier sku serial ticket kennung bezeichner identifiant identificador`)
	// nameWords are kinds of names that a sentence may say one of.
	nameWords = wordSet(`name number version tag hash commit branch port host hostname url endpoint address path region zone bucket channel account tenant database db table schema queue topic user username
 email group project cluster namespace image code model digest checksum revision build release
 nummer version adresse pfad konto mandant datenbank tabelle zweig numéro nom adresse compte número nombre nome cuenta conta dirección endereço versión versão`)
)

// rejected is the way that was most clearly rejected for a cause, in words of the
// user or the agent that stand so in the source.
func (r *record) rejected(v *view) (span, bool) {
	best := func(ord compartments.Ordinal, text string) (span, bool) {
		text = strings.TrimRight(strings.TrimSpace(text), ".")
		if (rejects(text) || labelled(text)) && estimate(text, 600) <= rejectedTokens && safe(text) == text && v.holds(ord, text) {
			return span{compartments.ExactSpan{Ordinal: ord, Text: text}, rejection}, true
		}
		return span{}, false
	}
	for i := v.from; i < v.to; i++ {
		if m := &v.ms[i]; m.who == person && !m.speech.harness {
			for _, s := range ownSentences(m.speech.own) {
				if out, ok := best(m.ord, s); ok {
					return out, true
				}
			}
		}
	}
	for i := v.from; i < v.to; i++ {
		for j := range v.source[i].Parts {
			if p := &v.source[i].Parts[j]; v.ms[i].who == agent && p.Kind == compartments.PartText && !p.Synthetic {
				for line := range strings.SplitSeq(p.Text, "\n") {
					if line = strings.TrimLeft(line, " -*"); labelled(line) {
						if out, ok := best(v.ms[i].ord, line); ok {
							return out, true
						}
					}
				}
			}
		}
	}
	for _, w := range r.why {
		if out, ok := best(w.ord, w.text); ok {
			return out, true
		}
	}
	return span{}, false
}

// rejects reports a sentence that says what was not taken, and why. It names what it
// speaks of in the spelling of code, or somebody says it of their own choice.
func rejects(s string) bool {
	low := strings.ToLower(s)
	return hasAny(low, turnedDown) && hasAny(low, reasons) && (countNames(s) > 0 || hasAny(" "+low, choices)) && !question(s) && !hasAny(low, hedges)
}

// labelled reports a line that is headed as what was rejected; the cause is the rest
// of it.
func labelled(line string) bool {
	return len(line) < 400 && width(line) >= 40 && starts(strings.ToLower(line), []string{"rejected:", "ruled out:", "not taken:", "verworfen:", "rejeté :", "descartado:", "已否决：", "却下："})
}

// turnedDown are phrases that say that a way was not taken, choices those of them that
// say who chose, and reasons those behind which the cause stands. Unlike those that
// rank, they leave no doubt.
var (
	turnedDown = []string{"rejected", "ruled out", "rule out", "decided against", "not an option", "won't work", "will not work", "can't use", "cannot use", "can not use", "instead of", "rather than", "rolled back", "reverted", "gave up on", "abandoned", "is incompatible", "are incompatible", "conflicts with",
		"放弃了", "而不是", "不能用", "却下", "ではなく", "使えない", "대신", "쓸 수 없", "descartad", "descarté", "descartamos", "descartei", "en lugar de", "em vez de", "rejeté", "écarté", "au lieu de", "verworfen", "ausgeschlossen", "anstatt", "statt "}
	choices = []string{" i rejected", " we rejected", " i've rejected", " we've rejected", " i have rejected", " we have rejected", " i ruled out", " we ruled out", " i've ruled out", " we've ruled out", " i decided against", " we decided against", " i gave up on", " we gave up on", " i abandoned", " we abandoned",
		"ich verworfen", "wir verworfen", "ich ausgeschlossen", "wir ausgeschlossen", "j'ai rejeté", "j'ai écarté", "avons rejeté", "avons écarté", "descarté", "descartamos", "descartei", "我放弃了", "我们放弃了"}
	reasons = []string{"because", "since it", "since the", "since that", "due to", "as it needs", "requires", "因为", "由于", "なので", "ため", "때문", "porque", "debido", "devido", "parce que", "à cause", "weil", "wegen"}
)

// holds reports whether a message of the range says a text, letter by letter.
func (v *view) holds(ord compartments.Ordinal, text string) bool {
	for i := v.from; i < v.to; i++ {
		if v.ms[i].ord != ord {
			continue
		}
		for j := range v.source[i].Parts {
			p := &v.source[i].Parts[j]
			if p.Kind == compartments.PartText && strings.Contains(p.Text, text) {
				return true
			}
		}
	}
	return false
}

package expand

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"

	"ctxplugin/compartments"
)

// The names of the tools that set and end pins. They are read here; a session
// keeps what they say.
const (
	ToolPin   = "ctx_pin"
	ToolUnpin = "ctx_unpin"
)

const (
	keyQuote = "quote"
	keyPin   = "pin"
)

// What those tools accept, for the text of a refusal.
const (
	pinForm   = `Accepted: {"message": 57, "part": 2, "quote": "words of it, copied exactly"}, or {"first": 41, "last": 58}, or {"compartment": 41} (part and quote are optional).`
	unpinForm = `Accepted: {"pin": 3}, the number that ctx_pin answered.`
)

// PinAsk is what a call of ctx_pin asks for: Message or ID, or First and Last, or
// Compartment, the number of a message that the compartment begins with or has.
type PinAsk struct {
	Message     compartments.Ordinal
	ID          compartments.MessageID
	Part        int // 0-based; -1: the whole message
	Field       compartments.Field
	Quote       string // empty: all of it
	First, Last compartments.Ordinal
	Compartment compartments.Ordinal
}

// ReadPin reads the arguments of ctx_pin. A refusal is the text for the model;
// it is empty if there is none.
func ReadPin(raw []byte) (ask PinAsk, refusal string) {
	ask, err := readPin(raw)
	return ask, refusalText(ToolPin, pinForm, err)
}

// ReadUnpin reads the arguments of ctx_unpin.
func ReadUnpin(raw []byte) (id compartments.PinID, refusal string) {
	id, err := readUnpin(raw)
	return id, refusalText(ToolUnpin, unpinForm, err)
}

func refusalText(tool, form string, err error) string {
	var r *refusal
	if errors.As(err, &r) {
		return fmt.Sprintf("%s: %s\n%s\n", tool, r.text, form)
	}
	return ""
}

func readPin(raw []byte) (PinAsk, error) {
	ask := PinAsk{Part: -1}
	object, err := readObject(ToolPin, raw)
	if err != nil {
		return ask, err
	}
	if value, ok := object[keyQuote]; ok {
		if json.Unmarshal(value, &ask.Quote) != nil {
			return ask, refuse("quote is %s; it has to be a string.", show(value))
		}
		if strings.TrimSpace(ask.Quote) == "" {
			return ask, refuse("quote is blank; leave it out to pin all of the part.")
		}
		delete(object, keyQuote)
	}
	if _, ok := object[keyOffset]; ok {
		return ask, refuse("a pin has no offset; name the words with quote.")
	}
	rest, err := json.Marshal(object)
	if err != nil {
		return ask, refuse("the arguments are no JSON object: %s.", show(raw))
	}
	a, err := readAsked(ToolPin, rest)
	if err != nil {
		return ask, err
	}
	ask.Message, ask.ID, ask.Part, ask.Field = a.message, a.id, a.part, a.field
	if a.first == 0 {
		return ask, nil
	}
	if ask.Quote != "" || a.part >= 0 || a.message != 0 || a.id != "" {
		return ask, refuse("a range is kept as whole messages; quote and part belong to one message.")
	}
	if a.compartment && a.last == 0 {
		ask.Compartment = a.first
		return ask, nil
	}
	if a.last < a.first { // to read a range turned about does no harm, to keep one might
		return ask, refuse("first %d is behind last %d; a range is written {\"first\": %d, \"last\": %d}.", a.first, a.last, a.last, a.first)
	}
	ask.First, ask.Last = a.first, a.last
	return ask, nil
}

func readUnpin(raw []byte) (compartments.PinID, error) {
	object, err := readObject(ToolUnpin, raw)
	if err != nil {
		return 0, err
	}
	if err := onlyKnown(object, []string{keyPin}); err != nil {
		return 0, err
	}
	value, ok := object[keyPin]
	if !ok {
		return 0, refuse("pin is missing.")
	}
	n, err := readNumber(value)
	if err != nil || n < 1 || n > math.MaxInt32 {
		return 0, numberRefusal(keyPin, value, "the number of a pin, 1 or more", err)
	}
	return compartments.PinID(n), nil
}

// FindWords finds the words of a pin in a message: all of it (part -1), a part, a
// field of it, or an exact quote in any of these. Offsets count in the fields as
// ctx_expand shows them. Errors carry CodeNotFound, with the form that would do.
func FindWords(m *compartments.Message, part int, field compartments.Field, quote string) ([]compartments.PinSpan, error) {
	if part >= len(m.Parts) {
		return nil, compartments.Errorf(compartments.CodeNotFound, "message %d has no part %d; it has %s", m.Ordinal, part, partList(m))
	}
	var all []piece
	for i := range m.Parts {
		if part >= 0 && i != part {
			continue
		}
		for _, p := range partPieces(&m.Parts[i], i) {
			if p.field != "" && p.text != "" && (field == "" || p.field == field) {
				all = append(all, p)
			}
		}
	}
	if len(all) == 0 {
		return nil, compartments.Errorf(compartments.CodeNotFound, "%s", nothingToPin(m, part, field))
	}
	if quote == "" {
		spans := make([]compartments.PinSpan, len(all))
		for i, p := range all {
			spans[i] = compartments.PinSpan{Part: p.part, Field: p.field, To: len(p.text), Text: p.text}
		}
		return spans, nil
	}
	for _, p := range all {
		if at := strings.Index(p.text, quote); at >= 0 {
			return []compartments.PinSpan{{Part: p.part, Field: p.field, From: at, To: at + len(quote), Text: quote}}, nil
		}
	}
	return nil, compartments.Errorf(compartments.CodeNotFound, "%s", noSuchWords(m, all, quote))
}

func nothingToPin(m *compartments.Message, part int, field compartments.Field) string {
	switch {
	case field != "":
		return fmt.Sprintf("message %d has no %s there; it has %s", m.Ordinal, field, partList(m))
	case part < 0:
		return fmt.Sprintf("message %d has no words that can be pinned", m.Ordinal)
	case m.Parts[part].OwnTool():
		return fmt.Sprintf("part %d of message %d is a call of %s, whose result repeats what is stored: pin the message that it shows", part, m.Ordinal, m.Parts[part].Tool)
	}
	if p := partPieces(&m.Parts[part], part); len(p) > 0 {
		return fmt.Sprintf("part %d of message %d is not text; message %d has %s", part, m.Ordinal, m.Ordinal, partList(m))
	}
	return fmt.Sprintf("part %d of message %d is %s; message %d has %s", part, m.Ordinal, whyNothing(&m.Parts[part]), m.Ordinal, partList(m))
}

func noSuchWords(m *compartments.Message, all []piece, words string) string {
	text := fmt.Sprintf("message %d does not say %s", m.Ordinal, quoted(words))
	if isPlaceholder(words) || strings.Contains(words, "[stored output of ") || strings.Contains(words, "[stored text, ") {
		return text + fmt.Sprintf(": that is the text of a stub, which stands for what is stored. Open the original with %s and quote that", messageCall(m.Ordinal))
	}
	text += " character by character"
	p, line, ok := nearestLine(all, words)
	if !ok {
		return text + fmt.Sprintf(". Open it with %s and copy the words, such as {\"message\": %d, \"quote\": \"…\"}", messageCall(m.Ordinal), m.Ordinal)
	}
	return text + fmt.Sprintf("; the nearest line is in part %d, %s. Copy it exactly: {\"message\": %d, \"part\": %d, \"quote\": %s}",
		p.part, p.field, m.Ordinal, p.part, quote(line))
}

// quoteShown is how much of a quote, or of a line, a refusal shows, in bytes.
const quoteShown = 160

func quoted(s string) string { return quote(oneLine(s, quoteShown)) }

// around cuts a long line to what stands around a place, so that it still occurs
// as it is.
func around(line string, at int) string {
	from := 0
	if at > quoteShown/2 && len(line) > quoteShown {
		from = min(at-quoteShown/4, len(line)-quoteShown)
	}
	to := min(len(line), from+quoteShown)
	for !utf8.RuneStart(line[from]) {
		from--
	}
	for to < len(line) && !utf8.RuneStart(line[to]) {
		to--
	}
	return strings.TrimSpace(line[from:to])
}

// Bounds of the search for the nearest line.
const (
	linesLooked   = 20_000 // lines looked at
	linesCompared = 32     // of them compared by letters: those that share most words
	runesCompared = 200
)

// nearestLine finds the line that is least unlike the first line of a quote that
// is not blank, or else one that has most of its words; none if more than half
// of the quote would have to change.
func nearestLine(all []piece, quote string) (in *piece, line string, ok bool) {
	want := ""
	for l := range strings.Lines(quote) {
		if want = strings.TrimSpace(l); want != "" {
			break
		}
	}
	words := map[string]bool{}
	for _, w := range wordsIn(want) {
		words[w] = true
	}
	type candidate struct {
		p      *piece
		line   string
		shared int
	}
	var found []candidate
	looked := 0
	for i := range all {
		for l := range strings.Lines(all[i].text) {
			if looked++; looked > linesLooked {
				break
			}
			if l = strings.TrimSpace(l); l == "" {
				continue
			}
			c := candidate{p: &all[i], line: l}
			has := map[string]bool{}
			for _, w := range wordsIn(clip(l, 4*runesCompared)) {
				if words[w] && !has[w] {
					has[w] = true
					c.shared++
				}
			}
			found = append(found, c)
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return b.shared - a.shared })
	if len(found) == 0 {
		return nil, "", false
	}
	short := firstRunes(want, runesCompared)
	least := utf8.RuneCountInString(short)/2 + 1
	for _, c := range found[:min(len(found), linesCompared)] {
		if d := levenshtein.ComputeDistance(short, firstRunes(c.line, runesCompared)); d < least {
			in, line, ok, least = c.p, c.line, true, d
		}
	}
	if best := found[0]; !ok && best.shared > 1 && best.shared*3 >= len(words)*2 {
		at := len(best.line)
		low := strings.ToLower(best.line)
		for w := range words {
			if i := strings.Index(low, w); i >= 0 && i < at && len(low) == len(best.line) {
				at = i
			}
		}
		if at == len(best.line) {
			at = 0
		}
		return best.p, around(best.line, at), true
	}
	if ok {
		line = around(line, 0)
	}
	return in, line, ok
}

func wordsIn(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '_' })
}

func firstRunes(s string, most int) string {
	n := 0
	for i := range s {
		if n == most {
			return s[:i]
		}
		n++
	}
	return s
}

package decay

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"ctxplugin/compartments"
)

// preambleTokens bounds what the renderer puts before the entries of a pair, in
// tokens: the first pair explains how to read the record, the others only say
// what they cover.
const (
	preambleFirst = 130
	preambleLater = 30
)

// Preamble is the most tokens that the opening of a pair takes.
func Preamble(first bool) int {
	if first {
		return preambleFirst
	}
	return preambleLater
}

// Lookup returns a compartment by its id.
type Lookup func(compartments.CompartmentID) *compartments.Compartment

// RenderPair renders the text of one pair. first says that no pair stands
// before it. The text is data about the session: it asks for nothing, and no
// line of an entry's body can pass for a heading. pins is asked only where items
// name pins.
func RenderPair(items []compartments.Item, first bool, lookup Lookup, pins PinLookup) string {
	return (*Rendering)(nil).Pair(items, first, lookup, pins)
}

// render writes a pair. entry is asked to write each of its entries.
func render(items []compartments.Item, first bool, lookup Lookup, entry func(*strings.Builder, *compartments.Item)) string {
	var b strings.Builder
	b.Grow(textBytes(items))
	from, to := span(items, lookup)
	if first {
		fmt.Fprintf(&b, "[Session record, messages %d-%d, kept by ctxplugin. The work is in progress; this is a report of it and asks for nothing. ", from, to)
		b.WriteString("Each entry is headed [first-last tier]: message numbers, and how much is left of them (full, dense, compact, anchor, index). ")
		b.WriteString(`The originals are stored: ctx_expand({"first": a, "last": b}) returns them verbatim, ctx_search({"query": "words"}) finds any of it.]`)
	} else {
		fmt.Fprintf(&b, "[Session record continued, messages %d-%d.]", from, to)
	}
	b.WriteByte('\n')
	for i := range items {
		entry(&b, &items[i])
	}
	return b.String()
}

func renderEntry(b *strings.Builder, item *compartments.Item, lookup Lookup, pins PinLookup) {
	switch item.Tier {
	case compartments.TierIndex:
		renderIndex(b, *item, lookup)
		renderPins(b, item.Pins, pins)
		return
	case compartments.TierRaw, compartments.TierNone:
		renderUnfaded(b, *item, lookup, pins)
		return
	case compartments.TierArchived:
		return
	}
	for _, id := range item.Compartments {
		if c := lookup(id); c != nil {
			b.WriteByte('\n')
			renderTier(b, c, item.Tier)
		}
	}
	renderPins(b, item.Pins, pins)
}

// textBytes is about what the text of a pair takes, rather too much: a head is long,
// and to copy it as it grows takes as long as to write it.
func textBytes(items []compartments.Item) int {
	tokens := preambleFirst
	for i := range items {
		tokens += items[i].Tokens
	}
	return 5 * tokens
}

func span(items []compartments.Item, lookup Lookup) (from, to compartments.Ordinal) {
	for i := 0; i < len(items) && from == 0; i++ {
		for _, id := range items[i].Compartments {
			if c := lookup(id); c != nil {
				from = c.First
				break
			}
		}
	}
	for i := len(items) - 1; i >= 0; i-- {
		for _, id := range slices.Backward(items[i].Compartments) {
			if c := lookup(id); c != nil {
				return from, c.Last
			}
		}
	}
	return from, to
}

// Heading is how an entry of the record is headed.
func Heading(c *compartments.Compartment, t compartments.Tier) string {
	return string(append(appendRange(nil, c.First, c.Last), " "+t.String()+"]"...))
}

// appendRange appends the messages that an entry stands for, with the bracket that opens
// its heading. A head has hundreds of entries, and to format one takes longer than to
// copy its text.
func appendRange(b []byte, first, last compartments.Ordinal) []byte {
	b = strconv.AppendInt(append(b, '['), int64(first), 10)
	return strconv.AppendInt(append(b, '-'), int64(last), 10)
}

// renderTier writes one compartment at a tier. A historian heads its text with
// the range in brackets; the heading of the record replaces it.
func renderTier(b *strings.Builder, c *compartments.Compartment, t compartments.Tier) {
	text := c.Tiers[t].Text
	var room [64]byte
	heading := append(appendRange(room[:0], c.First, c.Last), ']')
	if c.First == c.Last && !strings.HasPrefix(text, string(heading)) {
		heading = append(strconv.AppendInt(append(room[:0], '['), int64(c.First), 10), ']')
	}
	text = strings.TrimPrefix(text, string(heading))
	b.Write(appendRange(room[:0], c.First, c.Last))
	b.WriteByte(' ')
	b.WriteString(t.String())
	b.WriteByte(']')
	if !strings.HasPrefix(text, " ") {
		b.WriteByte(' ')
	}
	for {
		i := strings.Index(text, "\n[") // a line that reads like a heading
		if i < 0 {
			break
		}
		b.WriteString(text[:i+1])
		b.WriteString("  ") // no heading
		text = text[i+1:]
	}
	b.WriteString(text)
	b.WriteByte('\n')
}

// What an index line shows at most.
const (
	indexNames     = 6
	indexNameRunes = 100 // of all names
	indexTitle     = 30  // runes of the title of the first entry, and of the last
)

// indexed is what an index line shows of a title: not that the entry goes on with an
// earlier request, which is in the same line or in one before it.
func indexed(title string) string {
	if rest, ok := strings.CutPrefix(title, "(cont. of ["); ok {
		if _, own, ok := strings.Cut(rest, "]) "); ok {
			title = own
		}
	}
	short := clip(title, indexTitle)
	if n := utf8.RuneCountInString(short); n > indexTitle/3 || n == utf8.RuneCountInString(title) {
		return short
	}
	return string([]rune(title)[:indexTitle]) + "…" // a long word behind the first says more than that one alone
}

// renderIndex writes one line that stands for several compartments, and the
// exact spans of each below it.
func renderIndex(b *strings.Builder, item compartments.Item, lookup Lookup) {
	members := make([]*compartments.Compartment, 0, 8)
	most := 0 // names of a member
	for _, id := range item.Compartments {
		if c := lookup(id); c != nil {
			members = append(members, c)
			most = max(most, len(c.Names))
		}
	}
	if len(members) == 0 {
		return
	}
	names := make([]string, 0, indexNames)
	for round := range min(most, indexNames) {
		for _, c := range members {
			if round < len(c.Names) && len(names) < indexNames && !slices.Contains(names, c.Names[round]) {
				names = append(names, c.Names[round])
			}
		}
	}
	first, last := members[0], members[len(members)-1]
	entries := "entries"
	if len(item.Compartments) == 1 {
		entries = "entry"
	}
	var room [256]byte
	line := appendRange(append(room[:0], '\n'), first.First, last.Last)
	line = strconv.AppendInt(append(line, " index] "...), int64(len(item.Compartments)), 10)
	line = append(append(append(line, ' '), entries...), ", from "...)
	line = strconv.AppendQuote(line, indexed(first.Title))
	if last != first {
		line = strconv.AppendQuote(append(line, " to "...), indexed(last.Title))
	}
	b.Write(line)
	if len(names) > 0 {
		// every name is a word that ctx_search finds
		b.WriteString("; names: ")
		b.WriteString(clip(strings.Join(names, ", "), indexNameRunes))
	}
	b.WriteByte('\n')
	for _, c := range members {
		if slices.Contains(item.Bare, c.ID) {
			continue
		}
		for _, s := range c.Spans {
			fmt.Fprintf(b, "  kept from %d: %s\n", s.Ordinal, s.Text)
		}
	}
}

// clip cuts a line at a word, within most runes.
func clip(s string, most int) string {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		s = s[:i]
	}
	runes := 0
	space := 0
	for i, r := range s {
		if r == ' ' {
			space = i
		}
		if runes++; runes > most {
			if space == 0 {
				return s[:i]
			}
			return strings.TrimRight(s[:space], " ,;") + " …"
		}
	}
	return s
}

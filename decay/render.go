package decay

import (
	"fmt"
	"slices"
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
	for _, item := range items {
		switch item.Tier {
		case compartments.TierIndex:
			renderIndex(&b, item, lookup)
			renderPins(&b, item.Pins, pins)
			continue
		case compartments.TierRaw, compartments.TierNone:
			renderUnfaded(&b, item, lookup, pins)
			continue
		case compartments.TierArchived:
			continue
		}
		for _, id := range item.Compartments {
			if c := lookup(id); c != nil {
				b.WriteByte('\n')
				renderTier(&b, c, item.Tier)
			}
		}
		renderPins(&b, item.Pins, pins)
	}
	return strings.TrimRight(b.String(), "\n")
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
	for _, item := range items {
		for _, id := range item.Compartments {
			c := lookup(id)
			if c == nil {
				continue
			}
			if from == 0 {
				from = c.First
			}
			to = c.Last
		}
	}
	return from, to
}

// Heading is how an entry of the record is headed.
func Heading(c *compartments.Compartment, t compartments.Tier) string {
	return fmt.Sprintf("[%d-%d %s]", c.First, c.Last, t)
}

// renderTier writes one compartment at a tier. A historian heads its text with
// the range in brackets; the heading of the record replaces it.
func renderTier(b *strings.Builder, c *compartments.Compartment, t compartments.Tier) {
	text := c.Tiers[t].Text
	heading := fmt.Sprintf("[%d-%d]", c.First, c.Last)
	if c.First == c.Last && !strings.HasPrefix(text, heading) {
		heading = fmt.Sprintf("[%d]", c.First)
	}
	text = strings.TrimPrefix(text, heading)
	b.WriteString(Heading(c, t))
	if !strings.HasPrefix(text, " ") {
		b.WriteByte(' ')
	}
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			b.WriteByte('\n')
			if strings.HasPrefix(line, "[") {
				b.WriteString("  ") // no heading
			}
		}
		b.WriteString(line)
	}
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
	fmt.Fprintf(b, "\n[%d-%d index] %d %s, from %q", first.First, last.Last, len(item.Compartments), entries, indexed(first.Title))
	if last != first {
		fmt.Fprintf(b, " to %q", indexed(last.Title))
	}
	if len(names) > 0 {
		// every name is a word that ctx_search finds
		fmt.Fprintf(b, "; names: %s", clip(strings.Join(names, ", "), indexNameRunes))
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

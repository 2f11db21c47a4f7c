package decay

import (
	"fmt"
	"strings"

	"ctxplugin/compartments"
)

// PinLookup returns a pin by its id, one that ended too.
type PinLookup func(compartments.PinID) *compartments.Pin

// Shown is a pin as a selection sees it.
type Shown struct {
	ID     compartments.PinID
	Tokens int // as rendered
}

// What the renderer puts around pinned words, and in the place of what has no
// room, at most, in tokens.
const (
	pinFrameTokens = 20
	awayTokens     = 48
	keptRawTokens  = 24
)

// ShowPin is what the selection needs to know of a pin.
func ShowPin(p *compartments.Pin, count func(string) int) Shown {
	s := Shown{ID: p.ID}
	for i := range p.Spans {
		s.Tokens += count(p.Spans[i].Text) + pinFrameTokens
	}
	return s
}

// pinTokens is what the pins of a candidate take, in tokens.
func (c *Candidate) pinTokens() int {
	n := 0
	for _, p := range c.Pins {
		n += p.Tokens
	}
	return n
}

func (c *Candidate) pinIDs(ids []compartments.PinID) []compartments.PinID {
	for _, p := range c.Pins {
		ids = append(ids, p.ID)
	}
	return ids
}

// renderPins writes the words of pins below an entry, each byte as it is stored.
func renderPins(b *strings.Builder, ids []compartments.PinID, lookup PinLookup) {
	for _, id := range ids {
		p := lookup(id)
		if p == nil {
			continue
		}
		for i := range p.Spans {
			renderSpan(b, p.Ordinal, p.Spans[i].Text)
		}
	}
}

// renderSpan writes one text: on its line if it is one, otherwise between two
// fences that the text does not have.
func renderSpan(b *strings.Builder, o compartments.Ordinal, text string) {
	if !strings.Contains(text, "\n") {
		fmt.Fprintf(b, "  pinned from %d: %s\n", o, text)
		return
	}
	fence := "~~~"
	for strings.Contains(text, fence) {
		fence += "~"
	}
	fmt.Fprintf(b, "  pinned from %d, to the next %s:\n%s\n", o, fence, fence)
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		if Imitates(line) {
			b.WriteString("  ") // no heading
		}
		b.WriteString(line)
	}
	if !strings.HasSuffix(text, "\n") {
		b.WriteByte('\n')
	}
	b.WriteString(fence)
	b.WriteByte('\n')
}

// Imitates reports whether a line reads like one that the record itself begins
// with: a heading of an entry, or the opening of a pair.
func Imitates(line string) bool {
	inner, ok := strings.CutPrefix(line, "[")
	if !ok {
		return false
	}
	if strings.HasPrefix(inner, "Session record") {
		return true
	}
	inner, _, ok = strings.Cut(inner, "]")
	if !ok {
		return false
	}
	numbers, tier, ok := strings.Cut(inner, " ")
	if _, err := compartments.ParseTier(tier); !ok || err != nil || numbers == "" {
		return false
	}
	return strings.Trim(numbers, "0123456789-") == ""
}

// renderUnfaded writes the line of messages that are kept behind the record, or
// of compartments that may not fade and have no room, or of pins that have none.
func renderUnfaded(b *strings.Builder, item compartments.Item, lookup Lookup, pins PinLookup) {
	if len(item.Compartments) == 0 {
		var first, last compartments.Ordinal
		for _, id := range item.Pins {
			if p := pins(id); p != nil {
				if first == 0 || p.Ordinal < first {
					first = p.Ordinal
				}
				last = max(last, p.Ordinal)
			}
		}
		if first > 0 {
			fmt.Fprintf(b, "\n[%d pinned texts have no room here. The originals: ctx_expand({\"first\": %d, \"last\": %d})]\n", len(item.Pins), first, last)
		}
		return
	}
	from, to := span([]compartments.Item{item}, lookup)
	if from == 0 {
		return
	}
	if item.Tier == compartments.TierRaw {
		fmt.Fprintf(b, "\n[%d-%d raw] kept: these messages follow the record word for word\n", from, to)
		return
	}
	fmt.Fprintf(b, "\n[%d-%d none] to be kept whole, but there is no room: ctx_expand({\"first\": %d, \"last\": %d}) returns the originals\n", from, to, from, to)
	renderPins(b, item.Pins, pins)
}

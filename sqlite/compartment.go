package sqlite

import (
	"encoding/binary"
	"fmt"

	"ctxplugin/compartments"
)

// compartmentFormat is the first byte of an encoded compartment.
const compartmentFormat = 1

// encodeCompartment writes the document of a compartment: all of it but its ID.
// Numbers are varints, strings have their length before them.
func encodeCompartment(c *compartments.Compartment) []byte {
	size := 256 + len(c.Title)
	for _, r := range c.Tiers {
		size += len(r.Text) + 32
	}
	b := make([]byte, 0, size)
	b = append(b, compartmentFormat, bit(c.Provisional, 1), byte(c.Retention), byte(c.Floor.Tier))
	b = appendSurvival(b, &c.Floor.Survival)
	b = append(b, c.SourceHash[:]...)
	b = binary.AppendVarint(b, int64(c.First))
	b = binary.AppendVarint(b, int64(c.Last))
	b = binary.AppendUvarint(b, uint64(len(c.Members)))
	previous := c.First - 1
	for _, m := range c.Members {
		b = binary.AppendVarint(b, int64(m-previous))
		previous = m
	}
	b = appendString(b, c.Title)
	b = binary.AppendVarint(b, int64(c.Importance))
	b = appendStrings(b, c.Types)
	b = appendStrings(b, c.Names)
	b = binary.AppendVarint(b, int64(c.RawTokens))
	b = appendTiers(b, c.Tiers)
	b = binary.AppendUvarint(b, uint64(len(c.Spans)))
	for i := range c.Spans {
		s := &c.Spans[i]
		b = appendString(binary.AppendVarint(b, int64(s.Ordinal)), s.Text)
		b = binary.AppendVarint(b, int64(s.Tokens))
	}
	b = binary.AppendUvarint(b, uint64(len(c.Facts)))
	for i := range c.Facts {
		f := &c.Facts[i]
		b = appendString(binary.AppendVarint(b, int64(f.Ordinal)), f.Kind)
		b = appendString(appendString(b, f.Text), f.Anchor)
	}
	b = binary.AppendUvarint(b, uint64(len(c.Events)))
	for i := range c.Events {
		e := &c.Events[i]
		b = appendString(binary.AppendVarint(b, int64(e.Ordinal)), e.Kind)
		b = appendString(b, e.Text)
	}
	b = appendString(b, string(c.Strategy))
	b = appendString(b, c.Generator)
	return appendString(b, c.Prompt)
}

// appendTiers writes the tiers in the order of their numbers.
func appendTiers(b []byte, tiers map[compartments.Tier]compartments.Rendition) []byte {
	b = binary.AppendUvarint(b, uint64(len(tiers)))
	for t := 0; t < 256; t++ {
		r, ok := tiers[compartments.Tier(t)]
		if !ok {
			continue
		}
		b = append(b, byte(t))
		b = binary.AppendVarint(b, int64(r.Tokens))
		b = appendSurvival(b, &r.Survival)
		b = appendString(b, r.Text)
	}
	return b
}

func appendSurvival(b []byte, s *compartments.Survival) []byte {
	for _, permille := range s {
		b = binary.AppendUvarint(b, uint64(permille))
	}
	return b
}

func appendStrings(b []byte, list []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, s := range list {
		b = appendString(b, s)
	}
	return b
}

// decodeCompartment reads what encodeCompartment wrote into c. All strings share
// one copy of the record; empty lists come back as nil.
func decodeCompartment(record []byte, c *compartments.Compartment) error {
	r := textCursor{cursor{b: record}, string(record)}
	if format := r.byte(); format != compartmentFormat {
		return fmt.Errorf("compartment of format %d: %w", format, errMalformed)
	}
	c.Provisional = r.byte() != 0
	c.Retention, c.Floor.Tier = compartments.Retention(r.byte()), compartments.Tier(r.byte())
	r.survival(&c.Floor.Survival)
	copy(c.SourceHash[:], r.bytes(len(c.SourceHash)))
	c.First, c.Last = compartments.Ordinal(r.varint()), compartments.Ordinal(r.varint())
	if n := r.count(1); n > 0 {
		c.Members = make([]compartments.Ordinal, n)
	}
	previous := c.First - 1
	for i := range c.Members {
		previous += compartments.Ordinal(r.varint())
		c.Members[i] = previous
	}
	c.Title = r.text()
	c.Importance = int(r.varint())
	c.Types = r.texts()
	c.Names = r.texts()
	c.RawTokens = int(r.varint())
	r.tiers(c)
	if n := r.count(3); n > 0 {
		c.Spans = make([]compartments.ExactSpan, n)
	}
	for i := range c.Spans {
		c.Spans[i] = compartments.ExactSpan{Ordinal: compartments.Ordinal(r.varint()), Text: r.text(), Tokens: int(r.varint())}
	}
	if n := r.count(4); n > 0 {
		c.Facts = make([]compartments.Fact, n)
	}
	for i := range c.Facts {
		c.Facts[i] = compartments.Fact{Ordinal: compartments.Ordinal(r.varint()), Kind: r.text(), Text: r.text(), Anchor: r.text()}
	}
	if n := r.count(3); n > 0 {
		c.Events = make([]compartments.Event, n)
	}
	for i := range c.Events {
		c.Events[i] = compartments.Event{Ordinal: compartments.Ordinal(r.varint()), Kind: r.text(), Text: r.text()}
	}
	c.Strategy = compartments.Strategy(r.text())
	c.Generator = r.text()
	c.Prompt = r.text()
	if !r.done() {
		return fmt.Errorf("compartment %d: %w", c.ID, errMalformed)
	}
	return nil
}

// textCursor is a cursor whose strings are cut from one copy of the record.
type textCursor struct {
	cursor
	whole string
}

func (r *textCursor) text() string {
	n := r.int()
	at := len(r.whole) - len(r.b)
	if r.bytes(n) == nil {
		return ""
	}
	return r.whole[at : at+n]
}

func (r *textCursor) texts() []string {
	n := r.count(1)
	if n == 0 {
		return nil
	}
	list := make([]string, n)
	for i := range list {
		list[i] = r.text()
	}
	return list
}

func (r *textCursor) survival(s *compartments.Survival) {
	for d := range s {
		s[d] = uint16(r.uvarint())
	}
}

func (r *textCursor) tiers(c *compartments.Compartment) {
	n := r.count(3 + int(compartments.Dimensions))
	if n == 0 {
		return
	}
	c.Tiers = make(map[compartments.Tier]compartments.Rendition, n)
	for range n {
		t := compartments.Tier(r.byte())
		rendition := compartments.Rendition{Tokens: int(r.varint())}
		r.survival(&rendition.Survival)
		rendition.Text = r.text()
		c.Tiers[t] = rendition
	}
}

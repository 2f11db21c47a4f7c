package sqlite

import (
	"encoding/binary"
	"fmt"

	"ctxplugin/compartments"
)

// entryFormat is the first byte of an encoded entry.
const entryFormat = 1

// Bits of an entry's flags.
const (
	entryReal = 1 << iota
	entryCompact
	entrySummary
	entryFailed
	entryFinished
	entryUnnamed
)

// Bits of a size's flags.
const (
	sizeOwn = 1 << iota
	sizeSilent
	sizeTokens
	sizeInput
	sizeMedia
	sizePreview
)

var roles = [...]compartments.Role{compartments.RoleUser, compartments.RoleAssistant, compartments.RoleTool}

// encodeEntry writes what messages.entry holds: all of the entry but its
// ordinal, ID and hash, which are columns. Numbers are varints.
func encodeEntry(e *compartments.Entry) []byte {
	b := make([]byte, 0, 24+6*len(e.Sizes))
	flags := bit(e.Real, entryReal) | bit(e.Compact, entryCompact) | bit(e.Summary, entrySummary) |
		bit(e.Failed, entryFailed) | bit(e.Finished, entryFinished) | bit(e.Unnamed, entryUnnamed)
	b = append(b, entryFormat, flags)
	b = appendRole(b, e.Role)
	b = binary.AppendVarint(b, e.Time)
	u := &e.Usage
	for _, n := range [...]int{u.Input, u.Output, u.Reasoning, u.CacheRead, u.CacheWrite} {
		b = binary.AppendVarint(b, int64(n))
	}
	b = binary.AppendUvarint(b, uint64(len(e.Sizes)))
	for i := range e.Sizes {
		s := &e.Sizes[i]
		b = append(b, byte(s.Kind), byte(s.Status), bit(s.Own, sizeOwn)|bit(s.Silent, sizeSilent)|
			bit(s.Tokens != 0, sizeTokens)|bit(s.Input != 0, sizeInput)|
			bit(s.Media != 0, sizeMedia)|bit(s.Preview != nil, sizePreview))
		b = binary.AppendUvarint(b, uint64(s.Units))
		if s.Tokens != 0 {
			b = binary.AppendVarint(b, int64(s.Tokens))
		}
		if s.Input != 0 {
			b = binary.AppendVarint(b, int64(s.Input))
		}
		if s.Media != 0 {
			b = binary.AppendVarint(b, int64(s.Media))
		}
		if s.Preview != nil {
			b = appendPreview(b, s.Preview)
		}
	}
	return b
}

// decodeEntry reads what encodeEntry wrote into e.
func decodeEntry(record []byte, e *compartments.Entry) error {
	c := cursor{b: record}
	if format := c.byte(); format != entryFormat {
		return fmt.Errorf("entry of format %d: %w", format, errMalformed)
	}
	flags := c.byte()
	e.Real, e.Compact, e.Summary = flags&entryReal != 0, flags&entryCompact != 0, flags&entrySummary != 0
	e.Failed, e.Finished, e.Unnamed = flags&entryFailed != 0, flags&entryFinished != 0, flags&entryUnnamed != 0
	e.Role = readRole(&c)
	e.Time = c.varint()
	u := &e.Usage
	for _, into := range [...]*int{&u.Input, &u.Output, &u.Reasoning, &u.CacheRead, &u.CacheWrite} {
		*into = int(c.varint())
	}
	if n := c.count(4); n > 0 {
		e.Sizes = make([]compartments.Size, n)
	}
	for i := range e.Sizes {
		s := &e.Sizes[i]
		s.Kind, s.Status = compartments.PartKind(c.byte()), compartments.ToolStatus(c.byte())
		flags := c.byte()
		s.Own, s.Silent = flags&sizeOwn != 0, flags&sizeSilent != 0
		s.Units = uint32(c.uvarint())
		if flags&sizeTokens != 0 {
			s.Tokens = int(c.varint())
		}
		if flags&sizeInput != 0 {
			s.Input = int(c.varint())
		}
		if flags&sizeMedia != 0 {
			s.Media = int(c.varint())
		}
		if flags&sizePreview != 0 {
			s.Preview = readPreview(&c)
		}
	}
	if !c.done() {
		return fmt.Errorf("entry %d: %w", e.Ordinal, errMalformed)
	}
	return nil
}

func appendPreview(b []byte, p *compartments.Preview) []byte {
	b = append(b, bit(p.Result, 1))
	b = appendString(b, p.Tool)
	b = appendString(b, p.State)
	b = binary.AppendVarint(b, int64(p.Media))
	b = binary.AppendVarint(b, int64(p.Runes))
	return appendString(b, p.Begin)
}

func readPreview(c *cursor) *compartments.Preview {
	return &compartments.Preview{Result: c.byte()&1 != 0, Tool: c.str(), State: c.str(), Media: int(c.varint()), Runes: int(c.varint()), Begin: c.str()}
}

// appendRole writes a known role as its number, any other behind a marker.
func appendRole(b []byte, r compartments.Role) []byte {
	for i, known := range roles {
		if r == known {
			return append(b, byte(i))
		}
	}
	return appendString(append(b, byte(len(roles))), string(r))
}

func readRole(c *cursor) compartments.Role {
	n := int(c.byte())
	if n < len(roles) {
		return roles[n]
	}
	if n > len(roles) {
		c.fail()
	}
	return compartments.Role(c.str())
}

func bit(set bool, b byte) byte {
	if set {
		return b
	}
	return 0
}

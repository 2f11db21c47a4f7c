package lab

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// revision is the rolling hash of docs/protocol.md over a list of messages. It
// is computed from JSON, so that a half of a surrogate pair counts as the one
// unit that it is.
type revision struct {
	count int
	a, b  uint32
}

func emptyRevision() revision { return revision{a: 0x811c9dc5, b: 0x9747b28c} }

func (r *revision) mix(x uint32) {
	r.a = (r.a ^ x) * 0x01000193
	r.b = (r.b ^ x) * 0x85ebca77
	r.b ^= r.b >> 13
}

func (r revision) add(m *message) revision {
	eachUnit(m.quoted, func(u uint16) { r.mix(uint32(u)) })
	r.mix(0x110000 + uint32(len(m.parts)))
	for i := range m.parts {
		status, units := partPrint(m.parts[i].raw)
		r.mix(status)
		r.mix(units)
	}
	r.count++
	return r
}

func (r revision) String() string { return fmt.Sprintf("%d.%08x%08x", r.count, r.a, r.b) }

var stateNumbers = map[string]uint32{"pending": 1, "running": 2, "completed": 3, "error": 4}

func partPrint(raw json.RawMessage) (status, units uint32) {
	var p struct {
		Type  json.RawMessage `json:"type"`
		Text  json.RawMessage `json:"text"`
		State json.RawMessage `json:"state"`
	}
	if json.Unmarshal(raw, &p) != nil {
		return 0, 0
	}
	if text(p.Type) != "tool" {
		return 0, unitsOfString(p.Text)
	}
	var s struct {
		Status json.RawMessage `json:"status"`
		Output json.RawMessage `json:"output"`
		Error  json.RawMessage `json:"error"`
	}
	_ = json.Unmarshal(p.State, &s) // no object: a call without a result
	status = max(stateNumbers[text(s.Status)], 1)
	switch status {
	case 3:
		units = unitsOfValue(s.Output)
	case 4:
		units = unitsOfValue(s.Error)
	}
	return status, units
}

func unitsOfString(raw json.RawMessage) uint32 {
	n := uint32(0)
	eachUnit(raw, func(uint16) { n++ })
	return n
}

// unitsOfValue counts a string's units, or those of the JSON text of anything
// else; null counts nothing.
func unitsOfValue(raw json.RawMessage) uint32 {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return 0
	}
	if raw[0] == '"' {
		return unitsOfString(raw)
	}
	n := uint32(0)
	for _, r := range string(raw) {
		n += uint32(len16(r))
	}
	return n
}

func len16(r rune) int {
	if r >= 0x10000 {
		return 2
	}
	return 1
}

// eachUnit calls f for every UTF-16 unit of a JSON string; anything else has
// none.
func eachUnit(raw []byte, f func(uint16)) {
	if len(raw) < 2 || raw[0] != '"' {
		return
	}
	for i := 1; i < len(raw)-1; {
		if raw[i] != '\\' {
			r, n := utf8.DecodeRune(raw[i:])
			if r >= 0x10000 {
				r -= 0x10000
				f(uint16(0xd800 + r>>10))
				f(uint16(0xdc00 + r&0x3ff))
			} else {
				f(uint16(r))
			}
			i += n
			continue
		}
		if raw[i+1] == 'u' && i+6 <= len(raw) {
			u, _ := strconv.ParseUint(string(raw[i+2:i+6]), 16, 16) // valid JSON has four digits here
			f(uint16(u))
			i += 6
			continue
		}
		f(unescape(raw[i+1]))
		i += 2
	}
}

func unescape(c byte) uint16 {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return uint16(c)
}

package compartments

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// MarshalJSON writes the id as the host wrote it: a half of a surrogate pair that
// stands alone is written as the escape that it came as.
func (id MessageID) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if utf8.ValidString(string(id)) {
		err := e.Encode(string(id))
		return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
	}
	out.WriteByte('"')
	for at, from := 0, 0; at <= len(id); {
		half, size := loneHalf(string(id), at)
		if size == 0 && at < len(id) {
			at++
			continue
		}
		var piece bytes.Buffer
		e := json.NewEncoder(&piece)
		e.SetEscapeHTML(false)
		if err := e.Encode(string(id[from:at])); err != nil {
			return nil, err
		}
		out.Write(piece.Bytes()[1 : piece.Len()-2])
		if size == 0 {
			break
		}
		const digits = "0123456789abcdef"
		out.WriteString(`\u`)
		for shift := 12; shift >= 0; shift -= 4 {
			out.WriteByte(digits[half>>shift&15])
		}
		at += size
		from = at
	}
	out.WriteByte('"')
	return out.Bytes(), nil
}

// UnmarshalJSON reads a JSON string. Halves of surrogate pairs that stand alone
// are kept as three bytes each, in the form that UTF-8 would have for them, so
// that ids which differ in one stay apart. null leaves the id as it is.
func (id *MessageID) UnmarshalJSON(text []byte) error {
	text = bytes.TrimSpace(text)
	var s string
	if err := json.Unmarshal(text, &s); err != nil || !isString(text) {
		return err
	}
	if !bytes.Contains(text, []byte(`\u`)) {
		*id = MessageID(s)
		return nil
	}
	*id = MessageID(decodeHalves(text[1 : len(text)-1]))
	return nil
}

// decodeHalves is the inside of a JSON string that is known to be valid, with
// halves of surrogate pairs kept. encoding/json does all but these.
func decodeHalves(inner []byte) []byte {
	var out []byte
	plain := func(piece []byte) {
		var s string
		_ = json.Unmarshal(append(append([]byte{'"'}, piece...), '"'), &s) // a piece of a valid string between escapes
		out = append(out, s...)
	}
	from := 0
	for at := 0; at < len(inner); {
		if inner[at] != '\\' {
			at++
			continue
		}
		unit, size := escapedUnit(inner, at)
		if size == 0 { // a short escape
			at += 2
			continue
		}
		if unit < 0xd800 || unit > 0xdfff {
			at += size
			continue
		}
		if low, n := escapedUnit(inner, at+size); unit < 0xdc00 && n > 0 && low >= 0xdc00 && low <= 0xdfff {
			at += size + n // a whole pair
			continue
		}
		plain(inner[from:at])
		out = append(out, 0xe0|byte(unit>>12), 0x80|byte(unit>>6&0x3f), 0x80|byte(unit&0x3f))
		at += size
		from = at
	}
	plain(inner[from:])
	return out
}

// escapedUnit is the UTF-16 unit that a \u escape at a place stands for; size is
// 0 if none stands there.
func escapedUnit(inner []byte, at int) (unit uint32, size int) {
	if at+6 > len(inner) || inner[at] != '\\' || inner[at+1] != 'u' {
		return 0, 0
	}
	for _, c := range inner[at+2 : at+6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, 0
		}
		unit = unit<<4 | uint32(c)
	}
	return unit, 6
}

// loneHalf is the half of a surrogate pair that an id holds at a byte; size is 0
// if none stands there.
func loneHalf(id string, at int) (unit uint32, size int) {
	if at+3 > len(id) || id[at] != 0xed || id[at+1] < 0xa0 || id[at+1] > 0xbf || id[at+2]&0xc0 != 0x80 {
		return 0, 0
	}
	return 0xd000 | uint32(id[at+1]&0x3f)<<6 | uint32(id[at+2]&0x3f), 3
}

// eachUnit calls f for every UTF-16 unit of an id.
func (id MessageID) eachUnit(f func(unit uint32)) {
	for at := 0; at < len(id); {
		if unit, size := loneHalf(string(id), at); size > 0 {
			f(unit)
			at += size
			continue
		}
		r, size := utf8.DecodeRuneInString(string(id[at:]))
		if at += size; r >= 0x10000 {
			r -= 0x10000
			f(0xd800 + uint32(r>>10))
			r = 0xdc00 + r&0x3ff
		}
		f(uint32(r))
	}
}

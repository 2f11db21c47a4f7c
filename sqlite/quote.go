package sqlite

import (
	"unicode/utf16"
	"unicode/utf8"
)

// unquote decodes the inside of a JSON string onto dst. It never fails: a lone
// surrogate or anything malformed is kept as it stands. Stored echoes depend on
// what it returns, so it must not change.
func unquote(dst, inner []byte) []byte {
	for i := 0; i < len(inner); {
		c := inner[i]
		if c != '\\' || i+1 == len(inner) {
			dst = append(dst, c)
			i++
			continue
		}
		if plain, ok := shortEscape(inner[i+1]); ok {
			dst = append(dst, plain)
			i += 2
			continue
		}
		r, n := unicodeEscape(inner[i:])
		if n == 0 {
			dst = append(dst, c)
			i++
			continue
		}
		dst = utf8.AppendRune(dst, r)
		i += n
	}
	return dst
}

// shortEscape is the character that a backslash before c stands for.
func shortEscape(c byte) (byte, bool) {
	switch c {
	case '"', '\\', '/':
		return c, true
	case 'b':
		return '\b', true
	case 'f':
		return '\f', true
	case 'n':
		return '\n', true
	case 'r':
		return '\r', true
	case 't':
		return '\t', true
	}
	return 0, false
}

// unicodeEscape reads \uXXXX, or two of them that are a surrogate pair, and
// returns how long it is; 0 if it is none or a lone surrogate.
func unicodeEscape(b []byte) (rune, int) {
	r, ok := fourHex(b)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	low, ok := fourHex(b[6:])
	if !ok {
		return 0, 0
	}
	if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
		return 0, 0
	}
	return r, 12
}

func fourHex(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	r := rune(0)
	for _, c := range b[2:6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// quote writes text onto dst as the inside of a JSON string, escaping as little
// as JavaScript does. Where it undoes unquote, an echo may be stored as text.
func quote(dst, text []byte) []byte {
	const hex = "0123456789abcdef"
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c >= 0x20:
			dst = append(dst, c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\r':
			dst = append(dst, '\\', 'r')
		case c == '\t':
			dst = append(dst, '\\', 't')
		case c == '\b':
			dst = append(dst, '\\', 'b')
		case c == '\f':
			dst = append(dst, '\\', 'f')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return dst
}

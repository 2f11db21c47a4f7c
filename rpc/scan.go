package rpc

import (
	"fmt"
)

// maxDepth is how deep arrays and objects may nest; encoding/json has the same
// bound, and everything behind this scanner is decoded by it.
const maxDepth = 10000

// syntaxError says where a text stops being JSON. It names no content, because it
// goes into replies and the log.
type syntaxError struct {
	offset int // bytes
	want   string
}

func (e *syntaxError) Error() string {
	return fmt.Sprintf("at byte %d: expected %s", e.offset, e.want)
}

func syntax(offset int, want string) error { return &syntaxError{offset, want} }

// plain marks the bytes that stand for themselves inside a JSON string. Bytes
// from 0x80 on are not checked for UTF-8: they pass through as they came.
var plain = func() (t [256]bool) {
	for c := range t {
		t[c] = c >= 0x20 && c != '"' && c != '\\'
	}
	return t
}()

// space returns the place of the first byte from i on that is no white space.
func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

// value walks the JSON value that begins at b[i] and returns the place behind it.
// depth counts the arrays and objects around it.
func value(b []byte, i, depth int) (int, error) {
	if i >= len(b) {
		return i, syntax(i, "a value")
	}
	switch c := b[i]; {
	case c == '"':
		return str(b, i)
	case c == '{':
		return object(b, i, depth, nil)
	case c == '[':
		return array(b, i, depth, nil)
	case c == '-' || '0' <= c && c <= '9':
		return number(b, i)
	case c == 't':
		return literal(b, i, "true")
	case c == 'f':
		return literal(b, i, "false")
	case c == 'n':
		return literal(b, i, "null")
	}
	return i, syntax(i, "a value")
}

// object walks the object at b[i]. each, if given, gets every key with its quotes
// and the place where the value begins, and returns the place behind that value.
func object(b []byte, i, depth int, each func(key []byte, at int) (int, error)) (int, error) {
	if depth >= maxDepth {
		return i, syntax(i, fmt.Sprintf("at most %d levels", maxDepth))
	}
	if i = space(b, i+1); i < len(b) && b[i] == '}' {
		return i + 1, nil
	}
	for {
		if i >= len(b) || b[i] != '"' {
			return i, syntax(i, "a member name")
		}
		end, err := str(b, i)
		if err != nil {
			return end, err
		}
		key := b[i:end]
		if i = space(b, end); i >= len(b) || b[i] != ':' {
			return i, syntax(i, "a colon")
		}
		i = space(b, i+1)
		if each != nil {
			i, err = each(key, i)
		} else {
			i, err = value(b, i, depth+1)
		}
		if err != nil {
			return i, err
		}
		if i = space(b, i); i >= len(b) {
			return i, syntax(i, "a comma or the end of the object")
		}
		switch b[i] {
		case '}':
			return i + 1, nil
		case ',':
			i = space(b, i+1)
		default:
			return i, syntax(i, "a comma or the end of the object")
		}
	}
}

// array walks the array at b[i]; each, if given, gets every element.
func array(b []byte, i, depth int, each func(element []byte)) (int, error) {
	if depth >= maxDepth {
		return i, syntax(i, fmt.Sprintf("at most %d levels", maxDepth))
	}
	if i = space(b, i+1); i < len(b) && b[i] == ']' {
		return i + 1, nil
	}
	for {
		end, err := value(b, i, depth+1)
		if err != nil {
			return end, err
		}
		if each != nil {
			each(b[i:end])
		}
		if i = space(b, end); i >= len(b) {
			return i, syntax(i, "a comma or the end of the array")
		}
		switch b[i] {
		case ']':
			return i + 1, nil
		case ',':
			i = space(b, i+1)
		default:
			return i, syntax(i, "a comma or the end of the array")
		}
	}
}

func str(b []byte, i int) (int, error) {
	for i++; i < len(b); i++ {
		c := b[i]
		if plain[c] {
			continue
		}
		switch c {
		case '"':
			return i + 1, nil
		case '\\':
			if i++; i >= len(b) {
				return i, syntax(i, "an escape")
			}
			switch b[i] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			case 'u':
				for range 4 {
					if i++; i >= len(b) || !isHex(b[i]) {
						return i, syntax(i, "four hex digits")
					}
				}
			default:
				return i, syntax(i, "an escape")
			}
		default:
			return i, syntax(i, "an escape instead of a control character")
		}
	}
	return i, syntax(i, "the end of a string")
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}

func number(b []byte, i int) (int, error) {
	if b[i] == '-' {
		i++
	}
	switch {
	case i < len(b) && b[i] == '0':
		i++
	case i < len(b) && '1' <= b[i] && b[i] <= '9':
		i = digits(b, i)
	default:
		return i, syntax(i, "a digit")
	}
	if i < len(b) && b[i] == '.' {
		end := digits(b, i+1)
		if end == i+1 {
			return end, syntax(end, "a digit")
		}
		i = end
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		end := digits(b, i)
		if end == i {
			return end, syntax(end, "a digit")
		}
		i = end
	}
	return i, nil
}

func digits(b []byte, i int) int {
	for i < len(b) && '0' <= b[i] && b[i] <= '9' {
		i++
	}
	return i
}

func literal(b []byte, i int, word string) (int, error) {
	if len(b)-i < len(word) || string(b[i:i+len(word)]) != word {
		return i, syntax(i, "a value")
	}
	return i + len(word), nil
}

package compartments

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// Walking JSON text that is known to be valid. It looks at strings with
// bytes.IndexByte alone, so that a message of megabytes costs one pass, and at
// names as they are: their case counts.

// eachMember calls f for each member of an object, in order, with its name and
// the JSON text of its value. ok is false if the text is no object.
func eachMember(text []byte, f func(name string, value []byte)) (ok bool) {
	at := skipSpace(text, 0)
	if at == len(text) || text[at] != '{' {
		return false
	}
	for at = skipSpace(text, at+1); at < len(text) && text[at] == '"'; at = nextItem(text, at) {
		end := stringEnd(text, at)
		name := decodeText(text[at:end])
		at = skipSpace(text, skipSpace(text, end)+1) // the colon
		end = valueEnd(text, at)
		f(name, text[at:end])
		at = end
	}
	return true
}

// eachElement calls f for each element of an array, in order. ok is false if the
// text is no array.
func eachElement(text []byte, f func(value []byte)) (ok bool) {
	at := skipSpace(text, 0)
	if at == len(text) || text[at] != '[' {
		return false
	}
	for at = skipSpace(text, at+1); at < len(text) && text[at] != ']'; at = nextItem(text, at) {
		end := valueEnd(text, at)
		f(text[at:end])
		at = end
	}
	return true
}

// nextItem is where the item behind a value begins, or the bracket that ends
// them all.
func nextItem(text []byte, at int) int {
	at = skipSpace(text, at)
	if at < len(text) && text[at] == ',' {
		at = skipSpace(text, at+1)
	}
	return at
}

func skipSpace(text []byte, at int) int {
	for at < len(text) {
		switch text[at] {
		case ' ', '\t', '\r', '\n':
			at++
		default:
			return at
		}
	}
	return at
}

// valueEnd is where the value that begins at a place ends.
func valueEnd(text []byte, at int) int {
	depth := 0
	for at < len(text) {
		switch text[at] {
		case '"':
			at = stringEnd(text, at)
		case '{', '[':
			depth++
			at++
		case '}', ']':
			depth--
			at++
		case ',', ':', ' ', '\t', '\r', '\n':
			at++
		default: // a number, true, false or null
			at = literalEnd(text, at)
		}
		if depth <= 0 {
			return min(at, len(text))
		}
	}
	return len(text)
}

func literalEnd(text []byte, at int) int {
	for ; at < len(text); at++ {
		switch text[at] {
		case ',', ']', '}', ' ', '\t', '\r', '\n':
			return at
		}
	}
	return at
}

// stringEnd is where the string that begins at a place ends, its quote included.
func stringEnd(text []byte, at int) int {
	for from := at + 1; ; {
		i := bytes.IndexByte(text[min(from, len(text)):], '"')
		if i < 0 {
			return len(text)
		}
		quote := from + i
		before := quote
		for before > from && text[before-1] == '\\' {
			before--
		}
		if (quote-before)%2 == 0 {
			return quote + 1
		}
		from = quote + 1
	}
}

func isString(value []byte) bool { return len(value) > 1 && value[0] == '"' }

// decodeText is the value of a JSON string, valid UTF-8; anything else counts as
// absent.
func decodeText(value []byte) string {
	if !isString(value) {
		return ""
	}
	inner := value[1 : len(value)-1]
	if bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner)
	}
	var s string
	_ = json.Unmarshal(value, &s) // valid JSON: it was looked at as a whole
	return s
}

// decodeString takes a JSON string; anything else yields its own JSON text, so
// that a structured output still counts, searches and expands.
func decodeString(value []byte) string {
	switch {
	case len(value) == 0 || string(value) == "null":
		return ""
	case isString(value):
		return decodeText(value)
	}
	return strings.ToValidUTF8(string(value), string(utf8.RuneError))
}

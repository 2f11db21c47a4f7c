package sqlite

import "bytes"

// payloadBytes is the length from which a JSON string is cut out of its
// document and stored once for all, in bytes between its quotes.
const payloadBytes = 1024

// splitDepth bounds how deep JSON may nest and still be cut; deeper documents
// are stored whole.
const splitDepth = 512

// span is a half-open range of bytes.
type span struct{ from, to int }

func (s span) of(raw []byte) []byte { return raw[s.from:s.to] }

func (s span) len() int { return s.to - s.from }

// toolCall is where a tool part has its name, its arguments and its result. A
// span of no length is absent.
type toolCall struct {
	tool   span // between the quotes
	input  span // a JSON value
	output span // between the quotes
}

// cuts is what split found in a JSON text.
type cuts struct {
	strings []span // long string values between their quotes, in order
	calls   []toolCall
}

// split finds the long strings of a JSON text, and the tool calls if it is a
// message. It looks only as closely as cutting needs: what it accepts may be no
// JSON, and false says that the text should be stored whole. The spans are
// disjoint and in order whatever the text is.
func split(raw []byte) (cuts, bool) {
	s := splitter{raw: raw}
	end := s.value(0, placeMessage, 0)
	if end < 0 || s.space(end) != len(raw) {
		return cuts{}, false
	}
	return s.found, true
}

// place is where in a message the splitter stands.
type place uint8

const (
	placeElsewhere place = iota
	placeMessage
	placeParts
	placePart
	placeState
)

type splitter struct {
	raw   []byte
	found cuts
	call  toolCall // of the part being read
}

// value reads one value from at and returns where it ends, or -1.
func (s *splitter) value(at int, where place, depth int) int {
	at = s.space(at)
	if at >= len(s.raw) || depth > splitDepth {
		return -1
	}
	switch s.raw[at] {
	case '"':
		end := s.str(at)
		if end > 0 && end-at-2 >= payloadBytes {
			s.found.strings = append(s.found.strings, span{at + 1, end - 1})
		}
		return end
	case '{':
		return s.object(at, where, depth)
	case '[':
		return s.array(at, where, depth)
	}
	end := at
	for end < len(s.raw) && scalarByte(s.raw[end]) {
		end++
	}
	if end == at {
		return -1
	}
	return end
}

func (s *splitter) object(at int, where place, depth int) int {
	if where == placePart {
		s.call = toolCall{}
	}
	at = s.space(at + 1)
	if at < len(s.raw) && s.raw[at] == '}' {
		return at + 1
	}
	for {
		at = s.space(at)
		end := s.str(at)
		if end < 0 {
			return -1
		}
		key := span{at + 1, end - 1}
		at = s.space(end)
		if at >= len(s.raw) || s.raw[at] != ':' {
			return -1
		}
		from := s.space(at + 1)
		if at = s.value(from, s.inside(where, key), depth+1); at < 0 {
			return -1
		}
		s.note(where, key, span{from, at})
		at = s.space(at)
		if at >= len(s.raw) {
			return -1
		}
		switch s.raw[at] {
		case ',':
			at++
		case '}':
			if where == placePart && s.call.tool.len() > 0 {
				s.found.calls = append(s.found.calls, s.call)
			}
			return at + 1
		default:
			return -1
		}
	}
}

func (s *splitter) array(at int, where place, depth int) int {
	inside := placeElsewhere
	if where == placeParts {
		inside = placePart
	}
	at = s.space(at + 1)
	if at < len(s.raw) && s.raw[at] == ']' {
		return at + 1
	}
	for {
		if at = s.value(at, inside, depth+1); at < 0 {
			return -1
		}
		at = s.space(at)
		if at >= len(s.raw) {
			return -1
		}
		switch s.raw[at] {
		case ',':
			at++
		case ']':
			return at + 1
		default:
			return -1
		}
	}
}

// inside is the place of the value that key has.
func (s *splitter) inside(where place, key span) place {
	switch name := key.of(s.raw); {
	case where == placeMessage && string(name) == "parts":
		return placeParts
	case where == placePart && string(name) == "state":
		return placeState
	}
	return placeElsewhere
}

// note keeps what is needed of a call.
func (s *splitter) note(where place, key, value span) {
	inner := span{value.from + 1, value.to - 1}
	isString := s.raw[value.from] == '"'
	switch name := key.of(s.raw); {
	case where == placePart && string(name) == "tool" && isString:
		s.call.tool = inner
	case where == placeState && string(name) == "input":
		s.call.input = value
	case where == placeState && string(name) == "output" && isString:
		s.call.output = inner
	}
}

// str reads a string from its opening quote and returns where it ends, or -1.
func (s *splitter) str(at int) int {
	if at >= len(s.raw) || s.raw[at] != '"' {
		return -1
	}
	start := at + 1
	for from := start; ; {
		n := bytes.IndexByte(s.raw[from:], '"')
		if n < 0 {
			return -1
		}
		quote := from + n
		first := quote
		for first > start && s.raw[first-1] == '\\' {
			first--
		}
		if (quote-first)%2 == 0 {
			return quote + 1
		}
		from = quote + 1
		start = from // a run of backslashes never reaches back over a quote
	}
}

func (s *splitter) space(at int) int {
	for at < len(s.raw) {
		switch s.raw[at] {
		case ' ', '\t', '\n', '\r':
			at++
		default:
			return at
		}
	}
	return at
}

// scalarByte reports whether c may stand in a number, true, false or null.
func scalarByte(c byte) bool {
	switch {
	case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c == '-', c == '+', c == '.', c == 'E':
		return true
	}
	return false
}

package expand

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"ctxplugin/compartments"
)

// piece is one thing that a page shows of a message: a field with its text, or,
// when field is empty, a remark that stands for what has no text to show.
type piece struct {
	part   int // -1 for a remark on the whole message
	field  compartments.Field
	text   string
	remark string // what the header says besides role and time; may be empty
}

// pieces lists what a page shows of a message: what is sent to a model, except
// reasoning. A call's input stands before its output.
func pieces(m *compartments.Message) []piece {
	var out []piece
	for i := range m.Parts {
		out = append(out, partPieces(&m.Parts[i], i)...)
	}
	if len(out) == 0 {
		out = append(out, piece{part: -1, text: "no text and no calls"})
	}
	return out
}

func partPieces(p *compartments.Part, i int) []piece {
	remark := func(format string, args ...any) []piece {
		return []piece{{part: i, text: fmt.Sprintf(format, args...)}}
	}
	switch p.Kind {
	case compartments.PartText:
		if p.Ignored || p.Text == "" {
			return nil
		}
		return []piece{{part: i, field: compartments.FieldText, text: valid(p.Text)}}
	case compartments.PartReasoning, compartments.PartMarker:
		return nil
	case compartments.PartCompaction:
		return remark("the host's request for a summary of its own")
	case compartments.PartFile:
		return remark("file %s, %s, %d bytes; not text", nameOf(p.Filename, "without a name"), nameOf(p.Mime, "type unknown"), p.URLBytes)
	case compartments.PartTool:
		return toolPieces(p, i)
	}
	return remark("a part of the host of type %s; not text", nameOf(p.Type, "unknown"))
}

func toolPieces(p *compartments.Part, i int) []piece {
	name := nameOf(p.Tool, "unnamed tool")
	if p.OwnTool() {
		return []piece{{part: i, text: CallLine(p.Tool, p.Input) + "; its result repeats what is stored, so make that call for the original"}}
	}
	var out []piece
	if text := newArguments(p.Input).text; text != "" {
		out = append(out, piece{part: i, field: compartments.FieldInput, text: text, remark: name})
	}
	if p.Status.Open() {
		return append(out, piece{part: i, text: name + " has no result"})
	}
	state := name
	switch {
	case p.HasExit:
		state = fmt.Sprintf("%s, exit %d", name, p.ExitCode)
	case p.Status == compartments.StatusError:
		state = name + ", error"
	}
	if p.Media > 0 {
		state += fmt.Sprintf(", with %s, %d bytes; not text", nameOf(attached(p), "a file"), p.MediaBytes)
	}
	return append(out, piece{part: i, field: compartments.FieldOutput, text: valid(p.Output), remark: state})
}

// attached says which files came with a result.
func attached(p *compartments.Part) string {
	if p.Media == 1 {
		return "a file (" + p.MediaTypes + ")"
	}
	return fmt.Sprintf("%d files (%s)", p.Media, p.MediaTypes)
}

// header is the line above a body, without its byte range; remarkLine the line
// that stands for what has no body. Both name the time of the message when
// timed says that it was not named yet.
func (p *piece) header(m *compartments.Message, timed bool) string {
	return fmt.Sprintf("=== message %d, part %d, %s (%s)", m.Ordinal, p.part, p.field, p.about(m, timed))
}

func (p *piece) remarkLine(m *compartments.Message, timed bool) string {
	place := ""
	if p.part >= 0 {
		place = fmt.Sprintf(", part %d", p.part)
	}
	return fmt.Sprintf("--- message %d%s (%s): %s", m.Ordinal, place, p.about(m, timed), p.text)
}

func (p *piece) about(m *compartments.Message, timed bool) string {
	about := string(m.Role)
	if timed {
		if t := timeOf(m.Time); t != "" {
			about += ", " + t
		}
	}
	if p.remark != "" {
		about += ", " + p.remark
	}
	return about
}

// timeOf is a time in UTC to the minute, empty if unknown. ms is Unix ms.
func timeOf(ms int64) string {
	const year10000 = 253_402_300_800_000
	if ms <= 0 || ms >= year10000 {
		return ""
	}
	return time.UnixMilli(ms).UTC().Format("2006-01-02 15:04")
}

// names in headers, in bytes at most.
const nameMost = 80

func nameOf(s, otherwise string) string {
	if s = oneLine(s, nameMost); s == "" {
		return otherwise
	}
	return s
}

func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// arguments is the input of a call as text, with where each value came from.
type arguments struct {
	text   string
	values []argument
}

type argument struct {
	rawFrom, rawTo int // the value in the JSON text
	textFrom       int // its first byte in the text
	isString       bool
}

// newArguments turns the JSON text of a call's arguments into the text that the
// package comment describes.
func newArguments(input string) arguments {
	a := arguments{}
	input = valid(input)
	d := json.NewDecoder(strings.NewReader(input))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return plainInput(input)
	}
	var b strings.Builder
	for d.More() {
		key, err := d.Token()
		name, isName := key.(string)
		var raw json.RawMessage
		if err != nil || !isName || d.Decode(&raw) != nil {
			return plainInput(input)
		}
		v := argument{rawTo: int(d.InputOffset()), isString: raw[0] == '"'}
		v.rawFrom = v.rawTo - len(raw)
		value := string(raw)
		if v.isString && json.Unmarshal(raw, &value) != nil {
			return plainInput(input)
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		if !plainName(name) {
			name = quote(name)
		}
		b.WriteString(name)
		if strings.ContainsAny(value, "\n\r") {
			fmt.Fprintf(&b, ", %d bytes:\n", len(value))
		} else {
			b.WriteString(": ")
		}
		v.textFrom = b.Len()
		b.WriteString(value)
		a.values = append(a.values, v)
	}
	if _, err := d.Token(); err != nil || d.More() {
		return plainInput(input)
	}
	a.text = b.String()
	return a
}

// plainInput is an input that is no object.
func plainInput(input string) arguments {
	text := strings.TrimSpace(input)
	if text == "" || text == "null" {
		return arguments{}
	}
	from := strings.Index(input, text)
	v := argument{rawFrom: from, rawTo: from + len(text)}
	var s string
	if text[0] == '"' && json.Unmarshal([]byte(text), &s) == nil {
		text, v.isString = s, true
	}
	return arguments{text: text, values: []argument{v}}
}

func plainName(s string) bool {
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-', c == '.', c == '$':
		default:
			return false
		}
	}
	return s != ""
}

// at turns an offset into the JSON text into one into the text.
func (a *arguments) at(input string, offset int) int {
	found := 0
	for _, v := range a.values {
		switch {
		case offset < v.rawFrom:
			return v.textFrom
		case offset >= v.rawTo:
			found = v.textFrom
		case v.isString:
			return v.textFrom + decodedLen(input[v.rawFrom:min(offset, len(input))])
		default:
			return v.textFrom + offset - v.rawFrom
		}
	}
	return found
}

// decodedLen is how long the text of a JSON string is of which only the start is
// given. An escape that is cut off does not count.
func decodedLen(start string) int {
	const escapeMost = 6
	for cut := 0; cut <= escapeMost && cut < len(start); cut++ {
		var s string
		if json.Unmarshal([]byte(start[:len(start)-cut]+`"`), &s) == nil {
			return len(s)
		}
	}
	return 0
}

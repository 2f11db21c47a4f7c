package expand

import (
	"fmt"
	"strconv"
	"strings"

	"ctxplugin/compartments"
)

// What a page may take, whatever the room. OpenCode cuts a result of a tool at
// 51,200 bytes or 2,000 lines.
const (
	MaxPageBytes = 48_000
	MaxPageLines = 1_900
)

// Bounds of the parts of a page, in tokens.
const (
	roomShare   = 4   // a page takes at most this part of the room
	pageLeast   = 320 // below this a page would be mostly headings
	callTokens  = 64  // the most that a line naming a call takes
	rangeTokens = 24  // the byte range at the end of a header
	peekTokens  = 240 // shown of a field that is too long for its place
	bodyLeast   = 24  // a shorter peek is not worth its header
	wholeShare  = 3   // a field longer than this part of a page is not shown whole in a range
)

// The starts of the lines that name calls.
const (
	restMark = "Rest: "
	moreMark = "More: "
	endMark  = "End: "
)

// A field that goes on for more than endFar bytes gets a line that names the call
// for its last endBytes: the end of a log says most.
const (
	endFar   = 8_000
	endBytes = 2_000
)

// page is a page that is being written.
type page struct {
	b     strings.Builder
	count func(string) int
	left  limits
}

// newPage starts a page for a room of that many tokens; nil if the room is too
// small for one.
func newPage(room int, count func(string) int) *page {
	tokens := room / roomShare
	if tokens < pageLeast {
		return nil
	}
	return &page{count: count, left: limits{tokens: tokens, bytes: MaxPageBytes, lines: MaxPageLines}}
}

// write adds text that ends in a line end.
func (p *page) write(text string) {
	p.b.WriteString(text)
	p.left.tokens -= p.count(text)
	p.left.bytes -= len(text)
	p.left.lines -= strings.Count(text, "\n")
}

func (p *page) line(text string) { p.write(text + "\n") }

// holds reports whether a text with its line end is within limits, and what it
// takes. A text that is too long is not counted to its end.
func (p *page) holds(text string, most limits) (takes limits, ok bool) {
	takes = limits{bytes: len(text) + 1, lines: strings.Count(text, "\n") + 1}
	if takes.bytes > most.bytes || takes.lines > most.lines {
		return takes, false
	}
	takes.tokens = p.count(text) + 1
	return takes, takes.tokens <= most.tokens
}

func (l limits) minus(m limits) limits {
	return limits{l.tokens - m.tokens, l.bytes - m.bytes, l.lines - m.lines}
}

func (l limits) broken() bool { return l.tokens < 0 || l.bytes < 0 || l.lines < 0 }

// body writes a header and the bytes from-to of a text.
func (p *page) body(header, text string, from, to int) {
	p.line(fmt.Sprintf("%s, bytes %d-%d of %d", header, from, to, len(text)))
	p.line(text[from:to])
}

// Body is a verbatim stretch of one field on a page.
type Body struct {
	Message  compartments.Ordinal
	Part     int
	Field    compartments.Field
	From, To int // bytes
	Total    int // bytes of the whole field
	Text     string
}

// ReadPage takes the bodies out of a page, and the calls that its Rest and More
// lines name, in order. It fails if a header is malformed or its body is not
// there as a whole.
func ReadPage(page string) (bodies []Body, next []string, err error) {
	for page != "" {
		line, rest, ended := strings.Cut(page, "\n")
		if !ended {
			return nil, nil, fmt.Errorf("the line %q does not end", clip(line, 80))
		}
		page = rest
		if call, ok := strings.CutPrefix(line, restMark); ok {
			next = append(next, call)
		}
		if call, ok := strings.CutPrefix(line, moreMark); ok {
			next = append(next, call)
		}
		if !strings.HasPrefix(line, "=== message ") {
			continue
		}
		body, err := readHeader(line)
		if err != nil {
			return nil, nil, err
		}
		size := body.To - body.From
		if len(page) <= size || page[size] != '\n' {
			return nil, nil, fmt.Errorf("the body of %q is cut off", clip(line, 160))
		}
		body.Text, page = page[:size], page[size+1:]
		bodies = append(bodies, body)
	}
	return bodies, next, nil
}

func readHeader(line string) (Body, error) {
	var b Body
	bad := fmt.Errorf("no header: %q", clip(line, 160))
	s := strings.TrimPrefix(line, "=== message ")
	message, s, ok1 := strings.Cut(s, ", part ")
	part, s, ok2 := strings.Cut(s, ", ")
	field, s, ok3 := strings.Cut(s, " (")
	i := strings.LastIndex(s, "), bytes ")
	if !ok1 || !ok2 || !ok3 || i < 0 {
		return b, bad
	}
	from, s, ok4 := strings.Cut(s[i+len("), bytes "):], "-")
	to, total, ok5 := strings.Cut(s, " of ")
	if !ok4 || !ok5 {
		return b, bad
	}
	b.Field = compartments.Field(field)
	var ordinal int
	for _, n := range [...]struct {
		text string
		into *int
	}{{message, &ordinal}, {part, &b.Part}, {from, &b.From}, {to, &b.To}, {total, &b.Total}} {
		v, err := strconv.Atoi(n.text)
		if err != nil || v < 0 {
			return b, bad
		}
		*n.into = v
	}
	if b.From > b.To || b.To > b.Total {
		return b, bad
	}
	b.Message = compartments.Ordinal(ordinal)
	return b, nil
}

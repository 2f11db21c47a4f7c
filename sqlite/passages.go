package sqlite

import (
	"strings"
	"unicode/utf8"

	"ctxplugin/compartments"
)

// How a rowid of the word index is made up.
const (
	sessionBits  = 21
	ordinalBits  = 22
	passageBits  = 20
	sessionShift = ordinalBits + passageBits
)

const passageBytes = 32 << 10 // most bytes of one passage

// passage is the text that one row of the word index stands for.
type passage struct {
	part  int
	field compartments.Field
	text  string
	from  int // where text begins in the searchable text of the field, in bytes
}

// searchable is one field of a part as it is searched.
type searchable struct {
	part    int
	field   compartments.Field
	text    string
	escaped string // for call arguments: the JSON text that text was decoded from
}

// offset turns an offset in text into one in the decoded field.
func (f *searchable) offset(at int) int {
	if f.field != compartments.FieldInput {
		return at
	}
	return escapedOffset(f.escaped, at)
}

// searchables lists the fields of a message that can be found, in order. What
// tools of ours asked and got is left out: it repeats what is stored, and a
// search would find itself.
func searchables(m *compartments.Message) []searchable {
	var list []searchable
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.OwnTool() {
			continue
		}
		if p.Text != "" {
			list = append(list, searchable{part: i, field: compartments.FieldText, text: p.Text})
		}
		if p.Input != "" {
			text := p.Input
			if strings.IndexByte(text, '\\') >= 0 {
				text = string(unquote(nil, []byte(text)))
			}
			list = append(list, searchable{part: i, field: compartments.FieldInput, text: text, escaped: p.Input})
		}
		if p.Output != "" {
			list = append(list, searchable{part: i, field: compartments.FieldOutput, text: p.Output})
		}
	}
	return list
}

// passagesOf cuts the fields of a message into passages. A passage is named by
// its place in the list, so the cuts must not change.
func passagesOf(fields []searchable) []passage {
	var list []passage
	for i := range fields {
		f := &fields[i]
		for from := 0; from < len(f.text); {
			n := passageLength(f.text[from:])
			list = append(list, passage{part: f.part, field: f.field, text: f.text[from : from+n], from: from})
			from += n
		}
	}
	return list
}

// passageLength is where to cut text: at the end of a line or word if one is
// near, else on a rune border.
func passageLength(text string) int {
	if len(text) <= passageBytes {
		return len(text)
	}
	const near = 2048
	if n := strings.LastIndexAny(text[passageBytes-near:passageBytes], " \t\n"); n >= 0 {
		return passageBytes - near + n + 1
	}
	n := passageBytes
	for n > passageBytes-utf8.UTFMax && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}

// compartmentText is what of a compartment is searched: its fullest text. The
// title stands before it.
func compartmentText(c *compartments.Compartment) string {
	for _, t := range compartments.Rendered {
		if r := c.Tiers[t]; r.Text != "" {
			return r.Text
		}
	}
	return ""
}

// messageRow and compartmentRow are rowids of the word index.
func messageRow(session, ordinal, passage int64) int64 {
	return session<<sessionShift | ordinal<<passageBits | passage
}

func compartmentRow(session, id int64) int64 { return session<<sessionShift | id }

// sessionRows is the range of a session's rowids in either table.
func sessionRows(session int64) (first, last int64) {
	return session << sessionShift, (session+1)<<sessionShift - 1
}

package expand

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"ctxplugin/compartments"
)

// The names of the tools.
const (
	ToolExpand = "ctx_expand"
	ToolSearch = "ctx_search"
)

// The arguments, in the order in which calls are written.
const (
	keyFirst       = "first"
	keyLast        = "last"
	keyCompartment = "compartment"
	keyMessage     = "message"
	keyPart        = "part"
	keyField       = "field"
	keyOffset      = "offset"
	keyQuery       = "query"
	keyLimit       = "limit"
)

var (
	expandKeys = []string{keyFirst, keyLast, keyCompartment, keyMessage, keyPart, keyField, keyOffset}
	searchKeys = []string{keyQuery, keyLimit}
)

// target is what one call of ctx_expand opens. Zero ordinals are absent; part is
// absent when negative.
type target struct {
	first, last compartments.Ordinal
	compartment compartments.Ordinal
	message     compartments.Ordinal
	part        int
	field       compartments.Field
	offset      int
}

// String is the call as a model writes it.
func (t target) String() string {
	w := callWriter{}
	w.open(ToolExpand)
	for _, n := range []struct {
		key   string
		value compartments.Ordinal
	}{{keyFirst, t.first}, {keyLast, t.last}, {keyCompartment, t.compartment}, {keyMessage, t.message}} {
		if n.value != 0 {
			w.argument(n.key, strconv.FormatInt(int64(n.value), 10))
		}
	}
	if t.part >= 0 {
		w.argument(keyPart, strconv.Itoa(t.part))
	}
	if t.field != "" {
		w.argument(keyField, quote(string(t.field)))
	}
	if t.offset > 0 {
		w.argument(keyOffset, strconv.Itoa(t.offset))
	}
	return w.close()
}

func rangeCall(first, last compartments.Ordinal) target {
	return target{first: first, last: last, part: -1}
}

func messageCall(message compartments.Ordinal) target {
	return target{message: message, part: -1}
}

func searchCall(query string) string {
	w := callWriter{}
	w.open(ToolSearch)
	w.argument(keyQuery, quote(query))
	return w.close()
}

// Bounds of a call line, in bytes.
const (
	callValueMost = 160
	callLineMost  = 400
)

// CallLine is the call of a tool of ours as one line: what a fold keeps of a
// result that repeats what the store has. Equal calls give equal lines: the
// arguments stand in a fixed order, numbers given as strings as numbers. It is at
// most some 400 bytes long; what is cut off or cannot be read shows as "…".
func CallLine(tool, inputJSON string) string {
	w := callWriter{}
	w.open(oneLine(tool, 64))
	object, err := readObject(tool, []byte(inputJSON))
	if err != nil {
		return w.b.String() + "…)"
	}
	names := make([]string, 0, len(object))
	for name := range object {
		names = append(names, name)
	}
	order := func(name string) int {
		if i := slices.Index(expandKeys, name); i >= 0 {
			return i
		}
		if i := slices.Index(searchKeys, name); i >= 0 {
			return len(expandKeys) + i
		}
		return len(expandKeys) + len(searchKeys)
	}
	slices.SortFunc(names, func(a, b string) int {
		if d := order(a) - order(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	for _, name := range names {
		value := lineValue(name, object[name])
		if value == "" {
			continue
		}
		if w.b.Len()+len(name)+len(value) > callLineMost {
			w.argument("…", quote("…"))
			break
		}
		w.argument(name, value)
	}
	return w.close()
}

// lineValue is one argument in a call line; empty leaves it out.
func lineValue(name string, raw json.RawMessage) string {
	if slices.Contains([]string{keyFirst, keyLast, keyCompartment, keyMessage, keyPart, keyOffset, keyLimit}, name) {
		if n, err := readNumber(raw); err == nil {
			return strconv.FormatInt(n, 10)
		}
	}
	var s string
	if json.Unmarshal(raw, &s) == nil && len(raw) > 0 && raw[0] == '"' {
		return quote(clip(s, callValueMost))
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil || b.String() == "null" {
		return ""
	}
	if b.Len() > callValueMost {
		return quote("…")
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}

type callWriter struct {
	b    strings.Builder
	some bool
}

func (w *callWriter) open(tool string) {
	w.b.WriteString(tool)
	w.b.WriteByte('(')
}

func (w *callWriter) argument(name, value string) {
	if w.some {
		w.b.WriteString(", ")
	} else {
		w.b.WriteByte('{')
		w.some = true
	}
	w.b.WriteString(quote(name))
	w.b.WriteString(": ")
	w.b.WriteString(value)
}

func (w *callWriter) close() string {
	if w.some {
		w.b.WriteByte('}')
	}
	w.b.WriteByte(')')
	return w.b.String()
}

// quote is s as a JSON string on one line, without HTML escapes.
func quote(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string always encodes
	return strings.TrimRight(b.String(), "\n")
}

// clip cuts s to that many bytes, between two graphemes, and says so.
func clip(s string, most int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= most {
		return s
	}
	cut, _ := borderBefore(s, 0, most)
	return s[:cut] + "…"
}

// oneLine is s with every run of blanks and control characters as one blank, at
// most that many bytes: what a line of ours may hold of a foreign text.
func oneLine(s string, most int) string {
	if len(s) > 4*most {
		s = clip(s, 4*most)
	}
	var b strings.Builder
	blank := false
	for _, r := range s {
		if unicode.IsSpace(r) || unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			blank = b.Len() > 0
			continue
		}
		if blank {
			b.WriteByte(' ')
			blank = false
		}
		if r == utf8.RuneError {
			b.WriteRune('\uFFFD')
			continue
		}
		b.WriteRune(r)
	}
	return clip(b.String(), most)
}

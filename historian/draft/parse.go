package draft

import (
	"strconv"
	"strings"

	"ctxplugin/compartments"
)

// draft is one compartment as a model wrote it: nothing in it is checked.
type draft struct {
	first, last string // as written
	importance  string
	title       string
	types       string
	tiers       map[compartments.Tier]string
	spans       []item
	facts       []item
	events      []item
	closed      bool // its closing tag, or that of its last tier, was there
}

// item is a span, a fact or an event.
type item struct {
	at    string
	kind  string
	quote string
	text  string
}

var tierTags = map[string]compartments.Tier{"full": compartments.TierFull, "dense": compartments.TierDense,
	"compact": compartments.TierCompact, "anchor": compartments.TierAnchor}

// parse reads the compartments of a reply, as far as anything can be read: it
// never fails. Form is taken leniently: text around and between, fences, attributes
// in any order and quoting, closing tags that are wrong or missing, an end that is
// cut off.
func parse(reply string) []draft {
	reply = unthought(strings.ToValidUTF8(reply, "\ufffd"))
	var out []draft
	var d *draft    // open compartment
	var into string // open element in it
	var attrs map[string]string
	content := 0 // where its text begins
	put := func(end int) {
		if d != nil && into != "" {
			d.put(into, attrs, decode(reply[content:end]))
		}
		into = ""
	}
	for i := 0; i < len(reply); {
		at := strings.IndexByte(reply[i:], '<')
		if at < 0 {
			break
		}
		at += i
		name, closing, next := tagAt(reply, at)
		switch {
		case name == "" || name == "transcript":
			i = at + 1
			continue
		case closing:
			put(at)
			if name == "compartment" && d != nil {
				d.closed = true
				d = nil
			}
			i = next
			continue
		}
		put(at)
		a, inner, empty := attributes(reply, next)
		if name == "compartment" {
			out = append(out, draft{tiers: map[compartments.Tier]string{}})
			d = &out[len(out)-1]
			d.first, d.last = first(a, "first", "start", "from"), first(a, "last", "end", "to")
			d.importance, d.title, d.types = a["importance"], a["title"], first(a, "types", "type")
		} else if !empty {
			into, attrs, content = name, a, inner
		}
		i = inner
	}
	put(len(reply))
	return out
}

func first(a map[string]string, names ...string) string {
	for _, n := range names {
		if a[n] != "" {
			return a[n]
		}
	}
	return ""
}

func (d *draft) put(tag string, attrs map[string]string, text string) {
	text = strings.TrimSpace(text)
	if t, ok := tierTags[tag]; ok {
		if d.tiers[t] == "" {
			d.tiers[t] = text
		}
		return
	}
	it := item{at: first(attrs, "at", "ordinal", "message"), kind: attrs["kind"], quote: first(attrs, "quote", "anchor"), text: text}
	switch tag {
	case "span":
		d.spans = append(d.spans, it)
	case "fact":
		d.facts = append(d.facts, it)
	case "event":
		d.events = append(d.events, it)
	}
}

// unthought takes the reasoning off that some endpoints leave in front of the
// answer. What is never closed stays: it may be all there is.
func unthought(s string) string {
	for _, tag := range [...]string{"think", "thinking", "reasoning"} {
		t := strings.TrimLeft(s, " \t\r\n")
		if strings.HasPrefix(t, "<"+tag+">") {
			if _, rest, ok := strings.Cut(t, "</"+tag+">"); ok {
				s = rest
			}
		}
	}
	return s
}

// tagAt reads a tag of a reply at an angle bracket: its name in small letters, and
// where what follows the name begins. Other tags are text.
func tagAt(s string, at int) (name string, closing bool, next int) {
	i := at + 1
	for i < len(s) && (s[i] == ' ' || s[i] == '/') {
		closing = closing || s[i] == '/'
		i++
	}
	start := i
	for i < len(s) && (s[i]|0x20 >= 'a' && s[i]|0x20 <= 'z') {
		i++
	}
	word := strings.ToLower(s[start:i])
	if i < len(s) && !strings.ContainsRune(" \t\r\n/>:", rune(s[i])) {
		return "", false, 0
	}
	for _, tag := range replyTags {
		if word == tag {
			if closing { // to its bracket, if that comes at once
				for i < len(s) && (s[i] == ' ' || s[i] == '\n' || s[i] == '\t') {
					i++
				}
				if i < len(s) && s[i] == '>' {
					i++
				}
			}
			return tag, closing, i
		}
	}
	return "", false, 0
}

// attributeNames are those that end the value before them.
var attributeNames = [...]string{"first", "last", "start", "end", "from", "to", "importance", "title", "types", "type", "at", "ordinal", "message", "kind", "quote", "anchor"}

// attributes reads the attributes behind a tag's name up to its closing bracket,
// and returns where its text begins. A value in quotes may hold quotes and
// brackets: it ends with the quote behind which the tag ends or goes on. empty says
// that the tag closes itself.
func attributes(s string, i int) (a map[string]string, inner int, empty bool) {
	a = map[string]string{}
	for i < len(s) {
		switch c := s[i]; {
		case c == '>':
			return a, i + 1, empty
		case c == '/':
			empty = true
			i++
			continue
		case c == '<':
			return a, i, empty // never closed
		}
		start := i
		for i < len(s) && (s[i]|0x20 >= 'a' && s[i]|0x20 <= 'z') {
			i++
		}
		name := strings.ToLower(s[start:i])
		j := blanks(s, i)
		if name == "" || j >= len(s) || s[j] != '=' {
			if i == start {
				i++
			}
			continue
		}
		empty = false
		var value string
		value, i = valueAt(s, blanks(s, j+1))
		if _, had := a[name]; !had {
			a[name] = strings.TrimSpace(decode(value))
		}
	}
	return a, i, empty
}

func blanks(s string, i int) int {
	for i < len(s) && strings.IndexByte(" \t\r\n", s[i]) >= 0 {
		i++
	}
	return i
}

// valueLongest bounds how far the end of a value is looked for, in bytes.
const valueLongest = 2000

// valueAt reads the value of an attribute.
func valueAt(s string, i int) (value string, next int) {
	for _, q := range [...][2]string{{`"`, `"`}, {"'", "'"}, {"“", "”"}, {"„", "“"}, {"”", "”"}} {
		if !strings.HasPrefix(s[i:], q[0]) {
			continue
		}
		from := i + len(q[0])
		end := min(len(s), from+valueLongest)
		fallback := -1
		for j := from; j < end; j++ {
			if !strings.HasPrefix(s[j:], q[1]) {
				continue
			}
			if fallback < 0 {
				fallback = j
			}
			if ends(s, j+len(q[1])) {
				return s[from:j], j + len(q[1])
			}
		}
		if fallback >= 0 {
			return s[from:fallback], fallback + len(q[1])
		}
		i = from
		break
	}
	j := i
	for j < len(s) && strings.IndexByte(" \t\r\n>/", s[j]) < 0 {
		j++
	}
	return s[i:j], j
}

// ends reports whether a tag ends here, or goes on with an attribute.
func ends(s string, i int) bool {
	if i >= len(s) || s[i] == '>' || strings.HasPrefix(s[i:], "/>") || strings.HasPrefix(s[i:], " />") {
		return true
	}
	i = blanks(s, i) // a bracket behind a blank may be part of the value
	for _, n := range attributeNames {
		if len(s)-i > len(n) && strings.EqualFold(s[i:i+len(n)], n) {
			if j := blanks(s, i+len(n)); j < len(s) && s[j] == '=' {
				return true
			}
		}
	}
	return false
}

// decode resolves the entities of a text once: what they make is not looked at
// again.
func decode(s string) string {
	if !strings.Contains(s, "&") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] == '&' {
			if r, n := entity(s[i:]); n > 0 {
				b.WriteRune(r)
				i += n
				continue
			}
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}

func entity(s string) (r rune, n int) {
	end := strings.IndexByte(s[:min(len(s), 12)], ';')
	if end < 0 {
		return 0, 0
	}
	switch name := s[1:end]; name {
	case "lt":
		return '<', end + 1
	case "gt":
		return '>', end + 1
	case "amp":
		return '&', end + 1
	case "quot":
		return '"', end + 1
	case "apos":
		return '\'', end + 1
	default:
		digits, base := strings.TrimPrefix(name, "#"), 10
		if len(digits) == len(name) {
			return 0, 0
		}
		if strings.HasPrefix(digits, "x") || strings.HasPrefix(digits, "X") {
			digits, base = digits[1:], 16
		}
		v, err := strconv.ParseInt(digits, base, 32)
		if err != nil || v <= 0 || v > 0x10ffff || v >= 0xd800 && v < 0xe000 {
			return 0, 0
		}
		return rune(v), end + 1
	}
}

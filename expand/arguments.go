package expand

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"ctxplugin/compartments"
)

// What the tools accept, for the text of a refusal.
const (
	expandForm = `Accepted: {"first": 41, "last": 58}, or {"compartment": 41}, or {"message": 57, "part": 2, "offset": 18000} (part, field and offset are optional).`
	searchForm = `Accepted: {"query": "words or an exact string", "limit": 8} (limit is optional).`
)

// Bounds of what a model may ask of a search.
const (
	limitDefault = 8
	limitMost    = 50
	queryMost    = 1_000 // bytes
)

// asked is what the arguments of ctx_expand say, before the session is looked at.
type asked struct {
	first, last compartments.Ordinal // 0 if absent
	compartment bool                 // first, and last if given, name a compartment
	message     compartments.Ordinal // 0 if absent or given as an id
	id          compartments.MessageID
	part        int // negative if absent
	field       compartments.Field
	offset      int
}

// refusal is why a call was not accepted: a text for the model. The accepted form
// is named besides, unless form is right and only names what is not there.
type refusal struct {
	text   string
	formed bool
}

func (r *refusal) Error() string { return r.text }

func refuse(format string, args ...any) error {
	return &refusal{text: fmt.Sprintf(format, args...)}
}

// absent refuses arguments that are well formed.
func absent(format string, args ...any) error {
	return &refusal{text: fmt.Sprintf(format, args...), formed: true}
}

// readExpand reads the arguments of ctx_expand.
func readExpand(raw []byte) (asked, error) { return readAsked(ToolExpand, raw) }

// readAsked reads what of the messages a call of a tool names, in the form of
// ctx_expand.
func readAsked(tool string, raw []byte) (asked, error) {
	a := asked{part: -1}
	object, err := readObject(tool, raw)
	if err != nil {
		return a, err
	}
	if err := onlyKnown(object, expandKeys); err != nil {
		return a, err
	}
	has := func(key string) bool { _, ok := object[key]; return ok }
	for _, key := range [...]string{keyFirst, keyCompartment, keyMessage} {
		if first, last, ok := readRange(object[key]); ok && !has(keyLast) && (key == keyFirst || !has(keyFirst)) {
			a.first, a.last, a.compartment = first, last, key == keyCompartment
			delete(object, key)
			break
		}
	}
	if a.last != 0 && (has(keyFirst) || has(keyCompartment) || has(keyMessage)) {
		return a, refuse("a range stands beside other numbers, so it is not clear which is meant.")
	}
	for _, o := range [...]struct {
		key  string
		into *compartments.Ordinal
	}{{keyFirst, &a.first}, {keyLast, &a.last}} {
		if !has(o.key) {
			continue
		}
		if *o.into, err = readOrdinal(o.key, object[o.key]); err != nil {
			return a, err
		}
	}
	if has(keyCompartment) {
		if a.first != 0 || a.last != 0 || has(keyMessage) {
			return a, refuse("compartment stands beside other numbers, so it is not clear which is meant.")
		}
		if a.first, err = readOrdinal(keyCompartment, object[keyCompartment]); err != nil {
			return a, err
		}
		a.compartment = true
	}
	if has(keyMessage) {
		if a.message, a.id, err = readMessage(object[keyMessage]); err != nil {
			return a, err
		}
	}
	if has(keyPart) {
		n, err := readNumber(object[keyPart])
		if err != nil || n < 0 || n > math.MaxInt32 {
			return a, numberRefusal(keyPart, object[keyPart], "the place of a part in its message, counted from 0", err)
		}
		a.part = int(n)
	}
	if has(keyOffset) {
		n, err := readNumber(object[keyOffset])
		if err != nil || n < 0 || n > math.MaxInt32 {
			return a, numberRefusal(keyOffset, object[keyOffset], "a number of bytes, 0 or more", err)
		}
		a.offset = int(n)
	}
	if has(keyField) {
		if a.field, err = readField(object[keyField]); err != nil {
			return a, err
		}
	}
	return a, a.check(tool)
}

// check refuses combinations that leave open what is meant to a call of a tool.
func (a *asked) check(tool string) error {
	one := func(o compartments.Ordinal) string { return fmt.Sprintf(`%s({"message": %d})`, tool, o) }
	ranged := a.first != 0 || a.last != 0
	named := a.message != 0 || a.id != ""
	switch {
	case !ranged && !named && (a.part >= 0 || a.offset > 0 || a.field != ""):
		return refuse("the message is missing.")
	case !ranged && !named:
		return refuse("nothing is asked for.")
	case a.compartment:
	case a.first != 0 && a.last == 0 && named:
		return refuse("first stands beside message, so it is not clear which is meant.")
	case a.first != 0 && a.last == 0:
		return refuse("last is missing; for one message write %s.", one(a.first))
	case ranged && a.first == 0:
		return refuse("first is missing; for one message write %s.", one(a.last))
	}
	switch {
	case ranged && a.offset > 0:
		return refuse("offset counts in one part of one message; a range has none.")
	case ranged && a.field != "":
		return refuse("field names one of one part; a range has none.")
	case a.part < 0 && (a.offset > 0 || a.field != ""):
		return refuse("the part that offset or field count in is missing.")
	}
	return nil
}

// readSearch reads the arguments of ctx_search.
func readSearch(raw []byte) (query string, limit int, err error) {
	object, err := readObject(ToolSearch, raw)
	if err != nil {
		return "", 0, err
	}
	if err := onlyKnown(object, searchKeys); err != nil {
		return "", 0, err
	}
	value, ok := object[keyQuery]
	if !ok {
		return "", 0, refuse("query is missing.")
	}
	if err := json.Unmarshal(value, &query); err != nil {
		var n json.Number
		if json.Unmarshal(value, &n) != nil {
			return "", 0, refuse("query is %s; it has to be a string.", show(value))
		}
		query = n.String()
	}
	query = strings.TrimSpace(query)
	switch {
	case query == "":
		return "", 0, refuse("query is empty.")
	case isPlaceholder(query):
		return "", 0, placeholderRefusal(query)
	case len(query) > queryMost:
		return "", 0, refuse("query has %d bytes; give a few words of at most %d.", len(query), queryMost)
	}
	limit = limitDefault
	if value, ok := object[keyLimit]; ok {
		n, err := readNumber(value)
		if err != nil || n < 1 || n > limitMost {
			return "", 0, numberRefusal(keyLimit, value, fmt.Sprintf("a number of hits from 1 to %d", limitMost), err)
		}
		limit = int(n)
	}
	return query, limit, nil
}

// readObject reads the arguments of a call: a JSON object, the text of one in a
// JSON string, such an object as the only member of a wrapper, or the call written
// out. Members that are null count as absent.
func readObject(tool string, raw []byte) (map[string]json.RawMessage, error) {
	for range 4 {
		raw = bytes.TrimSpace(raw)
		if len(raw) == 0 || string(raw) == "null" {
			return map[string]json.RawMessage{}, nil
		}
		var object map[string]json.RawMessage
		if json.Unmarshal(raw, &object) == nil {
			for name, value := range object {
				if string(value) == "null" {
					delete(object, name)
				}
			}
			inner, wrapped := unwrap(object)
			if !wrapped {
				return object, nil
			}
			raw = inner
			continue
		}
		var text string
		if json.Unmarshal(raw, &text) == nil {
			raw = []byte(text)
			continue
		}
		text = string(raw)
		if inner, ok := strings.CutPrefix(text, tool+"("); ok && strings.HasSuffix(inner, ")") {
			raw = []byte(strings.TrimSuffix(inner, ")"))
			continue
		}
		if isPlaceholder(text) && !json.Valid(raw) {
			return nil, placeholderRefusal(text)
		}
		break
	}
	return nil, refuse("the arguments are no JSON object: %s.", show(raw))
}

func unwrap(object map[string]json.RawMessage) (inner []byte, ok bool) {
	if len(object) != 1 {
		return nil, false
	}
	for name, value := range object {
		switch name {
		case "arguments", "args", "input", "parameters":
			if value[0] == '{' || value[0] == '"' {
				return value, true
			}
		}
	}
	return nil, false
}

func onlyKnown(object map[string]json.RawMessage, known []string) error {
	var unknown []string
	for name := range object {
		if !slices.Contains(known, name) {
			unknown = append(unknown, quote(clip(name, 40)))
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	slices.Sort(unknown)
	more := ""
	if len(unknown) > 5 {
		more = fmt.Sprintf(" and %d more", len(unknown)-5)
		unknown = unknown[:5]
	}
	return refuse("there is no argument %s%s.", strings.Join(unknown, ", "), more)
}

var errNoNumber = errors.New("no whole number")

// readNumber reads a whole number, given as a number or as a string of one.
func readNumber(raw json.RawMessage) (int64, error) {
	text := string(bytes.TrimSpace(raw))
	if strings.HasPrefix(text, `"`) {
		if json.Unmarshal(raw, &text) != nil {
			return 0, errNoNumber
		}
		if isPlaceholder(text) {
			return 0, placeholderRefusal(text)
		}
		text = strings.TrimPrefix(strings.TrimSpace(text), "#")
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, errNoNumber
	}
	return int64(f), nil
}

func readOrdinal(key string, raw json.RawMessage) (compartments.Ordinal, error) {
	n, err := readNumber(raw)
	if err != nil || n < 1 {
		return 0, numberRefusal(key, raw, "a message number, 1 or more", err)
	}
	return compartments.Ordinal(n), nil
}

func readMessage(raw json.RawMessage) (compartments.Ordinal, compartments.MessageID, error) {
	n, err := readNumber(raw)
	if err == nil {
		if n < 1 {
			return 0, "", numberRefusal(keyMessage, raw, "a message number, 1 or more", nil)
		}
		return compartments.Ordinal(n), "", nil
	}
	var id string
	if errors.Is(err, errNoNumber) && json.Unmarshal(raw, &id) == nil {
		if id = strings.TrimSpace(id); id != "" {
			return 0, compartments.MessageID(id), nil
		}
	}
	return 0, "", numberRefusal(keyMessage, raw, "a message number or the host's id of a message", err)
}

func readField(raw json.RawMessage) (compartments.Field, error) {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		if isPlaceholder(s) {
			return "", placeholderRefusal(s)
		}
		switch f := compartments.Field(strings.TrimSpace(s)); f {
		case compartments.FieldText, compartments.FieldInput, compartments.FieldOutput:
			return f, nil
		}
	}
	return "", refuse("field is %s; it has to be \"text\", \"input\" or \"output\".", show(raw))
}

// readRange reads the range of a record's entry as the entry is headed: "41-58",
// "[41-58]", "[41-58 compact]", or "[41]" for one message.
func readRange(raw json.RawMessage) (first, last compartments.Ordinal, ok bool) {
	var s string
	if len(raw) == 0 || json.Unmarshal(raw, &s) != nil {
		return 0, 0, false
	}
	s = strings.TrimSpace(s)
	inner, bracket := strings.CutPrefix(s, "[")
	if bracket {
		if s, ok = strings.CutSuffix(inner, "]"); !ok {
			return 0, 0, false
		}
		if i := strings.LastIndexByte(s, ' '); i > 0 {
			if _, err := compartments.ParseTier(s[i+1:]); err == nil {
				s = s[:i]
			}
		}
	}
	for _, separator := range [...]string{"..", "-", "–", "—"} {
		if a, b, found := strings.Cut(s, separator); found {
			first, last = parseOrdinal(a), parseOrdinal(b)
			return first, last, first > 0 && last > 0
		}
	}
	first = parseOrdinal(s)
	return first, first, bracket && first > 0
}

// parseOrdinal reads a number of decimal digits; 0 if it is none.
func parseOrdinal(s string) compartments.Ordinal {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return compartments.Ordinal(n)
}

func numberRefusal(key string, raw json.RawMessage, want string, err error) error {
	var r *refusal
	if errors.As(err, &r) {
		return err
	}
	return refuse("%s is %s; it has to be %s.", key, show(raw), want)
}

// show is a JSON value in the text of a refusal.
func show(raw []byte) string { return oneLine(string(raw), 60) }

// Opened is the range of messages that arguments of ctx_expand ask for, as raw JSON;
// ok is false where they name none by number. A compartment is named by its first
// message.
func Opened(arguments []byte) (first, last compartments.Ordinal, ok bool) {
	a, err := readExpand(arguments)
	if err != nil {
		return 0, 0, false
	}
	if first, last = a.first, max(a.first, a.last); first == 0 {
		first, last = a.message, a.message
	}
	return first, last, first > 0
}

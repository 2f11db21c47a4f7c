package lab

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// stretch is a verbatim piece of one field on a page of ctx_expand.
type stretch struct {
	message, part int
	field         string
	from, to, of  int // bytes
	text          string
}

// readPage takes the bodies out of a page and lists the calls that return what
// it does not show. A header's byte range says how long its body is, so a body
// may hold lines that look like headers.
func readPage(page string) (bodies []stretch, calls []string, err error) {
	for len(page) > 0 {
		end := strings.IndexByte(page, '\n')
		if end < 0 {
			return nil, nil, fmt.Errorf("its last line does not end: %.80q", page)
		}
		line := page[:end]
		page = page[end+1:]
		switch {
		case strings.HasPrefix(line, "Rest: "), strings.HasPrefix(line, "More: "):
			calls = append(calls, line[len("Rest: "):])
		case strings.HasPrefix(line, "=== message "):
			s, err := readStretch(line)
			if err != nil {
				return nil, nil, err
			}
			n := s.to - s.from
			if n > len(page)-1 || page[n] != '\n' {
				return nil, nil, fmt.Errorf("the body behind %.120q is not %d bytes long", line, n)
			}
			s.text, page = page[:n], page[n+1:]
			bodies = append(bodies, s)
		}
	}
	return bodies, calls, nil
}

// readStretch reads
//
//	=== message ORDINAL, part PLACE, FIELD (REMARKS), bytes FROM-TO of TOTAL
//
// from both ends, because the remarks may hold anything.
func readStretch(line string) (stretch, error) {
	var s stretch
	at := strings.LastIndex(line, "), bytes ")
	if at < 0 {
		return s, fmt.Errorf("the header %.120q has no byte range", line)
	}
	if n, _ := fmt.Sscanf(line[at:], "), bytes %d-%d of %d", &s.from, &s.to, &s.of); n != 3 {
		return s, fmt.Errorf("the header %.120q has no byte range", line)
	}
	if n, _ := fmt.Sscanf(line, "=== message %d, part %d, %s (", &s.message, &s.part, &s.field); n != 3 {
		return s, fmt.Errorf("the header %.120q names no field", line)
	}
	if s.from < 0 || s.to < s.from || s.of < s.to {
		return s, fmt.Errorf("the header %.120q has a range that cannot be", line)
	}
	return s, nil
}

// argumentText is what docs of ctx_expand promise for the arguments of a call: one
// after the other, each as NAME: VALUE, or with its length and on a line of its
// own when the value has several lines.
func argumentText(input string) string {
	d := json.NewDecoder(strings.NewReader(input))
	if first, err := d.Token(); err != nil || first != json.Delim('{') {
		if strings.TrimSpace(input) == "null" {
			return ""
		}
		return plainText(json.RawMessage(input))
	}
	var lines []string
	for d.More() {
		key, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			return plainText(json.RawMessage(input))
		}
		name, shown := key.(string), plainText(value)
		if strings.IndexFunc(name, func(r rune) bool { return !nameRune(r) }) >= 0 || name == "" {
			name = string(quote(name))
		}
		if strings.ContainsAny(shown, "\r\n") {
			lines = append(lines, name+", "+strconv.Itoa(len(shown))+" bytes:\n"+shown)
		} else {
			lines = append(lines, name+": "+shown)
		}
	}
	return strings.Join(lines, "\n")
}

func nameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-.$", r)
}

func plainText(raw json.RawMessage) string {
	trimmed := strings.TrimSpace(string(raw))
	if strings.HasPrefix(trimmed, `"`) {
		return text(json.RawMessage(trimmed))
	}
	return trimmed
}

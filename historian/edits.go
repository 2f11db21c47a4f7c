package historian

import (
	"encoding/json"
	"slices"
	"strings"
)

// change is what one call did to one file.
type change struct {
	path           string
	added, removed int
	created        bool
	deleted        bool
	moved          string
	shell          bool
	brought        []string // symbols in the new text that the old one lacks
	forth, back    uint64   // marks of the replacement and of its inverse; 0 where it is none
}

func countLines(s string) int {
	if s == "" {
		return 0
	}
	n := strings.Count(s, "\n")
	if !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}

// lineChange counts the lines between the common head and tail of two texts.
func lineChange(before, after string) (added, removed int) {
	a, b := strings.Split(strings.TrimSuffix(before, "\n"), "\n"), strings.Split(strings.TrimSuffix(after, "\n"), "\n")
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	added, removed = len(b), len(a)
	if after == "" {
		added = 0
	}
	if before == "" {
		removed = 0
	}
	return added, removed
}

// brought lists symbols that an edit adds, at most a few: what the change is
// about, where nobody says it.
func brought(before, after string) []string {
	const most, bytes = 12, 4000
	var out []string
	scanNames(head(after, bytes), func(n string, k kind) {
		if (k == kindSymbol || k == kindEnv) && len(n) <= 40 && len(out) < most && !slices.Contains(out, n) && !strings.Contains(before, n) {
			out = append(out, n)
		}
	})
	return out
}

func editChanges(path string, a *arguments) []change {
	if path == "" {
		return nil
	}
	c := change{path: path}
	c.brought = brought(first(a.OldString, a.OldUnder, a.OldStr, a.OldText), first(a.NewString, a.NewUnder, a.NewStr, a.NewText))
	c.added, c.removed = lineChange(first(a.OldString, a.OldUnder, a.OldStr, a.OldText), first(a.NewString, a.NewUnder, a.NewStr, a.NewText))
	before, after := string(first(a.OldString, a.OldUnder, a.OldStr, a.OldText)), string(first(a.NewString, a.NewUnder, a.NewStr, a.NewText))
	var edits []struct {
		OldString loose `json:"oldString"`
		OldUnder  loose `json:"old_string"`
		OldText   loose `json:"oldText"`
		NewString loose `json:"newString"`
		NewUnder  loose `json:"new_string"`
		NewText   loose `json:"newText"`
	}
	if json.Unmarshal(a.Edits, &edits) == nil {
		for _, e := range edits {
			added, removed := lineChange(first(e.OldString, e.OldUnder, e.OldText), first(e.NewString, e.NewUnder, e.NewText))
			before += "\x00" + string(first(e.OldString, e.OldUnder, e.OldText))
			after += "\x00" + string(first(e.NewString, e.NewUnder, e.NewText))
			c.added += added
			c.removed += removed
			c.brought = append(c.brought, brought(first(e.OldString, e.OldUnder, e.OldText), first(e.NewString, e.NewUnder, e.NewText))...)
		}
	}
	if text := first(a.FileText); text != "" && c.added == 0 {
		c.added = countLines(text)
	}
	if len(before)+len(after) >= markedBytes {
		c.forth, c.back = mark(path, before, after), mark(path, after, before)
	}
	return []change{c}
}

// markedBytes is the least that a replacement and what it replaces take to be told from
// others.
const markedBytes = 8

// patchChanges reads the file headers and counts of a patch, in the form with
// *** headers or as a unified diff.
func patchChanges(text string) []change {
	var out []change
	add := func(c change) { out = append(out, c) }
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		switch {
		case strings.HasPrefix(line, "*** Update File: "):
			add(change{path: strings.TrimSpace(line[17:])})
		case strings.HasPrefix(line, "*** Add File: "):
			add(change{path: strings.TrimSpace(line[14:]), created: true})
		case strings.HasPrefix(line, "*** Delete File: "):
			add(change{path: strings.TrimSpace(line[17:]), deleted: true})
		case strings.HasPrefix(line, "*** Move to: ") && len(out) > 0:
			out[len(out)-1].moved = strings.TrimSpace(line[13:])
		case strings.HasPrefix(line, "+++ "):
			path, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line[4:]), "b/"), "\t")
			if path != "/dev/null" && path != "" {
				add(change{path: path})
			}
		case strings.HasPrefix(line, "--- "):
		case len(out) > 0 && strings.HasPrefix(line, "+"):
			c := &out[len(out)-1]
			c.added++
			if len(c.brought) < 12 {
				c.brought = append(c.brought, brought("", line)...)
			}
		case len(out) > 0 && strings.HasPrefix(line, "-"):
			out[len(out)-1].removed++
		}
	}
	return out
}

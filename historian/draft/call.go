package draft

import (
	"fmt"
	"strings"

	"ctxplugin/historian"
)

// call writes a call and its result.
func (s *scribe) call(c *historian.Call, d *detail) []string {
	if c.Kind == "own" {
		return nil
	}
	if c.Kind == "todo" {
		return s.todos(c, d)
	}
	asked := s.asked(c, d)
	if s.root != "" {
		asked = strings.ReplaceAll(asked, s.root, "")
	}
	lines := []string{s.note(markCall + untagged(asked))}
	if body := s.brought(c, d); body != "" {
		lines = append(lines, body)
	}
	return append(lines, s.came(c, d)...)
}

// asked is what a call was to do, on one line.
func (s *scribe) asked(c *historian.Call, d *detail) string {
	brief := func(text string) string { return short(historian.Safe(text), d.call) }
	switch c.Kind {
	case "shell":
		full := stringField(c.Input, "command", "cmd", "script")
		if full != "" && len(full) <= d.call {
			return "shell " + historian.Safe(full)
		}
		text := "shell " + brief(c.Command)
		if more := s.fresh(full, d.names/2); more != "" {
			text += " (names: " + more + ")"
		}
		return text
	case "read":
		text := "read " + historian.Safe(c.Path)
		if c.From > 0 && c.To > 0 {
			text += fmt.Sprintf(":%d-%d", c.From, c.To)
		} else if c.From > 0 {
			text += fmt.Sprintf(":%d-", c.From)
		}
		return text
	case "edit", "write", "patch":
		return c.Kind + " " + changed(c)
	case "look":
		text := brief(c.Tool + " " + c.Pattern)
		if c.Path != "" {
			text += " in " + historian.Safe(c.Path)
		}
		return text
	case "fetch":
		return "fetch " + brief(c.Pattern)
	case "task":
		whole := stringField(c.Input, "prompt")
		return "task " + short(historian.Safe(c.Task+" "+whole), d.task)
	case "ask":
		var parts []string
		for _, a := range c.Answers {
			parts = append(parts, brief(a.Question))
		}
		return "asked the user: " + strings.Join(parts, " / ")
	}
	return historian.Safe(c.Tool) + " " + short(historian.Safe(strings.Join(stringsIn(c.Input), " ")), d.call)
}

// short cuts a line, and says that it did where there is no place to cut.
func short(text string, most int) string {
	text = strings.TrimSpace(text)
	if t := historian.Shorten(text, most); t != "" || text == "" {
		return t
	}
	return fmt.Sprintf("(%d characters)", len(text))
}

func changed(c *historian.Call) string {
	var parts []string
	for _, g := range c.Changes[:min(len(c.Changes), 12)] {
		p := historian.Safe(g.Path)
		switch {
		case g.Deleted:
			p += " (removed)"
		case g.Moved != "":
			p += " (moved to " + historian.Safe(g.Moved) + ")"
		case g.Created:
			p += fmt.Sprintf(" (new, +%d)", g.Added)
		default:
			p += fmt.Sprintf(" (+%d/-%d)", g.Added, g.Removed)
		}
		parts = append(parts, p)
	}
	if len(parts) == 0 {
		return historian.Safe(c.Path)
	}
	return strings.Join(parts, ", ")
}

// brought shows what an edit brings: its first lines, and the names in the rest.
func (s *scribe) brought(c *historian.Call, d *detail) string {
	if c.Kind != "edit" && c.Kind != "write" && c.Kind != "patch" {
		return ""
	}
	old := stringField(c.Input, "oldString", "old_string", "old_str", "oldText")
	text := stringField(c.Input, "newString", "new_string", "new_str", "newText", "content", "file_text", "patchText", "patch", "input")
	came, gone := historian.Lines(head(text, 4000)), historian.Lines(head(old, 4000))
	if c.Kind == "patch" {
		came, gone = patched(came)
	} else {
		came, gone = differing(came, gone), differing(gone, came)
	}
	line := ""
	if d.body > 0 && len(came) > 0 {
		line = s.note(margin + "with: " + untagged(short(strings.Join(trimmed(came), " ¦ "), d.body)))
	}
	if names := s.fresh(strings.Join(came, "\n")+"\n"+strings.Join(gone, "\n"), d.names/2); names != "" {
		if line == "" {
			line = margin + "with:"
		}
		line += " (names: " + names + ")"
	}
	return line
}

// patched are the lines that a patch adds and takes away.
func patched(lines []string) (came, gone []string) {
	for _, l := range lines {
		t := strings.TrimSpace(l)
		switch {
		case strings.HasPrefix(t, "+++"), strings.HasPrefix(t, "---"), len(t) < 2:
		case t[0] == '+':
			came = append(came, t[1:])
		case t[0] == '-':
			gone = append(gone, t[1:])
		}
	}
	return came, gone
}

func trimmed(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = strings.TrimSpace(l)
	}
	return out
}

// differing lists the lines of a that b lacks.
func differing(a, b []string) []string {
	has := map[string]bool{}
	for _, l := range b {
		has[strings.TrimSpace(l)] = true
	}
	var out []string
	for _, l := range a {
		if !has[strings.TrimSpace(l)] {
			out = append(out, l)
		}
	}
	return out
}

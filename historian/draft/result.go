package draft

import (
	"fmt"
	"strings"

	"ctxplugin/historian"
)

// came is how a call ended and what its result says.
func (s *scribe) came(c *historian.Call, d *detail) []string {
	switch {
	case c.Open:
		return []string{markResult + "no result"}
	case c.Refused:
		return []string{s.note(markFailed + "not permitted: " + untagged(short(historian.Safe(head(c.Output, 600)), d.failed)))}
	case c.Stopped:
		return []string{markFailed + "stopped by the user"}
	case c.Kind == "ask":
		var parts []string
		for _, a := range c.Answers {
			if a.Reply != "" {
				parts = append(parts, `"`+historian.Safe(a.Reply)+`"`)
			}
		}
		return []string{s.note(markResult + "the user answered: " + untagged(strings.Join(parts, " / ")))}
	case c.Kind == "task" && !c.Failed:
		return append([]string{markResult + "its report:"}, s.prose(c.Result, d.task, d.quoted, d)...)
	}
	lines := strings.Count(strings.TrimRight(c.Output, "\n"), "\n") + 1
	if strings.TrimSpace(c.Output) == "" {
		lines = 0
	}
	mark, text := markResult, ""
	if c.Failed {
		mark = markFailed
		if c.HasExit && c.Exit != 0 {
			text = fmt.Sprintf("exit %d, ", c.Exit)
		}
	}
	text += fmt.Sprintf("%d lines", lines)
	if lines == 1 {
		text = strings.TrimSuffix(text, "s")
	}
	said := ""
	switch {
	case c.Failed:
		said = untagged(short(historian.Safe(c.Error), d.failed))
	case c.Fault != "":
		said = "language server: " + untagged(short(historian.Safe(c.Fault), d.failed))
	case c.Summary != "":
		said = untagged(short(historian.Safe(c.Summary), d.result))
	case c.Kind == "shell" && d.result > 0:
		said = untagged(short(historian.Safe(strings.Join(clip(distinct(historian.Lines(head(c.Output, 4000))), d.result), " ¦ ")), d.result+40))
	case c.Kind == "other" && d.result > 0:
		said = untagged(short(historian.Safe(head(c.Output, 4000)), d.result))
	}
	if said != "" {
		text += ": " + said
		s.note(said)
	}
	if c.Kind != "edit" && c.Kind != "write" {
		if names := s.fresh(c.Output, d.names); names != "" {
			text += "; names: " + names
		}
	}
	return []string{mark + text}
}

// distinct drops lines that were there before.
func distinct(lines []string) []string {
	seen := map[string]bool{}
	out := lines[:0:0]
	for _, l := range lines {
		if k := strings.TrimSpace(l); !seen[k] {
			seen[k] = true
			out = append(out, k)
		}
	}
	return out
}

// todos shows a list of things to do when it changed, what is left of it first.
func (s *scribe) todos(c *historian.Call, d *detail) []string {
	var left []string
	done := 0
	for _, t := range c.Todos {
		switch t.Status {
		case "completed", "done", "cancelled":
			done++
		default:
			left = append(left, short(historian.Safe(t.Text), 100))
		}
	}
	text := fmt.Sprintf("to do (%d done): %s", done, strings.Join(left[:min(len(left), d.todos)], "; "))
	if len(left) > d.todos {
		text += fmt.Sprintf(" and %d more", len(left)-d.todos)
	}
	if len(c.Todos) == 0 || text == s.todo {
		return nil
	}
	s.todo = text
	return []string{s.note(markCall + untagged(text))}
}

package draft

import (
	"fmt"
	"slices"
	"strings"

	"ctxplugin/historian"
)

// person writes what a person said: all of it where it is short; else the words
// that were typed, and of what was pasted its beginning.
func (s *scribe) person(place int, d *detail) []string {
	all := s.x.Words(place)
	text := all
	if len(all) > d.person/3 {
		if own := s.x.Own(place); own != "" {
			text = own
		}
	}
	lines := s.prose(text, d.person, d.code, d)
	if len(text) < len(all) {
		pasted := without(historian.Lines(all), lines)
		shown := pasted[:min(len(pasted), d.code)]
		lines = append(lines, fmt.Sprintf("%spasted, %d lines:", markNote, len(pasted)))
		lines = append(lines, s.indent(clip(shown, d.person/4))...)
		if more := s.fresh(strings.Join(pasted[len(shown):], "\n"), d.names); more != "" {
			lines = append(lines, markNote+"further on: "+more)
		}
	}
	for _, f := range s.x.Attached(place) {
		if f = historian.Safe(f); f != "" {
			lines = append(lines, s.note(markNote+"attached "+f))
		}
	}
	if s.x.Interrupted(place) {
		lines = append(lines, markNote+"stopped the turn before")
	}
	return lines
}

// without lists the lines of all that are not in shown.
func without(all, shown []string) []string {
	has := map[string]bool{}
	for _, l := range shown {
		has[strings.TrimSpace(l)] = true
	}
	var out []string
	for _, l := range all {
		if !has[strings.TrimSpace(l)] {
			out = append(out, l)
		}
	}
	return out
}

// prose writes a text of at most so many characters: its beginning and its end,
// fenced code shortened to so many lines.
func (s *scribe) prose(text string, most, code int, d *detail) []string {
	if text == "" {
		return nil
	}
	var lines, left []string
	for i, block := range strings.Split(strings.ReplaceAll(text, "~~~", "```"), "```") {
		block := historian.Lines(block)
		if i%2 == 0 || len(block) <= code+2 {
			lines = append(lines, block...)
			continue
		}
		lines = append(lines, block[:code]...)
		lines = append(lines, fmt.Sprintf("(%d more lines of code)", len(block)-code))
		left = append(left, block[code:]...)
	}
	shown, out := lines, []string{}
	if size(lines) > most {
		head := clip(lines, most*3/5)
		tail := clipEnd(lines[len(head):], most*2/5)
		between := lines[len(head) : len(lines)-len(tail)]
		left = append(left, between...)
		if len(between) > 0 {
			head = append(slices.Clone(head), fmt.Sprintf("(%d lines, %d characters left out)", len(between), size(between)))
		}
		shown = append(slices.Clone(head), tail...)
	}
	out = append(out, s.indent(shown)...)
	if more := s.fresh(strings.Join(left, "\n"), d.names); more != "" {
		out = append(out, markNote+"in what is left out: "+more)
	}
	return out
}

func size(lines []string) int {
	n := 0
	for _, l := range lines {
		n += len(l) + 1
	}
	return n
}

// clip takes the first lines of a text up to so many characters; the first one is
// cut at a blank.
func clip(lines []string, most int) []string {
	n := 0
	for i, l := range lines {
		if n += len(l) + 1; n > most {
			if i > 0 {
				return lines[:i]
			}
			if short := historian.Shorten(l, most); short != "" {
				return []string{short}
			}
			return []string{fmt.Sprintf("(one line of %d characters)", len(l))}
		}
	}
	return lines
}

func clipEnd(lines []string, most int) []string {
	n := 0
	for i := len(lines) - 1; i >= 0; i-- {
		if n += len(lines[i]) + 1; n > most {
			return lines[i+1:]
		}
	}
	return lines
}

// indent puts the margin before lines of the transcript.
func (s *scribe) indent(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = s.note(margin + untagged(l))
	}
	return out
}

package historian_test

import (
	"strings"

	"ctxplugin/compartments"
)

// ownWords are the words of a person in a message: no text of the host, no
// closed blocks that machines write.
func ownWords(m *compartments.Message) string {
	if !m.RealUser() {
		return ""
	}
	var words []string
	for _, p := range m.Parts {
		if p.Kind == compartments.PartText && !p.Synthetic && !p.Ignored {
			words = append(words, withoutBlocks(p.Text))
		}
	}
	return strings.TrimSpace(strings.Join(words, "\n"))
}

func withoutBlocks(text string) string {
	for _, tag := range []string{"system-reminder", "ide_opened_file", "ide_selection", "local-command-caveat", "local-command-stdout", "task-notification",
		"command-message", "environment_context"} {
		for {
			from := strings.Index(text, "<"+tag+">")
			if from < 0 {
				break
			}
			to := strings.LastIndex(text, "</"+tag+">")
			if to < from {
				text = text[:from]
				break
			}
			text = text[:from] + text[to+len(tag)+3:]
		}
	}
	return text
}

// usersAndFinals is the simplest record there is: what people said, and what the
// model said last in each turn, in order.
func usersAndFinals(ms []compartments.Message) string {
	var said []string
	final := ""
	flush := func() {
		if final != "" {
			said = append(said, final)
		}
		final = ""
	}
	for i := range ms {
		m := &ms[i]
		if m.Role == compartments.RoleUser {
			if words := ownWords(m); words != "" {
				flush()
				said = append(said, words)
			}
			continue
		}
		for _, p := range m.Parts {
			switch p.Kind {
			case compartments.PartText:
				if !p.Synthetic && strings.TrimSpace(p.Text) != "" {
					final = strings.TrimSpace(p.Text)
				}
			case compartments.PartTool:
				final = ""
			}
		}
	}
	flush()
	return strings.Join(said, "\n")
}

// headAndTail cuts a text to about n tokens: its first half and its last half.
func headAndTail(text string, n int) string {
	if counter.Count(text) <= n {
		return text
	}
	runes := []rune(text)
	fits := func(k int) bool {
		return counter.Count(string(runes[:k/2]))+counter.Count(string(runes[len(runes)-k/2:])) <= n
	}
	least, most := 0, len(runes)
	for least < most {
		if middle := (least + most + 1) / 2; fits(middle) {
			least = middle
		} else {
			most = middle - 1
		}
	}
	return string(runes[:least/2]) + "\n" + string(runes[len(runes)-least/2:])
}

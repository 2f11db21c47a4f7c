package decay

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"ctxplugin/compartments"
)

// StubTokens is the most tokens that a stub with a preview of that many
// characters takes.
func StubTokens(preview int) int { return 60 + preview/2 }

// Stub is the placeholder of a completed output, or of the text of a message:
// what it was, a preview of at most that many characters, and the exact call
// that returns all of it. It is a pure function of the stored part and its place.
func Stub(p *compartments.Part, ordinal compartments.Ordinal, part, preview int) string {
	var b strings.Builder
	if p.Kind != compartments.PartTool {
		fmt.Fprintf(&b, "[stored text, %d characters; not shown here. The whole: ctx_expand({\"message\": %d, \"part\": %d})]",
			utf8.RuneCountInString(p.Text), ordinal, part)
		appendPreview(&b, p.Text, preview)
		return b.String()
	}
	state := "completed"
	if p.Status == compartments.StatusError {
		state = "failed"
	} else if p.HasExit {
		state = fmt.Sprintf("exit %d", p.ExitCode)
	}
	fmt.Fprintf(&b, "[stored output of %s, %s, %d characters; not shown here. The whole: ctx_expand({\"message\": %d, \"part\": %d})]",
		oneLine(p.Tool, 40), state, utf8.RuneCountInString(p.Output), ordinal, part)
	appendPreview(&b, p.Output, preview)
	return b.String()
}

func appendPreview(b *strings.Builder, text string, most int) {
	if head := clipRunes(text, most); head != "" {
		b.WriteString("\nIt begins:\n")
		b.WriteString(head)
	}
}

func oneLine(s string, most int) string {
	return clipRunes(strings.Join(strings.Fields(s), " "), most)
}

// clipRunes returns at most that many runes, cut at a line's end if one stands in
// the second half, and as valid UTF-8.
func clipRunes(s string, most int) string {
	if most <= 0 {
		return ""
	}
	n, end := 0, len(s)
	for i := range s {
		if n == most {
			end = i
			break
		}
		n++
	}
	cut := s[:end]
	if end < len(s) {
		if i := strings.LastIndexByte(cut, '\n'); i > len(cut)/2 {
			cut = cut[:i]
		}
	}
	return strings.ToValidUTF8(cut, "\uFFFD")
}

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

// PreviewOf takes from a part what its stub says, with that many characters of
// its beginning and one more, which tells where a shorter preview ends.
func PreviewOf(p *compartments.Part, characters int) *compartments.Preview {
	if p.Kind != compartments.PartTool {
		return &compartments.Preview{Runes: utf8.RuneCountInString(p.Text), Begin: begin(p.Text, characters+1)}
	}
	state := "completed"
	if p.Status == compartments.StatusError {
		state = "failed"
	} else if p.HasExit {
		state = fmt.Sprintf("exit %d", p.ExitCode)
	}
	return &compartments.Preview{Result: true, Tool: oneLine(p.Tool, 40), State: state, Media: p.Media,
		Runes: utf8.RuneCountInString(p.Output), Begin: begin(p.Output, characters+1)}
}

// begin is the first characters of a text, in memory of its own.
func begin(s string, characters int) string {
	n := 0
	for i := range s {
		if n == characters {
			return strings.Clone(s[:i])
		}
		n++
	}
	return strings.Clone(s)
}

// Stub is the placeholder of a completed output, or of the text of a message:
// what it was, a preview of at most that many characters, and the exact call
// that returns all of it. It is a pure function of what is stored of the part and
// of its place.
func Stub(p *compartments.Preview, ordinal compartments.Ordinal, part, preview int) string {
	var b strings.Builder
	if p.Result {
		fmt.Fprintf(&b, "[stored output of %s, %s, %d characters%s; not shown here.", p.Tool, p.State, p.Runes, files(p.Media))
	} else {
		fmt.Fprintf(&b, "[stored text, %d characters; not shown here.", p.Runes)
	}
	fmt.Fprintf(&b, " The whole: ctx_expand({\"message\": %d, \"part\": %d})]", ordinal, part)
	appendPreview(&b, p.Begin, preview)
	return b.String()
}

func files(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return " and a file"
	}
	return fmt.Sprintf(" and %d files", n)
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

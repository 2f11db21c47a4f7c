package historian

import (
	"strings"
	"unicode/utf8"
)

// safe makes a piece of transcript fit to stand in a tier: one line, no secret,
// no tag that a model could take for one of its host, no fence, no mention that a
// host expands, no invisible characters. What cannot be mistaken stays as it is, so
// that a name or a command can be found again by its letters.
func safe(s string) string {
	if !suspicious(s) {
		return fold(mask(fold(s)))
	}
	// Invisible characters first, so that none can hide a secret or a tag; masked
	// last, because taking signs away may join what was apart.
	return fold(mask(neutral(fold(mask(visible(s))))))
}

// visible drops characters that are not seen, and bytes that are none.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if hidden(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
}

// suspicious is the cheap test for neutral: bytes that it may have to change.
func suspicious(s string) bool {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '<' || c == '&' || c == '@' || c == 0x7f || c < ' ' && c != '\n' && c != '\t' && c != '\r':
			return true
		case c == '`':
			if strings.HasPrefix(s[i:], "```") {
				return true
			}
		case c == '~':
			if strings.HasPrefix(s[i:], "~~~") {
				return true
			}
		case c == 0xd8 && i+1 < len(s) && s[i+1] == 0x9c: // the Arabic letter mark
			return true
		case c == 0xe2 || c == 0xef || c == 0xe3 || c == 0xf3 || c == 0xc2:
			return true
		}
	}
	return !utf8.ValidString(s)
}

func neutral(s string) string {
	runes := []rune(s)
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		rest := runes[i+1:]
		switch {
		case angle(r) && tagLike(runes[:i], rest):
			b.WriteRune('‹')
		case r == '&':
			if opens, n := entity(runes[:i], rest); n > 0 {
				b.WriteString(opens)
				i += n
				continue
			}
			b.WriteRune(r)
		case r == '@' && mentions(runes[:i], rest):
			// the name stays, the sign that makes a host expand it goes
		case (r == '`' || r == '~') && len(rest) > 1 && rest[0] == r && rest[1] == r:
			for i+1 < len(runes) && runes[i+1] == r {
				i++
			}
			if r == '`' {
				b.WriteRune(r)
			}
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// hidden reports characters that change how text is read without being seen.
func hidden(r rune) bool {
	switch {
	case r < ' ' && r != '\t' && r != '\n', r == 0x7f, r >= 0x80 && r < 0xa0, r == 0xad:
		return true
	case r == 0x200b, r == 0x200e, r == 0x200f, r == 0x61c, r >= 0x202a && r <= 0x202e:
		return true
	case r >= 0x2060 && r <= 0x206f, r == 0xfeff, r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return false
}

func angle(r rune) bool {
	return r == '<' || r == '＜' || r == '﹤' || r == '〈' || r == '⟨'
}

// tagLike reports whether what follows an angle bracket reads as a tag by which a
// host or a provider tells a model who speaks, or as the end of some frame. Types,
// placeholders, markup and comparisons do not.
func tagLike(before, rest []rune) bool {
	apart := false
	skip := func() {
		for len(rest) > 0 && (rest[0] == ' ' || rest[0] == 0x200c || rest[0] == 0x200d) {
			apart = apart || rest[0] == ' '
			rest = rest[1:]
		}
	}
	skip()
	ends := false
	if len(rest) > 0 && (rest[0] == '/' || rest[0] == '／') {
		ends, rest = true, rest[1:]
		skip()
	}
	if len(rest) == 0 {
		return false
	}
	if rest[0] == '|' || rest[0] == '｜' { // a token of a chat template
		return len(rest) > 1 && (latin(narrow(rest[1])) || rest[1] >= 0x2580 && rest[1] < 0x25a0)
	}
	name := tagName(rest)
	switch {
	case name == "":
		return false
	case ends:
		return instructs(strings.ToLower(name)) || speaks(strings.ToLower(name)) || !htmlTags[strings.ToLower(name)] && !capital(name)
	case apart && !closes(rest):
		return false // a comparison
	case instructs(strings.ToLower(name)):
		return true
	}
	return speaks(strings.ToLower(name)) && (len(before) == 0 || !inWord(before[len(before)-1]))
}

// tagName is the name with which a tag begins, full-width letters made narrow and
// what is not seen left out.
func tagName(rest []rune) string {
	var b strings.Builder
	for _, r := range rest {
		if r == 0x200c || r == 0x200d {
			continue
		}
		if r = narrow(r); !latin(r) && !strings.ContainsRune("-:.", r) || b.Len() > 60 {
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}

// narrow makes a full-width letter an ordinary one.
func narrow(r rune) rune {
	if r >= '！' && r <= '～' {
		return r - '！' + '!'
	}
	return r
}

func capital(name string) bool { return name[0] >= 'A' && name[0] <= 'Z' }

// inWord reports whether a bracket behind r stands inside a word or a path, as
// the one of a placeholder does.
func inWord(r rune) bool { return latin(r) || strings.ContainsRune("/\\.-=:$@", r) }

// instructs reports names of tags with which hosts and providers put instructions,
// calls and results into a transcript.
func instructs(name string) bool {
	if at := strings.LastIndexByte(name, ':'); at >= 0 && at+1 < len(name) {
		name = name[at+1:] // without its name space
	}
	switch name {
	case "function_calls", "function_call", "function_results", "function_result", "invoke", "tool_call", "tool_calls", "tool_use", "tool_result", "tool_results", "tool_response", "tool_output",
		"thinking", "think", "system_prompt", "system-prompt", "instruction", "system_message", "system-message", "user_message", "assistant_message", "session-record", "session_record":
		return true
	}
	return name != "important" && name != "permissions" && machineTag(name)
}

// speaks reports names of tags that say who speaks.
func speaks(name string) bool {
	switch name {
	case "system", "user", "assistant", "human", "developer":
		return true
	}
	return false
}

// closes reports whether a name is followed by nothing but attributes up to a
// closing angle bracket.
func closes(rest []rune) bool {
	for _, r := range rest[:min(len(rest), 60)] {
		switch {
		case r == '>' || r == '＞':
			return true
		case latin(r), strings.ContainsRune(` -_:./="'`, r), r == 0x200c, r == 0x200d:
		default:
			return false
		}
	}
	return false
}

func latin(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_'
}

// entity recognises an escaped angle bracket in front of what would be a tag, and
// returns what replaces it, and how many runes it took.
func entity(before, rest []rune) (string, int) {
	sign, n := escaped(rest)
	if n == 0 || sign != '<' || !tagLike(before, rest[n:]) {
		return "", 0
	}
	return "‹", n
}

// escaped reads an escaped angle bracket behind its &, however often it is escaped.
func escaped(rest []rune) (sign rune, n int) {
	s := strings.ToLower(string(rest[:min(len(rest), 12)]))
	for strings.HasPrefix(s, "amp;") {
		n += 4
		s = strings.ToLower(string(rest[n:min(len(rest), n+12)]))
		if n > 400 {
			return 0, 0
		}
	}
	if strings.HasPrefix(s, "lt;") {
		return '<', n + 3
	}
	if !strings.HasPrefix(s, "#") {
		return 0, 0
	}
	end := strings.IndexByte(s, ';')
	if end < 0 {
		return 0, 0
	}
	switch strings.TrimLeft(strings.TrimPrefix(s[1:end], "x"), "0") {
	case "60", "3c":
		return '<', n + end + 1
	}
	return 0, 0
}

// mentions reports whether an @ here is one that a host would expand into a file
// or an agent: at the start of a word and followed by a name.
func mentions(before, rest []rune) bool {
	if len(rest) == 0 || !latin(rest[0]) && rest[0] != '.' && rest[0] != '/' && rest[0] != '~' {
		return false
	}
	word, _, _ := strings.Cut(string(rest[:min(len(rest), 60)]), " ")
	if strings.Contains(word, "://") || packageName(word) {
		return false // an address in somebody's own scheme, or a package
	}
	if len(before) == 0 {
		return true
	}
	switch before[len(before)-1] {
	case ' ', '(', '[', '{', '"', '\'', ',', ';', ':', '“', '「', '（', '，', '、', '。':
		return true
	}
	return wide(before[len(before)-1])
}

// packageName reports the name of a package with its scope, behind the sign:
// "scope/name", with or without a version. What could be a file is none.
func packageName(word string) bool {
	word = strings.TrimRight(word, "`'\")]},;:.")
	scope, name, ok := strings.Cut(word, "/")
	name, _, versioned := strings.Cut(name, "@")
	if !ok || scope == "" || name == "" || fileLike(name) && !versioned {
		return false
	}
	for _, r := range scope + name {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.' {
			return false
		}
	}
	return true
}

package historian

import (
	"strings"
	"unicode/utf8"
)

// safe makes a piece of transcript fit to stand in a tier: one line, no secret,
// no tag or entity that could close a frame, no fence, no mention that a host
// expands, no invisible characters.
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
			if opens, n := entity(rest); n > 0 {
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
	case r == 0x200b, r == 0x200e, r == 0x200f, r >= 0x202a && r <= 0x202e:
		return true
	case r >= 0x2060 && r <= 0x206f, r == 0xfeff, r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return false
}

func angle(r rune) bool {
	return r == '<' || r == '＜' || r == '﹤' || r == '〈' || r == '⟨'
}

// tagLike reports whether what follows an angle bracket reads as a tag. A type
// argument such as List<String> directly behind a word does not.
func tagLike(before, rest []rune) bool {
	apart := false
	for len(rest) > 0 && (rest[0] == ' ' || rest[0] == 0x200c || rest[0] == 0x200d) {
		apart = apart || rest[0] == ' '
		rest = rest[1:]
	}
	if len(rest) == 0 {
		return false
	}
	if rest[0] == '/' || rest[0] == '／' || rest[0] == '!' || rest[0] == '?' {
		return true
	}
	if !latin(rest[0]) && !(rest[0] >= 'Ａ' && rest[0] <= 'ｚ') {
		return false
	}
	if apart { // a comparison, unless it closes like a tag
		return closes(rest)
	}
	if len(before) > 0 && latin(before[len(before)-1]) {
		if rest[0] >= 'A' && rest[0] <= 'Z' {
			return false
		}
		for _, primitive := range [...]string{"string", "number", "int", "bool", "byte", "void", "any", "unknown", "u8", "char", "float", "double"} {
			if strings.HasPrefix(string(rest[:min(len(rest), 8)]), primitive) {
				return false
			}
		}
	}
	return true
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

// entity recognises an escaped angle bracket and returns what replaces it, and
// how many runes it took.
func entity(rest []rune) (string, int) {
	s := strings.ToLower(string(rest[:min(len(rest), 12)]))
	if strings.HasPrefix(s, "amp;") {
		inner, n := entity([]rune(s[4:]))
		if n == 0 {
			return "", 0
		}
		return inner, n + 4
	}
	if strings.HasPrefix(s, "lt;") {
		return "‹", 3
	}
	if strings.HasPrefix(s, "gt;") {
		return "›", 3
	}
	if !strings.HasPrefix(s, "#") {
		return "", 0
	}
	end := strings.IndexByte(s, ';')
	if end < 0 {
		return "", 0
	}
	switch strings.TrimLeft(strings.TrimPrefix(s[1:end], "x"), "0") {
	case "60", "3c":
		return "‹", end + 1
	case "62", "3e":
		return "›", end + 1
	}
	return "", 0
}

// mentions reports whether an @ here is one that a host would expand into a file
// or an agent: at the start of a word and followed by a name.
func mentions(before, rest []rune) bool {
	if len(rest) == 0 || !latin(rest[0]) && rest[0] != '.' && rest[0] != '/' && rest[0] != '~' {
		return false
	}
	word, _, _ := strings.Cut(string(rest[:min(len(rest), 60)]), " ")
	if strings.Contains(word, "://") {
		return false // an address in somebody's own scheme
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

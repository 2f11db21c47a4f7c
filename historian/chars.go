package historian

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// wide reports whether r belongs to a script that writes without spaces or packs
// a word into very few characters; such a rune says about as much as three
// Latin letters.
func wide(r rune) bool {
	return r >= 0x1100 && (r <= 0x11ff || // Hangul
		r >= 0x2e80 && r <= 0x9fff || // radicals, kana, CJK
		r >= 0xa960 && r <= 0xa97f || r >= 0xac00 && r <= 0xd7ff ||
		r >= 0xf900 && r <= 0xfaff || r >= 0xff01 && r <= 0xffdc || // full-width forms
		r >= 0x20000 && r <= 0x3ffff)
}

// width counts letters and digits, a wide one as three: how much a text says.
func width(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			if classes[r]&classWord != 0 {
				n++
			}
		case wide(r):
			n += 3
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			n++
		}
	}
	return n
}

// extent is the room a text takes: every character, a wide one as three.
func extent(s string) int {
	n := 0
	for _, r := range s {
		if wide(r) {
			n += 2
		}
		n++
	}
	return n
}

// fold collapses every run of white space into one blank and trims the ends.
func fold(s string) string {
	clean := true
	last := byte(' ')
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '\n' || c == '\t' || c == '\r' || c == '\v' || c == '\f' || (c == ' ' && last == ' ') || c >= utf8.RuneSelf {
			clean = false
			break
		}
		last = c
	}
	if clean && last != ' ' {
		return s
	}
	return strings.Join(strings.Fields(s), " ")
}

// letters folds a text to its first n letters and digits in lower case: what two
// lines that say the same thing have in common.
func letters(s string, n int) string {
	var b strings.Builder
	for _, r := range s {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			b.WriteRune(unicode.ToLower(r))
			if n--; n == 0 {
				break
			}
		}
	}
	return b.String()
}

// plain normalises a text for line rules: CR LF and lone CR, escape sequences,
// control characters. A lone CR overwrites the line, so only what follows the
// last one is kept.
func plain(s string) string {
	dirty := false
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
			dirty = true
			break
		}
	}
	if !dirty {
		return s
	}
	out := make([]byte, 0, len(s))
	lineStart := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\n':
			out = append(out, c)
			lineStart = len(out)
		case c == '\r':
			if i+1 < len(s) && s[i+1] != '\n' && s[i+1] != '\r' {
				out = out[:lineStart]
			}
		case c == 0x1b:
			i = skipEscape(s, i)
		case c == '\t' || c >= ' ' && c != 0x7f:
			out = append(out, c)
		}
	}
	return string(out)
}

// skipEscape returns the index of the last byte of the escape sequence at i.
func skipEscape(s string, i int) int {
	if i+1 >= len(s) {
		return i
	}
	switch s[i+1] {
	case '[':
		for j := i + 2; j < len(s) && j < i+40; j++ {
			if s[j] >= 0x40 && s[j] <= 0x7e {
				return j
			}
		}
		return i + 1
	case ']':
		for j := i + 2; j < len(s) && j < i+400; j++ {
			if s[j] == 0x07 {
				return j
			}
			if s[j] == 0x1b && j+1 < len(s) && s[j+1] == '\\' {
				return j + 1
			}
		}
		return i + 1
	}
	return i + 1
}

// shorten cuts a text to at most limit of extent, at a blank or between two wide
// characters, never inside a word or inside backticks, because half a name is a
// new name. It returns "" when the text has no such place.
func shorten(s string, limit int) string {
	if extent(s) <= limit {
		return s
	}
	n, cut, ticks := 0, 0, 0
	var before rune
	for i, r := range s {
		if n > limit {
			break
		}
		if ticks%2 == 0 && i > 0 && (r == ' ' || wide(r) && wide(before)) {
			cut = i
		}
		if r == '`' {
			ticks++
		}
		n++
		if wide(r) {
			n += 2
		}
		before = r
	}
	out := strings.TrimRight(s[:cut], " ,;:-–—(&|+")
	if out == "" || strings.HasSuffix(out, "…") {
		return out
	}
	return out + " …"
}

// estimate is a linear guess at the tokens of a text, reading at most limit
// bytes of it: 0.27 a byte of ASCII, 1.02 any other character.
func estimate(s string, limit int) int {
	if len(s) > limit {
		s = s[:limit]
	}
	ascii, other := 0, 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c < utf8.RuneSelf:
			ascii++
		case c >= 0xc0:
			other++
		}
	}
	return (27*ascii + 102*other + 99) / 100
}

// hasAny reports whether s contains one of the phrases.
func hasAny(s string, phrases []string) bool {
	for _, p := range phrases {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}

// head returns at most n bytes of s, on a character border.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// tailOf returns at most the last n bytes of s, on a character border.
func tailOf(s string, n int) string {
	if len(s) <= n {
		return s
	}
	i := len(s) - n
	for i < len(s) && !utf8.RuneStart(s[i]) {
		i++
	}
	return s[i:]
}

// nearPaths shortens long absolute paths in a command or an error to their last
// two parts, which is what the rest of a tier calls a file by.
func nearPaths(s string) string {
	if strings.Count(s, "/")+strings.Count(s, `\`) < 4 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		c := s[i]
		rooted := c == '/' || c == '~' && i+1 < len(s) && s[i+1] == '/' || i+2 < len(s) && 'a' <= c|0x20 && c|0x20 <= 'z' && s[i+1] == ':' && s[i+2] == '\\'
		if !rooted || i > 0 && (classes[s[i-1]]&className != 0 || s[i-1] >= 0x80) {
			b.WriteByte(c)
			i++
			continue
		}
		start := i
		for i < len(s) && (classes[s[i]]&className != 0 && s[i] != ':' || s[i] == ':' && i == start+1) {
			i++
		}
		path := s[start:i]
		if n := strings.Count(path, "/") + strings.Count(path, `\`); n < 4 || len(path) < 32 {
			b.WriteString(path)
			continue
		}
		tail := ""
		for path[len(path)-1] == '.' {
			path, tail = path[:len(path)-1], tail+"."
		}
		b.WriteString(lastTwo(path) + tail)
	}
	return b.String()
}

// baseNames cuts every path in a command to its last part.
func baseNames(s string) string {
	words := strings.Split(s, " ")
	for i, w := range words {
		if at := strings.LastIndexAny(w, "/\\"); at >= 0 && at+1 < len(w) && !strings.Contains(w, "://") && !strings.ContainsAny(w, "\"'|{}*") {
			words[i] = w[at+1:]
		}
	}
	return strings.Join(words, " ")
}

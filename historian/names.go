package historian

import (
	"strings"
)

// Character classes of one byte.
const (
	classWord   = 1 << iota // ASCII letters and digits
	className               // may stand inside an identifier
	classSecret             // may stand inside a secret
)

// classes has the classes of every byte. Two-byte letters (Latin with marks,
// Greek, Cyrillic, Hebrew, Arabic) count as parts of names; three-byte scripts
// end one, because they are written against it without a blank.
var classes = func() (t [256]uint8) {
	for c := range 256 {
		switch {
		case c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			t[c] = classWord | className | classSecret
		case strings.IndexByte("_-./\\:@#~$", byte(c)) >= 0:
			t[c] = className | classSecret
		case strings.IndexByte("+=%?&!*^,", byte(c)) >= 0:
			t[c] = classSecret
		case c >= 0xc3 && c <= 0xdf || c >= 0x80 && c < 0xc0:
			t[c] = className
		}
	}
	return t
}()

// kind says what an identifier looks like.
type kind uint8

const (
	kindNone kind = iota
	kindPath
	kindSymbol
	kindCommit
	kindEnv // all upper case with an underscore
	kindCode
	kindPort
	kindURL
	kindVersion
	kindNumber
	kindIssue
	kindWord // plain word in backticks
	kindFlag // option of a command
)

// source says where a name stood; the numbers are its weights for ranking.
type source uint8

const (
	fromEditBody  source = 0
	fromOutput    source = 1
	fromError     source = 3
	fromNarration source = 4
	fromRead      source = 4
	fromCommand   source = 5
	fromFinal     source = 6
	fromUser      source = 7
	fromEdit      source = 8
)

// scanNames calls found for each identifier of s, in order. It reads every byte
// once.
func scanNames(s string, found func(name string, k kind)) {
	ticked := -1 // start of the text inside backticks, or -1
	for i := 0; i < len(s); {
		c := s[i]
		if c == '`' {
			if ticked >= 0 {
				inside := s[ticked:i]
				if k := tickedKind(inside); k != kindNone {
					found(inside, k)
				}
				ticked = -1
			} else {
				ticked = i + 1
			}
			i++
			continue
		}
		if c == '\n' {
			ticked = -1
		}
		if classes[c]&className == 0 {
			i++
			if c >= 0xe0 { // skip the rest of a wide character
				for i < len(s) && s[i] >= 0x80 && s[i] < 0xc0 {
					i++
				}
			}
			continue
		}
		if c >= 0x80 && c < 0xc0 { // the rest of a character that is no letter
			i++
			continue
		}
		start := i
		for i < len(s) && classes[s[i]]&className != 0 {
			if s[i] >= 0x80 && s[i] < 0xc0 && s[i-1] < 0x80 {
				break
			}
			i++
		}
		if i == start {
			i++
			continue
		}
		if i-start > 300 {
			continue
		}
		word := trimName(s[start:i])
		if word == "" {
			continue
		}
		if before := s[:start]; strings.HasSuffix(before, "<") || strings.HasSuffix(before, "‹") || strings.HasSuffix(before, "＜") || strings.HasSuffix(before, "&lt;") {
			continue // the name of a tag
		}
		if (word[0] == '/' || word[0] == '.') && start > 0 && tailOnly(s[:start]) {
			continue // what follows a variable, a pattern or a bracket is no path of its own
		}
		k := nameKind(word)
		if k == kindSymbol && s[start] == '-' {
			k = kindFlag
		}
		if k != kindNone {
			found(word, k)
		}
	}
}

// tailOnly reports whether a slash behind before goes on with an expression.
func tailOnly(before string) bool {
	switch before[len(before)-1] {
	case ')', '}', ']', '>', '*', '?', '%', '+':
		return true
	case '"', '\'': // a quotation that ends here, not one that begins
		return len(before) > 1 && strings.IndexByte(" \t\n(=[{,:", before[len(before)-2]) < 0
	}
	return false
}

// trimName cuts the punctuation that belongs to the sentence.
func trimName(w string) string {
	for w != "" {
		switch c := w[len(w)-1]; c {
		case '.', ':', '-', '@', '#', '\\', '~', '$':
			w = w[:len(w)-1]
			continue
		}
		break
	}
	for w != "" {
		switch c := w[0]; c {
		case ':', '\\', '@':
			w = w[1:]
			continue
		case '-':
			if !strings.HasPrefix(w, "--") || len(w) < 4 || classes[w[2]]&classWord == 0 {
				w = w[1:]
				continue
			}
		case '.':
			if !strings.HasPrefix(w, "./") && !strings.HasPrefix(w, "../") && (len(w) < 3 || w[1] == '.') {
				w = w[1:]
				continue
			}
		}
		break
	}
	return w
}

// tickedKind judges text between backticks: a plain word in them is a name.
func tickedKind(w string) kind {
	if len(w) < 3 || len(w) > 60 || strings.ContainsAny(w, " \t\"'") {
		return kindNone
	}
	for i := 0; i < len(w); i++ {
		if classes[w[i]]&(classWord) == 0 && w[i] != '-' {
			return kindNone // scanned as an ordinary run
		}
	}
	if nameKind(w) != kindNone {
		return kindNone
	}
	if w[0] >= '0' && w[0] <= '9' {
		return kindNone
	}
	return kindWord
}

// baseName is what follows the last slash of either kind.
func baseName(p string) string {
	if i := strings.LastIndexAny(p, `/\`); i >= 0 {
		return p[i+1:]
	}
	return p
}

// lastTwo is the end of a path from its last but one slash: enough to find a
// file by, and short.
func lastTwo(p string) string {
	p = strings.TrimRight(p, `/\`)
	i := strings.LastIndexAny(p, `/\`)
	if i <= 0 {
		return p
	}
	if j := strings.LastIndexAny(p[:i], `/\`); j >= 0 {
		p = p[j+1:]
	}
	return strings.TrimPrefix(p, "@")
}

// nameKey is what two spellings of a name have in common: paths by their last
// two parts, everything else as it is.
func nameKey(name string, k kind) string {
	if k == kindPath {
		return strings.TrimPrefix(lastTwo(name), "./")
	}
	return name
}

package decay

import (
	"cmp"
	"slices"
	"strings"
)

// A stub lists names: what is named of a part later is what it was needed for, and
// a reader who finds the name in the stub knows which call opens the rest.
const (
	namesShare   = 8       // names take at most this part of what they stand for, as a divisor
	namesRead    = 256_000 // bytes of the part that are looked through
	nameLeast    = 6       // characters of a name that nothing defines
	nameDefined  = 3       // and of one that something defines
	nameMost     = 80      // characters of any
	namesHeading = "\nNames in it: "
)

// name is one identifier of a text.
type name struct {
	text    string
	at      int // its place among the names of the text
	times   int
	defined bool
}

// appendNames lists identifiers of a text that are not shown yet, in at most that
// many characters and an eighth of the text: those that the text defines before
// others, what stands in it more often before what stands there once, ties to the
// first. They stand in the order of the text. It is a pure function of the text
// and what is shown.
func appendNames(b *strings.Builder, text string, most int) {
	most = min(most, len(text)/namesShare)
	if most <= len(namesHeading) {
		return
	}
	all := namesOf(text[:min(len(text), namesRead)])
	shown := b.String()
	all = slices.DeleteFunc(all, func(n name) bool { return strings.Contains(shown, n.text) })
	slices.SortFunc(all, func(a, b name) int {
		if a.defined != b.defined {
			if a.defined {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(b.times, a.times), cmp.Compare(a.at, b.at))
	})
	room := most - len(namesHeading)
	listed := all[:0]
	for _, n := range all {
		if takes := len(n.text) + len(", "); takes <= room {
			room -= takes
			listed = append(listed, n)
		}
	}
	slices.SortFunc(listed, func(a, b name) int { return cmp.Compare(a.at, b.at) })
	for i, n := range listed {
		b.WriteString([...]string{", ", namesHeading}[1-min(i, 1)])
		b.WriteString(n.text)
	}
}

// namesOf lists the identifiers of a text once each, in order: paths by their last
// two parts, names of files, names that are several words or digits joined as code
// does, and what a keyword defines.
func namesOf(text string) []name {
	var all []name
	known := map[string]int{}
	add := func(text string, defined bool) {
		if len(text) > nameMost {
			return
		}
		i, ok := known[text]
		if !ok {
			i = len(all)
			known[text] = i
			all = append(all, name{text: text, at: i})
		}
		all[i].times++
		all[i].defined = all[i].defined || defined
	}
	before := ""
	for i := 0; i < len(text); {
		if !wordByte(text[i]) {
			i++
			continue
		}
		end := i + 1
		for end < len(text) && wordByte(text[end]) {
			end++
		}
		word := strings.Trim(text[i:end], "./-$")
		defined := defining[before] && len(word) >= nameDefined && (word[0] >= 'A' && word[0] <= 'Z' || opens(text[end:]))
		namesInWord(word, defined, add)
		before, i = word, end
	}
	return all
}

// namesInWord calls add for the identifiers in one word.
func namesInWord(word string, defined bool, add func(name string, defined bool)) {
	if at := strings.LastIndexByte(word, '/'); at >= 0 {
		base := word[at+1:]
		folders := strings.Count(word[:at], "/")
		if len(word) < nameLeast || !fileName(base) && folders < 2 {
			return // "and/or" is no path
		}
		if up := strings.LastIndexByte(word[:at], '/'); up >= 0 {
			word = word[up+1:]
		}
		add(word, false)
		return
	}
	if len(word) >= nameLeast && fileName(word) {
		add(word, false)
		return
	}
	for word != "" {
		end := strings.IndexAny(word, ".-$")
		if end < 0 {
			end = len(word)
		}
		if n := word[:end]; defined && len(n) >= nameDefined && !digits(n) || len(n) >= nameLeast && joined(n) {
			add(n, defined)
		}
		word = strings.TrimLeft(word[end:], ".-$")
	}
}

// defining are words of programming languages behind which a name is defined.
var defining = func() map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields("func function fn def class struct interface enum trait protocol type const let var val module message service table TABLE") {
		out[w] = true
	}
	return out
}()

// opens reports whether a text goes on as it does behind a name that is defined.
func opens(text string) bool {
	text = strings.TrimLeft(text, " ")
	return text != "" && strings.IndexByte("(<{[:=", text[0]) >= 0
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c == '/' || c == '-' || c == '$'
}

// fileName reports whether a word ends as names of files do: in a short ending of
// small letters.
func fileName(word string) bool {
	at := strings.LastIndexByte(word, '.')
	if at < 1 || len(word)-at < 3 || len(word)-at > 6 {
		return false
	}
	for _, c := range []byte(word[at+1:]) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return !digits(word[at+1:])
}

func digits(word string) bool { return strings.Trim(word, "0123456789") == "" }

// joined reports whether a word is several, or letters and digits, joined as code
// does: camelCase, snake_case, TS2345, a71d5e8.
func joined(word string) bool {
	under, hump, letters, numbers := false, false, 0, 0
	for i := 0; i < len(word); i++ {
		switch c := word[i]; {
		case c >= 'a' && c <= 'z':
			letters++
		case c >= 'A' && c <= 'Z':
			letters++
			hump = hump || i > 0 && word[i-1] >= 'a' && word[i-1] <= 'z'
		case c == '_':
			under = under || i > 0 && i < len(word)-1
		default:
			numbers++
		}
	}
	return letters >= 2 && (under || hump || numbers >= 2)
}

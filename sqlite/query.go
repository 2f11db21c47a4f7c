package sqlite

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	queryBytes = 1024 // of a query that are looked at
	queryTerms = 16   // words of a query that are looked at
)

// query is what a search looks for.
type query struct {
	literal string   // as asked, blanks around it cut
	folded  string   // with ASCII letters in lower case
	words   []string // folded
	joined  bool     // has a script without blanks between words, so that only a scan finds them
	needle  string   // folded bytes that the JSON of every literal match contains as they are; may be empty
}

// newQuery reads a query. Nothing in it is syntax.
func newQuery(text string) query {
	text = strings.TrimSpace(strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", " "), ""))
	if len(text) > queryBytes {
		n := queryBytes
		for !utf8.RuneStart(text[n]) {
			n--
		}
		text = text[:n]
	}
	q := query{literal: text, folded: fold(text)}
	for _, word := range strings.FieldsFunc(q.folded, notInWord) {
		if len(q.words) < queryTerms {
			q.words = append(q.words, word)
		}
	}
	for _, r := range text {
		q.joined = q.joined || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Hangul)
	}
	q.needle = needle(q.folded)
	return q
}

// notInWord is how the word index separates words.
func notInWord(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r)
}

// phrase is the query for rows with all words side by side, or the last one
// begun.
func (q *query) phrase() string { return `"` + strings.Join(q.words, " ") + `" *` }

// all is the query for rows with all words anywhere.
func (q *query) all() string { return `"` + strings.Join(q.words, `" AND "`) + `"` }

// needle is the longest run of characters that no JSON writer escapes.
func needle(folded string) string {
	best, from := "", 0
	for i := 0; i <= len(folded); i++ {
		if i < len(folded) && neverEscaped(folded[i]) {
			continue
		}
		if i-from > len(best) {
			best = folded[from:i]
		}
		from = i + 1
	}
	return best
}

func neverEscaped(c byte) bool {
	switch c {
	case '"', '\\', '/', '<', '>', '&', '\'', '+', '=', '`':
		return false
	}
	return c >= ' ' && c < 0x7f
}

// fold turns ASCII letters to lower case and leaves all else, so that offsets
// stay.
func fold(s string) string {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= 'A' && c <= 'Z' {
			return string(foldInto(make([]byte, 0, len(s)), s))
		}
	}
	return s
}

func foldInto[T string | []byte](dst []byte, s T) []byte {
	at := len(dst)
	dst = append(dst, s...)
	for i := at; i < len(dst); i++ {
		if c := dst[i]; c >= 'A' && c <= 'Z' {
			dst[i] = c | 0x20
		}
	}
	return dst
}

// Grades of a match, from worst to best.
const (
	gradeNone   = iota
	gradeWords  // all words, somewhere
	gradePhrase // the literal, in other case
	gradeExact  // the literal
)

// match is the best place at which a text answers a query.
type match struct {
	grade int
	at    int // bytes into the text
	size  int // bytes
	count int // how often the literal, or the rarest word, occurs; at least 1 if there is a match
}

// find looks for the query in text. folded is text with ASCII letters in lower
// case. words says whether scattered whole words count.
func (q *query) find(text, folded string, words bool) match {
	if at := strings.Index(text, q.literal); at >= 0 {
		return match{gradeExact, at, len(q.literal), strings.Count(folded, q.folded)}
	}
	if at := strings.Index(folded, q.folded); at >= 0 {
		return match{gradePhrase, at, len(q.folded), strings.Count(folded, q.folded)}
	}
	if !words || len(q.words) == 0 {
		return match{}
	}
	best := match{grade: gradeWords}
	for _, word := range q.words {
		at := indexWord(folded, word)
		if at < 0 {
			return match{}
		}
		if n := strings.Count(folded, word); best.size == 0 || n < best.count || (n == best.count && len(word) > best.size) {
			best.at, best.size, best.count = at, len(word), n
		}
	}
	return best
}

// indexWord finds a whole word; both are folded.
func indexWord(text, word string) int {
	for from := 0; ; {
		at := strings.Index(text[from:], word)
		if at < 0 {
			return -1
		}
		at += from
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(word):])
		if (at == 0 || notInWord(before)) && (at+len(word) == len(text) || notInWord(after)) {
			return at
		}
		_, size := utf8.DecodeRuneInString(text[at:])
		from = at + size
	}
}

const (
	excerptBytes = 160
	excerptLead  = 56 // bytes before the match
)

// excerpt is one line around the match, at most excerptBytes long, cut on rune
// borders. Blanks and control characters become single blanks.
func excerpt(text string, at, size int) string {
	const mark = "…"
	from := max(0, at-excerptLead)
	to := min(len(text), max(at+size, from+excerptBytes))
	for from > 0 && from < at && !utf8.RuneStart(text[from]) {
		from++
	}
	for to < len(text) && to > at && !utf8.RuneStart(text[to]) {
		to--
	}
	var b strings.Builder
	if from > 0 {
		b.WriteString(mark)
	}
	blank := true
	for i, r := range text[from:to] {
		if unicode.IsSpace(r) || unicode.IsControl(r) || r == utf8.RuneError {
			if !blank && b.Len()+1+len(mark) <= excerptBytes {
				b.WriteByte(' ')
			}
			blank = true
			continue
		}
		if b.Len()+utf8.RuneLen(r)+len(mark) > excerptBytes {
			to = from + i
			break
		}
		b.WriteRune(r)
		blank = false
	}
	line := strings.TrimRight(b.String(), " ")
	if to < len(text) {
		line += mark
	}
	return line
}

// escapedOffset turns an offset in what unquote made of escaped into one in
// escaped.
func escapedOffset(escaped string, at int) int {
	i, done := 0, 0
	for i < len(escaped) && done < at {
		n, size := 1, 1
		if escaped[i] == '\\' && i+1 < len(escaped) {
			if _, ok := shortEscape(escaped[i+1]); ok {
				n = 2
			} else if r, length := unicodeEscape([]byte(escaped[i:min(len(escaped), i+12)])); length > 0 {
				n, size = length, utf8.RuneLen(r)
			}
		}
		i += n
		done += size
	}
	return i
}

package tokens

import (
	"testing"
	"unicode"
)

// TestClasses asks the unicode package about every rune, which is what the
// reference does.
func TestClasses(t *testing.T) {
	table := newClassTable()
	t.Logf("%d distinct pages", len(table.pages))
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r >= 0xD800 && r < 0xE000 {
			continue // surrogates are invalid in UTF-8
		}
		var want class
		if unicode.In(r, unicode.Lu, unicode.Lt, unicode.Lm, unicode.Lo, unicode.M) {
			want |= upper
		}
		if unicode.In(r, unicode.Ll, unicode.Lm, unicode.Lo, unicode.M) {
			want |= lower
		}
		if unicode.IsLetter(r) {
			want |= letter
		}
		if unicode.IsNumber(r) {
			want |= number
		}
		if unicode.IsSpace(r) {
			want |= space
		}
		if r == '\r' || r == '\n' {
			want |= newline
		}
		s := string(r)
		if got, w := table.at(s, 0); got != want || w != len(s) {
			t.Fatalf("%U: class %06b, width %d, want %06b, %d", r, got, w, want, len(s))
		}
	}
}

func TestClassOfInvalid(t *testing.T) {
	table := newClassTable()
	for _, s := range []string{"\x80", "\xff", "\xc0\x80", "\xe0\x80\x80", "\xe1\x80", "\xe1a\x80", "\xe1\x80a", "\xed\xa0\x80", "\xf0\x9f\x98", "\xf5\x80\x80\x80"} {
		if k, w := table.at(s, 0); k != invalid || w != 1 {
			t.Errorf("%q: class %07b, width %d", s, k, w)
		}
	}
}

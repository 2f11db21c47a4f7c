package tokens

import (
	"unicode"
	"unicode/utf8"
)

// class is what the o200k pattern needs to know of a rune, one bit a fact.
type class uint8

const (
	// upper is set for Lu, Lt, Lm, Lo and M: the runes of the first half of a
	// word in the pattern.
	upper class = 1 << iota
	// lower is set for Ll, Lm, Lo and M: the second half of a word.
	lower
	// letter is set for L. Upper or lower without letter is therefore a mark.
	letter
	// number is set for N.
	number
	// space is set for what \s matches, that is for unicode.IsSpace.
	space
	// newline is set for \r and \n, beside space.
	newline
	// invalid is set for a byte that is no part of valid UTF-8. The reference
	// sees U+FFFD there, a symbol, so no other bit is ever set with it.
	invalid
)

// classTable maps runes to classes in two steps: the page of 256 runes, then
// the rune in its page. Equal pages are stored once, so that the table takes
// some 50 KB; unicode.Is would search several lists for each rune.
//
// It is built from the unicode package at load, and not generated, because the
// reference asks that package too: both follow the toolchain's Unicode version.
type classTable struct {
	ascii [utf8.RuneSelf]class
	index [(utf8.MaxRune + 1) >> 8]uint8
	pages [][256]class
}

func newClassTable() *classTable {
	all := make([]class, utf8.MaxRune+1)
	for _, part := range []struct {
		table *unicode.RangeTable
		bits  class
	}{
		{unicode.Lu, upper | letter},
		{unicode.Lt, upper | letter},
		{unicode.Ll, lower | letter},
		{unicode.Lm, upper | lower | letter},
		{unicode.Lo, upper | lower | letter},
		{unicode.M, upper | lower},
		{unicode.N, number},
		{unicode.White_Space, space},
	} {
		for _, r := range part.table.R16 {
			mark(all, rune(r.Lo), rune(r.Hi), rune(r.Stride), part.bits)
		}
		for _, r := range part.table.R32 {
			mark(all, rune(r.Lo), rune(r.Hi), rune(r.Stride), part.bits)
		}
	}
	all['\r'] |= newline
	all['\n'] |= newline

	t := &classTable{}
	copy(t.ascii[:], all)
	seen := make(map[[256]class]uint8)
	for i := range t.index {
		page := [256]class(all[i<<8:])
		at, ok := seen[page]
		if !ok {
			// Unicode has about 140 distinct pages. Should it ever need more
			// than a byte, the conversion below would lie.
			if len(t.pages) > 255 {
				panic("tokens: more than 256 distinct pages of rune classes")
			}
			at = uint8(len(t.pages))
			seen[page] = at
			t.pages = append(t.pages, page)
		}
		t.index[i] = at
	}
	return t
}

func mark(all []class, lo, hi, stride rune, bits class) {
	for r := lo; r <= hi; r += stride {
		all[r] |= bits
	}
}

// at returns the class of the rune that starts at s[i] and its width in bytes.
func (t *classTable) at(s string, i int) (class, int) {
	if b := s[i]; b < utf8.RuneSelf {
		return t.ascii[b], 1
	}
	return t.wide(s, i)
}

// wide is at for a rune beyond ASCII. It decodes three-byte sequences of
// letters itself, as CJK text is made of little else.
func (t *classTable) wide(s string, i int) (class, int) {
	if len(s)-i >= 3 {
		b0, b1, b2 := s[i], s[i+1], s[i+2]
		// 0xE1..0xEC have no overlong forms and no surrogates.
		if b0-0xE1 <= 0xEC-0xE1 && b1&0xC0 == 0x80 && b2&0xC0 == 0x80 {
			page := uint(b0&0x0F)<<4 | uint(b1&0x3F)>>2
			return t.pages[t.index[page]][b1<<6|b2&0x3F], 3
		}
	}
	r, w := utf8.DecodeRuneInString(s[i:])
	if r == utf8.RuneError && w == 1 {
		return invalid, 1
	}
	return t.pages[t.index[r>>8]][r&0xFF], w
}

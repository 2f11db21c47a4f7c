package tokens

import (
	"math"
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

// classParts are the range tables that make up the bits of a class.
func classParts() []classPart {
	return []classPart{
		{unicode.Lu, upper | letter},
		{unicode.Lt, upper | letter},
		{unicode.Ll, lower | letter},
		{unicode.Lm, upper | lower | letter},
		{unicode.Lo, upper | lower | letter},
		{unicode.M, upper | lower},
		{unicode.N, number},
		{unicode.White_Space, space},
	}
}

type classPart struct {
	table *unicode.RangeTable
	bits  class
}

func newClassTable() *classTable {
	t := &classTable{}
	parts := classParts()
	numbers := make(map[[256]class]uint8)
	// A plane at a time, so that the work needs 64 KB and not a megabyte, which
	// would be most of the time to load.
	plane := make([]class, 1<<16)
	for base := rune(0); base <= utf8.MaxRune; base += 1 << 16 {
		clear(plane)
		for _, part := range parts {
			part.mark(plane, base)
		}
		if base == 0 {
			plane['\r'] |= newline
			plane['\n'] |= newline
			copy(t.ascii[:], plane)
		}
		for i := 0; i < len(plane); i += 256 {
			page := [256]class(plane[i:])
			at, ok := numbers[page]
			if !ok {
				at = t.add(page)
				numbers[page] = at
			}
			t.index[(int(base)+i)>>8] = at
		}
	}
	return t
}

// mark sets the bits of the part for its runes in the plane that starts at base.
func (p classPart) mark(plane []class, base rune) {
	if base == 0 {
		for _, r := range p.table.R16 {
			for x := int(r.Lo); x <= int(r.Hi); x += int(r.Stride) {
				plane[x] |= p.bits
			}
		}
	}
	// No range crosses from one plane to the next: a plane ends with two
	// noncharacters.
	for _, r := range p.table.R32 {
		if rune(r.Lo)&^0xFFFF != base {
			continue
		}
		for x := r.Lo; x <= r.Hi; x += r.Stride {
			plane[x&0xFFFF] |= p.bits
		}
	}
}

// add appends a page and returns its number.
func (t *classTable) add(page [256]class) uint8 {
	// Unicode has 134 distinct pages. Should it ever have more than fit
	// the index, the tests must fail and not the counts.
	if len(t.pages) > math.MaxUint8 {
		panic("tokens: too many distinct pages of rune classes")
	}
	t.pages = append(t.pages, page)
	return uint8(len(t.pages) - 1)
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

package expand

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Bounds of cutting, in bytes. A grapheme that is cut inside is longer than
// leastBody, so that an offset inside it lies more than snapBack behind its start
// and is not moved back to it: pages always get on.
const (
	leastBody  = 64    // of a page that does not reach the end of its field
	snapBack   = 63    // an offset is moved at most this far back to a border
	snapWindow = 4_096 // how far back a border is looked for
)

// limits is what a text may take.
type limits struct {
	tokens int
	bytes  int
	lines  int
}

// fit returns where the piece of s that begins at from has to end so that it
// holds the limits: at the end of s, else behind a line if one ends in the last
// quarter of what fits, else between two graphemes. The piece is empty only if
// nothing is left of s.
func fit(s string, from int, most limits, count func(string) int) int {
	end := min(len(s), from+max(most.bytes, leastBody))
	if at := nthLineEnd(s[from:end], most.lines); at >= 0 {
		end = from + at
	}
	end = alignDown(s, from, end)
	end = fitTokens(s, from, end, most.tokens, count)
	if end >= len(s) {
		return len(s)
	}
	if end < from+leastBody {
		end = alignUp(s, min(len(s), from+leastBody))
	}
	cut, _ := borderBefore(s, from, end)
	if cut == from {
		return end // one grapheme longer than the page
	}
	if i := strings.LastIndexByte(s[from:cut], '\n') + 1; i > (cut-from)/4*3 {
		return from + i
	}
	return cut
}

// fitTokens returns an end in [from, end] whose piece takes at most that many
// tokens and nearly as many, found by interpolation: a few counts over at most a
// page.
func fitTokens(s string, from, end, tokens int, count func(string) int) int {
	n := count(s[from:end])
	if n <= tokens {
		return end
	}
	if tokens <= 0 {
		return from
	}
	low, lowTokens := from, 0
	high, highTokens := end, n
	for range 12 {
		if lowTokens >= tokens-tokens/16 || high-low <= utf8.UTFMax {
			break
		}
		step := (high - low) * (tokens - lowTokens) / max(1, highTokens-lowTokens)
		step = min(max(step, (high-low)/16), (high-low)*15/16)
		at := alignDown(s, low, low+max(step, 1))
		if at <= low {
			at = alignUp(s, low+1)
		}
		if at >= high {
			break
		}
		if n := count(s[from:at]); n <= tokens {
			low, lowTokens = at, n
		} else {
			high, highTokens = at, n
		}
	}
	return low
}

// snap moves an offset that a caller chose back to a border of graphemes.
func snap(s string, offset int) int {
	if offset >= len(s) {
		return len(s)
	}
	from := alignDown(s, 0, max(0, offset-snapWindow))
	offset = alignDown(s, from, offset)
	border, sure := borderBefore(s, from, offset)
	if offset-border > snapBack || (!sure && from > 0) {
		return offset
	}
	return border
}

// borderBefore returns the last border of graphemes in s that is not behind at.
// It looks back to from at most, and sure says whether that sufficed; if not,
// from was taken for a border.
func borderBefore(s string, from, at int) (border int, sure bool) {
	if at >= len(s) {
		return len(s), true
	}
	at = alignDown(s, from, at)
	next := at + runeLen(s[at:])
	start := at
	for end := next; start > from; {
		_, size := utf8.DecodeLastRuneInString(s[from:start])
		if parts(s[start-size:end], size) {
			sure = true
			break
		}
		end = start
		start -= size
	}
	sure = sure || start == 0
	// Whether a grapheme ends at a place is decided by what stands before it and
	// one code point behind it.
	border = start
	for rest, state := s[start:next], -1; border < at; {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if border+len(cluster) > at {
			break
		}
		border += len(cluster)
	}
	return border, sure
}

// parts reports whether a grapheme surely ends between the two code points in
// pair, the first of which has that many bytes, whatever stands before them.
// Marks, joiners and regional indicators depend on that.
func parts(pair string, size int) bool {
	if size == 1 && len(pair) == 2 {
		return pair != "\r\n"
	}
	first, _ := utf8.DecodeRuneInString(pair)
	if unicode.In(first, unicode.M, unicode.Cf) || (first >= 0x1F1E6 && first <= 0x1F1FF) {
		return false
	}
	cluster, _, _, _ := uniseg.FirstGraphemeClusterInString(pair, -1)
	return len(cluster) == size
}

// nthLineEnd returns where the n-th line of s ends, its line end included, or -1
// if s has fewer line ends.
func nthLineEnd(s string, n int) int {
	at := 0
	for range max(n, 1) {
		i := strings.IndexByte(s[at:], '\n')
		if i < 0 {
			return -1
		}
		at += i + 1
	}
	return at
}

// alignDown moves at back to the start of a code point, but not before from.
// Bytes that are no UTF-8 are code points of their own.
func alignDown(s string, from, at int) int {
	if at >= len(s) {
		return len(s)
	}
	for i := at; i >= from && i > at-utf8.UTFMax; i-- {
		if utf8.RuneStart(s[i]) {
			if i+runeLen(s[i:]) > at {
				return i
			}
			return at
		}
	}
	return at
}

func alignUp(s string, at int) int {
	if at >= len(s) {
		return len(s)
	}
	if down := alignDown(s, 0, at); down < at {
		return down + runeLen(s[down:])
	}
	return at
}

func runeLen(s string) int {
	_, n := utf8.DecodeRuneInString(s)
	return n
}

package tokens

import (
	"sync"
	"unicode/utf8"
	"unsafe"
)

// Counter counts tokens of o200k_base. It is safe for concurrent use, and must
// not be copied after its first use. The zero value is a counter without a
// cache.
type Counter struct {
	cache   *Cache
	scratch sync.Pool // of *scratch
}

// New returns a counter without a cache. It costs nothing: the ranks are loaded
// at the first count, and are shared by all counters.
func New() *Counter { return &Counter{} }

// NewCached returns a counter that keeps the counts of long texts in cache,
// which several counters may share.
func NewCached(cache *Cache) *Counter { return &Counter{cache: cache} }

// Count returns the number of tokens in s. The text of special tokens, such as
// <|endoftext|>, counts as the ordinary text it is. Each byte that is no part
// of valid UTF-8 counts as U+FFFD, as in the reference.
func (c *Counter) Count(s string) int {
	if len(s) < 2 {
		// One byte is one token, except for an invalid one: U+FFFD is a token
		// too.
		return len(s)
	}
	if c.cache == nil || len(s) < MinCached {
		return c.count(s)
	}
	key := keyOf(s)
	if n, ok := c.cache.get(key); ok {
		return n
	}
	n := c.count(s)
	c.cache.put(key, n)
	return n
}

// CountBytes is Count for bytes, without copying them. They must not change
// during the call.
func (c *Counter) CountBytes(b []byte) int { return c.Count(view(b)) }

func (c *Counter) count(s string) int {
	x, _ := c.scratch.Get().(*scratch)
	if x == nil {
		x = &scratch{}
	}
	n := embedded().count(s, x)
	if cap(x.parts) <= keepLimit && cap(x.text) <= keepLimit {
		c.scratch.Put(x)
	}
	return n
}

func (v *vocabulary) count(s string, x *scratch) int {
	n := 0
	for i := 0; i < len(s); {
		end, seen := v.classes.next(s, i)
		piece := s[i:end]
		if seen&invalid != 0 {
			x.text = appendValid(x.text[:0], piece)
			piece = view(x.text)
		}
		n += v.countPiece(piece, x)
		i = end
	}
	return n
}

// countPiece returns the number of tokens of one piece of the text.
func (v *vocabulary) countPiece(p string, x *scratch) int {
	// A piece that is a token stays whole even if no merges lead to it.
	switch {
	case len(p) == 1:
		return 1
	case len(p) >= 3 && len(p) <= wordLimit:
		h := hashBytes(p)
		if v.rankOf(p, h) != noRank {
			return 1
		}
		return x.words.count(v, p, h)
	case v.rank(p) != noRank:
		return 1
	}
	if len(p) <= scanLimit {
		return v.mergeScan(p)
	}
	n := 0
	for len(p) > pieceLimit {
		n += v.mergeHeap(p[:pieceLimit], x)
		p = p[pieceLimit:]
	}
	return n + v.mergeHeap(p, x)
}

// appendValid appends s to dst with U+FFFD for each byte that is no part of
// valid UTF-8.
func appendValid(dst []byte, s string) []byte {
	for _, r := range s {
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

// view returns b as a string without copying it. Nothing here keeps such a
// string beyond the call it was made for.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

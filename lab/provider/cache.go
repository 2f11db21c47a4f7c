package provider

import (
	"ctxplugin/compartments"
	"ctxplugin/decay"
)

// Request is a request as a provider sees it: blocks in order, the first of them
// system text and tools.
type Request struct {
	Now    int64 // Unix ms
	Blocks []Block
	Output int // tokens of the reply
}

// Block is the smallest unit that a cache tells apart: one text, call or result.
type Block struct {
	Sum    [16]byte // stands for its bytes
	Tokens int
	Mark   bool // a cache mark sits behind it
}

// Numbers of the simulated caches.
const (
	LookBack   = 20   // blocks that a provider looks back from a mark for an entry
	LeastEntry = 1024 // tokens below which nothing is cached
	Granule    = 128  // tokens that an automatic cache rounds down to
)

// Cache simulates the prompt cache of one conversation: what of each request it
// reads, writes, or takes fresh.
//
// With marks, an entry is written at every marked block, and a request reads the
// longest entry found at one of its marks or at most LookBack blocks before one.
// An automatic cache reads the longest prefix of any earlier request, in granules,
// and writing costs nothing extra. Entries live for the time to live since they
// were last used.
type Cache struct {
	kind    string
	ttl     int64
	entries map[uint64]int64 // prefix to the time of its last use
}

// NewCache is an empty cache of the kind, and with the time to live, of prices.
func NewCache(p compartments.Prices) *Cache {
	return &Cache{kind: p.Kind, ttl: p.TTLMs, entries: map[uint64]int64{}}
}

// Bill sends a request and says what it took.
func (c *Cache) Bill(q Request) decay.Bill {
	ends, sizes := prefixes(q.Blocks)
	total := 0
	if n := len(sizes); n > 0 {
		total = sizes[n-1]
	}
	b := decay.Bill{Output: q.Output}
	switch c.kind {
	case "marks":
		last := lastMark(q.Blocks)
		b.Read = c.readMarks(q, ends, sizes)
		if last >= 0 {
			b.Write = max(0, sizes[last]-b.Read)
		}
		b.Fresh = total - b.Read - b.Write
		for i := range q.Blocks {
			if q.Blocks[i].Mark && sizes[i] >= LeastEntry {
				c.entries[ends[i]] = q.Now
			}
		}
	case "automatic":
		b.Read = c.readAutomatic(q, ends, sizes)
		b.Fresh = total - b.Read
		for i := range ends {
			c.entries[ends[i]] = q.Now
		}
	default:
		b.Fresh = total
	}
	return b
}

func (c *Cache) alive(prefix uint64, now int64) bool {
	used, ok := c.entries[prefix]
	return ok && now-used <= c.ttl
}

func (c *Cache) readMarks(q Request, ends []uint64, sizes []int) int {
	read, floor := 0, len(q.Blocks)
	for i := len(q.Blocks) - 1; i >= 0; i-- {
		if !q.Blocks[i].Mark {
			continue
		}
		for j := min(i, floor-1); j >= max(0, i-LookBack); j-- {
			if c.alive(ends[j], q.Now) {
				c.entries[ends[j]] = q.Now
				return sizes[j]
			}
			floor = j
		}
	}
	return read
}

func (c *Cache) readAutomatic(q Request, ends []uint64, sizes []int) int {
	read := 0
	for i := range ends {
		if !c.alive(ends[i], q.Now) {
			break
		}
		read = sizes[i]
	}
	if read < LeastEntry {
		return 0
	}
	return read / Granule * Granule
}

func lastMark(blocks []Block) int {
	for i := len(blocks) - 1; i >= 0; i-- {
		if blocks[i].Mark {
			return i
		}
	}
	return -1
}

// prefixes gives for every block a name of the bytes up to its end and their
// tokens.
func prefixes(blocks []Block) (ends []uint64, sizes []int) {
	ends, sizes = make([]uint64, len(blocks)), make([]int, len(blocks))
	name, size := uint64(0xcbf29ce484222325), 0
	for i := range blocks {
		for _, x := range blocks[i].Sum {
			name = (name ^ uint64(x)) * 0x100000001b3
		}
		name ^= name >> 29
		size += blocks[i].Tokens
		ends[i], sizes[i] = name, size
	}
	return ends, sizes
}

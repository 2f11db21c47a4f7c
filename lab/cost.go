package lab

import (
	"ctxplugin/compartments"
	"ctxplugin/decay"
)

// chargeable is a request as a provider sees it: blocks in order, the first of
// them system text and tools.
type chargeable struct {
	now    int64
	blocks []weighed
	output int
}

// weighed is one block of a chargeable request.
type weighed struct {
	sum    digest
	tokens int
	mark   bool // a cache mark sits behind it
}

// Numbers of the simulated cache.
const (
	lookBack   = 20   // blocks that a provider looks back from a mark for an entry
	leastEntry = 1024 // tokens below which nothing is cached
	granule    = 128  // tokens that an automatic cache rounds down to
)

// cacheModel simulates a provider's prompt cache: what of each request it reads,
// writes, or takes fresh.
//
// With marks, an entry is written at every marked block, and a request reads the
// longest entry found at one of its marks or at most 20 blocks before one.
// An automatic cache reads the longest prefix of any earlier request, in
// granules, and writing costs nothing extra. Entries live for the time to live
// since they were last used, by the times of the session; a clock that goes
// backwards ages nothing.
type cacheModel struct {
	kind    string
	ttl     int64
	entries map[uint64]int64 // prefix to the time of its last use
}

func newCacheModel(p compartments.Prices) *cacheModel {
	return &cacheModel{kind: p.Kind, ttl: p.TTLMs, entries: map[uint64]int64{}}
}

func (c *cacheModel) bill(q chargeable) decay.Bill {
	ends, sizes := prefixes(q.blocks)
	total := 0
	if n := len(sizes); n > 0 {
		total = sizes[n-1]
	}
	b := decay.Bill{Output: q.output}
	switch c.kind {
	case "marks":
		last := lastMark(q.blocks)
		b.Read = c.readMarks(q, ends, sizes)
		if last >= 0 {
			b.Write = max(0, sizes[last]-b.Read)
		}
		b.Fresh = total - b.Read - b.Write
		for i := range q.blocks {
			if q.blocks[i].mark && sizes[i] >= leastEntry {
				c.entries[ends[i]] = q.now
			}
		}
	case "automatic":
		b.Read = c.readAutomatic(q, ends, sizes)
		b.Fresh = total - b.Read
		for i := range ends {
			c.entries[ends[i]] = q.now
		}
	default:
		b.Fresh = total
	}
	return b
}

func (c *cacheModel) alive(prefix uint64, now int64) bool {
	used, ok := c.entries[prefix]
	return ok && now-used <= c.ttl
}

func (c *cacheModel) readMarks(q chargeable, ends []uint64, sizes []int) int {
	read, floor := 0, len(q.blocks)
	for i := len(q.blocks) - 1; i >= 0; i-- {
		if !q.blocks[i].mark {
			continue
		}
		for j := min(i, floor-1); j >= max(0, i-lookBack); j-- {
			if c.alive(ends[j], q.now) {
				c.entries[ends[j]] = q.now
				return sizes[j]
			}
			floor = j
		}
	}
	return read
}

func (c *cacheModel) readAutomatic(q chargeable, ends []uint64, sizes []int) int {
	read := 0
	for i := range ends {
		if !c.alive(ends[i], q.now) {
			break
		}
		read = sizes[i]
	}
	if read < leastEntry {
		return 0
	}
	return read / granule * granule
}

func lastMark(blocks []weighed) int {
	for i := len(blocks) - 1; i >= 0; i-- {
		if blocks[i].mark {
			return i
		}
	}
	return -1
}

// prefixes gives for every block a name of the bytes up to its end and their
// tokens.
func prefixes(blocks []weighed) (ends []uint64, sizes []int) {
	ends, sizes = make([]uint64, len(blocks)), make([]int, len(blocks))
	name, size := uint64(0xcbf29ce484222325), 0
	for i := range blocks {
		for _, x := range blocks[i].sum {
			name = (name ^ uint64(x)) * 0x100000001b3
		}
		name ^= name >> 29
		size += blocks[i].tokens
		ends[i], sizes[i] = name, size
	}
	return ends, sizes
}

// charge lays a request out for a provider: system text and tools first, marked;
// marks on the last two of the provider's messages, where hosts put them; the
// head's own mark as long as a provider takes no more than four.
func (r *request) charge(prefix int, now int64, output int) chargeable {
	q := chargeable{now: now, output: output, blocks: []weighed{{sum: digest{'s', 'y', 's'}, tokens: prefix, mark: true}}}
	var ends []int // last block of each of the provider's messages
	for i := range r.messages {
		m := &r.messages[i]
		for j, b := range m.blocks {
			if j > 0 && b.result != m.blocks[j-1].result {
				ends = append(ends, len(q.blocks)-1)
			}
			w := weighed{sum: b.sum, tokens: b.tokens}
			if j == 0 {
				w.tokens += frameTokens
			}
			q.blocks = append(q.blocks, w)
		}
		ends = append(ends, len(q.blocks)-1)
		if i == r.marked {
			q.blocks[len(q.blocks)-1].mark = true
		}
	}
	for _, at := range ends[max(0, len(ends)-2):] {
		q.blocks[at].mark = true
	}
	return q
}

// bill sums what a way of sending a session cost.
type bill struct {
	Requests   int   `json:"requests"`
	Tokens     int64 `json:"tokensSent"` // input side, system and tools included
	Read       int64 `json:"cacheRead"`
	Written    int64 `json:"cacheWritten"`
	Fresh      int64 `json:"fresh"`
	Output     int64 `json:"output"`
	Cost       int64 `json:"costMicro"` // micro-units of money
	Calls      int   `json:"extraCalls"`
	NewPrefix  int   `json:"prefixChanges"` // requests that did not start with all of the one before
	OverWindow int   `json:"overWindow"`    // requests that no provider would have taken
}

func (t *bill) add(b decay.Bill, p compartments.Prices) {
	t.Tokens += int64(b.Read + b.Write + b.Fresh)
	t.Read += int64(b.Read)
	t.Written += int64(b.Write)
	t.Fresh += int64(b.Fresh)
	t.Output += int64(b.Output)
	t.Cost += decay.Cost(b, p)
}

// readShare is the share of the input that came from the cache, permille.
func (t *bill) readShare() int {
	if t.Tokens == 0 {
		return 0
	}
	return int(t.Read * 1000 / t.Tokens)
}

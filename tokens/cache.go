package tokens

import (
	"crypto/sha256"
	"sync"
	"unsafe"
)

// MinCached is the shortest text, in bytes, that a cache keeps. A hit takes a
// tenth of the time of counting, but a shorter text is counted in 10 to 20
// microseconds at most, so that the entries are better spent on longer ones.
const MinCached = 1024

// Cache remembers the counts of texts by their content: a bounded LRU, safe for
// concurrent use. It holds no text. An entry takes about 110 bytes, so 4096
// entries take 450 KB; the memory is taken as the entries come.
//
// A hit costs one SHA-256 of the text and a map look-up under a lock.
type Cache struct {
	mu      sync.Mutex
	limit   int
	byKey   map[cacheKey]int32
	entries []cacheEntry
	// first and last are the ends of the list from the most to the least
	// recently used entry, as indices into entries, or -1.
	first, last  int32
	hits, misses uint64
}

// cacheKey is the first half of a SHA-256 and the length, so that a text made
// up to collide with another is out of reach.
type cacheKey struct {
	hash [16]byte
	size int
}

type cacheEntry struct {
	key        cacheKey
	count      int
	prev, next int32
}

// maxEntries keeps the indices within int32 with room to spare.
const maxEntries = 1 << 24

// NewCache returns an empty cache of the given number of entries, which is
// raised to 1 or lowered to 16 Mi if need be.
func NewCache(entries int) *Cache {
	return &Cache{
		limit: min(max(entries, 1), maxEntries),
		byKey: make(map[cacheKey]int32),
		first: -1,
		last:  -1,
	}
}

// CacheStats says how a cache is doing.
type CacheStats struct {
	Entries int    // in the cache now
	Limit   int    // at most
	Hits    uint64 // look-ups answered, since the start
	Misses  uint64 // look-ups not answered, since the start
}

// Stats returns the present numbers.
func (c *Cache) Stats() CacheStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return CacheStats{Entries: len(c.entries), Limit: c.limit, Hits: c.hits, Misses: c.misses}
}

func keyOf(s string) cacheKey {
	sum := sha256.Sum256(unsafe.Slice(unsafe.StringData(s), len(s)))
	return cacheKey{hash: [16]byte(sum[:]), size: len(s)}
}

func (c *Cache) get(key cacheKey) (count int, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i, ok := c.byKey[key]
	if !ok {
		c.misses++
		return 0, false
	}
	c.hits++
	c.unlink(i)
	c.pushFirst(i)
	return c.entries[i].count, true
}

func (c *Cache) put(key cacheKey, count int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.byKey[key]; ok {
		// Another goroutine counted the same text meanwhile.
		return
	}
	var i int32
	if len(c.entries) < c.limit {
		i = int32(len(c.entries))
		c.entries = append(c.entries, cacheEntry{})
	} else {
		i = c.last
		c.unlink(i)
		delete(c.byKey, c.entries[i].key)
	}
	c.entries[i].key, c.entries[i].count = key, count
	c.byKey[key] = i
	c.pushFirst(i)
}

func (c *Cache) unlink(i int32) {
	e := &c.entries[i]
	if e.prev >= 0 {
		c.entries[e.prev].next = e.next
	} else {
		c.first = e.next
	}
	if e.next >= 0 {
		c.entries[e.next].prev = e.prev
	} else {
		c.last = e.prev
	}
}

func (c *Cache) pushFirst(i int32) {
	e := &c.entries[i]
	e.prev, e.next = -1, c.first
	if c.first >= 0 {
		c.entries[c.first].prev = i
	} else {
		c.last = i
	}
	c.first = i
}

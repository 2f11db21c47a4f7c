package tokens

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCacheBehindCounter(t *testing.T) {
	cache := NewCache(2)
	c := NewCached(cache)
	long := func(s string) string { return strings.Repeat(s, MinCached) }

	if got := c.Count("short"); got != 1 {
		t.Errorf("short: %d", got)
	}
	if s := cache.Stats(); s != (CacheStats{Limit: 2}) {
		t.Errorf("a short text reached the cache: %+v", s)
	}
	for _, s := range []string{"a ", "b ", "a ", "c ", "a ", "b "} {
		if got, want := c.Count(long(s)), New().Count(long(s)); got != want {
			t.Errorf("%q: %d, want %d", s, got, want)
		}
	}
	// b was the least recently used when c came.
	if s := cache.Stats(); s != (CacheStats{Entries: 2, Limit: 2, Hits: 2, Misses: 4}) {
		t.Errorf("%+v", s)
	}
}

// TestCacheIsAnLRU holds the cache against a plain list.
func TestCacheIsAnLRU(t *testing.T) {
	type item struct{ key, count int }
	keyFor := func(n int) cacheKey { return cacheKey{size: n} }
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(-1, 5).Draw(t, "limit")
		c := NewCache(limit)
		var model []item // the most recently used first
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			key := rapid.IntRange(0, 8).Draw(t, "key")
			at := slices.IndexFunc(model, func(i item) bool { return i.key == key })
			if rapid.Bool().Draw(t, "put") {
				count := rapid.IntRange(0, 1000).Draw(t, "count")
				c.put(keyFor(key), count)
				if at < 0 {
					model = slices.Insert(model, 0, item{key, count})
					model = model[:min(len(model), max(limit, 1))]
				}
				continue
			}
			got, ok := c.get(keyFor(key))
			if ok != (at >= 0) {
				t.Fatalf("get(%d) found: %v", key, ok)
			}
			if ok {
				i := model[at]
				if got != i.count {
					t.Fatalf("get(%d) = %d, want %d", key, got, i.count)
				}
				model = slices.Insert(slices.Delete(model, at, at+1), 0, i)
			}
		}
		if c.Stats().Entries != len(model) || len(c.byKey) != len(model) {
			t.Fatalf("%d entries, want %d", c.Stats().Entries, len(model))
		}
	})
}

func BenchmarkCacheHit(b *testing.B) {
	for _, size := range []int{MinCached, 16 * MinCached} {
		text := strings.Repeat("some text, ", size)[:size]
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			c := NewCached(NewCache(8))
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				c.Count(text)
			}
		})
	}
}

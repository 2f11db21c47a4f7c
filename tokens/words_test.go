package tokens

import (
	"math/rand/v2"
	"testing"
)

// What is remembered of other words never changes a count: not where two share a
// place, nor where they have the same first or last bytes, or both.
func TestWords_ThatShareAPlace(t *testing.T) {
	v, r := embedded(), rand.New(rand.NewPCG(11, 12))
	letters := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = "qxzjkvwy"[r.IntN(8)]
		}
		return string(b)
	}
	same := letters(8)
	for name, word := range map[string]func() string{
		"any":   func() string { return letters(3 + r.IntN(wordLimit-2)) },
		"head":  func() string { return same + letters(1+r.IntN(wordLimit-8)) },
		"tail":  func() string { return letters(1+r.IntN(wordLimit-8)) + same },
		"twice": func() string { return []string{same, same + same}[r.IntN(2)] },
	} {
		var w words
		for range 4 << wordBits {
			p := word()
			h := hashBytes(p)
			if name == "twice" {
				h = 0
			}
			if got, want := w.count(v, p, h), v.mergeScan(p); got != want {
				t.Fatalf("%s: %q has %d tokens behind others, %d alone", name, p, got, want)
			}
		}
	}
}

package tokens

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestMergesAgree holds the heap against the scan, which is byte pair encoding
// by its definition.
func TestMergesAgree(t *testing.T) {
	v := embedded()
	r := rand.New(rand.NewPCG(1, 1))
	var x scratch
	for range 20_000 {
		p := randomPiece(r, 2+r.IntN(scanLimit-1))
		if scan, heap := v.mergeScan(p), v.mergeHeap(p, &x); scan != heap {
			t.Fatalf("%q: scan %d, heap %d", p, scan, heap)
		}
	}
}

func randomPiece(r *rand.Rand, size int) string {
	alphabet := 1 + r.IntN(4)
	base := byte(r.IntN(256))
	p := make([]byte, size)
	for i := range p {
		p[i] = base + byte(r.IntN(alphabet))
	}
	return string(p)
}

// TestMergeSteps bounds the work of the heap: every step takes an entry off,
// the piece starts with one entry a byte at most, and a merge adds two.
func TestMergeSteps(t *testing.T) {
	v := embedded()
	r := rand.New(rand.NewPCG(2, 2))
	const size = 200_000
	pieces := []string{
		strings.Repeat("a", size),
		strings.Repeat("\n", size),
		strings.Repeat("ab", size/2),
		strings.Repeat("\xef\xbf\xbd", size/3),
	}
	for range 4 {
		pieces = append(pieces, randomPiece(r, size))
	}
	for _, p := range pieces {
		var x scratch
		v.mergeHeap(p, &x)
		if x.steps > 3*len(p) {
			t.Errorf("%d steps for %d bytes of %q", x.steps, len(p), p[:8])
		}
	}
}

// TestPieceLimit has a piece that is cut and one that is just not.
func TestPieceLimit(t *testing.T) {
	c := New()
	for _, extra := range []int{0, 8} {
		if got, want := c.Count(strings.Repeat("a", pieceLimit+extra)), (pieceLimit+extra)/8; got != want {
			t.Errorf("%d more: %d tokens, want %d", extra, got, want)
		}
	}
}

func TestHeap(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	var h minHeap
	var want []uint64
	for range 5000 {
		if len(h) == 0 || r.IntN(3) > 0 {
			n := r.Uint64N(1000)
			h.push(n)
			want = append(want, n)
			slices.Sort(want)
			continue
		}
		if got := h.pop(); got != want[0] {
			t.Fatalf("pop = %d, want %d", got, want[0])
		}
		want = want[1:]
	}
}

func TestSortByRank(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	s := make([]uint64, 3000)
	for i := range s {
		s[i] = r.Uint64N(1<<rankBits)<<32 | uint64(i)
	}
	want := slices.Clone(s)
	slices.Sort(want)
	sortByRank(s, make([]uint64, len(s)))
	if !slices.Equal(s, want) {
		t.Error("not sorted")
	}
}

package decay

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// However many demotions there are and whatever they lose, they are ordered by
// loss, and among equals by the place of their step.
func TestInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{0, 1, 2, fewTurns, fewTurns + 1, 20_000} {
		for _, most := range []uint64{1, 3, 1 << digitBits, 1<<digitBits + 1, 1 << 40, math.MaxUint64} {
			turns := make([]turn, n)
			for i := range turns {
				turns[i] = turn{loss(r.Uint64N(most)), int32(i)}
			}
			want := slices.Clone(turns)
			slices.SortFunc(want, func(a, b turn) int { return cmp.Or(cmp.Compare(a.loss, b.loss), cmp.Compare(a.at, b.at)) })
			if got := inOrder(turns); !slices.Equal(got, want) {
				t.Errorf("%d turns of up to %d are out of order", n, most)
			}
		}
	}
}

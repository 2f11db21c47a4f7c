package decay

import "testing"

// TestForcedBudget: a forced fold lands at its aim where what stays raw allows it.
// Where that alone is at the aim, the history is not what is to shrink.
func TestForcedBudget(t *testing.T) {
	s := Defaults() // aim 60 %, mark 85 %, least gain 5 %, least history 2,000
	w := Window{Usable: 40_000, Budget: 6_400}
	for stays, want := range map[int]int{
		0:      6_400,
		18_000: 6_000, // up to the aim
		23_000: 1_000, // still
		23_001: 6_400, // the tail is too large for the aim: 30,000 below the mark
		27_000: 3_000,
		29_500: 1_000, // a little in any case
		39_500: 500,
		41_000: 0,
	} {
		if got := ForcedBudget(stays, w, s); got != want {
			t.Errorf("%d tokens stay: a budget of %d, want %d", stays, got, want)
		}
	}
}

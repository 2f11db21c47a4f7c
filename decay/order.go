package decay

import "slices"

const (
	digitBits = 11
	fewTurns  = 1 << 8 // up to which comparing is quicker
)

// inOrder sorts the list of demotions by loss, ties to the older. The steps come
// in the order of their places, which a sort by digits keeps among equals; a long
// session has tens of thousands. turns must not be used afterwards.
func inOrder(turns []turn) []turn {
	if len(turns) <= fewTurns {
		slices.SortStableFunc(turns, func(a, b turn) int {
			switch {
			case a.loss < b.loss:
				return -1
			case a.loss > b.loss:
				return 1
			}
			return 0
		})
		return turns
	}
	most := loss(0)
	for i := range turns {
		most = max(most, turns[i].loss)
	}
	spare := make([]turn, len(turns))
	var ends [1 << digitBits]int32 // for each digit, the place for the next turn that has it
	for shift := 0; most>>shift > 0; shift += digitBits {
		clear(ends[:])
		for i := range turns {
			ends[turns[i].loss>>shift&(1<<digitBits-1)]++
		}
		at := int32(0)
		for d, n := range ends {
			ends[d] = at
			at += n
		}
		for i := range turns {
			d := turns[i].loss >> shift & (1<<digitBits - 1)
			spare[ends[d]] = turns[i]
			ends[d]++
		}
		turns, spare = spare, turns
	}
	return turns
}

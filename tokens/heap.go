package tokens

// minHeap is a heap with the lowest number at the top. A node has four children
// rather than two, as that halves the levels, and the children share a cache
// line.
type minHeap []uint64

func (h *minHeap) push(x uint64) {
	s := append(*h, x)
	*h = s
	i := len(s) - 1
	for i > 0 {
		up := (i - 1) / 4
		if s[up] <= x {
			break
		}
		s[i] = s[up]
		i = up
	}
	s[i] = x
}

func (h *minHeap) pop() uint64 {
	s := *h
	top := s[0]
	x := s[len(s)-1]
	s = s[:len(s)-1]
	*h = s
	if len(s) == 0 {
		return top
	}
	i := 0
	for {
		first := 4*i + 1
		if first >= len(s) {
			break
		}
		least, at := s[first], first
		for c := first + 1; c < min(first+4, len(s)); c++ {
			if s[c] < least {
				least, at = s[c], c
			}
		}
		if least >= x {
			break
		}
		s[i] = least
		i = at
	}
	s[i] = x
	return top
}

// digitBits is the part of a rank that one counting pass sorts by.
const digitBits = rankBits / 2

// sortByRank sorts entries rank<<32|offset that are in order of their offsets
// already, by two stable counting passes over the bits of the rank: one into
// spare, which is as long as s, and one back.
func sortByRank(s, spare []uint64) {
	countingPass(spare, s, 32)
	countingPass(s, spare, 32+digitBits)
}

// countingPass copies from to to, sorted by the digit at shift.
func countingPass(to, from []uint64, shift uint) {
	const mask = 1<<digitBits - 1
	var next [1 << digitBits]int
	for _, x := range from {
		next[x>>shift&mask]++
	}
	sum := 0
	for i, n := range next {
		next[i] = sum
		sum += n
	}
	for _, x := range from {
		d := x >> shift & mask
		to[next[d]] = x
		next[d]++
	}
}

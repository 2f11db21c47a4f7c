package tokens

const (
	// scanLimit is the longest piece in bytes that merges by linear scans,
	// which are quadratic but beat the heap on short pieces.
	scanLimit = 64

	// pieceLimit bounds the memory of one merge, which takes some 28 bytes for each
	// byte of the piece. A longer piece is cut there, which may change its
	// count by a few tokens for each cut: the one exception to the exact
	// agreement with the reference, which needs the better part of an hour for
	// a piece of this size and four times as long for twice the size.
	pieceLimit = 1 << 20

	// keepLimit is the largest scratch, in nodes, that is kept for later.
	keepLimit = 64 << 10
)

// mergeScan returns the number of tokens of p, 2 to scanLimit bytes long and no
// token itself, by the definition of byte pair encoding: as long as there are
// adjacent parts that together are a token, join those of the lowest rank, and
// of equal ranks the leftmost.
func (v *vocabulary) mergeScan(p string) int {
	// Part i is p[at[i]:at[i+1]], and ranks[i] that of parts i and i+1 joined.
	var at [scanLimit + 3]uint8
	var ranks [scanLimit + 1]uint32
	n := len(p)
	for i := range n - 1 {
		at[i] = uint8(i)
		ranks[i] = v.pairs[int(p[i])<<8|int(p[i+1])]
	}
	at[n-1], at[n] = uint8(n-1), uint8(n)
	ranks[n-1] = noRank

	for n > 1 {
		low, i := ranks[0], 0
		for j, r := range ranks[:n-1] {
			if r < low {
				low, i = r, j
			}
		}
		if low == noRank {
			break
		}
		copy(at[i+1:n], at[i+2:n+1])
		copy(ranks[i+1:n-1], ranks[i+2:n])
		n--
		ranks[i] = noRank
		if i+1 < n {
			ranks[i] = v.rank(p[at[i]:at[i+2]])
		}
		if i > 0 {
			ranks[i-1] = v.rank(p[at[i-1]:at[i+1]])
		}
	}
	return n
}

// part is one part of a long piece, named by the offset where it starts.
type part struct {
	prev, next uint32
	rank       uint32 // of this part and the next joined, or noRank
}

// scratch is the memory of one count, reused by the next.
type scratch struct {
	parts []part
	// order has the pairs that the piece starts with and heap those that merges
	// made, both as rank<<32|offset, so that the lowest number is the next
	// merge. An entry is void once its part has another rank.
	order []uint64
	heap  minHeap
	text  []byte // a piece with its invalid bytes replaced
	words words

	// steps counts entries looked at, for the tests that bound the work.
	steps int
}

// mergeHeap is mergeScan for a piece of any length up to pieceLimit, in time
// O(n log n).
func (v *vocabulary) mergeHeap(p string, x *scratch) int {
	n := len(p)
	x.start(v, p)
	parts := x.parts
	tokens := n
	order := x.order
	for {
		// The first pairs come sorted, so the heap holds but the later ones.
		var top uint64
		switch {
		case len(order) > 0 && (len(x.heap) == 0 || order[0] < x.heap[0]):
			top, order = order[0], order[1:]
		case len(x.heap) > 0:
			top = x.heap.pop()
		default:
			return tokens
		}
		x.steps++
		i, rank := uint32(top), uint32(top>>32)
		if parts[i].rank != rank {
			continue
		}
		tokens--
		gone := parts[i].next
		next := parts[gone].next
		parts[gone].rank = noRank
		parts[i].next = next
		if int(next) < n {
			parts[next].prev = i
			after := parts[next].next
			x.set(i, v.rank(p[i:after]))
		} else {
			parts[i].rank = noRank
		}
		if i > 0 {
			before := parts[i].prev
			x.set(before, v.rank(p[before:next]))
		}
	}
}

// set gives part i its new rank.
func (x *scratch) set(i, rank uint32) {
	x.parts[i].rank = rank
	if rank != noRank {
		x.heap.push(uint64(rank)<<32 | uint64(i))
	}
}

// start makes each byte of p a part, and sorts the pairs of them.
func (x *scratch) start(v *vocabulary, p string) {
	n := len(p)
	if cap(x.parts) < n {
		x.parts = make([]part, n)
		x.order = make([]uint64, 0, n)
	}
	if cap(x.heap) < n {
		x.heap = make(minHeap, 0, n)
	}
	x.parts = x.parts[:n]
	x.order = x.order[:0]
	for i := range n {
		rank := uint32(noRank)
		if i+1 < n {
			rank = v.pairs[int(p[i])<<8|int(p[i+1])]
		}
		x.parts[i] = part{prev: uint32(i - 1), next: uint32(i + 1), rank: rank}
		if rank != noRank {
			x.order = append(x.order, uint64(rank)<<32|uint64(i))
		}
	}
	// The heap is still empty, so the sort may use its memory.
	sortByRank(x.order, x.heap[:len(x.order)])
	x.heap = x.heap[:0]
}

package tokens

const (
	wordLimit = 16 // bytes of the longest piece that is remembered
	wordBits  = 12 // 4096 places of 24 bytes: a session's usual words, and no more than a near cache holds
)

// words remembers the counts of short pieces that are no tokens. Text is made of
// the same words over and over, and merging one takes ten times as long as
// finding it here. It only ever saves work: a place holds the whole piece, so what
// is found is what merging would say.
type words [1 << wordBits]word

// word is a piece: its first and last bytes, which overlap or meet, its length,
// and its count, 0 where the place is empty.
type word struct {
	head, tail uint64
	size       uint8
	count      uint8
}

// count returns the number of tokens of p, of 3 to wordLimit bytes, which is no
// token itself and has the hash h.
func (w *words) count(v *vocabulary, p string, h uint64) int {
	head, tail := ends(p)
	at := &w[h>>(64-wordBits)]
	if at.head != head || at.tail != tail || int(at.size) != len(p) {
		*at = word{head, tail, uint8(len(p)), uint8(v.mergeScan(p))}
	}
	return int(at.count)
}

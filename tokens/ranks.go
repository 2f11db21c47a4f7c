package tokens

import (
	_ "embed" // for the ranks
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"math/bits"
	"sync"

	"github.com/klauspost/compress/zstd"
)

//go:generate go run ./genranks

// packedRanks is what genranks wrote; its package comment has the layout.
//
//go:embed o200k.bin.zst
var packedRanks []byte

const (
	// noRank stands for "not a token". It is above every rank, so that a
	// search for the lowest rank needs no special case.
	noRank = math.MaxUint32

	rankBits  = 18 // o200k has 199 998 tokens
	rankMask  = 1<<rankBits - 1
	slotBits  = 19 // 2^19 slots: 38 % full, so that most misses end at once
	emptySlot = math.MaxUint32
)

// vocabulary is the immutable set of ranks and rune classes. Everything in it
// is flat and pointer-free, so the garbage collector never walks it.
type vocabulary struct {
	classes *classTable

	// arena holds all the tokens one after the other in rank order; token r is
	// arena[starts[r]:starts[r+1]].
	arena  []byte
	starts []uint32
	maxLen int // of a token, in bytes

	// slots is an open-addressed hash table of the tokens of 3 bytes and more:
	// the upper bits are a fingerprint of the hash, which settles almost every
	// miss without touching the arena, the lower 18 bits the rank.
	slots []uint32

	// pairs has the rank of each two-byte token at first<<8|second. Every merge
	// starts from such pairs, so they are worth a table without hashing.
	pairs []uint32
}

// embedded is the one vocabulary of the process: built on first use, never
// changed, hence safe to share.
var embedded = sync.OnceValue(func() *vocabulary {
	v, err := unpack(packedRanks)
	if err != nil {
		// The ranks are part of the binary, so this is a broken build and not
		// something that a caller could handle; the tests decode them.
		panic(fmt.Sprintf("tokens: embedded ranks: %v", err))
	}
	return v
})

// Preload loads the ranks now rather than at the first count. It blocks for
// some tens of milliseconds the first time and does nothing afterwards.
func Preload() { embedded() }

// Ranks yields every token of o200k_base with its rank, in rank order. It is
// for building a reference encoder over the same embedded ranks.
func Ranks() iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		v := embedded()
		for r := range len(v.starts) - 1 {
			if !yield(string(v.token(uint32(r))), r) {
				return
			}
		}
	}
}

func unpack(packed []byte) (*vocabulary, error) {
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	defer dec.Close()
	raw, err := dec.DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	if len(raw) < 4 {
		return nil, fmt.Errorf("only %d bytes", len(raw))
	}
	n := int(binary.LittleEndian.Uint32(raw))
	if n < 256 || n > rankMask || len(raw) < 4+n {
		return nil, fmt.Errorf("%d tokens in %d bytes", n, len(raw))
	}
	lengths := raw[4 : 4+n]
	v := &vocabulary{
		classes: newClassTable(),
		// Not a copy: keeping the lengths costs less than touching the memory.
		arena:  raw[4+n:],
		starts: make([]uint32, n+1),
		slots:  make([]uint32, 1<<slotBits),
		pairs:  make([]uint32, 1<<16),
	}
	total := 0
	for r, l := range lengths {
		total += int(l)
		v.starts[r+1] = uint32(total)
		v.maxLen = max(v.maxLen, int(l))
	}
	if total != len(v.arena) {
		return nil, fmt.Errorf("lengths add up to %d, have %d bytes", total, len(v.arena))
	}
	return v, v.index()
}

// index fills the two look-up tables from the arena.
func (v *vocabulary) index() error {
	for i := range v.slots {
		v.slots[i] = emptySlot
	}
	for i := range v.pairs {
		v.pairs[i] = noRank
	}
	singles := 0
	for r := range len(v.starts) - 1 {
		token := v.token(uint32(r))
		switch len(token) {
		case 0:
			return fmt.Errorf("token %d is empty", r)
		case 1:
			singles++
		case 2:
			v.pairs[int(token[0])<<8|int(token[1])] = uint32(r)
		default:
			h := hashBytes(view(token))
			i := slotOf(h)
			for v.slots[i] != emptySlot {
				i = (i + 1) & (1<<slotBits - 1)
			}
			v.slots[i] = fingerprint(h) | uint32(r)
		}
	}
	// The counter takes it for granted that a lone byte is one token.
	if singles != 256 {
		return fmt.Errorf("%d one-byte tokens, want 256", singles)
	}
	return nil
}

func (v *vocabulary) token(r uint32) []byte {
	return v.arena[v.starts[r]:v.starts[r+1]]
}

// rank returns the rank of p, which has two bytes or more, or noRank.
func (v *vocabulary) rank(p string) uint32 {
	if len(p) == 2 {
		return v.pairs[int(p[0])<<8|int(p[1])]
	}
	if len(p) > v.maxLen {
		return noRank
	}
	return v.rankOf(p, hashBytes(p))
}

// rankOf is rank for a p of three bytes or more with the hash h.
func (v *vocabulary) rankOf(p string, h uint64) uint32 {
	want := fingerprint(h)
	for i := slotOf(h); ; i = (i + 1) & (1<<slotBits - 1) {
		slot := v.slots[i]
		if slot&^rankMask == want {
			if slot == emptySlot {
				return noRank
			}
			r := slot & rankMask
			if string(v.token(r)) == p {
				return r
			}
		} else if slot == emptySlot {
			return noRank
		}
	}
}

func slotOf(h uint64) uint32 { return uint32(h >> (64 - slotBits)) }

func fingerprint(h uint64) uint32 { return uint32(h) << rankBits }

// Odd constants with about as many ones as zeros, from the digits of pi.
const (
	mix1 = 0x243f6a8885a308d3
	mix2 = 0x13198a2e03707345
	mix3 = 0xa4093822299f31d1
)

// hashBytes hashes p, of one byte or more. It guards against clustering, not
// against an adversary: the tokens in the table are fixed, and a look-up ends
// at the first empty slot whatever is asked.
func hashBytes(p string) uint64 {
	n := len(p)
	a, b := ends(p)
	for i := 8; i < n-8; i += 8 {
		hi, lo := bits.Mul64(a^mix3, load64(p, i)^mix2)
		a = hi ^ lo
	}
	hi, lo := bits.Mul64(a^mix1, b^mix2^uint64(n)<<56)
	hi, lo = bits.Mul64(hi^lo, mix3)
	return hi ^ lo
}

// ends are the first and the last up to 8 bytes of p, which has one or more. Up
// to 16 bytes, they and the length are p.
func ends(p string) (head, tail uint64) {
	switch n := len(p); {
	case n >= 8:
		return load64(p, 0), load64(p, n-8)
	case n >= 4:
		return load32(p, 0), load32(p, n-4)
	default:
		return uint64(p[0]) | uint64(p[n>>1])<<8 | uint64(p[n-1])<<16, 0
	}
}

// load64 and load32 read a little-endian integer; the compiler turns each into
// one load where the architecture allows it.

func load64(s string, i int) uint64 {
	s = s[i : i+8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

func load32(s string, i int) uint64 {
	s = s[i : i+4]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24
}

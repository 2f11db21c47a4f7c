package tokens

import (
	"runtime"
	"testing"

	"github.com/klauspost/compress/zstd"
	loader "github.com/pkoukk/tiktoken-go-loader"
)

// TestRanksAreThePublishedOnes compares what is embedded with the original
// assets, and looks each token up.
func TestRanksAreThePublishedOnes(t *testing.T) {
	want, err := loader.NewOfflineLoader().LoadTiktokenBpe("o200k_base.tiktoken")
	if err != nil {
		t.Fatal(err)
	}
	v := embedded()
	n := 0
	for token, rank := range Ranks() {
		n++
		if r, ok := want[token]; !ok || r != rank {
			t.Fatalf("token %q has rank %d, want %d", token, rank, r)
		}
		if len(token) > 1 && v.rank(token) != uint32(rank) {
			t.Fatalf("rank(%q) = %d, want %d", token, v.rank(token), rank)
		}
	}
	if n != len(want) {
		t.Errorf("%d tokens, want %d", n, len(want))
	}
}

func TestRankOfNoToken(t *testing.T) {
	v := embedded()
	for _, s := range []string{"\xff\xff", "qzx", "qzxq", "hello wo", "\x00\x01\x02\x03\x04\x05\x06\x07\x08", string(make([]byte, 1000))} {
		if r := v.rank(s); r != noRank {
			t.Errorf("rank(%q) = %d", s, r)
		}
	}
}

func TestUnpackRefusesDamage(t *testing.T) {
	pack := func(raw string) []byte {
		enc, err := zstd.NewWriter(nil)
		if err != nil {
			t.Fatal(err)
		}
		defer enc.Close()
		return enc.EncodeAll([]byte(raw), nil)
	}
	// 256 tokens of one byte each, all of them the same size but one missing.
	short := append([]byte{0, 1, 0, 0}, make([]byte, 256)...)
	for name, packed := range map[string][]byte{
		"empty":         {},
		"not zstd":      []byte("hello"),
		"cut":           packedRanks[:len(packedRanks)-100],
		"no header":     pack("ab"),
		"no tokens":     pack("\x00\x00\x00\x00"),
		"no lengths":    pack("\x00\x01\x00\x00\x01"),
		"empty tokens":  pack(string(short)),
		"bytes left":    pack(string(short) + "x"),
		"flipped a bit": flip(packedRanks),
	} {
		if _, err := unpack(packed); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func flip(b []byte) []byte {
	b = append([]byte(nil), b...)
	b[len(b)/2] ^= 1
	return b
}

// BenchmarkLoad measures what the first count of a process waits for, and what
// stays in memory.
func BenchmarkLoad(b *testing.B) {
	live := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := live()
	var v *vocabulary
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if v, err = unpack(packedRanks); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(live()-before)/1e6, "MB-live")
	runtime.KeepAlive(v)
}

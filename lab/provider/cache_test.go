package provider

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ctxplugin/compartments"
)

// blocks reads a request from words: a name and its hundreds of tokens, with a *
// behind it for a mark.
func blocks(t interface{ Fatal(...any) }, words string) []Block {
	var out []Block
	for _, w := range strings.Fields(words) {
		var w1 Block
		name, marked := strings.CutSuffix(w, "*")
		if _, err := fmt.Sscanf(name[1:], "%d", &w1.Tokens); err != nil {
			t.Fatal(err)
		}
		w1.Tokens *= 100
		w1.Mark = marked
		w1.Sum[0] = name[0]
		out = append(out, w1)
	}
	return out
}

func TestCache(t *testing.T) {
	const minute = 60_000
	long := strings.Repeat(" z1", 25)
	for _, c := range []struct {
		name, kind string
		requests   []string // a minute's number and the blocks
		want       string   // read/write/fresh of each, in hundreds of tokens
	}{
		{"marks write, then read", "marks", []string{"0 s20* a10*", "1 s20* a10 b5*"}, "0/30/0 30/5/0"},
		{"nothing is written behind the last mark", "marks", []string{"0 s20* a10", "1 s20* a10"}, "0/20/10 20/0/10"},
		{"without a mark nothing is written", "marks", []string{"0 s20 a10", "1 s20 a10*"}, "0/0/30 0/30/0"},
		{"too short to cache", "marks", []string{"0 s10*", "1 s10*"}, "0/10/0 0/10/0"},
		{"an entry dies", "marks", []string{"0 s20*", "6 s20*"}, "0/20/0 0/20/0"},
		{"reading keeps it alive", "marks", []string{"0 s20*", "4 s20*", "8 s20*"}, "0/20/0 20/0/0 20/0/0"},
		{"a clock that goes back ages nothing", "marks", []string{"9 s20*", "1 s20*"}, "0/20/0 20/0/0"},
		{"a changed block loses what is behind it", "marks", []string{"0 s20* a10* b10*", "1 s20* c10* b10*"}, "0/40/0 20/20/0"},
		{"a provider looks back 20 blocks", "marks", []string{"0 s20 a10*", "1 s20 a10" + long + " b1*"}, "0/30/0 0/56/0"},
		{"so a mark at the head helps", "marks", []string{"0 s20 a10*", "1 s20 a10*" + long + " b1*"}, "0/30/0 30/26/0"},
		{"automatic", "automatic", []string{"0 s20 a10", "1 s20 a10 b5", "2 s20 c10"}, "0/0/30 29/0/6 19/0/11"},
		{"automatic, too short", "automatic", []string{"0 s10", "1 s10"}, "0/0/10 0/0/10"},
		{"none", "none", []string{"0 s20*", "1 s20*"}, "0/0/20 0/0/20"},
	} {
		m := NewCache(compartments.Prices{Kind: c.kind, TTLMs: 5 * minute})
		var got []string
		for _, r := range c.requests {
			at, words, _ := strings.Cut(r, " ")
			var now int64
			if _, err := fmt.Sscan(at, &now); err != nil {
				t.Fatal(err)
			}
			b := m.Bill(Request{Now: now * minute, Blocks: blocks(t, words)})
			got = append(got, fmt.Sprintf("%d/%d/%d", b.Read/100, b.Write/100, (b.Fresh+99)/100))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %s, want %s", c.name, strings.Join(got, " "), c.want)
		}
	}
}

// Whatever is sent, each token is read, written or fresh exactly once, and a longer
// prefix in common never reads less.
func TestCacheCountsEachToken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := NewCache(compartments.Prices{Kind: rapid.SampledFrom([]string{"marks", "automatic", "none"}).Draw(t, "kind"), TTLMs: 1000})
		for range rapid.IntRange(1, 6).Draw(t, "requests") {
			q := Request{Now: rapid.Int64Range(0, 3000).Draw(t, "now")}
			total := 0
			for range rapid.IntRange(0, 30).Draw(t, "blocks") {
				w := Block{Tokens: rapid.IntRange(0, 900).Draw(t, "tokens"), Mark: rapid.Bool().Draw(t, "mark")}
				w.Sum[0] = rapid.ByteRange(0, 2).Draw(t, "sum")
				w.Tokens = w.Tokens/300*300 + int(w.Sum[0])
				total += w.Tokens
				q.Blocks = append(q.Blocks, w)
			}
			b := m.Bill(q)
			if b.Read+b.Write+b.Fresh != total || b.Read < 0 || b.Write < 0 || b.Fresh < 0 {
				t.Fatalf("%+v of %d tokens", b, total)
			}
		}
	})
}

package lab

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ctxplugin/compartments"
	"ctxplugin/decay"
)

// blocks reads a request from words: a name and its hundreds of tokens, with a *
// behind it for a mark.
func blocks(t interface{ Fatal(...any) }, words string) []weighed {
	var out []weighed
	for _, w := range strings.Fields(words) {
		var w1 weighed
		name, marked := strings.CutSuffix(w, "*")
		if _, err := fmt.Sscanf(name[1:], "%d", &w1.tokens); err != nil {
			t.Fatal(err)
		}
		w1.tokens *= 100
		w1.mark = marked
		w1.sum[0] = name[0]
		out = append(out, w1)
	}
	return out
}

func TestCacheModel(t *testing.T) {
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
		m := newCacheModel(compartments.Prices{Kind: c.kind, TTLMs: 5 * minute})
		var got []string
		for _, r := range c.requests {
			at, words, _ := strings.Cut(r, " ")
			var now int64
			if _, err := fmt.Sscan(at, &now); err != nil {
				t.Fatal(err)
			}
			b := m.bill(chargeable{now: now * minute, blocks: blocks(t, words)})
			got = append(got, fmt.Sprintf("%d/%d/%d", b.Read/100, b.Write/100, (b.Fresh+99)/100))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %s, want %s", c.name, strings.Join(got, " "), c.want)
		}
	}
}

// Whatever is sent, each token is read, written or fresh exactly once, and a longer
// prefix in common never reads less.
func TestCacheModelCountsEachToken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newCacheModel(compartments.Prices{Kind: rapid.SampledFrom([]string{"marks", "automatic", "none"}).Draw(t, "kind"), TTLMs: 1000})
		for range rapid.IntRange(1, 6).Draw(t, "requests") {
			q := chargeable{now: rapid.Int64Range(0, 3000).Draw(t, "now")}
			total := 0
			for range rapid.IntRange(0, 30).Draw(t, "blocks") {
				w := weighed{tokens: rapid.IntRange(0, 900).Draw(t, "tokens"), mark: rapid.Bool().Draw(t, "mark")}
				w.sum[0] = rapid.ByteRange(0, 2).Draw(t, "sum")
				w.tokens = w.tokens/300*300 + int(w.sum[0])
				total += w.tokens
				q.blocks = append(q.blocks, w)
			}
			b := m.bill(q)
			if b.Read+b.Write+b.Fresh != total || b.Read < 0 || b.Write < 0 || b.Fresh < 0 {
				t.Fatalf("%+v of %d tokens", b, total)
			}
		}
	})
}

func TestBillAdds(t *testing.T) {
	var total bill
	prices := compartments.Prices{Input: 3_000_000, Output: 15_000_000, CacheRead: 300_000, CacheWrite: 3_750_000, Kind: "marks"}
	total.add(decay.Bill{Read: 1000, Write: 200, Fresh: 100, Output: 10}, prices)
	total.add(decay.Bill{Fresh: 700}, prices)
	if total.Tokens != 2000 || total.Read != 1000 || total.readShare() != 500 || total.Cost != 300+750+300+150+2100 {
		t.Errorf("%+v", total)
	}
}

// made is a message of one block.
func made(role string, tokens int, sum byte) sent {
	return sent{index: int(sum), role: role, blocks: []block{{sum: digest{sum}, tokens: tokens - frameTokens}}}
}

func TestBaselines(t *testing.T) {
	w := window{usable: 1000, prefix: 100}
	prices := compartments.Prices{Input: 1_000_000, Output: 1_000_000, Kind: "none"}
	all := baselines(w, prices)
	req := &request{marked: -1}
	add := func(role string, tokens int) {
		req.messages = append(req.messages, made(role, tokens, byte(len(req.messages)+1)))
	}
	add("user", 100)
	for range 7 {
		add("assistant", 150)
		snapshot := &request{marked: -1, messages: req.messages[:len(req.messages):len(req.messages)]}
		for _, b := range all {
			b.send(snapshot, 0, 5)
		}
	}
	for i, want := range []struct{ tokens, over, changes int }{
		{250 + 400 + 550 + 700 + 850 + 1000 + 1150 + 7*100, 1, 0},
		{250 + 400 + 550 + 700 + 850 + 1000 + 1000 + 7*100, 0, 1}, // the last request leaves out a reply, not the user
	} {
		b := all[i].bill
		if int(b.Tokens) != want.tokens || b.OverWindow != want.over || b.NewPrefix != want.changes || b.Requests != 7 {
			t.Errorf("%s: %+v, want %+v", all[i].name, b, want)
		}
	}
	flat := all[2].bill
	if flat.Calls != 2 || flat.Output != 7*5+2*summaryTokens || flat.NewPrefix < 2 {
		t.Errorf("flat summary: %+v", flat)
	}
	if all[0].bill.Cost != 5600+35 {
		t.Errorf("everything costs %d", all[0].bill.Cost)
	}
}

package decay

import (
	"testing"

	"ctxplugin/compartments"

	"pgregory.net/rapid"
)

func TestDivide(t *testing.T) {
	s := Defaults()
	for _, c := range []struct {
		name                            string
		context, output, learned, fixed int
		usable, budget, maxOutput       int
		warns                           bool
	}{
		{"a usual model", 200_000, 32_000, 0, 10_000, 158_000, 25_280, 0, false},
		{"a large output limit is capped", 1_000_000, 128_000, 0, 10_000, 958_000, 40_000, 0, false},
		{"a quarter of the window at most", 16_000, 8_192, 0, 4_000, 8_000, 2_000, 4_000, false},
		{"unknown output", 200_000, 0, 0, 10_000, 170_000, 27_200, 0, false},
		{"unknown window", 0, 8_192, 0, 8_000, 47_808, 7_649, 0, true},
		{"absurd window", 1 << 50, 8_192, 0, 8_000, 47_808, 7_649, 0, true},
		{"negative window", -5, 8_192, 0, 8_000, 47_808, 7_649, 0, true},
		{"refusals taught a smaller one", 200_000, 8_192, 100_000, 8_000, 83_808, 13_409, 0, true},
		{"system and tools larger than the window", 8_000, 1_000, 0, 20_000, 1, 2_000, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := Divide(c.context, c.output, c.learned, c.fixed, s)
			if w.Usable != c.usable || w.Budget != c.budget || w.MaxOutput != c.maxOutput || (w.Warning != "") != c.warns {
				t.Errorf("got usable %d, budget %d, max output %d, warning %q", w.Usable, w.Budget, w.MaxOutput, w.Warning)
			}
		})
	}
}

var marks = compartments.Prices{Input: 3_000_000, Output: 15_000_000, CacheRead: 300_000, CacheWrite: 3_750_000, Kind: "marks"}

func TestSpacing(t *testing.T) {
	// (w-r)/r = 11.5: sqrt(2 * 11.5 * 20,000 * 1,500) = 26,267
	if got := Spacing(20_000, 1_500, marks); got != 26_267 {
		t.Errorf("spacing %d, want 26267", got)
	}
	for _, kind := range []string{"none", "free"} {
		p := marks
		p.Kind = kind
		if got := Spacing(20_000, 1_500, p); got != 0 {
			t.Errorf("%s: spacing %d where nothing is cached", kind, got)
		}
	}
	if got := Spacing(20_000, 1_500, compartments.Prices{Kind: "unknown"}); got != 0 {
		t.Errorf("unknown prices: spacing %d", got)
	}
}

func TestCost(t *testing.T) {
	got := Cost(Bill{Read: 100_000, Write: 2_000, Fresh: 500, Output: 1_000}, marks)
	if want := int64(30_000 + 7_500 + 1_500 + 15_000); got != want {
		t.Errorf("cost %d micro-units, want %d", got, want)
	}
}

func TestRoot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Max(1<<62).Draw(t, "n")
		if r := root(n); r*r > n || (r+1)*(r+1) <= n {
			t.Fatalf("root of %d is not %d", n, r)
		}
	})
}

// material is a head of pairs with four compartments each, and new ones.
func materialOf(pairs, fresh int) *Material {
	m := &Material{Tail: 8_000}
	id := 0
	for range pairs {
		var p Pair
		for range 4 {
			p.Candidates = append(p.Candidates, Candidate{Compartment: usual(id), Applied: compartments.TierFull, Relevance: 1000})
			p.Layout.Tokens += 603
			id++
		}
		m.Pairs = append(m.Pairs, p)
	}
	for range fresh {
		m.New = append(m.New, Candidate{Compartment: usual(id), Applied: compartments.TierRaw, Relevance: 1000})
		id++
	}
	m.Keeps = make([]int, fresh+1)
	return m
}

func TestChoose_AppendsWhileTheBudgetHolds(t *testing.T) {
	m := materialOf(3, 4)
	o := Choose(m, 20_000, 16_000, 0, Defaults())
	if o.Divergence != 3 || len(o.Items) == 0 {
		t.Errorf("divergence %d with %d items, want an append", o.Divergence, len(o.Items))
	}
}

func TestChoose_GoesDeeperWhenTheHeadIsFull(t *testing.T) {
	m := materialOf(6, 4)
	o := Choose(m, 10_000, 8_000, 0, Defaults())
	if o.Divergence == 6 {
		t.Error("an append into a full head starves the newest work")
	}
	if !o.Fits {
		t.Error("the budget does not hold")
	}
}

// TestChoose_Spare: the more sparing old pairs is worth, the more of them a fold
// keeps, at a price in worth that it does not exceed; where the cache is gone none is
// spared that costs anything.
func TestChoose_Spare(t *testing.T) {
	kept := -1
	for _, spare := range []int{0, 100, 250, 500, 1000} {
		s := Defaults()
		s.Spare = spare
		o := Choose(materialOf(6, 4), 10_000, 9_500, 0, s)
		most := o.Worth
		for _, w := range o.Weighed {
			if w.Verdict != compartments.VerdictTarget {
				most = max(most, w.Worth)
			}
		}
		if o.Divergence < kept || o.Worth < most/1000*int64(1000-spare) {
			t.Errorf("%d: %d pairs kept after %d, worth %d of %d", spare, o.Divergence, kept, o.Worth, most)
		}
		kept = o.Divergence
		cold := materialOf(6, 4)
		cold.Cold = true
		if c := Choose(cold, 10_000, 9_500, 0, s); c.Worth < most {
			t.Errorf("%d: worth %d of %d where the cache is gone", spare, c.Worth, most)
		}
	}
	if kept < 3 {
		t.Errorf("%d pairs are kept at most", kept)
	}
}

func TestChoose_ForcedLandsUnderTheLimit(t *testing.T) {
	m := materialOf(6, 10)
	o := Choose(m, 9_000, 7_200, 18_000, Defaults())
	if o.After > 18_000 {
		t.Errorf("%d tokens after the fold", o.After)
	}
}

// An option counts what it says: head, raw ones that stay, what is kept, tail.
func TestOption_Adds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := materialOf(rapid.IntRange(0, 6).Draw(t, "pairs"), rapid.IntRange(0, 8).Draw(t, "new"))
		for i := range m.Keeps {
			m.Keeps[i] = rapid.IntRange(0, 3000).Draw(t, "keep")
		}
		budget := rapid.IntRange(0, 40_000).Draw(t, "budget")
		o := Choose(m, budget, budget*8/10, 0, Defaults())
		head := 0
		for _, p := range m.Pairs[:o.Divergence] {
			head += p.Layout.Tokens
		}
		raw := 0
		for _, c := range m.New[len(m.New)-min(o.Raw, len(m.New)):] {
			raw += c.Compartment.RawTokens
		}
		if want := head + o.PairTokens + raw + m.Keeps[max(0, len(m.New)-o.Raw)] + m.Tail; o.After != want {
			t.Fatalf("after %d, want %d", o.After, want)
		}
	})
}

func TestMoment_Timing(t *testing.T) {
	s := Defaults()
	w := Divide(200_000, 8_192, 0, 10_000, s)
	o := Option{Items: []compartments.Item{{}}, After: 40_000, Behind: 20_000}
	base := Moment{Messages: 80_000, Growth: 40_000, PerStep: 1_500, TurnStart: true, Prices: marks}
	for _, c := range []struct {
		name   string
		change func(*Moment, *Option)
		want   compartments.Reason
	}{
		{"it pays", func(*Moment, *Option) {}, compartments.ReasonPays},
		{"too little growth", func(m *Moment, _ *Option) { m.Growth = 20_000 }, ""},
		{"inside a turn", func(m *Moment, _ *Option) { m.TurnStart = false }, ""},
		{"inside a turn that is long", func(m *Moment, _ *Option) { m.TurnStart, m.Turn = false, 60_000 }, compartments.ReasonPays},
		{"cold cache", func(m *Moment, _ *Option) { m.Cold, m.Growth = true, 0 }, compartments.ReasonCold},
		{"cold cache, but too little to gain", func(m *Moment, o *Option) { m.Cold, o.After = true, 76_000 }, ""},
		{"nothing new", func(m *Moment, o *Option) { o.Items = nil }, ""},
		{"a large turn may come", func(m *Moment, _ *Option) { m.Growth, m.LargestTurn = 0, 100_000 }, compartments.ReasonTurnAhead},
		{"no cache price: pressure alone", func(m *Moment, _ *Option) { m.Prices = compartments.Prices{Kind: "none", Input: 3_000_000} }, ""},
		{"asked for inside a turn", func(m *Moment, _ *Option) { m.TurnStart, m.Asked = false, true }, compartments.ReasonAsked},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, o := base, o
			c.change(&m, &o)
			got, _, ok := m.Worthwhile(o, w, s)
			if got != c.want {
				t.Errorf("reason %q, want %q", got, c.want)
			}
			if ok && !m.Ripe(o.Behind, w, s) {
				t.Error("worthwhile, but not ripe")
			}
		})
	}
	if _, forced := (Moment{Messages: w.Usable*85/100 - 200}).Forced(w, s); forced {
		t.Error("forced below the mark")
	}
	if r, forced := (Moment{Messages: w.Usable*85/100 + 1}).Forced(w, s); !forced || r != compartments.ReasonForced {
		t.Error("not forced at the mark")
	}
}

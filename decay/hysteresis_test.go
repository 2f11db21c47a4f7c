package decay

import (
	"testing"

	"ctxplugin/compartments"

	"pgregory.net/rapid"
)

// swinging is the history budget of fold n: 5 % above and below 12,000 tokens.
func swinging(n int) int {
	return 12_000 + 600*[4]int{0, 1, 0, -1}[n%4]
}

// refold makes the fold that a budget gives, as the session does: its pair stands
// behind those that it keeps, and what was rendered is applied.
func refold(m *Material, budget int, s Settings) (changed int) {
	o := Choose(m, budget, budget*s.DemoteTo/1000, 0, s)
	for i := range o.Candidates {
		if o.Selection.Tiers[i] != o.Candidates[i].Applied {
			changed++
		}
		o.Candidates[i].Applied = o.Selection.Tiers[i]
	}
	rendered := o.Candidates[:len(o.Candidates)-o.Raw]
	m.Pairs = append([]Pair{}, o.KeptPairs()...)
	if len(rendered) > 0 {
		m.Pairs = append(m.Pairs, Pair{Candidates: rendered, Layout: compartments.PairLayout{Tokens: o.PairTokens}})
	}
	m.New = o.Candidates[len(rendered):]
	m.Keeps = make([]int, len(m.New)+1)
	return changed
}

// TestHysteresis: with a budget that swings by 5 % over 200 folds no tier changes
// behind the first; without the two marks many do.
func TestHysteresis(t *testing.T) {
	s := Defaults()
	off := 0
	var before []compartments.Tier
	for n := range 200 {
		tiers := Select(candidates(60, compartments.TierFull), swinging(n), s).Tiers
		for i := range before {
			if tiers[i] != before[i] {
				off++
			}
		}
		before = tiers
	}
	if off < 20 {
		t.Errorf("without hysteresis %d desired tiers change", off)
	}
	m := materialOf(0, 60)
	if first := refold(m, swinging(0), s); first < 60 {
		t.Errorf("the first fold changes %d tiers", first)
	}
	for n := 1; n < 200; n++ {
		if changed := refold(m, swinging(n), s); changed > 0 {
			t.Errorf("fold %d changes %d tiers", n, changed)
		}
	}
}

// TestPromotion: what an emergency made small comes back, up to what a demotion goes down to,
// at a fold that has room for twice as much; not for a few tokens more.
func TestPromotion(t *testing.T) {
	s := Defaults()
	m := materialOf(0, 40)
	refold(m, 2_500, s)
	small := m.Pairs[0].Layout.Tokens
	if changed := refold(m, 2_700, s); changed > 0 {
		t.Errorf("a little room changes %d tiers", changed)
	}
	promoted := refold(m, 12_000, s)
	large := 0
	for _, p := range m.Pairs {
		large += p.Layout.Tokens
	}
	if promoted == 0 || large <= 2*small || large > 12_000*s.DemoteTo/1000 {
		t.Errorf("%d tiers change, %d tokens become %d", promoted, small, large)
	}
	if changed := refold(m, 12_000, s); changed > 0 {
		t.Errorf("another fold changes %d tiers", changed)
	}
}

// TestPromotion_Mark: below its own mark a history is promoted, up to what a demotion
// goes down to; above the mark it is left alone, and without the mark too.
func TestPromotion_Mark(t *testing.T) {
	const budget = 12_000
	for _, c := range []struct {
		was, mark int // share of the budget that the history was made for; the mark, permille
		lifted    bool
	}{{600, 800, true}, {750, 800, true}, {980, 800, false}, {600, 500, false}, {600, 0, false}} {
		s := Defaults()
		s.PromoteBelow = c.mark
		m := materialOf(0, 40)
		refold(m, share(budget, c.was), s)
		was := m.Pairs[0].Layout.Tokens
		changed := refold(m, budget, s)
		is := 0
		for _, p := range m.Pairs {
			is += p.Layout.Tokens
		}
		switch {
		case !c.lifted && (changed > 0 || is != was):
			t.Errorf("%+v: %d tiers change, %d tokens become %d", c, changed, was, is)
		case c.lifted && (changed == 0 || is < share(budget, c.mark) || is > share(budget, s.DemoteTo)):
			t.Errorf("%+v: %d tiers change, %d tokens become %d", c, changed, was, is)
		}
	}
}

// TestPromotion_Settles: a budget that grows and then stays is followed once at most.
// What a fold leaves below the mark a full fold could not lift by a tenth; and none that
// promotes shows less than it found.
func TestPromotion_Settles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Defaults()
		s.PromoteBelow = rapid.IntRange(0, s.DemoteTo-50).Draw(t, "mark")
		m := &Material{New: randomCandidates(t)}
		m.Keeps = make([]int, len(m.New)+1)
		small := rapid.IntRange(500, 20_000).Draw(t, "small")
		budget := small + rapid.IntRange(0, 40_000).Draw(t, "more")
		refold(m, small, s)
		head := func() (n int) {
			for _, p := range m.Pairs {
				n += p.Layout.Tokens
			}
			return n
		}
		was, pairs := head(), len(m.Pairs)
		o := Choose(m, budget, share(budget, s.DemoteTo), 0, s)
		full := m.option(0, budget, share(budget, s.DemoteTo), 0, s)
		if mark := promoteMark(budget, s); o.Fits && full.Fits && o.head() < mark && full.head() > o.head()+o.head()/10 {
			t.Fatalf("%d tokens are left, below the mark of %d, and %d could be shown", o.head(), mark, full.head())
		}
		kept := m.option(len(m.Pairs), budget, share(budget, s.DemoteTo), 0, s)
		if pairs > 0 && o.Divergence == 0 && kept.lifted(&full, promoteMark(budget, s)) && full.head() < was {
			t.Fatalf("a promotion from %d tokens to %d", was, full.head())
		}
		refold(m, budget, s)
		if changed := refold(m, budget, s); changed > 0 {
			t.Fatalf("another fold changes %d tiers", changed)
		}
	})
}

// TestSpacing_MovesAsTheRoots: the cheapest growth between folds is as the root of
// (w-r)/r, and as the root of what a fold writes again.
func TestSpacing_MovesAsTheRoots(t *testing.T) {
	const growth = 1_500
	close := func(what string, got, want float64) {
		t.Helper()
		if got < want*0.9 || got > want*1.1 {
			t.Errorf("%s: %.3f times, want %.3f", what, got, want)
		}
	}
	prices := func(ratio float64) compartments.Prices { // (w-r)/r
		p := marks
		p.Input = p.CacheRead
		p.CacheWrite = p.CacheRead + int64(ratio*float64(p.CacheRead))
		return p
	}
	base := float64(Spacing(20_000, growth, prices(1)))
	for _, c := range []struct{ times, root float64 }{{2, 1.41421}, {4, 2}, {9, 3}, {11.5, 3.39116}, {100, 10}} {
		close("(w-r)/r", float64(Spacing(20_000, growth, prices(c.times)))/base, c.root)
		close("D", float64(Spacing(int(20_000*c.times), growth, prices(1)))/base, c.root)
		close("g", float64(Spacing(20_000, int(growth*c.times), prices(1)))/base, c.root)
	}
	close("with the prices of a usual model", float64(Spacing(20_000, growth, marks))/base, 3.39116)
}

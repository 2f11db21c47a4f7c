package decay

import (
	"slices"
	"strings"
	"testing"

	"ctxplugin/compartments"

	"pgregory.net/rapid"
)

func TestParseAblation(t *testing.T) {
	all := strings.Join(AblationNames(), ",")
	for _, list := range append(AblationNames(), "", "tiers,stubs", all) {
		if a, err := ParseAblation(list); err != nil || a.String() != list {
			t.Errorf("%q: %q, %v", list, a, err)
		}
	}
	if a, err := ParseAblation("stubs,tiers,stubs"); err != nil || a != AblateTiers|AblateStubs {
		t.Errorf("another order: %q, %v", a, err)
	}
	for _, list := range []string{"Tiers", "tier", "tiers,", ",", "tiers, stubs"} {
		_, err := ParseAblation(list)
		if err == nil {
			t.Errorf("%q is taken", list)
			continue
		}
		for _, name := range AblationNames() {
			if !strings.Contains(err.Error(), name) {
				t.Errorf("%q: the error does not name %s: %v", list, name, err)
			}
		}
	}
}

// stepsOf are the tiers that demotions of a candidate stop at.
func stepsOf(c Candidate, s Settings) (out []compartments.Tier) {
	list := demotionsOf([]Candidate{c}, 8, s)
	for _, st := range list.steps {
		out = append(out, st.to.tier)
	}
	return out
}

func TestAblated_HullMergesNothing(t *testing.T) {
	// dense takes nearly what full does and is worth much less
	c := Candidate{Compartment: made(1, 5000, [4]int{600, 590, 90, 36}, 50), Applied: compartments.TierFull, Relevance: 1000}
	s := Defaults()
	if got := stepsOf(c, s); slices.Contains(got, compartments.TierDense) {
		t.Fatalf("the hull keeps dense: %v", got)
	}
	want := []compartments.Tier{compartments.TierDense, compartments.TierCompact, compartments.TierAnchor, compartments.TierIndex}
	if got := stepsOf(c, s.Ablated(AblateHull)); !slices.Equal(got, want) {
		t.Errorf("without the hull %v", got)
	}
}

// Without the hull steps of a candidate still come in order, so that a selection is
// the state behind its last step.
func TestAblated_HullStepsInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := make([]Candidate, rapid.IntRange(1, 20).Draw(t, "candidates"))
		for i := range in {
			var tokens [4]int
			most := 900
			for j := range tokens {
				most = rapid.IntRange(1, most).Draw(t, "tokens")
				tokens[j] = most
			}
			in[i] = Candidate{Compartment: made(i, 3000, tokens, rapid.IntRange(1, 100).Draw(t, "importance")), Applied: compartments.TierFull, Relevance: 1000}
		}
		s := Defaults().Ablated(AblateHull)
		list := demotionsOf(in, 8, s)
		last := map[int]int32{}
		for _, turn := range list.turns {
			at := list.steps[turn.at].candidate
			if before, ok := last[at]; ok && before > turn.at {
				t.Fatalf("candidate %d: step %d before step %d", at, before, turn.at)
			}
			last[at] = turn.at
		}
		target := rapid.IntRange(0, 20_000).Draw(t, "target")
		if sel := Select(in, target, s); sel.Fits() && sel.Tokens > target {
			t.Fatalf("%d tokens fit %d", sel.Tokens, target)
		}
	})
}

func TestAblated_Hysteresis(t *testing.T) {
	if got := Defaults().Ablated(AblateHysteresis).DemoteTo; got != 1000 {
		t.Errorf("demotes to %d", got)
	}
	if Defaults().Ablated(0) != Defaults() {
		t.Error("nothing ablated changes settings")
	}
}

func TestAblated_Economics(t *testing.T) {
	s := Defaults().Ablated(AblateEconomics)
	w := Window{Usable: 100_000}
	o := Option{Items: make([]compartments.Item, 1), After: 30_000, Behind: 20_000}
	m := Moment{Messages: 50_000, Growth: AblatedSpacing - 1, PerStep: 500, Cold: true, TurnStart: true, LargestTurn: 60_000, Prices: marks}
	if _, _, ok := m.Worthwhile(o, w, s); ok || m.Ripe(20_000, w, s) {
		t.Error("a cold cache or a turn ahead folds although the spacing is fixed")
	}
	m = Moment{Messages: 50_000, Growth: AblatedSpacing, PerStep: 500, Turn: 10_000, Prices: marks}
	reason, spacing, ok := m.Worthwhile(o, w, s)
	if !ok || reason != compartments.ReasonPays || spacing != AblatedSpacing || !m.Ripe(20_000, w, s) {
		t.Errorf("%s, %d, %v", reason, spacing, ok)
	}
	if _, _, ok := m.Worthwhile(o, w, Defaults()); ok {
		t.Error("the economics fold here too, so this shows nothing")
	}
}

func TestAblated_Divergence(t *testing.T) {
	m := Material{Tail: 3000}
	for i := range 3 {
		m.Pairs = append(m.Pairs, Pair{Layout: compartments.PairLayout{Tokens: 620}, Candidates: []Candidate{{Compartment: usual(i), Applied: compartments.TierFull, Relevance: 1000}}})
	}
	m.New = candidates(2, compartments.TierRaw)
	m.Keeps = []int{0, 0, 0}
	if o := Choose(&m, 4000, 3200, 0, Defaults()); o.Divergence == 0 {
		t.Fatal("a full fold anyway, so this shows nothing")
	}
	if o := Choose(&m, 4000, 3200, 0, Defaults().Ablated(AblateDivergence)); o.Divergence != 0 || len(o.Weighed) != 1 {
		t.Errorf("diverges at pair %d of %d weighed", o.Divergence, len(o.Weighed))
	}
}

func TestAblated_Relevance(t *testing.T) {
	for turns := range 5 {
		if got := Defaults().Relevance(turns); got != Relevance(turns) {
			t.Errorf("%d turns behind: %d", turns, got)
		}
		if got := Defaults().Ablated(AblateRelevance).Relevance(turns); got != 1000 {
			t.Errorf("without it, %d turns behind: %d", turns, got)
		}
	}
}

func TestAblated_Stubs(t *testing.T) {
	list := calls(on(compartments.VerbRead, "a"), on(compartments.VerbRead, "b"), on(compartments.VerbRead, "a"))
	bulk := []Bulk{{Ordinal: 1, Chars: 1000, Call: 0}, {Ordinal: 2, Chars: 5000, Behind: 90_000, Turns: 9, Call: 1}}
	for _, c := range []struct {
		without Ablation
		want    int
	}{{0, 2}, {AblateStubs, 0}, {AblateSuperseded, 1}} {
		s := Defaults().Ablated(c.without)
		if got := Thin(bulk, list, s.Superseded(list), 100_000, s); len(got) != c.want {
			t.Errorf("without %q: %d stubs, want %d", c.without, len(got), c.want)
		}
	}
}

// With the hull each step of a candidate loses more for a token than the one before
// it, so that the one list of all demotions is in the order of what each step loses
// itself. Without the hull it is not: a step would stand behind a dearer one.
func TestHull_EachStepIsDearer(t *testing.T) {
	dearer := func(s Settings, points []point) bool {
		h := s.stops(points, point{})
		for i := 2; i < len(h); i++ {
			if rate(h[i-1], h[i]) < rate(h[i-2], h[i-1]) {
				return false
			}
		}
		return true
	}
	rapid.Check(t, func(t *rapid.T) {
		var points []point
		tokens := int64(1 << 20)
		for range rapid.IntRange(1, 6).Draw(t, "points") {
			tokens -= rapid.Int64Range(1, 1<<17).Draw(t, "fewer")
			points = append(points, point{tokens: tokens, value: rapid.Int64Range(0, 1<<30).Draw(t, "value")})
		}
		if s := Defaults(); !dearer(s, points) {
			t.Fatalf("%v", points)
		}
	})
	of := func() []point {
		return []point{{tokens: 600, value: 100}, {tokens: 590, value: 20}, {tokens: 90, value: 10}}
	}
	if !dearer(Defaults(), of()) || dearer(Defaults().Ablated(AblateHull), of()) {
		t.Error("the hull makes no difference")
	}
}

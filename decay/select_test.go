package decay

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ctxplugin/compartments"

	"pgregory.net/rapid"
)

// made is a compartment whose tiers have the given tokens and a survival that
// falls with them.
func made(id int, raw int, tokens [4]int, importance int) *compartments.Compartment {
	c := &compartments.Compartment{ID: compartments.CompartmentID(id), First: compartments.Ordinal(id*10 + 1), Last: compartments.Ordinal(id*10 + 10),
		RawTokens: raw, Importance: importance, Title: fmt.Sprintf("objective %d of this session", id),
		Names: []string{fmt.Sprintf("pkg/file%d.go", id), fmt.Sprintf("Name%d", id)}, Tiers: map[compartments.Tier]compartments.Rendition{}}
	survival := [4]uint16{980, 870, 620, 300}
	for i, t := range compartments.Rendered {
		if tokens[i] == 0 {
			continue
		}
		r := compartments.Rendition{Tokens: tokens[i], Text: fmt.Sprintf("[%d-%d] %s%s", c.First, c.Last, c.Title, strings.Repeat(" word", tokens[i]))}
		for d := range r.Survival {
			r.Survival[d] = survival[i]
		}
		c.Tiers[t] = r
	}
	return c
}

func usual(id int) *compartments.Compartment {
	return made(id, 5000, [4]int{600, 250, 90, 36}, 20+id*7%60)
}

func candidates(n int, applied compartments.Tier) []Candidate {
	out := make([]Candidate, n)
	for i := range out {
		out[i] = Candidate{Compartment: usual(i), Applied: applied, Relevance: 1000}
	}
	return out
}

func TestSelect_UnderTheBudgetNothingIsDemoted(t *testing.T) {
	sel := Select(candidates(5, compartments.TierRaw), 25_000, Defaults())
	for i, tier := range sel.Tiers {
		if tier != compartments.TierRaw {
			t.Errorf("candidate %d: %s, want raw", i, tier)
		}
	}
	if !sel.Fits() {
		t.Error("exactly the target does not fit")
	}
}

func TestSelect_RenderedIsNeverRawAgain(t *testing.T) {
	in := candidates(6, compartments.TierRaw)
	for i := range 3 {
		in[i].Applied = compartments.TierDense
	}
	sel := Select(in, 1_000_000, Defaults())
	want := []compartments.Tier{compartments.TierFull, compartments.TierFull, compartments.TierFull, compartments.TierRaw, compartments.TierRaw, compartments.TierRaw}
	if !slices.Equal(sel.Tiers, want) {
		t.Errorf("tiers %v, want %v", sel.Tiers, want)
	}
}

func TestSelect_PinnedStaysRaw(t *testing.T) {
	in := candidates(4, compartments.TierRaw)
	in[1].Compartment.Retention = compartments.Pinned
	sel := Select(in, 100, Defaults())
	if sel.Tiers[1] != compartments.TierRaw {
		t.Errorf("pinned compartment is %s", sel.Tiers[1])
	}
	if sel.Fits() {
		t.Error("5,000 pinned tokens fit into 100")
	}
}

func TestSelect_FloorStopsThePush(t *testing.T) {
	in := candidates(8, compartments.TierRaw)
	in[2].Compartment.Floor.Tier = compartments.TierDense
	in[4].Compartment.Floor.Survival[compartments.Constraints] = 800
	sel := Select(in, 10, Defaults())
	for _, i := range []int{2, 4} {
		if sel.Tiers[i] > compartments.TierDense {
			t.Errorf("candidate %d is %s, below its floor", i, sel.Tiers[i])
		}
	}
}

func TestSelect_DiscardableIsArchivedNotIndexed(t *testing.T) {
	in := candidates(4, compartments.TierRaw)
	in[0].Compartment.Retention = compartments.Discardable
	sel := Select(in, 10, Defaults())
	if sel.Tiers[0] != compartments.TierArchived {
		t.Errorf("discardable compartment is %s", sel.Tiers[0])
	}
}

// The selection holds the target for any number of compartments.
func TestSelect_AnyNumberFits(t *testing.T) {
	for _, n := range []int{1, 7, 64, 500, 5000, 20_000} {
		in := candidates(n, compartments.TierRaw)
		sel := Select(in, 2000, Defaults())
		items, tokens := Layout(in, sel)
		if !sel.Fits() || tokens > 2000 {
			t.Errorf("%d compartments: %d tokens in %d items, fits %v", n, tokens, len(items), sel.Fits())
		}
		if last := sel.Tiers[n-1]; n <= 64 && last > compartments.TierCompact {
			t.Errorf("%d compartments: the newest is %s: the old ones starve it", n, last)
		}
	}
}

func TestSelect_OldestGoIntoIndexLinesFirst(t *testing.T) {
	in := candidates(200, compartments.TierFull)
	sel := Select(in, 4000, Defaults())
	indexed := true
	for i, tier := range sel.Tiers {
		if tier != compartments.TierIndex {
			indexed = false
		} else if !indexed {
			t.Fatalf("candidate %d is in an index line, an older one is not", i)
		}
	}
}

func randomCandidates(t *rapid.T) []Candidate {
	n := rapid.IntRange(0, 60).Draw(t, "n")
	in := make([]Candidate, n)
	for i := range in {
		full := rapid.IntRange(20, 1000).Draw(t, "full")
		tokens := [4]int{full}
		for j := 1; j < 4; j++ {
			tokens[j] = rapid.IntRange(5, tokens[j-1]).Draw(t, "tokens")
		}
		c := made(i, rapid.IntRange(full, 12_000).Draw(t, "raw"), tokens, rapid.IntRange(1, 100).Draw(t, "importance"))
		for _, tier := range compartments.Rendered {
			r := c.Tiers[tier]
			for d := range r.Survival {
				r.Survival[d] = uint16(rapid.IntRange(0, 1000).Draw(t, "survival"))
			}
			c.Tiers[tier] = r
		}
		c.Retention = rapid.SampledFrom([]compartments.Retention{compartments.Compressible, compartments.Compressible, compartments.Compressible, compartments.Discardable, compartments.Pinned}).Draw(t, "retention")
		if rapid.IntRange(0, 5).Draw(t, "floored") == 0 {
			c.Floor.Tier = rapid.SampledFrom(compartments.Rendered[:]).Draw(t, "floor")
		}
		applied := rapid.SampledFrom([]compartments.Tier{compartments.TierRaw, compartments.TierFull, compartments.TierAnchor, compartments.TierIndex}).Draw(t, "applied")
		in[i] = Candidate{Compartment: c, Applied: applied, Relevance: rapid.IntRange(1000, 4000).Draw(t, "relevance"), NotRaw: rapid.IntRange(0, 7).Draw(t, "not raw") == 0}
		if rapid.IntRange(0, 3).Draw(t, "stubs") == 0 {
			in[i].Saved = rapid.IntRange(0, c.RawTokens).Draw(t, "saved")
		}
	}
	return in
}

// Never outside the legal range; what it says it takes is what it takes; a
// smaller target never shows more of anything; raw only behind all rendered.
func TestSelect_Properties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := randomCandidates(t)
		target := rapid.IntRange(0, 40_000).Draw(t, "target")
		s := Defaults()
		sel := Select(in, target, s)
		again := Select(in, target, s)
		if !slices.Equal(sel.Tiers, again.Tiers) {
			t.Fatal("the same state gave another selection")
		}
		raw := false
		for i := len(in) - 1; i >= 0; i-- {
			c, tier := in[i].Compartment, sel.Tiers[i]
			switch tier {
			case compartments.TierIndex:
				if !c.MayIndex() {
					t.Fatalf("candidate %d may not be indexed", i)
				}
			case compartments.TierArchived:
				if c.Retention != compartments.Discardable {
					t.Fatalf("candidate %d may not be archived", i)
				}
			default:
				if !slices.Contains(c.Legal(), tier) {
					t.Fatalf("candidate %d: %s is not legal", i, tier)
				}
			}
			if tier == compartments.TierRaw && c.Retention != compartments.Pinned && raw && len(c.Legal()) > 1 {
				t.Fatalf("candidate %d is raw before a rendered one", i)
			}
			raw = raw || tier != compartments.TierRaw
		}
		_, tokens := Layout(in, sel)
		for i, tier := range sel.Tiers {
			if tier == compartments.TierRaw {
				tokens += in[i].Compartment.RawTokens - in[i].Saved
			}
		}
		if sel.Tokens != tokens {
			t.Fatalf("it says that it takes %d tokens, and takes %d", sel.Tokens, tokens)
		}
		if sel.Fits() && tokens > target {
			t.Fatalf("%d tokens where %d were asked for", tokens, target)
		}
		smaller := Select(in, target/2, s)
		if smaller.GroupSize == sel.GroupSize {
			for i := range in {
				if smaller.Tiers[i] < sel.Tiers[i] {
					t.Fatalf("candidate %d: %s under %d, but %s under %d", i, smaller.Tiers[i], target/2, sel.Tiers[i], target)
				}
			}
		}
	})
}

// TestSelect_SaysWhatItTakes names the tokens of each kind of entry, and of what
// stays raw.
func TestSelect_SaysWhatItTakes(t *testing.T) {
	for name, c := range map[string]struct {
		change func(in []Candidate)
		target int
		tokens int
	}{
		"raw":                             {func(in []Candidate) {}, 100_000, 4 * 5000},
		"raw, of which stubs save a part": {func(in []Candidate) { in[1].Saved = 4000 }, 100_000, 3*5000 + 1000},
		"rendered":                        {func(in []Candidate) { rendered(in) }, 100_000, 4 * (600 + headingTokens)},
		"messages held behind all others": {func(in []Candidate) { rendered(in); in[3].Compartment.Retention = compartments.Pinned }, 100_000, 3*(600+headingTokens) + 5000},
		"messages held before others":     {func(in []Candidate) { rendered(in); in[0].Compartment.Retention = compartments.Pinned }, 100_000, keptRawTokens + 5000 + 3*(600+headingTokens)},
		"no room, in one line":            {func(in []Candidate) { rendered(in); in[1].Away, in[2].Away = true, true }, 100_000, 2*(600+headingTokens) + awayTokens},
		"one index line":                  {func(in []Candidate) { rendered(in) }, 60, compartments.TierIndex.Ceiling()},
		"pinned words":                    {func(in []Candidate) { rendered(in); in[0].Pins = []Shown{{1, 70}} }, 100_000, 4*(600+headingTokens) + 70},
	} {
		in := candidates(4, compartments.TierRaw)
		c.change(in)
		sel := Select(in, c.target, Defaults())
		if sel.Tokens != c.tokens || !sel.Fits() {
			t.Errorf("%s: %d tokens, want %d; fits %v; tiers %v", name, sel.Tokens, c.tokens, sel.Fits(), sel.Tiers)
		}
	}
	in := candidates(2, compartments.TierFull)
	in[0].Compartment.Floor.Tier = compartments.TierFull
	s := Defaults()
	s.ForceTier = compartments.TierAnchor // which the floor of the first forbids
	if sel := Select(in, 100_000, s); sel.Tokens != 5000+keptRawTokens+36+headingTokens {
		t.Errorf("a tier is forced: %d tokens, tiers %v", sel.Tokens, sel.Tiers)
	}
}

func rendered(in []Candidate) {
	for i := range in {
		in[i].Applied = compartments.TierFull
	}
}

// Every point on the hull is worth stopping at: between its neighbours, no
// mixture of them is as good.
func TestHull_IsConcave(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var points []point
		for range rapid.IntRange(1, 8).Draw(t, "n") {
			points = append(points, point{tokens: int64(rapid.IntRange(0, 2000).Draw(t, "tokens")), value: int64(rapid.IntRange(0, 1_000_000).Draw(t, "value"))})
		}
		slices.SortStableFunc(points, func(a, b point) int { return int(b.tokens - a.tokens) })
		all := slices.Clone(points)
		h := hull(points)
		for i := 1; i < len(h); i++ {
			if h[i].tokens >= h[i-1].tokens || h[i].value >= h[i-1].value {
				t.Fatalf("%v does not fall", h)
			}
			if i > 1 && rate(h[i-1], h[i]) < rate(h[i-2], h[i-1]) {
				t.Fatalf("%v is not concave", h)
			}
		}
		best := slices.MaxFunc(all, func(a, b point) int { return int(a.value - b.value) })
		if h[0].value != best.value {
			t.Fatalf("%v does not begin with the most valuable of %v", h, all)
		}
		if least := all[len(all)-1]; h[len(h)-1].tokens > least.tokens {
			t.Fatalf("%v does not end with the smallest of %v", h, all)
		}
	})
}

// BenchmarkSelectAndRender: 5,000 compartments into 40,000 tokens. The aim is
// 10 ms.
func BenchmarkSelectAndRender(b *testing.B) {
	in := candidates(5000, compartments.TierRaw)
	byID := map[compartments.CompartmentID]*compartments.Compartment{}
	for _, c := range in {
		byID[c.Compartment.ID] = c.Compartment
	}
	lookup := func(id compartments.CompartmentID) *compartments.Compartment { return byID[id] }
	b.ReportAllocs()
	for b.Loop() {
		sel := Select(in, 40_000, Defaults())
		items, _ := Layout(in, sel)
		RenderPair(items, true, lookup, nil)
	}
}

func TestSelect_ForcedTier(t *testing.T) {
	s := Defaults()
	s.ForceTier = compartments.TierCompact
	in := candidates(6, compartments.TierRaw)
	delete(in[2].Compartment.Tiers, compartments.TierCompact)
	sel := Select(in, 1_000_000, s)
	for i, tier := range sel.Tiers {
		want := compartments.TierCompact
		if i == 2 {
			want = compartments.TierAnchor
		}
		if tier != want {
			t.Errorf("candidate %d is %s, want %s", i, tier, want)
		}
	}
}

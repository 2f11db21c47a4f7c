package decay

import (
	"fmt"
	"strings"
	"testing"

	"ctxplugin/compartments"

	"pgregory.net/rapid"
)

// spanned is a material whose compartments have exact spans of so many tokens.
func spanned(n int, tokens func(i int) int) *Material {
	m := materialOf(0, n)
	for i := range m.New {
		if size := tokens(i); size > 0 {
			c := m.New[i].Compartment
			for tier, r := range c.Tiers { // all of them have it
				r.Tokens += size
				c.Tiers[tier] = r
			}
			c.Spans = []compartments.ExactSpan{{Ordinal: c.First, Text: fmt.Sprintf("span of %d", c.ID), Tokens: size}}
		}
	}
	return m
}

// TestSpans_ShareOfTheBudget: exact spans take a third of the budget in index lines;
// those of the least important compartments are left out first, and all that the
// text shows is what is counted.
func TestSpans_ShareOfTheBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(0, 120).Draw(t, "size")
		m := spanned(rapid.IntRange(1, 120).Draw(t, "compartments"), func(i int) int { return size * (i % 4) / 2 })
		budget := rapid.IntRange(300, 6000).Draw(t, "budget")
		o := Choose(m, budget, budget*8/10, 0, Defaults())
		lookup := func(id compartments.CompartmentID) *compartments.Compartment { return m.New[id].Compartment }
		text := RenderPair(o.Items, true, lookup, nil) + "\n"
		kept, least, most := 0, 1000, 0
		for _, item := range o.Items {
			if item.Tier != compartments.TierIndex {
				if len(item.Bare) > 0 {
					t.Fatal("an entry that is no index line leaves spans out")
				}
				continue
			}
			bare := map[compartments.CompartmentID]bool{}
			for _, id := range item.Bare {
				bare[id] = true
				most = max(most, lookup(id).Importance)
			}
			for _, id := range item.Compartments {
				for _, s := range lookup(id).Spans {
					if bare[id] == strings.Contains(text, s.Text+"\n") {
						t.Fatalf("the span of %d is left out: %t, shown: %t", id, bare[id], !bare[id])
					}
					if !bare[id] {
						kept += s.Tokens + headingTokens
						least = min(least, lookup(id).Importance)
					}
				}
			}
		}
		if kept > budget/3 {
			t.Fatalf("%d tokens of spans of a budget of %d", kept, budget)
		}
		if most > least {
			t.Fatalf("spans of importance %d are left out, of %d shown", most, least)
		}
	})
}

// TestSpans_WithinTheShareAllStand: nothing is left out where there is room.
func TestSpans_WithinTheShareAllStand(t *testing.T) {
	m := spanned(60, func(i int) int { return 20 * (i % 10 / 9) })
	o := Choose(m, 2_000, 1_600, 0, Defaults())
	indexed := 0
	for _, item := range o.Items {
		if item.Tier == compartments.TierIndex {
			indexed += len(item.Compartments)
		}
		if len(item.Bare) > 0 {
			t.Errorf("%v are left out", item.Bare)
		}
	}
	if indexed < 20 {
		t.Errorf("%d are in index lines", indexed)
	}
	many := spanned(60, func(int) int { return 100 })
	o = Choose(many, 2_000, 1_600, 0, Defaults())
	bare := 0
	for _, item := range o.Items {
		bare += len(item.Bare)
	}
	if bare == 0 {
		t.Error("6,000 tokens of spans stand in a budget of 2,000")
	}
}

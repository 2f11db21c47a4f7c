package decay

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"ctxplugin/compartments"
)

// TestRendering: whatever changed since the last pair, one that remembers it has the
// bytes of one that does not.
func TestRendering(t *testing.T) {
	pins := func(id compartments.PinID) *compartments.Pin {
		return &compartments.Pin{ID: id, Ordinal: 4, Spans: []compartments.PinSpan{{Text: "pinned words"}}}
	}
	rapid.Check(t, func(rt *rapid.T) {
		all := map[compartments.CompartmentID]*compartments.Compartment{}
		write := func(id compartments.CompartmentID, as string) {
			first := compartments.Ordinal(10 * id)
			c := &compartments.Compartment{ID: id, First: first, Last: first + 9, Title: as + " title", Names: []string{as + ".go"},
				Spans: []compartments.ExactSpan{{Ordinal: first, Text: as + " words"}}, Tiers: map[compartments.Tier]compartments.Rendition{}}
			for _, tier := range compartments.Rendered {
				c.Tiers[tier] = compartments.Rendition{Text: fmt.Sprintf("[%d-%d] %s as %s\nend", c.First, c.Last, as, tier)}
			}
			all[id] = c
		}
		const n = 12
		for id := compartments.CompartmentID(1); id <= n; id++ {
			write(id, fmt.Sprint("compartment ", id))
		}
		lookup := func(id compartments.CompartmentID) *compartments.Compartment { return all[id] }
		tier := rapid.SampledFrom([]compartments.Tier{compartments.TierFull, compartments.TierAnchor, compartments.TierIndex, compartments.TierIndex, compartments.TierRaw, compartments.TierArchived, compartments.TierNone})
		rare := func(name string) bool { return rapid.IntRange(0, 5).Draw(rt, name) == 0 }
		var tiers [n + 1]compartments.Tier
		var bare, pinned [n + 1]bool
		var remembers Rendering
		for fold := range 5 {
			for id := range tiers {
				if fold == 0 || rare("other tier") {
					tiers[id] = tier.Draw(rt, "tier")
				}
				bare[id] = bare[id] != rare("bare")
				pinned[id] = pinned[id] != rare("pinned")
				switch {
				case id == 0:
				case rare("written anew"):
					write(compartments.CompartmentID(id), fmt.Sprint("of fold ", fold))
				case rare("gone"):
					delete(all, compartments.CompartmentID(id))
				}
			}
			var items []compartments.Item
			for id := 1; id <= n; {
				item := compartments.Item{Tier: tiers[id]}
				for most := 1 + rapid.IntRange(0, 3).Draw(rt, "group"); id <= n && tiers[id] == item.Tier && len(item.Compartments) < most; id++ {
					item.Compartments = append(item.Compartments, compartments.CompartmentID(id))
					if bare[id] {
						item.Bare = append(item.Bare, compartments.CompartmentID(id))
					}
					if pinned[id] {
						item.Pins = append(item.Pins, compartments.PinID(id))
					}
					if item.Tier != compartments.TierIndex {
						id++
						break
					}
				}
				items = append(items, item)
			}
			first := rapid.Bool().Draw(rt, "first")
			if got, want := remembers.Pair(items, first, lookup, pins), RenderPair(items, first, lookup, pins); got != want {
				rt.Fatalf("fold %d: byte %d differs:\n%s\nwant:\n%s", fold, FirstDifference(got, want), got, want)
			}
		}
	})
}

// A compartment that is where it was is not read again.
func TestRendering_IsUsed(t *testing.T) {
	all, lookup := written()
	items := []compartments.Item{{Compartments: []compartments.CompartmentID{1, 2}, Tier: compartments.TierIndex}, {Compartments: []compartments.CompartmentID{3}, Tier: compartments.TierFull}}
	var r Rendering
	want := r.Pair(items, true, lookup, nil)
	all[1].Title, all[3].Tiers = "another", nil
	if got := r.Pair(items, true, lookup, nil); got != want {
		t.Errorf("entries were rendered again:\n%s", got)
	}
}

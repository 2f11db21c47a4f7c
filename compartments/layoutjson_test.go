package compartments_test

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"ctxplugin/compartments"
)

// TestAppendLayout: hashes and stored bytes are of what encoding/json made, so a field
// that is added to a layout, or a tag that changes, has to change both.
func TestAppendLayout(t *testing.T) {
	ids := func(rt *rapid.T, name string) []compartments.CompartmentID {
		return rapid.SampledFrom([][]compartments.CompartmentID{nil, {}, {7}, {1, -2, 1 << 40}}).Draw(rt, name)
	}
	hash := func(rt *rapid.T, name string) (h compartments.Hash) {
		copy(h[:], rapid.SampledFrom([]string{"", "\x00\xff", "a hash of thirty-two bytes at all"}).Draw(rt, name))
		return h
	}
	rapid.Check(t, func(rt *rapid.T) {
		layout := rapid.SampledFrom([][]compartments.PairLayout{{}, make([]compartments.PairLayout, 1), make([]compartments.PairLayout, 3)}).Draw(rt, "pairs")
		bare := make([]compartments.PairLayout, len(layout))
		for i := range bare {
			p := compartments.PairLayout{First: compartments.Ordinal(rapid.Int32().Draw(rt, "first")), Last: compartments.Ordinal(rapid.Int32().Draw(rt, "last")),
				Count: rapid.Int().Draw(rt, "count"), Tokens: rapid.Int().Draw(rt, "tokens"), Source: hash(rt, "source"), Rendered: hash(rt, "rendered")}
			if rapid.Bool().Draw(rt, "with items") {
				p.Items = make([]compartments.Item, rapid.IntRange(0, 3).Draw(rt, "items"))
			}
			for j := range p.Items {
				p.Items[j] = compartments.Item{Compartments: ids(rt, "compartments"), Tier: compartments.Tier(rapid.Uint8().Draw(rt, "tier")), Tokens: rapid.Int().Draw(rt, "of it"),
					Bare: ids(rt, "bare"), Eased: ids(rt, "eased"), Pins: rapid.SampledFrom([][]compartments.PinID{nil, {}, {3}, {1, 2}}).Draw(rt, "pins")}
			}
			bare[i] = p
			p.Text = "a text"
			layout[i] = p
		}
		want, err := json.Marshal(bare)
		if err != nil {
			rt.Fatal(err)
		}
		if got := compartments.AppendLayout(nil, layout); string(got) != string(want) {
			rt.Fatalf("layout:\n%s, want\n%s", got, want)
		}
	})
}

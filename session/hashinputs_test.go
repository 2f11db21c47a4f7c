package session

import (
	"crypto/sha256"
	"encoding/json"
	"testing"

	"ctxplugin/compartments"
)

// TestHashInputs: stored folds are verified against it, those of older programs too,
// which had encoding/json write the whole.
func TestHashInputs(t *testing.T) {
	for _, f := range []*compartments.Fold{
		{},
		{Reason: `a <reason> & "more"`, PlanID: "<plan>", Inputs: compartments.FoldInputs{Usable: 7, Replaces: "other", Floors: []int{1},
			Recording: &compartments.Recording{Candidates: compartments.Candidates{{Compartment: 1, Applied: 2, Relevance: 1000}, {Compartment: 2, Applied: 2, Relevance: 1000}}},
			Inherited: []compartments.PairLayout{{First: 1, Last: 2}}},
			Layout: []compartments.PairLayout{{First: 1, Last: 9, Count: 9, Text: "text", Tokens: 3, Rendered: compartments.Hash{1},
				Items: []compartments.Item{{Compartments: []compartments.CompartmentID{1, 2}, Tier: compartments.TierIndex, Tokens: 60, Pins: []compartments.PinID{4}}}}, {}}},
	} {
		b, err := json.Marshal(struct {
			Reason compartments.Reason
			Inputs compartments.FoldInputs
			Layout []compartments.PairLayout
			PlanID string
		}{f.Reason, f.Inputs, withoutTexts(f.Layout), f.PlanID})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := hashInputs(f), sha256.Sum256(b); got != want {
			t.Errorf("fold with %d pairs: %x, want %x", len(f.Layout), got, want)
		}
	}
}

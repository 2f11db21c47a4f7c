package historian

import (
	"context"
	"slices"
	"strings"
	"testing"

	"ctxplugin/compartments"

	"pgregory.net/rapid"
)

// Heads cuts where the generator cuts, and each tier is a beginning of the one
// above it within its ceiling.
func TestHeads(t *testing.T) {
	count := func(s string) int { return (len(s) + 3) / 4 }
	rapid.Check(t, func(t *rapid.T) {
		r := genRange(t)
		plain, err := New(count).Write(context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Heads{New(count)}.Write(context.Background(), r)
		if err != nil || len(got) != len(plain) {
			t.Fatalf("%d compartments, not %d: %v", len(got), len(plain), err)
		}
		for i := range got {
			if !slices.Equal(got[i].Members, plain[i].Members) || got[i].Title != plain[i].Title || got[i].Importance != plain[i].Importance {
				t.Fatalf("compartment %d is another one", i)
			}
			above := ""
			for n, tier := range compartments.Rendered {
				r := got[i].Tiers[tier]
				if r.Tokens > tier.Ceiling() || r.Tokens != count(r.Text) || n > 0 && !strings.HasPrefix(above, r.Text) {
					t.Fatalf("%s: %d tokens, %q under %q", tier, r.Tokens, r.Text, above)
				}
				if r.Survival != plain[i].Tiers[tier].Survival {
					t.Fatalf("%s is worth something else", tier)
				}
				above = r.Text
			}
		}
	})
}

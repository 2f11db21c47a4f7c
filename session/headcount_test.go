package session

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ctxplugin/tokens"
)

// TestHeadCounts: counted entry by entry, and only those that are new, a pair has as
// many tokens as in one go.
func TestHeadCounts(t *testing.T) {
	whole := tokens.New().Count
	rapid.Check(t, func(rt *rapid.T) {
		line := rapid.OneOf(rapid.StringMatching(`\[[0-9]{1,3}-[0-9]{1,3} (full|anchor)\] .{0,40}`), rapid.StringMatching(`[ \t\[\].,;:/\-]{0,6}(\pL|\pN| ){0,20}[ \t.\]\r]{0,3}`), rapid.String())
		entries := make([]string, rapid.IntRange(1, 6).Draw(rt, "entries"))
		var counts headCounts
		for fold := range 4 {
			for i := range entries {
				if fold == 0 || rapid.Bool().Draw(rt, "changes") {
					entries[i] = "[" + strings.Join(rapid.SliceOfN(line, 1, 4).Draw(rt, "lines"), "\n")
				}
			}
			text := strings.Join(entries, "\n\n")
			got := counts.count(text, rapid.Bool().Draw(rt, "anew"), whole)
			if want := whole(text); got != want {
				rt.Fatalf("fold %d: %d tokens, want %d, of %q", fold, got, want, text)
			}
			if again := counts.count(text, false, func(string) int { rt.Fatal("counted twice"); return 0 }); again != got {
				rt.Fatalf("%d, then %d", got, again)
			}
		}
	})
}

package trajectory

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the golden files")

// tenTurns are the turns of the golden run.
var tenTurns = []string{
	"add a retry to the importer, three times at most",
	"use a delay of 200 ms, doubled each time",
	"the tests must not sleep, hand the clock in",
	"why is TestImport red on the second run",
	"because the temp file is left over, remove it",
	"now log every attempt with its number and its cause, but never the token that the server wants",
	"commit that",
	"next the exporter: the same retry, but five times",
	"does it share the delay",
	"yes, move it to package backoff and say so in the notes",
}

// briefly is the warm form of a turn in the golden run: its first four words.
func briefly(text string) string {
	words := strings.Fields(text)
	if len(words) <= 4 {
		return text
	}
	return strings.Join(words[:4], " ") + " …"
}

func wordsOf(text string) int { return len(strings.Fields(strings.TrimSuffix(text, " …"))) }

const (
	goldenBudget = 40
	goldenHot    = 2
)

func goldenRun() (report string, above []int) {
	var b strings.Builder
	var pieces []piece
	for turn, text := range tenTurns {
		pieces = append(pieces, piece{hot: wordsOf(text), warm: wordsOf(briefly(text))})
		before := meter(pieces)
		crossed := compact(pieces, goldenBudget, goldenHot)
		fmt.Fprintf(&b, "turn %d: meter %d of %d", turn+1, before, goldenBudget)
		if len(crossed) > 0 {
			fmt.Fprintf(&b, ", compacted to %d:", meter(pieces))
			for _, c := range crossed {
				fmt.Fprintf(&b, " %d %s to %s;", c.piece+1, c.from, c.to)
			}
		}
		b.WriteByte('\n')
		if meter(pieces) > goldenBudget {
			above = append(above, turn+1)
		}
		for _, s := range [...]stage{hot, warm, cold} {
			fmt.Fprintf(&b, "  %s:\n", s)
			for i := range pieces {
				switch {
				case pieces[i].at != s:
				case s == warm:
					fmt.Fprintf(&b, "    %d %s\n", i+1, briefly(tenTurns[i]))
				default:
					fmt.Fprintf(&b, "    %d %s\n", i+1, tenTurns[i])
				}
			}
		}
	}
	return b.String(), above
}

func TestStages_GoldenRun(t *testing.T) {
	const file = "testdata/stages.golden"
	got, above := goldenRun()
	if len(above) > 0 {
		t.Errorf("above the budget behind turns %v", above)
	}
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the run differs from %s:\n%s", file, got)
	}
}

func TestStages_CompactHoldsAnyBudgetAndWarmsNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		budget, keep := rapid.IntRange(0, 60).Draw(t, "budget"), rapid.IntRange(0, 4).Draw(t, "keep")
		var pieces []piece
		for range rapid.IntRange(1, 30).Draw(t, "turns") {
			p := piece{hot: rapid.IntRange(1, 50).Draw(t, "hot")}
			p.warm = rapid.IntRange(1, p.hot).Draw(t, "warm")
			pieces = append(pieces, p)
			before := append([]piece(nil), pieces...)
			high := meter(pieces)
			crossed := compact(pieces, budget, keep)
			if m := meter(pieces); m > budget {
				t.Fatalf("the meter is at %d of %d", m, budget)
			}
			if high <= budget && len(crossed) > 0 {
				t.Fatalf("compacted at %d of %d", high, budget)
			}
			for i := range pieces {
				if pieces[i].at < before[i].at {
					t.Fatalf("piece %d went from %s to %s", i, before[i].at, pieces[i].at)
				}
			}
		}
	})
}

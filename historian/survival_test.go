package historian_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ctxplugin/compartments"
	"ctxplugin/historian"
	"ctxplugin/tokens"
)

//go:generate go run ../lab/sample/generate -script testdata/survival/fixtures/abort.story -project testdata/survival/fixtures/abort.project -out testdata/survival/fixtures/abort.json
//go:generate go run ../lab/sample/generate -script testdata/survival/fixtures/cache.story -out testdata/survival/fixtures/cache.json
//go:generate go run ../lab/sample/generate -script testdata/survival/fixtures/feeds.story -project testdata/survival/fixtures/feeds.project -out testdata/survival/fixtures/feeds.json
//go:generate go run ../lab/sample/generate -script testdata/survival/fixtures/gradle.story -project testdata/survival/fixtures/gradle.project -out testdata/survival/fixtures/gradle.json
//go:generate go run ../lab/sample/generate -script testdata/survival/fixtures/hangul.story -project testdata/survival/fixtures/hangul.project -out testdata/survival/fixtures/hangul.json
//go:generate go run ../lab/sample/generate -script testdata/survival/fixtures/ids.story -out testdata/survival/fixtures/ids.json
//go:generate go run ../lab/sample/generate -script testdata/survival/fixtures/nihongo.story -project testdata/survival/fixtures/nihongo.project -out testdata/survival/fixtures/nihongo.json
//go:generate go run ../lab/sample/generate -script testdata/survival/fixtures/ninety.story -out testdata/survival/fixtures/ninety.json
//go:generate go run ../lab/sample/generate -script testdata/survival/fixtures/publish.story -out testdata/survival/fixtures/publish.json
//go:generate go run ../lab/sample/generate -script testdata/survival/fixtures/search.story -out testdata/survival/fixtures/search.json
//go:generate go run ../lab/sample/generate -script testdata/survival/fixtures/sensors.story -project testdata/survival/fixtures/sensors.project -out testdata/survival/fixtures/sensors.json
//go:generate go run ../lab/sample/generate -script testdata/survival/fixtures/shop.story -project testdata/survival/fixtures/shop.project -out testdata/survival/fixtures/shop.json
//go:generate go run ../lab/sample/generate -script testdata/survival/fixtures/tags.story -out testdata/survival/fixtures/tags.json

var report = flag.Bool("report", false, "print Markdown tables of what survives")

const (
	survivalFolder = "testdata/survival"
	corpusFolder   = "../../shared/corpus"
	sampleFile     = "../lab/sample/sample.json"
)

var counter = tokens.New()

// label is a range of messages with what a successor must know of it.
type label struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	File  string `json:"file"`
	First int    `json:"first"` // 0-based place
	Last  int    `json:"last"`  // 0-based place, inclusive
	Items []item `json:"items"`
}

type item struct {
	Kind string   `json:"kind"`
	What string   `json:"what"`
	Any  []string `json:"any"`
}

func (l *label) path() string {
	switch folder, name, _ := strings.Cut(l.File, "/"); folder {
	case "sample":
		return sampleFile
	case "corpus":
		return filepath.Join(corpusFolder, name)
	}
	return filepath.Join(survivalFolder, l.File)
}

func readLabels(t testing.TB, half string) []label {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(survivalFolder, half+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Ranges []label }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatalf("%s: %v", half, err)
	}
	return file.Ranges
}

func writeOne(t testing.TB, ms []compartments.Message) compartments.Compartment {
	t.Helper()
	c, err := historian.New(counter.Count).WriteOne(context.Background(), rangeOf(ms))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	return c
}

// folded is a text for comparing: lower case, runs of white space as one blank.
func folded(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }

func (i *item) survives(foldedText string) bool {
	return slices.ContainsFunc(i.Any, func(s string) bool { return strings.Contains(foldedText, folded(s)) })
}

var kinds = []string{"request", "limit", "cause", "change", "file", "error", "status", "reference", "rejected", "open"}

// The labels are only worth something if every string stands in its range.
func TestSurvivalLabels(t *testing.T) {
	read := sessions{}
	for _, half := range []string{"tuned", "unseen"} {
		counts, fixtures := map[string]int{}, 0
		labels := readLabels(t, half)
		for _, l := range labels {
			if !strings.HasPrefix(l.File, "corpus/") {
				fixtures++
			}
			counts["type "+l.Type]++
			if n := len(l.Items); n < 5 || n > 11 {
				t.Errorf("%s: %q has %d items, want 5 to 11", half, l.Name, n)
			}
			for _, i := range l.Items {
				counts[i.Kind]++
				for _, s := range i.Any {
					if n := len([]rune(s)); n > 60 {
						t.Errorf("%s: %q: %d characters are too many", half, l.Name, n)
					}
				}
				if len(i.Any) == 0 || !slices.Contains(kinds, i.Kind) {
					t.Errorf("%s: %q: the item %q has kind %q and %d strings", half, l.Name, i.What, i.Kind, len(i.Any))
				}
			}
			ms := read.of(t, l.path())
			if ms == nil {
				continue
			}
			if l.First < 0 || l.Last < l.First || l.Last >= len(ms) {
				t.Errorf("%s: %q: %d..%d is no range of %d messages", half, l.Name, l.First, l.Last, len(ms))
				continue
			}
			text := folded(rawText(ms[l.First : l.Last+1]))
			for _, i := range l.Items {
				for _, s := range i.Any {
					if !strings.Contains(text, folded(s)) {
						t.Errorf("%s: %q: the range does not hold a string of %q", half, l.Name, i.What)
					}
				}
			}
		}
		if len(labels) < 17 || fixtures < 7 {
			t.Errorf("%s has %d ranges, %d of them invented; want 17 and 7", half, len(labels), fixtures)
		}
		for _, kind := range kinds {
			if counts[kind] < 5 {
				t.Errorf("%s has %d items of kind %s, want at least 5", half, counts[kind], kind)
			}
		}
		for _, kind := range []string{"failed builds", "design", "small requests", "no prose", "90 steps", "authentication", "CJK", "option number", "aborted", "mid-turn"} {
			if counts["type "+kind] == 0 {
				t.Errorf("%s has no range of type %q", half, kind)
			}
		}
	}
}

// slack is how much less may survive, in permille, when only the invented
// sessions are there: they are short and say more in a line than real ones.
const slack = 50

// marks are what must survive, in percent.
var marks = map[compartments.Tier]struct{ least, above int }{
	compartments.TierFull:    {95, 15},
	compartments.TierDense:   {85, 15},
	compartments.TierCompact: {60, 15},
	compartments.TierAnchor:  {27, 0},
}

// share counts how many of how many.
type share struct{ kept, all int }

func (s share) permille() int {
	if s.all == 0 {
		return 0
	}
	return 1000 * s.kept / s.all
}

func (s share) String() string { return fmt.Sprintf("%d.%03d", s.permille()/1000, s.permille()%1000) }

func (s *share) add(kept bool) {
	s.all++
	if kept {
		s.kept++
	}
}

type survival struct {
	tiers, baseline map[compartments.Tier]*share
	misses          []string
}

func newSurvival() *survival {
	s := &survival{tiers: map[compartments.Tier]*share{}, baseline: map[compartments.Tier]*share{}}
	for _, tier := range compartments.Rendered {
		s.tiers[tier], s.baseline[tier] = &share{}, &share{}
	}
	return s
}

// measure adds what survives of a labelled range to some counts.
func measure(t testing.TB, l *label, ms []compartments.Message, into ...*survival) {
	c := writeOne(t, ms)
	source := usersAndFinals(ms)
	for _, tier := range compartments.Rendered {
		text := folded(c.Tiers[tier].Text)
		base := folded(headAndTail(source, c.Tiers[tier].Tokens))
		for _, i := range l.Items {
			kept, plain := i.survives(text), i.survives(base)
			for _, s := range into {
				s.tiers[tier].add(kept)
				s.baseline[tier].add(plain)
				if !kept && tier != compartments.TierAnchor {
					s.misses = append(s.misses, fmt.Sprintf("%-8s %-9s %s %d..%d %q: %s %q", tier, i.Kind, l.File, l.First, l.Last, l.Name, i.What, i.Any))
				}
			}
		}
	}
}

func TestSurvival(t *testing.T) {
	read := sessions{}
	for _, half := range []string{"tuned", "unseen"} {
		all, corpus := newSurvival(), 0
		byType := map[string]*survival{}
		for _, l := range readLabels(t, half) {
			ms := read.of(t, l.path())
			if ms == nil {
				continue
			}
			if strings.HasPrefix(l.File, "corpus/") {
				corpus++
			}
			if byType[l.Type] == nil {
				byType[l.Type] = newSurvival()
			}
			measure(t, &l, ms[l.First:l.Last+1], all, byType[l.Type])
		}
		for _, tier := range compartments.Rendered {
			got, base, want := all.tiers[tier], all.baseline[tier], marks[tier]
			t.Logf("%s %s: %v of %d items survive, %v in users and finals of the same size", half, tier, got, got.all, base)
			least := 10 * want.least
			if corpus == 0 {
				least -= slack
			}
			if got.permille() < least {
				t.Errorf("%s %s: %v survive, want 0.%03d", half, tier, got, least)
			}
			if corpus > 0 && got.permille() < base.permille()+10*want.above { // finals of invented sessions are too good
				t.Errorf("%s %s: %v survive, users and finals alone reach %v, want 0.%02d more", half, tier, got, base, want.above)
			}
		}
		if corpus == 0 {
			t.Logf("%s: measured without the recorded sessions", half)
		}
		if half == "tuned" && testing.Verbose() {
			for _, miss := range all.misses {
				t.Log(miss)
			}
		}
		if *report {
			fmt.Printf("\n%s: %d items\n\n| range | full | dense | compact | anchor |\n|---|---:|---:|---:|---:|\n", half, all.tiers[compartments.TierFull].all)
			for _, kind := range sortedKeys(byType) {
				printShares(kind, byType[kind].tiers)
			}
			printShares("**all**", all.tiers)
			printShares("users and finals, same size", all.baseline)
		}
	}
}

func printShares(name string, shares map[compartments.Tier]*share) {
	fmt.Printf("| %s |", name)
	for _, tier := range compartments.Rendered {
		fmt.Printf(" %v |", shares[tier])
	}
	fmt.Println()
}

package decay

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ctxplugin/compartments"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; got:\n%s", path, got)
	}
}

// written are compartments as a historian leaves them.
func written() (map[compartments.CompartmentID]*compartments.Compartment, Lookup) {
	tier := func(text string) compartments.Rendition {
		return compartments.Rendition{Text: text, Tokens: len(text) / 4}
	}
	all := map[compartments.CompartmentID]*compartments.Compartment{
		1: {ID: 1, First: 1, Last: 8, Title: "read the rows in a stream", Names: []string{"importer/row.go", "ErrNoID"},
			Spans: []compartments.ExactSpan{{Ordinal: 1, Text: `"never drop a row silently"`, Tokens: 6}},
			Tiers: map[compartments.Tier]compartments.Rendition{compartments.TierAnchor: tier("[1-8] read the rows in a stream → done (row.go)")}},
		2: {ID: 2, First: 9, Last: 9, Title: "which exit code?", Names: []string{"main.go", "importer/row.go"},
			Tiers: map[compartments.Tier]compartments.Rendition{compartments.TierAnchor: tier("[9] which exit code? → 3")}},
		3: {ID: 3, First: 10, Last: 31, Title: "skip rows without an id",
			Tiers: map[compartments.Tier]compartments.Rendition{
				compartments.TierFull: tier("[10-31] skip rows without an id\nAsked: [10] \"skip rows without an id\"\nOutcome: [31] Done.\n[1-8 full] forged heading\nFailed: [12] go test → panic (then passed)"),
			}},
	}
	return all, func(id compartments.CompartmentID) *compartments.Compartment { return all[id] }
}

func TestRenderPair_Golden(t *testing.T) {
	_, lookup := written()
	items := []compartments.Item{
		{Compartments: []compartments.CompartmentID{1, 2}, Tier: compartments.TierIndex},
		{Compartments: []compartments.CompartmentID{2}, Tier: compartments.TierAnchor},
		{Compartments: []compartments.CompartmentID{3}, Tier: compartments.TierFull},
	}
	golden(t, "first.txt", RenderPair(items, true, lookup, nil))
	golden(t, "later.txt", RenderPair(items[1:], false, lookup, nil))
}

// The same items give the same bytes, and no line of a body passes for a
// heading.
func TestRenderPair_HeadingsAreOurs(t *testing.T) {
	_, lookup := written()
	items := []compartments.Item{{Compartments: []compartments.CompartmentID{3}, Tier: compartments.TierFull}}
	text := RenderPair(items, false, lookup, nil)
	if text != RenderPair(items, false, lookup, nil) {
		t.Error("rendered twice, the text differs")
	}
	headings := 0
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "[") && strings.Contains(line, "full]") {
			headings++
		}
	}
	if headings != 1 {
		t.Errorf("%d headings in\n%s", headings, text)
	}
}

func TestRenderPair_IndexLineKeepsExactSpans(t *testing.T) {
	_, lookup := written()
	text := RenderPair([]compartments.Item{{Compartments: []compartments.CompartmentID{1, 2}, Tier: compartments.TierIndex}}, false, lookup, nil)
	for _, want := range []string{`"never drop a row silently"`, "importer/row.go", "ErrNoID", "main.go", "[1-9 index]"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

// The text that opens a pair takes no more tokens than are set aside for it.
func TestPreamble_IsBounded(t *testing.T) {
	all, lookup := written()
	all[1].First, all[2].Last = 1_000_001, 9_999_999
	items := []compartments.Item{{Compartments: []compartments.CompartmentID{1, 2}, Tier: compartments.TierIndex}}
	for _, first := range []bool{true, false} {
		text := RenderPair(items, first, lookup, nil)
		opening := text[:strings.Index(text, "\n")]
		if n := (len(opening) + 2) / 3; n > Preamble(first)+Preamble(first)/4 {
			t.Errorf("about %d tokens, %d are set aside", n, Preamble(first))
		}
	}
}

func TestStub(t *testing.T) {
	p := &compartments.Part{Kind: compartments.PartTool, Tool: "bash", Status: compartments.StatusCompleted, HasExit: true, ExitCode: 2,
		Output: strings.Repeat("a line of output\n", 400)}
	stub := func(characters int) string { return Stub(PreviewOf(p, characters), 57, 2, characters) }
	got := stub(60)
	golden(t, "stub.txt", got)
	if got != stub(60) {
		t.Error("made twice, the stub differs")
	}
	if short := stub(0); strings.Contains(short, "\n") {
		t.Errorf("a stub without a preview has more than a line: %q", short)
	}
	p.Status, p.HasExit = compartments.StatusError, false
	if got := stub(0); !strings.Contains(got, "failed") || !strings.Contains(got, `ctx_expand({"message": 57, "part": 2})`) {
		t.Errorf("stub of a failure: %q", got)
	}
}

func TestStub_NamesFiles(t *testing.T) {
	p := &compartments.Part{Kind: compartments.PartTool, Tool: "read", Status: compartments.StatusCompleted, Output: "Image read"}
	for media, want := range map[int]string{0: "completed, 10 characters; ", 1: "10 characters and a file; ", 3: "10 characters and 3 files; "} {
		p.Media = media
		if got := Stub(PreviewOf(p, 0), 5, 0, 0); !strings.Contains(got, want) {
			t.Errorf("%d files: %q", media, got)
		}
	}
}

// What is kept of a large part makes the very stub that the whole part makes, for
// every preview that it says it can show.
func TestPreview_StandsForThePart(t *testing.T) {
	line := rapid.SampledFrom([]string{"a", "line\n", "é𝄞", "\r\n", " ", "世界", "x\x00", "\n"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(line, 0, 60).Draw(t, "lines"), "")
		p := &compartments.Part{Kind: rapid.SampledFrom([]compartments.PartKind{compartments.PartTool, compartments.PartText}).Draw(t, "kind"),
			Status: compartments.StatusCompleted, Tool: "bash", Text: text, Output: text}
		kept := PreviewOf(p, rapid.IntRange(0, 80).Draw(t, "kept"))
		asked := rapid.IntRange(0, 80).Draw(t, "asked")
		got, want := Stub(kept, 1, 0, asked), Stub(PreviewOf(p, asked), 1, 0, asked)
		if kept.Shows(asked) && got != want {
			t.Fatalf("%q\nwant %q", got, want)
		}
		if !kept.Shows(asked) && len(kept.Begin) >= len(text) {
			t.Fatalf("it has all of the text, but says that it does not show %d characters", asked)
		}
		if !PreviewOf(p, asked).Shows(asked) {
			t.Fatalf("a preview made for %d characters does not show them", asked)
		}
	})
}

// An index line says where its work begins and where it ends, in the words of the
// entries themselves, and takes about what is set aside for it.
func TestRenderIndex_SaysFromAndTo(t *testing.T) {
	for title, want := range map[string]string{
		"skip rows without an id":                                     "skip rows without an id",
		"(cont. of [16]) Restart the server":                          "Restart the server",
		"(cont. of the talk) Restart it":                              "(cont. of the talk) Restart it",
		"read rows and write them in one transaction only":            "read rows and write them in …",
		"read internal/importer/transactions.go first":                "read internal/importer/transac…",
		"(cont. of [16]) read internal/importer/transactions.go line": "read internal/importer/transac…",
	} {
		if got := indexed(title); got != want {
			t.Errorf("%q is indexed as %q, want %q", title, got, want)
		}
	}
	one := func(first, last compartments.Ordinal, title string) *compartments.Compartment {
		return &compartments.Compartment{ID: compartments.CompartmentID(first), First: first, Last: last, Title: title, Names: []string{"rows.go"}}
	}
	all := map[compartments.CompartmentID]*compartments.Compartment{1: one(1, 8, "skip rows"), 9: one(9, 9, "(cont. of [1]) count them")}
	lookup := func(id compartments.CompartmentID) *compartments.Compartment { return all[id] }
	var b strings.Builder
	renderIndex(&b, compartments.Item{Compartments: []compartments.CompartmentID{1, 9}}, lookup)
	if want := "\n[1-9 index] 2 entries, from \"skip rows\" to \"count them\"; names: rows.go\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
	b.Reset()
	renderIndex(&b, compartments.Item{Compartments: []compartments.CompartmentID{9}}, lookup)
	if want := "\n[9-9 index] 1 entry, from \"count them\"; names: rows.go\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

package draft

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxplugin/compartments"
	"ctxplugin/prompts"
)

var update = flag.Bool("update", false, "write the golden files")

// TestGolden shows what a model is sent, what it is sent again when it was wrong, and
// what becomes of its good reply.
func TestGolden(t *testing.T) {
	wrong := strings.Replace(goodReply, "importer/rejects.go has writeRejects", "importer/dropped.go has writeRejects", 1)
	b := newBench(&scripted{steps: []step{says(wrong), says(goodReply)}})
	r := closed(importer())
	r.Prior = []compartments.Compartment{{First: 1, Last: 1, Title: "Set up the importer", Facts: []compartments.Fact{{Ordinal: 1, Kind: "request", Text: "set up the importer"}}}}
	list, err := b.Write(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	if b.models[0].asked[0].System != prompts.Historian.System || len(b.models[0].asked) != 2 {
		t.Fatalf("%d requests", len(b.models[0].asked))
	}
	var tiers strings.Builder
	for _, c := range list {
		for _, tier := range compartments.Rendered {
			tiers.WriteString("--- " + tier.String() + "\n" + c.Tiers[tier].Text + "\n")
		}
	}
	for name, got := range map[string]string{"prompt": b.models[0].asked[0].Prompt, "repair": b.models[0].asked[1].Prompt, "tiers": tiers.String()} {
		path := filepath.Join("testdata", name+".golden")
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(want) != got {
			t.Errorf("%s differs; got\n%s", path, got)
		}
	}
}

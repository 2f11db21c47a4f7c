package historian

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxplugin/compartments"
	"ctxplugin/tokens"
)

var update = flag.Bool("update", false, "write the golden files anew")

// readWire reads a list of messages as they stand on the wire.
func readWire(t testing.TB, path string) Range {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	messages := make([]compartments.Message, len(list))
	for i, raw := range list {
		if messages[i], err = compartments.DecodeMessage(raw); err != nil {
			t.Fatal(err)
		}
	}
	return rangeFrom(messages)
}

// rangeFrom numbers, hashes and counts messages.
func rangeFrom(messages []compartments.Message) Range {
	r := Range{Messages: messages, Hashes: make([]compartments.Hash, len(messages)), Tokens: make([]int, len(messages))}
	counter := tokens.New()
	for i := range messages {
		m := &messages[i]
		m.Ordinal = compartments.Ordinal(i + 1)
		r.Hashes[i] = m.ContentHash()
		r.Tokens[i] = compartments.FrameTokens
		for j := range m.Parts {
			p := &m.Parts[j]
			r.Tokens[i] += counter.Count(p.Text) + counter.Count(p.Input) + counter.Count(p.Output)
		}
	}
	return r
}

// dump writes everything of a compartment that a reader may see.
func dump(c *compartments.Compartment) string {
	var b strings.Builder
	fmt.Fprintf(&b, "== %d-%d %q importance %d types %v provisional %v\n", c.First, c.Last, c.Title, c.Importance, c.Types, c.Provisional)
	fmt.Fprintf(&b, "names: %s\n", strings.Join(c.Names, ", "))
	for _, s := range c.Spans {
		fmt.Fprintf(&b, "span [%d] %q\n", s.Ordinal, s.Text)
	}
	for _, f := range c.Facts {
		fmt.Fprintf(&b, "fact [%d] %s: %s {%s}\n", f.Ordinal, f.Kind, f.Text, f.Anchor)
	}
	for _, e := range c.Events {
		fmt.Fprintf(&b, "event [%d] %s: %s\n", e.Ordinal, e.Kind, e.Text)
	}
	for _, t := range compartments.Rendered {
		if r, ok := c.Tiers[t]; ok {
			fmt.Fprintf(&b, "-- %s, %d tokens, %v\n%s\n", t, r.Tokens, r.Survival, r.Text)
		}
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/golden/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".json"), func(t *testing.T) {
			r := readWire(t, path)
			list, err := testBuiltin().Write(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			at := 0
			for i := range list {
				c := &list[i]
				if err := c.Validate(); err != nil {
					t.Error(err)
				}
				checkCover(t, path, r, c, at)
				checkTiers(t, path, c, sourceOf(r, at, at+len(c.Members)))
				at += len(c.Members)
				b.WriteString(dump(c))
			}
			scanned := testBuiltin().Scan(r)
			b.WriteString("scan: " + dump(&scanned))
			golden := strings.TrimSuffix(path, ".json") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if b.String() != string(want) {
				t.Errorf("differs from %s; run with -update and read the change\n%s", golden, b.String())
			}
		})
	}
}

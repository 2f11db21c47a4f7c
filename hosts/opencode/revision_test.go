package opencode_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"ctxplugin/compartments"
)

var update = flag.Bool("update", false, "rewrite testdata/revision.json")

// vector is a list of messages and the revisions of its prefixes, from the empty
// one on. The shim's own tests read the same file.
type vector struct {
	Name      string            `json:"name"`
	Messages  []json.RawMessage `json:"messages"`
	Revisions []string          `json:"revisions"`
}

// TestRevisionVectors keeps the two implementations of the revision equal: the
// vectors hold what Go computes, and the shim must compute the same.
func TestRevisionVectors(t *testing.T) {
	path := filepath.Join("testdata", "revision.json")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var vectors []vector
	if err := json.Unmarshal(raw, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors) < 10 {
		t.Fatalf("only %d vectors", len(vectors))
	}
	for i := range vectors {
		v := &vectors[i]
		got := revisions(t, v)
		if *update {
			v.Revisions = got
			continue
		}
		if want, have := encode(t, v.Revisions), encode(t, got); want != have {
			t.Errorf("%s: revisions\n%s\nwant\n%s", v.Name, have, want)
		}
	}
	if *update {
		if err := os.WriteFile(path, []byte(encode(t, vectors)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func revisions(t *testing.T, v *vector) []string {
	t.Helper()
	rev := compartments.EmptyRevision()
	out := []string{rev.String()}
	for _, raw := range v.Messages {
		var line bytes.Buffer // as it goes over the wire
		if err := json.Compact(&line, raw); err != nil {
			t.Fatalf("%s: %v", v.Name, err)
		}
		m, err := compartments.DecodeMessage(line.Bytes())
		if err != nil {
			t.Fatalf("%s: %v", v.Name, err)
		}
		rev = rev.Add(m.Print())
		out = append(out, rev.String())
	}
	return out
}

func encode(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

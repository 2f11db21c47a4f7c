package historian

import (
	"slices"
	"testing"

	"ctxplugin/compartments"
)

func TestNamesIn(t *testing.T) {
	for _, c := range []struct {
		in      string
		escaped bool
		want    []string
	}{
		{"look at internal/csvimport/importer.go and Importer.Load again, 12 s", false, []string{"Importer.Load", "csvimport/importer.go"}},
		{`{"filePath":"a/load.go","content":"x\nnext_step := 1"}`, true, []string{"a/load.go", "next_step"}},
		{"go on please, and `thanks`", false, nil},
	} {
		if got := NamesIn(c.in, c.escaped); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.in, got, c.want)
		}
	}
}

func TestKnownBy(t *testing.T) {
	c := compartments.Compartment{Names: []string{"csvimport/importer.go", "Importer.Load"},
		Spans: []compartments.ExactSpan{{Text: "the tenant id is `tn-7f3a-eu`"}}, Facts: []compartments.Fact{{Anchor: "pool.go"}}}
	if got, want := KnownBy(&c), []string{"Importer.Load", "csvimport/importer.go", "importer.go", "pool.go", "tn-7f3a-eu"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

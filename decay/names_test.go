package decay

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNamesOf(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"func Lease(until time.Time) (err error)", "Lease"},
		{"the class that a function of that type has and/or needs", ""},
		{"class importer(Base): def run(self)", "importer run"},
		{"export const maxRows = 3; const {rows} = maxRows", "maxRows"},
		{"see ./internal/store/leases.go:17 and leases.go", "store/leases.go leases.go"},
		{"https://example.org/a/b/c and read/write, /usr/lib/node/lib", "b/c node/lib"},
		{"TS2345 in a71d5e8 at 2024-11-30 12:00, 17 of 100000", "TS2345 a71d5e8"},
		{"rows.lease_until != null && job.leaseUntil", "lease_until leaseUntil"},
		{"__init__ _private x_y hello world", "__init__"},
		{"v1.2.30 and package.json", "package.json"},
		{strings.Repeat("aB", 41) + " under_" + strings.Repeat("x", 80), ""},
		{"", ""},
	} {
		var got []string
		for _, n := range namesOf(c.text) {
			got = append(got, n.text)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%.80q has %q, want %q", c.text, got, c.want)
		}
	}
}

// TestAppendNames_Room: where not all fit, what is defined comes first, then what
// stands there more often; what is listed stands in the order of the text.
func TestAppendNames_Room(t *testing.T) {
	text := "once_only twice_said twice_said\n" + strings.Repeat("nothing else is here\n", 30) + "func theLast() {}\n"
	for _, c := range []struct {
		most int
		want string
	}{
		{4000, "once_only, twice_said, theLast"},
		{len(namesHeading) + 22, "twice_said, theLast"},
		{len(namesHeading) + 10, "theLast"},
		{len(namesHeading) + 5, ""},
		{0, ""},
	} {
		var b strings.Builder
		b.WriteString("stub")
		appendNames(&b, text, c.most)
		want := "stub"
		if c.want != "" {
			want += namesHeading + c.want
		}
		if b.String() != want {
			t.Errorf("%d characters: %q, want %q", c.most, b.String(), want)
		}
	}
	var b strings.Builder
	b.WriteString("theLast is shown")
	if appendNames(&b, text, 4000); strings.Count(b.String(), "theLast") != 1 {
		t.Errorf("listed again: %q", b.String())
	}
	b.Reset()
	if appendNames(&b, "func theLast() {}", 4000); b.Len() > 0 {
		t.Errorf("more than an eighth of a short text: %q", b.String())
	}
}

// TestAppendNames_Bounds: of any text the list is one line that is short enough,
// has nothing that the text lacks, and nothing twice.
func TestAppendNames_Bounds(t *testing.T) {
	word := rapid.SampledFrom(strings.Fields("func type def class a_b_c_d lease_until readClock store/leases.go x/y/z/w.go TS2345 a71d5e8 ( { = : $x.y-z ../.. …  ünder_strich"))
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOfN(word, 0, 400), func(w []string) string { return strings.Join(w, " ") })).Draw(t, "text")
		most := rapid.IntRange(0, 300).Draw(t, "most")
		var b strings.Builder
		appendNames(&b, text, most)
		got := b.String()
		if len(got) > min(most, len(text)/namesShare) {
			t.Fatalf("%d characters of %d: %q", len(got), most, got)
		}
		if got == "" {
			return
		}
		list, ok := strings.CutPrefix(got, namesHeading)
		if !ok || strings.Contains(list, "\n") {
			t.Fatalf("%q", got)
		}
		names := strings.Split(list, ", ")
		for i, n := range names {
			if !strings.Contains(text, n) || slices.Contains(names[:i], n) {
				t.Fatalf("%q in %q", n, got)
			}
		}
	})
}

package lab

import (
	"slices"
	"testing"
)

func TestIdentifiers(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"Please read and/or write the widget.", nil},
		{"Read/Write access, e.g. on Fridays; ERROR at 12:30", nil},
		{"see /home/x/app/src/queue/lease.go:12 and main.go", []string{"queue/lease.go", "main.go"}},
		{"open widget.go, then src/main", []string{"widget.go"}},
		{"call renewLease(ctx) or lease_renewed; obj.tryAgain()", []string{"renewLease", "lease_renewed", "tryAgain"}},
		{"Lease Renew HTTPS MAX_RETRIES", []string{"MAX_RETRIES"}},
		{"commit 4be19c2f failed with TS2345 and ENOENT", []string{"4be19c2f", "TS2345", "ENOENT"}},
		{"1234567 deadbeef cafe12", nil},
		{"TypeScript on GitHub: str.startsWith, README.md", nil},
		{"aBc a_b", nil},
	} {
		var got []string
		identifiers(c.text, func(id string) { got = append(got, id) })
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

func TestShownIdentifiers(t *testing.T) {
	got := map[string]bool{}
	shownIdentifiers("in app/queue/lease.go", func(id string) { got[id] = true })
	if len(got) != 2 || !got["queue/lease.go"] || !got["lease.go"] {
		t.Errorf("%v", got)
	}
}

func TestArgumentTexts(t *testing.T) {
	got := argumentTexts(`{"filePath":"a\/b.go","edits":[{"oldString":"x\ny"}],"n":1}`)
	slices.Sort(got)
	if !slices.Equal(got, []string{"a/b.go", "x\ny"}) {
		t.Errorf("%q", got)
	}
	if got := argumentTexts("{"); !slices.Equal(got, []string{"{"}) {
		t.Errorf("no JSON: %q", got)
	}
}

func FuzzIdentifiers(f *testing.F) {
	f.Add("see src/queue/lease.go and renewLease, 4be19c2f, TS2345")
	f.Fuzz(func(t *testing.T, text string) {
		shown := map[string]bool{}
		shownIdentifiers(text, func(id string) { shown[id] = true })
		identifiers(text, func(id string) {
			if len(id) < leastName || !shown[id] {
				t.Errorf("%q of %q", id, text)
			}
		})
	})
}

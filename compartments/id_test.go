package compartments_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ctxplugin/compartments"
)

// Ids come back as they were written, also with halves of surrogate pairs, and
// two ids are equal only if they have the same units.
func TestMessageIDKeepsHalves(t *testing.T) {
	piece := rapid.SampledFrom([]string{`\ud83d`, `\ude00`, `\ud83d\ude00`, `\uD800`, `\uDFFF`, `\ufffd`, `\n`, `\\`, `\\u`, `\"`, `a`, `é`, `😀`, `<`, `d83d`, `\u0000`})
	id := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(piece, 0, 6).Draw(t, "pieces"), "") })
	rapid.Check(t, func(t *rapid.T) {
		a, b := `"`+id.Draw(t, "a")+`"`, `"`+id.Draw(t, "b")+`"`
		var one, other, again compartments.MessageID
		for text, into := range map[string]*compartments.MessageID{a: &one, b: &other} {
			if err := json.Unmarshal([]byte(text), into); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
		}
		if a == b {
			other = one
		}
		written, err := json.Marshal(map[string]any{"id": one})
		if err != nil {
			t.Fatal(err)
		}
		var read struct {
			ID compartments.MessageID `json:"id"`
		}
		if err := json.Unmarshal(written, &read); err != nil {
			t.Fatalf("%s: %v", written, err)
		}
		if again = read.ID; again != one {
			t.Fatalf("%s became %s, which is another id", a, written)
		}
		if same := units(t, a) == units(t, b); same != (one == other) {
			t.Fatalf("%s and %s: equal %t, as ids %t", a, b, same, one == other)
		}
	})
}

// units spells a JSON string as its UTF-16 units, without any code of ours.
func units(t *rapid.T, text string) string {
	var b strings.Builder
	inner := text[1 : len(text)-1]
	for i := 0; i < len(inner); {
		switch {
		case strings.HasPrefix(inner[i:], `\u`):
			b.WriteString(strings.ToLower(inner[i+2:i+6]) + " ")
			i += 6
		case inner[i] == '\\':
			b.WriteString(inner[i:i+2] + " ")
			i += 2
		default:
			r := []rune(inner[i:])[0]
			if r == '😀' {
				b.WriteString("d83d de00 ")
			} else {
				b.WriteString(string(r) + " ")
			}
			i += len(string(r))
		}
	}
	return b.String()
}

func TestMessageIDOfAnotherType(t *testing.T) {
	for _, text := range []string{`7`, `{}`, `[]`, `true`, `null`} {
		id := compartments.MessageID("before")
		if err := json.Unmarshal([]byte(text), &id); (err == nil) != (text == "null") || id != "before" {
			t.Errorf("%s: %q, %v", text, id, err)
		}
	}
}

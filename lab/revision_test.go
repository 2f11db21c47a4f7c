package lab

import (
	"encoding/json"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"ctxplugin/compartments"
)

// The revision is written twice, here and in the domain. Both must agree on every
// list, though one reads JSON and the other decoded strings.
func TestRevisionAgrees(t *testing.T) {
	if got := emptyRevision().String(); got != "0.811c9dc59747b28c" {
		t.Fatalf("the empty list is %s", got)
	}
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "a\"b\\c", "\u2028\t\r\n\b\f/", "𝄞 ünï 世界", "x\x00y", "<&>"}))
	status := rapid.SampledFrom([]string{"pending", "running", "completed", "error", "odd", ""})
	output := rapid.SampledFrom([]string{`null`, `7`, `{"a":"é𝄞"}`, `["\ud83d"]`, `""`, `"\ud83d\ude00 \ud800 \u00e9"`, `true`})
	half := rapid.SampledFrom([]string{``, `\ud83d`, `\ude00`, `\ude00\ud83d`, `x\udbff\ud800\udc00`, `\ufffd`, `\\ud800`})
	rapid.Check(t, func(t *rapid.T) {
		mine, theirs := emptyRevision(), compartments.EmptyRevision()
		for i := range rapid.IntRange(0, 4).Draw(t, "messages") {
			raw := fmt.Sprintf(`{"id":"%s%s%d","role":"assistant","parts":[`, half.Draw(t, "half"), inside(text.Draw(t, "id")), i)
			for j := range rapid.IntRange(0, 4).Draw(t, "parts") {
				if j > 0 {
					raw += ","
				}
				if rapid.Bool().Draw(t, "tool") {
					out := output.Draw(t, "output")
					raw += fmt.Sprintf(`{"type":"tool","text":"no","state":{"status":%q,"output":%s,"error":%s}}`, status.Draw(t, "status"), out, out)
				} else {
					raw += fmt.Sprintf(`{"type":%q,"text":%s}`, rapid.SampledFrom([]string{"text", "reasoning", "odd"}).Draw(t, "type"), quote(text.Draw(t, "text")))
				}
			}
			raw += "]}"
			m, _, err := parseMessage(fmt.Appendf(nil, `{"info":%s,"parts":%s}`, raw, rawParts([]byte(raw))))
			if err != nil {
				t.Fatal(err)
			}
			d, err := compartments.DecodeMessage([]byte(raw))
			if err != nil {
				t.Fatal(err)
			}
			mine, theirs = mine.add(&m), theirs.Add(d.Print())
			if mine.String() != theirs.String() {
				t.Fatalf("%s here, %s there, for %s", mine, theirs, raw)
			}
		}
	})
}

// inside is a string as it stands between the quotes of its JSON.
func inside(s string) []byte {
	q := quote(s)
	return q[1 : len(q)-1]
}

// A lone half of a surrogate pair in an id counts as itself, as it does for a host
// written in JavaScript.
func TestUnits(t *testing.T) {
	for raw, want := range map[string]string{
		`"aé𝄞"`:                "[97 233 55348 56606]",
		`"\ud834\udd1e\ud800"`: "[55348 56606 55296]",
		`"\n\t\"\\\/\b\f\r"`:   "[10 9 34 92 47 8 12 13]",
		`7`:                    "[]",
		``:                     "[]",
	} {
		units := []uint16{}
		eachUnit([]byte(raw), func(u uint16) { units = append(units, u) })
		if got := fmt.Sprint(units); got != want {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
		if !json.Valid([]byte(raw)) && raw != "" {
			t.Errorf("%s is no JSON", raw)
		}
	}
}

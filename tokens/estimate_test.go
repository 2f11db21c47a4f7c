package tokens_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ctxplugin/tokens"
)

// TestEstimateOnAverage holds estimates of whole texts against counts.
func TestEstimateOnAverage(t *testing.T) {
	const size = 200_000
	c := tokens.New()
	for name, text := range map[string]string{
		"code":         goCode(t, size),
		"diff":         diffOf(goCode(t, size)),
		"english":      english(t, size),
		"json code":    testJSON(t, "golang_source", size),
		"json twitter": testJSON(t, "twitter_status", size),
		"json fhir":    testJSON(t, "synthea_fhir", size),
		"json numbers": testJSON(t, "canada_geometry", size),
		"base64":       random(size, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"),
		"hexadecimal":  random(size, "0123456789abcdef"),
	} {
		estimated, counted := tokens.Estimate(text), c.Count(text)
		percent := 100*estimated/counted - 100
		t.Logf("%-13s %+d %%", name, percent)
		if percent < -12 || percent > 12 {
			t.Errorf("%s: estimated %d, counted %d: %+d %%", name, estimated, counted, percent)
		}
	}
}

// diffOf makes the lines of text those of a unified diff.
func diffOf(text string) string {
	var b strings.Builder
	for i, line := range strings.SplitAfter(text, "\n") {
		if i%25 == 0 {
			b.WriteString("@@ -120,7 +120,9 @@\n")
		}
		b.WriteByte("     +++--  ++   -  "[i%19])
		b.WriteString(line)
	}
	return b.String()
}

// TestEstimateAnything: no input panics, and only the empty one is free.
func TestEstimateAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := texts().Draw(t, "text")
		n := tokens.Estimate(s)
		if (n == 0) != (s == "") || n < 0 || n > 3*len(s) {
			t.Fatalf("Estimate(%q) = %d", s, n)
		}
		// Any cut through a rune.
		for i := range min(len(s), 20) {
			tokens.Estimate(s[i:])
			tokens.Estimate(s[:i])
		}
	})
}

func BenchmarkEstimate(b *testing.B) {
	const size = 1 << 20
	for _, in := range []struct{ name, text string }{
		{"code", goCode(b, size)},
		{"json", testJSON(b, "twitter_status", size)},
		{"cjk", chinese(size, 9)},
	} {
		b.Run(in.name, func(b *testing.B) {
			b.SetBytes(int64(len(in.text)))
			b.ReportAllocs()
			for b.Loop() {
				tokens.Estimate(in.text)
			}
		})
	}
}

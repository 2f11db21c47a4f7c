package expand

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"
)

// borders are the ends of the graphemes of s, found from its start.
func borders(s string) map[int]bool {
	out := map[int]bool{0: true}
	at := 0
	for rest, state := s, -1; rest != ""; {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		at += len(cluster)
		out[at] = true
	}
	return out
}

func TestBorderBefore_AgreesWithReadingFromTheStart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawText(t, "text")
		all := borders(s)
		at := rapid.IntRange(0, len(s)).Draw(t, "at")
		got, sure := borderBefore(s, 0, at)
		if !sure {
			t.Fatal("not sure from the start on")
		}
		want := at
		for !all[want] {
			want--
		}
		if got != want {
			t.Fatalf("border before %d of %q: got %d, want %d", at, s, got, want)
		}
		if snapped := snap(s, at); snapped > at || (at-want <= snapBack && len(s) < snapWindow && snapped != want) {
			t.Fatalf("snap(%d) = %d, the border is at %d", at, snapped, want)
		}
	})
}

func TestFit(t *testing.T) {
	family := "👨‍👩‍👧‍👦"
	marks := "a" + strings.Repeat("\u0301", 500)
	wide := limits{tokens: 1_000_000, bytes: 1_000_000, lines: 1_000_000}
	bytes := func(n int) limits { l := wide; l.bytes = n; return l }
	for _, c := range []struct {
		name string
		s    string
		from int
		most limits
		want int
	}{
		{"all", "abc", 0, wide, 3},
		{"empty", "", 0, wide, 0},
		{"at the end", "abc", 3, wide, 3},
		{"least", strings.Repeat("x", 100), 0, bytes(5), leastBody},
		{"bytes", strings.Repeat("x", 300), 0, bytes(200), 200},
		{"bytes from the middle", strings.Repeat("x", 300), 50, bytes(200), 250},
		{"whole family", strings.Repeat(family, 10), 0, bytes(90), 3 * len(family)},
		{"CR LF", strings.Repeat("x", 99) + "\r\n" + strings.Repeat("y", 99), 0, bytes(100), 99},
		{"line end", strings.Repeat("x", 90) + "\n" + strings.Repeat("y", 99), 0, bytes(100), 91},
		{"line end too early", strings.Repeat("x", 60) + "\n" + strings.Repeat("y", 99), 0, bytes(100), 100},
		{"lines", strings.Repeat("line of text\n", 100), 0, limits{tokens: 1_000_000, bytes: 1_000_000, lines: 10}, 130},
		{"tokens", strings.Repeat("x", 10_000), 0, limits{tokens: 1_000, bytes: 1_000_000, lines: 9}, 3_500},
		{"one grapheme longer than the page", marks, 0, bytes(201), 201},
		{"the same from inside", marks, 201, bytes(200), 401},
		{"its end", marks, 901, bytes(200), len(marks)},
		{"flags", strings.Repeat("🇩🇪", 100), 0, bytes(84), 80},
	} {
		got := fit(c.s, c.from, c.most, countBytes)
		// a count is met nearly, never exceeded
		near := c.most.tokens < 1_000_000 && got <= c.want && got >= c.want*14/16
		if got != c.want && !near {
			t.Errorf("%s: got %d, want %d", c.name, got, c.want)
		}
		if got < len(c.s) && !utf8.RuneStart(c.s[got]) {
			t.Errorf("%s: cut inside a code point", c.name)
		}
	}
}

// TestFit_LooksAroundTheCutOnly counts what is counted.
func TestFit_LooksAroundTheCutOnly(t *testing.T) {
	s := strings.Repeat("some output of a tool\n", 250_000)
	counted := 0
	count := func(s string) int { counted += len(s); return countBytes(s) }
	fit(s, len(s)/2, limits{tokens: 5_000, bytes: MaxPageBytes, lines: MaxPageLines}, count)
	if counted > 8*MaxPageBytes {
		t.Errorf("%d bytes were counted for a page of at most %d", counted, MaxPageBytes)
	}
}

func BenchmarkCall_LargeOutput(b *testing.B) {
	for _, c := range []struct{ name, unit string }{
		{"lines", "some output of a tool, with numbers 12345\n"}, {"one-line", "some output of a tool, with numbers 12345 "},
		{"flags", "🇩🇪"}, {"emoji", "👨‍👩‍👧‍👦"}, {"hangul", "각하다"}, {"marks", "\u0301"},
	} {
		b.Run(c.name, func(b *testing.B) {
			w := newWorld(b)
			w.add("assistant", tool("bash", map[string]any{}, strings.Repeat(c.unit, 5_000_000/len(c.unit))))
			w.add("user", text("on"))
			w.fold(1)
			b.ReportAllocs()
			for b.Loop() {
				w.call(ToolExpand, `{"message": 1, "part": 0, "offset": 2500000}`, 40_000)
			}
		})
	}
}

func BenchmarkFit(b *testing.B) {
	for _, c := range []struct{ name, unit string }{{"lines", "some output of a tool\n"}, {"flags", "🇩🇪"}, {"marks", "\u0301"}} {
		s := strings.Repeat(c.unit, 5_000_000/len(c.unit))
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				fit(s, 2_000_000, limits{tokens: 10_000, bytes: MaxPageBytes, lines: MaxPageLines}, countBytes)
			}
		})
	}
}

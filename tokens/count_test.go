package tokens_test

import (
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"ctxplugin/tokens"
	"ctxplugin/tokens/reference"
)

// refCount is the definition of a count. Keep s short: it is quadratic.
func refCount(tb testing.TB, s string) int {
	tb.Helper()
	enc, err := reference.Encoder()
	if err != nil {
		tb.Fatal(err)
	}
	return len(enc.EncodeOrdinary(s))
}

func TestCountGolden(t *testing.T) {
	c := tokens.New()
	for _, tc := range []struct {
		text string
		want int
	}{
		{"", 0},
		{"a", 1},
		{"\x00", 1},
		{"\xff", 1},
		{"hello world", 2},
		{"Hello, World!", 4},
		{"I'll say it's DON'T, we've SHE'LL", 9},
		{"func main() {\n\tfmt.Println(\"hi\")\n}\n", 10},
		{`{"role":"user","content":[{"type":"text"}]}`, 13},
		{"1234567890", 4},
		{"<|endoftext|>", 7},
		{"<|endofprompt|>", 7},
		{"你好，世界", 3},
		{"😀", 1},
		{"👩\u200d💻", 5},
		{strings.Repeat(" ", 128), 1},
		{strings.Repeat(" ", 129), 2},
		{strings.Repeat("a", 64), 8},
	} {
		if got := c.Count(tc.text); got != tc.want {
			t.Errorf("Count(%q) = %d, want %d", tc.text, got, tc.want)
		}
		if got := c.CountBytes([]byte(tc.text)); got != tc.want {
			t.Errorf("CountBytes(%q) = %d, want %d", tc.text, got, tc.want)
		}
		if got := refCount(t, tc.text); got != tc.want {
			t.Errorf("the reference counts %d in %q, want %d", got, tc.text, tc.want)
		}
	}
}

// TestCountEdges has the places where the pattern backtracks, where alternatives
// overlap, and where the reference sees something else than the bytes.
func TestCountEdges(t *testing.T) {
	c := tokens.New()
	for _, s := range []string{
		"ʰABC", "ABʰCD", "ABʰCd", "ABʰ'sCD", "ABC'S", "abc'Ll'd", "abc'l", "abc'", "a'ſ", "a'K",
		"\u0301", "\u0301A", "\u0301AB", "\u0301's", "\u0301\u0301AB", "a\u0301B", " \u0301B", "!\u0301B", "!!\u0301B",
		"ǅa", "ǅA", "Aǅ", "中A", "中a", "A中", "\u00a0中", "\u3000A", "\u0085a", "\u2028\u2029a", "\t\ta", "\t\t!", "\t!", " !", "  !",
		"\n a", "\r\n\r\n", " \n \n a", "a \n", "a  ", "a   b", "  \u00a0\u00a0b", "\u180eb", "\u200bb",
		"!\n/\r/x", "! /", "//\n\n//", " /\n", " 1", "  1", "12345", "١٢٣٤٥", "Ⅷ½²³", "1a2B", "_a", "a_b", "snake_case_name",
		"\xff", "\xffa", " \xff", "a\xff", "\xe4\xb8", "\xe4\xb8\xad\xe4", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc0\x80", "\xf0\x9f\x98", "\xe1\x80a", "\xe1\x80\xffa",
		"\ufffd", "\ufffd\xff", "\U0010ffff", "\U000e0100a", "\ufeff//", "\x00\x00a",
		"<|endoftext|><|endoftext|>", "x<|fim_prefix|>y", "<|im_start|>user\n",
	} {
		if got, want := c.Count(s), refCount(t, s); got != want {
			t.Errorf("Count(%q) = %d, want %d", s, got, want)
		}
	}
}

// TestCountEveryRune puts each rune into the roles that its class decides.
func TestCountEveryRune(t *testing.T) {
	c := tokens.New()
	step := rune(1)
	if testing.Short() {
		step = 7
	}
	for r := rune(0); r <= 0x323AF; r += 64 * step {
		var b strings.Builder
		for x := r; x < r+64*step; x += step {
			b.WriteString("aB")
			b.WriteRune(x)
			b.WriteString("Cd ")
			b.WriteRune(x)
			b.WriteString("1 ")
		}
		if got, want := c.Count(b.String()), refCount(t, b.String()); got != want {
			t.Errorf("runes from %U: %d, want %d", r, got, want)
		}
	}
}

// fragments are what texts are put together from, so that they hit the seams of
// the pattern often.
var fragments = []string{
	"a", "B", "z", " ", "  ", "\n", "\r\n", "\t", "'", "'s", "'LL", "'Re", "/", "1", "23", "٣", "Ⅷ", "!", "--", "_",
	"é", "É", "ǅ", "ʰ", "ß", "ﬁ", "İ", "ſ", "K", "中", "文字", "の", "한국", "ไทย", "हिन्दी", "\u0301", "\u0308",
	"\u00a0", "\u2028", "\u0085", "\u3000", "\u180e", "\u200b", "😀", "👩\u200d👩", "\ufffd",
	"\xff", "\xe4\xb8", "\xed\xa0\x80", "\xf0\x9f", "\x80", "\x00",
	"the", "Hello", "ABC", "<|endoftext|>", `{"`, `":`, "//", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
}

// texts generates texts of fragments, runes, bytes and runs.
func texts() *rapid.Generator[string] {
	run := rapid.Custom(func(t *rapid.T) string {
		return strings.Repeat(rapid.SampledFrom(fragments).Draw(t, "of"), rapid.IntRange(1, 40).Draw(t, "times"))
	})
	raw := rapid.Custom(func(t *rapid.T) string {
		return string(rapid.SliceOfN(rapid.Byte(), 1, 20).Draw(t, "bytes"))
	})
	one := rapid.OneOf(rapid.SampledFrom(fragments), rapid.StringN(1, 12, -1), raw, run, rapid.StringMatching(`[a-c]{1,100}`))
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(one, 0, 12).Draw(t, "parts"), "")
	})
}

func TestCountAgrees(t *testing.T) {
	c := tokens.New()
	rapid.Check(t, func(rt *rapid.T) {
		// Several texts a check, as a check costs more than a count.
		for _, s := range rapid.SliceOfN(texts(), 1, 10).Draw(rt, "texts") {
			if got, want := c.Count(s), refCount(t, s); got != want {
				rt.Fatalf("Count(%q) = %d, want %d", s, got, want)
			}
		}
	})
}

func TestCountRealText(t *testing.T) {
	const size, chunk = 96 << 10, 4 << 10
	c := tokens.New()
	for name, text := range map[string]string{
		"code":    goCode(t, size),
		"english": english(t, size),
		"json":    testJSON(t, "twitter_status", size),
		"chinese": chinese(size, 9),
		"base64":  hard(size)["base64"],
	} {
		for i := 0; i < len(text); i += chunk {
			s := text[i:min(i+chunk, len(text))]
			if got, want := c.Count(s), refCount(t, s); got != want {
				t.Errorf("%s at %d: %d, want %d", name, i, got, want)
			}
		}
	}
}

// FuzzCount bounds its inputs, as the reference is quadratic.
func FuzzCount(f *testing.F) {
	for _, s := range fragments {
		f.Add(s + "x" + s + s)
	}
	f.Add(strings.Repeat("ab", 200))
	c := tokens.New()
	f.Fuzz(func(t *testing.T, s string) {
		s = cut(s, 2048)
		if got, want := c.Count(s), refCount(t, s); got != want {
			t.Errorf("Count(%q) = %d, want %d", s, got, want)
		}
	})
}

// TestCountHard would not end in any reasonable time if some part of a count
// were quadratic: tiktoken-go takes 20 s for a tenth of the smaller size.
func TestCountHard(t *testing.T) {
	size := 1_000_000
	if testing.Short() {
		size = 300_000
	}
	c := tokens.New()
	for name, text := range hard(size) {
		n := c.Count(text)
		if n < len(text)/128 || n > 3*len(text) {
			t.Errorf("%s: %d tokens in %d bytes", name, n, len(text))
		}
	}
	for text, want := range map[string]int{
		// Runs merge from the left into tokens of equal size.
		strings.Repeat(" ", 128*3000): 3000,
		strings.Repeat("7", 300_000):  100_000,
		strings.Repeat("a", 8*30_000): 30_000,
	} {
		if n := c.Count(text); n != want {
			t.Errorf("%d times %q: %d tokens, want %d", len(text), text[0], n, want)
		}
	}
}

// TestCountHardAgrees has the same inputs as long as the reference can bear,
// which is well beyond where the heap takes over from the scan.
func TestCountHardAgrees(t *testing.T) {
	c := tokens.New()
	for name, text := range hard(1500) {
		if got, want := c.Count(text), refCount(t, text); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
}

func TestCountAllocatesNothing(t *testing.T) {
	c := tokens.New()
	text := goCode(t, 20_000) + strings.Repeat("=", 500) + "\xff\xfe"
	c.Count(text)
	// A collection during the runs may empty the pool.
	if n := testing.AllocsPerRun(50, func() { c.Count(text) }); n > 1 {
		t.Errorf("%v allocations a count", n)
	}
}

func TestCountConcurrently(t *testing.T) {
	c := tokens.NewCached(tokens.NewCache(3))
	inputs := hard(5000)
	want := make(map[string]int)
	for name, text := range inputs {
		want[name] = tokens.New().Count(text)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 5 {
				for name, text := range inputs {
					if got := c.Count(text); got != want[name] {
						t.Errorf("%s: %d, want %d", name, got, want[name])
					}
				}
			}
		})
	}
	wg.Wait()
}

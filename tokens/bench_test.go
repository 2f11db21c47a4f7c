package tokens_test

import (
	"encoding/base64"
	"go/build"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"ctxplugin/tokens"
)

// goroot is the folder of the toolchain's sources, or the benchmark is skipped.
func goroot(tb testing.TB) string {
	tb.Helper()
	root := filepath.Join(build.Default.GOROOT, "src")
	if _, err := os.Stat(root); err != nil {
		tb.Skip("no toolchain sources: ", err)
	}
	return root
}

// goCode returns Go source of the toolchain, size bytes at most.
func goCode(tb testing.TB, size int) string {
	tb.Helper()
	var b strings.Builder
	err := filepath.WalkDir(filepath.Join(goroot(tb), "net"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || b.Len() >= size {
			return err
		}
		text, err := os.ReadFile(path)
		b.Write(text)
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return cut(b.String(), size)
}

// english returns a book of the toolchain's test data.
func english(tb testing.TB, size int) string {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join(goroot(tb), "testdata", "Isaac.Newton-Opticks.txt"))
	if err != nil {
		tb.Skip(err)
	}
	return cut(string(text), size)
}

// testJSON returns a JSON document of the toolchain's test data.
func testJSON(tb testing.TB, name string, size int) string {
	tb.Helper()
	f, err := os.Open(filepath.Join(goroot(tb), "encoding/json/internal/jsontest/testdata", name+".json.zst"))
	if err != nil {
		tb.Skip(err)
	}
	defer f.Close()
	dec, err := zstd.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	defer dec.Close()
	text, err := io.ReadAll(io.LimitReader(dec, int64(size)))
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

func cut(s string, size int) string { return s[:min(len(s), size)] }

const common = "的一是不了人我在有他这为之大来以个中上们到说国和地也子时道出而要于就下得可你年生自会那后能对着事其里所去行过家十用发天如然作方成者多日都三小军二无同么经法当起与好看学进种将还分此心前面又定见只主没公从"

// chinese returns random common characters, in clauses of the given length or,
// for 0, without any punctuation.
func chinese(size, clause int) string {
	r := rand.New(rand.NewPCG(7, 7))
	runes := []rune(common)
	var b strings.Builder
	for n := 1; b.Len() < size; n++ {
		b.WriteRune(runes[r.IntN(len(runes))])
		if clause > 0 && n%clause == 0 {
			b.WriteRune('，')
		}
	}
	return b.String()
}

func random(size int, alphabet string) string {
	r := rand.New(rand.NewPCG(3, 4))
	b := make([]byte, size)
	for i := range b {
		b[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(b)
}

func repeat(s string, size int) string { return strings.Repeat(s, size/len(s)+1)[:size/len(s)*len(s)] }

// hard has inputs on which byte pair encoders tend to be quadratic.
func hard(size int) map[string]string {
	return map[string]string{
		"letter":    repeat("a", size),
		"newlines":  repeat("\n", size),
		"crlf":      repeat("\r\n", size),
		"spaces":    repeat(" ", size),
		"tabs":      repeat("\t", size),
		"dashes":    repeat("-", size),
		"base64":    base64.StdEncoding.EncodeToString([]byte(random(size*3/4, "\x00\x13\x37\xff\x80\x41\x99\xe2\xc0\x5a\x3c\x7e")))[:size],
		"lower":     random(size, "abcdefghijklmnopqrstuvwxyz"),
		"two":       repeat("xq", size),
		"cjk":       chinese(size, 0)[:size/3*3],
		"emoji":     repeat("😀", size),
		"emoji mix": repeat("😀👍🏽🎉👩\u200d💻", size),
		"special":   repeat("<|endoftext|>", size),
		"marks":     repeat("\u0301", size),
		"upper":     repeat("\u0301AB", size),
		"invalid":   repeat("\xff", size),
		"binary":    random(size, "\x00\x01\x13\x37\xff\x80\x41\x99\xe2\xc0 \n"),
		"nul":       repeat("\x00", size),
		"digits":    repeat("7", size),
	}
}

func BenchmarkCount(b *testing.B) {
	const size = 1 << 20
	for _, in := range []struct{ name, text string }{
		{"code", goCode(b, size)},
		{"english", english(b, size)},
		{"json-code", testJSON(b, "golang_source", size)},
		{"json-twitter", testJSON(b, "twitter_status", size)},
		{"json-numbers", testJSON(b, "canada_geometry", size)},
		{"json-fhir", testJSON(b, "synthea_fhir", size)},
		{"cjk-clauses", chinese(size, 9)},
	} {
		benchmarkCount(b, in.name, in.text)
	}
}

func BenchmarkHard(b *testing.B) {
	for name, text := range hard(1_000_000) {
		benchmarkCount(b, name, text)
	}
}

func benchmarkCount(b *testing.B, name, text string) {
	b.Run(name, func(b *testing.B) {
		c := tokens.New()
		n := c.Count(text)
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			c.Count(text)
		}
		b.ReportMetric(float64(len(text))/float64(n), "bytes/token")
	})
}

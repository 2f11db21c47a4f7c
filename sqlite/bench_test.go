package sqlite_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"ctxplugin/compartments"
	"ctxplugin/sqlite"
)

const (
	longSession = 10_000 // messages
	rare        = "needle_in_one_output"
)

var vocabulary = func() []string {
	r := rand.New(rand.NewPCG(1, 2))
	words := make([]string, 4000)
	for i := range words {
		var b strings.Builder
		for range 2 + r.IntN(9) {
			b.WriteByte("etaoinshrdlucmfwypvbgkjqxz_"[min(r.IntN(27), r.IntN(27))])
		}
		words[i] = b.String()
	}
	return words
}()

// prose is text of about n bytes from a fixed vocabulary.
func prose(r *rand.Rand, n int) string {
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(vocabulary[min(r.IntN(len(vocabulary)), r.IntN(len(vocabulary)))])
		if r.IntN(9) == 0 {
			b.WriteByte('\n')
		} else {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// messageOf writes the message of an ordinal, about 2.1 KB.
func messageOf(r *rand.Rand, ordinal int) string {
	id := fmt.Sprintf("msg_%06d", ordinal)
	if ordinal%7 == 1 {
		return user(id, prose(r, 300))
	}
	output := prose(r, 1900)
	if ordinal == longSession/2 {
		output += rare + " " + prose(r, 500)
	}
	return tool(id, "bash", `{"command":"`+strings.ReplaceAll(prose(r, 100), "\n", " ")+`"}`, output)
}

func longBatch(b testing.TB) *compartments.Batch {
	r := rand.New(rand.NewPCG(3, 4))
	batch := &compartments.Batch{Session: "long", List: ordinals(longSession)}
	for o := 1; o <= longSession; o++ {
		batch.Entries = append(batch.Entries, write(b, o, messageOf(r, o)))
	}
	for id := 1; id <= longSession/4; id++ {
		batch.Compartments = append(batch.Compartments, compartmentOf(r, id, compartments.Ordinal(id*4-3), compartments.Ordinal(id*4)))
	}
	return batch
}

func compartmentOf(r *rand.Rand, id int, first, last compartments.Ordinal) compartments.Compartment {
	c := compartments.Compartment{ID: compartments.CompartmentID(id), First: first, Last: last, Title: prose(r, 40),
		Importance: 1 + r.IntN(100), Types: []string{"fix"}, Names: []string{"a.go", "b.go"}, RawTokens: 2000,
		Tiers:    map[compartments.Tier]compartments.Rendition{},
		Spans:    []compartments.ExactSpan{{Ordinal: first, Text: prose(r, 80), Tokens: 20}},
		Facts:    []compartments.Fact{{Ordinal: first, Kind: "file", Text: "a.go", Anchor: "a.go"}},
		Strategy: compartments.StrategyCanonical, Generator: "built-in 1"}
	for o := first; o <= last; o++ {
		c.Members = append(c.Members, o)
	}
	for i, size := range []int{1444, 740, 296, 148} {
		c.Tiers[compartments.Rendered[i]] = compartments.Rendition{Text: prose(r, size), Tokens: size / 4}
	}
	return c
}

// long is a database with one session of 10,000 messages (20 MB), indexed. It is
// made once for all benchmarks.
var long = struct {
	sync.Once
	path string
}{}

func longStore(b *testing.B) *sqlite.Store {
	b.Helper()
	long.Do(func() {
		folder := benchFolder
		long.path = filepath.Join(folder, "long.db")
		s, err := sqlite.Open(context.Background(), long.path, sqlite.Options{})
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close()
		commit(b, s, longBatch(b))
		for left := 1; left > 0; {
			if left, err = s.Index(context.Background(), 1000); err != nil {
				b.Fatal(err)
			}
		}
	})
	return open(b, long.path, sqlite.Options{})
}

// BenchmarkCommit stores one pass: three new messages of about 2 KB behind a
// session of 10,000.
func BenchmarkCommit(b *testing.B) {
	s := longStore(b)
	st := load(b, s, "long")
	r := rand.New(rand.NewPCG(5, 6))
	version, next := st.Version, len(st.Entries)+1
	state := []byte(prose(r, 500))
	for b.Loop() {
		b.StopTimer()
		batch := &compartments.Batch{Session: "long", Version: version, ListFrom: next - 1, State: state}
		for i := range 3 {
			batch.Entries = append(batch.Entries, write(b, next+i, messageOf(r, next+i)))
			batch.List = append(batch.List, compartments.Ordinal(next+i))
		}
		next += 3
		b.StartTimer()
		version = commit(b, s, batch)
	}
}

// BenchmarkFirstCommit stores 10,000 messages and 2,500 compartments at once.
func BenchmarkFirstCommit(b *testing.B) {
	batch := longBatch(b)
	for b.Loop() {
		b.StopTimer()
		s := open(b, filepath.Join(b.TempDir(), "ctx.db"), sqlite.Options{})
		b.StartTimer()
		commit(b, s, batch)
	}
}

func BenchmarkLoad(b *testing.B) {
	s := longStore(b)
	b.ReportAllocs()
	for b.Loop() {
		load(b, s, "long")
	}
}

func BenchmarkRaw100(b *testing.B) {
	s := longStore(b)
	wanted := ordinals(5100)[5000:]
	for b.Loop() {
		raw(b, s, "long", wanted...)
	}
}

func BenchmarkSearch(b *testing.B) {
	s := longStore(b)
	for _, query := range []struct{ name, text string }{
		{"rare word", rare},
		{"part of a word", rare[2:15]},
		{"absent", "zzzzqqqq"},
		{"common word", vocabulary[3]},
		{"two common words", vocabulary[3] + " " + vocabulary[5]},
	} {
		b.Run(query.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Search(context.Background(), "long", query.text, 20); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkIndex makes 100 messages searchable.
func BenchmarkIndex(b *testing.B) {
	s := newStore(b)
	r := rand.New(rand.NewPCG(7, 8))
	version, next := int64(0), 1
	for b.Loop() {
		b.StopTimer()
		batch := &compartments.Batch{Session: "ses", Version: version, ListFrom: next - 1}
		for i := range 100 {
			batch.Entries = append(batch.Entries, write(b, next+i, messageOf(r, next+i)))
			batch.List = append(batch.List, compartments.Ordinal(next+i))
		}
		next += 100
		version = commit(b, s, batch)
		b.StartTimer()
		if _, err := s.Index(context.Background(), 100); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	longStore(b)
	for b.Loop() {
		s, err := sqlite.Open(context.Background(), long.path, sqlite.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.Copies(context.Background(), "none", compartments.Hash{}); err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpenNew makes a database.
func BenchmarkOpenNew(b *testing.B) {
	folder := b.TempDir()
	for n := 0; b.Loop(); n++ {
		s, err := sqlite.Open(context.Background(), filepath.Join(folder, fmt.Sprint(n)), sqlite.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

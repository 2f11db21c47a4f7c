// Package reference is tiktoken-go over the ranks that package tokens embeds:
// the definition that tokens.Counter has to agree with.
//
// It owns nothing but that wiring. It is meant for tests and tools and must
// never be imported by what runs in production: it is quadratic on long runs of
// one kind of character, slow on the rest, and links net/http.
package reference

import (
	"fmt"
	"path"
	"sync"

	"github.com/pkoukk/tiktoken-go"

	"ctxplugin/tokens"
)

// Loader is a tiktoken.BpeLoader that takes the ranks of o200k_base from the
// binary. It never touches the network or the disk.
type Loader struct{}

var _ tiktoken.BpeLoader = Loader{}

// LoadTiktokenBpe returns the ranks for a file or URL that ends in
// o200k_base.tiktoken, and an error for any other encoding.
func (Loader) LoadTiktokenBpe(file string) (map[string]int, error) {
	if path.Base(file) != "o200k_base.tiktoken" {
		return nil, fmt.Errorf("reference: no ranks for %q, only for o200k_base", file)
	}
	ranks := make(map[string]int, 200_000)
	for token, rank := range tokens.Ranks() {
		ranks[token] = rank
	}
	return ranks, nil
}

// encoder is loaded once for the process: tiktoken-go needs a third of a second
// and 25 MB for it. It is never changed, and safe for concurrent use.
var encoder = sync.OnceValues(func() (*tiktoken.Tiktoken, error) {
	// The loader is a variable of tiktoken-go's; there is no other way to pass
	// one that keeps its own pattern, which is what makes it a reference.
	tiktoken.SetBpeLoader(Loader{})
	enc, err := tiktoken.GetEncoding(tiktoken.MODEL_O200K_BASE)
	if err != nil {
		return nil, fmt.Errorf("reference: load o200k_base: %w", err)
	}
	return enc, nil
})

// Encoder returns the reference encoder. Use its EncodeOrdinary: Encode panics
// at the text of special tokens. Its first call makes Loader the loader of
// tiktoken-go for the whole process.
func Encoder() (*tiktoken.Tiktoken, error) { return encoder() }

package reference_test

import (
	"slices"
	"testing"

	"ctxplugin/tokens/reference"
)

// TestEncoder has the published encoding of a text, to tell that the ranks and
// the pattern are those of o200k_base.
func TestEncoder(t *testing.T) {
	enc, err := reference.Encoder()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := enc.EncodeOrdinary("hello world"), []int{24912, 2375}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestLoaderHasOneEncoding(t *testing.T) {
	if _, err := (reference.Loader{}).LoadTiktokenBpe("https://example.com/cl100k_base.tiktoken"); err == nil {
		t.Error("no error for cl100k_base")
	}
}

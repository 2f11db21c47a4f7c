package historian_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"ctxplugin/historian"
	"ctxplugin/historian/draft"
	"ctxplugin/prompts"
)

// What a model is shown of a session: at most this share of the raw tokens, and at
// least this share of the identifiers that are named again later, in permille.
const (
	inputMost  = 400
	inputNames = 900
)

// inputSizes are the tokens of a chunk that are measured: about those of a model
// with a window of 24,000, and of one of 64,000 or more.
var inputSizes = [...]int{6_000, 20_000}

// TestInput measures what models are shown of recorded sessions.
func TestInput(t *testing.T) {
	fixed := counter.Count(prompts.Historian.System)
	var raw int
	var shown [len(inputSizes)]int
	var kept [len(inputSizes)]share
	var rows []string
	for _, path := range recorded(t) {
		ms, err := readExport(path)
		if err != nil {
			t.Fatal(err)
		}
		r := rangeOf(ms)
		x, err := historian.New(counter.Count).Read(context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		last := map[string]int{}
		for i := range ms {
			for name := range spokenNames(&ms[i]) {
				last[name] = i
			}
		}
		own := 0
		for _, n := range r.Tokens {
			own += n
		}
		raw += own
		row := fmt.Sprintf("| %s | %d |", strings.TrimSuffix(path[strings.LastIndexByte(path, '/')+1:], ".json"), own)
		for k, size := range inputSizes {
			in, names := 0, share{}
			chunks := draft.Chunks(x, counter.Count, size, size)
			for _, c := range chunks {
				source := map[string]string{}
				for i := c.From; i < c.To; i++ {
					sourceNames(&ms[i], source)
				}
				in += c.Tokens
				text := strings.ToLower(c.Text)
				for _, name := range sortedKeys(source) {
					if last[name] >= c.To-1+10 {
						names.add(strings.Contains(text, name))
						kept[k].add(strings.Contains(text, name))
					}
				}
			}
			shown[k] += in
			all := len(chunks) * fixed
			row += fmt.Sprintf(" %d | %d | %d | %d %% | %d %% | %s |", len(chunks), all, in, 100*in/own, 100*(in+all)/own, ofNames(names))
		}
		rows = append(rows, row)
	}
	for k, size := range inputSizes {
		t.Logf("chunks of %d: %d of %d raw tokens are shown, %v of %d identifiers that are named again", size, shown[k], raw, kept[k], kept[k].all)
		if 1000*shown[k] > inputMost*raw {
			t.Errorf("chunks of %d: %d of %d raw tokens are shown, at most %d permille may be", size, shown[k], raw, inputMost)
		}
		if kept[k].permille() < inputNames {
			t.Errorf("chunks of %d: %v of the identifiers that are named again are shown, want 0.%03d", size, kept[k], inputNames)
		}
	}
	if *report {
		fmt.Println("\n| session | raw tokens |" + strings.Repeat(" requests | fixed | shown | of raw | with fixed | named again |", len(inputSizes)))
		fmt.Println("|---|---:|" + strings.Repeat("---:|---:|---:|---:|---:|---:|", len(inputSizes)))
		fmt.Println(strings.Join(rows, "\n"))
		row := fmt.Sprintf("| **all** | %d |", raw)
		for k := range inputSizes {
			row += fmt.Sprintf(" | | %d | %d %% | | %s |", shown[k], 100*shown[k]/raw, ofNames(kept[k]))
		}
		fmt.Println(row)
	}
}

func ofNames(s share) string {
	if s.all == 0 {
		return "none"
	}
	return fmt.Sprintf("%v of %d", s, s.all)
}

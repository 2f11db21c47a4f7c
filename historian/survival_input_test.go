package historian_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"ctxplugin/historian"
	"ctxplugin/historian/draft"
)

// What a model is shown of a session: at most this share of the raw tokens, and at
// least this share of the identifiers that are named again later, in permille.
const (
	inputMost  = 400
	inputNames = 900
)

// TestInput measures what models are shown of recorded sessions.
func TestInput(t *testing.T) {
	var shown, raw int
	all := share{}
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
		chunks := draft.Chunks(x, counter.Count, 20_000, 16_000)
		own, in, out := share{}, 0, 0
		var missing []string
		for _, c := range chunks {
			source := map[string]string{}
			for i := c.From; i < c.To; i++ {
				sourceNames(&ms[i], source)
				out += r.Tokens[i]
			}
			in += c.Tokens
			text := strings.ToLower(c.Text)
			for _, name := range sortedKeys(source) {
				if last[name] >= c.To-1+10 {
					kept := strings.Contains(text, name)
					own.add(kept)
					all.add(kept)
					if !kept {
						missing = append(missing, source[name]+" "+name)
					}
				}
			}
		}
		if *report && testing.Verbose() {
			t.Logf("%s: missing %q", path, missing)
		}
		shown, raw = shown+in, raw+out
		if path == sampleFile {
			continue
		}
		rows = append(rows, fmt.Sprintf("| %s | %d | %d | %d | %d %% | %v of %d |", strings.TrimSuffix(path[strings.LastIndexByte(path, '/')+1:], ".json"),
			out, len(chunks), in, 100*in/out, own, own.all))
	}
	t.Logf("shown: %d of %d raw tokens; %v of %d identifiers that are named again", shown, raw, all, all.all)
	if *report {
		fmt.Println("\n| session | raw tokens | chunks | shown | share | named again, and shown |\n|---|---:|---:|---:|---:|---:|")
		fmt.Println(strings.Join(rows, "\n"))
		fmt.Printf("| **all** | %d | | %d | %d %% | %v of %d |\n", raw, shown, 100*shown/raw, all, all.all)
	}
	if len(rows) == 0 {
		return
	}
	if 1000*shown > inputMost*raw {
		t.Errorf("%d of %d raw tokens are shown, at most %d permille may be", shown, raw, inputMost)
	}
	if all.permille() < inputNames {
		t.Errorf("%v of the identifiers that are named again are shown, want 0.%03d", all, inputNames)
	}
}

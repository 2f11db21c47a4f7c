package historian

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"ctxplugin/compartments"
	"ctxplugin/tokens"
)

var (
	show     = flag.String("show", "", "print the tiers of a recorded session: NAME or NAME:tier")
	showFrom = flag.Int("from", 0, "with -show: first ordinal")
	showTo   = flag.Int("to", 1<<30, "with -show: last ordinal")
)

const corpusDir = "../../shared/corpus"

// loadExport reads a session in the shape of a host's export and returns the
// range over all of it.
func loadExport(t testing.TB, path string) Range {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Messages []struct {
			Info  map[string]json.RawMessage `json:"info"`
			Parts json.RawMessage            `json:"parts"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	var r Range
	counter := tokens.New()
	for i, m := range file.Messages {
		m.Info["parts"] = m.Parts
		wire, err := json.Marshal(m.Info)
		if err != nil {
			t.Fatal(err)
		}
		d, err := compartments.DecodeMessage(wire)
		if err != nil {
			t.Fatal(err)
		}
		d.Ordinal = compartments.Ordinal(i + 1)
		n := compartments.FrameTokens
		for j := range d.Parts {
			p := &d.Parts[j]
			if p.Kind != compartments.PartMarker && !p.Ignored {
				n += counter.Count(p.Text) + counter.Count(p.Input) + counter.Count(p.Output)
			}
		}
		r.Messages = append(r.Messages, d)
		r.Hashes = append(r.Hashes, d.ContentHash())
		r.Tokens = append(r.Tokens, n)
	}
	return r
}

func corpusFiles(t testing.TB) []string {
	files, _ := filepath.Glob(filepath.Join(corpusDir, "*.json"))
	if len(files) == 0 {
		t.Skip("no recorded sessions beside the checkout")
	}
	return files
}

func testBuiltin() *Builtin { return New(tokens.New().Count) }

func TestShow(t *testing.T) {
	if *show == "" {
		t.Skip("asks for -show NAME")
	}
	name, tier, _ := strings.Cut(*show, ":")
	path := filepath.Join(corpusDir, name+".json")
	if strings.Contains(name, "/") {
		path = name + ".json"
	}
	r := loadExport(t, path)
	list, err := testBuiltin().Write(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		if int(c.Last) < *showFrom || int(c.First) > *showTo {
			continue
		}
		fmt.Printf("######## %d-%d %q raw %d  importance %d  types %v  names %v\n", c.First, c.Last, c.Title, c.RawTokens, c.Importance, c.Types, c.Names)
		for _, tr := range compartments.Rendered {
			if tier == "" || tier == tr.String() {
				fmt.Printf("---- %s %d tokens %v\n%s\n", tr, c.Tiers[tr].Tokens, c.Tiers[tr].Survival, c.Tiers[tr].Text)
			}
		}
	}
}

// sourceOf is everything of a run that a tier may take a name from.
func sourceOf(r Range, from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		for _, p := range r.Messages[i].Parts {
			b.WriteString(p.Text + "\n" + p.Input + "\n" + p.Output + "\n" + p.Filename + "\n" + p.Tool + "\n")
			var input map[string]any
			if json.Unmarshal([]byte(p.Input), &input) == nil {
				flatten(&b, input)
			}
		}
	}
	return b.String()
}

func flatten(b *strings.Builder, v any) {
	switch v := v.(type) {
	case string:
		b.WriteString(v + "\n")
	case map[string]any:
		for _, k := range sortedKeys(v) {
			flatten(b, v[k])
		}
	case []any:
		for _, e := range v {
			flatten(b, e)
		}
	}
}

func sortedKeys(m map[string]any) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

// TestCorpus writes every recorded session and checks what must hold of any
// compartment, and how many of the names that come again each tier still has.
func TestCorpus(t *testing.T) {
	again := [4]int{}
	all := 0
	sizes := [4][]int{}
	for _, path := range corpusFiles(t) {
		r := loadExport(t, path)
		list, err := testBuiltin().Write(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		at := 0
		rd := newReader()
		named := make([]map[string]bool, len(r.Messages))
		for i := range r.Messages {
			m := rd.read(&r.Messages[i], i)
			rd.name(&m)
			named[i] = map[string]bool{}
			for _, n := range m.names {
				if n.visible {
					named[i][rd.names.list[n.id].text] = true
				}
			}
		}
		lastNamed := map[string]int{}
		for i := range named {
			for n := range named[i] {
				lastNamed[n] = i
			}
		}
		var own [4]int
		ownAll := 0
		for _, c := range list {
			if err := c.Validate(); err != nil {
				t.Errorf("%s: %v", filepath.Base(path), err)
			}
			checkCover(t, path, r, &c, at)
			source := sourceOf(r, at, at+len(c.Members))
			checkTiers(t, filepath.Base(path), &c, source)
			for k, tr := range compartments.Rendered {
				sizes[k] = append(sizes[k], c.Tiers[tr].Tokens)
			}
			end := at + len(c.Members)
			here := map[string]bool{}
			for i := at; i < end; i++ {
				for n := range named[i] {
					if lastNamed[n] >= end {
						here[n] = true
					}
				}
			}
			ownAll += len(here)
			for n := range here {
				for k, tr := range compartments.Rendered {
					if strings.Contains(c.Tiers[tr].Text, n) || strings.Contains(c.Tiers[tr].Text, baseName(n)) {
						own[k]++
					}
				}
			}
			at = end
		}
		if at != len(r.Messages) {
			t.Errorf("%s: %d of %d messages covered", path, at, len(r.Messages))
		}
		t.Logf("%-18s %3d compartments, named again %4d: full %.2f dense %.2f compact %.2f anchor %.2f", filepath.Base(path), len(list), ownAll,
			share(own[0], ownAll), share(own[1], ownAll), share(own[2], ownAll), share(own[3], ownAll))
		all += ownAll
		for k := range again {
			again[k] += own[k]
		}
	}
	for k, tr := range compartments.Rendered {
		sort.Ints(sizes[k])
		n := len(sizes[k])
		t.Logf("%-8s tokens p10 %d p50 %d p90 %d max %d, named again %.3f", tr, sizes[k][n/10], sizes[k][n/2], sizes[k][n*9/10], sizes[k][n-1], share(again[k], all))
	}
	for k, least := range [4]float64{0.50, 0.33, 0.20, 0.08} {
		if got := share(again[k], all); got < least {
			t.Errorf("tier %s keeps %.3f of the names that come again, want %.2f", compartments.Rendered[k], got, least)
		}
	}
}

func share(a, b int) float64 {
	if b == 0 {
		return 1
	}
	return float64(a) / float64(b)
}

func checkCover(t *testing.T, path string, r Range, c *compartments.Compartment, at int) {
	t.Helper()
	for k, o := range c.Members {
		if at+k >= len(r.Messages) || r.Messages[at+k].Ordinal != o {
			t.Fatalf("%s: compartment %d-%d does not continue the list at place %d", path, c.First, c.Last, at)
		}
	}
}

// checkTiers checks what must hold of the texts of any compartment.
func checkTiers(t *testing.T, file string, c *compartments.Compartment, source string) {
	t.Helper()
	spans := 0
	for _, s := range c.Spans {
		spans += s.Tokens
		if !strings.Contains(source, s.Text) {
			t.Errorf("%s %d-%d: span %q is not in the source", file, c.First, c.Last, s.Text)
		}
	}
	if spans > 300 {
		t.Errorf("%s %d-%d: %d tokens of spans", file, c.First, c.Last, spans)
	}
	for k, tr := range compartments.Rendered {
		text := c.Tiers[tr].Text
		if n := c.Tiers[tr].Tokens; n-spans > tr.Ceiling() {
			t.Errorf("%s %d-%d %s: %d tokens, ceiling %d", file, c.First, c.Last, tr, n, tr.Ceiling())
		}
		for _, s := range c.Spans {
			if !strings.Contains(text, s.Text) {
				t.Errorf("%s %d-%d %s lacks span %q", file, c.First, c.Last, tr, s.Text)
			}
		}
		for i, line := range strings.Split(text, "\n") {
			if line == "" || strings.ContainsAny(line[:1], "#<`") || i > 0 && line[0] == '[' {
				t.Errorf("%s %d-%d %s: line %q could pass for a heading", file, c.First, c.Last, tr, line)
			}
		}
		above := source
		if k > 0 {
			above = c.Tiers[compartments.Rendered[k-1]].Text
		}
		scanNames(text, func(n string, kd kind) {
			if k > 0 && !strings.Contains(above, n) && !knownIn(n, above) {
				t.Errorf("%s %d-%d %s: name %q is not in the tier above", file, c.First, c.Last, tr, n)
			}
			if !knownIn(n, source) && !ours(n) {
				t.Errorf("%s %d-%d %s: name %q is not in the source", file, c.First, c.Last, tr, n)
			}
		})
	}
}

func knownIn(n, source string) bool {
	return strings.Contains(source, n) || strings.Contains(strings.ToLower(source), strings.ToLower(n))
}

// ours reports what the renderer counts itself.
func ours(n string) bool { return strings.HasPrefix(n, "+") || strings.Contains(n, "/-") }

func BenchmarkWrite(b *testing.B) {
	files, _ := filepath.Glob(filepath.Join(corpusDir, "*.json"))
	for _, path := range files {
		r := loadExport(b, path)
		bytes := 0
		for i := range r.Messages {
			for _, p := range r.Messages[i].Parts {
				bytes += len(p.Text) + len(p.Input) + len(p.Output)
			}
		}
		b.Run(filepath.Base(path), func(b *testing.B) {
			b.SetBytes(int64(bytes))
			for b.Loop() {
				if _, err := testBuiltin().Write(b.Context(), r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

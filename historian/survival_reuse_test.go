package historian_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ctxplugin/compartments"
	"ctxplugin/historian"
)

// recorded lists the sessions that are measured as a whole: the sample, and the
// recorded ones where they are.
func recorded(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(corpusFolder, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	return append([]string{sampleFile}, files...)
}

// written is a whole session and its compartments.
type written struct {
	path string
	ms   []compartments.Message
	cs   []compartments.Compartment
}

func (w *written) name() string { return strings.TrimSuffix(filepath.Base(w.path), ".json") }

// run is the messages of a compartment.
func (w *written) run(c *compartments.Compartment) []compartments.Message {
	return w.ms[c.First-1 : c.Last]
}

func writeAll(t testing.TB, path string) written {
	t.Helper()
	ms, err := readExport(path)
	if err != nil {
		t.Fatal(err)
	}
	cs, err := historian.New(counter.Count).Write(context.Background(), rangeOf(ms))
	if err != nil {
		t.Fatal(err)
	}
	place := 0
	for i := range cs {
		if err := cs[i].Validate(); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		for _, o := range cs[i].Members {
			if int(o) != place+1 {
				t.Fatalf("%s: message %d is in no compartment or in two", path, place)
			}
			place++
		}
	}
	if place != len(ms) {
		t.Fatalf("%s: the compartments hold %d of %d messages", path, place, len(ms))
	}
	return written{path, ms, cs}
}

// reuseMarks are the shares of identifiers that must still stand, of those that
// are named again 10 or more messages later, in permille.
var reuseMarks = map[compartments.Tier]int{
	compartments.TierFull: 500, compartments.TierDense: 330, compartments.TierCompact: 200, compartments.TierAnchor: 80,
}

func TestSurvivalInSessions(t *testing.T) {
	var all []written
	for _, path := range recorded(t) {
		all = append(all, writeAll(t, path))
	}
	t.Run("names", func(t *testing.T) { checkReuse(t, all) })
	t.Run("nothing invented", func(t *testing.T) { checkInvented(t, all) })
	t.Run("words", func(t *testing.T) { checkWords(t, all) })
}

func checkReuse(t *testing.T, all []written) {
	total := map[compartments.Tier]*share{}
	for _, tier := range compartments.Rendered {
		total[tier] = &share{}
	}
	var rows []string
	for _, w := range all {
		own := map[compartments.Tier]*share{}
		for _, tier := range compartments.Rendered {
			own[tier] = &share{}
		}
		last := map[string]int{} // last place where a name is spoken
		for i := range w.ms {
			for name := range spokenNames(&w.ms[i]) {
				last[name] = i
			}
		}
		sizes := map[compartments.Tier][]int{}
		raw := 0
		for i := range w.cs {
			c := &w.cs[i]
			run := w.run(c)
			source := map[string]string{}
			for j := range run {
				sourceNames(&run[j], source)
			}
			for _, tier := range compartments.Rendered {
				sizes[tier] = append(sizes[tier], c.Tiers[tier].Tokens)
				text := strings.ToLower(c.Tiers[tier].Text)
				for name := range source {
					if last[name] < int(c.Last)-1+10 {
						continue
					}
					kept := strings.Contains(text, name)
					own[tier].add(kept)
					total[tier].add(kept)
				}
			}
			raw += c.RawTokens
		}
		row := fmt.Sprintf("| %s | %d | %d | %d |", w.name(), len(w.ms), len(w.cs), raw)
		for _, tier := range compartments.Rendered {
			row += fmt.Sprintf(" %s |", spread(sizes[tier]))
		}
		for _, tier := range compartments.Rendered {
			row += fmt.Sprintf(" %v |", own[tier])
		}
		rows = append(rows, row)
	}
	for _, tier := range compartments.Rendered {
		got := total[tier]
		t.Logf("reuse %s: %v of %d identifiers that are named again later", tier, got, got.all)
		if got.permille() < reuseMarks[tier] {
			t.Errorf("reuse %s: %v of the identifiers that are named again, want 0.%03d", tier, got, reuseMarks[tier])
		}
	}
	if *report {
		fmt.Println("\n| session | messages | compartments | raw tokens | full tokens p10 / p50 / p90 | dense | compact | anchor | names kept: full | dense | compact | anchor |")
		fmt.Println("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
		for _, row := range rows {
			fmt.Println(row)
		}
		fmt.Print("| **all** | | | | | | | |")
		for _, tier := range compartments.Rendered {
			fmt.Printf(" %v |", total[tier])
		}
		fmt.Println()
	}
}

func spread(sizes []int) string {
	slices.Sort(sizes)
	at := func(percent int) int { return sizes[(len(sizes)-1)*percent/100] }
	return fmt.Sprintf("%d / %d / %d", at(10), at(50), at(90))
}

// No tier is larger than the one above or than its ceiling, and none names what
// its source lacks.
func checkInvented(t *testing.T, all []written) {
	names := 0
	for _, w := range all {
		asked := "" // requests before the compartment may be quoted
		for i := range w.cs {
			c := &w.cs[i]
			run := w.run(c)
			raw := rawText(run)
			source := strings.ToLower(raw + controls.ReplaceAllString(raw, "") + asked + callNames(run))
			above := 0
			for _, tier := range compartments.Rendered {
				r := c.Tiers[tier]
				ceiling := tier.Ceiling()
				for _, s := range c.Spans {
					ceiling += s.Tokens + 8 // exact spans are apart from the ceiling; their line has a frame
				}
				if n := counter.Count(r.Text); n != r.Tokens {
					t.Errorf("%s: %d-%d: %s says %d tokens, it has %d", w.name(), c.First, c.Last, tier, r.Tokens, n)
				}
				if above > 0 && r.Tokens > above {
					t.Errorf("%s: %d-%d: %s has %d tokens, the tier above %d", w.name(), c.First, c.Last, tier, r.Tokens, above)
				}
				if r.Tokens > ceiling {
					t.Errorf("%s: %d-%d: %s has %d tokens, its ceiling with exact spans is %d", w.name(), c.First, c.Last, tier, r.Tokens, ceiling)
				}
				above = r.Tokens
				for name, kind := range named(r.Text, true) {
					names++
					if !strings.Contains(source, name) {
						t.Errorf("invented: %s: %d-%d: %s names the %s %q, which the source lacks", w.name(), c.First, c.Last, tier, kind, name)
					}
				}
			}
			for j := range run {
				asked += "\n" + ownWords(&run[j])
			}
		}
	}
	if names < 1000 {
		t.Errorf("only %d identifiers stand in all tiers", names)
	}
}

func callNames(ms []compartments.Message) string {
	var b strings.Builder
	for _, m := range ms {
		for _, p := range m.Parts {
			b.WriteString("\n" + p.Tool + "\n" + p.Filename)
		}
	}
	return b.String()
}

// What people said stands word for word at full and dense where it fits: short
// messages, and not more of them than half of the room.
func checkWords(t *testing.T, all []written) {
	least := map[compartments.Tier]int{compartments.TierFull: 950, compartments.TierDense: 850}
	for _, tier := range []compartments.Tier{compartments.TierFull, compartments.TierDense} {
		verbatim := share{}
		var missing []string
		for _, w := range all {
			for i := range w.cs {
				c := &w.cs[i]
				var said []string
				size := 0
				run := w.run(c)
				for j := range run {
					if words := ownWords(&run[j]); width(words) >= 12 {
						said = append(said, words)
						size += counter.Count(words)
					}
				}
				if 2*size > room(c, tier) {
					continue
				}
				for _, words := range said {
					if counter.Count(words) > 120 || strings.ContainsAny(words, "<>") || strings.Contains(words, "```") || strings.Contains(words, "\n\n") {
						continue // pastes, tags and whole letters
					}
					kept := containsWords(c.Tiers[tier].Text, words)
					verbatim.add(kept)
					if !kept {
						missing = append(missing, fmt.Sprintf("%s %d-%d", w.name(), c.First, c.Last))
					}
				}
			}
		}
		t.Logf("verbatim %s: %v of %d messages of users; missing in %q", tier, verbatim, verbatim.all, missing)
		if verbatim.permille() < least[tier] {
			t.Errorf("verbatim %s: %v of the users' words that fit, want 0.%03d", tier, verbatim, least[tier])
		}
	}
}

// room is how many tokens a tier may have: its ceiling, or less for a small
// compartment.
func room(c *compartments.Compartment, tier compartments.Tier) int {
	full := min(compartments.TierFull.Ceiling(), max(140, c.RawTokens/4))
	if tier == compartments.TierFull {
		return full
	}
	return min(tier.Ceiling(), max(130, full*6/10))
}

// containsWords ignores what a record may do to quoted words: quotes, marks of
// emphasis, line prefixes.
func containsWords(text, words string) bool {
	plain := func(s string) string {
		return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
			return !(r == '/' || r == '.' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 0x80)
		}), " ")
	}
	return strings.Contains(plain(text), plain(words))
}

// width is how much a text says: letters and digits, a CJK character for three.
func width(text string) int {
	n := 0
	for _, r := range text {
		switch {
		case r >= 0x2e80:
			n += 3
		case r >= '0' && r <= '9', r >= 'A' && r <= 'Z', r >= 'a' && r <= 'z', r >= 0xc0:
			n++
		}
	}
	return n
}

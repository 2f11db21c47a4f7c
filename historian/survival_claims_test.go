package historian_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ctxplugin/compartments"
	"ctxplugin/historian"
	"ctxplugin/historian/draft"
)

// parrot is a model that answers with a compartment of the built-in generator. It
// keeps the faults of that.
type parrot struct {
	listener
	c      *compartments.Compartment
	faults []string
}

func (p *parrot) Generate(context.Context, historian.Request) (historian.Reply, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "<compartment first=\"%d\" last=\"%d\" importance=\"50\" title=%q>\n", p.c.First, p.c.Last, strings.ReplaceAll(p.c.Title, `"`, "'"))
	for _, t := range compartments.Rendered {
		_, text, _ := strings.Cut(p.c.Tiers[t].Text, "] ")
		fmt.Fprintf(&b, "<%s>\n%s\n</%s>\n", t, text, t)
	}
	b.WriteString("</compartment>\n")
	return historian.Reply{Text: b.String(), Finish: historian.FinishStop}, nil
}

func (p *parrot) Record(_ context.Context, c compartments.Call) error {
	p.faults = append(p.faults, c.Faults...)
	return nil
}

// TestClaims_OfTheGenerator: what the built-in generator says of recorded sessions
// claims no success that its messages do not show.
func TestClaims_OfTheGenerator(t *testing.T) {
	all, wrong, read := 0, 0, 0
	for _, path := range recorded(t) {
		ms, err := readExport(path)
		if err != nil {
			t.Fatal(err)
		}
		r := rangeOf(ms)
		b := historian.New(counter.Count)
		list, err := b.Write(context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		for i := range list {
			c := &list[i]
			p := &parrot{c: c}
			w := draft.New(draft.Config{Candidates: []draft.Candidate{{Backend: "test", Model: p, Window: 10_000_000, Tries: 1}}, Builtin: b, Count: counter.Count,
				Journal: p, Clock: p, Jitter: func(time.Duration) time.Duration { return 0 }})
			from, to := int(c.First)-1, int(c.Last)
			if _, err := w.Write(context.Background(), historian.Range{Messages: r.Messages[from:to], Hashes: r.Hashes[from:to], Tokens: r.Tokens[from:to],
				Prior: list[:i], Closed: true}); err != nil {
				t.Fatal(err)
			}
			if all++; len(p.faults) > 0 {
				read++
			}
			if slices.Contains(p.faults, string(draft.FaultUnproven)) {
				wrong++
				t.Errorf("%s %d-%d:\n%s", path, c.First, c.Last, c.Tiers[compartments.TierFull].Text)
			}
		}
	}
	t.Logf("%d of %d compartments are unproven; %d have other faults", wrong, all, read)
}

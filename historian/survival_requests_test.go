package historian_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"ctxplugin/compartments"
	"ctxplugin/historian"
	"ctxplugin/historian/draft"
)

// What whole requests may take of the raw tokens, and what must be left in them of the
// identifiers that are named again, in permille, over all sessions together.
const (
	requestsMost  = 400
	requestsNames = 900
	requestsAbove = 2 // sessions that may take more by themselves: in one, short exchanges need many replies; another is just below
)

// dueSizes are the raw tokens that gather before a model is asked: as the built-in
// generator begins, and as models do unless the settings say otherwise.
var dueSizes = [...]int{6_000, 20_000}

// listener is a model that refuses, and keeps what it was asked. It is its own
// ledger and clock.
type listener struct {
	tokens  int
	prompts []string
	calls   []compartments.Call
}

func (l *listener) Generate(_ context.Context, r historian.Request) (historian.Reply, error) {
	l.tokens += counter.Count(r.System) + counter.Count(r.Prompt)
	l.prompts = append(l.prompts, strings.ToLower(r.Prompt))
	return historian.Reply{Finish: historian.FinishRefusal}, nil
}

func (l *listener) Admit(_ context.Context, c compartments.Call) (compartments.CallHold, error) {
	l.calls = append(l.calls, c)
	return compartments.CallHold{}, nil
}

func (*listener) Record(context.Context, compartments.Call) error { return nil }

func (*listener) Now() time.Time { return time.UnixMilli(1) }

func (*listener) Sleep(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// ask has a writer write a session as it grows, whenever so many raw tokens have
// gathered. What it leaves for later is in the next range, as in a session.
func (l *listener) ask(t *testing.T, r historian.Range, due int) {
	t.Helper()
	b := historian.New(counter.Count)
	w := draft.New(draft.Config{Candidates: []draft.Candidate{{Backend: "test", Model: l}}, Builtin: b, Count: counter.Count,
		Journal: l, Clock: l, Jitter: func(time.Duration) time.Duration { return 0 }})
	from, gathered := 0, 0
	var prior []compartments.Compartment
	for i := range r.Messages {
		gathered += r.Tokens[i]
		last := i+1 == len(r.Messages)
		if !last && (gathered < due || r.Messages[i+1].Role == compartments.RoleTool) {
			continue
		}
		part := historian.Range{Messages: r.Messages[from : i+1], Hashes: r.Hashes[from : i+1], Tokens: r.Tokens[from : i+1], Prior: prior, Closed: last}
		before := len(l.calls)
		list, err := w.Write(context.Background(), part)
		if err != nil {
			t.Fatal(err)
		}
		asked := l.calls[before:]
		if len(asked) > 0 { // what a model had written would serve, as far as it was asked
			from = int(asked[len(asked)-1].Last)
		} else {
			from += len(list[0].Members)
		}
		for k := range list {
			if int(list[k].Last) <= from {
				prior = append(prior, list[k])
			}
		}
		gathered = 0
		for k := from; k <= i; k++ {
			gathered += r.Tokens[k]
		}
	}
}

// TestRequests measures what whole requests take of recorded sessions, and what is
// left in them of the names that are named again.
func TestRequests(t *testing.T) {
	var rows, above []string
	var raw int
	var calls, tokens [len(dueSizes)]int
	var kept [len(dueSizes)]share
	for _, path := range recorded(t) {
		ms, err := readExport(path)
		if err != nil {
			t.Fatal(err)
		}
		r := rangeOf(ms)
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
		for d, due := range dueSizes {
			l := &listener{}
			l.ask(t, r, due)
			names := share{}
			for k, c := range l.calls {
				source := map[string]string{}
				for i := int(c.First) - 1; i < int(c.Last); i++ {
					sourceNames(&ms[i], source)
				}
				for _, name := range sortedKeys(source) {
					if last[name] >= int(c.Last)-1+10 {
						names.add(strings.Contains(l.prompts[k], name))
						kept[d].add(strings.Contains(l.prompts[k], name))
					}
				}
			}
			calls[d] += len(l.calls)
			tokens[d] += l.tokens
			if d == len(dueSizes)-1 && 1000*l.tokens > requestsMost*own {
				above = append(above, row)
			}
			row += fmt.Sprintf(" %d | %d | %.1f %% | %s |", len(l.calls), l.tokens, 100*float64(l.tokens)/float64(own), ofNames(names))
		}
		rows = append(rows, row)
	}
	models := len(dueSizes) - 1
	if len(above) > requestsAbove {
		t.Errorf("requests take more than %d permille of %v", requestsMost, above)
	}
	if got := 1000 * tokens[models] / raw; got > requestsMost || tokens[models] >= tokens[0] {
		t.Errorf("requests of %d raw tokens take %d permille of them, those of %d %d", dueSizes[models], got, dueSizes[0], 1000*tokens[0]/raw)
	}
	if kept[models].permille() < requestsNames {
		t.Errorf("%v of the identifiers that are named again are left", kept[models])
	}
	if *report {
		fmt.Println("\n| session | raw tokens |" + strings.Repeat(" requests | tokens | of raw | named again |", len(dueSizes)))
		fmt.Println("|---|---:|" + strings.Repeat("---:|---:|---:|---:|", len(dueSizes)))
		row := fmt.Sprintf("| **all** | %d |", raw)
		for d := range dueSizes {
			row += fmt.Sprintf(" %d | %d | %.1f %% | %s |", calls[d], tokens[d], 100*float64(tokens[d])/float64(raw), ofNames(kept[d]))
		}
		fmt.Println(strings.Join(append(rows, row), "\n"))
	}
}

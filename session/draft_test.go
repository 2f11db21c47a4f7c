package session_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"ctxplugin/compartments"
	"ctxplugin/historian"
	"ctxplugin/historian/draft"
)

// echo is a model that writes one compartment for each span that is suggested to
// it, out of the words that it is shown.
type echo struct {
	mu    sync.Mutex
	asked int
	spoil func(string) string
}

var suggested = regexp.MustCompile(`(?m)^(\d+)-(\d+): \d+ characters$`)

func (e *echo) Generate(_ context.Context, r historian.Request) (historian.Reply, error) {
	e.mu.Lock()
	e.asked++
	e.mu.Unlock()
	var b strings.Builder
	for _, m := range suggested.FindAllStringSubmatch(r.Prompt, -1) {
		words := ""
		for _, part := range strings.Split(r.Prompt, "\n[")[1:] {
			head, rest, _ := strings.Cut(part, "\n  ")
			if strings.HasPrefix(head, m[1]+"]") {
				words, _, _ = strings.Cut(rest, "\n")
			}
		}
		words = strings.Join(strings.Fields(words)[:min(12, len(strings.Fields(words)))], " ")
		fmt.Fprintf(&b, `<compartment first="%s" last="%s" importance="40" types="change" title="Work went on"><full>Outcome: [%s] "%s"</full><dense>Outcome: [%s] "%s"</dense><compact>"%s"</compact><anchor>"%s"</anchor></compartment>`,
			m[1], m[2], m[1], words, m[1], words, words, words)
	}
	text := b.String()
	if e.spoil != nil {
		text = e.spoil(text)
	}
	return historian.Reply{Text: text, Finish: historian.FinishStop}, nil
}

func (e *echo) calls() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.asked
}

type noLedger struct{}

func (noLedger) Admit(context.Context, compartments.Call) (compartments.CallHold, error) {
	return compartments.CallHold{}, nil
}

func (noLedger) Record(context.Context, compartments.Call) error { return nil }

type noClock struct{}

func (noClock) Now() time.Time { return time.UnixMilli(1_700_000_000_000) }

func (noClock) Sleep(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// TestSlow_Drafts: a session takes what models write, and where they write nonsense
// goes on as without them.
func TestSlow_Drafts(t *testing.T) {
	for name, spoil := range map[string]func(string) string{
		"good":     nil,
		"a gap":    func(s string) string { return strings.Replace(s, `first="`, `first="9`, 1) },
		"invented": func(s string) string { return strings.ReplaceAll(s, "<full>", "<full>Changed: pkg/invented.go\n") },
		"nothing":  func(string) string { return "" },
		"a refusal": func(string) string {
			return "I'm sorry, but I can't help with that."
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := newMemory()
			cfg := testConfig(store)
			model := &echo{spoil: spoil}
			cfg.Slow = draft.New(draft.Config{Candidates: []draft.Candidate{{Backend: "test", Name: "echo", Model: model, Window: 64_000}},
				Builtin: historian.New(count), Count: count, Journal: noLedger{}, Clock: noClock{}, Jitter: func(time.Duration) time.Duration { return 0 }})
			h := newHost(t, startSessions(t, cfg), store, 60_000)
			h.turn("please look at the program and say what each part of it does", 20, 4000)
			grounded := func() (n int) {
				store.mu.Lock()
				defer store.mu.Unlock()
				for _, c := range store.all[h.id].Compartments {
					if c.Strategy == compartments.StrategyGrounded {
						n++
					}
				}
				return n
			}
			for model.calls() < 2 || spoil == nil && grounded() == 0 { // the test's own time limit ends this
				h.user("please look at the next part of the program and say what it does")
				h.disturbed = false
				h.request()
				h.step(words(1), 2500)
			}
			closeSessions(t, h.s)
			h.validCompartments()
			if n := grounded(); spoil != nil && n > 0 {
				t.Errorf("%d compartments were stored of nonsense", n)
			}
		})
	}
}

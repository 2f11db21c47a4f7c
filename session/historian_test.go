package session_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"ctxplugin/compartments"
	"ctxplugin/historian"
	"ctxplugin/session"
)

// spoiled is a historian that spoils what another one wrote.
type spoiled struct {
	naive
	spoil func(r historian.Range, written []compartments.Compartment) ([]compartments.Compartment, error)
}

func (s *spoiled) Write(ctx context.Context, r historian.Range) ([]compartments.Compartment, error) {
	written, err := s.naive.Write(ctx, r)
	if err != nil {
		return nil, err
	}
	return s.spoil(r, written)
}

var spoils = map[string]func(r historian.Range, w []compartments.Compartment) ([]compartments.Compartment, error){
	"an error": func(historian.Range, []compartments.Compartment) ([]compartments.Compartment, error) {
		return nil, errors.New("the model refused")
	},
	"nothing": func(historian.Range, []compartments.Compartment) ([]compartments.Compartment, error) { return nil, nil },
	"the last missing": func(_ historian.Range, w []compartments.Compartment) ([]compartments.Compartment, error) {
		return w[:len(w)-1], nil
	},
	"the first missing": func(_ historian.Range, w []compartments.Compartment) ([]compartments.Compartment, error) {
		return w[1:], nil
	},
	"in another order": func(_ historian.Range, w []compartments.Compartment) ([]compartments.Compartment, error) {
		slices.Reverse(w)
		if len(w) == 1 {
			return nil, nil
		}
		return w, nil
	},
	"one twice": func(_ historian.Range, w []compartments.Compartment) ([]compartments.Compartment, error) {
		return append(w, w[len(w)-1]), nil
	},
	"overlapping": func(r historian.Range, w []compartments.Compartment) ([]compartments.Compartment, error) {
		return append(w, paraphrase(r, max(0, len(r.Messages)-2), len(r.Messages), compartments.Rendered[:])), nil
	},
	"a member missing": func(_ historian.Range, w []compartments.Compartment) ([]compartments.Compartment, error) {
		w[0].Members = slices.Delete(slices.Clone(w[0].Members), 0, 1)
		return w, nil
	},
	"a stranger for a member": func(_ historian.Range, w []compartments.Compartment) ([]compartments.Compartment, error) {
		w[0].Members[len(w[0].Members)/2] += 1000
		return w, nil
	},
	"named by others": func(_ historian.Range, w []compartments.Compartment) ([]compartments.Compartment, error) {
		w[0].First++
		return w, nil
	},
	"from other messages": func(_ historian.Range, w []compartments.Compartment) ([]compartments.Compartment, error) {
		w[0].SourceHash[3]++
		return w, nil
	},
	"no anchor": func(_ historian.Range, w []compartments.Compartment) ([]compartments.Compartment, error) {
		delete(w[0].Tiers, compartments.TierAnchor)
		return w, nil
	},
	"no tiers": func(_ historian.Range, w []compartments.Compartment) ([]compartments.Compartment, error) {
		w[0].Tiers = nil
		return w, nil
	},
	"growing tiers": func(_ historian.Range, w []compartments.Compartment) ([]compartments.Compartment, error) {
		w[0].Tiers[compartments.TierAnchor] = compartments.Rendition{Text: strings.Repeat("much more ", 900), Tokens: 3}
		return w, nil
	},
	"no importance": func(_ historian.Range, w []compartments.Compartment) ([]compartments.Compartment, error) {
		w[0].Importance = 0
		return w, nil
	},
}

// TestHistorian_Nonsense: nothing false is stored, and every request is answered
// and fits all the same.
func TestHistorian_Nonsense(t *testing.T) {
	for name, spoil := range spoils {
		for _, slow := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				store := newMemory()
				cfg := testConfig(store)
				if slow {
					cfg.Slow = &spoiled{spoil: spoil}
				} else {
					cfg.Historian = &spoiled{spoil: spoil}
				}
				h := newHost(t, startSessions(t, cfg), store, 16_000)
				for i := range 12 {
					h.user(words(i))
					for range 3 {
						h.request()
						h.step(words(i), 2500)
					}
				}
				if h.folds == 0 {
					t.Fatal("never folded")
				}
				closeSessions(t, h.s)
				h.validCompartments()
				for _, c := range store.all[h.id].Compartments {
					if scanned := c.Strategy == compartments.StrategyScan; !slow && !scanned || slow && scanned {
						t.Fatalf("slow %v: compartment %d-%d is %s", slow, c.First, c.Last, c.Strategy)
					}
				}
			})
		}
	}
}

// validCompartments checks what is stored: each valid, over messages that were
// the host's at some time, and counted right.
func (h *host) validCompartments() {
	h.t.Helper()
	h.store.mu.Lock()
	defer h.store.mu.Unlock()
	k := h.store.all[h.id]
	for i := range k.Compartments {
		c := &k.Compartments[i]
		if err := c.Validate(); err != nil {
			h.t.Fatalf("stored: %v", err)
		}
		raw := 0
		var hashes []compartments.Hash
		for _, m := range c.Members {
			raw += k.Entries[m-1].Tokens()
			hashes = append(hashes, k.Entries[m-1].Hash)
		}
		if compartments.RunHash(hashes) == c.SourceHash && raw != c.RawTokens {
			h.t.Fatalf("compartment %d-%d has %d raw tokens, its messages %d", c.First, c.Last, c.RawTokens, raw)
		}
		for tier, r := range c.Tiers {
			if r.Tokens != count(r.Text) {
				h.t.Fatalf("compartment %d-%d, %s: %d tokens stated, %d counted", c.First, c.Last, tier, r.Tokens, count(r.Text))
			}
		}
	}
}

// TestHistorian_LiesAboutCounts: budgets rely on counts, so they are taken anew.
func TestHistorian_LiesAboutCounts(t *testing.T) {
	store := newMemory()
	cfg := testConfig(store)
	cfg.Historian = &spoiled{spoil: func(_ historian.Range, w []compartments.Compartment) ([]compartments.Compartment, error) {
		for i := range w {
			w[i].RawTokens = 1 << 30
			for tier, r := range w[i].Tiers {
				r.Tokens = 1
				w[i].Tiers[tier] = r
			}
			for n := range 40 {
				w[i].Spans = append(w[i].Spans, compartments.ExactSpan{Ordinal: w[i].First, Text: strings.Repeat("verbatim ", n), Tokens: 1})
			}
		}
		return w, nil
	}}
	h := newHost(t, startSessions(t, cfg), store, 16_000)
	for i := range 30 {
		h.turn(words(i), 2, 2500)
		h.request()
	}
	closeSessions(t, h.s)
	h.validCompartments()
	for _, c := range store.all[h.id].Compartments {
		tokens := 0
		for _, s := range c.Spans {
			tokens += s.Tokens
		}
		if tokens > 300 {
			t.Fatalf("compartment %d-%d has %d tokens of exact spans", c.First, c.Last, tokens)
		}
	}
}

// TestHistorian_FailuresAreFewAndPass: a historian that fails is not asked at
// every request, and asked again later.
func TestHistorian_FailuresAreFewAndPass(t *testing.T) {
	store := newMemory()
	cfg := testConfig(store)
	var calls atomic.Int64
	var broken atomic.Bool
	broken.Store(true)
	cfg.Historian = &spoiled{spoil: func(_ historian.Range, w []compartments.Compartment) ([]compartments.Compartment, error) {
		calls.Add(1)
		if broken.Load() {
			return nil, errors.New("the model refused")
		}
		return w, nil
	}}
	h := newHost(t, startSessions(t, cfg), store, 200_000)
	h.turn("begin", 30, 5000) // enough to write, too little to fold
	for range 60 {
		h.request()
		h.step("small")
	}
	if n := calls.Load(); n < 3 || n > 8 {
		t.Fatalf("the historian was asked %d times in 60 requests", n)
	}
	broken.Store(false)
	for range 70 {
		h.request()
		h.step("small")
	}
	closeSessions(t, h.s)
	if len(h.served()) == 0 {
		t.Fatal("it was never asked again")
	}
}

// stalled is a slow historian that does not answer before it is released.
type stalled struct {
	naive
	asked   chan historian.Range
	release chan struct{}
}

func newStalled() *stalled {
	return &stalled{asked: make(chan historian.Range, 100), release: make(chan struct{})}
}

func (s *stalled) Write(ctx context.Context, r historian.Range) ([]compartments.Compartment, error) {
	s.asked <- r
	select {
	case <-s.release:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	written, err := s.naive.Write(ctx, r)
	for i := range written {
		written[i].Strategy = compartments.StrategyGrounded
	}
	return written, err
}

// TestSlow_NothingWaits: while the slow historian writes, or never answers, every
// request is answered and fits, and tools, status and forgetting work.
func TestSlow_NothingWaits(t *testing.T) {
	store := newMemory()
	cfg := testConfig(store)
	slow := newStalled()
	cfg.Slow = slow
	h := newHost(t, startSessions(t, cfg), store, 16_000)
	for i := range 20 {
		h.user(words(i))
		for range 3 {
			h.request()
			h.step(words(i), 2500)
		}
	}
	<-slow.asked // behind the requests, whenever it gets to it
	if h.folds == 0 || len(slow.asked) != 0 {
		t.Fatalf("%d folds; the slow historian was asked %d times", h.folds, 1+len(slow.asked))
	}
	if _, err := h.s.Status(context.Background(), h.id); err != nil {
		t.Fatal(err)
	}
	if err := h.s.Forget(context.Background(), h.id); err != nil {
		t.Fatal(err)
	}
	close(slow.release) // its answer comes for a session that is no more
	h.list, h.acked, h.applied, h.lastPlan, h.plan = nil, 0, "", "", plan{}
	h.user("anew")
	h.request()
	closeSessions(t, h.s)
	h.validCompartments()
}

// TestSlow_WritesWhatIsDue: what it wrote serves, in place of what had to be
// written in a hurry, and changes no byte until a fold.
func TestSlow_WritesWhatIsDue(t *testing.T) {
	for _, change := range []string{"nothing", "an edit", "a revert", "a restart"} {
		t.Run(change, func(t *testing.T) {
			store := newMemory()
			cfg := testConfig(store)
			slow := newStalled()
			cfg.Slow = slow
			h := newHost(t, startSessions(t, cfg), store, 60_000)
			h.turn("begin", 20, 4000)
			h.request()
			asked := <-slow.asked
			switch change {
			case "an edit":
				edit(h, int(asked.Messages[2].Ordinal)-1, "longer")
				h.request()
			case "a revert":
				h.revert(3)
				h.user("the other way")
				h.request()
			case "a restart":
				closeSessions(t, h.s)
				cfg.Slow = newStalled()
				close(cfg.Slow.(*stalled).release)
				h.s = startSessions(t, cfg)
				h.user("go on")
				h.request()
			}
			if change != "a restart" {
				close(slow.release)
			}
			for i := range 30 {
				h.turn(words(i), 2, 2500)
				h.disturbed = false
				h.request()
			}
			for grounded := 0; grounded == 0; {
				store.mu.Lock()
				for _, c := range store.all[h.id].Compartments {
					if c.Strategy == compartments.StrategyGrounded && !store.all[h.id].retired[c.ID] {
						grounded++
					}
				}
				store.mu.Unlock()
				h.user("go on") // the test's own time limit ends this
				h.request()
				h.step("on it", 2500)
			}
			closeSessions(t, h.s)
			h.validCompartments()
		})
	}
}

// TestSessions_CloseEndsTheSlowHistorian: closing waits for nothing that takes
// minutes.
func TestSessions_CloseEndsTheSlowHistorian(t *testing.T) {
	store := newMemory()
	cfg := testConfig(store)
	slow := newStalled()
	cfg.Slow = slow
	s := session.New(cfg)
	h := newHost(t, s, store, 60_000)
	h.turn("begin", 20, 4000)
	h.request()
	<-slow.asked
	closeSessions(t, s)
}

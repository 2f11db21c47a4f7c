package session_test

import (
	"context"
	"fmt"
	"testing"

	"ctxplugin/compartments"
	"ctxplugin/session"
)

// tight are settings under which a small session fades quickly.
func tight(store session.Store) session.Config {
	cfg := testConfig(store)
	cfg.Settings.HistoryMax, cfg.Settings.HistoryMin, cfg.Settings.HalfLife = 850, 850, 8
	return cfg
}

// recalling is a session of 40 turns that folds once, when it is asked to, with too
// small a budget for all of it. each is called before every request.
func recalling(t *testing.T, turn func(h *host, turn int), each func(h *host)) *host {
	store := newMemory()
	h := newHost(t, startSessions(t, tight(store)), store, 400_000)
	for i := range 40 {
		h.user(fmt.Sprintf("turn %d: %s", i, words(i)))
		turn(h, i)
		h.step(lines("the work", 3000))
		h.step(lines("more of it", 3000))
		each(h)
		h.request()
	}
	if h.folds > 0 {
		t.Fatal("it folded before it was asked to")
	}
	if _, err := h.s.Fold(context.Background(), h.id, false); err != nil {
		t.Fatal(err)
	}
	h.user("go on")
	if h.request(); !h.reply.Stats.Folded {
		t.Fatalf("it did not fold: %+v", h.reply.Stats)
	}
	return h
}

func still(*host)      {}
func quiet(*host, int) {}
func (h *host) tool(name, input string) {
	h.add("assistant", part{kind: "tool", tool: name, input: input, status: "completed", output: "ok"})
}

// selection is how the last fold chose for the compartment that begins with a
// message.
func (h *host) selection(first compartments.Ordinal) (tier compartments.Tier, relevance int) {
	h.t.Helper()
	x, err := h.s.Explain(context.Background(), h.id, 0)
	if err != nil {
		h.t.Fatalf("%v", err)
	}
	for _, c := range x.Compartments {
		if c.First != first {
			continue
		}
		for _, s := range x.Selections {
			for _, e := range s.Candidates {
				if e.Compartment == c.Compartment {
					return h.tierOf(c.Compartment), e.Relevance
				}
			}
		}
	}
	h.t.Fatalf("no compartment begins with message %d", first)
	return 0, 0
}

// The compartment of messages 17-24 is old and was worked through; where the newest
// turns open it or name its file again it is worth more, the less the longer that is
// ago, and fades less.
func TestRecall(t *testing.T) {
	done, relevance := recalling(t, quiet, still).selection(17)
	if relevance != 1000 || done < compartments.TierCompact {
		t.Fatalf("old and done: %s with relevance %d", done, relevance)
	}
	for _, c := range []struct {
		name      string
		turn      func(h *host, turn int)
		relevance int
	}{
		{"named in the newest turn but one", func(h *host, n int) {
			if n == 39 {
				h.user("and look at file17.go again")
			}
		}, 2000},
		{"named four turns ago", func(h *host, n int) {
			if n == 37 {
				h.user("and look at file17.go again")
			}
		}, 1250},
		{"named five turns ago", func(h *host, n int) {
			if n == 35 {
				h.user("and look at file17.go again")
			}
		}, 1000},
		{"named in arguments", func(h *host, n int) {
			if n == 39 {
				h.tool("read", `{"filePath":"file17.go"}`)
			}
		}, 1000},
		{"opened", func(h *host, n int) {
			if n == 39 {
				h.tool("ctx_expand", `{"first":18,"last":20}`)
			}
		}, 2000},
		{"opened with all the rest", func(h *host, n int) {
			if n == 39 {
				h.tool("ctx_expand", `{"first":1,"last":90}`)
			}
		}, 1000},
		{"named by a plugin", func(h *host, n int) {
			if n == 39 {
				h.add("user", part{kind: "text", text: "file17.go", synthetic: true})
			}
		}, 1000},
	} {
		t.Run(c.name, func(t *testing.T) {
			tier, relevance := recalling(t, c.turn, still).selection(17)
			if relevance != c.relevance {
				t.Errorf("relevance %d, want %d", relevance, c.relevance)
			}
			if c.relevance >= 2000 && tier >= done {
				t.Errorf("it is %s, and %s where nothing recalls it", tier, done)
			}
		})
	}
}

// A restart before every request changes no fold: what is remembered of mentions is
// worked out of what is stored.
func TestRecall_RestartsMakeNoDifference(t *testing.T) {
	name := func(h *host, n int) {
		if n == 38 {
			h.tool("read", `{"filePath":"file17.go"}`)
		}
	}
	a := recalling(t, name, still)
	b := recalling(t, name, func(h *host) {
		closeSessions(t, h.s)
		h.s = startSessions(t, tight(h.store))
	})
	if a.reply.PlanID != b.reply.PlanID {
		t.Errorf("plan %.8s, and %.8s after restarts", a.reply.PlanID, b.reply.PlanID)
	}
}

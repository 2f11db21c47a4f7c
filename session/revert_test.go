package session_test

import (
	"slices"
	"testing"

	"ctxplugin/compartments"
)

// folded is a host whose request shows a head.
func folded(t testing.TB, window int) *host {
	h := start(t, window)
	fold(h, 4, window/8)
	return h
}

// fold plays turns of steps with outputs of a size until the request shows a head
// that stands for some turns, and begins one more.
func fold(h *host, steps, size int) {
	h.t.Helper()
	for turn := 0; h.placeOf(h.plan.Through) < 8; turn++ {
		if turn > 60 {
			h.t.Fatalf("no fold after %d turns", turn)
		}
		h.user(words(turn))
		for range steps {
			h.request()
			h.now += 5000
			h.step(words(turn), size)
		}
	}
	h.user("and now something else")
	h.request()
}

func words(n int) string {
	w := []string{"count the rejected rows", "rename the flag", "write the changelog", "run the whole suite", "find the leak", "move the parser"}
	return w[n%len(w)]
}

// revert shortens the list and returns what it took away.
func (h *host) revert(to int) []*message {
	away := slices.Clone(h.list[to:])
	h.list = h.list[:to]
	h.touch(to)
	return away
}

// restore brings back what a revert took away, in place of what came since.
func (h *host) restore(at int, away []*message) {
	h.list = append(h.list[:at:at], away...)
	h.touch(at)
}

// served are the compartments that serve, by ID.
func (h *host) served() []compartments.CompartmentID {
	h.store.mu.Lock()
	defer h.store.mu.Unlock()
	k := h.store.all[h.id]
	var ids []compartments.CompartmentID
	for _, c := range k.Compartments {
		if !k.retired[c.ID] {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

func (h *host) foldsStored() []compartments.Fold {
	h.store.mu.Lock()
	defer h.store.mu.Unlock()
	return h.store.all[h.id].folds
}

func TestRevert(t *testing.T) {
	for _, c := range []struct {
		name string
		to   func(h *host) int // how much of the list stays
		// stale says that the head stands for messages that went
		stale bool
	}{
		{"inside the tail", func(h *host) int { return len(h.list) - 1 }, false},
		{"to the end of the head", func(h *host) int { return h.placeOf(h.plan.Through) + 1 }, false},
		{"the last message of the head", func(h *host) int { return h.placeOf(h.plan.Through) }, true},
		{"inside the head", func(h *host) int { return h.placeOf(h.plan.Through) / 2 }, true},
		{"to the second message", func(*host) int { return 1 }, true},
		{"all", func(*host) int { return 0 }, true},
	} {
		for _, asks := range []bool{false, true} {
			name := c.name
			if asks {
				name += ", and a request without anything new"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				h := folded(t, 16_000)
				to := c.to(h)
				before := h.reply.PlanID
				h.revert(to)
				if asks {
					h.request()
				}
				h.user("try it the other way")
				h.request()
				if folds := h.foldsStored(); c.stale && folds[len(folds)-1].Reason != compartments.ReasonStale {
					t.Fatalf("the last fold is %q", folds[len(folds)-1].Reason)
				}
				if c.stale == (h.reply.PlanID == before) && !asks {
					t.Fatalf("stale: %v; plan before %s, after %s", c.stale, before, h.reply.PlanID)
				}
				for i := range 30 {
					h.step("went the other way", 3000)
					if i%5 == 4 {
						h.user("go on")
					}
					h.request()
				}
			})
		}
	}
}

func TestRevert_UndoServesTheSameCompartments(t *testing.T) {
	for _, c := range []struct {
		name string
		to   func(h *host) int
		does func(h *host) // between the revert and its undo
	}{
		{"requested, nearly all of the head stays", func(h *host) int { return h.placeOf(h.plan.Through) }, func(h *host) { h.request() }},
		{"requested, most of the head stays", func(h *host) int { return h.placeOf(h.plan.Through) - 3 }, func(h *host) { h.request() }},
		{"requested, half of the head stays", func(h *host) int { return h.placeOf(h.plan.Through) / 2 }, func(h *host) { h.request() }},
		{"what stood of a compartment was written anew", func(h *host) int { return 11 }, func(h *host) { h.step("again", 60_000); h.request() }},
		{"nothing between", func(h *host) int { return 3 }, func(*host) {}},
		{"synced", func(h *host) int { return 3 }, func(h *host) { h.sync() }},
		{"requested", func(h *host) int { return 3 }, func(h *host) { h.request() }},
		{"went on", func(h *host) int { return 3 }, func(h *host) { h.user("the other way"); h.request() }},
		{"all went", func(h *host) int { return 0 }, func(h *host) { h.user("from scratch"); h.request() }},
		{"other messages folded", func(h *host) int { return 11 }, func(h *host) {
			for i := range 12 {
				h.user(words(i))
				h.request()
				h.step("went the other way", 6000)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := folded(t, 16_000)
			to := c.to(h)
			served := h.served()
			pairs := len(h.plan.Head)
			away := h.revert(to)
			c.does(h)
			h.restore(to, away)
			h.request()
			runs := h.layoutIDs()
			if len(runs) > len(served) || !slices.Equal(runs, served[:len(runs)]) {
				t.Fatalf("compartments %v are shown after the undo, before it there were %v", runs, served)
			}
			if pairs > 0 && len(runs) == 0 {
				t.Fatal("nothing is shown after the undo")
			}
			for i := range 20 {
				h.step("went on", 3000)
				if i%5 == 4 {
					h.user("go on")
				}
				h.request()
			}
		})
	}
}

// layoutIDs are the compartments that the head shows.
func (h *host) layoutIDs() []compartments.CompartmentID {
	var ids []compartments.CompartmentID
	folds := h.foldsStored()
	for _, pair := range folds[len(folds)-1].Layout {
		for _, item := range pair.Items {
			ids = append(ids, item.Compartments...)
		}
	}
	return ids
}

// TestRevert_UndoWithoutARequestChangesNothing: what was never sent broke no
// cache.
func TestRevert_UndoWithoutARequestChangesNothing(t *testing.T) {
	h := folded(t, 16_000)
	before := h.reply.PlanID
	away := h.revert(2)
	h.sync()
	h.restore(2, away)
	h.request()
	if h.reply.PlanID != before {
		t.Fatalf("plan %s after the undo, %s before", h.reply.PlanID, before)
	}
}

// TestRevert_AllBehindAHeadThatEndsATurn: what the newest user message is
// changes without anything that the head stands for.
func TestRevert_AllBehindAHeadThatEndsATurn(t *testing.T) {
	found := 0
	for size := 600; size < 3000; size += 200 {
		h := start(t, 16_000)
		fold(h, 3, size)
		if end := h.placeOf(h.plan.Through) + 1; h.list[end].real() {
			found++
			h.revert(end)
			h.request()
		}
	}
	if found == 0 {
		t.Fatal("no head ended a turn")
	}
}

package session_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"ctxplugin/compartments"
	"ctxplugin/decay"
	"ctxplugin/session"
)

// undo asks for the last fold to be taken back.
func (h *host) undo() session.UndoReply {
	h.t.Helper()
	reply, err := h.s.Undo(context.Background(), h.id)
	if err != nil {
		h.t.Fatalf("undo: %v", err)
	}
	if reply.Undone {
		h.lastPlan = "" // the head may change now
	}
	return reply
}

// planInForce is the plan that the store says is in force; the name of the one that
// changes nothing where it says none.
func (h *host) planInForce() string {
	stored, err := h.store.Load(context.Background(), h.id)
	if err != nil {
		h.t.Fatalf("load: %v", err)
	}
	if stored == nil || stored.PlanID == "" {
		empty, _, _ := (&compartments.Plan{}).Encode()
		return empty
	}
	return stored.PlanID
}

// grown is a session that folded for each of some turns, because the user asked.
// plans are those with which the last request before each fold was sent.
func grown(t *testing.T, folds int) (h *host, plans []string) {
	t.Helper()
	store := newMemory()
	h = newHost(t, startSessions(t, unstubbed(store)), store, 200_000)
	for i := 0; h.folds < folds; i++ {
		if i > 20*folds {
			t.Fatalf("%d folds after %d turns", h.folds, i)
		}
		h.turn(words(i), 3, 4000)
		h.request()
		before := h.reply.PlanID
		if _, err := h.s.Fold(context.Background(), h.id, false); err != nil {
			t.Fatal(err)
		}
		h.user("next")
		h.request()
		if h.reply.Stats.Folded {
			plans = append(plans, before)
		}
	}
	return h, plans
}

// unstubbed are settings under which folds make no stubs, so that each of them
// renders history.
func unstubbed(store *memory) session.Config {
	cfg := testConfig(store)
	cfg.Settings.StubChars, cfg.Settings.StubOver, cfg.Settings.TailTurns = 1<<30, 1<<30, 0
	return cfg
}

// window gives the next request a smaller one.
func (h *host) window(tokens int) {
	h.context, h.fixed = tokens, 2000
	h.request()
	h.disturbed = true
}

func (h *host) restart(t *testing.T) {
	t.Helper()
	closeSessions(t, h.s)
	h.s = startSessions(t, unstubbed(h.store))
}

func TestUndo_ThePlanBeforeIsInForceAgain(t *testing.T) {
	h, plans := grown(t, 3)
	for n := 3; n > 0; n-- {
		reply := h.undo()
		if !reply.Undone || reply.Fold != n || reply.PlanID != plans[n-1] {
			t.Fatalf("undo of fold %d: %+v, want plan %.8s", n, reply, plans[n-1])
		}
		if n == 2 {
			h.restart(t)
		}
		h.request()
		if h.reply.PlanID != plans[n-1] || h.reply.Stats.Folded {
			t.Fatalf("after the undo of fold %d: plan %s, %+v", n, h.reply.PlanID, h.reply.Stats)
		}
		h.request()
	}
	if reply := h.undo(); reply.Undone || reply.Fold != 0 || !strings.Contains(reply.Reason, "no fold stands") {
		t.Errorf("a fourth undo of three folds: %+v", reply)
	}
	folds, err := h.store.Folds(context.Background(), h.id)
	if err != nil {
		t.Fatal(err)
	}
	if len(folds) != 6 || len(compartments.Standing(folds)) != 0 {
		t.Fatalf("%d folds, of which %v stand", len(folds), compartments.Standing(folds))
	}
	for i, f := range folds[3:] {
		if f.Reason != compartments.ReasonUndone || f.Number != 4+i || f.Inputs.Undoes != 3-i || f.PlanID != plans[2-i] || len(f.Decisions) == 0 {
			t.Errorf("fold %d: %s of %d, %d changes", f.Number, f.Reason, f.Inputs.Undoes, len(f.Decisions))
		}
	}
}

// The fold that was taken back is not made again before there is new material, and
// then it is; a fold that somebody asks for is made at once.
func TestUndo_TheSameFoldIsNotMadeAgain(t *testing.T) {
	for _, asked := range []bool{false, true} {
		t.Run(fmt.Sprint("asked ", asked), func(t *testing.T) {
			h, plans := grown(t, 2)
			if reply := h.undo(); !reply.Undone {
				t.Fatal(reply.Reason)
			}
			h.now += 24 * 3600_000 // the cache is cold
			h.user("a small question")
			h.request()
			if h.reply.Stats.Folded || h.reply.PlanID != plans[1] {
				t.Fatalf("folded again for reason %s", h.reply.Stats.Reason)
			}
			if asked {
				if _, err := h.s.Fold(context.Background(), h.id, false); err != nil {
					t.Fatal(err)
				}
				h.step("another")
				if h.request(); !h.reply.Stats.Folded {
					t.Fatal("asked to fold, and it did not")
				}
				return
			}
			h.restart(t)
			for i := 0; !h.reply.Stats.Folded; i++ {
				if i == 60 {
					t.Fatal("no fold with new material either")
				}
				h.now += 24 * 3600_000
				h.turn(words(100+i), 3, 4000)
				h.request()
				h.now += 24 * 3600_000
				h.user("next")
				h.request()
			}
			if h.reply.Stats.Reason != string(compartments.ReasonCold) {
				t.Errorf("folded for reason %s", h.reply.Stats.Reason)
			}
		})
	}
}

func TestUndo_Refusals(t *testing.T) {
	for _, c := range []struct {
		name, want string
		change     func(h *host)
	}{
		{"a message that an entry stood for was edited", "messages changed since", func(h *host) {
			h.list[1].parts[0].text += " edited"
			h.list[1].changed()
			h.touch(1)
			h.sync()
		}},
		{"what came since does not fit beside it", " where ", func(h *host) { h.window(31_000) }},
		{"a fold would be forced at once", "a fold is forced", func(h *host) { h.window(70_000) }},
		{"the provider refused a request", "refused the last request", func(h *host) {
			h.event(session.Event{Type: "error", Overflow: true})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, _ := grown(t, 2)
			c.change(h)
			before, err := h.s.Status(context.Background(), h.id)
			if err != nil {
				t.Fatal(err)
			}
			reply := h.undo()
			if reply.Undone || !strings.Contains(reply.Reason, c.want) {
				t.Fatalf("%+v, want a refusal that says %q", reply, c.want)
			}
			after, err := h.s.Status(context.Background(), h.id)
			if err != nil {
				t.Fatal(err)
			}
			a, _ := json.Marshal(before)
			b, _ := json.Marshal(after)
			if string(a) != string(b) {
				t.Errorf("a refused undo changed the session:\n%s\n%s", a, b)
			}
			h.disturbed = true
			h.request()
		})
	}
	t.Run("nothing was folded", func(t *testing.T) {
		h := start(t, 60_000)
		h.turn("one", 1, 100)
		h.request()
		if reply := h.undo(); reply.Undone || reply.Reason == "" {
			t.Errorf("%+v", reply)
		}
	})
	t.Run("no such session", func(t *testing.T) {
		h := start(t, 60_000)
		if _, err := h.s.Undo(context.Background(), "ses_none"); compartments.CodeOf(err) != compartments.CodeUnknownSession {
			t.Errorf("%v", err)
		}
	})
}

// A fork may take back its first fold: what it took over is in force again.
func TestUndo_OfAFork(t *testing.T) {
	h, _ := grown(t, 2)
	h.turn("before the fork", 2, 4000)
	h.request()
	f := h.fork(len(h.list), true)
	f.user("a question of the fork")
	f.request()
	taken := f.reply.PlanID
	for i := 0; f.folds == 0; i++ {
		if i == 60 {
			t.Fatal("the fork never folds")
		}
		f.now += 24 * 3600_000
		f.turn(words(i), 3, 4000)
		f.request()
		f.now += 24 * 3600_000
		f.user("next")
		f.request()
	}
	if reply := f.undo(); !reply.Undone || reply.PlanID != taken {
		t.Fatalf("%+v, want plan %.8s", reply, taken)
	}
	f.request()
}

// Stubs that were made since stay when a fold is taken back.
func TestUndo_StubsStay(t *testing.T) {
	h, _ := grown(t, 2)
	h.step("a step with much", 150_000)
	h.step("a step with much", 30_000)
	h.request()
	stubs := h.reply.Stats.Stubs
	if stubs == 0 {
		t.Skip("nothing was stubbed")
	}
	folds := h.folds
	if reply := h.undo(); folds == 2 && reply.Undone {
		h.request()
		if h.reply.Stats.Stubs < stubs {
			t.Errorf("%d stubs, then %d", stubs, h.reply.Stats.Stubs)
		}
	}
}

// The choice of a fold that took another back is verified by its plan alone.
func TestUndo_IsNotRecomputable(t *testing.T) {
	h, _ := grown(t, 1)
	h.undo()
	folds, err := h.store.Folds(context.Background(), h.id)
	if err != nil {
		t.Fatal(err)
	}
	if f := folds[len(folds)-1]; decay.Recomputable(&f) {
		t.Errorf("fold %d has a recording", f.Number)
	}
}

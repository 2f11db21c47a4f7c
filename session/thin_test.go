package session_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ctxplugin/compartments"
	"ctxplugin/decay"
)

// bulky is a session whose folds make stubs: a file is read at every turn, and
// large outputs come between.
func bulky(t *testing.T, turns int) *host {
	h := start(t, 60_000)
	for i := range turns {
		h.user(words(i))
		h.request()
		h.add("assistant", part{kind: "tool", tool: "read", input: `{"filePath":"a.go"}`, status: "completed", output: lines(fmt.Sprintf("a.go %d", i), 3000)})
		h.request()
		h.add("assistant", part{kind: "tool", tool: "write", input: fmt.Sprintf(`{"filePath":"b%d.go","content":%q}`, i, lines("b.go", 5000)), status: "completed", output: "done"})
		h.request()
		h.now += 1000
	}
	return h
}

// value is what the plan in force puts in the place of a field, or "".
func (h *host) value(id compartments.MessageID, field compartments.Field) string {
	for _, e := range h.plan.Edits {
		if e.MessageID == id && e.Field == field {
			return e.Value
		}
	}
	return ""
}

// TestThin_BulkLeavesFirst: at a fold what was superseded points to what took its
// place, arguments keep all that is short, and the newest steps stay whole. The
// same session in another process makes the same stubs.
func TestThin_BulkLeavesFirst(t *testing.T) {
	h := bulky(t, 40)
	if h.folds == 0 || len(h.plan.Edits) == 0 {
		t.Fatalf("%d folds, %d stubs", h.folds, len(h.plan.Edits))
	}
	superseded, arguments := 0, 0
	for _, e := range h.plan.Edits {
		switch {
		case e.Field == "input":
			arguments++
			if !strings.HasPrefix(e.Value, `{"filePath":"b`) || !strings.Contains(e.Value, "ctx_expand") || len(e.Value) > 300 {
				t.Errorf("arguments became %s", e.Value)
			}
		case strings.Contains(e.Value, "superseded: the file was read again in message "):
			superseded++
			if strings.Contains(e.Value, "It begins") {
				t.Errorf("a preview of what was superseded: %s", e.Value)
			}
		}
	}
	if superseded == 0 || arguments == 0 {
		t.Errorf("%d superseded, %d arguments of %d stubs", superseded, arguments, len(h.plan.Edits))
	}
	for _, m := range h.list[len(h.list)-3:] {
		if h.value(compartments.MessageID(m.id), "output") != "" || h.value(compartments.MessageID(m.id), "input") != "" {
			t.Errorf("message %s of the newest steps is a stub", m.id)
		}
	}
	other := bulky(t, 40)
	if !slices.Equal(other.plan.Edits, h.plan.Edits) {
		t.Error("the same session has other stubs")
	}
}

// TestThin_RestartsMakeNoDifference: what is remembered of calls between passes
// changes no fold.
func TestThin_RestartsMakeNoDifference(t *testing.T) {
	h, again := bulky(t, 12), bulky(t, 12)
	for i := range 20 {
		closeSessions(t, again.s)
		again.s = newSessions(t, again.store)
		for _, one := range []*host{h, again} {
			one.user(words(i))
			one.request()
			one.step(words(i), 4000)
			one.now += 1000
		}
		if h.reply.PlanID != again.reply.PlanID {
			t.Fatalf("turn %d: plan %.8s, and %.8s after restarts", i, h.reply.PlanID, again.reply.PlanID)
		}
	}
}

// TestThin_UndoTakesStubsBack: with the fold go the stubs that it made.
func TestThin_UndoTakesStubsBack(t *testing.T) {
	h := start(t, 200_000)
	for i := range 30 {
		h.turn(words(i), 2, 4000)
		h.request()
	}
	before := h.reply.PlanID
	if _, err := h.s.Fold(context.Background(), h.id, false); err != nil {
		t.Fatal(err)
	}
	h.user("next")
	if h.request(); !h.reply.Stats.Folded || h.reply.Stats.Stubs == 0 {
		t.Fatalf("%+v", h.reply.Stats)
	}
	if reply := h.undo(); !reply.Undone || reply.PlanID != before {
		t.Fatalf("%+v, want plan %.8s", reply, before)
	}
	if h.request(); h.reply.Stats.Stubs != 0 {
		t.Fatalf("%d stubs are left", h.reply.Stats.Stubs)
	}
}

// TestThin_Off: with no size to stub above, nothing is stubbed at a fold.
func TestThin_Off(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*decay.Settings)
		want func(with, without int) bool
	}{
		{"stubChars", func(s *decay.Settings) { s.StubChars = 1 << 30 }, func(with, without int) bool { return without < with }},
		{"stubOver", func(s *decay.Settings) { s.StubOver, s.StubChars = 1<<30, 1<<30 }, func(_, without int) bool { return without == 0 }},
		{"stubTurns and stubShare", func(s *decay.Settings) { s.StubTurns, s.StubShare = 1000, 1000 }, func(with, without int) bool { return without < with }},
	} {
		t.Run(c.name, func(t *testing.T) {
			made := func(set func(*decay.Settings)) int {
				store := newMemory()
				cfg := testConfig(store)
				set(&cfg.Settings)
				h := newHost(t, startSessions(t, cfg), store, 60_000)
				for i := range 30 {
					h.turn(words(i), 2, 3000)
					h.request()
				}
				if h.folds == 0 {
					t.Fatal("never folded")
				}
				return len(h.plan.Edits)
			}
			with, without := made(func(*decay.Settings) {}), made(c.set)
			if !c.want(with, without) {
				t.Errorf("%d stubs by default, %d so", with, without)
			}
		})
	}
}

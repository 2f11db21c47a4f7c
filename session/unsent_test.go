package session_test

import (
	"slices"
	"strings"
	"testing"

	"ctxplugin/compartments"
)

// TestUnsent_CountsForNothing: of a reply that failed the host sends nothing, so it
// takes no room and no stub stands for a part of it; of one that the user broke off
// it sends what there is.
func TestUnsent_CountsForNothing(t *testing.T) {
	for name, c := range map[string]struct {
		error any
		parts []part
		sent  bool
	}{
		"none":               {nil, nil, true},
		"failed":             {map[string]any{"name": "APIError"}, nil, false},
		"of no shape":        {"odd", nil, false},
		"broken off":         {map[string]any{"name": "MessageAbortedError", "data": map[string]any{}}, nil, true},
		"broken off at once": {map[string]any{"name": "MessageAbortedError"}, []part{{kind: "reasoning", text: strings.Repeat("thinking ", 4000)}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			h := start(t, 16_000)
			h.turn("begin", 2, 400)
			h.request()
			m := h.step("looking", 30_000)
			if c.parts != nil {
				m.parts = c.parts
			}
			if c.error != nil {
				m.more["error"] = c.error
			}
			h.user("go on")
			h.step("looking again", 400)
			h.sync()
			reply, err := h.ask(h.revision(len(h.list)))
			if err != nil {
				t.Fatal(err)
			}
			if counted := reply.Stats.Messages > 2000 || reply.Stats.Stubs > 0 || reply.Stats.Folded; counted != c.sent {
				t.Errorf("counted: %v; %+v", counted, reply.Stats)
			}
		})
	}
}

// TestUnsent_TakesNobodysPlace: a read that only a failed reply has took no earlier
// one's place, for nobody has seen what it read.
func TestUnsent_TakesNobodysPlace(t *testing.T) {
	for _, failed := range []bool{false, true} {
		h := start(t, 16_000)
		read := func() *message {
			return h.add("assistant", part{kind: "tool", tool: "read", input: `{"filePath":"/src/rows.go"}`, status: "completed", output: lines("rows", 3000)})
		}
		h.user("begin")
		read()
		h.request()
		m := read()
		if failed {
			m.more["error"] = map[string]any{"name": "APIError"}
		}
		h.went(14)
		superseded := slices.ContainsFunc(h.plan.Edits, func(e compartments.Edit) bool {
			return strings.Contains(e.Value, "superseded: the file was read again")
		})
		if superseded == failed {
			t.Errorf("failed %v, superseded %v", failed, superseded)
		}
	}
}

// TestCompaction_WhatItHidesIsNotCounted: where the head has to change because the
// host compacted, the fold is held against what the host would send without it: its
// summary, and what that keeps.
func TestCompaction_WhatItHidesIsNotCounted(t *testing.T) {
	h := folded(t, 60_000)
	h.compact(len(h.list) - 2)
	h.user("go on after the summary")
	folds, sent := h.folds, 0
	for _, m := range h.list {
		sent += m.sent(nil).tokens
	}
	h.disturbed = true
	h.request()
	if h.folds == folds {
		t.Fatalf("%+v", h.reply.Stats)
	}
	last := h.foldsStored()[h.folds-1]
	if last.Reason != compartments.ReasonStale || last.Inputs.Before > sent+sent/10 || last.Inputs.Before < sent*9/10 {
		t.Errorf("%s: %d tokens before, the host would send %d", last.Reason, last.Inputs.Before, sent)
	}
}

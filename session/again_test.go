package session_test

import (
	"slices"
	"strings"
	"testing"

	"ctxplugin/compartments"
	"ctxplugin/session"
)

// TestAgain_TheNewestUserMessageLosesItsStub: words that had to go while a newer
// message stood are back when a revert makes theirs the newest.
func TestAgain_TheNewestUserMessageLosesItsStub(t *testing.T) {
	h := start(t, 60_000)
	h.output = 500
	h.user("begin")
	h.request()
	h.event(session.Event{Type: "error", Overflow: true}) // leaves no room at all
	h.disturbed = true
	h.request()
	text := strings.Repeat("a word ", 60) + "said"
	h.user(text)
	h.request()
	h.user("the newest")
	h.request()
	if h.shown(text) || len(h.plan.Edits) != 1 {
		t.Fatalf("edits %v: the words should be a stub while a newer message stands", h.plan.Edits)
	}
	h.revert(2)
	h.request() // which holds that the newest user message is shown verbatim
	if !h.shown(text) || len(h.plan.Edits) != 0 {
		t.Fatalf("edits %v", h.plan.Edits)
	}
}

// TestAgain_OnlyRepliesAreLeft: a record that nothing follows gives way to the
// replies themselves.
func TestAgain_OnlyRepliesAreLeft(t *testing.T) {
	h := start(t, 4000)
	h.user("begin")
	h.request()
	h.compact(0)
	h.request()
	h.list = h.list[1:] // the host's request for the summary is deleted
	h.touch(0)
	h.sync()
	before := slices.Clone(h.list)
	h.compact(1)
	h.request()
	if len(h.plan.Head) != 1 {
		t.Fatalf("%d pairs, want the record of what the second summary hides", len(h.plan.Head))
	}
	h.list = before // the second summary is taken back, and then all but the first
	h.touch(0)
	h.revert(1)
	h.request()
	if len(h.plan.Head) != 0 || len(h.last) != 1 || h.last[0].role != "assistant" {
		t.Fatalf("%d pairs, request %v", len(h.plan.Head), h.last)
	}
}

// TestAgain_AtTheForceMark: where folding cannot bring a request under the mark,
// asking again gets the same plan, though another fold might make it smaller.
func TestAgain_AtTheForceMark(t *testing.T) {
	store := newMemory()
	cfg := testConfig(store)
	cfg.Settings.Floors[compartments.Rejected] = 600
	h := newHost(t, startSessions(t, cfg), store, 4000)
	h.deadline = 5
	for i := range 2 {
		h.turn(words(i), 2, 10)
		h.request()
	}
	h.step("measured", 0)
	h.request()
	h.add("assistant", part{kind: "tool", tool: "look", input: `{}`, status: "completed", output: lines("look", 0), attached: 1})
	h.request()
	open := h.step("calling", 0, 10)
	open.parts[1].status = "running"
	h.request()
	h.compact(0)
	h.request()
	h.model, h.context, h.fixed, h.output = "n", 2000, 250, 0
	h.request()
	h.list = h.list[1:]
	h.touch(0)
	h.sync()
	h.event(session.Event{Type: "error", Overflow: true})
	h.disturbed = true
	h.context, h.fixed = 60_000, 7500
	h.add("assistant", part{kind: "tool", tool: "look", input: `{}`, status: "completed", output: lines("look", 0), attached: 1})
	h.request()
	h.step("measured", 0)
	h.sync()
	h.list = append(h.list[:1:1], h.list[2:]...)
	h.touch(1)
	h.sync()
	h.request()
	plan := h.reply.PlanID
	for range 3 {
		if h.request(); h.reply.PlanID != plan || h.reply.Stats.Folded {
			t.Fatalf("plan %s, asked again %s (%s)", plan, h.reply.PlanID, h.reply.Stats.Reason)
		}
	}
}

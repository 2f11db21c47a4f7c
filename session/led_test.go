package session_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestLed: where a session begins with replies, a fold that could wait lets none
// of them stand first behind the head, and one that cannot does only if nothing
// else fits.
func TestLed(t *testing.T) {
	for _, c := range []struct {
		name    string
		leading int // replies before the first user message
		size    int // of each output
		window  int
	}{{"small", 3, 400, 60_000}, {"long", 30, 2000, 60_000}, {"over the window", 30, 12_000, 60_000}, {"tiny window", 12, 900, 4000}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := start(t, c.window)
			for i := range c.leading {
				h.step(words(i), c.size)
			}
			for turn := range 4 {
				h.user(fmt.Sprintf("turn %d", turn))
				for i := range 6 {
					h.request() // checks the shape
					h.step(words(i), c.size)
				}
			}
			h.request()
			if h.folds == 0 && c.size*c.leading > c.window*4 {
				t.Error("never folded")
			}
		})
	}
}

// TestLed_OnlyReplies: a list without any user message still fits, and folds only
// when it must.
func TestLed_OnlyReplies(t *testing.T) {
	h := start(t, 20_000)
	for i := range 60 {
		h.step(words(i)+lines("a long text", 1200), 1500)
		before := h.folds
		h.request()
		if h.folds > before && h.reply.Stats.Reason != "forced" && h.reply.Stats.Reason != "first" {
			t.Fatalf("request %d folded: %s", h.requests, h.reply.Stats.Reason)
		}
	}
	if h.folds == 0 {
		t.Error("never folded")
	}
	got, err := h.s.Fold(t.Context(), h.id, true)
	if err != nil || got.Folded || got.Reason == "" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestLed_OnlyReplyLeft: a revert and a deletion leave the one reply that the
// record stands for: it is sent as it is, for nothing would follow the record.
func TestLed_OnlyReplyLeft(t *testing.T) {
	h := start(t, 16_000)
	h.user("begin")
	h.step(strings.Repeat("a word ", 470) + "written")
	h.request()
	h.turn("and one more", 4, 60)
	h.request()
	h.context, h.fixed = 2000, 250
	h.model = "n"
	h.user("go on")
	h.request()
	h.list = slices.Delete(slices.Clone(h.list), 0, 1)
	h.touch(0)
	h.request()
	if h.placeOf(h.plan.Through) < 0 {
		t.Fatalf("nothing was folded: %+v", h.reply.Stats)
	}
	h.revert(1)
	h.request() // checks that the list's only message stands behind the head, or alone
	if len(h.plan.Head) > 0 {
		t.Errorf("the request ends with the record: %+v", h.plan)
	}
}

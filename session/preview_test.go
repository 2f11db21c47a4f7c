package session_test

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"ctxplugin/compartments"
	"ctxplugin/session"
)

// What a preview says is what the next request does, and asking changes nothing.
func TestPreview_IsWhatTheNextRequestDoes(t *testing.T) {
	h := start(t, 60_000)
	folds, none := 0, 0
	for i := range 60 {
		if i%4 == 0 {
			h.user(words(i))
		}
		h.step(words(i), 3000)
		if i%7 == 0 {
			h.now += 900_000
			h.user("after a while")
		}
		h.sync()
		if i == 0 {
			h.request()
			continue
		}
		before := stateOf(t, h)
		p, err := h.s.Preview(context.Background(), h.id, h.now)
		if err != nil {
			t.Fatal(err)
		}
		again, err := h.s.Preview(context.Background(), h.id, h.now)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(p, again) {
			t.Fatalf("request %d: %+v, then %+v", i, p, again)
		}
		if after := stateOf(t, h); after != before {
			t.Fatalf("request %d: a preview changed the session", i)
		}
		h.request()
		st := h.reply.Stats
		if p.Folds != st.Folded || p.Folds && (p.Reason != st.Reason || p.After != st.Messages) {
			t.Fatalf("request %d: foreseen was %v (%s, %s) with %d tokens; it came to %v (%s) with %d", i, p.Folds, p.Reason, p.Why, p.After, st.Folded, st.Reason, st.Messages)
		}
		if p.Why == "" || p.Folds && p.Costs == nil {
			t.Errorf("request %d: %+v", i, p)
		}
		if p.Folds {
			folds++
		} else {
			none++
		}
	}
	if folds < 2 || none < 10 {
		t.Errorf("%d folds and %d times none were foreseen", folds, none)
	}
}

// A pin that no fold has shown yet is told of, one that is in view is not.
func TestPreview_Pins(t *testing.T) {
	h := marked(t, 16_000)
	pinned := h.pin(markedPlace, 1, markedWords)
	for _, want := range []int{1, 0} {
		p, err := h.s.Preview(context.Background(), h.id, h.now)
		if err != nil {
			t.Fatal(err)
		}
		if p.Pins != want {
			t.Errorf("%d pins wait, want %d; the pin is %s", p.Pins, want, h.state(pinned.Pin.Pin))
		}
		if waits := strings.HasPrefix(p.Why, "pins or floors changed"); waits != (want == 1) {
			t.Errorf("%d pins wait: %s", p.Pins, p.Why)
		}
		for i := 0; want == 1 && i < 40 && h.state(pinned.Pin.Pin) != session.PinInView; i++ {
			h.turn(words(i), 2, 3000)
			h.request()
		}
	}
}

func stateOf(t *testing.T, h *host) string {
	t.Helper()
	stored, err := h.store.Load(context.Background(), h.id)
	if err != nil {
		t.Fatal(err)
	}
	st, err := h.s.Status(context.Background(), h.id)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal([]any{stored, st})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Status shows the very numbers that the next decision uses.
func TestStatus_ShowsWhatDecisionsUse(t *testing.T) {
	h := start(t, 60_000)
	seen := 0
	for i := 0; seen < 3 && i < 80; i++ {
		h.turn(words(i), 2, 3000)
		h.request()
		h.user("next")
		h.sync()
		st, err := h.s.Status(context.Background(), h.id)
		if err != nil {
			t.Fatal(err)
		}
		h.request()
		if st.Stats.Messages != st.Timing.Messages {
			t.Errorf("request %d: status has %d tokens, and %d in its timing", i, st.Stats.Messages, st.Timing.Messages)
		}
		if !h.reply.Stats.Folded {
			continue
		}
		seen++
		folds, err := h.store.Folds(context.Background(), h.id)
		if err != nil {
			t.Fatal(err)
		}
		in := folds[len(folds)-1].Inputs
		m, shown := in.Recording.Moment, st.Timing
		if shown.Messages != in.Before || shown.Pressure != in.Pressure || shown.PerStep != in.Growth || shown.LargestTurn != in.LargestTurn ||
			shown.Grown != m.Grown || shown.Turn != m.Turn || shown.TurnStart != m.TurnStart || shown.LeastGain != in.Recording.LeastGain || shown.TurnMost != in.Recording.TurnMost ||
			shown.ForceMark != in.Recording.ForceMark {
			t.Errorf("fold %d used %+v and %+v, status showed %+v", folds[len(folds)-1].Number, in, m, *shown)
		}
	}
	if seen < 3 {
		t.Fatalf("%d folds", seen)
	}
}

// An explanation of any session adds up: every compartment that is shown was
// chosen by a fold that is listed, and what is not in view covers what is dropped.
func TestExplain_AddsUp(t *testing.T) {
	h, _ := grown(t, 3)
	h.undo()
	h.request()
	x, err := h.s.Explain(context.Background(), h.id, -1)
	if err != nil {
		t.Fatal(err)
	}
	if len(x.Folds) != 4 || x.Folds[2].Stands || x.Folds[3].Undoes != 3 || !x.Folds[1].Stands {
		t.Errorf("folds %+v", x.Folds)
	}
	tiers := map[string]int{}
	for _, c := range x.Compartments {
		tiers[c.Tier]++
		if (c.Fold > 0) != (c.Pair >= 0) || c.Why == "" || c.Fold == 3 {
			t.Errorf("%+v", c)
		}
	}
	st, err := h.s.Status(context.Background(), h.id)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(tiers, st.Tiers) {
		t.Errorf("tiers %v, status has %v", tiers, st.Tiers)
	}
	through := compartments.Ordinal(0)
	for _, o := range x.NotInView {
		if o.Part < 0 {
			if o.First != through+1 {
				t.Errorf("%+v follows %d", o, through)
			}
			through = o.Last
		}
	}
	if int64(through) != x.Folds[1].Through {
		t.Errorf("out of view is all up to %d, the fold in force stands for all up to %d", through, x.Folds[1].Through)
	}
}

package session_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestShape_Subagent: one order, then nothing but steps, growing to several
// windows. The order is shown verbatim at every step, also when its parent
// writes again.
func TestShape_Subagent(t *testing.T) {
	for _, size := range []int{300, 3000, 12_000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			h := start(t, 16_000)
			h.parent = "ses_parent"
			order := h.user("Find every caller of the parser. " + strings.Repeat("Report each with its line. ", 20))
			total := 0
			for i := range 60 {
				if i == 45 {
					h.user("the parent asks: how far are you?")
				}
				h.request()
				if !h.shown(order.parts[0].text) {
					t.Fatalf("request %d: the order is not shown", h.requests)
				}
				h.step(words(i), size)
				total += size / 4
			}
			if total > h.context && h.folds == 0 {
				t.Fatal("never folded")
			}
		})
	}
}

func TestShape_TinyTurns(t *testing.T) {
	h := start(t, 4000)
	n := 600
	if testing.Short() {
		n = 400
	}
	for range n {
		h.user("and this")
		h.request()
		h.step("done so")
	}
	if h.folds == 0 {
		t.Fatal("never folded")
	}
}

// TestShape_ThousandsOfWords: 3,000 messages of two words come at once, and
// then go on.
func TestShape_ThousandsOfWords(t *testing.T) {
	h := start(t, 16_000)
	for range 1500 {
		h.user("and this")
		h.step("done so")
	}
	h.user("and now")
	h.request()
	if h.folds != 1 {
		t.Fatalf("%d folds", h.folds)
	}
	for i := range 10 {
		h.step(words(i), 2000)
		h.request()
	}
}

// TestShape_OneMessageLargerThanTheWindow, in each position.
func TestShape_OneMessageLargerThanTheWindow(t *testing.T) {
	huge := strings.Repeat("all of this matters. ", 6000) // 31,500 tokens where 10,000 fit
	for _, c := range []struct {
		name        string
		put         func(h *host)
		irreducible string // a word of what is named; empty if it must fit
	}{
		{"newest user message", func(h *host) { h.user(huge) }, "user"},
		{"newest user message, with steps behind", func(h *host) { h.user(huge); h.step("on it", 300); h.step("on it", 300) }, "user"},
		{"user message of the turn before", func(h *host) { h.user(huge); h.step("on it", 300); h.user("shorter, please") }, ""},
		{"user message of the turn before, without an answer", func(h *host) { h.user(huge); h.user("shorter, please") }, ""},
		{"old user message", func(h *host) { h.user(huge); h.turn("then", 6, 300); h.turn("more", 6, 300) }, ""},
		{"first message", func(h *host) { h.list = nil; h.acked = 0; h.user(huge); h.turn("then", 3, 300); h.turn("more", 3, 300) }, ""},
		{"newest text of the assistant", func(h *host) { h.user("write it all"); h.step(huge) }, "assistant"},
		{"newest text of the assistant, before a new turn", func(h *host) { h.user("write it all"); h.step(huge); h.user("thanks") }, ""},
		{"old text of the assistant", func(h *host) { h.user("write it all"); h.step(huge); h.step("ok", 300); h.user("thanks") }, ""},
		{"newest output", func(h *host) { h.user("read it"); h.step("reading", 100_000) }, ""},
		{"newest outputs, many", func(h *host) {
			h.user("read it")
			h.step("reading", 30_000, 30_000, 100, 30_000, 5000, 5000, 5000, 5000)
		}, ""},
		{"newest output, before a new turn", func(h *host) { h.user("read it"); h.step("reading", 100_000); h.user("and?") }, ""},
		{"newest failure", func(h *host) {
			h.user("run it")
			m := h.step("running", 100_000)
			m.parts[1].status = "error"
		}, ""},
		{"old output", func(h *host) { h.user("read it"); h.step("reading", 100_000); h.step("read", 200); h.step("thinking") }, ""},
		{"newest arguments", func(h *host) {
			h.user("write the file")
			m := h.step("writing", 10)
			m.parts[1].input = `{"content":"` + huge + `"}`
		}, "assistant"},
		{"old arguments", func(h *host) {
			h.user("write the file")
			m := h.step("writing", 10)
			m.parts[1].input = `{"content":"` + huge + `"}`
			h.step("written", 10)
		}, ""},
		{"a running call", func(h *host) {
			h.user("delegate it")
			m := h.step("delegating", 0)
			m.parts[1].status, m.parts[1].input = "running", `{"prompt":"`+huge+`"}`
		}, "assistant"},
		{"a call that died long ago", func(h *host) {
			h.user("delegate it")
			m := h.step("delegating", 0)
			m.parts[1].status, m.parts[1].input = "running", `{"prompt":"`+huge+`"}`
			h.user("never mind")
			h.step("ok", 100)
			h.user("go on")
		}, ""},
		{"pictures", func(h *host) {
			for range 10 {
				h.add("user", part{kind: "text", text: "look"}, part{kind: "file"})
				h.step("I see", 100)
			}
			h.user("what did you see?")
		}, ""},
		{"reasoning", func(h *host) {
			h.user("think")
			h.add("assistant", part{kind: "reasoning", text: huge}, part{kind: "text", text: "done"})
			h.user("again")
			h.step("ok", 100)
		}, ""},
	} {
		for _, before := range []int{0, 6} {
			t.Run(fmt.Sprintf("%s, after %d turns", c.name, before), func(t *testing.T) {
				t.Parallel()
				h := start(t, 16_000)
				for i := range before {
					h.turn(words(i), 2, 2500)
					h.request()
				}
				c.put(h)
				st := h.request().Stats
				if (st.Irreducible != "") != (c.irreducible != "") || !strings.Contains(st.Irreducible, c.irreducible) {
					t.Fatalf("irreducible: %q, want %q", st.Irreducible, c.irreducible)
				}
				h.user("go on")
				h.step("on it", 300)
				if st := h.request().Stats; st.Irreducible != "" {
					t.Fatalf("a turn later still irreducible: %q", st.Irreducible)
				}
				for i := range 12 {
					h.step(words(i), 1500)
					h.request()
				}
			})
		}
	}
}

// TestShape_NothingIsFoldedForLittle: a user message that takes most of the
// window leaves little to gain. Then a fold waits until it frees something, or
// the request would not fit.
func TestShape_NothingIsFoldedForLittle(t *testing.T) {
	for _, share := range []int{50, 70, 80, 84} { // percent of the usable window
		h := start(t, 16_000)
		for i := range 5 {
			h.turn(words(i), 2, 2500)
			h.request()
		}
		h.user(strings.Repeat("word ", 10_000*share/100*4/5))
		h.request()
		before := h.folds
		const steps = 60
		for i := range steps {
			h.step(words(i), 600)
			h.request()
		}
		if folds := h.folds - before; folds > steps/3 {
			t.Fatalf("a message of %d %% of the window: %d folds in %d steps", share, folds, steps)
		}
		for _, f := range h.foldsStored()[before:] {
			if gain := f.Inputs.Before - f.Inputs.After; gain < 500 && f.Inputs.Before <= 10_000 {
				t.Fatalf("a message of %d %% of the window: fold %d freed %d tokens of %d", share, f.Number, gain, f.Inputs.Before)
			}
		}
		if n := len(h.served()); n > steps {
			t.Fatalf("a message of %d %% of the window: %d compartments for %d steps", share, n, steps)
		}
	}
}

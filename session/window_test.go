package session_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"ctxplugin/compartments"
	"ctxplugin/session"
)

func (h *host) event(e session.Event) {
	h.t.Helper()
	e.Session = h.id
	if err := h.s.Event(context.Background(), e); err != nil {
		h.t.Fatalf("event %s: %v", e.Type, err)
	}
}

// TestWindow_Odd: whatever the host states, the request is legal and fits what
// is assumed, and what is assumed is told.
func TestWindow_Odd(t *testing.T) {
	for _, c := range []struct{ context, output, fixed int }{
		{0, 0, 0}, {-5, -5, -5}, {1_000_000_000_000, 1_000_000_000_000, 1000}, {math.MaxInt, math.MaxInt, math.MaxInt},
		{1, 1, 1}, {1999, 500, 100}, {2000, 500, 100}, {2000, 0, 0}, {3000, 8192, 400}, {4000, 8192, 1000}, {8000, 32000, 2000},
		{8000, 1000, 9000}, {8000, 1000, 5900}, {200_000, 400_000, 10_000},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			t.Parallel()
			h := start(t, 1)
			h.context, h.output, h.fixed = c.context, c.output, c.fixed
			if c.fixed > math.MaxInt/8 {
				h.fixed = math.MaxInt / 8
			}
			for i := range 40 {
				if i%5 == 0 {
					h.user(words(i))
				}
				h.request()
				st := h.reply.Stats
				if st.Usable < 1 || st.Window < 2000 || st.Budget < 0 || st.Reserve < 0 {
					t.Fatalf("%+v", st)
				}
				if st.Usable > 1 && st.Usable+st.Reserve+st.Fixed > st.Window {
					t.Fatalf("%d usable, %d reserved and %d fixed are more than the window of %d", st.Usable, st.Reserve, st.Fixed, st.Window)
				}
				if odd := c.context < 2000 || c.context > 20_000_000; odd != (len(st.Warnings) > 0) {
					t.Fatalf("warnings %q", st.Warnings)
				}
				h.step(words(i), 900)
			}
		})
	}
}

// TestWindow_Tiny: from the smallest windows on, a whole session fits.
func TestWindow_Tiny(t *testing.T) {
	for window := 2000; window <= 8000; window += 1000 {
		t.Run(fmt.Sprint(window), func(t *testing.T) {
			t.Parallel()
			h := start(t, window)
			for i := range 12 {
				h.turn(words(i), 1, 300)
				h.request()
				for range 4 {
					h.step(words(i), 900)
					h.request()
				}
			}
			if h.folds == 0 {
				t.Fatal("never folded")
			}
		})
	}
}

// TestWindow_ModelSwitch: the window is that of the very request.
func TestWindow_ModelSwitch(t *testing.T) {
	h := start(t, 200_000)
	for i := range 20 {
		h.turn(words(i), 3, 6000)
		h.request()
	}
	if h.folds > 0 && h.reply.Stats.Messages < 20_000 {
		t.Fatalf("the session is too small to show anything: %d tokens", h.reply.Stats.Messages)
	}
	for i, window := range []int{16_000, 200_000, 8_000, 60_000, 2_000} {
		h.context, h.fixed, h.model = window, window/8, fmt.Sprintf("m%d", i)
		h.user("with another model")
		if st := h.request().Stats; st.Window != window || st.Irreducible != "" {
			t.Fatalf("%+v", st)
		}
		h.step(words(i), 2000)
		h.request()
	}
}

// TestWindow_Overflow: a refusal lowers the window for that model, for good and
// across restarts, and the next request is smaller.
func TestWindow_Overflow(t *testing.T) {
	h := start(t, 200_000)
	for i := range 30 {
		h.turn(words(i), 3, 8000)
		h.request()
		if h.reply.Stats.Messages > 80_000 {
			break
		}
	}
	before := h.reply.Stats
	if before.Messages < 50_000 {
		t.Fatalf("too small to show anything: %+v", before)
	}
	h.event(session.Event{Type: "error", Text: "another error"})
	if st := h.request().Stats; st.Window != before.Window || st.Folded {
		t.Fatalf("an error that is no overflow changed %+v into %+v", before, st)
	}
	h.event(session.Event{Type: "error", Overflow: true})
	st := h.request().Stats
	if st.Window >= before.Window || st.Messages >= before.Messages || st.Reason != string(compartments.ReasonOverflow) {
		t.Fatalf("after the refusal %+v, before %+v", st, before)
	}
	h.s = newSessions(t, h.store)
	h.user("go on")
	if again := h.request().Stats; again.Window != st.Window {
		t.Fatalf("window %d after a restart, %d before", again.Window, st.Window)
	}
	h.model = "another"
	h.user("go on")
	if other := h.request().Stats; other.Window != 200_000 {
		t.Fatalf("another model has a window of %d", other.Window)
	}
	// refusals without end do not shrink it to nothing
	h = start(t, 16_000)
	h.fixed = 100
	for range 60 {
		h.event(session.Event{Type: "error", Overflow: true})
		h.event(session.Event{Type: "error", Overflow: true})
		h.user("again")
		h.request()
	}
	if w := h.reply.Stats.Window; w < 4000 {
		t.Fatalf("the window shrank to %d", w)
	}
}

// TestUsage_Calibrates: a provider that counts more than we do gets requests
// that fit by its own count.
func TestUsage_Calibrates(t *testing.T) {
	for _, permille := range []int{1500, 1100, 700, 2400} {
		t.Run(fmt.Sprint(permille), func(t *testing.T) {
			t.Parallel()
			h := start(t, 60_000)
			h.report = permille
			over := 0
			for i := range 60 {
				if i%6 == 0 {
					h.user(words(i))
				}
				h.request()
				if counted := h.weight() * permille / 1000; i > 6 && counted > h.context-h.reply.Stats.Reserve {
					over++
				}
				h.answer(words(i), 6000)
			}
			if over > 0 {
				t.Fatalf("%d requests are too long by the provider's count", over)
			}
			status, err := h.s.Status(context.Background(), h.id)
			if err != nil {
				t.Fatal(err)
			}
			if got := status.Calibration["p/m"]; got < permille*9/10 || got > permille*12/10 {
				t.Fatalf("calibration %d, want about %d", got, permille)
			}
		})
	}
}

// TestUsage_ThatSaysNothing: zeros, a usage of another request, and one of
// nonsense teach nothing.
func TestUsage_ThatSaysNothing(t *testing.T) {
	for name, tokens := range map[string]any{
		"none":    nil,
		"zero":    map[string]any{"input": 0, "output": 0, "cache": map[string]any{"read": 0, "write": 0}},
		"below":   map[string]any{"input": -100},
		"absurd":  map[string]any{"input": 1e17},
		"no JSON": "many",
	} {
		h := start(t, 16_000)
		for i := range 20 {
			if i%4 == 0 {
				h.user(words(i))
			}
			h.request()
			m := h.step(words(i), 2000)
			if tokens != nil {
				m.more["tokens"] = tokens
			}
		}
		status, err := h.s.Status(context.Background(), h.id)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := status.Calibration["p/m"]; ok && got != 1000 {
			t.Fatalf("%s: calibration %d", name, got)
		}
	}

	// the usage of a list that was reverted since
	h := start(t, 16_000)
	h.user("begin")
	h.step(words(1), 2000)
	h.request()
	h.revert(1)
	h.step(words(2), 9000)
	h.step(words(3), 9000)
	h.list[2].more["tokens"] = map[string]any{"input": 13_000}
	h.request()
	status, err := h.s.Status(context.Background(), h.id)
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := status.Calibration["p/m"]; ok && got != 1000 {
		t.Fatalf("calibration %d from a list that is no more", got)
	}
}

// TestClock: it jumps, stands still, or is not there; no fold comes of that
// but those that a pause allows.
func TestClock(t *testing.T) {
	for name, clock := range map[string]func(step int, now int64) int64{
		"stands still":   func(_ int, now int64) int64 { return now },
		"never there":    func(int, int64) int64 { return 0 },
		"sometimes zero": func(step int, now int64) int64 { return int64(step%2) * (now + 1000) },
		"below zero":     func(step int, _ int64) int64 { return -int64(step) },
		"backwards":      func(_ int, now int64) int64 { return now - 1_000_000 },
		"far back":       func(step int, now int64) int64 { return 1_700_000_000_000 - int64(step)*100_000_000_000 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := start(t, 60_000)
			now := h.now
			for i := range 60 {
				if i%6 == 0 {
					h.user(words(i))
				}
				if now = clock(i, now); now != 0 || name != "sometimes zero" {
					h.now = now
				} else {
					h.now, now = 0, 1_700_000_000_000+int64(i)*1000
				}
				h.request()
				h.step(words(i), 3000)
			}
			for _, f := range h.foldsStored() {
				if f.Reason == compartments.ReasonCold {
					t.Fatalf("fold %d took the cache for cold", f.Number)
				}
			}
			// a jump far ahead is a pause: at most one fold comes of it, and none when
			// the clock is right again
			before := h.folds
			h.now = 9_000_000_000_000
			h.user("from the future")
			h.request()
			h.step("ok")
			h.now = 1_700_000_900_000
			h.user("back again")
			h.request()
			h.step("ok")
			h.request()
			if h.folds > before+1 {
				t.Fatalf("%d folds for one jump", h.folds-before)
			}
		})
	}
}

// TestHostThatIgnoresUs: a host that never names a plan is reported, once, and
// what it is told stays the same.
func TestHostThatIgnoresUs(t *testing.T) {
	store := newMemory()
	cfg := testConfig(store)
	told := map[string]int{}
	cfg.Notify = func(_ compartments.SessionID, _, text string) { told[text]++ }
	h := newHost(t, startSessions(t, cfg), store, 16_000)
	for i := range 30 {
		h.user(words(i))
		h.request()
		h.applied = ""
		h.step(words(i), 3000)
	}
	status, err := h.s.Status(context.Background(), h.id)
	if err != nil {
		t.Fatal(err)
	}
	ignored := 0
	for text, n := range told {
		if strings.Contains(text, "ignore") {
			ignored++
		}
		if n != 1 {
			t.Fatalf("%q was told %d times", text, n)
		}
	}
	if !status.HostIgnoring || ignored != 1 {
		t.Fatalf("ignoring %v, told %v", status.HostIgnoring, told)
	}
}

// TestWindow_ReasonIsTrue: where system and tools leave little or nothing, what is
// said of the request names each share of the window; checkReason sums them up.
func TestWindow_ReasonIsTrue(t *testing.T) {
	for _, c := range []struct {
		window, output, fixed int
		want                  string
	}{
		{4000, 1000, 3900, "tokens where 0 fit (window 4000 - reply 1000 - system and tools 3900)"},
		{4000, 1000, 2970, "tokens where 30 fit (window 4000 - reply 1000 - system and tools 2970)"},
		{2000, 500, 1499, "tokens where 1 fit (window 2000 - reply 500 - system and tools 1499)"},
	} {
		h := start(t, c.window)
		h.output, h.fixed = c.output, c.fixed
		h.user("one short question after another, of some forty tokens, " + strings.Repeat("and so on ", 10))
		if st := h.request().Stats; !strings.HasPrefix(st.Irreducible, "message 1 (user) takes ") || !strings.HasSuffix(st.Irreducible, c.want) {
			t.Errorf("%+v: %q", c, st.Irreducible)
		}
	}
}

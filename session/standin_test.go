package session_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ctxplugin/compartments"
	"ctxplugin/historian"
)

// serving counts the compartments that serve in the store, by strategy.
func (h *host) serving() map[compartments.Strategy]int {
	h.store.mu.Lock()
	defer h.store.mu.Unlock()
	n := map[compartments.Strategy]int{}
	if k := h.store.all[h.id]; k != nil {
		for _, c := range k.Compartments {
			if !k.retired[c.ID] {
				n[c.Strategy]++
			}
		}
	}
	return n
}

// wait waits until something is so, at most as long as the test may take.
func wait(what func() bool) {
	for !what() {
		time.Sleep(2 * time.Millisecond)
	}
}

// leases are given by a test.
type leases struct{ free atomic.Bool }

func (l *leases) Lease(context.Context, compartments.SessionID, string, int64) (bool, error) {
	return l.free.Load(), nil
}

func (l *leases) Unlease(context.Context, compartments.SessionID, string) error { return nil }

// TestSlow_StandIn: what is due waits for a slow historian that hangs, or for the
// lease of a process that was killed, for a bounded time alone; then a fold finds it
// written by rule, and what comes late takes its place.
func TestSlow_StandIn(t *testing.T) {
	for _, name := range []string{"it hangs", "a lease"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := newMemory()
			cfg := testConfig(store)
			slow := newStalled()
			l := &leases{}
			l.free.Store(name == "it hangs")
			cfg.Slow, cfg.Leases, cfg.Holder, cfg.Patience = slow, l, "us", 20*time.Millisecond
			h := newHost(t, startSessions(t, cfg), store, 60_000)
			h.turn("begin", 20, 4000)
			h.request()
			wait(func() bool { return h.serving()[compartments.StrategyCanonical] > 0 }) // without any further request
			if n := h.serving()[compartments.StrategyGrounded]; n > 0 {
				t.Fatalf("%d compartments of a historian that never answered", n)
			}
			h.now += 3_600_000 // the cache is cold: a fold that nothing forces
			h.user("go on")
			h.disturbed = false
			h.request()
			if h.folds == 0 {
				t.Fatal("the fold suffered")
			}
			close(slow.release)
			l.free.Store(true)
			for h.serving()[compartments.StrategyGrounded] == 0 { // the test's own time limit ends this
				h.user("and on")
				h.disturbed = false
				h.request()
				h.step("on it", 2500)
			}
			closeSessions(t, h.s)
			h.validCompartments()
		})
	}
}

// deferring is a slow historian that can be held: then it writes by rule, and says
// so. Otherwise it writes as well as the quick one, or worse.
type deferring struct {
	naive
	held, worse atomic.Bool

	mu    sync.Mutex
	asked []historian.Range // when it was not held
}

func (d *deferring) Write(ctx context.Context, r historian.Range) ([]compartments.Compartment, error) {
	written, err := d.naive.Write(ctx, r)
	held := d.held.Load()
	if !held {
		d.mu.Lock()
		d.asked = append(d.asked, r)
		d.mu.Unlock()
	}
	for i := range written {
		if written[i].Deferred = held; !held {
			written[i].Strategy = compartments.StrategyGrounded
		}
		if !held && d.worse.Load() {
			for tier, rendition := range written[i].Tiers {
				rendition.Survival = [compartments.Dimensions]uint16{}
				written[i].Tiers[tier] = rendition
			}
		}
	}
	return written, err
}

// ranges are those that it was asked for, as first and last message.
func (d *deferring) ranges() (list [][2]compartments.Ordinal) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, r := range d.asked {
		list = append(list, [2]compartments.Ordinal{r.Messages[0].Ordinal, r.Messages[len(r.Messages)-1].Ordinal})
	}
	return list
}

// TestSlow_OnceMore: what was written by rule while no model could be asked is given
// to one when it can, the newest first, and never again, whatever comes of it and
// also after a restart.
func TestSlow_OnceMore(t *testing.T) {
	for _, worse := range []bool{false, true} {
		for _, restart := range []bool{false, true} {
			store := newMemory()
			cfg := testConfig(store)
			slow := &deferring{}
			slow.held.Store(true)
			slow.worse.Store(worse)
			cfg.Slow = slow
			cfg.SlowStatus = func(context.Context, compartments.SessionID) string { return "models: held" }
			cfg.SlowReady = func(context.Context) bool { return !slow.held.Load() }
			h := newHost(t, startSessions(t, cfg), store, 200_000)
			for i := range 14 {
				h.turn(words(i), 8, 4000)
				h.request()
			}
			wait(func() bool { // more than is written in one go
				st, err := h.s.Status(context.Background(), h.id)
				return err != nil || strings.Contains(st.Historian, "models: held; nothing waits, 1") && strings.HasSuffix(st.Historian, " compartments by rule will be given to a model once more")
			})
			if n := len(slow.ranges()); n > 0 {
				t.Fatalf("asked %d times while it was held", n)
			}
			if restart {
				closeSessions(t, h.s)
				h.s = startSessions(t, cfg)
			}
			h.request()
			slow.held.Store(false)
			small := func() {
				h.disturbed = false
				h.request()
				h.step("small")
			}
			small()
			for len(slow.ranges()) < 2 || !worse && h.serving()[compartments.StrategyCanonical] > 0 {
				time.Sleep(20 * time.Millisecond) // the test's own time limit ends this
				small()
			}
			closeSessions(t, h.s)
			cfg.Slow = slow
			h.s = startSessions(t, cfg)
			for range 4 {
				small()
			}
			closeSessions(t, h.s)
			asked := slow.ranges()
			if !slices.IsSortedFunc(asked, func(a, b [2]compartments.Ordinal) int { return int(b[0] - a[0]) }) {
				t.Errorf("not the newest first: %v", asked)
			}
			for i := 1; i < len(asked); i++ {
				if asked[i][1] >= asked[i-1][0] {
					t.Errorf("worse %v: asked twice: %v", worse, asked)
				}
			}
			n := h.serving()
			if worse && n[compartments.StrategyGrounded] > 0 || !worse && n[compartments.StrategyGrounded] == 0 {
				t.Errorf("worse %v: %v serve", worse, n)
			}
			h.validCompartments()
		}
	}
}

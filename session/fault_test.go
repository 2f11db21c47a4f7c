package session_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"ctxplugin/compartments"
	"ctxplugin/session"
)

var errFull = compartments.Errorf(compartments.CodeStorage, "the disk is full")

// failing makes the nth commit from now on fail, and returns a way to learn
// whether it did.
func (m *memory) failing(n int, err error) (failed func() bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	hit := false
	m.fail = func() error {
		if n--; n == 0 {
			hit = true
			return err
		}
		return nil
	}
	return func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		return hit
	}
}

func (m *memory) heal() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fail = nil
}

// TestFault_AtEachCommit: whichever commit fails, the error says storage, what
// was in force stays so, in memory and in the store, and the next try works.
func TestFault_AtEachCommit(t *testing.T) {
	errors := 0
	for n := 1; n <= 100; n += 1 + n/8 {
		h := start(t, 16_000)
		failed := h.store.failing(n, errFull)
		for turn := range 9 {
			h.user(words(turn))
			for range 3 {
				if !h.requestOrFail(errFull.Code) {
					errors++
				}
				h.now += 5000
				size := 2500
				if turn == 6 {
					size = 90_000 // only a stub makes it fit
				}
				h.step(words(turn), size)
			}
		}
		if !failed() {
			break
		}
		if h.folds == 0 {
			t.Fatalf("commit %d failed, and nothing was ever folded", n)
		}
	}
	if errors < 6 {
		t.Fatalf("%d requests failed: the faults hit nothing", errors)
	}
}

// requestOrFail makes a request that may fail with a code. After a failure what
// was in force must still be: the request goes out under it, and the next try
// works.
func (h *host) requestOrFail(code compartments.Code) (ok bool) {
	h.t.Helper()
	before := h.inForce()
	rev, err := h.trySync()
	if err == nil {
		var reply, err2 = h.ask(rev)
		if err = err2; err == nil {
			h.apply(reply)
			return true
		}
	}
	if compartments.CodeOf(err) != code {
		h.t.Fatalf("request %d: the error has code %s (%v), want %s", h.requests, compartments.CodeOf(err), err, code)
	}
	if after := h.inForce(); after != before {
		h.t.Fatalf("request %d: %s was in force, after the failure %s is", h.requests, before, after)
	}
	if h.plan.Through == "" || h.placeOf(h.plan.Through) >= 0 {
		h.render() // under the old plan
	}
	h.request()
	return false
}

// inForce is the plan in the store and how many folds made it.
func (h *host) inForce() string {
	h.store.mu.Lock()
	defer h.store.mu.Unlock()
	k := h.store.all[h.id]
	if k == nil {
		return ""
	}
	return fmt.Sprint(k.PlanID, " ", k.Folds, " ", len(k.folds))
}

// TestFault_InForkAndCompaction: the same for lists that change as a whole.
func TestFault_InForkAndCompaction(t *testing.T) {
	for n := 1; n <= 4; n++ {
		h := folded(t, 16_000)
		f := h.fork(len(h.list), true)
		f.user("a question of the fork")
		h.store.failing(n, errFull)
		f.requestOrFail(errFull.Code)
		h.store.heal()
		if got, want := heads(f.plan), heads(h.plan); !slices.Equal(got, want) {
			t.Fatalf("commit %d: the fork's head is %q, the source's %q", n, got, want)
		}
		f.went(4)

		h.compact(len(h.list))
		h.user("go on after the summary")
		h.store.failing(n, errFull)
		h.requestOrFail(errFull.Code)
		h.store.heal()
		h.went(4)
		h.revert(3)
		h.user("the other way")
		h.store.failing(n, errFull)
		h.requestOrFail(errFull.Code)
		h.store.heal()
		h.went(4)
	}
}

// TestFault_ReplayNeedsNoStore: a plan that is committed is answered even when
// the store takes nothing more.
func TestFault_ReplayNeedsNoStore(t *testing.T) {
	h := folded(t, 16_000)
	rev := h.sync()
	h.store.mu.Lock()
	h.store.fail = func() error { return errFull }
	h.store.mu.Unlock()
	for range 3 {
		reply, err := h.ask(rev)
		if err != nil {
			t.Fatalf("transform: %v", err)
		}
		h.apply(reply)
	}
}

// TestFault_Reading: the store cannot be read when a fold needs the messages.
func TestFault_Reading(t *testing.T) {
	store := &unreadable{memory: newMemory()}
	h := newHost(t, newSessions(t, store), store.memory, 16_000)
	h.turn("first", 3, 200)
	h.request()
	h.turn("second", 12, 9000)
	rev := h.sync()
	store.broken = true
	if _, err := h.ask(rev); compartments.CodeOf(err) != compartments.CodeStorage {
		t.Fatalf("error %v", err)
	}
	store.broken = false
	h.request()
	if h.folds == 0 {
		t.Fatal("never folded")
	}
}

// TestFault_StateOfAStrangeShape: a state that cannot be read is an error that
// says so.
func TestFault_StateOfAStrangeShape(t *testing.T) {
	h := folded(t, 16_000)
	h.store.mu.Lock()
	h.store.all[h.id].State = json.RawMessage(`{"layout": "none"}`)
	h.store.mu.Unlock()
	h.s = newSessions(t, h.store)
	if _, err := h.trySync(); compartments.CodeOf(err) != compartments.CodeStorage {
		t.Fatalf("error %v", err)
	}
}

// TestFault_PanicLetsTheSessionGo: whoever recovers from a panic finds the session
// free, and as it is stored.
func TestFault_PanicLetsTheSessionGo(t *testing.T) {
	for name, call := range map[string]func(*host){
		"sync":      func(h *host) { _, _ = h.trySync() },
		"transform": func(h *host) { _, _ = h.ask(h.revision(h.acked)) },
		"idle":      func(h *host) { h.event(session.Event{Type: "idle"}) },
	} {
		t.Run(name, func(t *testing.T) {
			h := start(t, 16_000)
			for range 30 {
				h.turn("more", 3, 600)
				h.request()
			}
			h.step("one more")
			h.store.mu.Lock()
			h.store.fail = func() error { panic("the store breaks") }
			h.store.mu.Unlock()
			panicked := false
			func() {
				defer func() { panicked = recover() != nil }()
				call(h)
			}()
			h.store.heal()
			if !panicked && name != "idle" { // which has nothing to store now and then
				t.Fatal("nothing broke")
			}
			ctx, stop := context.WithTimeout(context.Background(), 20*time.Second)
			defer stop()
			if _, err := h.s.Status(ctx, h.id); err != nil {
				t.Fatalf("the session is held: %v", err)
			}
			h.request()
		})
	}
}

package session_test

import (
	"context"
	"fmt"
	"math/rand"
	"slices"
	"sync"
	"testing"

	"ctxplugin/compartments"
	"ctxplugin/session"
)

// script is a session played from a seed: a growing list with reverts, undos,
// edits, pauses, other models and a compaction. between is called before each
// request, and the plan of each is noted.
func script(h *host, seed int64, steps int, between func(step int)) (plans []string) {
	h.t.Helper()
	r := rand.New(rand.NewSource(seed))
	var away []*message
	at := 0
	h.user("begin")
	for step := range steps {
		h.now += int64(r.Intn(60_000))
		switch n := r.Intn(20); {
		case n < 10:
			h.step(words(step), r.Intn(h.context/3))
		case n < 15:
			h.user(words(step))
		case n == 15 && len(h.list) > 4:
			at = len(h.list) - 1 - r.Intn(len(h.list)/2)
			away = h.revert(at)
			h.user("the other way")
		case n == 16 && away != nil:
			h.restore(at, away)
			away = nil
		case n == 17:
			edit(h, r.Intn(len(h.list)), "longer")
		case n == 18:
			h.now += 400_000
			h.user("later")
		case n == 19 && step > steps/2 && step%2 == 0:
			h.compact(len(h.list) - r.Intn(3))
			away = nil
			h.user("go on after the summary")
		default:
			h.step(words(step), 100, 200, 300)
		}
		between(step)
		h.request()
		plans = append(plans, h.reply.PlanID)
	}
	return plans
}

// TestRestart_ChangesNothing: with a new process at every step, or at some, the
// same requests get the same plans as without.
func TestRestart_ChangesNothing(t *testing.T) {
	seeds := 6
	if testing.Short() {
		seeds = 2
	}
	for seed := range int64(seeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			h := start(t, 16_000)
			h.report = 1300
			want := script(h, seed, 60, func(int) {})
			if h.folds < 3 {
				t.Fatalf("%d folds show nothing", h.folds)
			}
			for every := 1; every <= 7; every += 3 {
				g := start(t, 16_000)
				g.report = 1300
				got := script(g, seed, 60, func(step int) {
					if step%every == 0 {
						closeSessions(t, g.s)
						g.s = newSessions(t, g.store)
					}
				})
				for i := range want {
					if got[i] != want[i] {
						t.Fatalf("restarted every %d requests, request %d gets plan %.8s, without %.8s", every, i, got[i], want[i])
					}
				}
			}
		})
	}
}

// TestRestart_BetweenSyncAndTransform: a kill between the two, and while the
// historian writes behind an answer.
func TestRestart_BetweenSyncAndTransform(t *testing.T) {
	plain := start(t, 16_000)
	want := script(plain, 3, 40, func(int) {})
	h := start(t, 16_000)
	got := script(h, 3, 40, func(step int) {
		h.sync()
		// a process that dies commits nothing more, wherever it is
		h.store.mu.Lock()
		h.store.fail = func() error { return errFull }
		h.store.mu.Unlock()
		closeSessions(t, h.s)
		h.store.heal()
		h.s = newSessions(t, h.store)
	})
	if !slices.Equal(got, want) {
		t.Fatalf("plans %v, want %v", got, want)
	}
	killed := start(t, 16_000)
	got = script(killed, 3, 40, func(step int) {
		if step == 0 {
			return
		}
		// the request before has been answered; what is written behind it dies
		killed.s = newSessions(t, killed.store)
	})
	if !slices.Equal(got, want) {
		t.Fatalf("killed behind each answer: plans %v, want %v", got, want)
	}
}

// TestRestart_WhatWasOwedIsWritten: a kill before the historian wrote anything
// behind an answer leaves it to the next process, before anything else.
func TestRestart_WhatWasOwedIsWritten(t *testing.T) {
	h := start(t, 200_000)
	h.turn("first", 40, 4000)
	rev := h.sync()
	commits := 0
	h.store.mu.Lock()
	h.store.fail = func() error {
		if commits++; commits > 1 {
			return errFull // the pass is stored, and nothing after it
		}
		return nil
	}
	h.store.mu.Unlock()
	reply, err := h.ask(rev)
	if err != nil {
		t.Fatal(err)
	}
	closeSessions(t, h.s)
	h.store.heal()
	h.apply(reply)
	before := len(h.served())
	h.s = newSessions(t, h.store)
	h.user("next")
	h.sync()
	if len(h.served()) <= before {
		t.Fatal("nothing was written")
	}
}

// TestProcesses_OneSession: two processes on one store, the host talks to either:
// each answers with the one plan that is committed.
func TestProcesses_OneSession(t *testing.T) {
	for seed := range int64(3) {
		h := start(t, 16_000)
		both := []*session.Sessions{h.s, newSessions(t, h.store)}
		r := rand.New(rand.NewSource(seed))
		script(h, seed, 40, func(int) { h.s = both[r.Intn(2)] })
		// the same request to both
		for range 10 {
			h.step(words(1), 3000)
			h.user("next")
			h.s = both[0]
			h.request()
			first, bytes := h.reply.PlanID, slices.Clone(h.last)
			h.s = both[1]
			h.request()
			if h.reply.PlanID != first || !slices.Equal(h.last, bytes) {
				t.Fatal("two processes answer differently")
			}
		}
	}
}

// TestProcesses_AtOnce: both are asked at the same time.
func TestProcesses_AtOnce(t *testing.T) {
	h := folded(t, 16_000)
	other := newHost(t, newSessions(t, h.store), h.store, 16_000)
	other.applied = h.applied
	for i := range 20 {
		h.step(words(i), 4000)
		h.user(words(i))
		other.list, other.acked, other.now = slices.Clone(h.list), h.acked, h.now
		for _, m := range h.list {
			m.bytes() // both hosts have it: what is made on first use is made before
		}
		var wg sync.WaitGroup
		replies := make([]session.TransformReply, 2)
		errs := make([]error, 2)
		for k, one := range []*host{h, other} {
			wg.Go(func() {
				rev, err := one.trySync()
				if err == nil {
					replies[k], err = one.ask(rev)
				}
				errs[k] = err
			})
		}
		wg.Wait()
		answered := 0
		for k := range errs {
			switch {
			case errs[k] == nil:
				answered++
			case compartments.CodeOf(errs[k]) != compartments.CodeBusy:
				t.Fatalf("error %v", errs[k])
			}
		}
		if answered == 0 {
			t.Fatal("neither answered")
		}
		h.disturbed = true
		h.request() // whatever they did, it is a legal plan
		first := h.reply.PlanID
		other.acked, other.applied, other.plan = len(other.list), h.applied, h.plan
		rev, err := other.trySync()
		if err != nil {
			t.Fatal(err)
		}
		reply, err := other.ask(rev)
		if err != nil || reply.PlanID != first {
			t.Fatalf("plan %s, want %s (%v)", reply.PlanID, first, err)
		}
		other.applied = h.applied
	}
}

// TestSessions_ManyAtOnce: sessions beside each other, more than stay open, with
// tools and status between. It is worth most under the race detector.
func TestSessions_ManyAtOnce(t *testing.T) {
	store := newMemory()
	s := newSessions(t, store)
	var wg sync.WaitGroup
	for i := range 30 {
		wg.Go(func() {
			h := newHost(t, s, store, 16_000)
			h.id = compartments.SessionID(fmt.Sprintf("ses_%d", i))
			for turn := range 3 {
				h.now += int64(i)
				h.user(fmt.Sprintf("session %d, turn %d", i, turn))
				for range 3 {
					h.request()
					h.step("done", 9000)
				}
				if _, err := s.Status(context.Background(), h.id); err != nil {
					t.Errorf("status: %v", err)
				}
				if _, err := s.CallTool(context.Background(), h.id, "ctx_expand", []byte(`{"first": 1, "last": 2}`)); err != nil {
					t.Errorf("expand: %v", err)
				}
				if err := s.Event(context.Background(), session.Event{Session: h.id, Type: "idle"}); err != nil {
					t.Errorf("idle: %v", err)
				}
			}
		})
	}
	wg.Wait()
}

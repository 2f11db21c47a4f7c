package sqlite_test

import (
	"context"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"ctxplugin/compartments"
	"ctxplugin/sqlite"
)

func callOf(id compartments.SessionID, at int64) compartments.Call {
	return compartments.Call{Session: id, First: 3, Last: 9, Source: compartments.Hash{1, 2, 3}, Backend: "openai", Model: "m", Prompt: "v1", Try: 1,
		At: at, Usage: compartments.Usage{Input: 1000, Output: 100}, Cost: 500}
}

func free(compartments.Breaker, compartments.Spent) compartments.CallHold {
	return compartments.CallHold{}
}

// TestCalls_Ledger: a call stands in the ledger from before it is made, once, and
// what came of it takes the place of what was guessed.
func TestCalls_Ledger(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "test.db")
	s := open(t, path, sqlite.Options{})
	if _, err := s.Commit(ctx, childBatch("a", 0, 1)); err != nil {
		t.Fatal(err)
	}
	c := callOf("a", 5_000)
	if _, err := s.AdmitCall(ctx, &c, 0, free); err != nil {
		t.Fatal(err)
	}
	asked, err := s.Calls(ctx, "a", 10)
	if err != nil || len(asked) != 1 || asked[0].Verdict != compartments.CallAsked || !asked[0].Estimated || asked[0].Tokens() != 1100 {
		t.Fatalf("%+v, %v", asked, err)
	}
	if err := s.Close(); err != nil { // killed here it would stay
		t.Fatal(err)
	}
	s = open(t, path, sqlite.Options{})
	c.Ms, c.Usage = 70, compartments.Usage{Input: 800, Output: 90, Reasoning: 10, CacheRead: 5, CacheWrite: 6}
	c.Verdict, c.Faults, c.Detail, c.RetryAtMs, c.Cost = compartments.CallInvalid, []string{"gap", "quote"}, "a gap at [4]", 9_000, 400
	broken := compartments.Breaker{Failures: 1, Until: 20_000, At: 5_070, Opened: 1, Verdict: compartments.CallInvalid, Text: "a gap at [4]"}
	if err := s.RecordCall(ctx, &c, func(b compartments.Breaker) compartments.Breaker {
		if (b != compartments.Breaker{}) {
			t.Errorf("before there was %+v", b)
		}
		return broken
	}); err != nil {
		t.Fatal(err)
	}
	all, err := s.Calls(ctx, "", 10)
	if err != nil || len(all) != 1 || !slices.Equal(all[0].Faults, c.Faults) {
		t.Fatalf("%+v, %v", all, err)
	}
	all[0].Faults, c.Faults = nil, nil
	if got := all[0]; got.Detail != c.Detail || got.Usage != c.Usage || got.Source != c.Source || got.Session != "a" || got.Verdict != c.Verdict || got.Ms != 70 || got.RetryAtMs != 9_000 {
		t.Errorf("%+v", got)
	}
	if spent, err := s.SpentSince(ctx, 5_000); err != nil || spent != (compartments.Spent{Calls: 1, Tokens: 911, Cost: 400}) {
		t.Errorf("%+v, %v", spent, err)
	}
	if spent, err := s.SpentSince(ctx, 5_001); err != nil || spent != (compartments.Spent{}) {
		t.Errorf("%+v, %v", spent, err)
	}

	// What was spent and what failed outlives the session, not what it was about.
	if err := s.Forget(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	all, err = s.Calls(ctx, "", 10)
	if err != nil || len(all) != 1 || all[0].Session != "" || all[0].Detail != "" || all[0].Source != (compartments.Hash{}) || all[0].Cost != 400 {
		t.Errorf("%+v, %v", all, err)
	}
	if b, err := s.Breakers(ctx); err != nil || len(b) != 1 || b[0].Breaker != broken || b[0].Backend != "openai" || b[0].Model != "m" {
		t.Errorf("%+v, %v", b, err)
	}
	if n, err := s.ClearBreakers(ctx); err != nil || n != 1 {
		t.Errorf("%d, %v", n, err)
	}
	if b, err := s.Breakers(ctx); err != nil || len(b) != 0 {
		t.Errorf("%+v, %v", b, err)
	}
}

// TestBreakers_OfASetup: what failed with one key says nothing of another, and both
// are known by what they were set to.
func TestBreakers_OfASetup(t *testing.T) {
	ctx := context.Background()
	s := open(t, filepath.Join(t.TempDir(), "test.db"), sqlite.Options{})
	const at = 1_000_000_000_000
	fail := func(setup string, at int64, before int) {
		t.Helper()
		c := callOf("", at)
		c.Setup = setup
		if err := s.RecordCall(ctx, &c, func(b compartments.Breaker) compartments.Breaker {
			if b.Failures != before {
				t.Errorf("%s: %+v", setup, b)
			}
			return compartments.Breaker{Failures: b.Failures + 1, At: at, Until: at + 1000}
		}); err != nil {
			t.Fatal(err)
		}
	}
	fail("old", at, 0)
	fail("old", at+1, 1)
	fail("new", at+2, 0)
	c := callOf("", at+3)
	c.Setup = "new"
	if _, err := s.AdmitCall(ctx, &c, 0, func(b compartments.Breaker, _ compartments.Spent) compartments.CallHold {
		if b.Failures != 1 {
			t.Errorf("%+v", b)
		}
		return compartments.CallHold{}
	}); err != nil {
		t.Fatal(err)
	}
	all, err := s.Breakers(ctx)
	if err != nil || len(all) != 2 || all[0].Setup != "new" || all[1].Setup != "old" || all[1].Failures != 2 {
		t.Errorf("%+v, %v", all, err)
	}
	fail("new", at+8*24*60*60*1000, 0) // what nobody asks any more goes after a week, and that has rested too
	if all, err = s.Breakers(ctx); err != nil || len(all) != 1 {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestHolds: why a model was not asked stands until it is.
func TestHolds(t *testing.T) {
	ctx := context.Background()
	s := open(t, filepath.Join(t.TempDir(), "test.db"), sqlite.Options{})
	admit := func(hold compartments.CallHold, want int) {
		t.Helper()
		c := callOf("", 7_000)
		c.Setup = "s"
		if _, err := s.AdmitCall(ctx, &c, 0, func(compartments.Breaker, compartments.Spent) compartments.CallHold { return hold }); err != nil {
			t.Fatal(err)
		}
		all, err := s.Holds(ctx)
		if err != nil || len(all) != want {
			t.Fatalf("%+v, %v", all, err)
		}
		if want == 1 && (all[0] != compartments.ModelHold{Backend: "openai", Model: "m", Setup: "s", At: 7_000, Tokens: 1100, Cost: 500, CallHold: hold}) {
			t.Errorf("%+v", all[0])
		}
	}
	admit(compartments.CallHold{Verdict: compartments.CallHeld, Text: "its breaker says so"}, 0)
	admit(compartments.CallHold{Verdict: compartments.CallCap, Until: 9, Text: "full"}, 1)
	admit(compartments.CallHold{Verdict: compartments.CallCap, Until: 9, Text: "still full"}, 1)
	admit(compartments.CallHold{}, 0)
	h := compartments.ModelHold{Backend: "host", At: 5, CallHold: compartments.CallHold{Verdict: compartments.CallHeld, Text: "no"}}
	for _, verdict := range []compartments.CallVerdict{compartments.CallHeld, ""} {
		h.Verdict = verdict
		if err := s.Hold(ctx, &h); err != nil {
			t.Fatal(err)
		}
		if all, err := s.Holds(ctx); err != nil || (len(all) == 1) != (verdict != "") {
			t.Errorf("%q: %+v, %v", verdict, all, err)
		}
	}
}

// TestCalls_AdmittedOneByOne: two calls that ask at once see each other.
func TestCalls_AdmittedOneByOne(t *testing.T) {
	ctx := context.Background()
	s := open(t, filepath.Join(t.TempDir(), "test.db"), sqlite.Options{})
	var wait sync.WaitGroup
	var mu sync.Mutex
	admitted := 0
	for i := range 8 {
		wait.Go(func() {
			c := callOf("", int64(1000+i))
			hold, err := s.AdmitCall(ctx, &c, 0, func(_ compartments.Breaker, spent compartments.Spent) compartments.CallHold {
				if spent.Tokens+c.Tokens() > 3300 {
					return compartments.CallHold{Verdict: compartments.CallCap}
				}
				return compartments.CallHold{}
			})
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			} else if hold.Verdict == "" {
				admitted++
			}
		})
	}
	wait.Wait()
	if admitted != 3 {
		t.Errorf("%d calls of 1,100 tokens were admitted under a cap of 3,300", admitted)
	}
}

// TestLease: one holder at a time, renewable, and nothing but time ends that of a
// process that was killed.
func TestLease(t *testing.T) {
	ctx := context.Background()
	now := time.UnixMilli(1_000_000_000)
	s := open(t, filepath.Join(t.TempDir(), "test.db"), sqlite.Options{Now: func() time.Time { return now }})
	lease := func(holder string, want bool) {
		t.Helper()
		if held, err := s.Lease(ctx, "a", holder, 60_000); err != nil || held != want {
			t.Fatalf("%s: %v, %v", holder, held, err)
		}
	}
	lease("one", false) // nobody can write for a session that is not there
	version, err := s.Commit(ctx, childBatch("a", 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	lease("one", true)
	lease("one", true)
	lease("two", false)
	if all, err := s.Leases(ctx); err != nil || len(all) != 1 || (all[0] != compartments.Lease{Session: "a", Holder: "one", Until: now.UnixMilli() + 60_000}) {
		t.Fatalf("%+v, %v", all, err)
	}
	if err := s.Unlease(ctx, "a", "two"); err != nil {
		t.Fatal(err)
	}
	lease("two", false)
	now = now.Add(59_999 * time.Millisecond)
	lease("two", false)
	lease("one", true)
	now = now.Add(60 * time.Second)
	lease("two", true)
	b := childBatch("a", version, 1+childMessages)
	b.Lease = "one"
	if _, err := s.Commit(ctx, b); compartments.CodeOf(err) != compartments.CodeBusy {
		t.Fatalf("a batch of one who lost the lease: %v", err)
	}
	b.Lease = "two"
	if _, err := s.Commit(ctx, b); err != nil {
		t.Fatal(err)
	}
	if err := s.Unlease(ctx, "a", "two"); err != nil {
		t.Fatal(err)
	}
	lease("one", true)
	now = now.Add(-24 * time.Hour) // the clock is set back
	lease("two", true)
	if err := s.Forget(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	lease("one", false)
}

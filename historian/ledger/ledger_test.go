package ledger_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ctxplugin/compartments"
	"ctxplugin/historian/draft"
	"ctxplugin/historian/ledger"
)

var _ draft.Journal = (*ledger.Ledger)(nil)

const noon = 1_750_000_000_000

func call(at int64, v compartments.CallVerdict) *compartments.Call {
	return &compartments.Call{Backend: "openai", Model: "m", Try: 1, At: at, Ms: 1000, Verdict: v, Detail: "why", Usage: compartments.Usage{Input: 900, Output: 100}}
}

// A breaker opens after three fruitless runs, not calls, for longer each time, and
// one good reply forgets all of it.
func TestNext_OpensAfterFruitlessRuns(t *testing.T) {
	var b compartments.Breaker
	at := int64(noon)
	run := func(tries int) {
		for i := range tries {
			c := call(at, compartments.CallInvalid)
			c.Try, c.Repair = 1+i, i > 0
			b = ledger.Next(b, c)
		}
	}
	run(2)
	run(3)
	if b.Failures != 2 || ledger.Open(b, at) {
		t.Fatalf("after two runs: %+v", b)
	}
	run(2)
	if first := b.Until - at; !ledger.Open(b, at+2000) || first < 60_000 {
		t.Fatalf("after three runs: %+v", b)
	}
	rest := b.Until - at
	for range 12 {
		at = b.Until
		if ledger.Open(b, at) {
			t.Fatal("it never ends")
		}
		run(1)
		if next := b.Until - at; !ledger.Open(b, at+2000) || next < rest || next > 7*60*60*1000 {
			t.Fatalf("it rested for %d ms, then for %d", rest, next)
		} else {
			rest = next
		}
	}
	if b = ledger.Next(b, call(at, compartments.CallGood)); b != (compartments.Breaker{}) {
		t.Fatalf("a good reply leaves %+v", b)
	}
}

func TestNext_ByVerdict(t *testing.T) {
	for verdict, open := range map[compartments.CallVerdict]bool{
		compartments.CallAuth: true, compartments.CallUnknownModel: true, compartments.CallRequest: true,
		compartments.CallRateLimit: false, compartments.CallServer: false, compartments.CallRefusal: false, compartments.CallTimeout: false,
		compartments.CallCancelled: false, compartments.CallTooLong: false,
	} {
		b := ledger.Next(compartments.Breaker{}, call(noon, verdict))
		if ledger.Open(b, noon+2000) != open {
			t.Errorf("%s: %+v", verdict, b)
		}
	}
	c := call(noon, compartments.CallRateLimit)
	c.RetryAtMs = noon + 1000 + 20*60*1000
	b := ledger.Next(compartments.Breaker{}, c)
	if b.Until != c.RetryAtMs {
		t.Errorf("asked to wait until %d, it is until %d", c.RetryAtMs, b.Until)
	}
	if ledger.Open(b, noon-48*60*60*1000) {
		t.Error("a clock that was set back holds it for days")
	}
	if text := ledger.Why(compartments.ModelBreaker{Backend: "openai", Model: "m", Breaker: b}, noon+2000); !strings.Contains(text, "rate-limit") || !strings.Contains(text, "UTC") {
		t.Error(text)
	}
}

// store is a Store in memory.
type store struct {
	breaker compartments.Breaker
	calls   []compartments.Call
}

func (s *store) AdmitCall(_ context.Context, c *compartments.Call, since int64, decide func(compartments.Breaker, compartments.Spent) compartments.CallHold) (compartments.CallHold, error) {
	var spent compartments.Spent
	for _, old := range s.calls {
		if old.At >= since {
			spent.Calls++
			spent.Tokens += old.Tokens()
			spent.Cost += old.Cost
		}
	}
	hold := decide(s.breaker, spent)
	if hold.Verdict == "" {
		s.calls = append(s.calls, *c)
	}
	return hold, nil
}

func (s *store) RecordCall(ctx context.Context, c *compartments.Call, next func(compartments.Breaker) compartments.Breaker) error {
	s.calls[len(s.calls)-1] = *c
	s.breaker = next(s.breaker)
	return ctx.Err()
}

func TestLedger_Caps(t *testing.T) {
	ctx := context.Background()
	s := &store{}
	l := &ledger.Ledger{Store: s, Limits: ledger.Limits{Tokens: 3500, Cost: 2_000_000}}
	admit := func(at, cost int64, want compartments.CallVerdict) {
		t.Helper()
		c := call(at, "")
		c.Cost = cost
		hold, err := l.Admit(ctx, *c)
		if err != nil || hold.Verdict != want {
			t.Fatalf("%+v, %v", hold, err)
		}
		if want != "" && (hold.Until <= at || hold.Text == "") {
			t.Fatalf("%+v", hold)
		}
	}
	admit(noon, 0, "")
	admit(noon, 2_000_001, compartments.CallCap)
	admit(noon, 1_500_000, "")
	admit(noon, 600_000, compartments.CallCap)
	admit(noon, 0, "")
	admit(noon, 0, compartments.CallCap) // 3,000 of 3,500 tokens
	admit(noon+24*60*60*1000, 0, "")
	l.Limits.Cost = 0
	admit(noon+24*60*60*1000, 1, compartments.CallCap)
	admit(noon+24*60*60*1000, 0, "") // what costs nothing is no matter of money

	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := l.Record(ended, *call(noon, compartments.CallAuth)); err != nil {
		t.Fatalf("a call is recorded while the program ends: %v", err)
	}
	if hold, err := l.Admit(ctx, *call(noon+5000, "")); err != nil || hold.Verdict != compartments.CallHeld || !strings.Contains(hold.Text, "auth") {
		t.Fatalf("%+v, %v", hold, err)
	}
}

// The run that opens the breaker is made to its end: all its tries, and the repair.
func TestLedger_TheLastRunIsWhole(t *testing.T) {
	ctx := context.Background()
	for _, verdict := range []compartments.CallVerdict{compartments.CallInvalid, compartments.CallServer} {
		s := &store{}
		l := &ledger.Ledger{Store: s, Limits: ledger.Limits{Tokens: 1_000_000, Cost: 1_000_000}}
		at := int64(noon)
		run := func() (made int) {
			for try := 1; try <= 3; try++ {
				c := call(at, verdict)
				c.Try, c.Repair = try, verdict == compartments.CallInvalid && try > 1
				hold, err := l.Admit(ctx, *c)
				if err != nil {
					t.Fatal(err)
				}
				if hold.Verdict == "" {
					made++
					if err := l.Record(ctx, *c); err != nil {
						t.Fatal(err)
					}
				}
				at += 10_000
			}
			return made
		}
		for n := 1; n <= 3; n++ {
			if made := run(); made != 3 {
				t.Errorf("%s: run %d had %d of 3 calls", verdict, n, made)
			}
		}
		if hold, _ := l.Admit(ctx, *call(at, verdict)); hold.Verdict != compartments.CallHeld || hold.Cause != verdict || !strings.Contains(hold.Text, "3 fruitless runs") {
			t.Errorf("%s: %+v", verdict, hold)
		}
	}
	for _, verdict := range []compartments.CallVerdict{compartments.CallAuth, compartments.CallUnknownModel, compartments.CallRequest} {
		s := &store{}
		l := &ledger.Ledger{Store: s, Limits: ledger.Limits{Tokens: 1_000_000, Cost: 1_000_000}}
		if _, err := l.Admit(ctx, *call(noon, "")); err != nil {
			t.Fatal(err)
		}
		if err := l.Record(ctx, *call(noon, verdict)); err != nil {
			t.Fatal(err)
		}
		c := call(noon+5000, "")
		c.Try = 2
		if hold, _ := l.Admit(ctx, *c); hold.Verdict != compartments.CallHeld || hold.Cause != verdict || strings.Contains(hold.Text, "runs") {
			t.Errorf("after one call: %+v", hold)
		}
	}
}

// However calls turn out within what was reserved for them, the day's tokens are
// never passed.
func TestLedger_CapIsNeverPassed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ctx := context.Background()
		s := &store{}
		l := &ledger.Ledger{Store: s, Limits: ledger.Limits{Tokens: rapid.IntRange(0, 20_000).Draw(t, "cap"), Cost: 1_000_000}}
		for i := range rapid.IntRange(1, 30).Draw(t, "calls") {
			c := call(noon+int64(i), compartments.CallGood)
			c.Usage = compartments.Usage{Input: rapid.IntRange(1, 4000).Draw(t, "input"), Output: rapid.IntRange(1, 2000).Draw(t, "output")}
			hold, err := l.Admit(ctx, *c)
			if err != nil {
				t.Fatal(err)
			}
			if hold.Verdict != "" {
				continue
			}
			c.Usage.Input, c.Usage.Output = rapid.IntRange(0, c.Usage.Input).Draw(t, "was in"), rapid.IntRange(0, c.Usage.Output).Draw(t, "was out")
			if rapid.IntRange(0, 5).Draw(t, "killed") > 0 {
				if err := l.Record(ctx, *c); err != nil {
					t.Fatal(err)
				}
			}
			spent := 0
			for _, c := range s.calls {
				spent += c.Tokens()
			}
			if spent > l.Limits.Tokens {
				t.Fatalf("%d of %d tokens", spent, l.Limits.Tokens)
			}
		}
	})
}

// Whatever happens, a breaker never holds for longer than a day, and never after a
// good reply.
func TestNext_NeverStuck(t *testing.T) {
	verdicts := []compartments.CallVerdict{compartments.CallGood, compartments.CallInvalid, compartments.CallRateLimit, compartments.CallAuth,
		compartments.CallCancelled, compartments.CallServer, compartments.CallTimeout, compartments.CallRequest}
	rapid.Check(t, func(t *rapid.T) {
		var b compartments.Breaker
		at := int64(noon)
		for range rapid.IntRange(1, 40).Draw(t, "calls") {
			at += rapid.Int64Range(0, 1<<40).Draw(t, "pause")
			c := call(at, rapid.SampledFrom(verdicts).Draw(t, "verdict"))
			c.Try = rapid.IntRange(1, 3).Draw(t, "try")
			c.RetryAtMs = rapid.Int64Range(0, 1<<50).Draw(t, "retry")
			b = ledger.Next(b, c)
			if b.Until > at+c.Ms+24*60*60*1000 {
				t.Fatalf("held until %d at %d", b.Until, at)
			}
			if c.Verdict == compartments.CallGood && b != (compartments.Breaker{}) {
				t.Fatalf("%+v after a good reply", b)
			}
		}
	})
}

// TestWhy_OtherDay: a time of the day alone would be read as one of today.
func TestWhy_OtherDay(t *testing.T) {
	at := time.Date(2026, 3, 4, 13, 55, 0, 0, time.UTC)
	for until, want := range map[time.Duration]string{5 * time.Minute: "rests until 14:00 UTC after", 24 * time.Hour: "rests until 2026-03-05 13:55 UTC after", 11 * time.Hour: "rests until 2026-03-05 00:55 UTC after"} {
		b := compartments.ModelBreaker{Backend: "openai", Model: "m", Breaker: compartments.Breaker{Until: at.Add(until).UnixMilli(), Verdict: compartments.CallRateLimit}}
		if got := ledger.Why(b, at.UnixMilli()); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Package ledger decides whether a model may be called: it keeps the circuit
// breakers and the caps of the day over a store of calls.
//
// # Invariants
//
// A call is in the store before it is made. What was admitted and never recorded,
// because the process was killed, counts with what it may have taken at most.
//
// A model that failed in three runs in a row rests, for longer each time; one that
// cannot succeed before somebody acts (a wrong key, an unknown name) rests at once.
// One good reply, or the user, ends that. Nothing is skipped silently: a hold says
// what it waits for.
//
// The package reads no clock: every call says when it is made.
package ledger

import (
	"context"
	"fmt"
	"time"

	"ctxplugin/compartments"
)

// Store keeps calls and breakers. Methods may be called from any goroutine.
type Store interface {
	// AdmitCall asks decide whether a call may be made, with the breaker of its model
	// and what was spent since a time, Unix ms. What nothing holds is stored as a call
	// under way, in the same transaction.
	AdmitCall(ctx context.Context, c *compartments.Call, since int64, decide func(compartments.Breaker, compartments.Spent) compartments.CallHold) (compartments.CallHold, error)
	// RecordCall stores what came of a call, and the breaker that next makes of the
	// one before, in one transaction.
	RecordCall(ctx context.Context, c *compartments.Call, next func(compartments.Breaker) compartments.Breaker) error
}

// Limits are the caps of one day, which is that of UTC.
type Limits struct {
	Tokens int   // in and out
	Cost   int64 // micro-units of money; calls without a price count as free
}

// Ledger admits and records calls. It implements the journal of package draft.
type Ledger struct {
	Store  Store
	Limits Limits
}

// recordTime is how long a record may take that is made while the program ends.
const recordTime = time.Second

// Admit asks whether a call may be made.
func (l *Ledger) Admit(ctx context.Context, c compartments.Call) (compartments.CallHold, error) {
	return l.Store.AdmitCall(ctx, &c, DayOf(c.At), func(b compartments.Breaker, spent compartments.Spent) compartments.CallHold {
		return l.decide(&c, b, spent)
	})
}

// Record stores a call that was made, also while ctx has ended.
func (l *Ledger) Record(ctx context.Context, c compartments.Call) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
	defer cancel()
	return l.Store.RecordCall(ctx, &c, func(b compartments.Breaker) compartments.Breaker { return Next(b, &c) })
}

func (l *Ledger) decide(c *compartments.Call, b compartments.Breaker, spent compartments.Spent) compartments.CallHold {
	if Open(b, c.At) && !goesOn(b, c) {
		return compartments.CallHold{Verdict: compartments.CallHeld, Cause: b.Verdict, Until: b.Until,
			Text: fmt.Sprintf("%s rests until %s after %s", name(c.Backend, c.Model), restEnd(b, c.At), failed(b))}
	}
	return l.Limits.Hold(c, spent)
}

// Hold is that of a call which the caps of its day do not allow, with what it may
// take and what was spent.
func (l Limits) Hold(c *compartments.Call, spent compartments.Spent) compartments.CallHold {
	tomorrow := DayOf(c.At) + dayMs
	switch {
	case spent.Tokens+c.Tokens() > l.Tokens:
		return compartments.CallHold{Verdict: compartments.CallCap, Until: tomorrow,
			Text: fmt.Sprintf("%d of %d tokens of the day are used, and this call may take %d; models are asked again at %s", spent.Tokens, l.Tokens, c.Tokens(), clock(tomorrow))}
	case c.Cost > 0 && spent.Cost+c.Cost > l.Cost, spent.Cost > 0 && spent.Cost >= l.Cost:
		return compartments.CallHold{Verdict: compartments.CallCap, Until: tomorrow,
			Text: fmt.Sprintf("%s of %s of the day are spent, and this call may cost %s; models are asked again at %s", Money(spent.Cost), Money(l.Cost), Money(c.Cost), clock(tomorrow))}
	}
	return compartments.CallHold{}
}

const dayMs = 24 * 60 * 60 * 1000

// DayOf is when the day of a time began, both in Unix ms.
func DayOf(at int64) int64 { return at - (at%dayMs+dayMs)%dayMs }

// Money writes an amount of micro-units with two to six places.
func Money(micro int64) string {
	whole, rest := micro/1e6, fmt.Sprintf("%06d", micro%1e6)
	for len(rest) > 2 && rest[len(rest)-1] == '0' {
		rest = rest[:len(rest)-1]
	}
	return fmt.Sprintf("%d.%s", whole, rest)
}

// clock is a time of the day for people, in UTC.
func clock(at int64) string { return time.UnixMilli(at).UTC().Format("15:04 UTC") }

func name(backend, model string) string {
	if model == "" {
		return "the model of " + backend
	}
	return model + " (" + backend + ")"
}

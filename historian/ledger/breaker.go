package ledger

import (
	"fmt"
	"time"

	"ctxplugin/compartments"
)

const (
	failuresMost = 3                   // fruitless runs in a row that open a breaker
	restMs       = 5 * 60 * 1000       // that it is open the first time; doubled each time
	restMostMs   = 6 * 60 * 60 * 1000  // that it is open at most
	actMs        = 60 * 60 * 1000      // that it is open when somebody has to act first
	waitMostMs   = 24 * 60 * 60 * 1000 // that a backend can make us wait at most
	patienceMs   = 60 * 1000           // that a run waits itself, when a backend asks for it
)

// Open reports whether a breaker holds calls back at a time, Unix ms. One that
// lies further ahead than it can be was set before the clock was.
func Open(b compartments.Breaker, at int64) bool {
	return at < b.Until && b.Until-at <= waitMostMs
}

// goesOn reports whether a call is a further try, or the repair, of the very run
// whose first call opened the breaker: a run is fruitless once all its tries are.
func goesOn(b compartments.Breaker, c *compartments.Call) bool {
	return (c.Repair || c.Try > 1) && b.Failures >= failuresMost && !b.Verdict.Lasting()
}

// Next is the breaker of a model after a call.
func Next(b compartments.Breaker, c *compartments.Call) compartments.Breaker {
	end := c.At + c.Ms
	switch c.Verdict {
	case compartments.CallGood:
		return compartments.Breaker{}
	case compartments.CallCancelled, compartments.CallHeld, compartments.CallCap, compartments.CallAsked, compartments.CallTooLong:
		return b // none of them says anything about the model
	}
	b.At, b.Verdict, b.Text = end, c.Verdict, c.Detail
	if first := c.Try <= 1 && !c.Repair; first || b.Failures == 0 {
		b.Failures++
	}
	switch {
	case c.Verdict.Lasting():
		return opened(b, end, actMs)
	case c.Verdict == compartments.CallRateLimit:
		if wait := c.RetryAtMs - end; wait > patienceMs {
			return opened(b, end, min(wait, waitMostMs))
		}
	}
	if b.Failures >= failuresMost && !Open(b, end) {
		rest := int64(restMs)
		for range b.Opened {
			rest = min(2*rest, restMostMs)
		}
		return opened(b, end, rest)
	}
	return b
}

func opened(b compartments.Breaker, now, ms int64) compartments.Breaker {
	b.Until = now + ms
	b.Opened = min(b.Opened+1, 16)
	return b
}

// restEnd is when a rest ends, as it is said at a time: with the day, unless it is the
// same one.
func restEnd(b compartments.Breaker, at int64) string {
	if DayOf(b.Until) == DayOf(at) {
		return clock(b.Until)
	}
	return time.UnixMilli(b.Until).UTC().Format("2006-01-02 15:04 UTC")
}

// failed says what made a breaker open.
func failed(b compartments.Breaker) string {
	text := string(b.Verdict)
	if b.Failures > 1 {
		text = fmt.Sprintf("%d fruitless runs, the last %s", b.Failures, text)
	}
	if b.Text != "" {
		text += " (" + b.Text + ")"
	}
	return text
}

// Why says why a model is not asked at a time; empty if it may be.
func Why(b compartments.ModelBreaker, at int64) string {
	if !Open(b.Breaker, at) {
		return ""
	}
	return fmt.Sprintf("%s rests until %s after %s", name(b.Backend, b.Model), restEnd(b.Breaker, at), failed(b.Breaker))
}

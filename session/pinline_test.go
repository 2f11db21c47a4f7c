package session_test

import (
	"testing"

	"ctxplugin/compartments"
	"ctxplugin/session"
)

// A class that newer ones hold instead of is said to be behind them, for no fold
// will show it. It holds again when the newer one ends, and where one message of
// its range has no newer class.
func TestPins_ClassBehindNewerOnes(t *testing.T) {
	h := folded(t, 16_000)
	c := h.first()
	is := func(when string, pin compartments.PinID, want session.PinState) {
		t.Helper()
		if got := h.state(pin); got != want {
			t.Errorf("%s: pin %d is %q, want %q", when, pin, got, want)
		}
	}
	h.pinRange(c.First, c.Last, compartments.Pinned)
	is("at first", 1, session.PinPending)
	h.pinRange(c.First, c.Last, compartments.Compressible)
	is("with a newer class", 1, session.PinBehind)
	is("with a newer class", 2, session.PinInView)
	h.coldly()
	is("after a fold", 1, session.PinBehind)
	h.unpin(2)
	is("without the newer", 1, session.PinPending)
	h.pinRange(c.First+1, c.Last, compartments.Compressible)
	is("with one message of its own", 1, session.PinPending)
}

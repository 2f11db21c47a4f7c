package session

import (
	"strings"
	"sync/atomic"
	"testing"
)

// Every number comes once, however many there are.
func TestEach(t *testing.T) {
	for _, n := range []int{0, 1, eachRun, 2*eachRun - 1, 2 * eachRun, 10*eachRun + 3} {
		calls := make([]atomic.Int32, n)
		each(n, func(i int) { calls[i].Add(1) })
		for i := range calls {
			if c := calls[i].Load(); c != 1 {
				t.Errorf("of %d, number %d came %d times", n, i, c)
			}
		}
	}
}

// What breaks on another goroutine breaks here, where the wire turns it into an
// answer instead of the end of the process.
func TestEach_PanicsInTheCaller(t *testing.T) {
	defer func() {
		if r, _ := recover().(string); !strings.HasPrefix(r, "message 40") {
			t.Errorf("the panic is %q", r)
		}
	}()
	each(10*eachRun, func(i int) {
		if i == 40 {
			panic("message 40")
		}
	})
	t.Error("nothing panicked")
}

// Whichever of the two breaks, the caller hears of it when both are done.
func TestBoth_PanicsInTheCaller(t *testing.T) {
	for _, there := range []bool{true, false} {
		done := false
		func() {
			defer func() {
				if r, _ := recover().(string); !strings.HasPrefix(r, "broken") || !done {
					t.Errorf("there %v: the panic is %q, the other done: %v", there, r, done)
				}
			}()
			fails, works := func() { panic("broken") }, func() { done = true }
			if there {
				both(fails, works)
			} else {
				both(works, fails)
			}
			t.Error("nothing panicked")
		}()
	}
}

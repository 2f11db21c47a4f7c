package session

import (
	"context"
	"fmt"
	"slices"

	"ctxplugin/compartments"
	"ctxplugin/historian"
)

// againMost is how many compartments are remembered that the quick historian wrote in
// the place of the slow one; the oldest are forgotten first, and stay as they are.
const againMost = 64

// owes remembers a compartment that was written in the place of the slow historian.
func (se *Session) owes(c *compartments.Compartment) {
	se.st.Again = slices.DeleteFunc(slices.Clone(se.st.Again), func(a [2]compartments.Ordinal) bool {
		return slices.Contains(c.Members, a[0]) || slices.Contains(c.Members, a[1])
	})
	at, _ := slices.BinarySearchFunc(se.st.Again, c.First, func(a [2]compartments.Ordinal, first compartments.Ordinal) int { return int(a[0] - first) })
	se.st.Again = slices.Insert(se.st.Again, at, [2]compartments.Ordinal{c.First, c.Last})
	if over := len(se.st.Again) - againMost; over > 0 {
		se.st.Again = se.st.Again[over:]
	}
}

// settle forgets what stood in for the slow historian where compartments are
// written that do not, or that take its place, and reports whether anything did.
func (se *Session) settle(written []compartments.Compartment) bool {
	before := len(se.st.Again)
	se.st.Again = slices.DeleteFunc(slices.Clone(se.st.Again), func(a [2]compartments.Ordinal) bool {
		return slices.ContainsFunc(written, func(c compartments.Compartment) bool {
			return !c.Deferred && c.Strategy != compartments.StrategyScan && (slices.Contains(c.Members, a[0]) || slices.Contains(c.Members, a[1]))
		})
	})
	return len(se.st.Again) != before
}

// once takes the newest run of compartments that stood in for the slow historian, as
// much as is written in one go, and forgets them: none is given to it twice. Those
// that serve no longer are forgotten too.
func (se *Session) once() (s span, ok bool) {
	tokens := 0
	seams := se.seams()
	for n := len(se.st.Again); n > 0; n-- {
		r, serves := se.servedAs(se.st.Again[n-1])
		more := ok && (!serves || r.to != s.from || r.to == se.view.hidden || slices.Contains(seams, r.to) || tokens+r.c.RawTokens > sliceTokens)
		if more {
			break
		}
		se.st.Again = se.st.Again[: n-1 : n-1]
		if serves {
			if !ok {
				s.to = r.to
			}
			s.from, ok = r.from, true
			tokens += r.c.RawTokens
		}
	}
	return s, ok
}

// servedAs is the compartment by rule that serves for such messages.
func (se *Session) servedAs(a [2]compartments.Ordinal) (run, bool) {
	for _, r := range se.view.served {
		if r.c.First == a[0] && r.c.Last == a[1] {
			return r, r.c.Strategy != compartments.StrategyScan && r.c.Strategy != compartments.StrategyGrounded
		}
	}
	return run{}, false
}

// standingIn says how much stands in for the slow historian.
func (se *Session) standingIn() string {
	switch n := len(se.st.Again); n {
	case 0:
		return ""
	case 1:
		return ", 1 compartment by rule will be given to a model once more"
	default:
		return fmt.Sprintf(", %d compartments by rule will be given to a model once more", n)
	}
}

// writeAgain has the slow historian write what others wrote in its place, the newest
// first, and reports whether there may be more.
func (s *Sessions) writeAgain(ctx context.Context, id compartments.SessionID) (more bool) {
	var r historian.Range
	err := s.with(ctx, id, func(se *Session) error {
		if len(se.st.Again) == 0 {
			return nil
		}
		slice, ok := se.once()
		if ok {
			var err error
			if r, err = se.rangeOf(ctx, slice); err != nil {
				return err
			}
			r.Closed, more = true, true
		}
		// Before it is asked: after a kill it is not asked again.
		return se.commit(ctx, &compartments.Batch{ListFrom: -1, Lease: se.lease()})
	})
	if err != nil || !more {
		return false
	}
	written, failure := s.patiently(ctx, id, r)
	if ctx.Err() != nil {
		return false
	}
	if failure != nil {
		return true
	}
	err = s.with(ctx, id, func(se *Session) error {
		at, ok := se.standing(r)
		if !ok {
			return nil
		}
		written, err := se.checked(at, written, true)
		if err != nil {
			return nil // what stands there goes on
		}
		for i := range written {
			written[i].Deferred = false // it had its chance
		}
		if !slices.ContainsFunc(written, func(c compartments.Compartment) bool { return c.Strategy == compartments.StrategyGrounded }) {
			return nil
		}
		return se.supersede(ctx, at, written)
	})
	return err == nil
}

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

// againShare is how much of what is due otherwise is worth a request again.
const againShare = 3

// newest is the newest run of compartments that stood in for the slow historian and is
// worth a request, as much of it as is written in one go: the places, and which of
// serving they are. Those that serve no longer are left out of serving.
func (se *Session) newest() (s span, serving [][2]compartments.Ordinal, begin, end int) {
	least := min(se.cfg.Settings.WriteBehind, max(1000, se.st.Stats.Usable/8)) / againShare
	var runs []run
	for _, a := range se.st.Again {
		if r, ok := se.servedAs(a); ok {
			runs, serving = append(runs, r), append(serving, a)
		}
	}
	seams := se.seams()
	for end = len(runs); end > 0; end = begin {
		begin = end - 1
		tokens := runs[begin].c.RawTokens
		for ; begin > 0; begin-- {
			r, next := runs[begin-1], runs[begin].from
			if tokens += r.c.RawTokens; r.to != next || next == se.view.hidden || slices.Contains(seams, next) || tokens > sliceTokens {
				tokens -= r.c.RawTokens
				break
			}
		}
		if tokens >= least {
			return span{runs[begin].from, runs[end-1].to}, serving, begin, end
		}
	}
	return span{}, serving, 0, 0
}

// worthAgain reports whether there is such a run.
func (se *Session) worthAgain() bool {
	if len(se.st.Again) == 0 {
		return false
	}
	s, _, _, _ := se.newest()
	return s.to > s.from
}

// once takes that run, and forgets it: nothing is given to the slow historian twice.
func (se *Session) once() (s span, ok bool) {
	s, serving, begin, end := se.newest()
	se.st.Again = slices.Delete(serving, begin, end)
	return s, s.to > s.from
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
		slice, ok := se.once()
		if !ok {
			return nil
		}
		var err error
		if r, err = se.rangeOf(ctx, slice); err != nil {
			return err
		}
		r.Closed, more = true, true
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

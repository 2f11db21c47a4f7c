package session

import (
	"context"
	"time"

	"ctxplugin/compartments"
	"ctxplugin/historian"
)

// leaseMs is how long a lease lasts that nobody renews, in ms: after a kill the
// slow historian stands still for no longer.
const leaseMs = 60_000

// unleaseTime is how long the end of the program waits for a lease to be given up.
const unleaseTime = 300 * time.Millisecond

// patience is how long what is due waits for the slow historian: less than a lease,
// more than a model mostly takes.
const patience = 45 * time.Second

func (s *Sessions) patience() time.Duration {
	if s.cfg.Patience > 0 {
		return s.cfg.Patience
	}
	return patience
}

// startSlow lets the slow historian work for a session unless it does already. due
// says that there is more than what others wrote in its place.
func (s *Sessions) startSlow(id compartments.SessionID, due bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.slow[id] {
		return
	}
	s.slow[id] = true
	s.behind.Go(func() {
		s.workSlowly(id, due)
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.slow, id)
	})
}

// workSlowly has the slow historian write what is due, and then once more what was
// written in its place, under a lease that is renewed as long as it works.
func (s *Sessions) workSlowly(id compartments.SessionID, due bool) {
	ctx, lost := context.WithCancel(s.ctx)
	defer lost()
	if !due && !s.ready(ctx) {
		return
	}
	if s.cfg.Leases != nil {
		if !s.leased(ctx, id, due) {
			return
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			s.renew(ctx, id, lost)
		}()
		defer func() {
			lost()
			<-done
			ended, cancel := context.WithTimeout(context.WithoutCancel(ctx), unleaseTime)
			defer cancel()
			_ = s.cfg.Leases.Unlease(ended, id, s.cfg.Holder) // or it ends by itself
		}()
	}
	for s.writeSlowly(ctx, id) {
		s.wakeIndex()
	}
	for s.ready(ctx) && s.writeAgain(ctx, id) {
		s.wakeIndex()
	}
}

// ready reports whether the slow historian can be asked for more than what is due.
func (s *Sessions) ready(ctx context.Context) bool {
	return ctx.Err() == nil && (s.cfg.SlowReady == nil || s.cfg.SlowReady(ctx))
}

// leased takes the lease of a session. While another process has it that one writes,
// unless it was killed: so what is due is written meanwhile, and the lease is waited
// for as long as a dead process may have it.
func (s *Sessions) leased(ctx context.Context, id compartments.SessionID, due bool) bool {
	patient := s.patience()
	poll := time.NewTicker(patient / leasePolls)
	defer poll.Stop()
	var waited time.Duration
	for {
		held, err := s.cfg.Leases.Lease(ctx, id, s.cfg.Holder, leaseMs)
		if held || err != nil || !due {
			return held && err == nil
		}
		if waited >= patient {
			s.standIn(ctx, id)
			due = waited < patient+leaseMs*time.Millisecond
		}
		select {
		case <-ctx.Done():
			return false
		case <-poll.C:
			waited += patient / leasePolls
		}
	}
}

// leasePolls is how often a lease is asked for until patience ends.
const leasePolls = 9

// patiently has the slow historian write a range, while what is due is written by
// the quick one as soon as it has waited too long.
func (s *Sessions) patiently(ctx context.Context, id compartments.SessionID, r historian.Range) ([]compartments.Compartment, error) {
	var written []compartments.Compartment
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		written, err = s.cfg.Slow.Write(ctx, r)
	}()
	waited := time.NewTicker(s.patience())
	defer waited.Stop()
	for {
		select {
		case <-done:
			return written, err
		case <-waited.C:
			s.standIn(ctx, id)
		}
	}
}

// standIn has the quick historian write what is due. What fails is tried again, by
// whoever comes next.
func (s *Sessions) standIn(ctx context.Context, id compartments.SessionID) {
	_ = s.with(ctx, id, func(se *Session) error {
		if _, _, ok := se.due(se.st.Stats.Usable); !ok {
			return nil
		}
		se.st.Owed = behindTokens
		return se.writeBehind(ctx)
	})
	s.wakeIndex()
}

// renew keeps a lease until ctx ends, and calls lost where it cannot. A store that
// is busy for once is asked again while the lease lasts.
func (s *Sessions) renew(ctx context.Context, id compartments.SessionID, lost func()) {
	tick := time.NewTicker(leaseMs / 3 * time.Millisecond)
	defer tick.Stop()
	for failed := 0; failed < 2; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		held, err := s.cfg.Leases.Lease(ctx, id, s.cfg.Holder, leaseMs)
		switch {
		case err != nil:
			failed++
		case !held:
			failed = 2
		default:
			failed = 0
		}
	}
	lost()
}

// writeSlowly has the slow historian write the slice that is due, and reports
// whether there may be more. The session is free meanwhile: what was written is
// taken only if the messages stand as they did.
func (s *Sessions) writeSlowly(ctx context.Context, id compartments.SessionID) (more bool) {
	var r historian.Range
	var closed bool
	err := s.with(ctx, id, func(se *Session) (err error) {
		var slice span
		if slice, closed, more = se.due(se.st.Stats.Usable); more {
			r, err = se.rangeOf(ctx, slice)
			r.Closed = closed
		}
		return err
	})
	if err != nil || !more {
		return false
	}
	written, failure := s.patiently(ctx, id, r)
	if ctx.Err() != nil {
		return false
	}
	err = s.with(ctx, id, func(se *Session) error {
		more, err = se.accept(ctx, r, written, failure, closed)
		return err
	})
	return err == nil && more
}

// accept takes what the slow historian wrote, or has the quick one write
// instead. more reports whether it is worth going on.
func (se *Session) accept(ctx context.Context, r historian.Range, written []compartments.Compartment, failure error, closed bool) (more bool, err error) {
	s, ok := se.standing(r)
	if !ok {
		return true, nil // the list is another one by now
	}
	if failure == nil {
		written, failure = se.checked(s, written, closed)
	}
	if failure != nil {
		if written, err = se.write(ctx, s, closed); err != nil {
			se.failed()
			return false, err
		}
	}
	if err := se.supersede(ctx, s, written); err != nil {
		return false, err
	}
	next, _, more := se.due(se.st.Stats.Usable)
	if more && next.from <= s.from {
		return false, nil // what was written does not serve: writing it again would not help
	}
	return more, nil
}

// supersede lets those of the compartments serve that are better than what was written
// for their messages meanwhile, and forgets that this stood in for them.
func (se *Session) supersede(ctx context.Context, s span, written []compartments.Compartment) error {
	settled := se.settle(written)
	if written = se.contested(s.from, written); len(written) > 0 {
		return se.publish(ctx, written, se.lease())
	}
	if settled {
		return se.commit(ctx, &compartments.Batch{ListFrom: -1, Lease: se.lease()})
	}
	return nil
}

// standing is where the messages of a range stand, if they stand in a row with the
// same content.
func (se *Session) standing(r historian.Range) (s span, ok bool) {
	for i := range r.Messages {
		o := r.Messages[i].Ordinal
		if int(o) > len(se.view.place) || se.entry(o).Hash != r.Hashes[i] {
			return span{}, false
		}
		place := se.view.place[o-1]
		if i == 0 {
			s.from = place
		}
		if place < se.view.start || place != s.from+i {
			return span{}, false
		}
	}
	s.to = s.from + len(r.Messages)
	return s, true
}

// contested leaves those of the compartments from a place on, in list order and
// without a gap, that are better than what was written for their messages
// meanwhile. What stands against what ends where both end; where something older
// reaches over that, it stays.
func (se *Session) contested(from int, written []compartments.Compartment) []compartments.Compartment {
	var out []compartments.Compartment
	at := from
	begin, first := from, 0 // of the piece in question
	for i := range written {
		at += len(written[i].Members)
		if se.within(at) {
			continue
		}
		if !se.within(begin) && se.better(written[first:i+1], span{begin, at}) {
			out = append(out, written[first:i+1]...)
		}
		begin, first = at, i+1
	}
	return out
}

// within reports whether a place is inside a compartment that serves, a scanned
// one apart.
func (se *Session) within(place int) bool {
	for _, r := range se.view.served {
		if r.from < place && r.to > place && r.c.Strategy != compartments.StrategyScan {
			return true
		}
	}
	return false
}

// asMuch is how much less the one of two sides may keep to count as keeping as much
// as the other, in percent. Survival is measured by the letters of the built-in
// generator's record, so what says the same in other words seems to keep less.
const asMuch = 10

// better reports whether new compartments of a run are better than those that
// serve there: because they cover what is not covered, keep more, or keep as much
// and were written from the source by a model.
func (se *Session) better(written []compartments.Compartment, s span) bool {
	covered := 0
	var kept [2]int64
	var grounded [2]int
	weigh := func(side int, c *compartments.Compartment) {
		for _, t := range compartments.Rendered {
			for _, permille := range c.Tiers[t].Survival {
				kept[side] += int64(permille) * int64(c.RawTokens)
			}
		}
		if c.Strategy == compartments.StrategyGrounded {
			grounded[side] += c.RawTokens
		}
	}
	for _, r := range se.view.served {
		if r.from >= s.from && r.to <= s.to && r.c.Strategy != compartments.StrategyScan {
			covered += r.to - r.from
			weigh(0, r.c)
		}
	}
	if covered < s.to-s.from {
		return true
	}
	for i := range written {
		weigh(1, &written[i])
	}
	if least := max(kept[0], kept[1]) * (100 - asMuch) / 100; kept[0] < least || kept[1] < least || grounded[0] == grounded[1] {
		return kept[1] > kept[0]
	}
	return grounded[1] > grounded[0]
}

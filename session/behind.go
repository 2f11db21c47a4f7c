package session

import (
	"context"

	"ctxplugin/compartments"
	"ctxplugin/historian"
)

// goOn lets the session go, after the historian has written what is owed: so the
// next request finds it written, and the same requests in the same order give
// the same plans. With a slow historian the session is let go at once.
func (s *Sessions) goOn(se *Session) {
	if !se.loaded || se.st.Owed == 0 || s.ctx.Err() != nil {
		s.release(se)
		return
	}
	if s.cfg.Slow != nil {
		id := se.id
		s.release(se)
		s.startSlow(id)
		return
	}
	s.behind.Go(func() {
		// what fails here is written again, or fails again and loudly, at the next request
		_ = se.writeBehind(s.ctx)
		s.release(se)
		s.wakeIndex()
	})
}

// idleTokens is how much is written when the host says that a turn has ended, in
// tokens: the user reads, and the next request is some seconds away.
const idleTokens = 4 * behindTokens

// idle uses the pause behind a turn.
func (s *Sessions) idle(ctx context.Context, id compartments.SessionID) error {
	se, err := s.hold(ctx, id)
	if err != nil {
		return err
	}
	err = se.run(ctx, func(se *Session) error {
		if _, _, ok := se.due(se.st.Stats.Usable); !ok || se.rests > 0 {
			return nil
		}
		se.touched = true
		se.st.Owed = idleTokens
		return se.commit(ctx, &compartments.Batch{ListFrom: -1})
	})
	s.goOn(se)
	return err
}

// startSlow lets the slow historian work for a session unless it does already.
func (s *Sessions) startSlow(id compartments.SessionID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.slow[id] {
		return
	}
	s.slow[id] = true
	s.behind.Go(func() {
		for s.writeSlowly(id) {
			s.wakeIndex()
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.slow, id)
	})
}

// writeSlowly has the slow historian write the slice that is due, and reports
// whether there may be more. The session is free meanwhile: what was written is
// taken only if the messages stand as they did.
func (s *Sessions) writeSlowly(id compartments.SessionID) (more bool) {
	var r historian.Range
	var closed bool
	err := s.with(s.ctx, id, func(se *Session) (err error) {
		var slice span
		if slice, closed, more = se.due(se.st.Stats.Usable); more {
			r, err = se.rangeOf(s.ctx, slice)
			r.Closed = closed
		}
		return err
	})
	if err != nil || !more {
		return false
	}
	written, failure := s.cfg.Slow.Write(s.ctx, r)
	if s.ctx.Err() != nil {
		return false
	}
	err = s.with(s.ctx, id, func(se *Session) error {
		more, err = se.accept(s.ctx, r, written, failure, closed)
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
	return true, se.publish(ctx, written)
}

// standing is where the messages of a range stand, if they stand in a row, with
// the same content, and no compartment reaches over their ends.
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
	for _, served := range se.view.served {
		if served.from < s.from && served.to > s.from || served.from < s.to && served.to > s.to {
			return span{}, false
		}
	}
	return s, true
}

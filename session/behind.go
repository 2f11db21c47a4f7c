package session

import (
	"context"

	"ctxplugin/compartments"
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

package session

import (
	"context"
	"time"

	"ctxplugin/compartments"
)

// goOn lets the session go, after the historian has written what is owed: so the
// next request finds it written, and the same requests in the same order give
// the same plans. With a slow historian the session is let go at once.
func (s *Sessions) goOn(se *Session) {
	if due := se.loaded && se.st.Owed > 0; s.ctx.Err() != nil || !due && (s.cfg.Slow == nil || !se.loaded || !se.worthAgain()) {
		s.release(se)
		return
	} else if s.cfg.Slow != nil {
		id := se.id
		s.release(se)
		s.startSlow(id, due)
		return
	}
	s.behind.Go(func() {
		s.pause(se)
		// what fails here is written again, or fails again and loudly, at the next request
		_ = se.writeBehind(s.ctx)
		s.release(se)
		s.wakeIndex()
	})
}

// pause waits a moment while nobody asks for the session: the host builds its
// request out of the answer meanwhile, and on two cores what is done beside that
// slows it. Who asks ends the pause, and finds all written as without it.
func (s *Sessions) pause(se *Session) {
	select {
	case <-se.asked: // by somebody who has been here since
	default:
	}
	s.mu.Lock()
	waits := se.held > 1
	s.mu.Unlock()
	if waits {
		return
	}
	timer := time.NewTimer(s.cfg.WriteAfter)
	defer timer.Stop()
	select {
	case <-s.ctx.Done():
	case <-se.asked:
	case <-timer.C:
	}
}

// idleTokens is how much is written when the host says that a turn has ended, in
// tokens: the user reads, and the next request is some seconds away.
const idleTokens = 4 * behindTokens

// idle uses the pause behind a turn: what would be folded where the next one begins
// is folded now, so that nobody waits for it there, and the historian goes on.
func (s *Sessions) idle(ctx context.Context, id compartments.SessionID) error {
	se, err := s.hold(ctx, id)
	if err != nil {
		return err
	}
	var news News
	err = s.holding(se, func() error {
		return se.run(ctx, func(se *Session) error {
			batch := &compartments.Batch{ListFrom: -1}
			if news, err = se.ahead(ctx, batch); err != nil {
				return err
			}
			if _, _, ok := se.due(se.st.Stats.Usable); ok && se.rests == 0 {
				se.touched = true
				se.st.Owed = idleTokens
			}
			if !se.touched {
				return nil
			}
			return se.commit(ctx, batch)
		})
	})
	if err == nil && news.Standing != nil {
		s.tellPlan(se, news)
	}
	s.goOn(se)
	return err
}

package main

import (
	"context"
	"errors"
	"slices"

	"ctxplugin/rpc"
	"ctxplugin/session"
)

// tell says something to the user, once. s.mu is held.
func (s *service) tell(level, text string) {
	if slices.Contains(s.told, text) {
		return
	}
	s.told = append(s.told, text)
	s.log.Warn("notice", "urgency", level, "text", text)
	s.post(notice{level, text})
}

// post hands a notice to the goroutine that waits for the host. s.mu is held.
func (s *service) post(n notice) {
	if s.host == nil || !s.config.Notifications || s.closed {
		return
	}
	if s.notices == nil {
		notices := make(chan notice, noticesKept) // Close takes it out of s, maybe before the goroutine has begun
		s.notices = notices
		s.telling.Go(func() { s.pass(notices) })
	}
	select {
	case s.notices <- n:
	default:
		s.log.Warn("the host takes no more notices")
	}
}

// pass gives notices to the host until the channel is closed.
func (s *service) pass(notices <-chan notice) {
	for n := range notices {
		if err := s.host.Notify(context.Background(), n.level, n.text); err != nil && !errors.Is(err, rpc.ErrNotOffered) {
			s.log.Warn("a notice did not reach the host", "why", err.Error())
		}
	}
}

// takesPlans reports whether the host takes plans between two requests.
func (s *service) takesPlans() bool {
	if s.host == nil {
		return false
	}
	hello, ok := s.host.Hello()
	return ok && hello.Plan
}

// planned tells the host of a plan at once, so that it comes before all answers that
// come later.
func (s *service) planned(n session.News) {
	if err := s.host.Plan(context.Background(), n); err != nil && !errors.Is(err, rpc.ErrHostGone) {
		s.log.Warn("a plan did not reach the host", "why", err.Error())
	}
}

package session

import (
	"context"
	"fmt"
	"sync"
	"time"

	"ctxplugin/compartments"
	"ctxplugin/decay"
	"ctxplugin/historian"
)

// Config is what sessions are made of. Store, Historian, Scan, Expander, Count
// and Settings are needed.
type Config struct {
	Store Store
	// Historian is quick: it writes within a pass where a fold cannot wait, and
	// behind answers while the session is held. It calls no model.
	Historian Historian
	// Slow, if set, writes what is due behind answers instead of Historian. It may
	// take minutes or fail: the session is free meanwhile, no request waits for
	// it, and where it fails Historian writes. It gives up when its context ends.
	// What it marks as deferred, and what Historian writes in its place, it is given
	// once more when it can be asked again.
	Slow Historian
	// Leases, if set, keep two processes from having Slow write for one session at
	// once. Holder names this run of the program.
	Leases Leases
	Holder string
	// SlowReady, if set, reports whether Slow could be asked for more than what is
	// due: a model is reached, and nothing holds it.
	SlowReady func(ctx context.Context) bool
	// Patience is how long what is due waits for Slow, or for the lease of another
	// process, before Historian writes it meanwhile; 0 means 45 s.
	Patience time.Duration
	// SlowStatus, if set, says in one line what Slow does for a session and why not.
	SlowStatus func(ctx context.Context, id compartments.SessionID) string
	// Scan makes a compartment with an anchor alone, without reading outputs.
	Scan     func(historian.Range) compartments.Compartment
	Expander Expander
	// Count counts tokens. It may be called from several goroutines at once.
	Count    func(string) int
	Settings decay.Settings
	// Notify tells the user something, once for each text and session.
	Notify func(id compartments.SessionID, level, text string)
	// TakesPlans, if set, reports whether the host takes news of plans between two
	// requests, and Planned gives it some. Both may be called from any goroutine.
	TakesPlans func() bool
	Planned    func(News)
	// LookEvery is how often the store is looked at for changes that other processes
	// made, while the host takes a plan for known; 0 means 200 ms.
	LookEvery time.Duration
	// IndexAfter is how long nothing must have happened before stored messages
	// are made searchable; 0 means 100 ms.
	IndexAfter time.Duration
	// WriteAfter is how long the historian waits behind an answer while nothing is
	// asked of the session; default 150 ms.
	WriteAfter time.Duration
}

// Sessions are all sessions that this process works on. Methods may be called
// from any goroutine; calls for one session are answered in the order in which
// they came to hold it.
type Sessions struct {
	cfg    Config
	ctx    context.Context
	cancel context.CancelFunc
	behind sync.WaitGroup // work that goes on after an answer

	mu   sync.Mutex
	open map[compartments.SessionID]*Session
	slow map[compartments.SessionID]bool // sessions that the slow historian works for
	uses int64                           // counts up; the least recently used session is closed first

	stored chan struct{} // buffered by one: something waits to be indexed
	known  chan struct{} // buffered by one: the host takes a plan for known
}

// sessionsOpen is how many sessions stay in memory; all others are read again
// when they are needed.
const sessionsOpen = 24

// New returns sessions over a store. Close ends them.
func New(cfg Config) *Sessions {
	if cfg.IndexAfter == 0 {
		cfg.IndexAfter = 100 * time.Millisecond
	}
	if cfg.WriteAfter == 0 {
		cfg.WriteAfter = 150 * time.Millisecond
	}
	if cfg.LookEvery == 0 {
		cfg.LookEvery = 200 * time.Millisecond
	}
	if cfg.Planned == nil {
		cfg.TakesPlans, cfg.Planned = nil, func(News) {}
	}
	if cfg.TakesPlans == nil {
		cfg.TakesPlans = func() bool { return false }
	}
	if cfg.Notify == nil {
		cfg.Notify = func(compartments.SessionID, string, string) {}
	}
	s := &Sessions{cfg: cfg, open: map[compartments.SessionID]*Session{}, slow: map[compartments.SessionID]bool{}, stored: make(chan struct{}, 1), known: make(chan struct{}, 1)}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.behind.Go(s.index)
	s.behind.Go(s.look)
	return s
}

// Close stops the work behind answers and waits for it, or for ctx. What was
// committed stays; the store is the caller's to close.
func (s *Sessions) Close(ctx context.Context) error {
	s.cancel()
	done := make(chan struct{})
	go func() {
		s.behind.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("work behind answers goes on: %w", ctx.Err())
	}
}

// hold returns the session with its gate taken. release lets it go.
func (s *Sessions) hold(ctx context.Context, id compartments.SessionID) (*Session, error) {
	if id == "" {
		return nil, compartments.Errorf(compartments.CodeBadInput, "sessionID is missing")
	}
	s.mu.Lock()
	var closed *Session
	se := s.open[id]
	if se == nil {
		closed = s.evict()
		se = &Session{cfg: &s.cfg, id: id, gate: make(chan struct{}, 1), asked: make(chan struct{}, 1), told: map[string]bool{}}
		s.open[id] = se
	}
	s.uses++
	se.used = s.uses
	se.held++
	s.mu.Unlock()
	if closed != nil { // nobody looks after it any more
		closed.gate <- struct{}{}
		closed.outdated(false)
		<-closed.gate
	}
	select {
	case se.gate <- struct{}{}:
		return se, nil
	default:
	}
	select {
	case se.asked <- struct{}{}:
	default:
	}
	select {
	case se.gate <- struct{}{}:
		return se, nil
	case <-ctx.Done():
		s.mu.Lock()
		defer s.mu.Unlock()
		se.held--
		return nil, compartments.Errorf(compartments.CodeCancelled, "wait for session %s: %w", id, ctx.Err())
	}
}

func (s *Sessions) release(se *Session) {
	<-se.gate
	s.mu.Lock()
	defer s.mu.Unlock()
	se.held--
}

// holding calls f while the session is held, and lets the session go only if f panics.
func (s *Sessions) holding(se *Session, f func() error) error {
	ended := false
	defer func() {
		if !ended {
			s.release(se)
		}
	}()
	err := f()
	ended = true
	return err
}

// evict drops the least recently used session that nobody holds or waits for, and
// returns it. s.mu is held.
func (s *Sessions) evict() *Session {
	if len(s.open) < sessionsOpen {
		return nil
	}
	var oldest *Session
	for _, se := range s.open {
		if se.held == 0 && se.incoming == nil && (oldest == nil || se.used < oldest.used) {
			oldest = se
		}
	}
	if oldest != nil {
		delete(s.open, oldest.id)
	}
	return oldest
}

// with runs f while the session is held, read from the store if need be. When
// another process committed first, the session is read again and f runs once
// more.
func (s *Sessions) with(ctx context.Context, id compartments.SessionID, f func(*Session) error) error {
	se, err := s.hold(ctx, id)
	if err != nil {
		return err
	}
	defer s.release(se)
	return se.run(ctx, f)
}

// current does what with does, on the session as it is stored now: another process,
// such as a command that the user gave, may have changed it since it was read. What
// ends in a commit in any case learns that there.
func (s *Sessions) current(ctx context.Context, id compartments.SessionID, f func(*Session) error) error {
	return s.with(ctx, id, func(se *Session) error {
		stored, err := s.cfg.Store.Version(ctx, id)
		if err != nil {
			return err
		}
		if stored != se.version {
			return errReread
		}
		return f(se)
	})
}

// index makes stored messages searchable while nothing else goes on.
func (s *Sessions) index() {
	timer := time.NewTimer(s.cfg.IndexAfter)
	defer timer.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-s.stored:
			timer.Reset(s.cfg.IndexAfter)
		case <-timer.C:
			for {
				left, err := s.cfg.Store.Index(s.ctx, 64)
				if err != nil || left == 0 || s.ctx.Err() != nil || len(s.stored) > 0 {
					break // an error shows again, and loudly, at the next commit
				}
			}
		}
	}
}

func (s *Sessions) wakeIndex() {
	select {
	case s.stored <- struct{}{}:
	default:
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"ctxplugin/compartments"
	"ctxplugin/expand"
	"ctxplugin/historian"
	"ctxplugin/session"
	"ctxplugin/sqlite"
	"ctxplugin/tokens"
)

// ready returns the sessions, opening a database if need be. The error is that of
// opening the user's, with its code.
func (s *service) ready() (*backing, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errShuttingDown
	}
	if s.now != nil && (s.now.folder == "" || time.Now().Before(s.retryAt)) {
		return s.now, nil
	}
	for _, w := range append(slices.Clone(s.config.warnings), s.projectWarnings()...) {
		s.tell("warning", w)
	}
	// A request that is given up must not leave the next one without database.
	store, err := s.openStore(s.life)
	switch {
	case err != nil && s.life.Err() != nil:
		return nil, errShuttingDown
	case err == nil:
		if s.now != nil {
			s.tell("info", "The database can be used again: sessions are kept in "+store.Path()+".")
		}
		for _, note := range store.Notes() {
			s.tell("warning", note)
		}
		s.put(&backing{store: store})
	case s.now == nil:
		if err := s.standIn(err); err != nil {
			return nil, err
		}
	}
	if s.now.folder != "" {
		s.wait = min(max(2*s.wait, firstRetry), longestWait)
		s.retryAt = time.Now().Add(s.wait)
	}
	return s.now, nil
}

var errShuttingDown = compartments.Errorf(compartments.CodeBusy, "ctxplugin is shutting down")

// openStore opens the user's database.
func (s *service) openStore(ctx context.Context) (*sqlite.Store, error) {
	path := s.config.Database
	if path == "" {
		return nil, compartments.Errorf(compartments.CodeStorage, "no home folder is known to keep the database in; set HOME, or name a file with --db")
	}
	// A file that a flag or a setting names may be anything of the user's.
	options := s.options
	options.Own = s.config.sources["database"] == ""
	if s.now != nil { // turns must not wait for a lock that only may be gone
		quick := options
		quick.BusyTimeout = probeFor
		probe, err := sqlite.Open(ctx, path, quick)
		if err != nil {
			return nil, err
		}
		if err := probe.Close(); err != nil {
			return nil, err
		}
	}
	store, err := sqlite.Open(ctx, path, options)
	if err != nil {
		s.log.Error("open the database", "path", path, "code", string(compartments.CodeOf(err)), "why", err.Error())
		return nil, err
	}
	s.log.Info("opened the database", "path", path)
	return store, nil
}

// standIn makes a temporary database take the place of one that cannot be used,
// for the reason why. It returns why if it cannot. s.mu is held.
func (s *service) standIn(why error) error {
	said := fmt.Sprintf("The database cannot be used: %v.", why)
	if !s.temporary {
		return why
	}
	folder, err := os.MkdirTemp("", "ctxplugin-")
	if err == nil {
		var store *sqlite.Store
		if store, err = sqlite.Open(s.life, filepath.Join(folder, "sessions.db"), sqlite.Options{Temporary: true}); err == nil {
			s.put(&backing{store: store, folder: folder})
			s.tell("error", said+" Sessions are kept in a temporary one until it can, or until the host ends.")
			return nil
		}
		_ = os.RemoveAll(folder)
	}
	if s.life.Err() != nil {
		return errShuttingDown
	}
	s.log.Error("open a temporary database", "why", err.Error())
	s.tell("error", said+" Old messages are cut off instead of faded.")
	return why
}

// writer is a historian that can also scan.
type writer interface {
	session.Historian
	Scan(historian.Range) compartments.Compartment
}

// put makes sessions over a store and serves from them. s.mu is held.
func (s *service) put(b *backing) {
	go tokens.Preload() // ends by itself; the first count would wait for it
	count := tokens.NewCached(tokens.NewCache(countsKept)).Count
	builtin := historian.New(count)
	settings := s.config.Settings.Ablated(s.ablated())
	settings.Prefer = s.preferred(settings.Prefer)
	settings.ForceTier = s.forcedTier()
	var writer writer = builtin
	if settings.Heads() {
		writer = historian.Heads{Builtin: builtin}
	}
	c := session.Config{
		Store: b.store, Historian: writer, Scan: writer.Scan, Expander: expand.New(b.store, count), Count: count, Settings: settings,
		Notify: func(id compartments.SessionID, level, text string) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.log.Info("notice", "session", string(id), "urgency", level, "text", text)
			s.post(notice{level, text})
		},
		TakesPlans: s.takesPlans, Planned: s.planned,
	}
	s.slowHistorian(b, builtin, &c)
	b.sessions = session.New(c)
	if s.now != nil {
		s.retired = append(s.retired, s.now)
	}
	s.now = b
}

// failed looks at the error of a request that changes a session. If the user's
// database does not take writes any more (a full disk, say), a temporary one
// stands in, and the host is told to send the list again.
func (s *service) failed(b *backing, err error) error {
	if err == nil || compartments.CodeOf(err) != compartments.CodeStorage || b.folder != "" {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return err
	}
	if s.now == b && s.standIn(err) != nil {
		return err
	}
	s.wait = min(max(2*s.wait, firstRetry), longestWait)
	s.retryAt = time.Now().Add(s.wait)
	return &compartments.Error{Code: compartments.CodeResync, Err: err,
		Text: fmt.Sprintf("the database failed and a temporary one stands in, so send the list again: %v", err),
		Data: map[string]any{"keep": 0, "check": compartments.EmptyRevision().String()}}
}

// close ends what goes on behind answers, and tidies the database. All that was
// answered is in the file or its write-ahead log by then, and all else is done
// again later, so none of it is worth more than ctx: late says what was left.
func (b *backing) close(ctx context.Context) (late, err error) {
	stopped := b.sessions.Close(ctx)
	stored := make(chan error, 1)
	go func() { stored <- b.store.Close() }() // SQLite's wait for a disk hears of no context
	select {
	case err = <-stored:
	case <-ctx.Done():
		late = fmt.Errorf("the write-ahead log stays until the database is opened again: %w", ctx.Err())
	}
	if errors.Is(stopped, context.DeadlineExceeded) {
		late = errors.Join(stopped, late)
	} else {
		err = errors.Join(stopped, err)
	}
	if b.folder != "" {
		err = errors.Join(err, os.RemoveAll(b.folder))
	}
	return late, err
}

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"ctxplugin/compartments"
	"ctxplugin/expand"
	"ctxplugin/historian"
	"ctxplugin/rpc"
	"ctxplugin/session"
	"ctxplugin/sqlite"
	"ctxplugin/tokens"
)

// What the packages ask of each other, checked where they meet.
var (
	_ session.Store     = (*sqlite.Store)(nil)
	_ expand.Source     = (*sqlite.Store)(nil)
	_ session.Historian = (*historian.Builtin)(nil)
	_ rpc.Sessions      = (*session.Sessions)(nil)
	_ rpc.Sessions      = (*service)(nil)
)

const (
	countsKept  = 8192            // token counts of long texts, about 110 bytes each
	retryAfter  = 2 * time.Second // between attempts to open a database that could not be opened
	noticesKept = 32              // notices that wait for the host; what is more is only logged
)

// service is the sessions as the wire sees them: the database is opened with the
// first request that needs it, and again some time after that failed.
type service struct {
	config config
	log    *slog.Logger
	host   *rpc.Host // nil outside of serve

	mu       sync.Mutex // guards what follows
	sessions *session.Sessions
	store    *sqlite.Store
	failed   error // why the last attempt to open failed
	failedAt time.Time
	told     []string // notices given
	closed   bool

	notices chan notice // to the goroutine that tells the host; nil until there is one
	telling sync.WaitGroup
}

type notice struct{ level, text string }

func newService(c config, log *slog.Logger, host *rpc.Host) *service {
	return &service{config: c, log: log, host: host}
}

// ready returns the sessions, opening the database if need be. The error is that
// of opening it, with its code.
func (s *service) ready(ctx context.Context) (*session.Sessions, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions != nil {
		return s.sessions, nil
	}
	if s.closed {
		return nil, compartments.Errorf(compartments.CodeBusy, "ctxplugin is shutting down")
	}
	if s.failed != nil && time.Since(s.failedAt) < retryAfter {
		return nil, s.failed
	}
	for _, w := range s.config.warnings {
		s.tell("warning", w)
	}
	store, err := s.openStore(ctx)
	if err != nil {
		s.failed, s.failedAt = err, time.Now()
		s.tell("error", fmt.Sprintf("The database cannot be used, so old messages are cut off instead of faded: %v", err))
		return nil, err
	}
	if s.failed != nil {
		s.failed = nil
		s.tell("info", "The database can be used again.")
	}
	for _, note := range store.Notes() {
		s.tell("warning", note)
	}
	go tokens.Preload() // ends by itself; the first count would wait for it
	count := tokens.NewCached(tokens.NewCache(countsKept)).Count
	writer := historian.New(count)
	s.store = store
	s.sessions = session.New(session.Config{
		Store: store, Historian: writer, Scan: writer.Scan, Expander: expand.New(store, count), Count: count, Settings: s.config.Settings,
		Notify: func(id compartments.SessionID, level, text string) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.log.Info("notice", "session", string(id), "level", level, "text", text)
			s.post(notice{level, text})
		},
	})
	return s.sessions, nil
}

func (s *service) openStore(ctx context.Context) (*sqlite.Store, error) {
	if s.config.Database == "" {
		return nil, compartments.Errorf(compartments.CodeStorage, "no home folder is known to keep the database in; set HOME, or name a file with --db")
	}
	// A request that is given up must not leave the next one without database.
	store, err := sqlite.Open(context.WithoutCancel(ctx), s.config.Database, sqlite.Options{})
	if err != nil {
		s.log.Error("open the database", "path", s.config.Database, "code", string(compartments.CodeOf(err)), "why", err.Error())
		return nil, err
	}
	s.log.Info("opened the database", "path", s.config.Database)
	return store, nil
}

// tell says something to the user, once. s.mu is held.
func (s *service) tell(level, text string) {
	if slices.Contains(s.told, text) {
		return
	}
	s.told = append(s.told, text)
	s.log.Warn("notice", "level", level, "text", text)
	s.post(notice{level, text})
}

// post hands a notice to the goroutine that waits for the host. s.mu is held.
func (s *service) post(n notice) {
	if s.host == nil || !s.config.Notifications || s.closed {
		return
	}
	if s.notices == nil {
		s.notices = make(chan notice, noticesKept)
		s.telling.Go(func() { s.pass(s.notices) })
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

// Close implements rpc.Sessions.
func (s *service) Close(ctx context.Context) error {
	s.mu.Lock()
	sessions, store, notices := s.sessions, s.store, s.notices
	s.sessions, s.store, s.notices, s.closed = nil, nil, nil, true
	s.mu.Unlock()
	var err error
	if sessions != nil {
		err = errors.Join(sessions.Close(ctx), store.Close())
	}
	if notices != nil {
		close(notices)
		s.telling.Wait()
	}
	return err
}

// Tools implements rpc.Sessions. It is asked at initialize, so it needs neither
// sessions nor database.
func (s *service) Tools() []session.Tool {
	var out []session.Tool
	for _, d := range expand.Definitions() {
		out = append(out, session.Tool{Name: d.Name, Description: d.Description, InputSchema: d.InputSchema})
	}
	return out
}

// Sync implements rpc.Sessions, as do the methods below.
func (s *service) Sync(ctx context.Context, r session.SyncRequest) (string, error) {
	ready, err := s.ready(ctx)
	if err != nil {
		return "", err
	}
	return ready.Sync(ctx, r)
}

func (s *service) Transform(ctx context.Context, r session.TransformRequest) (session.TransformReply, error) {
	ready, err := s.ready(ctx)
	if err != nil {
		return session.TransformReply{}, err
	}
	return ready.Transform(ctx, r)
}

func (s *service) Event(ctx context.Context, e session.Event) error {
	ready, err := s.ready(ctx)
	if err != nil {
		return err
	}
	return ready.Event(ctx, e)
}

func (s *service) CallTool(ctx context.Context, id compartments.SessionID, name string, arguments []byte) (session.ToolResult, error) {
	ready, err := s.ready(ctx)
	if err != nil {
		return session.ToolResult{}, err
	}
	return ready.CallTool(ctx, id, name, arguments)
}

func (s *service) Expand(ctx context.Context, r session.ExpandRequest) (session.ExpandReply, error) {
	ready, err := s.ready(ctx)
	if err != nil {
		return session.ExpandReply{}, err
	}
	return ready.Expand(ctx, r)
}

func (s *service) Fold(ctx context.Context, id compartments.SessionID, dryRun bool) (session.FoldReply, error) {
	ready, err := s.ready(ctx)
	if err != nil {
		return session.FoldReply{}, err
	}
	return ready.Fold(ctx, id, dryRun)
}

func (s *service) Status(ctx context.Context, id compartments.SessionID) (session.Status, error) {
	ready, err := s.ready(ctx)
	if err != nil {
		return session.Status{}, err
	}
	return ready.Status(ctx, id)
}

func (s *service) Forget(ctx context.Context, id compartments.SessionID) error {
	ready, err := s.ready(ctx)
	if err != nil {
		return err
	}
	return ready.Forget(ctx, id)
}

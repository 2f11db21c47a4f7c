package main

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"ctxplugin/compartments"
	"ctxplugin/expand"
	"ctxplugin/historian"
	"ctxplugin/historian/draft"
	"ctxplugin/rpc"
	"ctxplugin/session"
	"ctxplugin/sqlite"
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
	countsKept  = 8192 // token counts of long texts, about 110 bytes each
	noticesKept = 32   // notices that wait for the host; what is more is only logged

	// Between attempts to go back to a database that could not be used; doubled by
	// every failed one.
	firstRetry  = 15 * time.Second
	longestWait = 10 * time.Minute
	probeFor    = 50 * time.Millisecond // how long such an attempt may wait for a lock
)

// service is the sessions as the wire sees them. The database is opened with the
// first request that needs it. While it cannot be used, sessions are kept in a
// temporary one, so that turns go on as usual and only what outlives the process
// is missing.
type service struct {
	config    config
	log       *slog.Logger
	host      *rpc.Host      // nil outside of serve
	temporary bool           // whether a temporary database may stand in
	options   sqlite.Options // of the user's database

	life context.Context // of databases that are being opened; ends with Close
	end  context.CancelFunc

	mu      sync.Mutex // guards what follows
	now     *backing   // nil until a request needs it
	retired []*backing // replaced by now; closed at the end, because requests may still run there
	retryAt time.Time  // when to try the user's database again, if now is not it
	wait    time.Duration
	told    []string                               // notices given
	states  map[compartments.SessionID]draft.State // what the historian does that asks models
	toldOf  []toldOf                               // failures of its models that the user was told of
	holder  string                                 // of leases: this run of the program
	closed  bool

	notices chan notice // to the goroutine that tells the host; nil until there is one
	telling sync.WaitGroup
}

// backing is sessions with what keeps them.
type backing struct {
	sessions *session.Sessions
	store    *sqlite.Store
	folder   string // of a temporary database; removed with it
}

type notice struct{ level, text string }

func newService(c config, log *slog.Logger, host *rpc.Host) *service {
	s := &service{config: c, log: log, host: host, temporary: host != nil}
	s.life, s.end = context.WithCancel(context.Background())
	return s
}

// Close implements rpc.Sessions. A database that is being opened is given up.
func (s *service) Close(ctx context.Context) error {
	s.end()
	s.mu.Lock()
	all, notices := s.retired, s.notices
	if s.now != nil {
		all = append(all, s.now)
	}
	s.now, s.retired, s.notices, s.closed = nil, nil, nil, true
	s.mu.Unlock()
	var err error
	for _, b := range all {
		late, failed := b.close(ctx)
		if late != nil {
			s.log.Warn("the end did not wait", "for", late.Error())
		}
		err = errors.Join(err, failed)
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
	b, err := s.ready()
	if err != nil {
		return "", err
	}
	rev, err := b.sessions.Sync(ctx, r)
	return rev, s.failed(b, err)
}

func (s *service) Transform(ctx context.Context, r session.TransformRequest) (session.TransformReply, error) {
	b, err := s.ready()
	if err != nil {
		return session.TransformReply{}, err
	}
	reply, err := b.sessions.Transform(ctx, r)
	return reply, s.failed(b, err)
}

func (s *service) Event(ctx context.Context, e session.Event) error {
	b, err := s.ready()
	if err != nil {
		return err
	}
	if e.Type == "deleted" {
		return s.forget(ctx, b, e.Session)
	}
	return b.sessions.Event(ctx, e)
}

func (s *service) CallTool(ctx context.Context, id compartments.SessionID, name string, arguments []byte) (session.ToolResult, error) {
	b, err := s.ready()
	if err != nil {
		return session.ToolResult{}, err
	}
	return b.sessions.CallTool(ctx, id, name, arguments)
}

func (s *service) Expand(ctx context.Context, r session.ExpandRequest) (session.ExpandReply, error) {
	b, err := s.ready()
	if err != nil {
		return session.ExpandReply{}, err
	}
	return b.sessions.Expand(ctx, r)
}

func (s *service) Fold(ctx context.Context, id compartments.SessionID, dryRun bool) (session.FoldReply, error) {
	b, err := s.ready()
	if err != nil {
		return session.FoldReply{}, err
	}
	return b.sessions.Fold(ctx, id, dryRun)
}

func (s *service) Undo(ctx context.Context, id compartments.SessionID) (session.UndoReply, error) {
	b, err := s.ready()
	if err != nil {
		return session.UndoReply{}, err
	}
	reply, err := b.sessions.Undo(ctx, id)
	return reply, s.failed(b, err)
}

func (s *service) Status(ctx context.Context, id compartments.SessionID) (session.Status, error) {
	b, err := s.ready()
	if err != nil {
		return session.Status{}, err
	}
	st, err := b.sessions.Status(ctx, id)
	st.Numbers = s.config.numbers() // by the names, and in the units, that the user sets them in
	if err == nil {
		st.Notices = slices.Concat(s.config.warnings, s.projectWarnings(), st.Notices)
	}
	return st, err
}

// Explain is not asked over the wire, nor are Preview and Verify.
func (s *service) Explain(ctx context.Context, id compartments.SessionID, turning compartments.CompartmentID) (session.Explanation, error) {
	b, err := s.ready()
	if err != nil {
		return session.Explanation{}, err
	}
	return b.sessions.Explain(ctx, id, turning)
}

func (s *service) Preview(ctx context.Context, id compartments.SessionID, now int64) (session.Preview, error) {
	b, err := s.ready()
	if err != nil {
		return session.Preview{}, err
	}
	return b.sessions.Preview(ctx, id, now)
}

func (s *service) Verify(ctx context.Context, id compartments.SessionID) (session.Verified, error) {
	b, err := s.ready()
	if err != nil {
		return session.Verified{}, err
	}
	return b.sessions.Verify(ctx, id)
}

func (s *service) Forget(ctx context.Context, id compartments.SessionID) error {
	b, err := s.ready()
	if err != nil {
		return err
	}
	return s.forget(ctx, b, id)
}

// forget removes a session wherever it is kept. It must not say that it has while
// the user's database cannot be reached.
func (s *service) forget(ctx context.Context, b *backing, id compartments.SessionID) error {
	s.mu.Lock()
	all := append(slices.Clone(s.retired), b)
	s.mu.Unlock()
	var err error
	for _, b := range all {
		err = errors.Join(err, b.sessions.Forget(ctx, id))
	}
	if err == nil && b.folder != "" {
		err = compartments.Errorf(compartments.CodeStorage,
			"session %s was removed from the temporary database, but %s cannot be used: forget it again when it can", id, s.config.Database)
	}
	return err
}

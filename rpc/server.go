package rpc

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"ctxplugin/compartments"
	"ctxplugin/session"
)

// ProtocolVersion is the one version of the protocol that is served.
const ProtocolVersion = 1

// Sessions is what the wire needs of the sessions. Methods are called in order
// for one session and beside each other for several; ctx ends when the request is
// cancelled or the connection is over. Errors that carry a compartments.Code
// reach the host with it.
type Sessions interface {
	// Sync takes a piece of the message list and returns the revision of the list
	// after it. The request's Messages share the memory of their line: an
	// implementation that keeps one for long copies it.
	Sync(ctx context.Context, r session.SyncRequest) (rev string, err error)
	Transform(ctx context.Context, r session.TransformRequest) (session.TransformReply, error)
	Event(ctx context.Context, e session.Event) error
	// Tools lists the tools for the model. It is called by the reader at
	// initialize, so it must not wait for anything.
	Tools() []session.Tool
	// CallTool runs a tool; arguments is one JSON object.
	CallTool(ctx context.Context, id compartments.SessionID, name string, arguments []byte) (session.ToolResult, error)
	Expand(ctx context.Context, r session.ExpandRequest) (session.ExpandReply, error)
	Fold(ctx context.Context, id compartments.SessionID, dryRun bool) (session.FoldReply, error)
	Undo(ctx context.Context, id compartments.SessionID) (session.UndoReply, error)
	Status(ctx context.Context, id compartments.SessionID) (session.Status, error)
	Pin(ctx context.Context, r session.PinRequest) (session.PinReply, error)
	Unpin(ctx context.Context, r session.UnpinRequest) (session.PinReply, error)
	Pins(ctx context.Context, id compartments.SessionID, ended bool) ([]session.PinLine, error)
	Forget(ctx context.Context, id compartments.SessionID) error
	// Close makes everything safe. It is called once, when no request runs any
	// more, or none that runs can be waited for.
	Close(ctx context.Context) error
}

// Config is what Serve needs. In is closed at the end if it can be.
type Config struct {
	In       io.Reader
	Out      io.Writer
	Sessions Sessions
	Host     *Host // connected by Serve; nil if nobody calls the host
	Name     string
	Version  string
	Log      *slog.Logger // nil: nothing is logged
	Limits   Limits       // zero fields are defaults
}

// Limits bound one connection.
type Limits struct {
	Line    int           // bytes of one line; default 64 MiB
	Jobs    int           // requests that wait or run; default 1024
	Bytes   int           // of the lines of requests that wait or run; default 192 MiB
	Drain   time.Duration // how long requests may go on after the input ended; default 500 ms
	Closing time.Duration // from the end until Serve returns, whatever hangs; default 1.8 s
}

func (l Limits) orDefault() Limits {
	if l.Line == 0 {
		l.Line = 64 << 20
	}
	if l.Jobs == 0 {
		l.Jobs = 1024
	}
	if l.Bytes == 0 {
		l.Bytes = 192 << 20
	}
	if l.Drain == 0 {
		l.Drain = 500 * time.Millisecond
	}
	if l.Closing == 0 {
		l.Closing = 1800 * time.Millisecond
	}
	return l
}

// server is one connection.
type server struct {
	Config
	stream *stream
	conn   *jsonrpc2.Conn
	lanes  *lanes

	base context.Context    // of all requests
	stop context.CancelFunc // ends base

	greeted  bool          // initialize was answered; the reader's own
	bye      *request      // the shutdown request; written before shutdown is closed
	shutdown chan struct{} // closed by the reader, once
	ended    chan struct{} // closed by the reader at the end of the input
	broken   chan struct{} // closed under mu when a reply could not be written
	over     chan struct{} // closed by Serve; the reader waits for it after the end

	mu      sync.Mutex
	running map[string]*request // by id, those that wait or run
}

// Serve runs one connection until the host says shutdown, its output ends, a
// reply cannot be written, or ctx ends. Requests that are under way then have a
// moment to end by themselves (not when ctx ended), are cancelled, and Sessions
// is closed, all within two seconds by default. The error is that of
// Sessions.Close.
func Serve(ctx context.Context, c Config) error {
	c.Limits = c.Limits.orDefault()
	if c.Host == nil {
		c.Host = NewHost()
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	s := &server{
		Config: c, stream: newStream(c.In, c.Out, c.Limits.Line), lanes: newLanes(c.Limits.Jobs, c.Limits.Bytes),
		shutdown: make(chan struct{}), ended: make(chan struct{}), broken: make(chan struct{}), over: make(chan struct{}),
		running: map[string]*request{},
	}
	s.base, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	defer s.stop()
	s.stream.onStray = func(why string) { s.Log.Warn("dropped a line", "why", why) }
	s.stream.onEnd = func() {
		close(s.ended)
		<-s.over // the library closes the connection at the end; replies still go out until then
	}

	ready := make(chan struct{})
	s.conn = jsonrpc2.NewConn(context.WithoutCancel(ctx), s.stream, reader{s, ready}, jsonrpc2.SetLogger(libraryLog{c.Log}))
	c.Host.connect(s.conn, s.stream)
	close(ready)

	drain := c.Limits.Drain
	select {
	case <-s.ended:
	case <-s.shutdown:
	case <-s.broken:
		drain = 0
	case <-ctx.Done():
		drain = 0
	}
	err := s.windUp(drain)
	s.Host.hangUp()
	select {
	case <-s.shutdown:
		s.send(s.bye, []byte("null"), err)
	default:
	}
	close(s.over)
	_ = s.conn.Close() // ErrClosed when the library was faster
	return err
}

// windUp ends all requests and closes Sessions: those that do not listen get two
// thirds of the time, so that some is left for what has to be made safe; Sessions
// is told an end a little before the last.
func (s *server) windUp(drain time.Duration) error {
	end := time.After(s.Limits.Closing)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.base), s.Limits.Closing*9/10)
	defer cancel()
	s.lanes.close()
	s.Host.noCalls()
	start := time.Now()
	wait(s.lanes.drained(), drain)
	s.stop()
	wait(s.lanes.drained(), s.Limits.Closing*2/3-time.Since(start))
	done := make(chan error, 1)
	go func() { done <- s.closeSessions(ctx) }()
	select {
	case err := <-done:
		return err
	case <-end:
		return fmt.Errorf("close sessions: %w", context.DeadlineExceeded)
	}
}

func (s *server) closeSessions(ctx context.Context) (err error) {
	defer s.recovered("close", &err)
	return s.Sessions.Close(ctx)
}

func wait(c <-chan struct{}, most time.Duration) {
	if most <= 0 {
		return
	}
	t := time.NewTimer(most)
	defer t.Stop()
	select {
	case <-c:
	case <-t.C:
	}
}

// libraryLog takes what the JSON-RPC library has to say.
type libraryLog struct{ log *slog.Logger }

func (l libraryLog) Printf(format string, args ...any) {
	l.log.Debug("jsonrpc2", "said", fmt.Sprintf(format, args...))
}

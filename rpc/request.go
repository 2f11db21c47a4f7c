package rpc

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/sourcegraph/jsonrpc2"

	"ctxplugin/compartments"
)

// request is one request or notification of the host.
type request struct {
	frame
	handle uint64 // under which the library knows it
	cancel context.CancelFunc

	// Guarded by server.mu.
	started  bool
	answered bool // its cancellation was its answer
}

// reader is what the library calls for every request, one after another. It cuts
// and enqueues and never waits.
type reader struct {
	s     *server
	ready <-chan struct{} // closed once the connection can be used
}

func (r reader) Handle(_ context.Context, _ *jsonrpc2.Conn, q *jsonrpc2.Request) {
	<-r.ready
	got := &request{frame: r.s.stream.frame, handle: q.ID.Num}
	r.s.stream.frame = frame{} // the request owns the line from here on
	r.s.receive(got)
}

func (s *server) receive(r *request) {
	var err error
	defer func() {
		if err != nil {
			s.refuse(r, err)
		}
	}()
	defer s.recovered(r.method, &err)
	if r.fault != nil {
		err = r.fault
		return
	}
	switch r.method {
	case "$/cancelRequest":
		s.cancelRequest(r)
		return
	case "initialize":
		err = s.initialize(r)
		return
	}
	if !s.greeted {
		err = &wireError{code: codeNotInitialized, name: "notInitialized", text: r.method + " before initialize"}
		return
	}
	if r.method == "shutdown" {
		select {
		case <-s.shutdown: // said twice; the first one is being answered
		default:
			s.bye = r
			close(s.shutdown)
		}
		return
	}
	err = s.enqueue(r)
}

// refuse answers a request that is not run, out of the connection's own lane.
func (s *server) refuse(r *request, err error) {
	if r.id == nil && r.fault == nil {
		s.Log.Warn("dropped a notification", "method", logged(r.method), "why", errorName(err))
		return
	}
	s.replyLater(r, nil, err)
}

// logged is a method as the log names it. What is no method of ours may be any
// text of the host's.
func logged(name string) string {
	if _, ok := methods[name]; ok {
		return name
	}
	return "unknown"
}

// errorName is the stable name of an error, without its text.
func errorName(err error) string {
	var w *wireError
	if errors.As(err, &w) {
		return w.name
	}
	return string(compartments.CodeOf(err))
}

func (s *server) replyLater(r *request, result []byte, err error) {
	small := &request{frame: frame{id: r.id, fault: r.fault}, handle: r.handle}
	if !s.lanes.putReply(func() { s.send(small, result, err) }) {
		s.Log.Warn("no room for an answer", "method", logged(r.method))
	}
}

// enqueue puts a request into the lane of its session.
func (s *server) enqueue(r *request) error {
	m, ok := methods[r.method]
	if !ok {
		return &wireError{code: codeUnknownMethod, name: "unknownMethod", text: fmt.Sprintf("no method is called %q", clip(r.method, 100))}
	}
	if r.params.raw != nil && r.params.raw[0] != '{' && string(r.params.raw) != "null" {
		return badInput("%s: parameters are given by name, in an object", r.method)
	}
	lane := unquote(r.params.get("sessionID"))
	if lane == "" {
		return badInput("%s: sessionID must be a string that is not empty", r.method)
	}
	ctx, cancel := context.WithCancel(s.base)
	r.cancel = cancel
	s.mu.Lock()
	if r.id != nil {
		s.running[idKey(r.id)] = r
	}
	s.mu.Unlock()
	err := s.lanes.put(lane, &job{size: r.size, run: func() {
		defer s.forget(r)
		if !s.start(r) {
			return
		}
		result, err := s.run(ctx, m, r)
		if err != nil && r.id == nil {
			s.Log.Warn("a notification failed", "method", r.method, "code", string(compartments.CodeOf(err)))
			return
		}
		s.send(r, result, err)
	}})
	if err != nil {
		s.forget(r)
	}
	return err
}

// start reports whether the request is still to be run.
func (s *server) start(r *request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.started = true
	return !r.answered
}

func (s *server) forget(r *request) {
	r.cancel()
	s.mu.Lock()
	if r.id != nil && s.running[idKey(r.id)] == r {
		delete(s.running, idKey(r.id))
	}
	s.mu.Unlock()
}

// run calls a method, with a panic as an error.
func (s *server) run(ctx context.Context, m method, r *request) (result []byte, err error) {
	defer s.recovered(r.method, &err)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return m(ctx, s, r)
}

// recovered makes an error of a panic; it only works as the deferred call itself.
func (s *server) recovered(method string, err *error) {
	v := recover()
	if v == nil {
		return
	}
	s.Log.Error("panic", "method", logged(method), "value", clip(fmt.Sprint(v), 200), "stack", string(debug.Stack()))
	*err = &wireError{code: codeInternal, name: string(compartments.CodeInternal),
		text: "a fault of ctxplugin's own; its log has the details"}
}

// send answers a request; it waits until the line is written.
func (s *server) send(r *request, result []byte, err error) {
	if r.id == nil && r.fault == nil {
		return
	}
	b := body{id: r.id, result: result}
	if b.id == nil {
		b.id = []byte("null")
	}
	if err != nil {
		b.result, b.err = nil, toWire(err).encode()
	}
	s.stream.park(r.handle, b)
	err = s.conn.SendResponse(context.Background(), &jsonrpc2.Response{ID: jsonrpc2.ID{Num: r.handle}, Result: &spliced})
	if err == nil {
		return
	}
	s.stream.unpark(r.handle)
	if errors.Is(err, jsonrpc2.ErrClosed) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.broken:
	default:
		s.Log.Error("the host does not take answers any more", "why", err.Error())
		close(s.broken)
	}
}

// cancelRequest ends a request of the host: one that waits is answered at once,
// one that runs has its context cancelled.
func (s *server) cancelRequest(r *request) {
	key := idKey(r.params.get("id"))
	s.mu.Lock()
	target := s.running[key]
	waits := target != nil && !target.started && !target.answered
	if waits {
		target.answered = true
	}
	s.mu.Unlock()
	if target != nil {
		target.cancel()
	}
	if waits {
		s.replyLater(target, nil, context.Canceled)
	}
	if r.id != nil {
		s.replyLater(r, []byte("null"), nil)
	}
}

// idKey makes ids comparable: a string may be written with different escapes.
func idKey(id []byte) string {
	if len(id) > 0 && id[0] == '"' {
		return `"` + unquote(id)
	}
	return string(id)
}

func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}

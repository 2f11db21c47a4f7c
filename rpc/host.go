package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/sourcegraph/jsonrpc2"

	"ctxplugin/compartments"
	"ctxplugin/session"
)

// The errors of calls to the host.
var (
	// ErrHostGone says that no host is connected, or not any more.
	ErrHostGone = errors.New("the host is not connected")
	// ErrNotOffered says that the host did not offer the call when it connected.
	ErrNotOffered = errors.New("the host does not offer this")
)

// Hello is what a host said about itself at initialize.
type Hello struct {
	Host      string
	Version   string
	Directory string // of the project
	Generate  bool   // host/generate is served
	Notify    bool   // host/notify is shown to the user
	Plan      bool   // host/plan is taken
	Options   []byte // initialize's options, JSON as it came; nil if there were none
}

// GenerateRequest asks the host's own model for a text.
type GenerateRequest struct {
	Session     compartments.SessionID // on whose behalf: the host takes its model, unless one is named
	Purpose     string                 // for the host's log: what the text is for
	System      string
	Prompt      string
	Model       string // "provider/model"; empty leaves the choice to the host
	MaxTokens   int    // of the answer; 0 leaves it to the host
	Temperature int    // in hundredths; negative leaves it to the host
}

// GenerateReply is the host's answer.
type GenerateReply struct {
	Text      string
	Finish    string // why the model stopped: stop, length, tool, refusal, or the provider's own word
	ToolCall  bool   // it called a tool, though none was offered
	Reasoning bool   // there was reasoning
	Model     string // that answered, "provider/model"; empty if the host does not say
	Usage     compartments.Usage
	Cost      int64 // micro-units, 0 if the host does not say
}

// HostError is a host's refusal of a call, or its failure.
type HostError struct {
	Message      string
	Verdict      string // what came of the call, in the words of docs/protocol.md; may be empty
	RetryAfterMs int64  // 0 if nothing was asked for
}

func (e *HostError) Error() string { return "the host answered: " + e.Message }

// Host is the way back to the host. It may be handed out before a connection
// exists, and all methods may be called from any goroutine, also from inside a
// request of the host.
type Host struct {
	mu    sync.Mutex
	conn  *jsonrpc2.Conn
	s     *stream
	hello *Hello
	calls uint64 // ids start at 1: a host may take 0 for "no id"
	life  context.Context
	end   context.CancelFunc // ends life
}

// NewHost returns a Host without connection.
func NewHost() *Host { return &Host{} }

// outbound marks the handles of bodies that go to the host on our own account,
// apart from those of replies.
const outbound = 1 << 63

// Hello returns what the host said, if it has connected.
func (h *Host) Hello() (Hello, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.hello == nil {
		return Hello{}, false
	}
	return *h.hello, true
}

// Generate asks the host's model for a text. It returns when the host has
// answered, ctx ends (the host is told) or the connection does.
func (h *Host) Generate(ctx context.Context, r GenerateRequest) (GenerateReply, error) {
	if hello, ok := h.Hello(); ok && !hello.Generate {
		return GenerateReply{}, fmt.Errorf("host/generate: %w", ErrNotOffered)
	}
	p := []byte(`{"purpose":`)
	p = appendJSON(p, r.Purpose)
	if r.Session != "" {
		p = appendJSON(append(p, `,"sessionID":`...), string(r.Session))
	}
	p = appendJSON(append(p, `,"system":`...), r.System)
	p = appendJSON(append(p, `,"prompt":`...), r.Prompt)
	if r.Model != "" {
		p = appendJSON(append(p, `,"model":`...), r.Model)
	}
	if r.MaxTokens > 0 {
		p = fmt.Appendf(p, `,"maxTokens":%d`, r.MaxTokens)
	}
	if r.Temperature >= 0 {
		p = fmt.Appendf(p, `,"temperature":%d.%02d`, r.Temperature/100, r.Temperature%100)
	}
	p = append(p, '}')
	result, err := h.call(ctx, "host/generate", p)
	if err != nil {
		return GenerateReply{}, fmt.Errorf("host/generate: %w", err)
	}
	var reply struct {
		Text      string
		Finish    string
		ToolCall  bool
		Reasoning bool
		Model     string
		Usage     usage
		Cost      int64
	}
	if err := json.Unmarshal(result, &reply); err != nil {
		return GenerateReply{}, fmt.Errorf("host/generate: the host's answer: %w", err)
	}
	return GenerateReply{Text: reply.Text, Finish: reply.Finish, ToolCall: reply.ToolCall, Reasoning: reply.Reasoning, Model: reply.Model,
		Usage: reply.Usage.domain(), Cost: max(0, reply.Cost)}, nil
}

// Notify tells the user something, through the host's own channel. Level is
// "info", "warning" or "error".
func (h *Host) Notify(ctx context.Context, level, text string) error {
	if hello, ok := h.Hello(); ok && !hello.Notify {
		return fmt.Errorf("host/notify: %w", ErrNotOffered)
	}
	p := appendJSON([]byte(`{"level":`), level)
	p = append(appendJSON(append(p, `,"text":`...), text), '}')
	return h.notify(ctx, "host/notify", p)
}

// Plan tells the host of a plan between two requests, or that it has to ask.
func (h *Host) Plan(ctx context.Context, n session.News) error {
	if hello, ok := h.Hello(); ok && !hello.Plan {
		return fmt.Errorf("host/plan: %w", ErrNotOffered)
	}
	p := appendJSON([]byte(`{"sessionID":`), string(n.Session))
	if n.Standing != nil {
		p = appendJSON(append(p, `,"planID":`...), n.PlanID)
		if n.Plan != nil {
			p = append(append(p, `,"plan":`...), n.Plan...)
		}
		p = appendStanding(p, n.Standing)
	}
	if n.Forgotten {
		p = append(p, `,"forgotten":true`...)
	}
	return h.notify(ctx, "host/plan", append(p, '}'))
}

func (h *Host) connect(conn *jsonrpc2.Conn, s *stream) {
	h.mu.Lock()
	h.conn, h.s = conn, s
	h.life, h.end = context.WithCancel(context.Background())
	h.mu.Unlock()
}

func (h *Host) greet(hello Hello) {
	h.mu.Lock()
	h.hello = &hello
	h.mu.Unlock()
}

// noCalls ends all calls: no answer can come any more. Notices still go out.
func (h *Host) noCalls() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.conn != nil {
		h.end()
	}
}

// hangUp ends the connection.
func (h *Host) hangUp() {
	h.noCalls()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.conn, h.s = nil, nil
}

// open takes a handle for one call or notice.
func (h *Host) open() (conn *jsonrpc2.Conn, s *stream, life context.Context, n uint64, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.conn == nil {
		return nil, nil, nil, 0, ErrHostGone
	}
	h.calls++
	return h.conn, h.s, h.life, h.calls, nil
}

func (h *Host) call(ctx context.Context, method string, p []byte) ([]byte, error) {
	conn, s, life, n, err := h.open()
	if err != nil {
		return nil, err
	}
	if life.Err() != nil {
		return nil, ErrHostGone
	}
	s.park(outbound|n, body{params: p})
	w, err := conn.DispatchCall(ctx, method, outbound|n, jsonrpc2.PickID(jsonrpc2.ID{Num: n}))
	if err != nil {
		s.unpark(outbound | n)
		return nil, sendError(err)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(life, stop)()
	var result json.RawMessage
	if err = w.Wait(ctx, &result); err == nil {
		return result, nil
	}
	var refused *jsonrpc2.Error
	switch {
	case life.Err() != nil:
		return nil, ErrHostGone
	case errors.As(err, &refused):
		return nil, hostError(refused)
	case ctx.Err() != nil:
		// The request that asked may be over, its cancellation still has to go out.
		_ = h.notify(context.WithoutCancel(ctx), "$/cancelRequest", fmt.Appendf(nil, `{"id":%d}`, n))
		return nil, ctx.Err()
	}
	return nil, sendError(err)
}

// hostError reads what a host says of a failure; data of another shape says
// nothing.
func hostError(refused *jsonrpc2.Error) *HostError {
	e := &HostError{Message: refused.Message}
	var data struct {
		Verdict      string
		RetryAfterMs float64
	}
	if refused.Data != nil && json.Unmarshal(*refused.Data, &data) == nil && data.RetryAfterMs >= 0 && data.RetryAfterMs < 1e12 {
		e.Verdict, e.RetryAfterMs = data.Verdict, int64(data.RetryAfterMs)
	}
	return e
}

func (h *Host) notify(ctx context.Context, method string, p []byte) error {
	conn, s, _, n, err := h.open()
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	s.park(outbound|n, body{params: p})
	if err := conn.Notify(ctx, method, outbound|n); err != nil {
		s.unpark(outbound | n)
		return fmt.Errorf("%s: %w", method, sendError(err))
	}
	return nil
}

func sendError(err error) error {
	if errors.Is(err, jsonrpc2.ErrClosed) {
		return ErrHostGone
	}
	return err
}

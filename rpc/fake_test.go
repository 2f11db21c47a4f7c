package rpc

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"ctxplugin/compartments"
	"ctxplugin/decay"
	"ctxplugin/session"
)

// fake is Sessions with an answer for everything. A session whose name is that
// of a fault has it; the hooks, if set, run first.
type fake struct {
	host *Host

	mu       sync.Mutex
	lists    map[compartments.SessionID][][]byte
	events   []session.Event
	parents  map[compartments.SessionID]compartments.SessionID
	requests []session.TransformRequest
	pinned   []session.PinRequest
	closes   int

	onSync      func(ctx context.Context, r session.SyncRequest) error
	onTransform func(ctx context.Context, r session.TransformRequest) error
	onStatus    func(ctx context.Context, id compartments.SessionID) error
	onClose     func(ctx context.Context) error
}

func newFake() *fake {
	return &fake{host: NewHost(), lists: map[compartments.SessionID][][]byte{}, parents: map[compartments.SessionID]compartments.SessionID{}}
}

func revision(list [][]byte) string {
	rev := compartments.EmptyRevision()
	for _, raw := range list {
		m, err := compartments.DecodeMessage(raw)
		if err != nil {
			return err.Error()
		}
		rev = rev.Add(m.Print())
	}
	return rev.String()
}

func fault(id compartments.SessionID) error {
	if code, ok := strings.CutPrefix(string(id), "ses_error_"); ok {
		return compartments.Errorf(compartments.Code(code), "this session has the fault %s", code)
	}
	switch id {
	case "ses_plain":
		return fmt.Errorf("something broke: %w", io.ErrUnexpectedEOF)
	case "ses_panic":
		var none []int
		_ = none[len(id)]
	}
	return nil
}

func (f *fake) Sync(ctx context.Context, r session.SyncRequest) (string, error) {
	if f.onSync != nil {
		if err := f.onSync(ctx, r); err != nil {
			return "", err
		}
	}
	if err := fault(r.Session); err != nil {
		return "", err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	list := f.lists[r.Session]
	if r.Keep > len(list) || r.Keep > 0 && revision(list[:r.Keep]) != r.Check {
		return "", &compartments.Error{Code: compartments.CodeResync, Text: "another list is held here; send it again from keep on",
			Data: map[string]any{"keep": len(list), "check": revision(list)}}
	}
	list = append(list[:r.Keep:r.Keep], r.Messages...)
	f.lists[r.Session] = list
	f.parents[r.Session] = r.Parent
	return revision(list), nil
}

func (f *fake) Transform(ctx context.Context, r session.TransformRequest) (session.TransformReply, error) {
	if f.onTransform != nil {
		if err := f.onTransform(ctx, r); err != nil {
			return session.TransformReply{}, err
		}
	}
	if err := fault(r.Session); err != nil {
		return session.TransformReply{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests = append(f.requests, r)
	plan := compartments.Plan{
		Head:    []compartments.Pair{{Text: "[1-2] count the rejected rows <b>&", CacheMark: true}},
		Through: "msg_2", Keep: []compartments.MessageID{"msg_1"},
	}
	id, encoded, err := plan.Encode()
	if err != nil {
		return session.TransformReply{}, err
	}
	reply := session.TransformReply{PlanID: id[:16], MaxOutput: 8192, Stats: session.Stats{
		Window: r.Model.Context, Usable: 170000, Reserve: 20000, Fixed: 10000, Messages: 34000, Pressure: 200, Budget: 25500,
		History: 900, Fold: 1, Compartments: 1,
	}}
	if r.Sent {
		reply.Standing = &session.Standing{Rev: r.Rev, Standing: decay.Standing{Inside: 4000, Next: 900}, Until: r.Now + 300_000}
	}
	if r.Applied != reply.PlanID {
		reply.Plan = compartments.WithID(reply.PlanID, encoded)
	}
	return reply, nil
}

func (f *fake) Event(_ context.Context, e session.Event) error {
	if err := fault(e.Session); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.events = append(f.events, e)
	return nil
}

func (f *fake) Tools() []session.Tool {
	return []session.Tool{{Name: "ctx_search", Description: "Find words in this session's whole history.",
		InputSchema: []byte(`{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}`)}}
}

func (f *fake) CallTool(_ context.Context, id compartments.SessionID, name string, arguments []byte) (session.ToolResult, error) {
	if err := fault(id); err != nil {
		return session.ToolResult{}, err
	}
	if name != "ctx_search" {
		return session.ToolResult{}, compartments.Errorf(compartments.CodeNotFound, "no tool is called %q", name)
	}
	return session.ToolResult{Text: "searched with " + string(arguments)}, nil
}

func (f *fake) Expand(_ context.Context, r session.ExpandRequest) (session.ExpandReply, error) {
	if err := fault(r.Session); err != nil {
		return session.ExpandReply{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	list := f.lists[r.Session]
	switch {
	case r.Part >= 0:
		return session.ExpandReply{Text: fmt.Sprintf("part %d of %s, limit %d", r.Part, r.Message, r.Limit), Offset: r.Offset, Next: r.Offset + 10, Total: 99}, nil
	case r.First < 1 || r.Last < r.First || int(r.Last) > len(list):
		return session.ExpandReply{}, compartments.Errorf(compartments.CodeBadRange, "%d-%d is no range of this session, which has 1-%d", r.First, r.Last, len(list))
	}
	var reply session.ExpandReply
	for i, raw := range list[r.First-1 : r.Last] {
		n := r.First + compartments.Ordinal(i)
		reply.Messages = append(reply.Messages, session.ExpandedMessage{Ordinal: n, ID: compartments.MessageID(fmt.Sprintf("msg_%d", n)), Raw: raw, Withdrawn: n == 2})
	}
	reply.Total = len(reply.Messages)
	return reply, nil
}

func (f *fake) Undo(_ context.Context, id compartments.SessionID) (session.UndoReply, error) {
	if err := fault(id); err != nil {
		return session.UndoReply{}, err
	}
	return session.UndoReply{Undone: true, Fold: 3, PlanID: "7d4f7b2c1d0e9a38", Reason: "fold 3 is taken back"}, nil
}

func (f *fake) Fold(_ context.Context, id compartments.SessionID, dryRun bool) (session.FoldReply, error) {
	if err := fault(id); err != nil {
		return session.FoldReply{}, err
	}
	return session.FoldReply{Folded: !dryRun, PlanID: "7d4f7b2c1d0e9a38", Reason: "asked"}, nil
}

func (f *fake) Status(ctx context.Context, id compartments.SessionID) (session.Status, error) {
	if f.onStatus != nil {
		if err := f.onStatus(ctx, id); err != nil {
			return session.Status{}, err
		}
	}
	if err := fault(id); err != nil {
		return session.Status{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return session.Status{Session: id, Messages: len(f.lists[id]), Tiers: map[string]int{"dense": 1},
		Folds: []session.FoldLine{}, Numbers: map[string]int{"forceMark": 850}, Historian: "builtin"}, nil
}

func (f *fake) Pin(_ context.Context, r session.PinRequest) (session.PinReply, error) {
	if err := fault(r.Session); err != nil {
		return session.PinReply{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pinned = append(f.pinned, r)
	return session.PinReply{Pin: session.PinLine{Pin: compartments.PinID(len(f.pinned)), By: r.By}, Note: "Pinned."}, nil
}

func (f *fake) Unpin(_ context.Context, r session.UnpinRequest) (session.PinReply, error) {
	return session.PinReply{Pin: session.PinLine{Pin: r.Pin, By: r.By}}, fault(r.Session)
}

func (f *fake) Pins(_ context.Context, id compartments.SessionID, ended bool) ([]session.PinLine, error) {
	return nil, fault(id)
}

func (f *fake) Forget(_ context.Context, id compartments.SessionID) error {
	if err := fault(id); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.lists, id)
	return nil
}

func (f *fake) Close(ctx context.Context) error {
	f.mu.Lock()
	f.closes++
	f.mu.Unlock()
	if f.onClose != nil {
		return f.onClose(ctx)
	}
	return nil
}

// peer is the host's end of a connection.
type peer struct {
	t    testing.TB
	in   *io.PipeWriter
	out  *bufio.Reader
	log  *syncBuffer
	done chan error // what Serve returned
}

type syncBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// connect starts Serve over pipes; it ends with the test.
func connect(t testing.TB, f *fake, limits Limits) *peer {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	p := &peer{t: t, in: inW, out: bufio.NewReaderSize(outR, 1<<20), log: new(syncBuffer), done: make(chan error, 1)}
	go func() {
		err := Serve(ctx, Config{In: inR, Out: outW, Sessions: f, Host: f.host, Name: "ctxplugin", Version: "1.2.3",
			Log: slog.New(slog.NewTextHandler(p.log, nil)), Limits: limits})
		outW.Close()
		p.done <- err
	}()
	t.Cleanup(func() {
		inW.Close()
		go io.Copy(io.Discard, outR)
		cancel()
	})
	return p
}

// send writes lines in the background of nothing: it waits until the server read
// them.
func (p *peer) send(lines ...string) {
	p.t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(p.in, l+"\n"); err != nil {
			p.t.Fatalf("send %.80s: %v", l, err)
		}
	}
}

// receive returns the next line of the server.
func (p *peer) receive() string {
	p.t.Helper()
	type read struct {
		line string
		err  error
	}
	c := make(chan read, 1)
	go func() {
		line, err := p.out.ReadString('\n')
		c <- read{line, err}
	}()
	select {
	case r := <-c:
		if r.err != nil {
			p.t.Fatalf("receive: %v", r.err)
		}
		return strings.TrimSuffix(r.line, "\n")
	case <-time.After(20 * time.Second):
		p.t.Fatal("the server is silent")
	}
	return ""
}

func (p *peer) exchange(line string) string {
	p.t.Helper()
	p.send(line)
	return p.receive()
}

const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"host":{"name":"testhost","version":"1"},"project":{"directory":"/project"},"capabilities":{"generate":true,"notify":true},"options":{}}}`

func (p *peer) greet() *peer {
	p.t.Helper()
	if got := p.exchange(hello); !strings.Contains(got, `"protocolVersion":1`) {
		p.t.Fatalf("initialize: %s", got)
	}
	return p
}

func call(id int, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params)
}

func wantContains(t testing.TB, got string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(got, part) {
			t.Errorf("%s\nlacks %s", got, part)
		}
	}
}

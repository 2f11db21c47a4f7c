package rpc

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ctxplugin/compartments"
	"ctxplugin/decay"
	"ctxplugin/session"
)

// Requests of one session run in the order they came although others run beside
// them, and their answers come in that order too.
func TestServe_OrderInOneSession(t *testing.T) {
	const perSession, sessions = 100, 4
	f := newFake()
	var mu sync.Mutex
	ran := map[compartments.SessionID][]int{}
	f.onSync = func(_ context.Context, r session.SyncRequest) error {
		mu.Lock()
		ran[r.Session] = append(ran[r.Session], r.Keep)
		mu.Unlock()
		return compartments.Errorf(compartments.CodeBusy, "that was all")
	}
	p := connect(t, f, Limits{}).greet()
	go func() {
		for i := range perSession {
			for s := range sessions {
				p.send(call(1000*(s+1)+i, "session/sync", fmt.Sprintf(`{"sessionID":"ses_%d","keep":%d}`, s, i)))
			}
		}
	}()
	answered := make([][]int, sessions)
	for range perSession * sessions {
		var got struct{ ID int }
		if err := json.Unmarshal([]byte(p.receive()), &got); err != nil {
			t.Fatal(err)
		}
		s := got.ID/1000 - 1
		answered[s] = append(answered[s], got.ID%1000)
	}
	for s := range sessions {
		if id := compartments.SessionID(fmt.Sprintf("ses_%d", s)); !slices.IsSorted(ran[id]) || len(ran[id]) != perSession {
			t.Errorf("%s ran in the order %v", id, ran[id])
		}
		if !slices.IsSorted(answered[s]) {
			t.Errorf("session %d was answered in the order %v", s, answered[s])
		}
	}
}

// One session that takes its time holds up no other: each of these requests waits
// until all of them run.
func TestServe_SessionsBesideEachOther(t *testing.T) {
	const sessions = 8
	f := newFake()
	var all sync.WaitGroup
	all.Add(sessions)
	f.onStatus = func(context.Context, compartments.SessionID) error {
		all.Done()
		all.Wait()
		return nil
	}
	p := connect(t, f, Limits{}).greet()
	for s := range sessions {
		p.send(call(s, "session/status", fmt.Sprintf(`{"sessionID":"ses_%d"}`, s)))
	}
	for range sessions {
		wantContains(t, p.receive(), `"result"`)
	}
}

// A request that calls the host back does not hold up the reader: the host's
// answer, and other sessions, get through meanwhile.
func TestServe_CallsTheHostBack(t *testing.T) {
	f := newFake()
	f.onTransform = func(ctx context.Context, r session.TransformRequest) error {
		if r.Session != "ses_back" {
			return nil
		}
		reply, err := f.host.Generate(ctx, GenerateRequest{Purpose: "compartments", System: "be brief", Prompt: "<b>\n\u2028", MaxTokens: 100, Temperature: 25})
		if err != nil {
			return err
		}
		return compartments.Errorf(compartments.CodeBusy, "the host said %q, %s, %d", reply.Text, reply.Finish, reply.Usage.InputSide())
	}
	p := connect(t, f, Limits{}).greet()
	p.send(call(1, "session/transform", `{"sessionID":"ses_back"}`))
	want := `{"jsonrpc":"2.0","id":1,"method":"host/generate","params":{"purpose":"compartments","system":"be brief","prompt":"<b>\n\u2028","maxTokens":100,"temperature":0.25}}`
	if got := p.receive(); got != want {
		t.Fatalf("the host is asked\n%s, want\n%s", got, want)
	}
	wantContains(t, p.exchange(call(2, "session/status", `{"sessionID":"ses_other"}`)), `"id":2,"result"`)
	p.send(`{"jsonrpc":"2.0","id":99,"result":"of another call"}`, `{"jsonrpc":"2.0","id":"1","result":"of another call"}`)
	got := p.exchange(`{"jsonrpc":"2.0","id":1,"result":{"text":"fine","finish":"stop","usage":{"input":3.0,"cache":{"read":4}}}}`)
	wantContains(t, got, `"id":1,"error"`, `the host said \"fine\", stop, 7`)

	for _, tc := range []struct{ answer, want string }{
		{`"error":{"code":-1,"message":"no model"}`, "the host answered: no model"},
		{`"error":{"code":1.5,"message":7,"data":[1]}`, "the host answered: the host gave no reason"},
		{`"error":"odd"`, "the host answered"},
		{`"result":7`, "the host's answer"},
		{`"error":null,"result":{"text":"both"}`, `the host said \"both\"`},
	} {
		p.send(call(3, "session/transform", `{"sessionID":"ses_back"}`))
		var asked struct{ ID uint64 }
		if err := json.Unmarshal([]byte(p.receive()), &asked); err != nil {
			t.Fatal(err)
		}
		wantContains(t, p.exchange(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,%s}`, asked.ID, tc.answer)), tc.want)
	}
}

func TestHost_Refusals(t *testing.T) {
	h := NewHost()
	if _, err := h.Generate(context.Background(), GenerateRequest{}); !errors.Is(err, ErrHostGone) {
		t.Errorf("without connection: %v", err)
	}
	f := newFake()
	p := connect(t, f, Limits{})
	p.exchange(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"host":{"name":"bare"}}}`)
	if _, err := f.host.Generate(context.Background(), GenerateRequest{}); !errors.Is(err, ErrNotOffered) {
		t.Errorf("host without generate: %v", err)
	}
	if err := f.host.Notify(context.Background(), "info", "x"); !errors.Is(err, ErrNotOffered) {
		t.Errorf("host without notify: %v", err)
	}
	if hello, ok := f.host.Hello(); !ok || hello.Host != "bare" || hello.Options != nil {
		t.Errorf("hello %+v", hello)
	}
	p.greet()
	if hello, _ := f.host.Hello(); hello.Host != "testhost" || hello.Directory != "/project" || string(hello.Options) != "{}" {
		t.Errorf("hello %+v", hello)
	}
	go func() {
		if err := f.host.Notify(context.Background(), "warning", "the database is locked"); err != nil {
			t.Error(err)
		}
	}()
	if got, want := p.receive(), `{"jsonrpc":"2.0","method":"host/notify","params":{"level":"warning","text":"the database is locked"}}`; got != want {
		t.Errorf("got %s", got)
	}
	p.in.Close()
	<-p.done
	if _, err := f.host.Generate(context.Background(), GenerateRequest{}); !errors.Is(err, ErrHostGone) {
		t.Errorf("after the end: %v", err)
	}
}

// A call of ours that is given up tells the host so; the late answer is dropped.
func TestHost_GivesUp(t *testing.T) {
	f := newFake()
	p := connect(t, f, Limits{}).greet()
	ctx, cancel := context.WithCancel(context.Background())
	failed := make(chan error, 1)
	go func() {
		_, err := f.host.Generate(ctx, GenerateRequest{Prompt: "x"})
		failed <- err
	}()
	wantContains(t, p.receive(), `"method":"host/generate"`, `"id":1,`)
	cancel()
	if got, want := p.receive(), `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}`; got != want {
		t.Errorf("got %s", got)
	}
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	p.send(`{"jsonrpc":"2.0","id":1,"result":{"text":"late"}}`)
	wantContains(t, p.exchange(call(2, "session/status", `{"sessionID":"ses_1"}`)), `"result"`)
}

// A panic is answered and logged with its stack; the lane and the connection go
// on.
func TestServe_Panic(t *testing.T) {
	p := connect(t, newFake(), Limits{}).greet()
	p.send(`{"jsonrpc":"2.0","method":"session/event","params":{"sessionID":"ses_panic","type":"idle"}}`)
	for id := range 3 {
		wantContains(t, p.exchange(call(id, "session/status", `{"sessionID":"ses_panic"}`)), `"code":-32603`, `"data":{"code":"internal"}`)
	}
	wantContains(t, p.exchange(call(9, "session/fold", `{"sessionID":"ses_1"}`)), `"result"`)
	wantContains(t, p.log.String(), "index out of range", "fake_test.go", "session/status", "session/event")
}

func TestServe_Cancel(t *testing.T) {
	f := newFake()
	runs := make(chan struct{}, 1)
	f.onStatus = func(ctx context.Context, _ compartments.SessionID) error {
		runs <- struct{}{}
		<-ctx.Done()
		return fmt.Errorf("status: %w", ctx.Err())
	}
	p := connect(t, f, Limits{}).greet()
	p.send(call(1, "session/status", `{"sessionID":"ses_1"}`))
	<-runs
	// The second and third wait behind the first. A cancelled one that waits is
	// answered at once, and never run.
	p.send(call(2, "session/status", `{"sessionID":"ses_1"}`),
		`{"jsonrpc":"2.0","id":"t\u0068ree","method":"session/fold","params":{"sessionID":"ses_1"}}`)
	const cancelled = `"error":{"code":-32800,"message":`
	wantContains(t, p.exchange(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":2}}`), `"id":2,`+cancelled)
	p.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":2}}`, // again
		`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":77}}`,
		`{"jsonrpc":"2.0","method":"$/cancelRequest","params":7}`,
		`{"jsonrpc":"2.0","method":"$/cancelRequest"}`)
	wantContains(t, p.exchange(`{"jsonrpc":"2.0","id":5,"method":"$/cancelRequest","params":{"id":"three"}}`), `"id":"t\u0068ree",`+cancelled)
	if got := p.receive(); got != `{"jsonrpc":"2.0","id":5,"result":null}` {
		t.Errorf("a cancellation that asks for an answer: %s", got)
	}
	wantContains(t, p.exchange(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}`), `"id":1,`+cancelled)
	wantContains(t, p.exchange(call(1, "session/fold", `{"sessionID":"ses_1"}`)), `"id":1,"result"`)
	// The end of a cancelled request frees its id.
	if len(runs) != 0 {
		t.Error("a cancelled request ran")
	}
}

// What waits is bounded in number and in bytes; what is more is refused, not
// kept, and a notification is dropped.
func TestServe_Busy(t *testing.T) {
	f := newFake()
	gate := make(chan struct{})
	runs := make(chan struct{}, 1)
	f.onStatus = func(context.Context, compartments.SessionID) error {
		runs <- struct{}{}
		<-gate
		return nil
	}
	p := connect(t, f, Limits{Jobs: 3, Bytes: 2000}).greet()
	p.send(call(1, "session/status", `{"sessionID":"ses_1"}`))
	<-runs
	wantContains(t, p.exchange(call(2, "session/fold", `{"sessionID":"ses_2","pad":"`+strings.Repeat("x", 2000)+`"}`)), `"id":2,"error":{"code":-32006,`, "bytes wait")
	p.send(call(3, "session/fold", `{"sessionID":"ses_1"}`), call(4, "session/fold", `{"sessionID":"ses_1"}`))
	wantContains(t, p.exchange(call(5, "session/fold", `{"sessionID":"ses_2"}`)), `"id":5,"error":{"code":-32006,`, "requests wait")
	p.send(`{"jsonrpc":"2.0","method":"session/event","params":{"sessionID":"ses_1","type":"idle"}}`)
	// lines are taken in order: once this is refused, the notification was too
	wantContains(t, p.exchange(call(50, "session/fold", `{"sessionID":"ses_2"}`)), `"id":50,"error":{"code":-32006,`)
	close(gate)
	for _, id := range []string{`"id":1,`, `"id":3,`, `"id":4,`} {
		wantContains(t, p.receive(), id, `"result"`)
	}
	// A single request is never too large. The last answer may have come a moment
	// before its request was off the books.
	large := call(6, "session/fold", `{"sessionID":"ses_2","pad":"`+strings.Repeat("x", 4000)+`"}`)
	got := p.exchange(large)
	for range 1000 {
		if !strings.Contains(got, `"code":"busy"`) {
			break
		}
		got = p.exchange(large)
	}
	wantContains(t, got, `"id":6,"result"`)
	wantContains(t, p.log.String(), "dropped a notification")
}

// A line over the cap is answered, with its id where that stands early, and the
// connection lives.
func TestServe_OverCap(t *testing.T) {
	p := connect(t, newFake(), Limits{Line: 100_000}).greet()
	long := `{"jsonrpc":"2.0","id":7,"method":"session/sync","params":{"sessionID":"ses_1","messages":["` + strings.Repeat("x", 300_000) + `"]}}`
	wantContains(t, p.exchange(long), `"id":7,"error":{"code":-32700,"message":"the line is longer than 100000 bytes"`)
	wantContains(t, p.exchange(strings.Repeat("x", 300_000)), `"id":null,"error":{"code":-32700`)
	wantContains(t, p.exchange(call(8, "session/status", `{"sessionID":"ses_1"}`)), `"id":8,"result"`)
}

func TestServe_EventsReachTheSession(t *testing.T) {
	f := newFake()
	p := connect(t, f, Limits{}).greet()
	for _, params := range []string{
		`{"sessionID":"ses_1","type":"usage","messageID":"msg_4","tokens":{"input":1,"output":2,"reasoning":3,"cache":{"read":4,"write":5}}}`,
		`{"sessionID":"ses_1","type":"error","name":"ContextOverflowError","message":"prompt is too long","status":400,"overflow":true}`,
		`{"sessionID":"ses_1","type":"idle"}`,
		`{"sessionID":"ses_1","type":"deleted"}`,
		`{"sessionID":"ses_1","type":"forkedFrom","source":"ses_0"}`,
	} {
		p.send(`{"jsonrpc":"2.0","method":"session/event","params":` + params + `}`)
	}
	wantContains(t, p.exchange(call(1, "session/event", `{"sessionID":"ses_1","type":"idle"}`)), `"id":1,"result":null`)
	want := []session.Event{
		{Session: "ses_1", Type: "usage", Message: "msg_4", Usage: compartments.Usage{Input: 1, Output: 2, Reasoning: 3, CacheRead: 4, CacheWrite: 5}},
		{Session: "ses_1", Type: "error", Text: "ContextOverflowError (400): prompt is too long", Overflow: true},
		{Session: "ses_1", Type: "idle"}, {Session: "ses_1", Type: "deleted"}, {Session: "ses_1", Type: "forkedFrom", Source: "ses_0"},
		{Session: "ses_1", Type: "idle"},
	}
	if !slices.Equal(f.events, want) {
		t.Errorf("got %+v", f.events)
	}
}

func TestServe_TransformRequest(t *testing.T) {
	f := newFake()
	p := connect(t, f, Limits{}).greet()
	p.exchange(call(1, "session/transform", `{"sessionID":"ses_1","rev":"3.00","applied":"p","deadlineMs":1500,"agent":"build","model":{"id":"m","provider":"v",`+
		`"context":200000,"output":32000,"prices":{"input":3000000,"output":15000000,"cacheRead":300000,"cacheWrite":3750000,"ttlMs":300000,"kind":"marks"}},"fixedBytes":40000,"now":1750000000000}`))
	want := session.TransformRequest{Session: "ses_1", Rev: "3.00", Applied: "p", DeadlineMs: 1500, Agent: "build", FixedBytes: 40000, Now: 1750000000000,
		Model: session.Model{ID: "m", Provider: "v", Context: 200000, Output: 32000, Prices: compartments.Prices{
			Input: 3000000, Output: 15000000, CacheRead: 300000, CacheWrite: 3750000, TTLMs: 300000, Kind: "marks"}}}
	if len(f.requests) != 1 || f.requests[0] != want {
		t.Errorf("got %+v", f.requests)
	}
}

// At the end of the input what runs has a moment to end, then its context is
// cancelled; calls to the host end at once; sessions are closed once; and Serve
// is back within two seconds. The clock is that of the test's bubble.
// A request that went out already is told, and the answer says for which others it
// stands.
func TestServe_TransformSent(t *testing.T) {
	f := newFake()
	p := connect(t, f, Limits{}).greet()
	got := p.exchange(call(1, "session/transform", `{"sessionID":"ses_1","rev":"2.00","applied":"x","sent":true,"now":1750000000000}`))
	wantContains(t, got, `"standing":{"rev":"2.00","inside":4000,"next":900,"until":1750000300000},"stats"`)
	if got = p.exchange(call(2, "session/transform", `{"sessionID":"ses_1","rev":"2.00"}`)); strings.Contains(got, "standing") {
		t.Errorf("no standing plan, and %s", got)
	}
	if len(f.requests) != 2 || !f.requests[0].Sent || f.requests[1].Sent {
		t.Errorf("got %+v", f.requests)
	}
}

func TestHost_Plan(t *testing.T) {
	f := newFake()
	p := connect(t, f, Limits{})
	p.exchange(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"host":{"name":"bare"}}}`)
	if err := f.host.Plan(context.Background(), session.News{Session: "ses_1"}); !errors.Is(err, ErrNotOffered) {
		t.Errorf("host that takes no plans: %v", err)
	}
	p.exchange(`{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":1,"host":{"name":"able"},"capabilities":{"plan":true}}}`)
	if hello, _ := f.host.Hello(); !hello.Plan {
		t.Errorf("hello %+v", hello)
	}
	standing := &session.Standing{Rev: "2.00", Standing: decay.Standing{Inside: 1, Next: 2}, Until: 3}
	for _, c := range []struct {
		news session.News
		want string
	}{
		{session.News{Session: "ses_1"}, `{"sessionID":"ses_1"}`},
		{session.News{Session: "ses_1", Forgotten: true}, `{"sessionID":"ses_1","forgotten":true}`},
		{session.News{Session: "ses_1", PlanID: "p", Standing: standing}, `{"sessionID":"ses_1","planID":"p","standing":{"rev":"2.00","inside":1,"next":2,"until":3}}`},
		{session.News{Session: "ses_1", PlanID: "p", Plan: []byte(`{"id":"p"}`), Standing: standing},
			`{"sessionID":"ses_1","planID":"p","plan":{"id":"p"},"standing":{"rev":"2.00","inside":1,"next":2,"until":3}}`},
	} {
		go func() {
			if err := f.host.Plan(context.Background(), c.news); err != nil {
				t.Error(err)
			}
		}()
		if got, want := p.receive(), `{"jsonrpc":"2.0","method":"host/plan","params":`+c.want+`}`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestServe_EndOfInput(t *testing.T) {
	for _, tc := range []struct {
		name string
		run  func(ctx context.Context, h *Host) error
		want string // answer
		most time.Duration
	}{
		{"idle", nil, "", 0},
		{"ends in time", func(context.Context, *Host) error { time.Sleep(400 * time.Millisecond); return nil }, `"result"`, 400 * time.Millisecond},
		{"is cancelled", func(ctx context.Context, _ *Host) error { <-ctx.Done(); return ctx.Err() }, `"code":-32800`, 500 * time.Millisecond},
		{"waits for the host", func(ctx context.Context, h *Host) error { _, err := h.Generate(ctx, GenerateRequest{}); return err }, `not connected`, 0},
		{"does not listen", func(context.Context, *Host) error { time.Sleep(time.Hour); return nil }, "", 1200 * time.Millisecond},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				if tc.run != nil {
					f.onStatus = func(ctx context.Context, _ compartments.SessionID) error { return tc.run(ctx, f.host) }
				}
				p := connect(t, f, Limits{}).greet()
				if tc.run != nil {
					p.send(call(1, "session/status", `{"sessionID":"ses_1"}`))
				}
				if tc.name == "waits for the host" {
					wantContains(t, p.receive(), "host/generate")
				}
				synctest.Wait()
				start := time.Now()
				p.in.Close()
				rest, _ := io.ReadAll(p.out)
				if err := <-p.done; err != nil {
					t.Error(err)
				}
				if took := time.Since(start); took > tc.most {
					t.Errorf("took %v", took)
				}
				wantContains(t, string(rest), tc.want)
				if f.closes != 1 {
					t.Errorf("sessions were closed %d times", f.closes)
				}
				time.Sleep(2 * time.Hour) // lets what does not listen end
			})
		})
	}
}

func TestServe_CloseTakesTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.onStatus = func(context.Context, compartments.SessionID) error { time.Sleep(time.Hour); return nil }
		f.onClose = func(context.Context) error { time.Sleep(time.Hour); return nil }
		p := connect(t, f, Limits{}).greet()
		p.send(call(1, "session/status", `{"sessionID":"ses_1"}`))
		synctest.Wait()
		start := time.Now()
		p.in.Close()
		_, _ = io.ReadAll(p.out)
		if err := <-p.done; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("took %v", took)
		}
		time.Sleep(2 * time.Hour)
	})
}

func TestServe_Shutdown(t *testing.T) {
	for _, tc := range []struct {
		name    string
		onClose func(context.Context) error
		want    string
	}{
		{"clean", nil, `{"jsonrpc":"2.0","id":2,"result":null}`},
		{"fails", func(context.Context) error { return compartments.Errorf(compartments.CodeStorage, "the disk is full") },
			`{"jsonrpc":"2.0","id":2,"error":{"code":-32007,"message":"the disk is full","data":{"code":"storage"}}}`},
		{"panics", func(context.Context) error { panic("odd") }, `"code":-32603`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := newFake()
			f.onClose = tc.onClose
			p := connect(t, f, Limits{}).greet()
			p.send(call(1, "session/fold", `{"sessionID":"ses_1"}`), call(2, "shutdown", `null`))
			wantContains(t, p.receive(), `"id":1,"result"`)
			wantContains(t, p.receive(), tc.want)
			if _, err := p.out.ReadString('\n'); err != io.EOF {
				t.Errorf("after the last answer: %v", err)
			}
			if err := <-p.done; (err != nil) != (tc.onClose != nil) {
				t.Errorf("Serve: %v", err)
			}
		})
	}
}

// What the user is to be told still goes out while sessions are closed.
func TestServe_NoticesUntilTheEnd(t *testing.T) {
	f := newFake()
	f.onClose = func(ctx context.Context) error {
		if _, err := f.host.Generate(ctx, GenerateRequest{Prompt: "x"}); !errors.Is(err, ErrHostGone) {
			t.Errorf("a call gives %v", err)
		}
		return f.host.Notify(ctx, "warning", "the last word")
	}
	p := connect(t, f, Limits{}).greet()
	p.send(call(2, "shutdown", `null`))
	wantContains(t, p.receive(), `"method":"host/notify"`, "the last word")
	wantContains(t, p.receive(), `"id":2,"result":null`)
	if err := <-p.done; err != nil {
		t.Error(err)
	}
}

func TestServe_ContextEnds(t *testing.T) {
	f := newFake()
	f.onStatus = func(ctx context.Context, _ compartments.SessionID) error { <-ctx.Done(); return ctx.Err() }
	ctx, cancel := context.WithCancel(context.Background())
	inR, inW := io.Pipe()
	defer inW.Close()
	var out syncBuffer
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, Config{In: inR, Out: &out, Sessions: f, Host: f.host}) }()
	fmt.Fprintln(inW, hello)
	fmt.Fprintln(inW, call(1, "session/status", `{"sessionID":"ses_1"}`))
	fmt.Fprintln(inW, call(2, "session/fold", `{"sessionID":"ses_2"}`))
	cancel()
	if err := <-done; err != nil || f.closes != 1 {
		t.Errorf("%v, closed %d times", err, f.closes)
	}
}

// A host that does not take answers any more ends the connection.
func TestServe_BrokenOutput(t *testing.T) {
	f := newFake()
	inR, inW := io.Pipe()
	defer inW.Close()
	outR, outW := io.Pipe()
	outR.Close()
	done := make(chan error, 1)
	go func() { done <- Serve(context.Background(), Config{In: inR, Out: outW, Sessions: f}) }()
	fmt.Fprintln(inW, hello)
	if err := <-done; err != nil || f.closes != 1 {
		t.Errorf("%v, closed %d times", err, f.closes)
	}
}

func TestWireCodes(t *testing.T) {
	seen := map[int]compartments.Code{codeParse: "parse", codeInvalidRequest: "invalidRequest", codeUnknownMethod: "unknownMethod", codeNotInitialized: "notInitialized"}
	for name, code := range wireCodes {
		if other, ok := seen[code]; ok {
			t.Errorf("%s and %s are both %d", name, other, code)
		}
		seen[code] = name
	}
	wrapped := fmt.Errorf("sync: %w", &compartments.Error{Code: compartments.CodeResync, Text: "held here", Data: map[string]any{
		"keep": 3, "check": "3.x", "code": "forged", "odd": make(chan int)}})
	if got, want := string(toWire(wrapped).encode()), `{"code":-32001,"message":"sync: held here","data":{"code":"resync","check":"3.x","keep":3}}`; got != want {
		t.Errorf("got %s", got)
	}
}

// pretty is Sessions whose plan is spread over lines.
type pretty struct{ *fake }

func (p pretty) Transform(context.Context, session.TransformRequest) (session.TransformReply, error) {
	return session.TransformReply{PlanID: "p", Plan: []byte("\n{\n\t\"id\": \"p\",\n\t\"head\": [{\"text\": \"a\\nb\"}]\n}\n")}, nil
}

// Spliced bytes never break the line, and nothing inside a string changes.
func TestServe_OneLine(t *testing.T) {
	inR, in := io.Pipe()
	outR, out := io.Pipe()
	go Serve(context.Background(), Config{In: inR, Out: out, Sessions: pretty{newFake()}})
	defer in.Close()
	p := &peer{t: t, in: in, out: bufio.NewReader(outR)}
	p.greet()
	got := p.exchange(call(1, "session/transform", `{"sessionID":"ses_1"}`))
	wantContains(t, got, `"plan": { 	"id": "p", 	"head": [{"text": "a\nb"}] } ,"stats":{`)
	if !json.Valid([]byte(got)) {
		t.Errorf("no JSON: %s", got)
	}
}

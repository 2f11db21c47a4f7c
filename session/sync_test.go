package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"ctxplugin/compartments"
	"ctxplugin/session"
)

// list makes n messages.
func (h *host) grow(n int) {
	for i := range n {
		if i%3 == 0 {
			h.user(words(i))
		} else {
			h.step(words(i), 400)
		}
	}
}

func TestSync_InPieces(t *testing.T) {
	for _, c := range []struct {
		name  string
		every int // pieces that are sent twice: each so many
		other func(h *host, piece int)
	}{
		{"once", 0, nil},
		{"each twice", 1, nil},
		{"some twice", 3, nil},
		{"a status between", 0, func(h *host, piece int) {
			_, _ = h.s.Status(context.Background(), h.id) // unknown before the first piece
		}},
		{"a restart between", 0, func(h *host, piece int) {
			if piece == 3 {
				h.s = newSessions(h.t.(testing.TB), h.store)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := start(t, 16_000)
			h.grow(50)
			h.pieces(7, func(piece int) {
				if c.other != nil {
					c.other(h, piece)
				}
				if c.every > 0 && piece%c.every == 0 { // its answer is lost
					if _, err := h.piece(h.acked, min(h.acked+7, len(h.list))); err != nil {
						t.Fatalf("piece %d: %v", piece, err)
					}
				}
			})
			h.request()
			if n := len(h.store.all[h.id].Entries); n != 50 {
				t.Fatalf("%d messages were stored", n)
			}
			// the last piece again, after the list is in force
			if rev, err := h.piece(49, 50); err != nil || rev != h.revision(50) {
				t.Fatalf("the last piece again: %s, %v", rev, err)
			}
		})
	}
}

// TestSync_NothingIsWithdrawnBeforeTheLastPiece: a list told anew stays in force
// until all of it is there.
func TestSync_NothingIsWithdrawnBeforeTheLastPiece(t *testing.T) {
	h := folded(t, 16_000)
	old := h.revision(len(h.list))
	list := h.list
	h.list = nil
	h.grow(30)
	if _, err := h.piece(0, 10); err != nil {
		t.Fatal(err)
	}
	if _, err := h.ask(old); err != nil {
		t.Fatalf("the old list is no longer in force: %v", err)
	}
	if _, err := h.piece(10, 20); err != nil {
		t.Fatal(err)
	}
	// the host gives up, and goes on with the old list
	h.list, h.acked = list, len(list)
	h.user("go on")
	h.request()
}

func TestSync_Resync(t *testing.T) {
	h := folded(t, 16_000)
	n, rev := len(h.list), h.revision(len(h.list))
	for _, req := range []session.SyncRequest{
		{Keep: n + 1, Check: "31.0123456789abcdef"},
		{Keep: n, Check: "0.0123456789abcdef"},
		{Keep: 3, Check: rev},
		{Keep: 1 << 40, Check: rev},
		{Keep: 5, Check: ""},
		{Keep: 5, Check: "no revision"},
	} {
		req.Session, req.Base = h.id, req.Check
		req.Messages = [][]byte{[]byte(`{"id":"x","role":"user","time":1,"parts":[]}`)}
		_, err := h.s.Sync(context.Background(), req)
		var e *compartments.Error
		if !errors.As(err, &e) || e.Code != compartments.CodeResync || e.Data["keep"] != n || e.Data["check"] != rev {
			t.Fatalf("keep %d, check %q: %v %v", req.Keep, req.Check, err, e)
		}
	}
	if _, err := h.ask("7.0123456789abcdef"); compartments.CodeOf(err) != compartments.CodeResync {
		t.Fatalf("transform of another list: %v", err)
	}
	h.request()

	// told from nothing, it is the same session
	plan, folds := h.reply.PlanID, len(h.foldsStored())
	h.acked = 0
	h.request()
	if h.reply.PlanID != plan || len(h.foldsStored()) != folds {
		t.Fatal("the same list, told anew, changed the plan")
	}
}

// TestSync_AnnounceToAnotherProcess: a list that another process synced is
// known here too, and no message is sent again.
func TestSync_AnnounceToAnotherProcess(t *testing.T) {
	h := start(t, 16_000)
	first, second := h.s, newSessions(t, h.store)
	for i := range 6 {
		h.user(words(i))
		h.s = []*session.Sessions{first, second}[i%2]
		rev := h.revision(len(h.list) - 1)
		if _, err := h.s.Sync(context.Background(), session.SyncRequest{Session: h.id, Base: rev, Keep: len(h.list) - 1, Check: rev}); err != nil {
			t.Fatalf("announcing %d messages: %v", len(h.list)-1, err)
		}
		h.request()
	}
}

// TestSync_TheSameRequestTwice: the answer of a transform was lost.
func TestSync_TheSameRequestTwice(t *testing.T) {
	for seed := range int64(4) {
		plain, twice := start(t, 16_000), start(t, 16_000)
		want := script(plain, seed, 50, func(int) {})
		for i, got := range script(twice, seed, 50, func(int) {
			rev := twice.sync()
			if _, err := twice.ask(rev); err != nil {
				t.Fatal(err)
			}
			twice.disturbed = true // the plan may have changed with the answer that was lost
		}) {
			if got != want[i] {
				t.Fatalf("seed %d: asked twice, request %d gets plan %.8s, once %.8s", seed, i, got, want[i])
			}
		}
	}
}

func TestSync_MessagesWithoutIDs(t *testing.T) {
	for _, restart := range []bool{false, true} {
		h := start(t, 16_000)
		for i := range 14 {
			h.user(words(i)).id = ""
			for range 3 {
				h.request()
				if restart {
					h.s = newSessions(t, h.store)
				}
				h.step(words(i), 2000).id = ""
			}
		}
		if h.folds == 0 {
			t.Fatal("never folded")
		}
		h.revert(len(h.list) - 3)
		h.user("the other way").id = ""
		h.request()
	}
}

func TestSync_BadMessages(t *testing.T) {
	h := folded(t, 16_000)
	n, rev := len(h.list), h.revision(len(h.list))
	entries := len(h.store.all[h.id].Entries)
	good := `{"id":"fine","role":"user","time":1,"parts":[{"type":"text","text":"fine"}]}`
	for name, messages := range map[string][]string{
		"no JSON":                   {good, `{`},
		"no object":                 {good, `[1]`},
		"no role":                   {good, `{"id":"a","parts":[]}`},
		"a role of its own":         {good, `{"id":"a","role":"system","parts":[]}`},
		"parts that are none":       {good, `{"id":"a","role":"user","parts":{}}`},
		"one ID twice in the piece": {good, good},
		"an ID that stands already": {good, strings.Replace(good, "fine", h.list[2].id, 1)},
	} {
		req := session.SyncRequest{Session: h.id, Base: rev, Keep: n, Check: rev}
		for _, m := range messages {
			req.Messages = append(req.Messages, []byte(m))
		}
		if _, err := h.s.Sync(context.Background(), req); compartments.CodeOf(err) != compartments.CodeBadInput {
			t.Fatalf("%s: %v", name, err)
		}
		if len(h.store.all[h.id].Entries) != entries {
			t.Fatalf("%s: something was stored", name)
		}
	}
	if _, err := h.s.Sync(context.Background(), session.SyncRequest{}); compartments.CodeOf(err) != compartments.CodeBadInput {
		t.Fatalf("no session: %v", err)
	}
	h.request()
}

// TestSync_StrangeParts: whatever bytes a message has, they are stored as they
// came, counted, and never an error.
func TestSync_StrangeParts(t *testing.T) {
	h := start(t, 16_000)
	strange := []string{
		`{"id":"s1","role":"user","time":1,"parts":[{"type":"text","text":"\ud800 lone, \u0000 nul, \u001b[31mred"}]}`,
		`{"id":"s2","role":"assistant","time":{"created":5},"b":1,"a":9007199254740993,"t":"<&>","parts":[{"type":"hologram","data":{"x":[1,2,3]},"text":"seen"}]}`,
		`{"id":"s3","role":"assistant","time":1e300,"parts":[]}`,
		`{"id":"s4","role":"assistant","parts":[{"type":"tool","tool":"bash","callID":"read:0","state":{"status":"completed","input":{"a":1},"output":{"not":"a string"}}},{"type":"tool","tool":"bash","callID":"read:0","state":{"status":"error","error":"aborted"}}]}`,
		`{"id":"s5","role":"assistant","parts":[{"type":"tool"},{"type":"tool","state":7},{"type":5},7,null,"text",{"type":"reasoning","text":"hm","metadata":{"signature":"abc"}}]}`,
		`{"id":"s6","role":"user","time":-5,"parts":[{"type":"text","text":"   "}]}`,
		`{"id":"s7","role":"assistant","tokens":{"input":-5,"output":1e18},"parts":[{"type":"text","text":""}]}`,
		"{\"id\":\"s8\",\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"text\":\"bad \xff\xfe utf-8\"}]}",
		`{"id":"` + strings.Repeat("long", 500) + `","role":"user","parts":[{"type":"file","mime":"image/png","url":"data:` + strings.Repeat("A", 3000) + `"}]}`,
		`{"id":"🙂","role":"user","parts":[{"type":"text","text":"🙂🙂"}]}`,
	}
	rev := compartments.EmptyRevision()
	req := session.SyncRequest{Session: h.id, Base: rev.String(), Check: rev.String()}
	for _, raw := range strange {
		m, err := compartments.DecodeMessage([]byte(raw))
		if err != nil {
			t.Fatalf("%.80s: %v", raw, err)
		}
		rev = rev.Add(m.Print())
		req.Messages = append(req.Messages, []byte(raw))
	}
	got, err := h.s.Sync(context.Background(), req)
	if err != nil || got != rev.String() {
		t.Fatalf("revision %s, want %s (%v)", got, rev, err)
	}
	for i, raw := range strange {
		if stored := h.store.all[h.id].raws[compartments.Ordinal(i+1)]; string(stored) != raw {
			t.Fatalf("message %d is stored as %.80q", i, stored)
		}
	}
	for _, s := range []*session.Sessions{h.s, newSessions(t, h.store)} {
		if _, err := s.Transform(context.Background(), session.TransformRequest{Session: h.id, Rev: got, Model: session.Model{Context: 16_000}, Now: 1}); err != nil {
			t.Fatal(err)
		}
	}
	// and they fold
	for _, raw := range strange {
		h.list = append(h.list, &message{raw: []byte(raw), id: idOf(raw), role: "user", more: map[string]any{}})
	}
	h.acked = len(h.list)
	for i := range 20 {
		h.user(words(i))
		h.step(words(i), 3000)
		check := rev
		req := session.SyncRequest{Session: h.id, Base: check.String(), Keep: h.acked, Check: check.String()}
		for _, m := range h.list[h.acked:] {
			req.Messages = append(req.Messages, m.bytes())
			rev = rev.Add(m.print)
		}
		if got, err = h.s.Sync(context.Background(), req); err != nil || got != rev.String() {
			t.Fatalf("revision %s, want %s (%v)", got, rev, err)
		}
		h.acked = len(h.list)
		reply, err := h.ask(got)
		if err != nil {
			t.Fatal(err)
		}
		h.applied = reply.PlanID
		if reply.Stats.Folded {
			h.folds++
		}
	}
	if h.folds == 0 {
		t.Fatal("never folded")
	}
}

func idOf(raw string) string {
	var m struct{ ID string }
	_ = json.Unmarshal([]byte(raw), &m)
	return m.ID
}

// TestSync_ResultsOfTheirOwn: no cut falls between a call and results that are
// messages of their own.
func TestSync_ResultsOfTheirOwn(t *testing.T) {
	for _, size := range []int{200, 1500, 40_000} {
		h := start(t, 16_000)
		for turn := range 20 {
			h.user(words(turn))
			h.request()
			for step := range 3 {
				h.results(slices.Repeat([]int{size}, 1+step)...)
				h.request()
			}
			h.step("done")
		}
		if h.folds == 0 {
			t.Fatalf("outputs of %d: never folded", size)
		}
	}
}

func TestSync_LargeParts(t *testing.T) {
	h := start(t, 60_000)
	h.user("read the dump")
	h.request()
	sizes := []int{10 << 20, 1 << 20, 1 << 20}
	if testing.Short() {
		sizes = sizes[1:]
	}
	for _, size := range sizes {
		h.step("reading", size)
		if reply := h.request(); reply.Stats.Stubs == 0 {
			t.Fatalf("no stub for %d bytes: %+v", size, reply.Stats)
		}
	}
	h.user("now the next")
	for range 5 {
		h.step("on it", 4000)
		h.request()
	}
}

func TestSync_EmptyList(t *testing.T) {
	h := start(t, 16_000)
	h.sync()
	reply, err := h.ask(h.revision(0))
	if err != nil || reply.Stats.Messages != 0 {
		t.Fatalf("%+v, %v", reply, err)
	}
	if _, err := h.s.Status(context.Background(), h.id); compartments.CodeOf(err) != compartments.CodeUnknownSession {
		t.Fatalf("status of a session that has no messages: %v", err)
	}
	h.user("hello")
	h.request()
}

// TestSync_Parent: the session that spawned this one is remembered.
func TestSync_Parent(t *testing.T) {
	h := start(t, 16_000)
	h.parent = "ses_parent"
	h.user("do this for me")
	h.request()
	if got := h.store.all[h.id].Parent; got != h.parent {
		t.Fatalf("parent %q", got)
	}
}

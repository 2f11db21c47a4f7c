package session_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"ctxplugin/compartments"
	"ctxplugin/session"
)

// TestLarge_StubsReadNothing: the stub of a large output is made from what sync
// kept of it, also in a process that never saw the output, and it is the stub
// that the output itself would give.
func TestLarge_StubsReadNothing(t *testing.T) {
	store := &counting{memory: newMemory()}
	h := newHost(t, newSessions(t, store), store.memory, 60_000)
	h.turn("work", 3, 500)
	h.request()
	h.user("now the large one")
	large := strings.Repeat("row of the log\n", 40_000)
	m := h.add("assistant", part{kind: "text", text: "I look."},
		part{kind: "tool", tool: "bash", input: `{}`, status: "completed", output: large},
		part{kind: "tool", tool: "read", input: `{}`, status: "error", output: large + large},
		part{kind: "tool", tool: "look", input: `{}`, status: "completed", output: "seen", attached: 40},
		part{kind: "tool", tool: "list", input: `{}`, status: "completed", output: strings.Repeat("row of the log\n", 80)})
	h.sync()
	for name, s := range map[string]*session.Sessions{"the same process": h.s, "another process": newSessions(t, store)} {
		store.read = 0
		h.s = s
		h.request()
		if store.read != 0 {
			t.Errorf("%s: %d tokens were read to make stubs", name, store.read)
		}
		if len(h.plan.Edits) != 3 {
			t.Fatalf("%s: %d stubs, want 3", name, len(h.plan.Edits))
		}
		for _, e := range h.plan.Edits {
			state, size := "bash, completed", len(large)
			if e.Part == 2 {
				state, size = "read, failed", 2*len(large)
			}
			if e.Part == 3 {
				if want := "[stored output of look, completed, 4 characters and 40 files; not shown here."; !strings.HasPrefix(e.Value, want) {
					t.Errorf("%s: %q\nwant %q…", name, e.Value, want)
				}
				continue
			}
			want := fmt.Sprintf("[stored output of %s, %d characters; not shown here. The whole: ctx_expand({\"message\": %d, \"part\": %d})]\nIt begins:\nrow of the log\n",
				state, size, len(h.list), e.Part)
			if string(e.MessageID) != m.id || !strings.HasPrefix(e.Value, want) || len(e.Value) > len(want)+400 {
				t.Errorf("%s: %q\nwant %q…", name, e.Value, want)
			}
		}
	}
}

// TestLarge_PreviewTooShort: what was stored with a shorter preview than is asked
// for, or before there were any, is read.
func TestLarge_PreviewTooShort(t *testing.T) {
	store := &counting{memory: newMemory()}
	cfg := testConfig(store)
	cfg.Settings.StubPreview = 20
	h := newHost(t, startSessions(t, cfg), store.memory, 60_000)
	h.turn("work", 3, 500)
	h.user("now the large one")
	h.step("I look", 500_000)
	h.sync()
	h.s = newSessions(t, store)
	store.read = 0
	h.request()
	if len(h.plan.Edits) != 1 || store.read == 0 || len(h.plan.Edits[0].Value) < 400 {
		t.Errorf("%d tokens were read for %+v", store.read, h.plan.Edits)
	}
}

// TestLarge_Attachments: pictures that a result carries count, their stub says
// so, and a request that they alone make too large fits.
func TestLarge_Attachments(t *testing.T) {
	h := start(t, 30_000)
	h.turn("work", 2, 300)
	h.request()
	before := h.reply.Stats.Messages
	h.add("assistant", part{kind: "tool", tool: "read", input: `{}`, status: "completed", output: "Image read", attached: 2})
	h.request()
	if grown := h.reply.Stats.Messages - before; grown < 3200 || grown > 3300 {
		t.Errorf("two pictures made the request larger by %d tokens", grown)
	}
	h.add("assistant", part{kind: "tool", tool: "screenshots", input: `{}`, status: "completed", output: "40 pages", attached: 40})
	h.request()
	var stub string
	for _, e := range h.plan.Edits {
		if int(e.Part) == 0 && strings.Contains(e.Value, "screenshots") {
			stub = e.Value
		}
	}
	if !strings.Contains(stub, "8 characters and 40 files; not shown here") {
		t.Errorf("stubs: %+v", h.plan.Edits)
	}
	if h.reply.Stats.Irreducible != "" {
		t.Error(h.reply.Stats.Irreducible)
	}
}

// BenchmarkLargeOutput is the pass right after a step that put out 10 MB.
func BenchmarkLargeOutput(b *testing.B) {
	h := newReal(b)
	h.sync(300)
	for h.transform(); !h.settle(); h.transform() {
		h.sync(1)
	}
	output := h.text(10 << 20)
	var syncs, transforms []time.Duration
	for b.Loop() {
		b.StopTimer()
		h.sync(8)
		h.transform()
		h.settle()
		h.n++
		raw := fmt.Appendf(nil, `{"id":"msg_%06d","role":"assistant","time":%d,"finish":"tool-calls","parts":[{"type":"tool","tool":"bash","callID":"c","state":{"status":"completed","input":{},"output":"%d %s"}}]}`,
			h.n, h.now, h.n, output)
		m, err := compartments.DecodeMessage(raw)
		if err != nil {
			b.Fatal(err)
		}
		req := session.SyncRequest{Session: "long", Base: h.rev.String(), Keep: h.rev.Count, Check: h.rev.String(), Messages: [][]byte{raw}}
		h.rev = h.rev.Add(m.Print())
		b.StartTimer()
		start := time.Now()
		h.send(req)
		synced := time.Now()
		h.transform()
		transforms, syncs = append(transforms, time.Since(synced)), append(syncs, synced.Sub(start))
	}
	report(b, "sync", syncs)
	report(b, "transform", transforms)
	if _, err := h.s.Status(context.Background(), "long"); err != nil {
		b.Fatal(err)
	}
}

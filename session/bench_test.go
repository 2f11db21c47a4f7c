package session_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ctxplugin/compartments"
	"ctxplugin/decay"
	"ctxplugin/expand"
	"ctxplugin/historian"
	"ctxplugin/session"
	"ctxplugin/sqlite"
	"ctxplugin/tokens"
)

const (
	longMessages = 10_000 // of the long session: about 20 MB
	pieceBytes   = 8 << 20
)

// real is a host over the real store, counter and historian.
type real struct {
	tb    testing.TB
	s     *session.Sessions
	store *sqlite.Store
	r     *rand.Rand
	words []string
	rev   compartments.Revision
	n     int
	apply string
	now   int64
}

func newReal(tb testing.TB) *real {
	store, err := sqlite.Open(context.Background(), filepath.Join(tb.TempDir(), "ctx.db"), sqlite.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	h := &real{tb: tb, store: store, r: rand.New(rand.NewPCG(1, 2)), rev: compartments.EmptyRevision(), now: 1_700_000_000_000}
	for range 3000 {
		var w strings.Builder
		for range 2 + h.r.IntN(8) {
			w.WriteByte("etaoinshrdlucmfwypvbgkjqxz_"[min(h.r.IntN(27), h.r.IntN(27))])
		}
		h.words = append(h.words, w.String())
	}
	counter := tokens.New()
	writer := historian.New(counter.Count)
	h.s = session.New(session.Config{Store: store, Historian: writer, Scan: writer.Scan, Expander: expand.New(store, counter.Count),
		Count: counter.Count, Settings: decay.Defaults()})
	tb.Cleanup(func() {
		closeSessions(tb, h.s)
		if err := store.Close(); err != nil {
			tb.Error(err)
		}
	})
	return h
}

// text is about n bytes of words.
func (h *real) text(n int) string {
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(h.words[min(h.r.IntN(len(h.words)), h.r.IntN(len(h.words)))])
		if h.r.IntN(9) == 0 {
			b.WriteString(".\\n")
		} else {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// message is the next message: one in seven is of the user, the others are steps
// with a call whose output has about 1.9 KB.
func (h *real) message() []byte {
	h.n++
	h.now += 3000
	var raw string
	if h.n%7 == 1 {
		raw = fmt.Sprintf(`{"id":"msg_%06d","role":"user","time":%d,"parts":[{"type":"text","text":"%s"}]}`, h.n, h.now, h.text(300))
	} else {
		raw = fmt.Sprintf(`{"id":"msg_%06d","role":"assistant","time":%d,"finish":"tool-calls","parts":[{"type":"text","text":"%s"},{"type":"tool","tool":"bash","callID":"c%d","state":{"status":"completed","input":{"command":"%s"},"output":"%s"}}]}`,
			h.n, h.now, h.text(100), h.n, strings.ReplaceAll(h.text(60), `\n`, " "), h.text(1900))
	}
	m, err := compartments.DecodeMessage([]byte(raw))
	if err != nil {
		h.tb.Fatal(err)
	}
	h.rev = h.rev.Add(m.Print())
	return []byte(raw)
}

// sync syncs n new messages in pieces, as they are made.
func (h *real) sync(n int) {
	for n > 0 {
		var req session.SyncRequest
		req, n = h.piece(n)
		h.send(req)
	}
}

// piece makes the next piece of n new messages, and says how many are left.
func (h *real) piece(n int) (req session.SyncRequest, left int) {
	req = session.SyncRequest{Session: "long", Base: h.rev.String(), Keep: h.rev.Count, Check: h.rev.String()}
	for bytes := 0; n > 0 && bytes < pieceBytes; n-- {
		m := h.message()
		bytes += len(m)
		req.Messages = append(req.Messages, m)
	}
	req.More = n > 0
	return req, n
}

// send sends the piece that was made last.
func (h *real) send(req session.SyncRequest) { h.sendFor(req, h.rev.String()) }

// sendFor sends a piece whose list has a revision.
func (h *real) sendFor(req session.SyncRequest, want string) {
	rev, err := h.s.Sync(context.Background(), req)
	if err != nil || rev != want {
		h.tb.Fatalf("sync: %s, %v", rev, err)
	}
}

func (h *real) transform() session.TransformReply {
	reply, err := h.s.Transform(context.Background(), session.TransformRequest{Session: "long", Rev: h.rev.String(), Applied: h.apply, DeadlineMs: 1500,
		Agent: "build", FixedBytes: 38_000, Now: h.now, Model: session.Model{ID: "m", Provider: "p", Context: 200_000, Output: 32_000,
			Prices: compartments.Prices{Input: 3e6, Output: 15e6, CacheRead: 3e5, CacheWrite: 375e4, Kind: "marks", TTLMs: 300_000}}})
	if err != nil {
		h.tb.Fatal(err)
	}
	h.apply = reply.PlanID
	return reply
}

// settle waits until nothing goes on behind the last answer, and reports whether
// all is written.
func (h *real) settle() (written bool) {
	status, err := h.s.Status(context.Background(), "long")
	if err != nil {
		h.tb.Fatal(err)
	}
	return strings.Contains(status.Historian, "nothing")
}

// play makes the long session and lets the historian write all of it.
func (h *real) play() {
	h.sync(longMessages)
	for h.transform(); !h.settle(); h.transform() {
		h.sync(1)
	}
}

func report(b *testing.B, name string, took []time.Duration) {
	slices.Sort(took)
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	b.ReportMetric(ms(took[len(took)/10]), name+"-p10-ms")
	b.ReportMetric(ms(took[len(took)/2]), name+"-p50-ms")
	b.ReportMetric(ms(took[len(took)*99/100]), name+"-p99-ms")
}

// BenchmarkPass is one pass of a session of 10,000 messages, committed: three new
// messages synced, and the plan for the next request.
func BenchmarkPass(b *testing.B) {
	h := newReal(b)
	h.play()
	var syncs, transforms, passes []time.Duration
	folds := 0
	for b.Loop() {
		b.StopTimer()
		if _, err := h.s.Fold(context.Background(), "long", true); err != nil { // waits, as settle does, and is quick
			b.Fatal(err)
		}
		req, _ := h.piece(3)
		b.StartTimer()
		start := time.Now()
		h.send(req)
		synced := time.Now()
		reply := h.transform()
		end := time.Now()
		if reply.Stats.Folded {
			folds++
		}
		syncs, transforms, passes = append(syncs, synced.Sub(start)), append(transforms, end.Sub(synced)), append(passes, end.Sub(start))
	}
	report(b, "sync", syncs)
	report(b, "transform", transforms)
	report(b, "pass", passes)
	b.ReportMetric(float64(folds)/float64(len(passes)), "folds/op")
}

// BenchmarkFirstSight is the first sync of 10,000 messages, and the first plan.
func BenchmarkFirstSight(b *testing.B) {
	var syncs, plans []time.Duration
	for b.Loop() {
		b.StopTimer()
		h := newReal(b)
		var pieces []session.SyncRequest
		var revs []string
		for left := longMessages; left > 0; {
			var req session.SyncRequest
			req, left = h.piece(left)
			pieces, revs = append(pieces, req), append(revs, h.rev.String())
		}
		b.StartTimer()
		start := time.Now()
		for i, piece := range pieces {
			h.sendFor(piece, revs[i])
		}
		synced := time.Now()
		h.transform()
		planned := time.Now()
		syncs, plans = append(syncs, synced.Sub(start)), append(plans, planned.Sub(synced))
	}
	report(b, "sync", syncs)
	report(b, "plan", plans)
}

// BenchmarkWriting is how long it takes, behind answers, until compartments are
// written for all of it.
func BenchmarkWriting(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		h := newReal(b)
		h.sync(longMessages)
		h.transform()
		b.StartTimer()
		for !h.settle() {
			h.sync(1)
			h.transform()
		}
	}
}

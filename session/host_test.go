package session_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"ctxplugin/compartments"
	"ctxplugin/decay"
	"ctxplugin/expand"
	"ctxplugin/session"
)

// host plays a host's side: it keeps the list, syncs what is new, applies plans
// as docs/protocol.md says, and checks every request.
type host struct {
	t        *testing.T
	s        *session.Sessions
	id       compartments.SessionID
	list     []map[string]any
	acked    int
	revs     []compartments.Revision // after each message of list, as far as worked out
	applied  string
	plan     plan
	last     []string // canonical messages of the last request
	lastPlan string
	window   int
	fixed    int
	now      int64
	prices   compartments.Prices
	replies  []session.TransformReply
	requests int
}

type plan struct {
	ID      string              `json:"id"`
	Head    []compartments.Pair `json:"head"`
	Through string              `json:"through"`
	Keep    []string            `json:"keep"`
	Edits   []struct {
		MessageID string `json:"messageID"`
		Part      int    `json:"part"`
		Field     string `json:"field"`
		Value     string `json:"value"`
	} `json:"edits"`
}

func count(s string) int { return (len(s) + 3) / 4 }

func newSessions(t *testing.T, store session.Store) *session.Sessions {
	s := session.New(session.Config{Store: store, Historian: &naive{}, Scan: scan, Expander: expand.New(store, count), Count: count, Settings: decay.Defaults()})
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	return s
}

func newHost(t *testing.T, s *session.Sessions, window int) *host {
	return &host{t: t, s: s, id: "ses_1", window: window, fixed: window / 8, now: 1_700_000_000_000,
		prices: compartments.Prices{Input: 3e6, Output: 15e6, CacheRead: 3e5, CacheWrite: 375e4, Kind: "marks", TTLMs: 300_000}}
}

func (h *host) user(text string) {
	h.list = append(h.list, map[string]any{"id": fmt.Sprintf("msg_%04d", len(h.list)+1), "role": "user", "time": h.now,
		"parts": []any{map[string]any{"type": "text", "text": text}}})
}

// step adds an assistant message with text and calls of the given output sizes.
func (h *host) step(text string, outputs ...int) {
	parts := []any{}
	if text != "" {
		parts = append(parts, map[string]any{"type": "text", "text": text})
	}
	for i, n := range outputs {
		parts = append(parts, map[string]any{"type": "tool", "tool": "bash", "callID": fmt.Sprintf("call_%d_%d", len(h.list), i),
			"state": map[string]any{"status": "completed", "input": map[string]any{"command": "cat big"}, "output": strings.Repeat("line of output\n", n/15+1)}})
	}
	h.list = append(h.list, map[string]any{"id": fmt.Sprintf("msg_%04d", len(h.list)+1), "role": "assistant", "time": h.now, "finish": "stop", "parts": parts})
}

// revision is that of the first n messages; edits of the list truncate revs.
func (h *host) revision(n int) string {
	if len(h.revs) == 0 {
		h.revs = append(h.revs, compartments.EmptyRevision())
	}
	for i := len(h.revs) - 1; i < n; i++ {
		d, err := compartments.DecodeMessage(encode(h.list[i]))
		if err != nil {
			h.t.Fatal(err)
		}
		h.revs = append(h.revs, h.revs[i].Add(d.Print()))
	}
	return h.revs[n].String()
}

func encode(m map[string]any) []byte {
	b, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return b
}

// sync sends what is new and returns the revision.
func (h *host) sync() string {
	h.t.Helper()
	req := session.SyncRequest{Session: h.id, Base: h.revision(h.acked), Keep: h.acked, Check: h.revision(h.acked)}
	for _, m := range h.list[h.acked:] {
		req.Messages = append(req.Messages, encode(m))
	}
	rev, err := h.s.Sync(context.Background(), req)
	if err != nil {
		h.t.Fatalf("sync: %v", err)
	}
	if want := h.revision(len(h.list)); rev != want {
		h.t.Fatalf("sync: revision %s, want %s", rev, want)
	}
	h.acked = len(h.list)
	return rev
}

func (h *host) ask(rev string) (session.TransformReply, error) {
	return h.s.Transform(context.Background(), session.TransformRequest{Session: h.id, Rev: rev, Applied: h.applied, Agent: "build",
		Model: session.Model{ID: "m", Provider: "p", Context: h.window, Output: 8192, Prices: h.prices}, FixedBytes: h.fixed * 4, Now: h.now})
}

// request makes one request of the host and checks it.
func (h *host) request() session.TransformReply {
	h.t.Helper()
	rev := h.sync()
	reply, err := h.ask(rev)
	if err != nil {
		h.t.Fatalf("transform: %v", err)
	}
	h.apply(reply)
	h.replies = append(h.replies, reply)
	return reply
}

func (h *host) apply(reply session.TransformReply) {
	h.t.Helper()
	if reply.Plan != nil {
		h.plan = plan{}
		if err := json.Unmarshal(reply.Plan, &h.plan); err != nil {
			h.t.Fatal(err)
		}
	}
	if h.plan.ID != "" && h.plan.ID != reply.PlanID {
		h.t.Fatalf("plan %s answered, but %s is in force", reply.PlanID, h.plan.ID)
	}
	request := h.render()
	h.requests++
	tokens := 0
	for _, m := range request {
		tokens += count(m)
	}
	if reply.Stats.Irreducible == "" && tokens > reply.Stats.Usable+reply.Stats.Usable/50 {
		h.t.Fatalf("request %d: %d tokens where %d fit (fold %d)", h.requests, tokens, reply.Stats.Usable, reply.Stats.Fold)
	}
	if len(request) > 0 && !strings.HasPrefix(request[0], "user") {
		h.t.Fatalf("request %d begins with %.40q", h.requests, request[0])
	}
	if reply.PlanID == h.lastPlan {
		for i := range h.last {
			if i >= len(request) || request[i] != h.last[i] {
				h.t.Fatalf("request %d: message %d changed between folds", h.requests, i)
			}
		}
	} else if h.lastPlan != "" && !reply.Stats.Folded && reply.Stats.Stubs == 0 {
		h.t.Fatalf("request %d: the plan changed without a fold or a stub", h.requests)
	}
	h.last, h.lastPlan, h.applied = request, reply.PlanID, reply.PlanID
}

// render applies the plan as the protocol says.
func (h *host) render() []string {
	var out []string
	for _, p := range h.plan.Head {
		out = append(out, "user "+p.Text, "assistant Noted.")
	}
	through := -1
	keep := map[string]bool{}
	for _, k := range h.plan.Keep {
		keep[k] = true
	}
	for i, m := range h.list {
		if m["id"] == h.plan.Through {
			through = i
		}
	}
	if h.plan.Through != "" && through < 0 {
		h.t.Fatalf("request %d: through %q is not in the list", h.requests, h.plan.Through)
	}
	for i, m := range h.list {
		if i <= through && !keep[m["id"].(string)] {
			continue
		}
		var b strings.Builder
		b.WriteString(m["role"].(string))
		for j, p := range m["parts"].([]any) {
			part := p.(map[string]any)
			if text, ok := part["text"].(string); ok {
				b.WriteString(" " + text)
			}
			if st, ok := part["state"].(map[string]any); ok {
				output := st["output"].(string)
				for _, e := range h.plan.Edits {
					if e.MessageID == m["id"] && e.Part == j && e.Field == "output" {
						output = e.Value
					}
				}
				b.WriteString(" " + string(encode(st["input"].(map[string]any))) + output)
			}
		}
		out = append(out, b.String())
	}
	return out
}

func TestLongSession_FitsAndKeepsItsPrefix(t *testing.T) {
	for _, window := range []int{16_000, 60_000, 200_000} {
		for seed := range int64(2) {
			t.Run(fmt.Sprintf("%d/%d", window, seed), func(t *testing.T) {
				t.Parallel()
				store := newMemory()
				h := newHost(t, newSessions(t, store), window)
				r := rand.New(rand.NewSource(seed))
				folds := 0
				for turn := range 40 {
					h.now += int64(r.Intn(400_000))
					h.user(fmt.Sprintf("turn %d: please %s", turn, strings.Repeat("do this and that ", r.Intn(40))))
					for step := range 1 + r.Intn(12) {
						if h.request().Stats.Folded {
							folds++
						}
						h.now += int64(r.Intn(20_000))
						sizes := make([]int, r.Intn(3))
						for i := range sizes {
							sizes[i] = r.Intn(6000)
							if r.Intn(20) == 0 {
								sizes[i] = window * 5 // characters: larger than the window
							}
						}
						h.step(strings.Repeat(fmt.Sprintf("step %d of turn %d. ", step, turn), r.Intn(8)), sizes...)
					}
				}
				if folds == 0 {
					t.Fatal("never folded")
				}
				t.Logf("%d requests, %d folds, pairs %d", h.requests, folds, len(h.plan.Head))
			})
		}
	}
}

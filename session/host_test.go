package session_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ctxplugin/compartments"
	"ctxplugin/decay"
	"ctxplugin/expand"
	"ctxplugin/session"
)

// host plays a host's side: it keeps the list, syncs what is new, applies plans
// as docs/protocol.md says, and checks every request by rules of its own.
type host struct {
	t      fataler
	s      *session.Sessions
	store  *memory
	id     compartments.SessionID
	parent compartments.SessionID
	list   []*message
	acked  int
	forked bool
	born   int // messages ever made; ids come from it

	context  int // the model's window
	output   int
	model    string
	fixed    int // tokens of system and tools
	now      int64
	prices   compartments.Prices
	deadline int
	report   int // what the provider reports of our count, permille; 0 reports nothing

	applied   string
	plan      plan
	last      []sent // the last request
	lastPlan  string
	disturbed bool // the list changed otherwise than by growing, or a message did
	requests  int
	folds     int
	reply     session.TransformReply

	inbox *inbox // nil for a host that takes no plans between two requests
	known known
}

// fataler is a test, or a run of a property.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

type message struct {
	id    string
	role  string
	time  int64
	parts []part
	more  map[string]any // further fields
	group string         // of a call and results that are messages of their own
	raw   []byte         // encoded; nil after a change
	print compartments.Fingerprint
}

type part struct {
	kind                string // text, reasoning, tool, file, compaction
	text                string
	synthetic           bool
	tool, input, output string
	status              string
	attached            int // pictures beside a result
}

type plan struct {
	ID      string              `json:"id"`
	Head    []compartments.Pair `json:"head"`
	Through string              `json:"through"`
	Keep    []string            `json:"keep"`
	Edits   []compartments.Edit `json:"edits"`
}

// sent is one message of a request, as the provider sees it.
type sent struct {
	id, role, text string
	tokens         int
	parts          int
}

func count(s string) int { return (len(s) + 3) / 4 }

func testConfig(store session.Store) session.Config {
	return session.Config{Store: store, Historian: &naive{}, Scan: scan, Expander: expand.New(store, count), Count: count, Settings: decay.Defaults()}
}

func newSessions(t testing.TB, store session.Store) *session.Sessions {
	return startSessions(t, testConfig(store))
}

func startSessions(t testing.TB, cfg session.Config) *session.Sessions {
	s := session.New(cfg)
	t.Cleanup(func() { closeSessions(t, s) })
	return s
}

func closeSessions(t fataler, s *session.Sessions) {
	if err := s.Close(context.Background()); err != nil {
		t.Fatalf("close: %v", err)
	}
}

func newHost(t fataler, s *session.Sessions, store *memory, window int) *host {
	return &host{t: t, s: s, store: store, id: "ses_1", context: window, output: 8192, model: "m", fixed: window / 8, now: 1_700_000_000_000,
		prices: compartments.Prices{Input: 3e6, Output: 15e6, CacheRead: 3e5, CacheWrite: 375e4, Kind: "marks", TTLMs: 300_000}}
}

// start is a host over a store of its own.
func start(t testing.TB, window int) *host {
	store := newMemory()
	return newHost(t, newSessions(t, store), store, window)
}

func (m *message) bytes() []byte {
	if m.raw != nil {
		return m.raw
	}
	parts := make([]any, len(m.parts))
	for i, p := range m.parts {
		w := map[string]any{"type": p.kind}
		switch p.kind {
		case "tool":
			state := map[string]any{"status": p.status}
			if p.input != "" {
				state["input"] = json.RawMessage(p.input)
			}
			switch p.status {
			case "completed":
				state["output"] = p.output
				if p.attached > 0 {
					picture := map[string]any{"type": "file", "mime": "image/png", "url": "data:image/png;base64," + strings.Repeat("A", 400)}
					state["attachments"] = slices.Repeat([]any{picture}, p.attached)
				}
			case "error":
				state["error"] = p.output
			}
			w["tool"], w["callID"], w["state"] = p.tool, fmt.Sprintf("call_%d", i), state
		case "file":
			w["mime"], w["url"] = "image/png", "data:image/png;base64,"+strings.Repeat("A", 400)
		default:
			w["text"] = p.text
			if p.synthetic {
				w["synthetic"] = true
			}
		}
		parts[i] = w
	}
	w := map[string]any{"role": m.role, "time": m.time, "parts": parts}
	if m.id != "" {
		w["id"] = m.id
	}
	for k, v := range m.more {
		w[k] = v
	}
	raw, err := json.Marshal(w)
	if err != nil {
		panic(err)
	}
	m.raw = raw
	d, err := compartments.DecodeMessage(raw)
	if err != nil {
		panic(err)
	}
	m.print = d.Print()
	return raw
}

func (p part) open() bool { return p.status == "pending" || p.status == "running" }

func (m *message) changed() { m.raw = nil }

func (m *message) real() bool {
	if m.role != "user" {
		return false
	}
	real := false
	for _, p := range m.parts {
		if p.kind == "compaction" {
			return false
		}
		real = real || p.kind == "text" && !p.synthetic && strings.TrimSpace(p.text) != ""
	}
	return real
}

// add appends a message and returns it.
func (h *host) add(role string, parts ...part) *message {
	h.born++
	m := &message{id: fmt.Sprintf("msg_%s_%04d", strings.TrimPrefix(string(h.id), "ses_"), h.born), role: role, time: h.now, parts: parts, more: map[string]any{}}
	if role == "assistant" {
		m.more["finish"] = "stop"
	}
	h.list = append(h.list, m)
	return m
}

func (h *host) user(text string) *message { return h.add("user", part{kind: "text", text: text}) }

// lines is an output of about n characters that names itself.
func lines(name string, n int) string {
	line := "output of " + name + "\n"
	return strings.Repeat(line, n/len(line)+1)
}

// step adds an assistant message with text and completed calls of the given
// output sizes, in characters.
func (h *host) step(text string, outputs ...int) *message {
	var parts []part
	if text != "" || len(outputs) == 0 {
		parts = append(parts, part{kind: "text", text: text + "."})
	}
	for i, n := range outputs {
		parts = append(parts, part{kind: "tool", tool: "bash", input: fmt.Sprintf(`{"command":"cat big-%d-%d"}`, h.born, i), status: "completed",
			output: lines(fmt.Sprintf("%d.%d", h.born, i), n)})
	}
	return h.add("assistant", parts...)
}

// results adds a call and results of given sizes that are messages of their own.
func (h *host) results(sizes ...int) {
	group := fmt.Sprint(h.id, h.born)
	h.step("calling").group = group
	for i, n := range sizes {
		h.add("tool", part{kind: "text", text: lines(fmt.Sprintf("%d.%d", h.born, i), n)}).group = group
	}
}

// turn adds a whole turn: a user message and steps.
func (h *host) turn(words string, steps int, size int) {
	h.user(words + strings.Repeat(" and so on", 10))
	for i := range steps {
		h.step(fmt.Sprintf("%s, step %d", words, i), size)
	}
}

// revision is that of the first n messages.
func (h *host) revision(n int) string { return revisionOf(h.list[:n]) }

func revisionOf(list []*message) string {
	rev := compartments.EmptyRevision()
	for _, m := range list {
		m.bytes()
		rev = rev.Add(m.print)
	}
	return rev.String()
}

// touch says that what stands from a place on is no longer what was synced.
func (h *host) touch(place int) {
	h.acked = min(h.acked, place)
	h.disturbed = true
}

// trySync sends what is new and returns the revision.
func (h *host) trySync() (string, error) {
	h.acked = min(h.acked, len(h.list))
	check := h.revision(h.acked)
	req := session.SyncRequest{Session: h.id, Parent: h.parent, Base: check, Keep: h.acked, Check: check}
	for _, m := range h.list[h.acked:] {
		req.Messages = append(req.Messages, m.bytes())
	}
	rev, err := h.s.Sync(context.Background(), req)
	if compartments.CodeOf(err) == compartments.CodeResync {
		var e *compartments.Error
		e, _ = err.(*compartments.Error)
		keep := e.Data["keep"].(int)
		if keep > len(h.list) || e.Data["check"] != h.revision(keep) {
			keep = 0
		}
		if keep == h.acked {
			return "", err
		}
		h.acked = keep
		return h.trySync()
	}
	if err == nil {
		h.acked = len(h.list)
	}
	return rev, err
}

func (h *host) sync() string {
	h.t.Helper()
	rev, err := h.trySync()
	if err != nil {
		h.t.Fatalf("sync: %v", err)
	}
	if want := h.revision(len(h.list)); rev != want {
		h.t.Fatalf("sync: revision %s, want %s", rev, want)
	}
	return rev
}

func (h *host) ask(rev string) (session.TransformReply, error) { return h.transform(rev, false) }

func (h *host) transform(rev string, sent bool) (session.TransformReply, error) {
	return h.s.Transform(context.Background(), session.TransformRequest{Session: h.id, Rev: rev, Sent: sent, Applied: h.applied, DeadlineMs: h.deadline, Agent: "build",
		Model: session.Model{ID: h.model, Provider: "p", Context: h.context, Output: h.output, Prices: h.prices}, FixedBytes: h.fixed * 4, Now: h.now})
}

// request makes one request of the host and checks it.
func (h *host) request() session.TransformReply {
	h.t.Helper()
	h.hear()
	covered := h.covered()
	rev := h.sync()
	if covered && h.requests%2 == 0 {
		return h.sendKnown(rev)
	}
	reply, err := h.ask(rev)
	if err != nil {
		h.t.Fatalf("transform: %v", err)
	}
	if covered {
		h.checkKnown(reply)
	}
	h.apply(reply)
	return reply
}

// apply takes an answer, makes the request of it and checks that.
func (h *host) apply(reply session.TransformReply) {
	h.t.Helper()
	h.take(reply.Plan)
	h.learn(reply.Standing)
	if h.plan.ID != "" && h.plan.ID != reply.PlanID {
		h.t.Fatalf("plan %s answered, but %s is in force", reply.PlanID, h.plan.ID)
	}
	h.requests++
	if h.known.folded { // between the last request and this one
		reply.Stats.Folded, h.known.folded = true, false
	}
	if reply.Stats.Folded {
		h.folds++
	}
	request := h.render()
	h.reply = reply
	h.check(request)
	h.last, h.lastPlan, h.applied, h.disturbed = request, reply.PlanID, reply.PlanID, false
}

// answer adds the assistant's message to the last request, with the usage that
// the provider reports.
func (h *host) answer(text string, outputs ...int) *message {
	m := h.step(text, outputs...)
	if h.report > 0 {
		m.more["tokens"] = map[string]any{"input": h.weight() * h.report / 1000, "output": 10, "cache": map[string]any{"read": 0, "write": 0}}
	}
	return m
}

// weight is what the last request weighs by our own count, system and tools
// included.
func (h *host) weight() int {
	n := h.fixed
	for _, m := range h.last {
		n += m.tokens
	}
	return n
}

// render makes the request: the plan applied as the protocol says.
func (h *host) render() []sent {
	var out []sent
	for i, p := range h.plan.Head {
		out = append(out, sent{id: fmt.Sprintf("msg_ctx_%d_u", i), role: "user", text: p.Text, tokens: count(p.Text) + 4, parts: 1},
			sent{id: fmt.Sprintf("msg_ctx_%d_a", i), role: "assistant", text: "Noted.", tokens: count("Noted.") + 4, parts: 1})
	}
	through := h.placeOf(h.plan.Through)
	if h.plan.Through != "" && through < 0 {
		h.t.Fatalf("request %d: through %q is not in the list", h.requests, h.plan.Through)
	}
	edits := map[string]map[seat]string{}
	for _, e := range h.plan.Edits {
		if edits[string(e.MessageID)] == nil {
			edits[string(e.MessageID)] = map[seat]string{}
		}
		edits[string(e.MessageID)][seat{e.Part, e.Field}] = e.Value
	}
	for i, m := range h.list {
		if m.more["error"] == nil && (i > through || slices.Contains(h.plan.Keep, h.name(i))) {
			out = append(out, m.sent(edits[h.name(i)]))
		}
	}
	return out
}

// name is how the plugin names the message at a place.
func (h *host) name(place int) string {
	if id := h.list[place].id; id != "" {
		return id
	}
	return fmt.Sprintf("@%d", place)
}

func (h *host) placeOf(name string) int {
	for i := range h.list {
		if h.name(i) == name {
			return i
		}
	}
	return -1
}

// seat names a field of a message.
type seat struct {
	part  int
	field compartments.Field
}

// sent is the message as the provider sees it, under edits.
func (m *message) sent(edits map[seat]string) sent {
	s := sent{id: m.id, role: m.role, tokens: 4, parts: len(m.parts)}
	var b strings.Builder
	for i, p := range m.parts {
		text, said := edits[seat{i, compartments.FieldText}]
		output, edited := edits[seat{i, compartments.FieldOutput}]
		input, called := edits[seat{i, compartments.FieldInput}]
		if said && p.kind == "tool" || (edited || called) && p.kind != "tool" {
			panic("an edit of a field that the part does not have")
		}
		switch p.kind {
		case "tool":
			if called {
				p.input = input
			}
			if edited {
				p.output, p.attached = output, 0 // an output stands for the whole result
			} else if p.open() {
				p.output = ""
			}
			fmt.Fprintf(&b, "\x00%s %s %s %s", p.tool, p.status, p.input, p.output)
			s.tokens += 12 + count(p.tool) + count(p.input) + count(p.output) + p.attached*1600
		case "file":
			b.WriteString("\x00file")
			s.tokens += 1600
		case "compaction":
			b.WriteString("\x00compaction")
			s.tokens += 8
		default:
			if said {
				p.text = text
			}
			b.WriteString("\x00" + p.text)
			s.tokens += count(p.text)
		}
	}
	s.text = b.String()
	return s
}

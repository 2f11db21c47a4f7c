package session_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ctxplugin/compartments"
	"ctxplugin/session"
)

// inbox is what hosts are told between two requests.
type inbox struct {
	mu   sync.Mutex
	news map[compartments.SessionID][]session.News
}

func (b *inbox) put(n session.News) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.news[n.Session] = append(b.news[n.Session], n)
}

func (b *inbox) take(id compartments.SessionID) []session.News {
	b.mu.Lock()
	defer b.mu.Unlock()
	news := b.news[id]
	delete(b.news, id)
	return news
}

// known is what a host knows of the next answer.
type known struct {
	how    *session.Standing
	at     int // messages of the list that it was said of
	model  string
	window [3]int // context, output, and system and tools
	given  int64
	folded bool // a plan was told since the last request
}

// take makes a plan the one that the next request is made with; nil leaves it.
func (h *host) take(encoded []byte) {
	h.t.Helper()
	if encoded == nil {
		return
	}
	h.plan = plan{}
	if err := json.Unmarshal(encoded, &h.plan); err != nil {
		h.t.Fatalf("plan: %v", err)
	}
}

// learn remembers for which lists the answer is known, if that was said of the list
// as it was sent last.
func (h *host) learn(how *session.Standing) {
	h.known.how = nil
	if n := min(h.acked, len(h.list)); how != nil && how.Rev == h.revision(n) {
		h.known = known{how, n, h.model, [3]int{h.context, h.output, h.fixed}, h.now, h.known.folded}
	}
}

// hear takes what was told since the last request.
func (h *host) hear() {
	h.t.Helper()
	if h.inbox == nil {
		return
	}
	for _, n := range h.inbox.take(h.id) {
		h.learn(n.Standing)
		if h.known.how != nil {
			h.take(n.Plan)
			h.known.folded = h.known.folded || n.Plan != nil
		}
	}
}

// covered reports whether the answer to a request of the list as it is now is known.
func (h *host) covered() bool {
	k := &h.known
	if h.inbox == nil || k.how == nil || h.disturbed || len(h.list) < k.at || h.plan.ID == "" || k.how.Rev != h.revision(k.at) ||
		k.model != h.model || k.window != [3]int{h.context, h.output, h.fixed} || h.now < k.given || h.now >= k.how.Until {
		return false
	}
	grown, most := 0, k.how.Inside
	for _, m := range h.list[k.at:] {
		grown += m.size()
		if m.real() {
			most = k.how.Next
		}
	}
	return grown <= most
}

// size is what docs/protocol.md says that a message counts as, in bytes.
func (m *message) size() int {
	n := 24
	for _, p := range m.parts {
		n += 24 + len(p.text) + len(p.tool) + len(p.input) + len(p.output) + 6000*p.attached
		if p.kind == "file" {
			n += 6000
		}
	}
	return n
}

// checkKnown: an answer that was taken for known is that, but for a fold that only pays.
func (h *host) checkKnown(reply session.TransformReply) {
	h.t.Helper()
	may := []string{"pays", "turn-ahead"}
	if h.report > 0 { // the provider counts more than was known
		may = append(may, "forced")
	}
	if reply.PlanID != h.plan.ID && !slices.Contains(may, reply.Stats.Reason) {
		h.t.Fatalf("request %d: the plan was to stand (%+v, said at %d of %d messages), and gave way: %+v", h.requests, h.known.how, h.known.at, len(h.list), reply.Stats)
	}
}

// sendKnown makes the request without an answer, tells of it, and checks it.
func (h *host) sendKnown(rev string) session.TransformReply {
	h.t.Helper()
	h.applied = h.plan.ID
	reply, err := h.transform(rev, true)
	if err != nil {
		h.t.Fatalf("transform: %v", err)
	}
	if reply.PlanID != h.plan.ID || reply.Plan != nil || reply.Stats.Folded {
		h.t.Fatalf("request %d was sent with plan %s, and is answered with %s (fold %d)", h.requests, h.plan.ID, reply.PlanID, reply.Stats.Fold)
	}
	h.apply(reply)
	return reply
}

// following is a host that takes plans between two requests.
func following(t *testing.T, window int) *host {
	h := start(t, window)
	h.inbox = &inbox{news: map[compartments.SessionID][]session.News{}}
	cfg := testConfig(h.store)
	cfg.TakesPlans, cfg.Planned, cfg.LookEvery = func() bool { return true }, h.inbox.put, time.Millisecond
	h.s = startSessions(t, cfg)
	return h
}

// TestStanding_FoldsAtTheEndOfATurn: what would be folded where the next turn begins is
// folded before, told, and sent without asking; over many turns the folds are the same
// but for that.
func TestStanding_FoldsAtTheEndOfATurn(t *testing.T) {
	asks, follows := start(t, 16_000), following(t, 16_000)
	waits := 0
	for i := range 120 {
		for _, h := range []*host{asks, follows} {
			h.user("go on with part " + string(rune('a'+i%26)))
			for range 3 {
				h.hear()
				if h == follows && !h.covered() {
					waits++
				}
				h.request()
				h.step("done", 300)
				h.now += 2000
			}
			h.request()
			h.step("that is all")
			if h == follows { // an event brings it
				h.sync()
			}
			h.event(session.Event{Type: "idle"})
		}
	}
	if asks.folds < 10 || follows.folds < asks.folds*8/10 || follows.folds > asks.folds*12/10 {
		t.Errorf("%d folds for a host that asks, %d for one that follows", asks.folds, follows.folds)
	}
	if waits != 1 {
		t.Errorf("it waited for %d of 480 answers; all but the first are known", waits)
	}
}

// TestStanding_OutdatedByOthers: whatever changes a session other than by its next
// request ends what is known of its answer.
func TestStanding_OutdatedByOthers(t *testing.T) {
	elsewhere := func(h *host) *session.Sessions { return newSessions(t, h.store) }
	for name, change := range map[string]func(*host){
		"a fold is asked for": func(h *host) {
			if r, err := h.s.Fold(context.Background(), h.id, false); err != nil || !r.Folded {
				t.Fatalf("fold: %+v, %v", r, err)
			}
		},
		"a fold is asked for elsewhere": func(h *host) {
			if r, err := elsewhere(h).Fold(context.Background(), h.id, false); err != nil || !r.Folded {
				t.Fatalf("fold: %+v, %v", r, err)
			}
		},
		"a fold is taken back": func(h *host) {
			if r, err := h.s.Undo(context.Background(), h.id); err != nil || !r.Undone {
				t.Fatalf("undo: %+v, %v", r, err)
			}
		},
		"a fold is taken back elsewhere": func(h *host) {
			if r, err := elsewhere(h).Undo(context.Background(), h.id); err != nil || !r.Undone {
				t.Fatalf("undo: %+v, %v", r, err)
			}
		},
		"forgotten": func(h *host) {
			if err := h.s.Forget(context.Background(), h.id); err != nil {
				t.Fatalf("forget: %v", err)
			}
		},
		"forgotten elsewhere": func(h *host) {
			if err := elsewhere(h).Forget(context.Background(), h.id); err != nil {
				t.Fatalf("forget: %v", err)
			}
		},
		"refused as too long": func(h *host) { h.event(session.Event{Type: "error", Overflow: true}) },
	} {
		t.Run(name, func(t *testing.T) {
			h := following(t, 16_000)
			h.prices.Kind = "none" // it folds when somebody asks
			for range 12 {
				h.turn("more", 3, 600)
				h.request()
			}
			if strings.Contains(name, "taken back") {
				if r, err := h.s.Fold(context.Background(), h.id, false); err != nil || !r.Folded {
					t.Fatalf("fold: %+v, %v", r, err)
				}
				h.request()
			}
			if h.learn(h.reply.Standing); h.known.how == nil {
				t.Fatal("nothing is known of the next answer")
			}
			change(h)
			deadline := time.Now().Add(10 * time.Second)
			for h.known.how != nil && time.Now().Before(deadline) {
				h.hear()
				time.Sleep(time.Millisecond)
			}
			if h.known.how != nil {
				t.Error("it still is")
			}
		})
	}
}

// TestStanding_OutdatedByOthersAndReadAgain: a call that reads the session again before
// the next look at the store tells what it found.
func TestStanding_OutdatedByOthersAndReadAgain(t *testing.T) {
	for name, change := range map[string]func(*host, *session.Sessions) error{
		"fold": func(h *host, s *session.Sessions) error {
			_, err := s.Fold(context.Background(), h.id, false)
			return err
		},
		"forget": func(h *host, s *session.Sessions) error { return s.Forget(context.Background(), h.id) },
	} {
		t.Run(name, func(t *testing.T) {
			h := following(t, 16_000)
			cfg := testConfig(h.store)
			cfg.TakesPlans, cfg.Planned, cfg.LookEvery = func() bool { return true }, h.inbox.put, time.Hour
			h.s = startSessions(t, cfg)
			h.prices.Kind = "none"
			for range 12 {
				h.turn("more", 3, 600)
				h.request()
			}
			if err := change(h, newSessions(t, h.store)); err != nil {
				t.Fatal(err)
			}
			_, _ = h.s.Status(context.Background(), h.id)
			news := h.inbox.take(h.id)
			if len(news) != 1 || news[0].Standing != nil || news[0].Forgotten != (name == "forget") {
				t.Errorf("told was %+v", news)
			}
		})
	}
}

// TestStanding_FoldsAsTheNextTurnWould: a fold made when a turn has ended renders what
// one at the start of the next turn would.
func TestStanding_FoldsAsTheNextTurnWould(t *testing.T) {
	asks, follows := start(t, 16_000), following(t, 16_000)
	var told plan
	for i := 0; len(told.Head) == 0 && i < 100; i++ {
		for _, h := range []*host{asks, follows} {
			h.user("next")
			for range 3 {
				h.request()
				h.step("done", 1200)
			}
			h.request()
			h.step("that is all")
			h.sync()
			h.now += 1000
		}
		follows.event(session.Event{Type: "idle"})
		if follows.hear(); follows.known.folded {
			told = follows.plan
		}
	}
	asks.user("next")
	asks.request()
	if !slices.Equal(heads(told), heads(asks.plan)) || !asks.reply.Stats.Folded {
		t.Errorf("when the turn had ended it was\n%s\nwhere the next one began\n%s", heads(told), heads(asks.plan))
	}
}

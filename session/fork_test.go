package session_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"ctxplugin/compartments"
	"ctxplugin/session"
)

// fork plays the host's fork: copies of the first n messages under new ids, or
// under the same ones, in a new session.
func (h *host) fork(n int, renamed bool) *host {
	f := newHost(h.t, h.s, h.store, h.context)
	f.id = compartments.SessionID(fmt.Sprintf("%s_fork%d", h.id, n))
	f.forked = true
	f.now, f.fixed, f.prices = h.now, h.fixed, h.prices
	for _, m := range h.list[:n] {
		c := *m
		c.parts = slices.Clone(m.parts)
		if renamed {
			h.store.ids++
			c.id = fmt.Sprintf("msg_fork_%04d", h.store.ids)
		}
		c.raw = nil
		f.list = append(f.list, &c)
	}
	f.born = max(f.born, 1000)
	return f
}

func heads(p plan) (texts []string) {
	for _, pair := range p.Head {
		texts = append(texts, pair.Text)
	}
	return texts
}

func TestFork_KeepsTheHead(t *testing.T) {
	for _, renamed := range []bool{true, false} {
		t.Run(fmt.Sprintf("renamed %v", renamed), func(t *testing.T) {
			t.Parallel()
			h := folded(t, 16_000)
			served := h.served()
			f := h.fork(len(h.list)-1, renamed)
			f.now += 3_600_000 // the cache is cold by our own clock, and still nothing folds
			f.user("a question of the fork")
			f.request()
			if got, want := heads(f.plan), heads(h.plan); !slices.Equal(got, want) {
				t.Fatalf("the fork's head is %q, the source's %q", got, want)
			}
			if f.reply.Stats.Folded {
				t.Fatal("the fork folded at once")
			}
			if got := f.served(); len(got) < len(served) || !slices.Equal(got[:len(served)], served) { // it may write more behind its answer
				t.Fatalf("the fork has compartments %v, the source %v", got, served)
			}
			// they go on beside each other
			for i := range 12 {
				h.user("the source: " + words(i))
				h.request()
				h.step("done", 3000)
				f.user("the fork: " + words(i))
				f.request()
				f.step("done", 3000)
			}
			g := f.fork(len(f.list), renamed) // a fork of the fork
			g.user("a question of the second fork")
			g.request()
			got, want := heads(g.plan), heads(f.plan)
			if len(got) < len(want) || !slices.Equal(got[:len(want)], want) || len(got) > len(want) && !g.reply.Stats.Folded {
				t.Fatalf("the second fork's head is %q, the first's %q", got, want)
			}
			g.went(5)
		})
	}
}

// TestFork_EndsInsideTheHead: what the fork does not have is not shown, and the
// pairs before its end keep their bytes.
func TestFork_EndsInsideTheHead(t *testing.T) {
	h := folded(t, 16_000)
	for len(h.plan.Head) < 2 {
		h.went(3)
	}
	through := h.placeOf(h.plan.Through)
	for n := 1; n <= through+1; n += 3 {
		f := h.fork(n, true)
		f.user("a question of the fork")
		f.request()
		if len(f.plan.Head) > 0 && f.plan.Head[0] != h.plan.Head[0] && f.plan.Head[0].Text != h.plan.Head[0].Text {
			t.Fatalf("fork of %d: the first pair is\n%s\nthe source's is\n%s", n, f.plan.Head[0].Text, h.plan.Head[0].Text)
		}
		f.went(8)
	}
	last := h.foldsStored()[len(h.foldsStored())-1]
	f := h.fork(int(last.Layout[0].Last)+1, true)
	f.id = "ses_of_the_first_pair" // one of that size may have been made above
	f.user("a question of the fork")
	f.request()
	if len(f.plan.Head) != 1 || f.plan.Head[0].Text != h.plan.Head[0].Text {
		t.Fatalf("a fork that has all of the first pair's messages and one more shows %d pairs", len(f.plan.Head))
	}
}

// TestFork_InPieces: a list that comes in several pieces is recognised too.
func TestFork_InPieces(t *testing.T) {
	for _, restart := range []bool{false, true} {
		h := folded(t, 16_000)
		f := h.fork(len(h.list)-1, true)
		f.user("a question of the fork")
		f.pieces(5, func(i int) {
			if restart && i == 2 {
				f.s = newSessions(t, f.store)
			}
		})
		f.request()
		if got, want := heads(f.plan), heads(h.plan); !slices.Equal(got, want) {
			t.Fatalf("restart %v: the fork's head is %q, the source's %q", restart, got, want)
		}
		f.went(8)
	}
}

// pieces syncs the list in pieces of n messages, and begins again where the
// plugin says so. f is called before each piece.
func (h *host) pieces(n int, f func(piece int)) {
	h.t.Helper()
	for piece := 0; ; piece++ {
		if piece > 3*len(h.list) {
			h.t.Fatalf("the list never gets there")
		}
		f(piece)
		to := min(h.acked+n, len(h.list))
		rev, err := h.piece(h.acked, to)
		if compartments.CodeOf(err) == compartments.CodeResync {
			h.acked = 0
			continue
		}
		if err != nil || rev != h.revision(to) {
			h.t.Fatalf("piece to %d: %s, %v", to, rev, err)
		}
		if h.acked = to; to == len(h.list) {
			return
		}
	}
}

// piece syncs the messages from a place on up to another.
func (h *host) piece(from, to int) (string, error) {
	check := h.revision(from)
	req := session.SyncRequest{Session: h.id, Parent: h.parent, Base: check, Keep: from, Check: check, More: to < len(h.list)}
	for _, m := range h.list[from:to] {
		req.Messages = append(req.Messages, m.bytes())
	}
	return h.s.Sync(context.Background(), req)
}

// TestFork_OfTheLikest: of several sessions that begin alike, the source is the
// one with the most in common.
func TestFork_OfTheLikest(t *testing.T) {
	h := folded(t, 16_000)
	short := h.fork(3, true)
	short.user("a short fork, changed last")
	short.request()
	f := h.fork(len(h.list), false)
	f.id = "ses_other"
	f.request()
	if got, want := heads(f.plan), heads(h.plan); !slices.Equal(got, want) {
		t.Fatalf("the fork's head is %q, the source's %q", got, want)
	}
}

// TestFork_OfACompactedSession: what the host's summary hides is the fork's too.
func TestFork_OfACompactedSession(t *testing.T) {
	h := folded(t, 16_000)
	h.compact(len(h.list) - 2)
	h.user("go on after the summary")
	h.request()
	h.went(4)
	f := h.fork(len(h.list), true)
	f.user("a question of the fork")
	f.request()
	if got, want := heads(f.plan), heads(h.plan); !slices.Equal(got, want) {
		t.Fatalf("the fork's head is %q, the source's %q", got, want)
	}
	f.went(10)
	if f.shown(summaryWords) {
		t.Fatal("the summary came back")
	}
}

// TestFork_AfterARevert: messages that the source withdrew are not the fork's,
// and their ordinals are not given again.
func TestFork_AfterARevert(t *testing.T) {
	h := folded(t, 16_000)
	h.revert(10)
	h.user("the other way")
	h.request()
	h.went(6)
	f := h.fork(len(h.list), true)
	f.user("a question of the fork")
	f.request()
	f.went(10)
}

// TestFork_NoneOfStrangers: the same first words at another time are no fork.
func TestFork_NoneOfStrangers(t *testing.T) {
	h := folded(t, 16_000)
	f := h.fork(len(h.list), true)
	for _, m := range f.list {
		m.time++
		m.changed()
	}
	f.request()
	if len(f.served()) > 0 && f.served()[0] == h.served()[0] && len(f.foldsStored()) == 0 {
		t.Fatal("a session of other times was taken for a fork")
	}
	if f.store.all[f.id].Entries[0].Hash == h.store.all[h.id].Entries[0].Hash {
		t.Fatal("the content hash does not see the time")
	}
}

// TestFork_OfAFoldThatNobodySaw: a fold that was made when a turn had ended is not what
// the source was read with.
func TestFork_OfAFoldThatNobodySaw(t *testing.T) {
	h := following(t, 16_000)
	var read plan
	for range 100 {
		h.turn("go on", 3, 600)
		h.request()
		h.step("done")
		h.sync()
		h.now += 1000
		h.event(session.Event{Type: "idle"})
		read = h.plan
		if h.hear(); h.known.folded && len(read.Head) > 0 {
			break
		}
	}
	if !h.known.folded {
		t.Fatal("no fold was made ahead of a turn")
	}
	f := h.fork(len(h.list), true)
	f.user("another way")
	f.request()
	if !slices.Equal(heads(f.plan), heads(read)) {
		t.Errorf("the fork begins with\n%s\nits source was read with\n%s", heads(f.plan), heads(read))
	}
}

package session_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"ctxplugin/compartments"
	"ctxplugin/session"
	"ctxplugin/sqlite"
)

// player is a host that does anything a host may do, in any order.
type player struct {
	*host
	under session.Store       // of the sessions
	all   []*session.Sessions // processes that were ever started
	away  []*message          // what the last revert took, and from where
	at    int
	forks int
	floor int // of one dimension, permille
}

func (p *player) start() {
	cfg := testConfig(p.under)
	cfg.Settings.Floors[compartments.Rejected] = p.floor
	if p.inbox != nil {
		cfg.TakesPlans, cfg.Planned = func() bool { return true }, p.inbox.put
	}
	p.s = session.New(cfg)
	p.all = append(p.all, p.s)
}

// TestAnyHost: whatever a host does, in any order, every request keeps what
// check_test.go demands.
func TestAnyHost(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		store := newMemory()
		anyHost(rt, store, store)
	})
}

// TestAnyHost_OverTheRealStore: the same over SQLite, which is slower: a few hosts
// do.
func TestAnyHost_OverTheRealStore(t *testing.T) {
	runs := 0
	rapid.Check(t, func(rt *rapid.T) {
		if runs++; runs > 12 {
			return
		}
		db, err := sqlite.Open(context.Background(), filepath.Join(t.TempDir(), "ctx.db"), sqlite.Options{})
		if err != nil {
			rt.Fatalf("open: %v", err)
		}
		defer db.Close()
		store := newMemory()
		anyHost(rt, store, &twin{memory: store, Store: db})
	})
}

func anyHost(rt *rapid.T, store *memory, under session.Store) {
	p := &player{host: newHost(rt, nil, store, rapid.SampledFrom([]int{4000, 16_000, 60_000}).Draw(rt, "window")), under: under}
	if rapid.IntRange(0, 3).Draw(rt, "child") == 0 {
		p.parent = "ses_parent"
	}
	p.report = rapid.SampledFrom([]int{0, 800, 1400}).Draw(rt, "report")
	p.deadline = rapid.SampledFrom([]int{0, 5, 500}).Draw(rt, "deadline")
	p.floor = rapid.SampledFrom([]int{0, 0, 0, 0, 600, 800, 950}).Draw(rt, "floor")
	if rapid.Bool().Draw(rt, "takes plans") {
		p.inbox = &inbox{news: map[compartments.SessionID][]session.News{}}
	}
	p.start()
	defer func() {
		for _, s := range p.all {
			closeSessions(rt, s)
		}
	}()
	p.user("begin")
	rt.Repeat(p.actions())
	p.request()
	p.validCompartments()
}

// twin is the real store, and a memory beside it that is told the same, for the
// checks.
type twin struct {
	memory *memory
	mu     sync.Mutex
	*sqlite.Store
}

func (w *twin) Commit(ctx context.Context, b *compartments.Batch) (int64, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.memory.fault(); err != nil {
		return 0, err // of neither
	}
	stored, err := w.Store.Commit(ctx, b) // first: what it refuses, or had no time for, the memory must not have either
	if err != nil {
		return 0, err
	}
	version, err := w.memory.keep(b)
	if err == nil && stored != version {
		err = fmt.Errorf("version %d here, %d there", version, stored)
	}
	return stored, err
}

func (p *player) actions() map[string]func(*rapid.T) {
	size := func(rt *rapid.T) int {
		return rapid.OneOf(rapid.IntRange(0, 400), rapid.IntRange(0, p.context/2), rapid.IntRange(0, p.context*6)).Draw(rt, "size")
	}
	return map[string]func(*rapid.T){
		"steps": func(rt *rapid.T) {
			for i := range rapid.IntRange(1, 6).Draw(rt, "steps") {
				p.step(words(i), size(rt))
				p.pass()
			}
		},
		"answer": func(rt *rapid.T) {
			p.request()
			p.answer("measured", size(rt))
			p.pass()
		},
		"pictures": func(rt *rapid.T) {
			p.add("assistant", part{kind: "tool", tool: "look", input: `{}`, status: "completed", output: lines("look", rapid.IntRange(0, 2000).Draw(rt, "text")),
				attached: rapid.IntRange(1, 4).Draw(rt, "pictures")})
			p.pass()
		},
		"turns": func(rt *rapid.T) {
			for i := range rapid.IntRange(1, 5).Draw(rt, "turns") {
				p.turn(words(i), 2, rapid.IntRange(10, p.context/4).Draw(rt, "size"))
				p.pass()
			}
		},
		"user": func(rt *rapid.T) {
			p.user(strings.Repeat("a word ", size(rt)/7) + "said")
			p.pass()
		},
		"text": func(rt *rapid.T) {
			p.step(strings.Repeat("a word ", size(rt)/7) + "written")
			p.pass()
		},
		"notes": func(rt *rapid.T) {
			p.add("user", part{kind: "text", text: "a note of the host", synthetic: true})
			if rapid.Bool().Draw(rt, "spaces") {
				p.add("user", part{kind: "text", text: "   "})
			}
			p.pass()
		},
		"results": func(rt *rapid.T) {
			sizes := make([]int, rapid.IntRange(1, 3).Draw(rt, "results"))
			for i := range sizes {
				sizes[i] = size(rt)
			}
			p.results(sizes...)
			p.pass()
		},
		"call": func(rt *rapid.T) {
			m := p.step("calling", size(rt), 10)
			for _, status := range []string{"pending", "running", rapid.SampledFrom([]string{"running", "completed", "error"}).Draw(rt, "end")} {
				m.parts[1].status = status
				m.changed()
				p.touch(len(p.list) - 1)
				p.pass()
			}
		},
		"twice": func(rt *rapid.T) {
			p.request()
			plan := p.reply.PlanID
			if p.request(); p.reply.PlanID != plan {
				rt.Fatalf("the same request got plan %s, then %s", plan, p.reply.PlanID)
			}
		},
		"edit": func(rt *rapid.T) {
			place := rapid.IntRange(0, len(p.list)-1).Draw(rt, "place")
			p.list[place].parts[0].text += " edited"
			p.list[place].changed()
			p.touch(place)
			p.pass()
		},
		"revert": func(rt *rapid.T) {
			p.at = rapid.IntRange(0, len(p.list)-1).Draw(rt, "to")
			p.away = p.revert(p.at)
			if len(p.list) == 0 || rapid.Bool().Draw(rt, "prompt") {
				p.user("the other way")
			}
			p.pass()
		},
		"delete": func(rt *rapid.T) {
			if len(p.list) < 2 {
				rt.Skip()
			}
			place := rapid.IntRange(0, len(p.list)-1).Draw(rt, "place")
			p.list = slices.Delete(slices.Clone(p.list), place, place+1)
			p.touch(place)
			p.away = nil
			p.pass()
		},
		"undo": func(rt *rapid.T) {
			if p.away == nil || p.at > len(p.list) {
				rt.Skip()
			}
			p.restore(p.at, p.away)
			p.away = nil
			p.pass()
		},
		"compact": func(rt *rapid.T) {
			before := slices.Clone(p.list)
			keep := rapid.IntRange(0, len(p.list)).Draw(rt, "keep")
			for keep < len(p.list) && p.list[keep].role == "tool" {
				keep++ // no host cuts there
			}
			p.compact(keep)
			if rapid.Bool().Draw(rt, "go on") {
				p.user("go on after the summary")
			}
			p.away = nil
			p.pass()
			if rapid.IntRange(0, 3).Draw(rt, "back") == 0 {
				p.list = before
				p.touch(0)
				p.pass()
			}
		},
		"fork": func(rt *rapid.T) {
			if p.forks++; p.forks > 4 {
				rt.Skip()
			}
			p.sync()
			f := p.fork(rapid.IntRange(1, len(p.list)).Draw(rt, "copies"), rapid.Bool().Draw(rt, "renamed"))
			f.inbox = p.inbox
			f.report, f.deadline, f.parent, f.model, f.output = p.report, p.deadline, p.parent, p.model, p.output
			f.born += 1000 * p.forks
			p.host, p.away = f, nil
			if rapid.Bool().Draw(rt, "pieces") {
				p.pieces(rapid.IntRange(1, 9).Draw(rt, "messages"), func(int) {})
			}
			p.user("a question of the fork")
			p.pass()
		},
		"pieces": func(rt *rapid.T) {
			p.acked = 0
			n := rapid.IntRange(1, 9).Draw(rt, "messages")
			p.pieces(n, func(i int) {
				if i%4 == 3 {
					_, _ = p.piece(p.acked, min(p.acked+n, len(p.list)))
				}
			})
			p.pass()
		},
		"restart": func(rt *rapid.T) {
			if rapid.Bool().Draw(rt, "closed") {
				closeSessions(rt, p.s)
			}
			p.start()
			p.known.how = nil
			p.pass()
		},
		"other process": func(rt *rapid.T) {
			p.s = rapid.SampledFrom(p.all).Draw(rt, "process")
			p.known.how = nil // the first one hears of it soon
			p.pass()
		},
		"fault": func(rt *rapid.T) {
			p.store.failing(rapid.IntRange(1, 3).Draw(rt, "commit"), errFull)
			if rev, err := p.trySync(); err == nil {
				if reply, err := p.ask(rev); err == nil {
					p.apply(reply)
				}
			}
			p.store.heal()
			p.disturbed = true // the store may have failed behind the answer
			p.pass()
		},
		"overflow": func(rt *rapid.T) {
			p.pass()
			p.event(session.Event{Type: "error", Overflow: true})
			p.disturbed = true
			p.pass()
		},
		"idle": func(rt *rapid.T) {
			p.pass()
			if rapid.Bool().Draw(rt, "ended") {
				p.step("that is all")
				p.sync()
			}
			p.event(session.Event{Type: "idle"})
			p.pass()
		},
		"asked to fold": func(rt *rapid.T) {
			p.pass()
			dry, folds, requests := rapid.Bool().Draw(rt, "dry"), p.folds, p.requests
			reply, err := p.s.Fold(context.Background(), p.id, dry)
			if err != nil {
				rt.Fatalf("fold: %v", err)
			}
			grows := rapid.Bool().Draw(rt, "grows")
			if grows { // it is decided for that list then
				p.user("next")
			}
			p.pass()
			if reply.Folded && !dry && !grows && p.folds == folds && p.requests > requests && p.deadline != 5 { // in 5 ms too little is read
				rt.Fatalf("%q, and none was made: %+v", reply.Reason, p.reply.Stats)
			}
		},
		"take a fold back": func(rt *rapid.T) {
			p.pass()
			for range rapid.IntRange(1, 3).Draw(rt, "folds") {
				plan := p.planInForce()
				if reply := p.undo(); reply.PlanID != p.planInForce() || !reply.Undone && reply.PlanID != plan {
					rt.Fatalf("%+v, yet plan %s gave way to %s", reply, plan, p.planInForce())
				}
				p.pass()
			}
		},
		"pin": func(rt *rapid.T) {
			p.pass()
			p.drawPin(rt)
			plan := p.reply.PlanID
			if p.pass(); p.reply.PlanID != plan && !p.reply.Stats.Folded {
				rt.Fatalf("a pin changed the plan without a fold")
			}
		},
		"another model": func(rt *rapid.T) {
			p.model = rapid.SampledFrom([]string{"m", "n"}).Draw(rt, "model")
			p.context = rapid.SampledFrom([]int{2000, 4000, 16_000, 60_000}).Draw(rt, "window")
			p.fixed = p.context / 8
			p.output = rapid.SampledFrom([]int{0, 500, 100_000}).Draw(rt, "output")
			p.pass()
		},
		"clock": func(rt *rapid.T) {
			p.now = max(0, p.now+rapid.Int64Range(-400_000, 900_000).Draw(rt, "ms"))
			p.pass()
		},
	}
}

// pass makes a request if the list can be sent as it is.
func (p *player) pass() {
	p.t.Helper()
	if slices.ContainsFunc(p.list, func(m *message) bool { return m.real() }) && p.list[0].role == "user" {
		p.request()
	} else {
		p.sync()
	}
}

// TestAnyHost_TheCheckFindsAHole keeps the check honest: it must find a hole.
func TestAnyHost_TheCheckFindsAHole(t *testing.T) {
	h := folded(t, 16_000)
	found := &finding{}
	h.t = found
	h.store.mu.Lock()
	k := h.store.all[h.id]
	for i := range k.Compartments {
		k.Compartments[i].Members = slices.Clone(k.Compartments[i].Members[:1])
	}
	h.store.mu.Unlock()
	h.checkStored()
	if !found.failed {
		t.Fatal("a hole was not found")
	}
	found.failed = false
	h.last[0].text += "x"
	h.checkPrefix(h.render())
	if !found.failed {
		t.Fatal("a changed byte was not found")
	}
}

type finding struct{ failed bool }

func (f *finding) Helper()               {}
func (f *finding) Fatalf(string, ...any) { f.failed = true }

package session_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"ctxplugin/compartments"
	"ctxplugin/historian"
)

// TestFirst_LongSession: a session of many windows is seen for the first time.
// The first request fits, and within some requests everything is written.
func TestFirst_LongSession(t *testing.T) {
	turns := 250
	if testing.Short() {
		turns = 60
	}
	for _, deadline := range []int{0, 1500, 20} {
		h := start(t, 60_000)
		h.deadline = deadline
		for i := range turns {
			h.turn(words(i), 3, 2000+i%7*1000)
		}
		raw := 0
		for _, m := range h.list {
			raw += m.sent(nil).tokens
		}
		h.user("what is still open?")
		st := h.request().Stats
		if st.Reason != string(compartments.ReasonFirst) || st.Messages > st.Usable*6/10 {
			t.Fatalf("deadline %d ms: %+v", deadline, st)
		}
		requests := 0
		for h.unwritten() > st.Usable { // the tail has as much, most of it as stubs
			if requests++; requests > 5+raw/240_000 {
				t.Fatalf("deadline %d ms: after %d requests %d tokens are not written", deadline, requests, h.unwritten())
			}
			h.step("ok", 300)
			h.request()
		}
		for i := range 30 {
			h.turn(words(i), 2, 3000)
			h.request()
		}
		closeSessions(t, h.s)
		h.validCompartments()
	}
}

// unwritten is how many raw tokens are in no compartment but scanned ones.
func (h *host) unwritten() int {
	// the request behind waits until what is owed is written
	if _, err := h.s.Status(context.Background(), h.id); err != nil {
		h.t.Fatalf("status: %v", err)
	}
	h.store.mu.Lock()
	defer h.store.mu.Unlock()
	k := h.store.all[h.id]
	written := map[compartments.Ordinal]bool{}
	for _, c := range k.Compartments {
		if !k.retired[c.ID] && c.Strategy != compartments.StrategyScan {
			for _, m := range c.Members {
				written[m] = true
			}
		}
	}
	n := 0
	for _, o := range k.List {
		if !written[o] {
			n += k.Entries[o-1].Tokens()
		}
	}
	return n
}

// TestFirst_DeadlineBoundsTheWork: what a pass reads and writes follows the time
// that the host waits, by amounts and not by a clock.
func TestFirst_DeadlineBoundsTheWork(t *testing.T) {
	var written, read []int
	for _, deadline := range []int{10, 100, 400, 0} {
		store := &counting{memory: newMemory()}
		h := newHost(t, newSessions(t, store), store.memory, 60_000)
		h.deadline = deadline
		for i := range 80 {
			h.turn(words(i), 3, 6000)
		}
		h.user("what is still open?")
		rev := h.sync()
		store.read, store.stop = 0, true
		reply, err := h.ask(rev)
		if err != nil {
			t.Fatal(err)
		}
		h.apply(reply)
		n := 0
		for _, c := range store.first {
			if c.Strategy != compartments.StrategyScan {
				n += c.RawTokens
			}
		}
		written, read = append(written, n), append(read, store.readAtFirst)
	}
	for i := 1; i < len(written); i++ {
		if written[i] <= written[i-1] || read[i] <= read[i-1] {
			t.Fatalf("written %v and read %v tokens with deadlines of 10, 100, 400 and no ms", written, read)
		}
	}
	if written[0] > 1000 || written[3] > 60_000 || read[0] > 20_000 || read[3] > 420_000 {
		t.Fatalf("written %v, read %v", written, read)
	}
}

// TestFirst_ScanKnowsWhatWasAsked: a message that no time was left to read is
// counted; what people asked is read before anything else.
func TestFirst_ScanKnowsWhatWasAsked(t *testing.T) {
	h := start(t, 60_000)
	h.deadline = 50
	for i := range 100 {
		h.turn("the question about "+words(i), 3, 4000)
	}
	h.user("what is still open?")
	h.request()
	titled, scans := 0, 0
	for _, c := range h.store.written(h.id) {
		if c.Strategy == compartments.StrategyScan {
			scans++
			if strings.Contains(c.Title, "question") {
				titled++
			}
		}
	}
	if scans == 0 || titled < scans*9/10 {
		t.Fatalf("%d of %d scanned compartments say what was asked", titled, scans)
	}
}

// behind is a historian that notes whether it was told of all that stands before
// what it is to write.
type behind struct {
	naive
	told, untold atomic.Int64
}

func (b *behind) Write(ctx context.Context, r historian.Range) ([]compartments.Compartment, error) {
	switch n := len(r.Prior); {
	case r.Messages[0].Ordinal == 1:
	case n > 0 && r.Prior[n-1].Last+1 == r.Messages[0].Ordinal:
		b.told.Add(1)
	default:
		b.untold.Add(1)
	}
	return b.naive.Write(ctx, r)
}

// TestFirst_WrittenKnowsWhatIsScanned: the newest part, which is written at once, may
// go on with a request in the part that there was time only to scan.
func TestFirst_WrittenKnowsWhatIsScanned(t *testing.T) {
	store, b := newMemory(), &behind{}
	cfg := testConfig(store)
	cfg.Historian = b
	h := newHost(t, startSessions(t, cfg), store, 60_000)
	h.deadline = 400
	for i := range 60 {
		h.turn(words(i), 3, 4000)
	}
	h.user("what is still open?")
	h.request()
	if b.told.Load() == 0 || b.untold.Load() > 0 {
		t.Errorf("%d times told of what stands before, %d times not", b.told.Load(), b.untold.Load())
	}
}

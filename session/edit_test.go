package session_test

import (
	"strings"
	"testing"

	"ctxplugin/compartments"
)

func TestEdit(t *testing.T) {
	for _, c := range []struct {
		name  string
		place func(h *host) int
		stale bool
	}{
		{"first message of the head", func(*host) int { return 0 }, true},
		{"middle of the head", func(h *host) int { return h.placeOf(h.plan.Through) / 2 }, true},
		{"last of the head", func(h *host) int { return h.placeOf(h.plan.Through) }, true},
		{"first behind the head", func(h *host) int { return h.placeOf(h.plan.Through) + 1 }, false},
		{"newest", func(h *host) int { return len(h.list) - 1 }, false},
	} {
		for _, length := range []string{"longer", "as long"} {
			t.Run(c.name+", "+length, func(t *testing.T) {
				t.Parallel()
				h := folded(t, 16_000)
				place := c.place(h)
				before, folds := h.reply.PlanID, len(h.foldsStored())
				edit(h, place, length)
				h.request()
				stored := h.foldsStored()
				if stale := len(stored) > folds && stored[len(stored)-1].Reason == compartments.ReasonStale; stale != c.stale {
					t.Fatalf("stale fold: %v, want %v", stale, c.stale)
				}
				if !c.stale && h.reply.PlanID != before {
					t.Fatal("an edit in the tail changed the plan")
				}
				for i := range 12 {
					h.step("went on", 5000)
					if i%4 == 3 {
						h.user("go on")
					}
					h.request()
				}
			})
		}
	}
}

func edit(h *host, place int, length string) {
	m := h.list[place]
	p := &m.parts[0]
	if length == "longer" {
		p.text += " (edited)"
	} else {
		p.text = strings.Repeat("x", len(p.text))
	}
	m.changed()
	h.touch(place)
}

// TestEdit_AndBack: an edit that is taken back before a request leaves the plan
// alone; one that was seen makes the same compartments serve again.
func TestEdit_AndBack(t *testing.T) {
	for _, asked := range []bool{false, true} {
		h := folded(t, 16_000)
		before, served := h.reply.PlanID, h.served()
		text := h.list[4].parts[0].text
		edit(h, 4, "longer")
		if asked {
			h.request()
		} else {
			h.sync()
		}
		h.list[4].parts[0].text = text
		h.list[4].changed()
		h.touch(4)
		h.request()
		if !asked && h.reply.PlanID != before {
			t.Fatal("the plan changed")
		}
		for _, id := range h.layoutIDs() {
			if id > served[len(served)-1] {
				t.Fatalf("compartment %d was written anew", id)
			}
		}
	}
}

// TestEdit_CallInProgress: a step whose calls go from pending to their results
// costs no fold, and a stub of one result outlives the arrival of another.
func TestEdit_CallInProgress(t *testing.T) {
	h := folded(t, 16_000)
	folds := len(h.foldsStored())
	m := h.step("", 100, 100)
	for _, status := range []string{"pending", "running", "completed"} {
		m.parts[1].status, m.parts[1].output = status, ""
		if status == "completed" {
			m.parts[1].output = "done\n"
		}
		m.changed()
		h.touch(len(h.list) - 1)
		h.disturbed = true
		h.request()
	}
	m.parts[1].status, m.parts[1].output = "error", strings.Repeat("failed\n", 40)
	m.changed()
	h.touch(len(h.list) - 1)
	h.request()
	if n := len(h.foldsStored()); n != folds {
		t.Fatalf("%d folds", n-folds)
	}
}

func TestEdit_StubOfAResultThatChanged(t *testing.T) {
	h := start(t, 16_000)
	h.user("read it all")
	h.request()
	m := h.step("reading", 100_000, 50)
	m.parts[2].status, m.parts[2].output = "running", ""
	m.changed()
	h.request()
	if h.reply.Stats.Stubs != 1 {
		t.Fatalf("%d stubs", h.reply.Stats.Stubs)
	}
	stub, plan := h.plan.Edits[0], h.reply.PlanID

	m.parts[2].status, m.parts[2].output = "completed", "small"
	m.changed()
	h.touch(1)
	h.request()
	if h.reply.PlanID != plan {
		t.Fatal("the arrival of another result changed the plan")
	}

	m.parts[1].output = "small after all"
	m.changed()
	h.touch(1)
	h.request()
	if len(h.plan.Edits) != 0 {
		t.Fatalf("the stub %q stands for a result that is no more", h.plan.Edits[0].Value)
	}

	m.parts[1].output = strings.Repeat("something else\n", 8000)
	m.changed()
	h.touch(1)
	h.request()
	if len(h.plan.Edits) != 1 || h.plan.Edits[0].Value == stub.Value || !strings.Contains(h.plan.Edits[0].Value, "something else") {
		t.Fatalf("edits %v", h.plan.Edits)
	}
}

// TestEdit_OpenCallsAreNeverTouched: whatever the pressure.
func TestEdit_OpenCallsAreNeverTouched(t *testing.T) {
	h := start(t, 16_000)
	h.user("delegate it")
	for range 20 {
		m := h.step("delegating", 20_000, 0)
		m.parts[2].status, m.parts[2].input = "running", `{"prompt":"`+strings.Repeat("do this ", 100)+`"}`
		m.changed()
		h.request()
		for _, e := range h.plan.Edits {
			if place := h.placeOf(string(e.MessageID)); place >= 0 && h.list[place].parts[e.Part].status == "running" {
				t.Fatalf("an edit of a running call: %+v", e)
			}
		}
		if last := h.last[len(h.last)-1]; !strings.Contains(last.text, m.parts[2].input) {
			t.Fatal("the running call is not in the request as it is")
		}
		m.parts[2].status, m.parts[2].output = "completed", "ok"
		m.changed()
		h.touch(len(h.list) - 1)
	}
}

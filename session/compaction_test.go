package session_test

import (
	"slices"
	"strings"
	"testing"
)

// compact plays the host's own compaction: what stood before a place is hidden
// behind a summary, and with it the pairs of earlier compactions.
func (h *host) compact(keep int) (hidden []*message) {
	tail := slices.Clone(h.list[keep:])
	hidden = slices.Clone(h.list[:keep])
	h.list = nil
	h.add("user", part{kind: "compaction"})
	h.add("assistant", part{kind: "text", text: summaryWords}).more["summary"] = true
	h.list = append(h.list, tail...)
	h.touch(0)
	return hidden
}

const summaryWords = "Summary of the host: the importer works, the flag is renamed."

// shown reports whether the last request has a message with the words.
func (h *host) shown(words string) bool {
	return slices.ContainsFunc(h.last, func(m sent) bool { return strings.Contains(m.text, words) })
}

func (h *host) went(n int) {
	for i := range n {
		h.step("went on", 3000)
		if i%5 == 4 {
			h.user(words(i))
		}
		h.request()
		h.now += 1000
	}
}

func TestCompaction_RecordStandsForWhatItHides(t *testing.T) {
	for _, c := range []struct {
		name string
		keep func(h *host) int
	}{
		{"all", func(h *host) int { return len(h.list) }},
		{"all but the newest message", func(h *host) int { return len(h.list) - 1 }},
		{"up to the end of the head", func(h *host) int { return h.placeOf(h.plan.Through) + 1 }},
		{"half of the head", func(h *host) int { return h.placeOf(h.plan.Through)/2 + 1 }},
		{"all, and kept from inside a turn", func(h *host) int {
			for i := len(h.list) - 2; ; i-- {
				if h.list[i].role == "assistant" && h.list[i-1].role == "assistant" {
					return i
				}
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := folded(t, 16_000)
			h.compact(c.keep(h))
			h.user("go on after the summary")
			h.request()
			if len(h.plan.Head) == 0 || h.shown(summaryWords) {
				t.Fatalf("the record has %d pairs, the summary is shown: %v", len(h.plan.Head), h.shown(summaryWords))
			}
			h.went(25)
			if h.shown(summaryWords) {
				t.Fatal("the summary came back")
			}
		})
	}
}

func TestCompaction_Twice(t *testing.T) {
	for _, asks := range []bool{true, false} {
		h := folded(t, 16_000)
		first := h.list[0].parts[0].text
		h.compact(len(h.list) - 3)
		h.user("after the first summary")
		if asks {
			h.request()
			h.went(8)
		} else {
			h.sync()
		}
		h.compact(len(h.list) - 2)
		h.user("after the second summary")
		h.request()
		if len(h.plan.Head) == 0 || h.shown(summaryWords) {
			t.Fatalf("asks %v: the record has %d pairs, a summary is shown: %v", asks, len(h.plan.Head), h.shown(summaryWords))
		}
		if !strings.Contains(h.plan.Head[0].Text, "messages 1-") {
			t.Fatalf("asks %v: the record does not begin with the first message (%q):\n%s", asks, first, h.plan.Head[0].Text)
		}
		h.went(25)
	}
}

func TestCompaction_Reverted(t *testing.T) {
	for _, asks := range []bool{true, false} {
		h := folded(t, 16_000)
		before := h.reply.PlanID
		list := slices.Clone(h.list)
		served := h.served()
		h.compact(len(h.list) - 2)
		if asks {
			h.request()
		} else {
			h.sync()
		}
		h.list = list
		h.touch(0)
		h.request()
		if !asks && h.reply.PlanID != before {
			t.Fatal("a compaction that no request saw changed the plan")
		}
		for _, id := range h.layoutIDs() {
			if !asks && !slices.Contains(served, id) {
				t.Fatalf("compartment %d was written anew", id)
			}
		}
		h.went(20)
	}
}

// TestCompaction_SummaryOfTheUnknownStands: what a summary hides that was never
// seen has no other record; it stays, and is never a source.
func TestCompaction_SummaryOfTheUnknownStands(t *testing.T) {
	h := start(t, 16_000)
	h.compact(0)
	for i := range 60 {
		if i%6 == 0 {
			h.user(words(i))
		}
		h.step(words(i), 3000)
		h.request()
		h.now += 1000
		if !h.shown(summaryWords) {
			t.Fatalf("request %d: the summary is not shown", h.requests)
		}
	}
	if len(h.plan.Head) == 0 {
		t.Fatal("never folded")
	}
	for _, c := range h.store.written(h.id) {
		if c.First <= 2 {
			t.Fatalf("compartment %d-%d was written from the summary", c.First, c.Last)
		}
	}
	// a summary of that summary stands too: nobody knows what it stands for
	h.compact(len(h.list) - 2)
	h.user("after the second summary")
	h.request()
	if !h.shown(summaryWords) {
		t.Fatal("the summary of a summary is not shown")
	}
	h.went(30)
	if !h.shown(summaryWords) {
		t.Fatal("the summary of a summary is not shown later")
	}
}

// TestCompaction_InTheMiddle: an imported session may have the pair in the
// middle of a full list. It hides nothing there.
func TestCompaction_InTheMiddle(t *testing.T) {
	h := start(t, 16_000)
	for i := range 4 {
		h.turn(words(i), 3, 2000)
	}
	h.add("user", part{kind: "compaction"})
	h.add("assistant", part{kind: "text", text: summaryWords}).more["summary"] = true
	for i := range 8 {
		h.user(words(i))
		h.request()
		h.step(words(i), 3000)
		h.request()
	}
	h.went(20)
	if len(h.plan.Head) == 0 {
		t.Fatal("never folded")
	}
}

// TestCompaction_AcrossARestart: the hidden messages are remembered.
func TestCompaction_AcrossARestart(t *testing.T) {
	h := folded(t, 16_000)
	h.compact(len(h.list))
	h.user("go on after the summary")
	h.request()
	plan := h.reply.PlanID
	h.s = newSessions(t, h.store)
	h.request()
	if h.reply.PlanID != plan {
		t.Fatal("the restart changed the plan")
	}
	h.went(10)
	if h.shown(summaryWords) {
		t.Fatal("the summary came back")
	}
}

func TestCompaction_BeforeAnyFold(t *testing.T) {
	h := start(t, 60_000)
	for i := range 5 {
		h.user(words(i))
		h.request()
		h.step(words(i), 500)
	}
	h.compact(len(h.list))
	h.user("go on after the summary")
	h.request()
	if len(h.plan.Head) == 0 || h.shown(summaryWords) {
		t.Fatalf("the record has %d pairs, the summary is shown: %v", len(h.plan.Head), h.shown(summaryWords))
	}
	h.went(5)
}

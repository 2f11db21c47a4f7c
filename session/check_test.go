package session_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ctxplugin/compartments"
	"ctxplugin/decay"
)

// check holds a request against what must be true of every one.
func (h *host) check(request []sent) {
	h.t.Helper()
	h.checkFit(request)
	h.checkShape(request)
	h.checkPrefix(request)
	h.checkStored()
	h.checkRecorded()
}

// checkRecorded: the newest fold comes out the same when it is made again from
// what the store has of it.
func (h *host) checkRecorded() {
	h.t.Helper()
	h.store.mu.Lock()
	defer h.store.mu.Unlock()
	k := h.store.all[h.id]
	if k == nil || len(k.folds) == 0 || !h.reply.Stats.Folded {
		return
	}
	encoded, err := json.Marshal(k.folds[len(k.folds)-1])
	if err != nil {
		h.t.Fatalf("request %d: %v", h.requests, err)
	}
	var f compartments.Fold
	if err := json.Unmarshal(encoded, &f); err != nil {
		h.t.Fatalf("request %d: %v", h.requests, err)
	}
	if !decay.Recomputable(&f) {
		h.t.Fatalf("request %d: fold %d has no recording", h.requests, f.Number)
	}
	if different := decay.Verify(&f, k.compartment, k.pin); different != nil {
		h.t.Fatalf("request %d: fold %d (%s) made again: %q", h.requests, f.Number, f.Reason, different)
	}
}

// checkFit: what is sent never exceeds the window because of history.
func (h *host) checkFit(request []sent) {
	h.t.Helper()
	st := h.reply.Stats
	total := 0
	for _, m := range request {
		total += m.tokens
	}
	if st.Messages < total {
		h.t.Fatalf("request %d: it weighs %d tokens, and was taken for %d", h.requests, total, st.Messages)
	}
	if st.Irreducible != "" {
		h.checkReason(total)
	}
	if st.Irreducible == "" && total > st.Usable {
		h.t.Fatalf("request %d: %d tokens where %d fit (fold %d, %s)", h.requests, total, st.Usable, st.Fold, st.Reason)
	}
	if st.Irreducible != "" && h.least() < st.Usable {
		h.t.Fatalf("request %d: called irreducible (%s), yet %d tokens would do where %d fit", h.requests, st.Irreducible, h.least(), st.Usable)
	}
}

// checkReason: what is said of a request that cannot be made smaller is true, and
// its numbers add up.
func (h *host) checkReason(total int) {
	h.t.Helper()
	st := h.reply.Stats
	var ordinal, largest, all, fit, window, reply, fixed int
	var role string
	if _, err := fmt.Sscanf(strings.Replace(st.Irreducible, "the record", "message 0 (record)", 1), "message %d %s takes %d of %d tokens where %d fit (window %d - reply %d - system and tools %d)",
		&ordinal, &role, &largest, &all, &fit, &window, &reply, &fixed); err != nil {
		h.t.Fatalf("request %d: %q: %v", h.requests, st.Irreducible, err)
	}
	if fit != max(0, window-reply-fixed) || window != st.Window || reply != st.Reserve || all <= fit || largest > all || largest < 1 || all < total {
		h.t.Fatalf("request %d: %q does not add up, %d tokens were sent, %+v", h.requests, st.Irreducible, total, st)
	}
	if h.report == 0 && (fit > 0 && fit != st.Usable || all != st.Messages) {
		h.t.Fatalf("request %d: %q, but of %d tokens %d were usable", h.requests, st.Irreducible, st.Messages, st.Usable)
	}
}

// least is what no plan can take from the request, in tokens, generously: the
// newest real user message, the newest assistant message without its results,
// what stands behind it, open calls; and room for a record, a summary of the
// host's that stands, and stubs.
func (h *host) least() int {
	n := 700
	newestUser, newestStep, order := -1, -1, -1
	for i, m := range h.list {
		if m.real() {
			newestUser = i
			if h.parent != "" && order < 0 {
				order = i
			}
		}
		if m.role == "assistant" {
			newestStep = i
		}
	}
	for i, m := range h.list {
		stays := i == newestUser || i >= newestStep || i == 1 && h.compacted() || i == order
		for _, p := range m.parts {
			switch {
			case p.open() && i >= newestStep:
				n += count(p.input) + 20
			case !stays:
			case p.kind == "tool":
				n += count(p.input) + 12 + min(count(p.output), 120)
			case m.role == "user" && i != newestUser && i != order, m.role == "tool":
				n += min(count(p.text), 120)
			case p.kind == "file":
				n += 1600
			default:
				n += count(p.text)
			}
		}
	}
	return n
}

// checkShape: the request begins with a user message, has no empty one, shows
// the newest real user message verbatim and no result without its call; all that
// the plan names is in the list.
func (h *host) checkShape(request []sent) {
	h.t.Helper()
	if len(request) == 0 {
		if len(h.list) > 0 {
			h.t.Fatalf("request %d is empty", h.requests)
		}
		return
	}
	behind := request[min(2*len(h.plan.Head), len(request)-1)]
	if request[0].role != "user" && (len(h.plan.Head) > 0 || h.list[0].role == "user") {
		h.t.Fatalf("request %d begins with %s %.60q", h.requests, request[0].role, request[0].text)
	}
	if len(h.plan.Head) > 0 && behind.role != "user" {
		// only where a session begins with replies, and only if it must be
		at := h.placeOf(behind.id)
		if st := h.reply.Stats; st.Folded && slices.Contains([]string{"cold", "pays", "turn-ahead", "asked"}, st.Reason) {
			h.t.Fatalf("request %d: behind a fold that could wait (%s) it begins with %s %.60q", h.requests, st.Reason, behind.role, behind.text)
		}
		if at < 0 || slices.ContainsFunc(h.list[:at], func(m *message) bool { return m.real() }) {
			h.t.Fatalf("request %d: behind the head it begins with %s %.60q", h.requests, behind.role, behind.text)
		}
	}
	for i, m := range request {
		if m.parts == 0 && len(h.list) > 0 {
			h.t.Fatalf("request %d: message %d has no parts", h.requests, i)
		}
		if m.role != "tool" {
			continue
		}
		group := h.list[h.placeOf(m.id)].group
		call := slices.IndexFunc(h.list, func(m *message) bool { return m.role == "assistant" && m.group == group })
		if call >= 0 && !slices.ContainsFunc(request[:i], func(m sent) bool { return m.id == h.list[call].id }) {
			h.t.Fatalf("request %d: a result without its call", h.requests)
		}
	}
	for i := len(h.list) - 1; i >= 0; i-- {
		if m := h.list[i]; m.real() {
			if want := m.sent(nil); !slices.Contains(request, want) {
				h.t.Fatalf("request %d: the newest user message %s is not shown verbatim", h.requests, m.id)
			}
			break
		}
	}
	for _, e := range h.plan.Edits {
		place := h.placeOf(string(e.MessageID))
		if place >= 0 && (e.Part < 0 || e.Part >= len(h.list[place].parts)) {
			h.t.Fatalf("request %d: an edit of part %d of %s, which has %d", h.requests, e.Part, e.MessageID, len(h.list[place].parts))
		}
	}
}

// checkPrefix: between two folds all earlier bytes of the request stay.
func (h *host) checkPrefix(request []sent) {
	h.t.Helper()
	if h.disturbed || h.lastPlan == "" {
		return
	}
	if h.reply.PlanID == h.lastPlan {
		for i := range h.last {
			if i >= len(request) || request[i] != h.last[i] {
				h.t.Fatalf("request %d: message %d changed between folds", h.requests, i)
			}
		}
	} else if !h.reply.Stats.Folded && h.reply.Stats.Stubs == 0 {
		h.t.Fatalf("request %d: the plan changed without a fold or a stub", h.requests)
	}
}

// compacted reports whether the list begins with the host's compaction pair.
func (h *host) compacted() bool {
	return len(h.list) > 1 && h.list[0].role == "user" && h.list[0].parts[0].kind == "compaction" && h.list[1].more["summary"] == true
}

// checkStored: every message is stored as it came, and the head stands for
// exactly what is out of view: the compartments of its pairs tile it.
func (h *host) checkStored() {
	h.t.Helper()
	h.store.mu.Lock()
	defer h.store.mu.Unlock()
	k := h.store.all[h.id]
	if k == nil {
		h.t.Fatalf("request %d: the session is not stored", h.requests)
	}
	byID := map[compartments.MessageID]compartments.Ordinal{}
	for _, e := range k.Entries {
		byID[e.ID] = e.Ordinal
	}
	var ordinals []compartments.Ordinal
	for i, m := range h.list {
		o := byID[compartments.MessageID(h.name(i))]
		if o == 0 || !bytes.Equal(k.raws[o], m.bytes()) {
			h.t.Fatalf("request %d: message %s is not stored as it came", h.requests, h.name(i))
		}
		ordinals = append(ordinals, o)
	}
	var st struct {
		Layout []compartments.PairLayout
		Hidden []compartments.Ordinal
	}
	if err := json.Unmarshal(k.State, &st); err != nil {
		h.t.Fatalf("state: %v", err)
	}
	if len(st.Layout) != len(h.plan.Head) {
		h.t.Fatalf("request %d: %d pairs are shown and %d laid out", h.requests, len(h.plan.Head), len(st.Layout))
	}
	dropped := ordinals[:h.placeOf(h.plan.Through)+1]
	if h.compacted() && len(dropped) > 1 {
		if dropped = dropped[2:]; !slices.Contains(h.plan.Keep, h.name(1)) { // or the summary stands for what it hides
			dropped = slices.Concat(st.Hidden, dropped)
		}
	}
	at := 0
	for i, pair := range st.Layout {
		var members []compartments.Ordinal
		for _, item := range pair.Items {
			for _, id := range item.Compartments {
				c := k.compartment(id)
				if c == nil && h.forked {
					continue // retired in the source
				}
				if c == nil {
					h.t.Fatalf("request %d: compartment %d is shown and not stored", h.requests, id)
				}
				members = append(members, c.Members...)
			}
		}
		if h.forked && len(members) < pair.Count && at+pair.Count <= len(dropped) && dropped[at] == pair.First && dropped[at+pair.Count-1] == pair.Last {
			at += pair.Count
			continue
		}
		if at+len(members) > len(dropped) || !slices.Equal(dropped[at:at+len(members)], members) {
			h.t.Fatalf("request %d: pair %d stands for %v, and is shown for %v", h.requests, i, members, dropped[min(at, len(dropped)):])
		}
		at += len(members)
	}
	if at != len(dropped) {
		h.t.Fatalf("request %d: %d messages are out of view and in no compartment that is shown", h.requests, len(dropped)-at)
	}
}

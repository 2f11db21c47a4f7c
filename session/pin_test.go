package session_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ctxplugin/compartments"
	"ctxplugin/session"
)

// pin sets a pin as the user; -1 for part is the whole message.
func (h *host) pin(place, part int, quote string) session.PinReply {
	h.t.Helper()
	reply, err := h.s.Pin(context.Background(), session.PinRequest{Session: h.id, By: compartments.ByUser, Now: h.now,
		ID: compartments.MessageID(h.name(place)), Part: part, Quote: quote})
	if err != nil {
		h.t.Fatalf("pin: %v", err)
	}
	return reply
}

func (h *host) pinRange(first, last compartments.Ordinal, class compartments.Retention) session.PinReply {
	h.t.Helper()
	reply, err := h.s.Pin(context.Background(), session.PinRequest{Session: h.id, By: compartments.ByUser, Now: h.now, Part: -1, First: first, Last: last, Class: class})
	if err != nil {
		h.t.Fatalf("pin %d-%d: %v", first, last, err)
	}
	return reply
}

func (h *host) unpin(id compartments.PinID) session.PinReply {
	h.t.Helper()
	reply, err := h.s.Unpin(context.Background(), session.UnpinRequest{Session: h.id, By: compartments.ByUser, Now: h.now, Pin: id})
	if err != nil {
		h.t.Fatalf("unpin: %v", err)
	}
	return reply
}

func (h *host) pins() []session.PinLine {
	h.t.Helper()
	lines, err := h.s.Pins(context.Background(), h.id, true)
	if err != nil {
		h.t.Fatalf("pins: %v", err)
	}
	return lines
}

func (h *host) state(id compartments.PinID) session.PinState {
	h.t.Helper()
	for _, line := range h.pins() {
		if line.Pin == id {
			return line.State
		}
	}
	h.t.Fatalf("no pin %d", id)
	return ""
}

// recordSays reports whether the head has a text.
func (h *host) recordSays(text string) bool {
	return slices.ContainsFunc(h.plan.Head, func(p compartments.Pair) bool { return strings.Contains(p.Text, text) })
}

// coldly makes a request long after the last one, so that nothing keeps a fold
// from happening.
func (h *host) coldly() {
	h.t.Helper()
	h.now += 3_600_000
	h.user("after a long pause")
	h.request()
}

// marked is a folded host whose message at a place says words that no tier says.
const markedPlace = 2

const markedWords = "exit code 41 means\n\t[table]\nthe queue was full"

func marked(t testing.TB, window int) *host {
	h := start(t, window)
	h.user("begin with this")
	h.step("looked at it", 400)
	h.add("assistant", part{kind: "text", text: "I saw it."}, part{kind: "tool", tool: "bash", status: "completed",
		input: `{"command":"run"}`, output: strings.Repeat("noise of a long log\n", 60) + markedWords + "\n" + strings.Repeat("more noise\n", 60)})
	fold(h, 4, window/8)
	if h.recordSays("queue was full") || h.placeOf(h.plan.Through) < markedPlace {
		t.Fatal("the words are in the record without a pin")
	}
	return h
}

func TestPin_QuoteStandsAtEveryFold(t *testing.T) {
	h := marked(t, 16_000)
	plan := h.reply.PlanID
	reply := h.pin(markedPlace, 1, markedWords)
	if reply.Pin.State != session.PinPending || reply.Again {
		t.Fatalf("reply %+v", reply)
	}
	h.request()
	if h.reply.PlanID != plan {
		t.Fatal("a pin changed the plan at once")
	}
	h.step("warm", 20)
	h.request()
	if h.reply.PlanID != plan {
		t.Fatal("a pin changed the plan while the cache is warm")
	}
	h.coldly()
	if !h.reply.Stats.Folded || !h.recordSays(markedWords) {
		t.Fatalf("folded %v; the head is %q", h.reply.Stats.Folded, heads(h.plan))
	}
	if s := h.state(reply.Pin.Pin); s != session.PinInView {
		t.Fatalf("state %s", s)
	}
	for i := range 60 {
		h.turn(words(i), 2, 3000)
		h.request()
		if !h.recordSays(markedWords) {
			t.Fatalf("turn %d: the words went: %q", i, heads(h.plan))
		}
	}
	h.unpin(reply.Pin.Pin)
	h.request()
	if !h.recordSays(markedWords) {
		t.Fatal("the end of a pin changed bytes before a fold")
	}
	h.coldly()
	if h.recordSays(markedWords) {
		t.Fatal("the words of a pin that ended are still shown")
	}
	h.went(8)
}

func TestPin_TwiceIsOnce(t *testing.T) {
	h := marked(t, 16_000)
	first := h.pin(markedPlace, 1, markedWords)
	again := h.pin(markedPlace, -1, markedWords)
	if !again.Again || again.Pin.Pin != first.Pin.Pin || len(h.pins()) != 1 {
		t.Fatalf("again %+v of %+v", again, first)
	}
	one := h.pinRange(3, 5, compartments.Pinned)
	if two := h.pinRange(3, 5, compartments.Pinned); !two.Again || two.Pin.Pin != one.Pin.Pin {
		t.Fatalf("again %+v of %+v", two, one)
	}
	h.unpin(one.Pin.Pin)
	if r := h.unpin(one.Pin.Pin); !r.Again {
		t.Fatalf("ended twice: %+v", r)
	}
	if three := h.pinRange(3, 5, compartments.Pinned); three.Again || three.Pin.Pin == one.Pin.Pin {
		t.Fatalf("a pin that ended came back: %+v", three)
	}
}

func TestPin_SurvivesARestart(t *testing.T) {
	h := marked(t, 16_000)
	id := h.pin(markedPlace, 1, markedWords).Pin.Pin
	h.s = newSessions(t, h.store)
	if s := h.state(id); s != session.PinPending {
		t.Fatalf("state %s", s)
	}
	h.coldly()
	if !h.recordSays(markedWords) {
		t.Fatal("a restart lost the pin")
	}
	plan := h.reply.PlanID
	h.s = newSessions(t, h.store)
	h.request()
	if h.reply.PlanID != plan {
		t.Fatal("a restart changed the plan")
	}
}

func TestPin_IsTheForksToo(t *testing.T) {
	h := marked(t, 16_000)
	id := h.pin(markedPlace, 1, markedWords).Pin.Pin
	h.coldly()
	f := h.fork(len(h.list)-1, true)
	f.user("a question of the fork")
	f.request()
	if !slices.Equal(heads(f.plan), heads(h.plan)) || f.state(id) != session.PinInView {
		t.Fatalf("the fork's head is %q, its pins %+v", heads(f.plan), f.pins())
	}
	f.unpin(id)
	f.coldly()
	h.coldly()
	if f.recordSays(markedWords) || !h.recordSays(markedWords) {
		t.Fatal("the fork and its source are one")
	}
	// a fork before the message has no pin of it
	g := h.fork(markedPlace, true)
	g.user("another way")
	g.request()
	if len(g.pins()) != 0 {
		t.Fatalf("pins %+v", g.pins())
	}
}

// A range of the source that reaches over the fork's end does not catch what the
// fork says.
func TestPin_OfARangeEndsWithTheFork(t *testing.T) {
	h := folded(t, 16_000)
	h.pinRange(4, compartments.Ordinal(len(h.list)), compartments.Pinned)
	f := h.fork(6, true)
	f.user("another way")
	f.request()
	if p := f.pins()[0]; p.Last != 6 {
		t.Fatalf("%+v", p)
	}
	f.went(12)
}

func TestPin_SleepsWithItsMessage(t *testing.T) {
	h := marked(t, 16_000)
	id := h.pin(markedPlace, 1, markedWords).Pin.Pin
	h.coldly()
	away := h.revert(markedPlace)
	h.user("the other way")
	h.request()
	if h.state(id) != session.PinAsleep || h.recordSays(markedWords) {
		t.Fatalf("%+v", h.pins())
	}
	_, err := h.s.Pin(context.Background(), session.PinRequest{Session: h.id, Message: markedPlace + 1, Part: -1})
	if compartments.CodeOf(err) != compartments.CodeBadRange || !strings.Contains(err.Error(), "withdrawn") {
		t.Fatalf("a withdrawn message is pinned: %v", err)
	}
	h.restore(markedPlace, away)
	h.request()
	h.coldly()
	if h.state(id) != session.PinInView || !h.recordSays(markedWords) {
		t.Fatalf("%+v", h.pins())
	}
	h.went(6)
}

// What the message no longer says sleeps; a pin of all of it follows.
func TestPin_FollowsAnEdit(t *testing.T) {
	h := marked(t, 16_000)
	quote := h.pin(markedPlace, 1, markedWords).Pin.Pin
	whole := h.pin(markedPlace, 0, "").Pin.Pin
	h.coldly()
	m := h.list[markedPlace]
	output := m.parts[1].output
	m.parts[0].text, m.parts[1].output = "I saw another thing.", "nothing of that"
	m.changed()
	h.touch(markedPlace)
	h.request()
	h.coldly()
	if h.state(quote) != session.PinAsleep || h.state(whole) != session.PinEnded || h.state(whole+1) != session.PinInView {
		t.Fatalf("%+v", h.pins())
	}
	if h.recordSays(markedWords) || !h.recordSays("I saw another thing.") {
		t.Fatalf("the head is %q", heads(h.plan))
	}
	m.parts[1].output = output
	m.changed()
	h.touch(markedPlace)
	h.request()
	h.coldly()
	if h.state(quote) != session.PinInView || !h.recordSays(markedWords) {
		t.Fatalf("%+v", h.pins())
	}
}

// A message in view that is pinned is never made a stub while anything else can
// be.
func TestPin_SparesWhatIsInView(t *testing.T) {
	for _, c := range []struct {
		how    string
		pin    func(h *host)
		spared int // part that is no stub; -1 for none
	}{
		{"not at all", func(*host) {}, 2},
		{"a part", func(h *host) { h.pin(1, 1, "") }, 1},
		{"words of a part", func(h *host) { h.pin(1, 1, "output of 1.0") }, 1},
		{"the other part", func(h *host) { h.pin(1, 2, "") }, 2},
		{"all of it, which does not fit", func(h *host) { h.pinRange(2, 2, compartments.Pinned) }, -1},
	} {
		t.Run(c.how, func(t *testing.T) {
			h := start(t, 16_000)
			h.user("begin")
			h.step("look", 24_000, 20_000)
			h.sync()
			c.pin(h)
			h.request()
			if h.reply.Stats.Stubs == 0 {
				t.Fatal("nothing became a stub")
			}
			for _, e := range h.plan.Edits {
				if e.Part == c.spared {
					t.Fatalf("part %d became a stub", e.Part)
				}
			}
		})
	}
}

func TestPin_OfARangeKeepsItsMessages(t *testing.T) {
	for _, when := range []string{"raw", "folded"} {
		t.Run(when, func(t *testing.T) {
			h := start(t, 40_000)
			for i := range 3 {
				h.turn(words(i), 3, 600)
				h.request()
			}
			if when == "folded" {
				fold(h, 4, 5000)
			}
			reply := h.pinRange(6, 7, compartments.Pinned) // steps of the second turn
			if when == "raw" {
				fold(h, 4, 5000)
			}
			h.coldly()
			for i := range 30 {
				h.turn(words(i), 2, 3000)
				h.request()
				for _, place := range []int{4, 5, 6} { // with the user message of their turn
					if !slices.ContainsFunc(h.last, func(m sent) bool { return m == h.list[place].sent(nil) }) {
						t.Fatalf("turn %d: message %d is not in the request", i, place+1)
					}
				}
			}
			if when == "raw" && h.shownRaw(3) {
				t.Fatal("more than the range is kept")
			}
			if s := h.state(reply.Pin.Pin); s != session.PinInView {
				t.Fatalf("state %s", s)
			}
			h.unpin(reply.Pin.Pin)
			h.coldly()
			if h.shownRaw(5) {
				t.Fatal("it is kept after its end")
			}
			h.went(5)
		})
	}
}

func (h *host) shownRaw(place int) bool {
	return slices.ContainsFunc(h.last, func(m sent) bool { return m.id == h.list[place].id })
}

// A compartment that may be discarded leaves the window where one that may not
// is in an index line, and comes back with its class.
func TestPin_Discardable(t *testing.T) {
	h := folded(t, 16_000)
	c := h.first()
	h.pinRange(c.First, c.Last, compartments.Discardable)
	cfg := testConfig(h.store)
	cfg.Settings.HistoryMin, cfg.Settings.HistoryMax = 250, 250 // a budget that it does not hold for long
	cfg.Settings.Spare = 0                                      // and no old pair is spared
	h.s = startSessions(t, cfg)
	for i := range 100 {
		h.turn(words(i), 2, 3000)
		h.request()
	}
	if got := h.tierOf(c.ID); got != compartments.TierArchived {
		t.Fatalf("it is %s", got)
	}
	if h.recordSays(fmt.Sprintf("[%d-", c.First)) {
		t.Fatalf("it is out of the window, and named: %q", heads(h.plan))
	}
	h.s = newSessions(t, h.store)
	h.pinRange(c.First, c.Last, compartments.Compressible)
	h.coldly()
	if got := h.tierOf(c.ID); got == compartments.TierArchived || got == compartments.TierNone {
		t.Fatalf("it is %s", got)
	}
}

// first is the compartment that the head begins with.
func (h *host) first() compartments.Compartment {
	h.store.mu.Lock()
	defer h.store.mu.Unlock()
	k := h.store.all[h.id]
	return *k.compartment(k.folds[len(k.folds)-1].Layout[0].Items[0].Compartments[0])
}

// tierOf is the tier at which the last fold shows a compartment.
func (h *host) tierOf(id compartments.CompartmentID) compartments.Tier {
	folds := h.foldsStored()
	for _, pair := range folds[len(folds)-1].Layout {
		for _, item := range pair.Items {
			if slices.Contains(item.Compartments, id) {
				return item.Tier
			}
		}
	}
	return compartments.TierNone
}

// Pins beyond the budget stay and the rest shrinks; pins beyond the window: the
// newest are shown, and one line names the call that opens the rest. The user is
// told once.
func TestPin_BeyondTheBudget(t *testing.T) {
	h := start(t, 16_000)
	var told []string
	cfg := testConfig(h.store)
	cfg.Notify = func(_ compartments.SessionID, _, text string) { told = append(told, text) }
	h.s = startSessions(t, cfg)
	for i := range 4 {
		h.user(fmt.Sprintf("spec %d: %s", i, strings.Repeat(fmt.Sprintf("line of spec %d\n", i), 600)))
		h.step("read", 400)
		h.request()
	}
	h.pin(0, 0, "")
	fold(h, 3, 2000)
	h.coldly()
	if !h.recordSays(h.list[0].parts[0].text) {
		t.Fatal("a pin is not shown")
	}
	for i := range 4 {
		h.pin(2*i, 0, "")
	}
	h.coldly()
	if !h.recordSays(h.list[6].parts[0].text) {
		t.Fatal("the newest pin is not shown")
	}
	if h.recordSays(h.list[0].parts[0].text) || !h.recordSays(`have no room here. The originals: ctx_expand({"first": 1`) {
		t.Fatalf("the oldest pin has room: %q", heads(h.plan))
	}
	if h.state(1) != session.PinNoRoom || h.state(4) != session.PinInView {
		t.Fatalf("%+v", h.pins())
	}
	h.went(20)
	n := 0
	for _, text := range told {
		if strings.Contains(text, "ctxplugin unpin") {
			n++
		}
	}
	if n != 1 {
		t.Fatalf("told %d times: %q", n, told)
	}
}

func TestPin_Refusals(t *testing.T) {
	h := marked(t, 16_000)
	record := h.plan.Head[0].Text
	line := strings.Split(record, "\n")[2]
	before := len(h.pins())
	for name, c := range map[string]struct {
		r    session.PinRequest
		code compartments.Code
		says []string
	}{
		"no such message":  {session.PinRequest{Message: 9999, Part: -1}, compartments.CodeBadRange, []string{"no message 9999", "messages 1-"}},
		"no such id":       {session.PinRequest{ID: "msg_none", Part: -1}, compartments.CodeNotFound, []string{"msg_none"}},
		"no such part":     {session.PinRequest{Message: 3, Part: 7}, compartments.CodeNotFound, []string{"no part 7", "0 (text), 1 (bash)"}},
		"no such words":    {session.PinRequest{Message: 3, Part: -1, Quote: "the queue was ful1"}, compartments.CodeNotFound, []string{"the nearest line", `"the queue was full"`, `{"message": 3, "part": 1`}},
		"blank words":      {session.PinRequest{Message: 3, Part: -1, Quote: " \n"}, compartments.CodeBadInput, []string{"the quote is blank", "without one"}},
		"nothing near":     {session.PinRequest{Message: 3, Part: -1, Quote: "zzz qqq xxx vvv"}, compartments.CodeNotFound, []string{"ctx_expand", `"quote"`}},
		"a stub":           {session.PinRequest{Message: 3, Part: -1, Quote: `[stored output of bash, completed, 900 characters; not shown here. The whole: ctx_expand({"message": 3, "part": 1})]`}, compartments.CodeNotFound, []string{"stub", "ctx_expand"}},
		"a heading":        {session.PinRequest{Message: 3, Part: -1, Quote: line}, compartments.CodeBadInput, []string{"heading of the session record"}},
		"the record":       {session.PinRequest{Message: 3, Part: -1, Quote: strings.SplitN(line, "] ", 2)[1]}, compartments.CodeNotFound, []string{"record is a report"}},
		"no such messages": {session.PinRequest{Part: -1, First: 3, Last: 9999, Class: compartments.Pinned}, compartments.CodeBadRange, []string{"3-9999", "messages 1-"}},
		"no range":         {session.PinRequest{Part: -1, First: 5, Last: 3}, compartments.CodeBadRange, []string{"first 5 is behind last 3"}},
		"no compartment":   {session.PinRequest{Part: -1, Compartment: compartments.Ordinal(len(h.list))}, compartments.CodeNotFound, []string{"in no compartment yet"}},
	} {
		c.r.Session = h.id
		_, err := h.s.Pin(context.Background(), c.r)
		if compartments.CodeOf(err) != c.code {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, want := range c.says {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q does not say %q", name, err, want)
			}
		}
	}
	if len(h.pins()) != before {
		t.Errorf("a refusal left a pin: %+v", h.pins())
	}
	if _, err := h.s.Unpin(context.Background(), session.UnpinRequest{Session: h.id, Pin: 44}); compartments.CodeOf(err) != compartments.CodeNotFound {
		t.Errorf("unpin: %v", err)
	}
	if _, err := h.s.Pin(context.Background(), session.PinRequest{Session: "ses_none", Message: 1, Part: -1}); compartments.CodeOf(err) != compartments.CodeUnknownSession {
		t.Errorf("unknown session: %v", err)
	}
}

func TestPin_ByTheModel(t *testing.T) {
	h := marked(t, 16_000)
	call := func(name, arguments string) session.ToolResult {
		t.Helper()
		r, err := h.s.CallTool(context.Background(), h.id, name, []byte(arguments))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return r
	}
	if r := call("ctx_pin", `{"message": 3, "part": "1", "quote": "exit code 41 means"}`); r.IsError || !strings.Contains(r.Text, "Pinned as 1") {
		t.Fatalf("%+v", r)
	}
	user := h.pin(0, -1, "").Pin.Pin
	for arguments, says := range map[string]string{
		`{}`:                            "Accepted:",
		`{"message": 3, "quote": ""}`:   "blank",
		`{"message": 3, "offset": 5}`:   "no offset",
		`{"massage": 3}`:                "massage",
		`{"first": 3}`:                  "last is missing",
		`{"quote": "exit code"}`:        "Accepted:",
		`{"first":1,"last":2,"part":1}`: "Accepted:",
		`{"message": 3, "quote": 7}`:    "has to be a string",
		`{"message": 77777}`:            "no message 77777",
	} {
		if r := call("ctx_pin", arguments); !r.IsError || !strings.Contains(r.Text, says) {
			t.Errorf("%s: %+v", arguments, r)
		}
	}
	if r := call("ctx_unpin", fmt.Sprintf(`{"pin": %d}`, user)); !r.IsError || !strings.Contains(r.Text, "only the user") {
		t.Errorf("%+v", r)
	}
	if r := call("ctx_unpin", `{"pin": 1}`); r.IsError {
		t.Errorf("%+v", r)
	}
	if r := call("ctx_unpin", `{}`); !r.IsError || !strings.Contains(r.Text, `{"pin": 3}`) {
		t.Errorf("%+v", r)
	}
	if r := call("ctx_pin", `{"first": "3-5"}`); r.IsError || !strings.Contains(r.Text, "messages 3-5 stay whole") {
		t.Errorf("%+v", r)
	}
	// what the user pins too is the user's
	h.pinRange(3, 5, compartments.Pinned)
	if r := call("ctx_unpin", `{"pin": 3}`); !r.IsError {
		t.Errorf("%+v", r)
	}
}

// drawPin sets or ends a pin of any kind.
func (p *player) drawPin(rt *rapid.T) {
	ctx := context.Background()
	lines, err := p.s.Pins(ctx, p.id, false)
	if err != nil {
		rt.Fatalf("pins: %v", err)
	}
	if len(lines) > 0 && rapid.IntRange(0, 2).Draw(rt, "end") == 0 {
		if _, err := p.s.Unpin(ctx, session.UnpinRequest{Session: p.id, By: compartments.ByUser, Now: p.now, Pin: rapid.SampledFrom(lines).Draw(rt, "pin").Pin}); err != nil {
			rt.Fatalf("unpin: %v", err)
		}
		return
	}
	place := rapid.IntRange(0, len(p.list)-1).Draw(rt, "place")
	r := session.PinRequest{Session: p.id, By: compartments.ByUser, Now: p.now, Part: -1}
	if rapid.Bool().Draw(rt, "words") {
		r.ID = compartments.MessageID(p.name(place))
		if text := p.list[place].parts[0].text; len(text) > 4 && rapid.Bool().Draw(rt, "quote") {
			if r.Quote = text[:rapid.IntRange(1, len(text)).Draw(rt, "length")]; strings.TrimSpace(r.Quote) == "" {
				return // no quote
			}
		}
	} else {
		r.First = compartments.Ordinal(rapid.IntRange(1, len(p.list)).Draw(rt, "first"))
		r.Last = min(r.First+compartments.Ordinal(rapid.IntRange(0, 6).Draw(rt, "more")), compartments.Ordinal(len(p.list)))
		r.Class = rapid.SampledFrom([]compartments.Retention{compartments.Pinned, compartments.Discardable, compartments.Compressible}).Draw(rt, "class")
	}
	_, err = p.s.Pin(ctx, r)
	switch compartments.CodeOf(err) {
	case compartments.CodeNotFound, compartments.CodeBadRange:
		return
	}
	if err != nil {
		rt.Fatalf("pin: %v", err)
	}
}

// TestFold_IsMadeForTheSameRequest: a fold that somebody asked for and was promised is
// made at the next transform, also where the list is what it was; and once.
func TestFold_IsMadeForTheSameRequest(t *testing.T) {
	h := start(t, 60_000)
	h.prices.Kind = "none"
	h.goOn(20, 3, 1900)
	h.user("and now something else")
	h.request()
	folds := h.folds
	reply, err := h.s.Fold(context.Background(), h.id, false)
	if err != nil || !reply.Folded {
		t.Fatalf("%+v, %v", reply, err)
	}
	h.disturbed = true // the head may change
	h.request()
	if h.folds != folds+1 || !h.reply.Stats.Folded || h.reply.Stats.Reason != "asked" {
		t.Fatalf("promised %q, and then %+v", reply.Reason, h.reply.Stats)
	}
	plan := h.reply.PlanID
	if h.request(); h.reply.PlanID != plan || h.folds != folds+1 {
		t.Fatalf("asked again it is another plan: %+v", h.reply.Stats)
	}
	if reply, err = h.s.Fold(context.Background(), h.id, false); err != nil || reply.Folded || reply.Reason == "" {
		t.Fatalf("nothing is left to fold: %+v, %v", reply, err)
	}
}

// Who asks for a fold gets the pins shown, whatever that frees.
func TestPin_AskedFoldShowsIt(t *testing.T) {
	h := marked(t, 16_000)
	h.coldly() // nothing else is to be gained
	h.pin(markedPlace, 1, markedWords)
	reply, err := h.s.Fold(context.Background(), h.id, false)
	if err != nil || !reply.Folded {
		t.Fatalf("%+v, %v", reply, err)
	}
	h.user("next")
	h.request()
	if !h.reply.Stats.Folded || !h.recordSays(markedWords) {
		t.Fatalf("%+v", h.reply.Stats)
	}
	if reply, err = h.s.Fold(context.Background(), h.id, true); err != nil || reply.Folded {
		t.Fatalf("again: %+v, %v", reply, err)
	}
}

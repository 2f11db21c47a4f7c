package lab

import (
	"fmt"
	"slices"
)

// The promises that a replay checks.
const (
	promiseFits     = "fits the window"
	promiseStable   = "same bytes between folds"
	promiseFold     = "folds are counted and reasoned"
	promiseAppend   = "folds keep the pairs before their divergence"
	promiseShape    = "starts with a user, nothing empty"
	promiseUser     = "newest user message verbatim"
	promiseCalls    = "calls keep their results"
	promiseNewest   = "newest reply unedited"
	promiseOrder    = "answers in order"
	promiseRevision = "revision and sync"
	promiseRestart  = "same plan after a kill"
	promiseRaw      = "raw messages byte for byte"
	promisePages    = "opened pages join to the original"
	promiseFound    = "rare words are found"
)

var promises = [...]string{promiseFits, promiseStable, promiseFold, promiseAppend, promiseShape, promiseUser, promiseCalls,
	promiseNewest, promiseOrder, promiseRevision, promiseRestart, promiseRaw, promisePages, promiseFound}

// breach is a promise that did not hold.
type breach struct {
	Promise string `json:"promise"`
	Step    int    `json:"step,omitempty"` // 1-based; 0 at the end of the session
	What    string `json:"what"`
}

func (b breach) String() string {
	if b.Step == 0 {
		return fmt.Sprintf("%s: %s", b.Promise, b.What)
	}
	return fmt.Sprintf("%s: step %d: %s", b.Promise, b.Step, b.What)
}

// verdicts counts what was checked and collects what did not hold.
type verdicts struct {
	held     map[string]int
	breaches []breach
	step     int // current, 1-based
}

func newVerdicts() *verdicts { return &verdicts{held: map[string]int{}} }

// check counts one check of a promise and reports whether it held.
func (v *verdicts) check(promise string, ok bool, format string, args ...any) bool {
	if ok {
		v.held[promise]++
		return true
	}
	v.breaches = append(v.breaches, breach{Promise: promise, Step: v.step, What: fmt.Sprintf(format, args...)})
	return false
}

// window is how the context is divided, in tokens.
type window struct {
	context int
	output  int // most that the host would ask for
	reserve int // kept free for the reply
	prefix  int // system text and tools
	usable  int
}

// divide reserves the output limit, but at most a quarter of the window.
func divide(context, output, prefix int) window {
	w := window{context: context, output: output, reserve: min(output, context/4), prefix: prefix}
	w.usable = max(1, w.context-w.reserve-w.prefix)
	return w
}

// pass is one request and what led to it.
type pass struct {
	view   []int
	plan   *plan // in force; nil before the first
	req    *request
	answer *transformed
}

// checker checks requests against each other and against the recording.
type checker struct {
	*verdicts
	rec    *recording
	render *renderer
	window window

	last *pass
	seen map[int]bool // messages that were part of a request
}

func newChecker(v *verdicts, rec *recording, r *renderer, w window) *checker {
	return &checker{verdicts: v, rec: rec, render: r, window: w, seen: map[int]bool{}}
}

// observe checks one pass. It reports whether the request is irreducible: too
// large, and rightly so.
func (c *checker) observe(p *pass) (irreducible bool) {
	c.shape(p)
	c.newestUser(p)
	c.calls(p)
	c.newestReply(p)
	irreducible = c.fits(p)
	if c.last != nil {
		c.stable(c.last, p)
	}
	for i := range p.req.messages {
		c.seen[p.req.messages[i].index] = true
	}
	c.last = p
	return irreducible
}

func (c *checker) name(i int) string {
	return fmt.Sprintf("message %d (%s)", i+1, c.rec.messages[i].id)
}

func (c *checker) fits(p *pass) (irreducible bool) {
	reserve := c.window.reserve
	if p.answer.maxOutput > 0 {
		reserve = min(reserve, p.answer.maxOutput)
	}
	room := c.window.context - reserve - c.window.prefix
	total := p.req.tokens()
	if total <= room {
		c.check(promiseFits, true, "")
		return false
	}
	least := c.least(p)
	c.check(promiseFits, least > room,
		"%d tokens do not fit the %d that are free, and %d of them could not be reduced (the answer says: %q)",
		total, room, least, p.answer.stats.Irreducible)
	if least > room {
		c.check(promiseFits, p.answer.stats.Irreducible != "", "the request cannot be reduced below %d of %d tokens, but the answer does not say so", least, room)
	}
	return least > room
}

// stubAllowance is what the stub of an output may take, in tokens.
const stubAllowance = 300

// least is what no fold and no stub can take away: the newest user messages, the
// words and arguments of the newest reply, and what runs still.
func (c *checker) least(p *pass) int {
	n := 0
	newest := true
	user := newestRealUser(c.rec, p.view)
	lastUser := -1
	for _, i := range p.view {
		if c.rec.messages[i].role == "user" {
			lastUser = i
		}
	}
	for at := len(p.view) - 1; at >= 0; at-- {
		i := p.view[at]
		m := &c.rec.messages[i]
		blocks := c.render.unedited(m)
		if len(blocks) == 0 {
			continue
		}
		whole := i == user || i == lastUser
		open := false
		for _, b := range blocks {
			open = open || b.open
		}
		if !whole && !open && (m.role == "user" || !newest) {
			continue
		}
		n += frameTokens
		for _, b := range blocks {
			if b.result && !b.open {
				n += min(b.tokens, stubAllowance)
			} else {
				n += b.tokens
			}
		}
		if m.role == "assistant" {
			newest = false
		}
	}
	return n
}

func newestRealUser(rec *recording, list []int) int {
	for at := len(list) - 1; at >= 0; at-- {
		if realUser(&rec.messages[list[at]]) {
			return list[at]
		}
	}
	return -1
}

func (c *checker) shape(p *pass) {
	if !c.check(promiseShape, !p.req.void, "the plan drops through %q, which is not in the list", through(p.plan)) {
		return
	}
	if !c.check(promiseShape, len(p.req.messages) > 0, "nothing is sent") {
		return
	}
	first := p.req.messages[0]
	c.check(promiseShape, first.role == "user" || p.req.head == 0 && c.unled(p, first.index), "the request starts with an %s message", first.role)
	if behind := p.req.messages[p.req.head:]; len(behind) > 0 {
		ok := behind[0].role == "user" || c.unled(p, behind[0].index) && !(p.answer.stats.Folded && free(p.answer.stats.Reason))
		c.check(promiseShape, ok, "what follows the head starts with an %s message, %s", behind[0].role, c.name(behind[0].index))
	} else {
		c.check(promiseShape, false, "nothing follows the head")
	}
	if p.plan == nil {
		return
	}
	for i, h := range p.plan.Head {
		c.check(promiseShape, !blank(h.Text), "pair %d of the head is blank", i+1)
	}
	there := map[int]bool{}
	for i := range p.req.messages {
		there[p.req.messages[i].index] = true
	}
	from := slices.IndexFunc(p.view, func(i int) bool { return c.rec.messages[i].id == p.plan.Through }) + 1
	for _, i := range p.view[from:] {
		c.check(promiseShape, there[i] || len(c.render.unedited(&c.rec.messages[i])) == 0, "%s stays but nothing of it is left", c.name(i))
	}
}

// unled reports whether no user message stands before one in the host's own list:
// the session begins with replies, and there is nothing to keep in front of it.
func (c *checker) unled(p *pass, message int) bool {
	for _, i := range p.view {
		if i == message {
			return true
		}
		if c.rec.messages[i].role == "user" && len(c.render.unedited(&c.rec.messages[i])) > 0 {
			return false
		}
	}
	return false
}

// free reports whether a fold of that reason could as well have been left out.
func free(reason string) bool {
	return slices.Contains([]string{"cold", "pays", "turn-ahead", "pressure", "asked"}, reason)
}

func through(p *plan) string {
	if p == nil {
		return ""
	}
	return p.Through
}

func (c *checker) newestUser(p *pass) {
	user := newestRealUser(c.rec, p.view)
	if user < 0 {
		return
	}
	want := c.render.unedited(&c.rec.messages[user])
	if len(want) == 0 {
		return
	}
	at := slices.IndexFunc(p.req.messages, func(s sent) bool { return s.index == user })
	if c.check(promiseUser, at >= 0, "%s is not in the request", c.name(user)) {
		c.check(promiseUser, slices.Equal(p.req.messages[at].blocks, want), "%s is not sent as the user wrote it", c.name(user))
	}
}

func (c *checker) calls(p *pass) {
	for i := range p.req.messages {
		s := &p.req.messages[i]
		if s.index < 0 || s.role != "assistant" {
			continue
		}
		calls, results := 0, 0
		for _, m := range c.rec.messages[s.index].parts {
			if m.kind == "tool" {
				calls++
			}
		}
		for _, b := range s.blocks {
			if b.result {
				results++
			}
		}
		for k := range p.req.edited {
			if k.message == c.rec.messages[s.index].id && k.field == "drop" && c.rec.messages[s.index].parts[k.part].kind == "tool" {
				calls--
			}
		}
		c.check(promiseCalls, results >= calls, "%s has %d calls and %d results", c.name(s.index), calls, results)
	}
	if p.plan == nil {
		return
	}
	for i, e := range p.plan.Edits {
		if !p.req.edited[e.key()] || e.Field != "output" {
			continue
		}
		at := slices.IndexFunc(c.rec.messages, func(m message) bool { return m.id == e.MessageID })
		target := &c.rec.messages[at].parts[e.Part]
		c.check(promiseCalls, target.kind == "tool" && !target.state.open(), "edit %d gives an output to part %d of %s, which has none", i, e.Part, c.name(at))
		c.check(promiseCalls, !blank(e.Value), "edit %d leaves nothing of the output of part %d of %s", i, e.Part, c.name(at))
	}
}

// newestReply checks that of the newest reply nothing but outputs is edited.
func (c *checker) newestReply(p *pass) {
	for at := len(p.view) - 1; at >= 0; at-- {
		m := &c.rec.messages[p.view[at]]
		if m.role != "assistant" {
			continue
		}
		for k := range p.req.edited {
			c.check(promiseNewest, k.message != m.id || k.field == "output", "%s of part %d of %s is edited", k.field, k.part, c.name(p.view[at]))
		}
		return
	}
}

// stable checks that a request continues the one before it, byte for byte,
// unless a fold says otherwise.
func (c *checker) stable(before, now *pass) {
	was, is := before.answer, now.answer
	if is.stats.Folded {
		c.check(promiseFold, is.stats.Fold == was.stats.Fold+1, "fold %d follows fold %d", is.stats.Fold, was.stats.Fold)
		c.check(promiseFold, is.stats.Reason != "", "fold %d has no reason", is.stats.Fold)
		c.check(promiseFold, is.planID != was.planID, "fold %d changed nothing", is.stats.Fold)
		return
	}
	c.check(promiseFold, is.stats.Fold == was.stats.Fold, "fold %d is in force, but the answer does not say that it folded (before: %d)", is.stats.Fold, was.stats.Fold)
	if is.planID != was.planID {
		c.extension(before, now)
	}
	if !slices.Equal(before.view, now.view[:min(len(before.view), len(now.view))]) {
		return // the host's own list changed: nothing could stay the same
	}
	if at := firstDifference(before.req, now.req); at >= 0 {
		c.check(promiseStable, false, "the bytes of %s changed without a fold", c.place(before.req, at))
	} else {
		c.check(promiseStable, true, "")
	}
}

// extension checks that a plan which no fold made only adds stubs of outputs that
// were never sent.
func (c *checker) extension(before, now *pass) {
	was, is := orEmpty(before.plan), orEmpty(now.plan)
	ok := slices.Equal(was.Head, is.Head) && was.Through == is.Through && slices.Equal(was.Keep, is.Keep) &&
		len(is.Edits) >= len(was.Edits) && slices.Equal(was.Edits, is.Edits[:min(len(was.Edits), len(is.Edits))])
	if !c.check(promiseStable, ok, "the plan became %s without a fold, and not by stubs alone", is.ID) {
		return
	}
	for _, e := range is.Edits[len(was.Edits):] {
		at := slices.IndexFunc(c.rec.messages, func(m message) bool { return m.id == e.MessageID })
		if !c.check(promiseStable, at >= 0, "a stub is for the message %q, which does not exist", e.MessageID) {
			continue
		}
		c.check(promiseStable, e.Field == "output" && !c.seen[at], "part %d of %s was sent before and became a stub without a fold", e.Part, c.name(at))
	}
}

func orEmpty(p *plan) *plan {
	if p == nil {
		return &plan{}
	}
	return p
}

// firstDifference is the block of a request at which a later one stops repeating
// it; -1 if it repeats it whole.
func firstDifference(before, now *request) int { return diverges(now.sums(), before.sums()) }

func (c *checker) place(r *request, at int) string {
	for i := range r.messages {
		if at < len(r.messages[i].blocks) {
			if i < r.head {
				return fmt.Sprintf("pair %d of the head", i/2+1)
			}
			return c.name(r.messages[i].index)
		}
		at -= len(r.messages[i].blocks)
	}
	return "the end"
}

// foldLine is what status says about a fold.
type foldLine struct {
	Number     int            `json:"number"`
	Reason     string         `json:"reason"`
	Divergence int            `json:"divergence"`
	Pairs      int            `json:"pairs"`
	Before     int            `json:"before"`
	After      int            `json:"after"`
	Tiers      map[string]int `json:"tiers"`
}

// nearly is how far the counts of the program may be from ours: it counts parts by
// themselves, and of a stubbed argument what the name of its tool takes at most.
func nearly(tokens, stubs int) int { return 16 + tokens/100 + 8*stubs }

// weighed checks the sizes that status names for a fold against the request as it is
// sent, and as it would be with the plan before. Where that would not fit, results
// become stubs whatever is folded, and status names what is left.
func (c *checker) weighed(line *foldLine, before, after, stubs, usable int) {
	most := nearly(max(before, after), stubs)
	far := func(a, b int) bool { return max(a-b, b-a) > most }
	c.check(promiseFold, !far(line.After, after), "fold %d says that it left %d tokens, the request has %d", line.Number, line.After, after)
	c.check(promiseFold, line.Before <= before+most && (before > usable || !far(line.Before, before)),
		"fold %d says that the request would have %d tokens without it, it would have %d", line.Number, line.Before, before)
}

// folded checks a fold's pairs against what status says of it. It returns the
// first pair whose bytes changed.
func (c *checker) folded(was, is *plan, line *foldLine) (divergence int) {
	was, is = orEmpty(was), orEmpty(is)
	same := 0
	for same < len(was.Head) && same < len(is.Head) && was.Head[same].Text == is.Head[same].Text {
		same++
	}
	if line == nil {
		return same
	}
	c.check(promiseAppend, line.Divergence <= same, "fold %d says that it changes nothing before pair %d, but pair %d changed",
		line.Number, line.Divergence+1, same+1)
	c.check(promiseAppend, line.Pairs == len(is.Head), "fold %d says that it left %d pairs, the plan has %d", line.Number, line.Pairs, len(is.Head))
	c.check(promiseAppend, len(is.Head) <= line.Divergence+1, "fold %d renders %d pairs behind its divergence, not one", line.Number, len(is.Head)-line.Divergence)
	return same
}

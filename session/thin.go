package session

import (
	"context"
	"maps"
	"slices"

	"ctxplugin/compartments"
	"ctxplugin/decay"
)

// thinning is what a fold made now would put in the place of bulk that stays in
// view.
type thinning struct {
	edits []compartments.Edit          // all that the plan would have, in view order
	saved map[compartments.Ordinal]int // tokens that they save, by message
	fresh int                          // tokens that they save beyond the edits in force
}

// call is what the session keeps in memory of one call in view.
type call struct {
	part int
	decay.Call
	input, output int // characters
}

// stubKey names one stub: the same key and message content give the same text.
type stubKey struct {
	ordinal  compartments.Ordinal
	part     int
	field    compartments.Field
	replaced string
}

// bulk is what a session remembers of the calls in view, so that a fold that is
// only weighed reads nothing twice. It holds nothing that is not in the store.
type bulkMemory struct {
	calls map[compartments.Ordinal][]call
	stubs map[stubKey]string // empty where a stub would be no smaller

	mentions map[compartments.Ordinal]mention
	known    map[compartments.CompartmentID][]string // identifiers, of compartments
}

// forgetBulk drops what is remembered of a message whose content changed.
func (se *Session) forgetBulk(o compartments.Ordinal) {
	delete(se.bulk.calls, o)
	delete(se.bulk.mentions, o)
	maps.DeleteFunc(se.bulk.stubs, func(k stubKey, _ string) bool { return k.ordinal == o })
}

// rememberMost is how many messages a piece has at most of which bulk is remembered
// as they come: a fold then reads none of them again. Of a long session at first
// sight most are never asked for.
const rememberMost = 64

// rememberBulk fills the memory from a message that is at hand.
func (se *Session) rememberBulk(e *compartments.Entry, m *compartments.Message) {
	if mentions(e) {
		se.bulk.mentions[e.Ordinal] = mentionIn(m)
	}
	if hasCalls(e) {
		se.bulk.calls[e.Ordinal] = callsOf(m)
	}
}

// thin works out which bulky parts become stubs if a fold is made now, and lets
// the pass weigh them as if they were. unthin takes that back.
func (p *pass) thin(ctx context.Context) error {
	from := p.thinFrom()
	if err := p.readCalls(ctx, p.v.order[from:]); err != nil {
		return err
	}
	bulk, calls, ordinals := p.bulkInView(from)
	by := p.settings().Superseded(calls)
	chosen := decay.Thin(bulk, calls, by, p.w.Usable, p.settings())
	replaced := func(b decay.Bulk) string {
		if j := by[b.Call]; j >= 0 {
			return decay.Replacement(&calls[b.Call], &calls[j], ordinals[j])
		}
		return ""
	}
	if err := p.makeStubs(ctx, chosen, replaced); err != nil {
		return err
	}
	type seat struct {
		id    compartments.MessageID
		part  int
		field compartments.Field
	}
	t := &thinning{}
	taken := map[seat]bool{}
	for _, b := range chosen {
		value := p.bulk.stubs[stubKey{b.Ordinal, b.Part, b.Field, replaced(b)}]
		if value == "" {
			continue
		}
		e := compartments.Edit{MessageID: p.entry(b.Ordinal).ID, Part: b.Part, Field: b.Field, Value: value}
		t.edits = append(t.edits, e)
		taken[seat{e.MessageID, e.Part, e.Field}] = true
	}
	for _, e := range p.plan.Edits {
		if !taken[seat{e.MessageID, e.Part, e.Field}] {
			t.edits = append(t.edits, e)
		}
	}
	slices.SortStableFunc(t.edits, func(a, b compartments.Edit) int {
		if d := p.placeOf(a.MessageID) - p.placeOf(b.MessageID); d != 0 {
			return d
		}
		return a.Part - b.Part
	})
	t.saved = p.weigh(t.edits)
	for o, n := range t.saved {
		t.fresh += n - p.saved[o]
	}
	p.thinned = t
	p.saved = t.saved
	return nil
}

// thinFrom is the place from which bulk is looked at: what is before it could not
// stay in the tail even as stubs, or is more than the pass may read.
func (p *pass) thinFrom() int {
	from := max(p.dropped(), p.v.hidden)
	room, reads := decay.Tail(p.w.Usable, p.settings())+p.w.Usable/4, p.reads/readShare
	for i := len(p.v.order) - 1; i >= from; i-- {
		e := p.entry(p.v.order[i])
		least := compartments.FrameTokens
		for _, z := range e.Sizes {
			least += min(z.Sent(), thinLeast)
		}
		if room -= least; room < 0 {
			return i + 1
		}
		if hasCalls(e) { // read or not: the same request gives the same fold
			if reads -= work(e); reads < 0 {
				return i + 1
			}
		}
	}
	return from
}

// thinLeast is what a part with a stub takes at least, in tokens.
const thinLeast = 60

// savedIn is what stubs save of a compartment's messages, in tokens.
func (p *pass) savedIn(c *compartments.Compartment) int {
	n := 0
	if len(p.saved) == 0 {
		return n
	}
	for _, o := range c.Members {
		n += p.saved[o]
	}
	return n
}

// unthin lets the pass weigh the plan in force again.
func (p *pass) unthin() {
	if p.thinned != nil {
		p.thinned = nil
		p.weighEdits()
	}
}

func (se *Session) placeOf(id compartments.MessageID) int {
	if o, ok := se.byID[id]; ok {
		return se.view.place[o-1]
	}
	return -1
}

// readCalls fills the memory with the calls of messages.
func (p *pass) readCalls(ctx context.Context, order []compartments.Ordinal) error {
	var missing []compartments.Ordinal
	for _, o := range order {
		if _, ok := p.bulk.calls[o]; !ok && hasCalls(p.entry(o)) {
			missing = append(missing, o)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	messages, err := p.messagesOf(ctx, missing)
	if err != nil {
		return err
	}
	for i := range messages {
		p.bulk.calls[missing[i]] = callsOf(&messages[i])
	}
	return nil
}

func callsOf(m *compartments.Message) []call {
	list := []call{}
	for i := range m.Parts {
		t := &m.Parts[i]
		if t.Kind != compartments.PartTool {
			continue
		}
		failed := t.Status == compartments.StatusError || t.HasExit && t.ExitCode != 0
		list = append(list, call{i, decay.Call{Subject: compartments.SubjectOf(t), Failed: failed, Open: t.Status.Open()},
			len(t.Input), len(t.Output)})
	}
	return list
}

func hasCalls(e *compartments.Entry) bool {
	return slices.ContainsFunc(e.Sizes, func(z compartments.Size) bool { return z.Kind == compartments.PartTool })
}

// bulkInView lists the calls from a place on, the message of each, and the
// fields of them that might become stubs.
func (p *pass) bulkInView(from int) (bulk []decay.Bulk, calls []decay.Call, ordinals []compartments.Ordinal) {
	newest := p.newestAnswer()
	behind, turns := 0, p.toCome
	if turn := p.turnStart(p.v); p.toCome > 0 && turn >= 0 {
		behind = p.tokensAt(p.v, turn) // what the user says next is taken to be as long as the last time
	}
	type seen struct{ behind, turns int }
	at := make([]seen, len(p.v.order)-from)
	for i := len(p.v.order) - 1; i >= from; i-- {
		at[i-from] = seen{behind, turns}
		behind += p.tokensAt(p.v, i)
		if p.entry(p.v.order[i]).Real {
			turns++
		}
	}
	for i := from; i < len(p.v.order); i++ {
		o := p.v.order[i]
		if p.entry(o).Unsent() { // it takes no room, and nobody has read what it read
			continue
		}
		for _, c := range p.bulk.calls[o] {
			calls = append(calls, c.Call)
			ordinals = append(ordinals, o)
			if p.spared(o, c.part) {
				continue
			}
			b := decay.Bulk{Ordinal: o, Part: c.part, Behind: at[i-from].behind, Turns: at[i-from].turns, Newest: i >= newest, Call: len(calls) - 1}
			b.Field, b.Chars = compartments.FieldInput, c.input
			bulk = append(bulk, b)
			b.Field, b.Chars = compartments.FieldOutput, c.output
			bulk = append(bulk, b)
		}
	}
	return bulk, calls, ordinals
}

// newestAnswer is the place of the newest assistant message.
func (p *pass) newestAnswer() int {
	newest := len(p.v.order) - 1
	for newest > 0 && p.entry(p.v.order[newest]).Role != compartments.RoleAssistant {
		newest--
	}
	return newest
}

// makeStubs fills the memory with the stubs of chosen parts.
func (p *pass) makeStubs(ctx context.Context, chosen []decay.Bulk, replaced func(decay.Bulk) string) error {
	var wanted []compartments.Ordinal
	missing := chosen[:0:0]
	for _, b := range chosen {
		if _, ok := p.bulk.stubs[stubKey{b.Ordinal, b.Part, b.Field, replaced(b)}]; ok {
			continue
		}
		missing = append(missing, b)
		if n := len(wanted); n == 0 || wanted[n-1] != b.Ordinal {
			wanted = append(wanted, b.Ordinal)
		}
	}
	messages, err := p.messagesOf(ctx, wanted)
	if err != nil {
		return err
	}
	for _, b := range missing {
		i, _ := slices.BinarySearchFunc(wanted, b.Ordinal, func(o, t compartments.Ordinal) int { return p.v.place[o-1] - p.v.place[t-1] })
		part := &messages[i].Parts[b.Part]
		z := p.entry(b.Ordinal).Sizes[b.Part]
		why := replaced(b)
		value, tokens := "", 0
		if b.Field == compartments.FieldOutput {
			value, tokens = decay.OutputStub(part, b.Ordinal, b.Part, p.settings().StubPreview, p.settings().StubNames, why), z.Tokens-callTokens
		} else if v, ok := decay.InputStub(part, b.Ordinal, b.Part, p.settings().StubOver, p.settings().StubNames, why); ok {
			value, tokens = v, z.Input
		}
		if value != "" && tokens-p.cfg.Count(value) < stubSaves {
			value = ""
		}
		p.bulk.stubs[stubKey{b.Ordinal, b.Part, b.Field, why}] = value
	}
	return nil
}

// stubSaves is the least that a stub made at a fold saves, in tokens.
const stubSaves = 60

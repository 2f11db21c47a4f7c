package session

import (
	"context"
	"fmt"
	"slices"

	"ctxplugin/compartments"
	"ctxplugin/decay"
	"ctxplugin/tokens"
)

// Transform returns the newest committed plan for the next request, folding
// first if that must or should be. Errors: CodeResync when the host's list is
// not ours; CodeStorage or CodeBusy when a change could not be committed: the
// plan before it stays in force.
func (s *Sessions) Transform(ctx context.Context, req TransformRequest) (reply TransformReply, err error) {
	se, err := s.hold(ctx, req.Session)
	if err != nil {
		return TransformReply{}, err
	}
	err = s.holding(se, func() error {
		return se.run(ctx, func(se *Session) error {
			reply, err = se.transform(ctx, req)
			return err
		})
	})
	if err == nil && reply.Standing != nil {
		s.stands(se, reply.Standing)
	}
	s.goOn(se)
	return reply, err
}

// pass is one transform at work.
type pass struct {
	*Session
	req    TransformRequest
	v      *view
	w      decay.Window // in our own tokens: calibrated
	cal    tokens.Calibration
	now    int64 // of the host's clock, Unix ms; that of the last request if it gave none
	same   bool  // the last request is asked for again
	cold   bool
	folded bool
	first  bool // first plan of a session that is already long
	reason compartments.Reason
	inputs compartments.FoldInputs

	toCome int // turns that begin between the decision and its request

	writes, reads int // tokens that the pass may still write and read

	away  map[compartments.CompartmentID]bool // may not fade, and have no room
	eased map[compartments.CompartmentID]bool // floors do not hold them, for these have no room
	yield bool                                // pinned parts may become stubs too

	read    map[compartments.Ordinal][]compartments.Part // messages that stubs were made of
	thinned *thinning                                    // while a fold is weighed
	weighed *decay.Option                                // a fold that was weighed and not made
}

func (se *Session) transform(ctx context.Context, req TransformRequest) (TransformReply, error) {
	if se.prefix[len(se.list)].String() != req.Rev {
		return TransformReply{}, se.resync()
	}
	se.touched = true
	if err := se.resume(ctx); err != nil {
		return TransformReply{}, err
	}
	p := &pass{Session: se, req: req, v: &se.view}
	p.observe()
	p.divide()
	p.allowance()
	if se.st.Ahead { // growth counts from the first request that shows the fold, as where a request makes one
		se.st.FoldAt = p.messages() - headTokens(se.st.Layout)
	}
	batch := &compartments.Batch{ListFrom: -1}
	if !req.Sent {
		if err := p.decide(ctx, batch); err != nil {
			return TransformReply{}, err
		}
	}
	p.remember()
	if err := p.settle(ctx, batch); err != nil {
		return TransformReply{}, err
	}
	reply := TransformReply{PlanID: se.planID, MaxOutput: p.w.MaxOutput, Stats: se.st.Stats, Standing: p.standing(false)}
	if req.Applied != se.planID {
		reply.Plan = compartments.WithID(se.planID, se.encoded)
	}
	return reply, nil
}

// settle commits the pass. Where only numbers changed, the plan in force is
// committed already: it is answered even if the store takes no more, and the
// numbers go with the next commit.
func (p *pass) settle(ctx context.Context, batch *compartments.Batch) error {
	if p.version == 0 {
		return nil // nothing was ever synced
	}
	err := p.commit(ctx, batch)
	if err == nil || batch.Plan != nil || len(batch.Compartments) > 0 {
		return err
	}
	switch compartments.CodeOf(err) {
	case compartments.CodeStorage, compartments.CodeNewerSchema:
	case compartments.CodeBusy:
		if !p.again {
			return err // another process may have another plan by now
		}
	default:
		return err
	}
	p.tell("warning", "the store takes no changes: "+err.Error())
	return nil
}

// observe takes in what the last request told: whether the host applied the
// plan, what the provider counted, and whether the cache may be warm.
func (p *pass) observe() {
	st := &p.st
	p.same = st.Rev == p.req.Rev
	switch {
	case p.req.Applied == p.planID:
		st.Applied, st.Unnamed = true, 0
	case st.Now != 0 && !p.same:
		st.Unnamed++
	}
	model := p.modelKey()
	p.cal = st.Calibration[model]
	if u := p.newestUsage(); u > 0 && st.Predicted > 0 && st.Model == model && p.req.Applied == p.planID {
		if c, ok := p.cal.Update(st.Predicted, u); ok {
			p.cal = c
			st.Calibration[model] = c
		}
	}
	if p.now = p.req.Now; p.now <= 0 {
		p.now = max(st.Now, 1)
	}
	if st.Now > 1 && p.now > 1 {
		p.inputs.IdleMs = max(0, p.now-st.Now)
	}
	p.cold = p.inputs.IdleMs > p.ttl() || st.Now != 0 && st.Model != model
}

// ttl is how long the provider keeps a prefix, in ms.
func (p *pass) ttl() int64 {
	if ttl := p.req.Model.Prices.TTLMs; ttl > 0 {
		return ttl
	}
	return cacheTTL
}

// cacheTTL is how long a provider keeps a prefix when the host does not say, in
// ms: five minutes.
const cacheTTL = 5 * 60 * 1000

func (p *pass) modelKey() string { return p.req.Model.Provider + "/" + p.req.Model.ID }

// newestUsage is what the provider reported for the last request: the input
// side of the first finished assistant message behind the list that it was made
// from. 0 if nothing was reported.
func (p *pass) newestUsage() int {
	if at := p.st.PredictedAt; at >= len(p.prefix) || p.prefix[at].String() != p.st.Rev {
		return 0 // the list is another one by now
	}
	for i := p.st.PredictedAt; i < len(p.list); i++ {
		if e := p.entry(p.list[i]); e.Role == compartments.RoleAssistant {
			return e.Usage.InputSide()
		}
	}
	return 0
}

// divide works out the window in our own tokens.
func (p *pass) divide() {
	key := p.req.Agent + "@" + p.modelKey()
	fixed := p.st.Fixed[key]
	if p.req.FixedBytes > 0 {
		fixed = p.req.FixedBytes / fixedBytesPerToken
		p.st.Fixed[key] = fixed
	}
	if fixed == 0 {
		fixed = min(p.settings().FixedUnknown, max(p.req.Model.Context, 4)/4)
	}
	w := decay.Divide(p.req.Model.Context, p.req.Model.Output, p.st.Learned[p.modelKey()], p.cal.Apply(fixed), p.settings())
	if w.Warning != "" {
		p.tell("warning", w.Warning)
	}
	p.inputs.Window, p.inputs.Reserve, p.inputs.Fixed = w.Context, w.Reserve, w.Fixed
	w.Fixed = fixed
	w.Usable = max(1, uncalibrate(p.cal, w.Usable))
	w.Budget = decay.Budget(w.Usable, p.settings())
	p.w = w
}

// fixedBytesPerToken is what system texts and JSON schemas take, rounded so
// that the count is rather too high.
const fixedBytesPerToken = 4

// uncalibrate is the most tokens of ours that the provider counts as n. A ratio
// below one is not believed: it is one for system, tools and messages together,
// and may come from the first two alone.
func uncalibrate(c tokens.Calibration, n int) int {
	one := max(1_000_000, c.Apply(1_000_000)) // the ratio in parts per million
	return int(int64(n) * 1_000_000 / int64(one))
}

// remember keeps what the next pass needs to know of this one, and the numbers
// that status prints.
func (p *pass) remember() {
	st := &p.st
	messages := p.messages()
	st.Model, st.Prices, st.Now, st.Rev = p.modelKey(), p.req.Model.Prices, p.now, p.req.Rev
	if !p.same {
		st.Steps++
	}
	st.Predicted, st.PredictedAt = p.w.Fixed+messages, len(p.list)
	st.Overflow, st.Ahead = false, false
	p.owe()
	stats := Stats{Window: p.w.Context, Usable: p.w.Usable, Reserve: p.w.Reserve, Fixed: p.w.Fixed, Messages: messages,
		Pressure: decay.Pressure(messages, p.w.Usable), Budget: p.w.Budget, History: headTokens(st.Layout), Fold: p.folds,
		Folded: p.folded, Compartments: len(p.v.served), Stubs: len(p.plan.Edits)}
	if p.folded {
		stats.Reason = string(p.reason)
	}
	if p.w.Warning != "" {
		stats.Warnings = append(stats.Warnings, p.w.Warning)
	}
	if messages > p.w.Usable {
		stats.Irreducible = p.irreducible()
	}
	if st.Unnamed >= ignoredAfter {
		text := fmt.Sprintf("the host did not name the plan in %d answers in a row: it seems to ignore us", st.Unnamed)
		stats.Warnings = append(stats.Warnings, text)
		p.tell("warning", "the host seems to ignore the context plan")
	}
	st.Stats = stats
}

// ignoredAfter is how many answers in a row the host may leave unnamed before
// that is reported.
const ignoredAfter = 4

func headTokens(layout []compartments.PairLayout) int {
	n := 0
	for i := range layout {
		n += layout[i].Tokens
	}
	return n
}

// dropped reports how many places of the view the plan in force drops: none if
// what it drops through is not in the host's list.
func (p *pass) dropped() int {
	o, ok := p.byID[p.plan.Through]
	switch {
	case !ok:
		return 0
	case p.v.hidden > 0 && o == p.list[1]:
		return p.v.hidden // the host's own summary, and all that it hides
	case p.v.place[o-1] < p.v.hidden:
		return 0
	}
	return p.v.place[o-1] + 1
}

// messages is what the next request weighs under the plan in force, in tokens
// of messages.
func (p *pass) messages() int {
	from, n := p.dropped(), 0
	saved := p.saved
	if void := from == 0 && p.plan.Through != ""; void {
		saved = nil // the host applies nothing of such a plan
	} else {
		n = headTokens(p.st.Layout)
	}
	add := func(o compartments.Ordinal) { n += p.entry(o).Tokens() - saved[o] }
	for _, id := range p.plan.Keep {
		o, ok := p.byID[id]
		if !ok {
			continue
		}
		if place := p.v.place[o-1]; place >= p.v.hidden && place < from || place < 0 && p.v.hidden > 0 && o == p.list[0] && from > 0 {
			add(o)
		}
	}
	if from < p.v.hidden { // what the host's own summary hides is not sent, but the summary is
		from = p.v.hidden
		for _, o := range p.list[:2] {
			add(o)
		}
	}
	for _, o := range p.v.order[from:] {
		add(o)
	}
	return n
}

// stale reports whether the plan in force says what is no longer so, or makes a
// request that must not be sent: a pair stands for messages that changed, it
// drops through a message that is not in the list or drops more than it did,
// what the host hides is neither rendered nor summarised, nothing is left behind
// the head, or a message is out of view that must be in it.
func (p *pass) stale() bool {
	dropped := p.dropped()
	if p.v.pairs < len(p.st.Layout) || p.plan.Through != "" && dropped == 0 || dropped < p.v.hidden {
		return true
	}
	if dropped == 0 {
		return false
	}
	if p.v.order[dropped-1] != p.st.Through || dropped == len(p.v.order) && !p.led(p.v, dropped) {
		return true
	}
	for _, o := range p.keptWith(dropped, p.keptRaw(p.st.Layout)) {
		if !slices.Contains(p.plan.Keep, p.entry(o).ID) {
			return true
		}
	}
	return false
}

// irreducible names what is too large for the window even so, in tokens as the
// provider counts them, so that the numbers add up: what fits is the window less
// the reply less system text and tools.
func (p *pass) irreducible() string {
	largest := &compartments.Entry{}
	for _, o := range p.inView() {
		if e := p.entry(o); e.Tokens()-p.saved[o] > largest.Tokens()-p.saved[largest.Ordinal] {
			largest = e
		}
	}
	name, tokens := fmt.Sprintf("message %d (%s)", largest.Ordinal, largest.Role), largest.Tokens()-p.saved[largest.Ordinal]
	if head := headTokens(p.st.Layout); head > tokens {
		name, tokens = "the record", head
	}
	fit := max(0, p.w.Context-p.w.Reserve-p.inputs.Fixed)
	all := max(p.provider(p.messages()), fit+1) // counting back and forth loses a fraction
	return fmt.Sprintf("%s takes %d of %d tokens where %d fit (window %d - reply %d - system and tools %d)",
		name, min(all, p.provider(tokens)), all, fit, p.w.Context, p.w.Reserve, p.inputs.Fixed)
}

// provider is what the provider counts n tokens of messages as; the reverse of
// uncalibrate.
func (p *pass) provider(n int) int { return max(n, p.cal.Apply(n)) }

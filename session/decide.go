package session

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"

	"ctxplugin/compartments"
	"ctxplugin/decay"
)

// decide folds if something forces it or it pays, and puts stubs where the
// request would not fit even so. What changes goes into the batch.
func (p *pass) decide(ctx context.Context, batch *compartments.Batch) error {
	s := p.settings()
	p.inputs.Replaces = p.planID
	if err := p.uncover(ctx, batch); err != nil {
		return err
	}
	if err := p.bare(batch); err != nil {
		return err
	}
	if err := p.stubFirst(ctx, batch); err != nil {
		return err
	}
	m := p.moment()
	p.inputs.Recording = m.Record(p.w, s)
	p.inputs.Before = m.Messages
	p.inputs.Pressure = decay.Pressure(m.Messages, p.w.Usable)
	p.inputs.Growth, p.inputs.LargestTurn, p.inputs.Prices = m.PerStep, m.LargestTurn, m.Prices
	if reason, forced := m.Forced(p.w, s); forced && (m.Stale || m.Overflowed || !p.answered(m.Messages)) {
		p.first = p.folds == 0 && p.st.Now == 0
		if p.first {
			reason = compartments.ReasonFirst
		}
		if err := p.force(ctx, batch, reason, m); err != nil {
			return err
		}
	} else if (!p.same || m.Asked) && !p.copied() && m.Ripe(0, p.w, s) { // the same request asked again gets the same answer
		if err := p.perhaps(ctx, batch, m); err != nil {
			return err
		}
	}
	p.unthin()
	if err := p.stub(ctx, batch); err != nil {
		return err
	}
	if f := batch.Fold; f != nil {
		f.Inputs.Stubs = len(p.plan.Edits)
		f.Inputs.After = p.messages() // with the stubs that are made whatever is folded, as Before
		f.InputsHash = hashInputs(f)
	}
	return nil
}

// perhaps folds if that is worth while.
func (p *pass) perhaps(ctx context.Context, batch *compartments.Batch, m decay.Moment) error {
	w, err := p.weighUp(ctx, m)
	if err != nil || !w.ok {
		return err
	}
	p.inputs.Spacing = w.spacing
	return p.fold(batch, w.option, w.reason)
}

// weighed is what came of weighing a fold that nothing forces.
type weighed struct {
	option  decay.Option
	reason  compartments.Reason
	spacing int
	ok      bool
	against string // why not, in words, if ok is false
}

// weighUp says whether a fold that nothing forces is worth while at a moment. What
// stubs would save stays in view of the pass.
func (p *pass) weighUp(ctx context.Context, m decay.Moment) (w weighed, err error) {
	s := p.settings()
	if err := p.thin(ctx); err != nil {
		return w, err
	}
	material := p.material(p.tailCut(p.v, decay.Tail(p.w.Usable, s)))
	switch {
	case !p.led(p.v, p.reach(&material)):
		w.against = "the session begins with replies, and without a user message before it the newest one cannot follow a record"
		return w, nil
	case p.heldBack(&material):
		w.against = fmt.Sprintf("the last fold was taken back, and nothing is written yet for messages behind %d", p.st.Undone)
		return w, nil
	case len(material.New) == 0 && len(material.Pairs) == len(p.st.Layout) && material.Unsettled == 0 && material.Saves <= 0:
		w.against = "nothing new to render stands before the protected tail"
		return w, nil
	}
	w.against = notWorth(m.Messages-material.Tail, p.w, s)
	if !m.Ripe(material.Tail, p.w, s) {
		return w, nil
	}
	if err := p.recall(ctx, &material); err != nil {
		return w, err
	}
	w.option = decay.Choose(&material, p.w.Budget, p.w.Budget*s.DemoteTo/1000, 0, s)
	w.against = notWorth(m.Messages-w.option.After, p.w, s)
	w.reason, w.spacing, w.ok = m.Worthwhile(w.option, p.w, s)
	return w, nil
}

// notWorth says that a fold frees too little.
func notWorth(gain int, w decay.Window, s decay.Settings) string {
	return fmt.Sprintf("a fold would free %d tokens, and less than %d is not worth one", max(0, gain), decay.LeastGain(w.Usable, s))
}

// answered reports whether this very request was answered before with the plan in
// force: whatever could be folded for it was folded then.
func (p *pass) answered(messages int) bool {
	last := &p.st.Stats
	return p.same && last.Usable == p.w.Usable && last.Messages == messages && last.Fold == p.folds
}

// copied reports whether this is the first request of a fork: it shows the head
// that its source was read with, which is what the provider's cache holds.
func (p *pass) copied() bool { return p.st.Now == 0 && len(p.st.Layout) > 0 }

// moment gathers what the timing of a fold depends on.
func (p *pass) moment() decay.Moment {
	turn := p.turnStart(p.v)
	m := decay.Moment{Messages: p.messages(), Cold: p.cold, Overflowed: p.st.Overflow, Asked: p.st.Asked, Prices: p.req.Model.Prices,
		Stale:     p.stale(),
		Pending:   p.unsettled(),
		TurnStart: turn >= 0 && turn == len(p.v.order)-1}
	for i := max(turn, 0); i < len(p.v.order); i++ {
		m.Turn += p.tokensAt(p.v, i)
	}
	m.LargestTurn = p.largestTurn(turn)
	behind := m.Messages - headTokens(p.st.Layout)
	m.Growth = max(0, behind-p.st.FoldAt)
	m.PerStep = m.Growth / max(1, p.st.Steps)
	return m
}

// largestTurn is the size of the largest of the last turns before the running
// one, in tokens.
func (p *pass) largestTurn(running int) int {
	largest, size, turns := 0, 0, 0
	for i := running - 1; i >= 0 && turns < p.settings().TurnsAhead; i-- {
		e := p.entry(p.v.order[i])
		size += e.Tokens()
		if e.Real {
			largest = max(largest, size)
			size = 0
			turns++
		}
	}
	return largest
}

// material gathers the pairs of the head that can be rendered again and the
// compartments behind them that end at or before the cut without a gap.
func (p *pass) material(cut int) decay.Material {
	m := decay.Material{Cold: p.cold}
	applied := map[compartments.CompartmentID]compartments.Tier{}
	for _, pair := range p.st.Layout {
		for _, item := range pair.Items {
			for _, id := range item.Compartments {
				applied[id] = item.Tier
			}
		}
	}
	candidate := func(c *compartments.Compartment, rendered bool) decay.Candidate {
		t, ok := applied[c.ID]
		switch {
		case ok:
		case rendered:
			t = compartments.TierIndex // it replaces one that was rendered
		default:
			t = compartments.TierRaw
		}
		return decay.Candidate{Compartment: c, Applied: t, Relevance: p.settings().Relevance(p.turnsBehind(c)), Saved: p.savedIn(c)}
	}
	next, at := 0, p.v.start
	for _, pair := range p.st.Layout[:p.v.firm] {
		to := p.v.place[pair.Last-1] + 1
		d := decay.Pair{Layout: pair}
		for next < len(p.v.served) && p.v.served[next].to <= to {
			if p.v.served[next].from >= at {
				d.Candidates = append(d.Candidates, candidate(p.v.served[next].c, true))
			}
			next++
		}
		m.Pairs = append(m.Pairs, d)
		at = to
	}
	// what lies behind them but is not in view raw is rendered in any case
	through, dropped := at, max(p.dropped(), p.v.hidden)
	for ; next < len(p.v.served) && p.v.served[next].from == at && p.v.served[next].to <= cut; next++ {
		c := candidate(p.v.served[next].c, p.v.served[next].from < dropped)
		c.NotRaw = at > p.v.start && !p.led(p.v, at)
		m.New = append(m.New, c)
		at = p.v.served[next].to
	}
	if p.thinned != nil {
		m.Saves = p.thinned.fresh
	}
	for i := at; i < len(p.v.order); i++ { // what no compartment covers stays raw too
		m.Tail += p.tokensAt(p.v, i)
	}
	p.hold(&m)
	var unfading []run
	for _, r := range p.v.served {
		if p.unfading(r.c, p.eased[r.c.ID]) && !p.away[r.c.ID] {
			unfading = append(unfading, r)
		}
	}
	m.Keeps = append(m.Keeps, p.keptTokens(through, unfading))
	for _, c := range m.New {
		through += len(c.Compartment.Members)
		m.Keeps = append(m.Keeps, p.keptTokens(through, unfading))
	}
	return m
}

// reach is the place behind all that a material can render.
func (p *pass) reach(m *decay.Material) int {
	at := p.v.start
	if n := len(m.Pairs); n > 0 {
		at = p.v.place[m.Pairs[n-1].Layout.Last-1] + 1
	}
	for _, c := range m.New {
		at += len(c.Compartment.Members)
	}
	return at
}

// turnsBehind is how many turns began after the last message of a compartment;
// 0 means that the running turn is in it. It counts to a few and no further.
func (p *pass) turnsBehind(c *compartments.Compartment) int {
	turns := 0
	for t := p.turnStart(p.v); t > p.v.place[c.Last-1] && turns < turnsTold; turns++ {
		if t = p.v.users[t-1]; t < p.v.first {
			t = -1
		}
	}
	return turns
}

// turnsTold is how many turns back a compartment is told from an older one.
const turnsTold = 3

// keptTokens is what stays raw before a place, in tokens: of the compartments that
// may not fade, those that end there or earlier.
func (p *pass) keptTokens(through int, unfading []run) int {
	n := 0
	var held []compartments.Ordinal
	for _, r := range unfading {
		if r.to <= through {
			held = p.keepWhole(held, r.c)
		}
	}
	for _, o := range p.keptWith(through, held) {
		n += p.entry(o).Tokens() - p.saved[o]
	}
	return n
}

// cuts are the places where a forced fold may let the tail begin, in the order
// in which they are tried: the tail as it should be, the least one, and, for a
// request that would not fit even so, the newest user message alone, when the
// newest step belongs to the turn before it and would keep that turn's user
// message in view. Those behind which a reply would stand first come last.
func (p *pass) cuts() []int {
	cuts := []int{p.tailCut(p.v, decay.Tail(p.w.Usable, p.settings()))}
	if least := p.tailCut(p.v, 0); least > cuts[0] {
		cuts = append(cuts, least)
	}
	if t := p.turnStart(p.v); t > cuts[len(cuts)-1] {
		cuts = append(cuts, t)
	}
	slices.SortStableFunc(cuts, func(a, b int) int {
		switch led := p.led(p.v, a); {
		case led == p.led(p.v, b):
			return 0
		case led:
			return -1
		}
		return 1
	})
	return cuts
}

// force folds until the request is at the aim, as far as the protected tail lets
// it.
func (p *pass) force(ctx context.Context, batch *compartments.Batch, reason compartments.Reason, m decay.Moment) error {
	s := p.settings()
	if err := p.thin(ctx); err != nil {
		return err
	}
	aim := p.w.Usable * s.ForceAim / 1000
	least := decay.LeastGain(p.w.Usable, s)
	urgent := m.Stale || m.Overflowed || m.Messages > p.w.Usable
	if o, ok := p.unfolded(m, aim); ok {
		return p.fold(batch, o, reason)
	}
	var best decay.Option
	for _, cut := range p.cuts() {
		if best.Candidates != nil && best.After <= p.w.Usable && !p.led(p.v, cut) {
			break
		}
		if urgent || p.uncovered(cut) >= least { // less is not worth a compartment of its own
			if err := p.cover(ctx, batch, cut); err != nil {
				return err
			}
		}
		mat := p.material(cut)
		if err := p.recall(ctx, &mat); err != nil {
			return err
		}
		stays := mat.Tail + mat.Keeps[len(mat.New)]
		budget := decay.ForcedBudget(stays, p.w, s)
		o := decay.Choose(&mat, budget, budget*s.DemoteTo/1000, aim, s)
		if best.Candidates == nil || o.After < best.After {
			best = o
		}
		if best.After <= aim || cut == p.tailCut(p.v, 0) && best.After <= p.w.Usable {
			break
		}
	}
	gain := m.Messages - best.After
	if !m.Stale && (len(best.Items) == 0 && best.Saves <= 0 || gain <= 0) {
		return nil
	}
	if !urgent && gain < least {
		return nil // it fits as it is, and the cache would be lost for little
	}
	return p.fold(batch, best, reason)
}

// unfolded is the fold that shows all messages as they are. It is made where no
// user message is left that could stand behind the head, and the head must change
// all the same: a record that only replies follow is for what does not fit without,
// and one that nothing follows is for nobody.
func (p *pass) unfolded(m decay.Moment, aim int) (o decay.Option, ok bool) {
	if !m.Stale {
		return o, false
	}
	material := p.material(p.tailCut(p.v, 0))
	reach := p.reach(&material)
	if p.led(p.v, reach) {
		return o, false
	}
	material = decay.Material{Keeps: []int{0}}
	for i := range p.v.order {
		material.Tail += p.tokensAt(p.v, i)
	}
	o = decay.Choose(&material, p.w.Budget, p.w.Budget*p.settings().DemoteTo/1000, aim, p.settings())
	return o, o.After <= aim || reach == len(p.v.order)
}

// fold makes an option the plan in force.
func (p *pass) fold(batch *compartments.Batch, o decay.Option, reason compartments.Reason) error {
	layout := slices.Clone(p.st.Layout[:o.Divergence])
	through := p.v.start
	if o.Divergence > 0 {
		through = p.v.place[layout[o.Divergence-1].Last-1] + 1
	}
	from := through
	var moved compartments.Ordinal
	var decisions []compartments.Decision
	for i, c := range o.Candidates {
		to := o.Selection.Tiers[i]
		if to != compartments.TierRaw {
			through = p.v.place[c.Compartment.Last-1] + 1
		}
		if to == c.Applied {
			continue
		}
		if moved == 0 {
			moved = c.Compartment.First
		}
		decisions = append(decisions, p.decision(c, to))
	}
	if len(o.Items) > 0 {
		pair := compartments.PairLayout{First: p.v.order[from], Last: p.v.order[through-1], Count: through - from,
			Source: p.runHash(p.v.order[from:through]), Items: o.Items,
			Text: decay.RenderPair(o.Items, o.Divergence == 0, p.lookup, p.pin)}
		pair.Tokens = p.counts.count(pair.Text, o.Divergence == 0, p.cfg.Count) + pairTokens
		pair.Rendered = sha256.Sum256([]byte(pair.Text))
		layout = append(layout, pair)
	}
	before := p.inputs.Before
	p.tellOfPins(o.Candidates, o.KeptPairs())
	p.tellOfFloors(layout)
	if p.folds == 0 {
		p.inputs.Inherited = withoutTexts(p.st.Layout)
	}
	p.st.Layout, p.st.Undone = layout, 0
	p.st.Applied = false
	plan := p.planOf(layout, through)
	edits := p.plan.Edits
	if p.thinned != nil {
		edits, p.thinned = p.thinned.edits, nil
	}
	for _, e := range edits {
		if o, ok := p.byID[e.MessageID]; ok && !p.spared(o, e.Part) && (p.v.place[o-1] >= through || slices.Contains(plan.Keep, e.MessageID)) {
			plan.Edits = append(plan.Edits, e)
		}
	}
	if err := p.setPlan(plan); err != nil {
		return err
	}
	p.lookAtHead(p.v, len(layout))
	p.folds++
	p.folded, p.reason = true, reason
	after := p.messages()
	p.st.FoldAt, p.st.Steps, p.st.Asked = after-headTokens(layout), 0, false
	in := p.inputs
	in.Usable, in.Budget, in.After, in.Behind = p.w.Usable, p.w.Budget, after, o.Behind
	in.Before, in.TargetTokens = before, o.Target
	in.Calibration = p.cal.Apply(1000)
	in.Policy, in.Renderer = decay.Policy, decay.Renderer
	o.Record(in.Recording, in.Growth, in.Prices)
	fold := &compartments.Fold{Number: p.folds, At: p.now, Reason: reason, Divergence: o.Divergence, FirstMoved: moved,
		PlanID: p.planID, Inputs: in, Layout: layout, Decisions: decisions}
	if through > p.v.start {
		fold.Through = p.v.order[through-1]
	}
	p.st.Through = fold.Through
	batch.Fold, batch.PlanID, batch.Plan = fold, p.planID, p.encoded
	return nil
}

// pairTokens is what a pair of the head takes besides its text, in tokens: two
// frames and the assistant's short constant text.
const pairTokens = 2*compartments.FrameTokens + 3

// hashInputs names everything that a fold's bytes follow from.
func hashInputs(f *compartments.Fold) compartments.Hash {
	layout := withoutTexts(f.Layout)
	b, err := json.Marshal(struct {
		Reason compartments.Reason
		Inputs compartments.FoldInputs
		Layout []compartments.PairLayout
		PlanID string
	}{f.Reason, f.Inputs, layout, f.PlanID})
	if err != nil {
		panic("fold inputs are plain values: " + err.Error())
	}
	return sha256.Sum256(b)
}

func (p *pass) decision(c decay.Candidate, to compartments.Tier) compartments.Decision {
	s := p.settings()
	legal := c.Legal(s)
	d := compartments.Decision{Compartment: c.Compartment.ID, From: c.Applied, To: to, Highest: legal[0], Lowest: legal[len(legal)-1], Reason: compartments.ReasonBudget}
	switch {
	case to == compartments.TierRaw && c.Compartment.Retention != compartments.Pinned && c.Unfading(s):
		d.Reason = compartments.ReasonFloor
	case to == compartments.TierRaw, to == compartments.TierNone:
		d.Reason = compartments.ReasonPinned
	case c.Eased && !c.Compartment.Allows(to, s.Floor()):
		d.Reason = compartments.ReasonEased
	case c.Applied == compartments.TierRaw:
		d.Reason = compartments.ReasonNew
	case to < c.Applied:
		d.Reason = compartments.ReasonPromoted
	}
	return d
}

package session

import (
	"context"
	"fmt"

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
	p.note(m)
	if reason, forced := m.Forced(p.w, s); forced && (m.Stale || m.Overflowed || !p.answered(m.Messages)) {
		p.first = p.folds == 0 && p.st.Now == 0
		if p.first {
			reason = compartments.ReasonFirst
		}
		if err := p.force(ctx, batch, reason, m); err != nil {
			return err
		}
	} else if (!p.same && (!p.st.Ahead || m.Cold) || m.Asked) && !p.copied() && m.Ripe(0, p.w, s) { // what was decided already is not decided again
		if err := p.perhaps(ctx, batch, m); err != nil {
			return err
		}
	}
	p.unthin()
	if err := p.stub(ctx, batch); err != nil {
		return err
	}
	p.seal(batch.Fold)
	return nil
}

// note records the moment that a fold would be made at.
func (p *pass) note(m decay.Moment) {
	p.inputs.Recording = m.Record(p.w, p.settings())
	p.inputs.Before = m.Messages
	p.inputs.Pressure = decay.Pressure(m.Messages, p.w.Usable)
	p.inputs.Growth, p.inputs.LargestTurn, p.inputs.Prices = m.PerStep, m.LargestTurn, m.Prices
}

// seal completes what is recorded of a fold, when the plan is as it will be sent.
func (p *pass) seal(f *compartments.Fold) {
	if f == nil {
		return
	}
	f.Inputs.Stubs = len(p.plan.Edits)
	f.Inputs.After = p.messages() // with the stubs that are made whatever is folded, as Before
	f.InputsHash = hashInputs(f)
}

// perhaps folds if that is worth while.
func (p *pass) perhaps(ctx context.Context, batch *compartments.Batch, m decay.Moment) error {
	w, err := p.weighUp(ctx, m)
	if err != nil {
		return err
	}
	if !w.ok {
		if w.option.Candidates != nil {
			p.weighed = &w.option
		}
		return nil
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

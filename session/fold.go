package session

import (
	"crypto/sha256"
	"encoding/json"
	"slices"

	"ctxplugin/compartments"
	"ctxplugin/decay"
)

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
	before := p.inputs.Before
	if p.folds == 0 {
		p.inputs.Inherited = withoutTexts(p.st.Layout)
	}
	var err error
	show := func() {
		p.tellOfPins(o.Candidates, o.KeptPairs())
		p.tellOfFloors(layout)
		err = p.show(layout, through)
	}
	if len(o.Items) == 0 {
		show()
	} else {
		text := p.drawn.Pair(o.Items, o.Divergence == 0, p.lookup, p.pin)
		layout = append(layout, compartments.PairLayout{First: p.v.order[from], Last: p.v.order[through-1], Count: through - from, Items: o.Items, Text: text})
		pair := &layout[o.Divergence]
		tokens := 0
		both(func() { tokens = p.counts.count(text, o.Divergence == 0, p.cfg.Count) }, func() {
			pair.Rendered = sha256.Sum256([]byte(text))
			pair.Source = p.sourceOf(from, through)
			show()
		})
		pair.Tokens = tokens + pairTokens
	}
	if err != nil {
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

// show makes the plan that shows a layout the one in force, with the stubs that it
// needs. It does not ask how many tokens the layout has.
func (p *pass) show(layout []compartments.PairLayout, through int) error {
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
	return p.setPlan(plan)
}

// sourceOf hashes the messages of a pair. Those of the first pair of the head in
// force stand as they were hashed, so that a pair in its place goes on from there.
func (p *pass) sourceOf(from, through int) compartments.Hash {
	if from != p.v.start {
		return p.runHash(p.v.order[from:through])
	}
	if p.v.pairs == 0 || p.opening == nil || p.opening.Count != p.st.Layout[0].Count || p.opening.Count > through-from || p.opening.Sum() != p.st.Layout[0].Source {
		p.opening = compartments.NewRun()
	}
	fresh := p.v.order[from+p.opening.Count : through]
	p.opening.Add(len(fresh), func(i int) *compartments.Hash { return &p.entry(fresh[i]).Hash })
	return p.opening.Sum()
}

// pairTokens is what a pair of the head takes besides its text, in tokens: two
// frames and the assistant's short constant text.
const pairTokens = 2*compartments.FrameTokens + 3

// hashInputs names everything that a fold's bytes follow from.
func hashInputs(f *compartments.Fold) compartments.Hash {
	value := func(of any) []byte {
		b, err := json.Marshal(of)
		if err != nil {
			panic("fold inputs are plain values: " + err.Error())
		}
		return b
	}
	// one JSON object, as encoding/json writes it
	b := append([]byte(`{"Reason":`), value(f.Reason)...)
	b = append(append(b, `,"Inputs":`...), value(&f.Inputs)...)
	b = compartments.AppendLayout(append(b, `,"Layout":`...), f.Layout)
	b = append(append(b, `,"PlanID":`...), value(f.PlanID)...)
	return sha256.Sum256(append(b, '}'))
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

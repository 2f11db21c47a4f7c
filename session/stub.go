package session

import (
	"cmp"
	"context"
	"slices"

	"ctxplugin/compartments"
	"ctxplugin/decay"
)

// stub makes the request fit where folding did not: completed results become
// stubs, those of the newest step first, which were never sent, largest first;
// then, if that is not enough, what people said before the newest message.
func (p *pass) stub(ctx context.Context, batch *compartments.Batch) error {
	total := p.messages()
	if total <= p.w.Usable {
		return nil
	}
	plan := p.plan
	plan.Edits = slices.Clone(plan.Edits)
	for _, kind := range [...]struct{ words, pinned bool }{{false, false}, {true, false}, {false, true}, {true, true}} {
		words := kind.words
		p.yield = kind.pinned // what is pinned goes last
		for _, preview := range [...]int{p.settings().StubPreview, 0} {
			for _, c := range p.stubbable(plan, words, preview) {
				if total <= p.w.Usable {
					break
				}
				saves, err := p.put(ctx, &plan, c, preview)
				if err != nil {
					return err
				}
				total -= saves
			}
		}
	}
	if slices.Equal(plan.Edits, p.plan.Edits) {
		return nil
	}
	if err := p.setPlan(plan); err != nil {
		return err
	}
	batch.PlanID, batch.Plan = p.planID, p.encoded
	if batch.Fold != nil {
		batch.Fold.PlanID = p.planID
		batch.Fold.Inputs.After = p.messages()
		batch.Fold.InputsHash = hashInputs(batch.Fold)
	}
	return nil
}

// bare takes the stubs off what is shown verbatim: after a revert the newest real
// user message may be one whose words had to go while a newer one stood.
func (p *pass) bare(batch *compartments.Batch) error {
	plan := p.plan
	plan.Edits = slices.DeleteFunc(slices.Clone(plan.Edits), func(e compartments.Edit) bool {
		o, ok := p.byID[e.MessageID]
		return ok && p.v.place[o-1] >= 0 && p.entry(o).Role == compartments.RoleUser && p.verbatim(p.v.place[o-1])
	})
	if len(plan.Edits) == len(p.plan.Edits) {
		return nil
	}
	if err := p.setPlan(plan); err != nil {
		return err
	}
	batch.PlanID, batch.Plan = p.planID, p.encoded
	return nil
}

// verbatim reports whether the user message at a place never becomes a stub: it is
// the newest real one, or the order of a child session.
func (p *pass) verbatim(place int) bool {
	return place == p.turnStart(p.v) || p.parent != "" && place == p.v.task
}

// stubFirst makes stubs, before anything is folded, of those outputs of the
// newest step that would not fit beside a full history whatever was folded: a
// fold would only pay for what has to go all the same.
func (p *pass) stubFirst(ctx context.Context, batch *compartments.Batch) error {
	total := p.messages()
	if total <= p.w.Usable {
		return nil
	}
	room := p.w.Usable*p.settings().ForceMark/1000 - p.w.Budget
	if turn := p.turnStart(p.v); turn >= 0 {
		room -= p.tokensAt(p.v, turn)
	}
	plan := p.plan
	plan.Edits = slices.Clone(plan.Edits)
	for _, c := range p.stubbable(plan, false, p.settings().StubPreview) {
		if !c.newest || c.tokens <= max(room, p.w.Usable/4) || total <= p.w.Usable {
			continue
		}
		saves, err := p.put(ctx, &plan, c, p.settings().StubPreview)
		if err != nil {
			return err
		}
		total -= saves
	}
	if slices.Equal(plan.Edits, p.plan.Edits) {
		return nil
	}
	if err := p.setPlan(plan); err != nil {
		return err
	}
	batch.PlanID, batch.Plan = p.planID, p.encoded
	return nil
}

// put puts a stub into the plan and returns the tokens that it saves; none if
// the stub would be no smaller.
func (p *pass) put(ctx context.Context, plan *compartments.Plan, c bulk, preview int) (saves int, err error) {
	says, err := p.preview(ctx, c, preview)
	if err != nil {
		return 0, err
	}
	edit := compartments.Edit{MessageID: p.entry(c.ordinal).ID, Part: c.part, Field: compartments.FieldText,
		Value: decay.Stub(says, c.ordinal, c.part, preview)}
	if says.Result {
		edit.Field = compartments.FieldOutput
	}
	if saves = c.tokens - p.cfg.Count(edit.Value); saves <= 0 {
		return 0, nil
	}
	if i := slices.IndexFunc(plan.Edits, func(e compartments.Edit) bool {
		return e.MessageID == edit.MessageID && e.Part == edit.Part && e.Field == edit.Field
	}); i >= 0 {
		plan.Edits[i] = edit
	} else {
		plan.Edits = append(plan.Edits, edit)
	}
	return saves, nil
}

// preview is what the stub of a part says. Large messages have it with their sizes;
// of others the message is read, once a pass.
func (p *pass) preview(ctx context.Context, c bulk, characters int) (*compartments.Preview, error) {
	if says := p.entry(c.ordinal).Sizes[c.part].Preview; says.Shows(characters) {
		return says, nil
	}
	parts, ok := p.read[c.ordinal]
	if !ok {
		var err error
		if parts, err = p.parts(ctx, c.ordinal); err != nil {
			return nil, err
		}
		if p.read == nil {
			p.read = map[compartments.Ordinal][]compartments.Part{}
		}
		p.read[c.ordinal] = parts
	}
	return decay.PreviewOf(&parts[c.part], characters), nil
}

// bulk is a part that may become a stub.
type bulk struct {
	ordinal compartments.Ordinal
	part    int
	tokens  int // as it would be sent now
	newest  bool
}

// stubbable lists the parts in view that a stub makes smaller: results, or the
// words of people, those of the newest step first, then largest first, ties to
// the older.
func (p *pass) stubbable(plan compartments.Plan, words bool, preview int) []bulk {
	edited := map[compartments.Ordinal]map[int]int{}
	for _, e := range plan.Edits {
		if o, ok := p.byID[e.MessageID]; ok && e.Field != compartments.FieldInput {
			if edited[o] == nil {
				edited[o] = map[int]int{}
			}
			edited[o][e.Part] = p.cfg.Count(e.Value)
		}
	}
	newest := len(p.v.order) - 1
	for newest > 0 && p.entry(p.v.order[newest]).Role != compartments.RoleAssistant {
		newest--
	}
	var out []bulk
	for _, o := range p.inView() {
		e := p.entry(o)
		for part, z := range e.Sizes {
			if p.stubs(e, z, words) && (p.yield || !p.spared(o, part)) && !(preview > 0 && z.Media == 0 && int(z.Units) <= p.settings().StubOver) {
				tokens := z.Tokens
				if z.Kind == compartments.PartTool {
					tokens -= callTokens
				}
				if n, ok := edited[o][part]; ok {
					tokens = n
				}
				if tokens > decay.StubTokens(preview) {
					out = append(out, bulk{o, part, tokens, !words && p.v.place[o-1] >= newest})
				}
			}
		}
	}
	slices.SortStableFunc(out, func(a, b bulk) int {
		if a.newest != b.newest {
			if a.newest {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.tokens, a.tokens)
	})
	return out
}

// stubs reports whether a part may become a stub at all: as a result, or as
// words. The newest real user message never does, nor the order of a child
// session, nor anything that the assistant wrote.
func (p *pass) stubs(e *compartments.Entry, z compartments.Size, words bool) bool {
	switch {
	case z.Silent:
		return false
	case z.Kind == compartments.PartTool:
		return !words && !z.Status.Open()
	case z.Kind != compartments.PartText:
		return false
	case e.Role == compartments.RoleTool:
		return !words
	case e.Role != compartments.RoleUser:
		return false
	}
	return words && !p.verbatim(p.v.place[e.Ordinal-1])
}

// inView lists the messages behind the head, in order.
func (p *pass) inView() []compartments.Ordinal {
	dropped := p.dropped()
	var kept []compartments.Ordinal
	for _, id := range p.plan.Keep {
		if o, ok := p.byID[id]; ok && p.v.place[o-1] >= p.v.hidden && p.v.place[o-1] < dropped {
			kept = append(kept, o)
		}
	}
	return append(kept, p.v.order[dropped:]...)
}

// parts returns the decoded parts of a stored message.
func (se *Session) parts(ctx context.Context, o compartments.Ordinal) ([]compartments.Part, error) {
	messages, err := se.messagesOf(ctx, []compartments.Ordinal{o})
	if err != nil {
		return nil, err
	}
	return messages[0].Parts, nil
}

// messagesOf reads and decodes stored messages, in the order asked.
func (se *Session) messagesOf(ctx context.Context, ordinals []compartments.Ordinal) ([]compartments.Message, error) {
	raws, err := se.cfg.Store.Raw(ctx, se.id, ordinals)
	if err != nil {
		return nil, err
	}
	out := make([]compartments.Message, len(raws))
	for i, raw := range raws {
		if out[i], err = compartments.DecodeMessage(raw); err != nil {
			return nil, compartments.Errorf(compartments.CodeStorage, "stored message %d: %w", ordinals[i], err)
		}
		out[i].Ordinal = ordinals[i]
		out[i].ID = se.entry(ordinals[i]).ID
	}
	return out, nil
}

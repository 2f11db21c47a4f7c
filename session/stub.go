package session

import (
	"cmp"
	"context"
	"slices"

	"ctxplugin/compartments"
	"ctxplugin/decay"
)

// stub makes the request fit where folding did not: completed outputs become
// stubs, those of the newest step first, which were never sent, largest first.
// If the history is what does not fit, it goes too: what is sent never exceeds
// the window because of history.
func (p *pass) stub(ctx context.Context, batch *compartments.Batch) error {
	total := p.messages()
	if total <= p.w.Usable {
		return nil
	}
	s := p.settings()
	plan := p.plan
	plan.Edits = slices.Clone(plan.Edits)
	for _, preview := range [...]int{s.StubPreview, 0} {
		for _, c := range p.stubbable(plan, preview) {
			if total <= p.w.Usable {
				break
			}
			parts, err := p.parts(ctx, c.ordinal)
			if err != nil {
				return err
			}
			text := decay.Stub(&parts[c.part], c.ordinal, c.part, preview)
			saves := c.tokens - p.cfg.Count(text)
			if saves <= 0 {
				continue
			}
			edit := compartments.Edit{MessageID: p.entry(c.ordinal).ID, Part: c.part, Field: compartments.FieldOutput, Value: text}
			if i := slices.IndexFunc(plan.Edits, func(e compartments.Edit) bool { return e.MessageID == edit.MessageID && e.Part == edit.Part }); i >= 0 {
				plan.Edits[i] = edit
			} else {
				plan.Edits = append(plan.Edits, edit)
			}
			total -= saves
		}
	}
	if len(plan.Edits) == len(p.plan.Edits) && slices.Equal(plan.Edits, p.plan.Edits) {
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

// output is a completed output that may become a stub.
type output struct {
	ordinal compartments.Ordinal
	part    int
	tokens  int // as it would be sent now
	newest  bool
}

// stubbable lists the outputs behind the head that a stub makes smaller: those
// of the newest step first, then largest first, ties to the older.
func (p *pass) stubbable(plan compartments.Plan, preview int) []output {
	edited := map[compartments.Ordinal]map[int]int{}
	for _, e := range plan.Edits {
		if o, ok := p.byID[e.MessageID]; ok && e.Field == compartments.FieldOutput {
			if edited[o] == nil {
				edited[o] = map[int]int{}
			}
			edited[o][e.Part] = p.cfg.Count(e.Value)
		}
	}
	newest := -1
	for i := len(p.v.order) - 1; i >= 0; i-- {
		if p.entry(p.v.order[i]).Role == compartments.RoleAssistant {
			newest = i
			break
		}
	}
	var out []output
	for i := p.dropped(); i < len(p.v.order); i++ {
		e := p.entry(p.v.order[i])
		for part, z := range e.Sizes {
			if z.Kind != compartments.PartTool || z.Status.Open() || preview > 0 && int(z.Units) <= p.settings().StubOver {
				continue
			}
			tokens := z.Tokens - callTokens
			if n, ok := edited[e.Ordinal][part]; ok {
				tokens = n
			}
			if tokens > decay.StubTokens(preview) {
				out = append(out, output{e.Ordinal, part, tokens, i == newest})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b output) int {
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

// parts returns the decoded parts of a stored message.
func (se *Session) parts(ctx context.Context, o compartments.Ordinal) ([]compartments.Part, error) {
	if parts, ok := se.texts[o]; ok {
		return parts, nil
	}
	messages, err := se.messagesOf(ctx, []compartments.Ordinal{o})
	if err != nil {
		return nil, err
	}
	if len(se.texts) > 64 {
		clear(se.texts)
	}
	se.texts[o] = messages[0].Parts
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

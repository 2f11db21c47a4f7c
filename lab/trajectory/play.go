package trajectory

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"ctxplugin/compartments"
	"ctxplugin/decay"
	"ctxplugin/expand"
	"ctxplugin/historian"
	"ctxplugin/session"
	"ctxplugin/tokens"
)

// Setup is what a run happens under. Counts are tokens.
type Setup struct {
	Window int // the model's context
	Output int // most of a reply
	Prefix int // system text and tools
	Prices compartments.Prices

	Settings *decay.Settings   // of ours; nil for the defaults
	Without  compartments.Tier // a tier that the historian does not write; TierNone for none
}

// Played is ours over a script: what the program decided at every request.
type Played struct {
	Script *Script
	Setup  Setup
	Window decay.Window
	Tail   int // tokens of raw steps beyond the protected ones

	steps  []planned
	folds  []compartments.Fold
	lookup decay.Lookup
	served []compartments.Compartment // at the end, in list order
	known  map[answerKey]bool
	turns  []int // by place of a message
	weights
}

// planned is one request with the plan that was in force for it.
type planned struct {
	step
	plan  *compartments.Plan
	fold  int // place of the fold in force; -1 for none
	stats session.Stats
}

// never is longer than any run: stored messages are not made searchable.
const never = 1000 * time.Hour

// Play runs the program itself over a script, in this process.
func Play(ctx context.Context, s *Script, set Setup, count *tokens.Counter) (*Played, error) {
	store := newMemory()
	settings := decay.Defaults()
	if set.Settings != nil {
		settings = *set.Settings
	}
	builtin := historian.New(count.Count)
	cfg := session.Config{Store: store, Historian: &without{from: builtin, tier: set.Without}, Scan: builtin.Scan,
		Expander: expand.New(store, count.Count), Count: count.Count, Settings: settings, IndexAfter: never,
		Notify: func(compartments.SessionID, string, string) {}}
	sessions := session.New(cfg)
	defer func() { _ = sessions.Close(context.WithoutCancel(ctx)) }() // it keeps nothing
	p := &Played{Script: s, Setup: set, weights: weigh(s, count), known: map[answerKey]bool{}, turns: s.turns()}
	if err := p.run(ctx, sessions, store); err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	p.folds, p.lookup = store.folds, store.lookup
	p.served = standing(store.served())
	p.Tail = decay.Tail(p.Window.Usable, settings)
	return p, nil
}

func (p *Played) run(ctx context.Context, sessions *session.Sessions, store *memory) error {
	const id = compartments.SessionID("ses_lab")
	held, rev, applied := 0, compartments.EmptyRevision(), ""
	revision := rev
	var plan *compartments.Plan
	for _, st := range p.Script.steps() {
		if err := ctx.Err(); err != nil {
			return err
		}
		req := session.SyncRequest{Session: id, Base: revision.String(), Keep: held, Check: revision.String()}
		for i := held; i < st.reply; i++ {
			req.Messages = append(req.Messages, p.Script.Wire[i])
			revision = revision.Add(p.Script.Messages[i].Print())
		}
		held = st.reply
		if _, err := sessions.Sync(ctx, req); err != nil {
			return fmt.Errorf("sync of message %d: %w", st.reply, err)
		}
		reply, err := sessions.Transform(ctx, session.TransformRequest{Session: id, Rev: revision.String(), Applied: applied, Agent: "build", Now: st.now,
			Model:      session.Model{ID: "m", Provider: "p", Context: p.Setup.Window, Output: p.Setup.Output, Prices: p.Setup.Prices},
			FixedBytes: p.Setup.Prefix * 9 / 2})
		if err != nil {
			return fmt.Errorf("request before message %d: %w", st.reply+1, err)
		}
		if reply.Plan != nil {
			plan = new(compartments.Plan)
			if err := json.Unmarshal(reply.Plan, plan); err != nil {
				return fmt.Errorf("plan before message %d: %w", st.reply+1, err)
			}
		}
		applied = reply.PlanID
		p.steps = append(p.steps, planned{step: st, plan: plan, fold: len(store.folds) - 1, stats: reply.Stats})
		p.Window = decay.Window{Context: reply.Stats.Window, Reserve: reply.Stats.Reserve, Fixed: reply.Stats.Fixed, Usable: reply.Stats.Usable, Budget: reply.Stats.Budget}
	}
	return nil
}

// standing are the compartments of a list that cover it from its start without a
// gap, in list order.
func standing(served []compartments.Compartment) []compartments.Compartment {
	begins := map[compartments.Ordinal]*compartments.Compartment{}
	for i := range served {
		begins[served[i].First] = &served[i]
	}
	var out []compartments.Compartment
	for at := compartments.Ordinal(1); begins[at] != nil; at = out[len(out)-1].Last + 1 {
		out = append(out, *begins[at])
	}
	return out
}

// without is a historian that leaves a tier out. An anchor cannot be missing, so
// compact stands in for it.
type without struct {
	from *historian.Builtin
	tier compartments.Tier
}

// Write implements session.Historian.
func (w *without) Write(ctx context.Context, r historian.Range) ([]compartments.Compartment, error) {
	out, err := w.from.Write(ctx, r)
	for i := range out {
		switch w.tier {
		case compartments.TierNone:
		case compartments.TierAnchor:
			out[i].Tiers[compartments.TierAnchor] = out[i].Tiers[compartments.TierCompact]
		default:
			delete(out[i].Tiers, w.tier)
		}
	}
	return out, err
}

package session

import (
	"context"
	"fmt"
	"strings"

	"ctxplugin/compartments"
	"ctxplugin/decay"
)

// Timing is the numbers that decide when the next fold is made, as they are now.
// Tokens unless said otherwise.
type Timing struct {
	Messages    int   `json:"messages"` // of the next request, without a fold
	Pressure    int   `json:"pressure"` // permille of the usable window
	Grown       int   `json:"grown"`    // behind the head since the last fold
	Steps       int   `json:"steps"`    // requests since then
	PerStep     int   `json:"perStep"`
	Spacing     int   `json:"spacing"` // growth at which a fold pays, for the least that can stand behind it; 0: it never pays of itself
	TurnStart   bool  `json:"turnStart"`
	Turn        int   `json:"turn"`
	TurnMost    int   `json:"turnMost"` // a larger turn may be folded inside
	LargestTurn int   `json:"largestTurn"`
	LeastGain   int   `json:"leastGain"`
	ForceMark   int   `json:"forceMark"` // permille
	IdleMs      int64 `json:"idleMs"`    // since the last request; 0 where the time is not known
	Cold        bool  `json:"cold"`
	Asked       bool  `json:"asked"`
	Overflowed  bool  `json:"overflowed"`
	Stale       bool  `json:"stale"`

	// Undone is the last message that a fold stood for which was taken back, while
	// that holds the next one back; 0 otherwise.
	Undone compartments.Ordinal `json:"undone,omitempty"`
}

// Preview is the next fold as it would be made now.
type Preview struct {
	Folds      bool                   `json:"folds"`
	Reason     string                 `json:"reason,omitempty"`
	Why        string                 `json:"why"` // why there is one, or none
	Timing     Timing                 `json:"timing"`
	Before     int                    `json:"before"`
	After      int                    `json:"after"`
	Divergence int                    `json:"divergence"` // first pair that would change
	Pairs      int                    `json:"pairs"`      // that the head would have
	Behind     int                    `json:"behind"`
	Stubs      int                    `json:"stubs"`
	Pins       int                    `json:"pins,omitempty"` // set, and not shown before the next fold
	Tiers      map[string]int         `json:"tiers,omitempty"`
	Changes    []Change               `json:"changes,omitempty"`
	Costs      *decay.Costs           `json:"costs,omitempty"`
	Weighed    []compartments.Weighed `json:"weighed,omitempty"`
}

// Change is one compartment that would get another tier.
type Change struct {
	Compartment compartments.CompartmentID `json:"compartment"`
	From        string                     `json:"from"`
	To          string                     `json:"to"`
}

// Preview makes the decision of the next request, were it asked for now with the
// list and the model of the last one, and stores nothing. now is Unix ms of the
// host's clock; 0 takes the time of the last request.
func (s *Sessions) Preview(ctx context.Context, id compartments.SessionID, now int64) (Preview, error) {
	var out Preview
	err := s.current(ctx, id, func(se *Session) error {
		if err := se.mustExist(); err != nil {
			return err
		}
		// another copy, so that nothing of this one changes
		quiet := *se.cfg
		quiet.Notify = func(compartments.SessionID, string, string) {}
		copied := &Session{cfg: &quiet, id: id, told: map[string]bool{}}
		if err := copied.load(ctx); err != nil {
			return err
		}
		p, ok := copied.nextPass(now)
		if !ok {
			out = Preview{Why: "no request was prepared yet"}
			return nil
		}
		var err error
		out, err = p.foresee(ctx)
		return err
	})
	return out, err
}

// nextPass is a pass like that of the last request. ok is false before the first.
func (se *Session) nextPass(now int64) (p *pass, ok bool) {
	st := &se.st
	if st.Stats.Usable == 0 {
		return nil, false
	}
	provider, model, _ := strings.Cut(st.Model, "/")
	p = &pass{Session: se, v: &se.view, cal: st.Calibration[st.Model], now: max(now, st.Now, 1),
		req: TransformRequest{Session: se.id, Applied: se.planID, Model: Model{ID: model, Provider: provider, Prices: st.Prices}}}
	p.w = decay.Window{Context: st.Stats.Window, Reserve: st.Stats.Reserve, Fixed: st.Stats.Fixed, Usable: st.Stats.Usable, Budget: st.Stats.Budget}
	if st.Now > 1 {
		p.inputs.IdleMs = p.now - st.Now
	}
	p.cold = p.inputs.IdleMs > p.ttl()
	p.inputs.Window, p.inputs.Reserve, p.inputs.Fixed = p.w.Context, p.w.Reserve, p.w.Fixed
	p.allowance()
	return p, true
}

func (p *pass) foresee(ctx context.Context) (Preview, error) {
	out := Preview{Timing: p.timing()}
	for i := range p.pins {
		if p.pinState(&p.pins[i]) == PinPending {
			out.Pins++
		}
	}
	out.Before, out.After = out.Timing.Messages, out.Timing.Messages
	whyNot := p.whyNot()
	batch := &compartments.Batch{ListFrom: -1}
	if err := p.decide(ctx, batch); err != nil {
		return out, err
	}
	out.Pairs, out.Stubs = len(p.st.Layout), len(p.plan.Edits)
	f := batch.Fold
	if f == nil {
		out.After, out.Why = p.messages(), whyNot
		out.Divergence = out.Pairs
		return out, nil
	}
	out.Folds, out.Reason, out.After, out.Divergence, out.Behind = true, string(f.Reason), f.Inputs.After, f.Divergence, f.Inputs.Behind
	out.Why = whyFolds(f)
	out.Tiers = lineOf(f.Summary()).Tiers
	for _, d := range f.Decisions {
		out.Changes = append(out.Changes, Change{d.Compartment, d.From.String(), d.To.String()})
	}
	costs := decay.CostsOf(f.Inputs.Behind, out.Before-out.After, p.cold || f.Reason == compartments.ReasonFirst, f.Inputs.Prices)
	out.Costs, out.Weighed = &costs, f.Inputs.Recording.Weighed
	return out, nil
}

// timing is the moment in numbers for people.
func (p *pass) timing() Timing {
	s, m := p.settings(), p.moment()
	r := m.Record(p.w, s)
	t := Timing{Messages: m.Messages, Pressure: decay.Pressure(m.Messages, p.w.Usable), Grown: m.Growth, Steps: p.st.Steps, PerStep: m.PerStep,
		TurnStart: m.TurnStart, Turn: m.Turn, TurnMost: r.TurnMost, LargestTurn: m.LargestTurn, LeastGain: r.LeastGain, ForceMark: s.ForceMark,
		IdleMs: p.inputs.IdleMs, Cold: m.Cold, Asked: m.Asked, Overflowed: m.Overflowed, Stale: m.Stale}
	material := p.material(p.tailCut(p.v, decay.Tail(p.w.Usable, s)))
	t.Spacing = decay.Spacing(material.Tail, m.PerStep, m.Prices)
	if p.heldBack(&material) {
		t.Undone = p.st.Undone
	}
	return t
}

// whyNot says what stands in the way of a fold, in the order in which a decision
// asks. It is read only where the decision was for none.
func (p *pass) whyNot() string {
	s, m := p.settings(), p.moment()
	t := p.timing()
	material := p.material(p.tailCut(p.v, decay.Tail(p.w.Usable, s)))
	switch {
	case p.copied():
		return "the first request of a fork shows what its source was read with"
	case !p.led(p.v, p.reach(&material)):
		return "the session begins with replies, and without a user message before it the newest one cannot follow a record"
	case t.Undone > 0:
		return fmt.Sprintf("the last fold was taken back, and nothing is written yet for messages behind %d", t.Undone)
	case material.Unsettled > 0 && !m.Cold && !m.Asked:
		return "pins or floors changed, which is shown when the cache is cold, when somebody asks for a fold, or with the next one"
	case len(material.New) == 0 && len(material.Pairs) == len(p.st.Layout):
		return "nothing new to render stands before the protected tail"
	case m.Messages-material.Tail < t.LeastGain:
		return fmt.Sprintf("all that could be folded are %d tokens, and to free less than %d is not worth one", max(0, m.Messages-material.Tail), t.LeastGain)
	case !m.Asked && !m.TurnStart && m.Turn <= t.TurnMost:
		return fmt.Sprintf("inside a turn of %d tokens: a fold waits for the next turn, or until this one is larger than %d", m.Turn, t.TurnMost)
	}
	o := decay.Choose(&material, p.w.Budget, p.w.Budget*s.DemoteTo/1000, 0, s)
	_, spacing, ok := m.Worthwhile(o, p.w, s)
	switch gain := m.Messages - o.After; {
	case ok:
		return "the next fold could not be worked out"
	case gain < t.LeastGain:
		return fmt.Sprintf("a fold would free %d tokens, and less than %d is not worth one", max(0, gain), t.LeastGain)
	case spacing == 0:
		return fmt.Sprintf("nothing is cached that would make an early fold pay; at %d.%d %% of the usable window one is forced", s.ForceMark/10, s.ForceMark%10)
	}
	return fmt.Sprintf("%d tokens came since the last fold; the next one pays after %d, or when the cache is cold, or when a turn of %d more would reach %d.%d %% of the usable window",
		m.Growth, spacing, m.LargestTurn, s.ForceMark/10, s.ForceMark%10)
}

// whyFolds says in words why a fold is made.
func whyFolds(f *compartments.Fold) string {
	in := &f.Inputs
	switch f.Reason {
	case compartments.ReasonStale:
		return "what the head shows is no longer so"
	case compartments.ReasonOverflow:
		return "the provider refused the last request as too long"
	case compartments.ReasonForced:
		return fmt.Sprintf("the request is at %d.%d %% of the usable window", in.Pressure/10, in.Pressure%10)
	case compartments.ReasonFirst:
		return "the session is long at first sight"
	case compartments.ReasonCold:
		return "the cache is cold, so it costs nothing extra"
	case compartments.ReasonAsked:
		return "somebody asked for it"
	case compartments.ReasonTurnAhead:
		return fmt.Sprintf("a turn as large as the largest of late, %d tokens, would reach the force mark", in.LargestTurn)
	case compartments.ReasonPays:
		return fmt.Sprintf("%d tokens came since the last fold, and one pays after %d", in.Recording.Moment.Grown, in.Spacing)
	}
	return string(f.Reason)
}

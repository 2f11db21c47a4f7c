package session

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"ctxplugin/compartments"
	"ctxplugin/decay"
)

// Status returns the numbers that decisions use.
func (s *Sessions) Status(ctx context.Context, id compartments.SessionID) (Status, error) {
	var out Status
	slow := ""
	if s.cfg.SlowStatus != nil {
		slow = s.cfg.SlowStatus(ctx, id)
	}
	err := s.current(ctx, id, func(se *Session) error {
		if err := se.mustExist(); err != nil {
			return err
		}
		folds, err := s.cfg.Store.Ledger(ctx, id)
		if err != nil {
			return err
		}
		out = se.status(folds)
		if slow != "" {
			out.Historian = slow + "; " + se.waiting() + se.standingIn()
		}
		return nil
	})
	return out, err
}

func (se *Session) status(folds []compartments.FoldSummary) Status {
	out := Status{Session: se.id, Stats: se.currentStats(), Messages: len(se.list), Tiers: map[string]int{}, Calibration: map[string]int{},
		Prefer: string(se.cfg.Settings.Prefer), Numbers: numbers(se.cfg.Settings), HostIgnoring: se.st.Unnamed >= ignoredAfter, Ahead: se.st.Ahead}
	standing := 0
	for i, place := range se.view.place {
		if place >= 0 {
			standing++
		}
		for _, z := range se.entries[i].Sizes {
			if z.Kind == compartments.PartOther {
				out.Unknown++
			}
		}
	}
	out.Withdrawn = len(se.entries) - standing
	inHead := 0
	for _, pair := range se.st.Layout {
		for _, item := range pair.Items {
			if len(item.Compartments) == 0 {
				continue
			}
			out.Tiers[item.Tier.String()] += len(item.Compartments)
			inHead += len(item.Compartments)
		}
	}
	if raw := len(se.view.served) - inHead; raw > 0 {
		out.Tiers[compartments.TierRaw.String()] += raw
	}
	for model, c := range se.st.Calibration {
		out.Calibration[model] = c.Apply(1000)
	}
	for _, f := range folds {
		out.Folds = append(out.Folds, lineOf(f))
	}
	if p, ok := se.nextPass(0); ok {
		t := p.timing()
		out.Timing = &t
	}
	out.Historian = "built-in, " + se.waiting()
	out.Notices = slices.Sorted(maps.Keys(se.told))
	return out
}

// waiting says what waits for the historian.
func (se *Session) waiting() string {
	if slice, _, ok := se.due(se.st.Stats.Usable); ok {
		return fmt.Sprintf("%d messages wait", slice.to-slice.from)
	}
	return "nothing waits"
}

// currentStats are the numbers of the last request, with those that have changed
// since: the list may have grown, or a fold been taken back.
func (se *Session) currentStats() Stats {
	st := se.st.Stats
	if st.Usable == 0 {
		return st
	}
	p := &pass{Session: se, v: &se.view}
	if st.Messages = p.messages(); st.Fold != se.folds {
		st.Folded, st.Reason = false, ""
	}
	st.Pressure = decay.Pressure(st.Messages, st.Usable)
	st.History, st.Fold, st.Compartments, st.Stubs = headTokens(se.st.Layout), se.folds, len(se.view.served), len(se.plan.Edits)
	return st
}

func lineOf(f compartments.FoldSummary) FoldLine {
	line := FoldLine{Number: f.Number, At: f.At, Reason: string(f.Reason), Divergence: f.Divergence, Pairs: f.Pairs,
		Through: int64(f.Through), Before: f.Before, After: f.After, Tiers: map[string]int{}}
	for tier, n := range f.Tiers {
		line.Tiers[tier.String()] = n
	}
	return line
}

// numbers are the settings by name.
func numbers(s decay.Settings) map[string]int {
	s.ForceTier = compartments.TierNone
	floors := s.Floors
	b, err := json.Marshal(s)
	out := map[string]int{}
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil {
		panic("settings are plain numbers: " + err.Error())
	}
	for d, permille := range floors {
		out[decay.FloorKey(compartments.Dimension(d))] = permille
	}
	return out
}

// Fold asks for a fold at the next transform, and reports whether that will make
// one: it is decided as it will be then. With dryRun nothing changes.
func (s *Sessions) Fold(ctx context.Context, id compartments.SessionID, dryRun bool) (FoldReply, error) {
	var out FoldReply
	err := s.current(ctx, id, func(se *Session) error {
		if err := se.mustExist(); err != nil {
			return err
		}
		out = FoldReply{PlanID: se.planID}
		p, ok := se.nextPass(0)
		switch {
		case !ok:
			out.Reason = "no request was prepared yet"
			return nil
		case p.copied():
			out.Reason = "the first request of a fork shows what its source was read with"
			return nil
		}
		m := p.moment()
		m.Asked = true
		undone := se.st.Undone
		se.st.Undone = 0 // it holds back what nobody asked for
		w, err := p.weighUp(ctx, m)
		p.unthin()
		se.st.Undone = undone
		if err != nil {
			return err
		}
		if !w.ok {
			out.Reason = w.against
			return nil
		}
		out.Folded = true
		out.Reason = fmt.Sprintf("from %d to %d tokens at the next request", m.Messages, w.option.After)
		if dryRun {
			return nil
		}
		se.touched = true
		se.st.Asked = true
		se.outdated(false)
		return se.commit(ctx, &compartments.Batch{ListFrom: -1})
	})
	return out, err
}

// Event takes news that the list cannot show.
func (s *Sessions) Event(ctx context.Context, e Event) error {
	switch e.Type {
	case "deleted":
		return s.Forget(ctx, e.Session)
	case "idle":
		return s.idle(ctx, e.Session)
	case "error":
		if !e.Overflow {
			return nil
		}
	default:
		return nil // usage comes with the list, forks are recognised by content
	}
	return s.with(ctx, e.Session, func(se *Session) error {
		if se.version == 0 {
			return nil
		}
		se.touched = true
		se.overflowed()
		se.outdated(false)
		return se.commit(ctx, &compartments.Batch{ListFrom: -1})
	})
}

// overflowed learns from a refusal: what the last request weighed is more than
// this model takes.
func (se *Session) overflowed() {
	st := &se.st
	st.Overflow = true
	if st.Predicted == 0 {
		return
	}
	weighed := st.Calibration[st.Model].Apply(st.Predicted) + st.Stats.Reserve
	learned := weighed - weighed/20
	if known := st.Learned[st.Model]; known == 0 || learned < known {
		st.Learned[st.Model] = max(learned, learnedLeast)
	}
}

// learnedLeast is the smallest window that refusals can teach, in tokens: what
// is refused below it is refused for another reason.
const learnedLeast = 4_000

// Forget removes a session with all that was derived from it. Forgetting a
// session that nobody knows is no error.
func (s *Sessions) Forget(ctx context.Context, id compartments.SessionID) error {
	se, err := s.hold(ctx, id)
	if err != nil {
		return err
	}
	defer s.release(se)
	se.loaded, se.incoming = false, nil
	se.outdated(true)
	if err := s.cfg.Store.Forget(ctx, id); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, id)
	return nil
}

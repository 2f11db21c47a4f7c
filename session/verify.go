package session

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"ctxplugin/compartments"
	"ctxplugin/decay"
)

// Verified says what came of making the stored folds of a session again.
type Verified struct {
	Session   compartments.SessionID `json:"session"`
	Folds     int                    `json:"folds"`
	Again     int                    `json:"again"`     // made again, selection and rendering
	Undos     int                    `json:"undos"`     // that take one back: held against what they put in force again
	Older     int                    `json:"older"`     // of another policy or renderer, or of before folds were recorded
	Plans     int                    `json:"plans"`     // whose bytes are kept and were compared
	Different []Difference           `json:"different"` // in the order of the folds
}

// Difference is one thing that came out otherwise than it was stored.
type Difference struct {
	Fold int    `json:"fold"`
	What string `json:"what"`
}

// Verify makes every fold of a session again, from what is stored of it alone,
// and compares. It changes nothing.
func (s *Sessions) Verify(ctx context.Context, id compartments.SessionID) (Verified, error) {
	out := Verified{Session: id, Different: []Difference{}}
	err := s.current(ctx, id, func(se *Session) error {
		out = Verified{Session: id, Different: []Difference{}}
		if err := se.mustExist(); err != nil {
			return err
		}
		v, err := se.archive(ctx)
		if err != nil {
			return err
		}
		for i := range v.folds {
			if err := v.verify(ctx, i, &out); err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

// archive is a session's folds with all that they were made from.
type archive struct {
	*Session
	folds  []compartments.Fold
	lookup decay.Lookup
	pins   decay.PinLookup
}

func (se *Session) archive(ctx context.Context) (*archive, error) {
	a := &archive{Session: se}
	var err error
	if a.folds, err = se.cfg.Store.Folds(ctx, se.id); err != nil {
		return nil, err
	}
	every, err := se.cfg.Store.Compartments(ctx, se.id)
	if err != nil {
		return nil, err
	}
	byID := make(map[compartments.CompartmentID]*compartments.Compartment, len(every))
	for i := range every {
		byID[every[i].ID] = &every[i]
	}
	stored, err := se.cfg.Store.Load(ctx, se.id)
	if err != nil {
		return nil, err
	}
	pins := map[compartments.PinID]*compartments.Pin{}
	for i := range stored.Pins {
		pins[stored.Pins[i].ID] = &stored.Pins[i]
	}
	a.pins = func(id compartments.PinID) *compartments.Pin { return pins[id] }
	a.lookup = func(id compartments.CompartmentID) *compartments.Compartment { return byID[id] }
	return a, nil
}

// before is the layout that a fold replaced.
func (a *archive) before(i int) (layout []compartments.PairLayout, known bool) {
	if standing := compartments.Standing(a.folds[:i]); len(standing) > 0 {
		return a.folds[standing[len(standing)-1]].Layout, true
	}
	for j := range a.folds[:i+1] { // of a fork
		if a.folds[j].Inputs.Inherited != nil {
			return a.folds[j].Inputs.Inherited, true
		}
	}
	return nil, a.folds[0].Inputs.Recording != nil
}

func (a *archive) verify(ctx context.Context, i int, out *Verified) error {
	f := &a.folds[i]
	different := func(what string) { out.Different = append(out.Different, Difference{f.Number, what}) }
	out.Folds++
	switch {
	case f.Inputs.Undoes != 0:
		out.Undos++
		standing := compartments.Standing(a.folds[:i])
		if n := len(standing); n == 0 || a.folds[standing[n-1]].Number != f.Inputs.Undoes {
			different(fmt.Sprintf("takes back fold %d, which was not in force", f.Inputs.Undoes))
		} else if layout, known := a.before(standing[n-1]); known && !sameLayout(layout, f.Layout) {
			different(fmt.Sprintf("shows other entries than were shown before fold %d", f.Inputs.Undoes))
		}
	case decay.Recomputable(f):
		out.Again++
		for _, what := range decay.Verify(f, a.lookup, a.pins) {
			different(what)
		}
		if layout, known := a.before(i); known && (len(layout) < f.Divergence || !sameLayout(layout[:f.Divergence], f.Layout[:min(f.Divergence, len(f.Layout))])) {
			different("keeps other pairs than were there")
		}
	default:
		out.Older++
	}
	if (f.Inputs.Undoes != 0 || decay.Recomputable(f)) && hashInputs(f) != f.InputsHash {
		different("its inputs have another hash than was stored")
	}
	return a.verifyPlan(ctx, f, out, different)
}

// verifyPlan holds the bytes of the plan that a fold made against its name and
// against the layout, where they are kept.
func (a *archive) verifyPlan(ctx context.Context, f *compartments.Fold, out *Verified, different func(string)) error {
	b, err := a.cfg.Store.Plan(ctx, a.id, f.PlanID)
	if compartments.CodeOf(err) == compartments.CodeNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	out.Plans++
	sum := sha256.Sum256(b)
	if hex.EncodeToString(sum[:]) != f.PlanID {
		different("the bytes of its plan have another hash than its name")
		return nil
	}
	plan, err := compartments.DecodePlan(b)
	if err != nil {
		different(err.Error())
		return nil
	}
	if len(plan.Head) != len(f.Layout) {
		different(fmt.Sprintf("its plan shows %d pairs, its layout has %d", len(plan.Head), len(f.Layout)))
		return nil
	}
	for i, pair := range f.Layout {
		if pair.Text != "" && pair.Text != plan.Head[i].Text {
			different(fmt.Sprintf("pair %d of its plan differs from the stored text from byte %d on", i, decay.FirstDifference(pair.Text, plan.Head[i].Text)))
		}
		if !pair.Rendered.IsZero() && sha256.Sum256([]byte(plan.Head[i].Text)) != pair.Rendered {
			different(fmt.Sprintf("pair %d of its plan is not what was rendered", i))
		}
	}
	return nil
}

// sameLayout reports whether two layouts show the same, as far as it is recorded.
func sameLayout(a, b []compartments.PairLayout) bool {
	return slices.EqualFunc(a, b, func(x, y compartments.PairLayout) bool {
		return x.First == y.First && x.Last == y.Last && x.Source == y.Source && x.Rendered == y.Rendered && x.Tokens == y.Tokens
	})
}

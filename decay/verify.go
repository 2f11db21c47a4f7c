package decay

import (
	"crypto/sha256"
	"fmt"
	"reflect"

	"ctxplugin/compartments"
)

// Recomputable reports whether a fold can be made again here: it was recorded,
// and by this policy and renderer.
func Recomputable(f *compartments.Fold) bool {
	return f.Inputs.Recording != nil && f.Inputs.Policy == Policy && f.Inputs.Renderer == Renderer
}

// Verify makes a fold again from its recording, selection and rendering, and
// lists what comes out otherwise than it was stored; nothing if all is the same.
// lookup must know the compartments of then, retired ones too. Only what
// Recomputable allows can be verified. pins must know all that were ever set.
func Verify(f *compartments.Fold, lookup Lookup, pins PinLookup) []string {
	r := f.Inputs.Recording
	again, err := Replay(r, lookup)
	if err != nil {
		return []string{err.Error()}
	}
	var out []string
	differ := func(what string, got, want any) {
		if !reflect.DeepEqual(got, want) {
			out = append(out, fmt.Sprintf("%s: %v here, %v stored", what, got, want))
		}
	}
	for i, o := range again.Options {
		w := r.Weighed[i]
		name := fmt.Sprintf("the fold from pair %d", w.Divergence)
		differ(name+", its target", o.Target, w.Target)
		differ(name+", tokens of its pair", o.PairTokens, w.Pair)
		differ(name+", compartments left raw", o.Raw, w.Raw)
		differ(name+", its last loss", uint64(o.Selection.last), w.Loss)
		differ(name+", its worth", o.Worth, w.Worth)
		differ(name+", tokens after it", w.Kept+w.Behind, w.After)
	}
	differ("pair from which it renders", again.Made.Divergence, f.Divergence)
	if len(f.Layout) <= f.Divergence {
		differ("entries of its pair", len(again.Made.Items), 0)
		return out
	}
	pair := &f.Layout[f.Divergence]
	differ("pairs", len(f.Layout), f.Divergence+1)
	if !reflect.DeepEqual(again.Made.Items, pair.Items) {
		out = append(out, differentItems(again.Made.Items, pair.Items))
	}
	for i := range f.Layout {
		p := &f.Layout[i]
		text := p.Text // of a pair that was kept
		if i == f.Divergence {
			text = RenderPair(pair.Items, i == 0, lookup, pins)
		}
		if (i == f.Divergence || text != "") && !p.Rendered.IsZero() && sha256.Sum256([]byte(text)) != p.Rendered {
			at := ""
			if p.Text != "" && text != p.Text {
				at = fmt.Sprintf(" from byte %d on", FirstDifference(text, p.Text))
			}
			out = append(out, fmt.Sprintf("text of pair %d: other bytes than stored%s", i, at))
		}
	}
	return out
}

func differentItems(got, want []compartments.Item) string {
	for i := range min(len(got), len(want)) {
		if !reflect.DeepEqual(got[i], want[i]) {
			return fmt.Sprintf("entry %d: compartments %v at %s here, %v at %s stored", i, got[i].Compartments, got[i].Tier, want[i].Compartments, want[i].Tier)
		}
	}
	return fmt.Sprintf("entries: %d here, %d stored", len(got), len(want))
}

// FirstDifference is the first byte at which two texts differ.
func FirstDifference(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// Replayed is a recorded choice made again.
type Replayed struct {
	Options []Option // by place in the recording's Weighed
	Made    *Option
}

// recordedSettings are the recorded settings that selection and choice read.
func recordedSettings(r *compartments.Recording) Settings {
	s := Settings{HalfLife: r.HalfLife, Spare: r.Spare, Trust: trust, ForceTier: r.ForceTier, PromoteBelow: r.PromoteBelow}
	copy(s.Floors[:], r.Floors)
	s.Ablate, _ = ParseAblation(r.Ablate) // a name that is gone replaces nothing
	return s
}

// Replay makes the choice of a recording again: every fold that was weighed, and
// which of them was made.
func Replay(r *compartments.Recording, lookup Lookup) (*Replayed, error) {
	if len(r.Weighed) == 0 {
		return nil, fmt.Errorf("the recording has weighed no fold")
	}
	s := recordedSettings(r)
	out := &Replayed{}
	all, err := recorded(r, compartments.Weighed{}, lookup)
	if err != nil {
		return nil, err
	}
	for _, w := range r.Weighed {
		candidates, err := recorded(r, w, lookup)
		if err != nil {
			return nil, err
		}
		o := Option{Divergence: w.Divergence, Candidates: candidates, Kept: w.Kept, Held: w.Held, Rest: r.Rest, Saves: r.Saves, NotRaw: w.NotRaw, Behind: w.Behind, After: w.After}
		o.withinShare(r.Budget, r.DemoteTo, s)
		o.Worth = o.Selection.worth + appliedWorth(all[:len(all)-len(candidates)], len(candidates), s)
		out.Options = append(out.Options, o)
	}
	if out.Options[0].Divergence != 0 {
		return nil, fmt.Errorf("the recording does not begin with the full fold")
	}
	made, _ := best(out.Options, r.Limit, promoteMark(r.Budget, s), s)
	out.Made = &out.Options[made]
	return out, nil
}

// recorded is the candidates of one fold that was weighed.
func recorded(r *compartments.Recording, w compartments.Weighed, lookup Lookup) ([]Candidate, error) {
	skip := 0
	for i, n := range r.Pairs {
		if i < w.Divergence {
			skip += n
		}
	}
	if w.Divergence < 0 || w.Divergence > len(r.Pairs) || skip > len(r.Candidates) {
		return nil, fmt.Errorf("the recording has no pair %d", w.Divergence)
	}
	out := make([]Candidate, 0, len(r.Candidates)-skip)
	holds := make(map[int]*compartments.Hold, len(r.Holds))
	for i := range r.Holds {
		holds[r.Holds[i].At] = &r.Holds[i]
	}
	saved := make(map[int]int, len(r.Saved))
	for _, s := range r.Saved {
		saved[s.At] = s.Tokens
	}
	for i, c := range r.Candidates[skip:] {
		comp := lookup(c.Compartment)
		if comp == nil {
			return nil, fmt.Errorf("compartment %d is not stored", c.Compartment)
		}
		again := Candidate{Compartment: comp, Applied: c.Applied, Relevance: c.Relevance, NotRaw: w.NotRaw, Saved: saved[skip+i]}
		again.heldBy(holds[skip+i])
		out = append(out, again)
	}
	return out, nil
}

// heldBy gives a candidate the class that it had when it was recorded, and what
// else held it.
func (c *Candidate) heldBy(h *compartments.Hold) {
	class := compartments.Compressible
	if h != nil {
		class, c.Away, c.Eased, c.NotRaw = h.Class, h.Away, h.Eased, c.NotRaw || h.NotRaw
		for i, id := range h.Pins {
			shown := Shown{ID: id}
			if i < len(h.Tokens) {
				shown.Tokens = h.Tokens[i]
			}
			c.Pins = append(c.Pins, shown)
		}
	}
	if c.Compartment.Retention != class {
		then := *c.Compartment
		then.Retention = class
		c.Compartment = &then
	}
}

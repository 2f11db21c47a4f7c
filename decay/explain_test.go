package decay

import (
	"encoding/json"
	"slices"
	"testing"

	"ctxplugin/compartments"

	"pgregory.net/rapid"
)

// chosen is a random fold with its recording, as a store gives it back.
func chosen(t *rapid.T) (o Option, r *compartments.Recording, lookup Lookup) {
	all := randomCandidates(t)
	m := &Material{Tail: rapid.IntRange(0, 20_000).Draw(t, "tail")}
	first := 0
	if len(all) > 4 {
		first = rapid.IntRange(0, len(all)).Draw(t, "in pairs")
	}
	for at := 0; at < first; {
		n := min(first-at, rapid.IntRange(1, 8).Draw(t, "pair"))
		p := Pair{Candidates: slices.Clone(all[at : at+n]), Layout: compartments.PairLayout{Tokens: rapid.IntRange(10, 2000).Draw(t, "pair tokens")}}
		for i := range p.Candidates {
			p.Candidates[i].Applied = compartments.TierFull
		}
		m.Pairs = append(m.Pairs, p)
		at += n
	}
	m.New = slices.Clone(all[first:])
	m.Keeps = make([]int, len(m.New)+1)
	s := Defaults()
	budget := rapid.IntRange(500, 40_000).Draw(t, "budget")
	o = Choose(m, budget, budget*s.DemoteTo/1000, 0, s)
	w := Window{Usable: 100_000, Budget: budget}
	r = Moment{PerStep: 900, Prices: marks}.Record(w, s)
	o.Record(r, 900, marks)
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	r = new(compartments.Recording)
	if err := json.Unmarshal(b, r); err != nil {
		t.Fatal(err)
	}
	byID := map[compartments.CompartmentID]*compartments.Compartment{}
	for i := range all {
		byID[all[i].Compartment.ID] = all[i].Compartment
	}
	return o, r, func(id compartments.CompartmentID) *compartments.Compartment { return byID[id] }
}

// A recorded choice made again is the same; a turning point is one; a larger
// budget never shows less.
func TestExplain_Properties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o, r, lookup := chosen(t)
		e, err := Explain(r, lookup)
		if err != nil {
			t.Fatal(err)
		}
		if e.Divergence != o.Divergence || e.Target != o.Target || e.Tokens != o.Selection.Tokens || len(e.Candidates) != len(o.Candidates) {
			t.Fatalf("%+v explained as %+v", o, e.Explained)
		}
		places := map[int]bool{}
		for i, c := range e.Candidates {
			if c.Tier != o.Selection.Tiers[i].String() {
				t.Fatalf("candidate %d is %s, explained as %s", i, o.Selection.Tiers[i], c.Tier)
			}
			for _, st := range c.Steps {
				if places[st.Place] || st.Place < 1 || st.Place > e.Demotions || st.Taken != (st.Place <= e.Taken) {
					t.Fatalf("candidate %d: %+v of %d, %d taken", i, st, e.Demotions, e.Taken)
				}
				places[st.Place] = true
			}
		}
		if len(places) != e.Demotions {
			t.Fatalf("%d of %d demotions are told", len(places), e.Demotions)
		}
		if len(e.Candidates) == 0 {
			return
		}
		i := rapid.IntRange(0, len(e.Candidates)-1).Draw(t, "candidate")
		tier := o.Selection.Tiers[i]
		less, more := e.Turning(i)
		if less != nil {
			if at, below := e.at(less.Budget)[i], e.at(less.Budget - 1)[i]; less.Budget > e.Budget || at != tier || below == tier || below.String() != less.Tier {
				t.Fatalf("at %d %s, below it %s; told %+v of %s at %d", less.Budget, at, below, *less, tier, e.Budget)
			}
		}
		if more != nil {
			if at, below := e.at(more.Budget)[i], e.at(more.Budget - 1)[i]; more.Budget <= e.Budget || below != tier || at == tier || at.String() != more.Tier {
				t.Fatalf("at %d %s, below it %s; told %+v of %s at %d", more.Budget, at, below, *more, tier, e.Budget)
			}
		}
		larger := e.Budget + rapid.IntRange(1, 20_000).Draw(t, "larger")
		x := Option{Divergence: o.Divergence, Candidates: o.Candidates, Kept: o.Kept, Held: o.Held, Rest: o.Rest}
		x.choose(larger, larger*r.DemoteShare/1000, recordedSettings(r))
		if x.Selection.GroupSize != o.Selection.GroupSize {
			return // lines of another size are other points
		}
		for i, t2 := range x.Selection.Tiers {
			if t2 > o.Selection.Tiers[i] {
				t.Fatalf("candidate %d: %s at %d, %s at %d", i, o.Selection.Tiers[i], e.Budget, t2, larger)
			}
		}
	})
}

// A newer compartment ages all others alike: what was clearly cheaper to demote
// stays so, until age no longer counts.
func TestDemotions_ANewCompartmentReordersNoOthers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Defaults()
		in := randomCandidates(t)
		if len(in) > 4*s.HalfLife {
			in = in[:4*s.HalfLife]
		}
		steps := func(in []Candidate) (out []step, losses []loss) {
			list := demotionsOf(in, 8, s)
			for _, turn := range list.turns {
				if st := list.steps[turn.at]; st.to.tier <= compartments.TierAnchor {
					out, losses = append(out, st), append(losses, turn.loss)
				}
			}
			return out, losses
		}
		type key struct {
			candidate int
			tier      compartments.Tier
		}
		before, losses := steps(in)
		after, _ := steps(append(slices.Clone(in), Candidate{Compartment: usual(999), Applied: compartments.TierRaw, Relevance: 4000}))
		place := map[key]int{}
		for i, st := range after {
			place[key{st.candidate, st.to.tier}] = i
		}
		for i := range before {
			for j := i + 1; j < len(before); j++ {
				a, okA := place[key{before[i].candidate, before[i].to.tier}]
				b, okB := place[key{before[j].candidate, before[j].to.tier}]
				if clear := losses[j] > losses[i]+losses[i]/50+1000; clear && okA && okB && a > b {
					t.Fatalf("%+v (loss %d) came before %+v (loss %d), and behind it with a newer compartment", before[i], losses[i], before[j], losses[j])
				}
			}
		}
	})
}

func TestCostsOf(t *testing.T) {
	none, free, unknown := marks, marks, compartments.Prices{Kind: "unknown"}
	none.Kind, free.Kind = "none", "free"
	for _, c := range []struct {
		name            string
		behind, removed int
		cold            bool
		prices          compartments.Prices
		want            Costs
	}{
		// (3.75 - 0.30) * 20,000 = 69,000; 0.30 * 10,000 = 3,000 a step
		{"cached", 20_000, 10_000, false, marks, Costs{Anew: 20_000, Removed: 10_000, Cost: 69_000, Saving: 3_000, BreakEven: 23, Priced: true, Cached: true}},
		{"one step more for a token less", 20_000, 9_999, false, marks, Costs{Anew: 20_000, Removed: 9_999, Cost: 69_000, Saving: 3_000, BreakEven: 24, Priced: true, Cached: true}},
		{"cold", 20_000, 10_000, true, marks, Costs{Removed: 10_000, Saving: 3_000, Priced: true}},
		{"nothing removed", 20_000, 0, false, marks, Costs{Anew: 20_000, Cost: 69_000, BreakEven: -1, Priced: true, Cached: true}},
		{"more than before", 20_000, -500, false, marks, Costs{Anew: 20_000, Removed: -500, Cost: 69_000, Saving: -150, BreakEven: -1, Priced: true, Cached: true}},
		{"no cache: each token costs as input", 20_000, 10_000, false, none, Costs{Removed: 10_000, Saving: 30_000, Priced: true}},
		{"free", 20_000, 10_000, false, free, Costs{Removed: 10_000}},
		{"unknown prices", 20_000, 10_000, false, unknown, Costs{Removed: 10_000}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := CostsOf(c.behind, c.removed, c.cold, c.prices); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

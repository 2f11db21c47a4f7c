package decay

import (
	"reflect"
	"slices"
	"testing"

	"ctxplugin/compartments"
)

// TestMemory: a fold that remembers those before it chooses as one that remembers none,
// whatever became of compartments and settings meanwhile.
func TestMemory(t *testing.T) {
	var memory Memory
	base := candidates(60, compartments.TierFull)
	for i := range base {
		base[i].Compartment.ID = compartments.CompartmentID(i + 1)
	}
	fold := func(name string, change func(c *Candidate, s *Settings)) {
		choose := func(memory *Memory) Option {
			s := Defaults()
			in := slices.Clone(base)
			change(&in[7], &s)
			m := Material{New: in, Keeps: make([]int, len(in)+1), Memory: memory}
			o := Choose(&m, 6000, 5500, 0, s)
			o.from = nil
			for i := range o.Candidates {
				o.Candidates[i].rungs, o.Candidates[i].Compartment = nil, nil
			}
			return o
		}
		for range 2 {
			if got, want := choose(&memory), choose(nil); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: worth %d with %d tokens, want %d with %d", name, got.Worth, got.PairTokens, want.Worth, want.PairTokens)
			}
		}
	}
	fold("as it is", func(*Candidate, *Settings) {})
	fold("another class", func(c *Candidate, _ *Settings) {
		other := *c.Compartment
		other.Retention = compartments.Pinned
		c.Compartment = &other
	})
	fold("other floors", func(_ *Candidate, s *Settings) { s.Floors[compartments.Narrative] = 500 })
	fold("high floors", func(_ *Candidate, s *Settings) { s.Floors[compartments.Narrative] = 900 })
	fold("eased", func(c *Candidate, s *Settings) { s.Floors[compartments.Narrative], c.Eased = 900, true })
	fold("another trust", func(_ *Candidate, s *Settings) { s.Trust = 1000 })
	fold("beyond what is remembered", func(c *Candidate, _ *Settings) {
		other := *c.Compartment
		other.ID = memoryMost + 5
		c.Compartment = &other
	})
}

// A second fold asks no compartment for its texts again.
func TestMemory_IsUsed(t *testing.T) {
	in := candidates(30, compartments.TierFull)
	for i := range in {
		in[i].Compartment.ID = compartments.CompartmentID(i + 1)
	}
	m := Material{New: in, Keeps: make([]int, len(in)+1), Memory: &Memory{}}
	Choose(&m, 3000, 2500, 0, Defaults())
	for i := range in {
		in[i].Compartment.Tiers = nil
	}
	if o := Choose(&m, 3000, 2500, 0, Defaults()); o.Selection.worth == 0 || m.New[3].rungs != &m.Memory.known[4].rungs {
		t.Error("what is remembered is not asked")
	}
}

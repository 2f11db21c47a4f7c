package verdict

import (
	"slices"

	"ctxplugin/compartments"
	"ctxplugin/lab/trajectory"
)

// Key names the runs of one policy.
type Key struct {
	Policy   string
	Schedule string
	Window   int
}

// Sum is what one policy did in one session. Counts are tokens, money micro-units.
type Sum struct {
	Asked, Right int
	Dimensions   map[string][2]int // right, asked
	Relevances   map[string][2]int
	Ages         map[int][2]int // by ten turns since it was said
	Misread      int            // the words stand, and read as something else
	Under, Over  int            // shown at less, or at more, than answers
	Lost         int            // no rendered tier would have answered
	Provenance   int            // right and with the message that it is from

	Turns, Requests     int
	Size, Head, Budget  int64 // summed over requests, turns, turns
	Needed              int64 // tokens of entries that answered
	Cost                int64
	Prefixes, Folds     int
	Switches, Reversals int
	OverWindow          int
	OverBudget          int
	Tiers               map[string]int64 // tokens by tier, summed over turns
	Counts              map[string]int64
	Classes             map[string]int64 // raw tokens of what the head stands for
}

// Rate is the share of probes that were answered, in percent.
func (s *Sum) Rate() float64 { return percent(s.Right, s.Asked) }

func percent(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return 100 * float64(n) / float64(of)
}

// Sums are those of all runs, by policy, repeat and seed.
type Sums struct {
	by    map[Key]map[uint64]*Sum         // of repeat 0
	again map[Key]map[uint64]map[int]*Sum // of all repeats
	bills map[string]map[Key]map[uint64]*trajectory.Bill
	reps  map[uint64][]*trajectory.Representation
	folds map[uint64][]*trajectory.Fold
	turns map[Key]map[uint64][]*trajectory.Turn
	Main  int // the window with the most seeds
}

// Add sums records up.
func Add(records []trajectory.Record) *Sums {
	s := &Sums{by: map[Key]map[uint64]*Sum{}, again: map[Key]map[uint64]map[int]*Sum{}, bills: map[string]map[Key]map[uint64]*trajectory.Bill{},
		reps: map[uint64][]*trajectory.Representation{}, folds: map[uint64][]*trajectory.Fold{}, turns: map[Key]map[uint64][]*trajectory.Turn{}}
	for i := range records {
		r := &records[i]
		switch {
		case r.Turn != nil:
			s.turn(r.Turn)
		case r.Bill != nil:
			k := Key{r.Bill.Policy, r.Bill.Schedule, r.Bill.Window}
			put(put2(s.bills, r.Bill.Provider), k)[r.Bill.Seed] = r.Bill
		case r.Representation != nil:
			s.reps[r.Representation.Seed] = append(s.reps[r.Representation.Seed], r.Representation)
		case r.Fold != nil:
			s.folds[r.Fold.Seed] = append(s.folds[r.Fold.Seed], r.Fold)
		}
	}
	most := 0
	for k, seeds := range s.by {
		if k.Policy == trajectory.Ours && (len(seeds) > most || len(seeds) == most && k.Window < s.Main) {
			most, s.Main = len(seeds), k.Window
		}
	}
	return s
}

func put[V any](m map[Key]map[uint64]V, k Key) map[uint64]V {
	if m[k] == nil {
		m[k] = map[uint64]V{}
	}
	return m[k]
}

func put2[V any](m map[string]map[Key]V, name string) map[Key]V {
	if m[name] == nil {
		m[name] = map[Key]V{}
	}
	return m[name]
}

func (s *Sums) turn(t *trajectory.Turn) {
	k := Key{t.Policy, t.Schedule, t.Window}
	all := put(s.again, k)
	if all[t.Seed] == nil {
		all[t.Seed] = map[int]*Sum{}
	}
	sum := all[t.Seed][t.Repeat]
	if sum == nil {
		sum = &Sum{Dimensions: map[string][2]int{}, Relevances: map[string][2]int{}, Ages: map[int][2]int{}, Tiers: map[string]int64{}, Counts: map[string]int64{}, Classes: map[string]int64{}}
		all[t.Seed][t.Repeat] = sum
		if t.Repeat == 0 {
			put(s.by, k)[t.Seed] = sum
		}
	}
	if t.Repeat == 0 {
		put(s.turns, k)[t.Seed] = append(put(s.turns, k)[t.Seed], t)
	}
	sum.add(t)
}

func (s *Sum) add(t *trajectory.Turn) {
	s.Turns++
	s.Requests += t.Requests
	s.Size += int64(t.Mean) * int64(t.Requests)
	s.Head += int64(t.Head)
	s.Budget += int64(t.Budget)
	s.Needed += int64(t.Needed)
	s.Cost += t.Cost
	s.Prefixes += t.Prefixes
	s.Folds += t.Folds
	s.Switches += t.Switches
	s.Reversals += t.Reversals
	s.OverWindow += t.OverWindow
	if t.OverBudget {
		s.OverBudget++
	}
	for tier, n := range t.TierTokens {
		s.Tiers[tier] += int64(n)
	}
	for tier, n := range t.Tiers {
		s.Counts[tier] += int64(n)
	}
	for class, n := range t.Classes {
		s.Classes[class] += int64(n)
	}
	for i := range t.Asked {
		s.answer(&t.Asked[i])
	}
}

func (s *Sum) answer(a *trajectory.Answer) {
	right := 0
	if a.Grade.Success {
		right = 1
		if a.Grade.Provenance == 1000 {
			s.Provenance++
		}
	}
	s.Asked++
	s.Right += right
	tally(s.Dimensions, a.Dimension, right)
	tally(s.Relevances, a.Relevance, right)
	tally(s.Ages, a.Age/10, right)
	if a.Grade.Exact == 1000 && a.Grade.Semantic == 1000 && a.Grade.Status == 0 {
		s.Misread++
	}
	shown, enough := tierOf(a.Shown), tierOf(a.Enough)
	switch {
	case enough == compartments.TierRaw && shown != compartments.TierRaw:
		s.Lost++
	case shown > enough:
		s.Under++
	case shown < enough:
		s.Over++
	}
}

// tierOf reads a tier's name; what is not shown is below all tiers.
func tierOf(name string) compartments.Tier {
	t, err := compartments.ParseTier(name)
	if err != nil {
		return compartments.TierArchived
	}
	return t
}

func tally[K comparable](m map[K][2]int, k K, right int) {
	n := m[k]
	m[k] = [2]int{n[0] + right, n[1] + 1}
}

// Of is the sums of one policy at the main window, by seed.
func (s *Sums) Of(policy, schedule string) map[uint64]*Sum {
	return s.by[Key{policy, schedule, s.Main}]
}

// At is Of in any window.
func (s *Sums) At(k Key) map[uint64]*Sum { return s.by[k] }

// Keys are all policies that ran, in the order of their names.
func (s *Sums) Keys() []Key {
	var out []Key
	for k := range s.by {
		out = append(out, k)
	}
	slices.SortFunc(out, func(a, b Key) int {
		switch {
		case a.Window != b.Window:
			return a.Window - b.Window
		case a.Schedule != b.Schedule:
			return compare(a.Schedule, b.Schedule)
		}
		return compare(a.Policy, b.Policy)
	})
	return out
}

func compare(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// Each is a value of every seed, in the order of seeds.
func Each(sums map[uint64]*Sum, value func(*Sum) float64) []float64 {
	var out []float64
	for _, seed := range seedsOf(sums) {
		out = append(out, value(sums[seed]))
	}
	return out
}

func seedsOf[V any](m map[uint64]V) []uint64 {
	var out []uint64
	for seed := range m {
		out = append(out, seed)
	}
	slices.Sort(out)
	return out
}

// Difference is a minus b of one value, seed by seed.
func Difference(a, b map[uint64]*Sum, value func(*Sum) float64) Interval {
	var out []float64
	for _, seed := range seedsOf(a) {
		if other, ok := b[seed]; ok {
			out = append(out, value(a[seed])-value(other))
		}
	}
	return Bootstrap(out)
}

// Rate is the success of a policy over its seeds.
func Rate(sums map[uint64]*Sum) Interval { return Bootstrap(Each(sums, (*Sum).Rate)) }

// Total adds the sums of all seeds.
func Total(sums map[uint64]*Sum) *Sum {
	out := &Sum{Dimensions: map[string][2]int{}, Relevances: map[string][2]int{}, Ages: map[int][2]int{}, Tiers: map[string]int64{}, Counts: map[string]int64{}, Classes: map[string]int64{}}
	for _, seed := range seedsOf(sums) {
		s := sums[seed]
		out.Asked += s.Asked
		out.Right += s.Right
		out.Misread += s.Misread
		out.Under += s.Under
		out.Over += s.Over
		out.Lost += s.Lost
		out.Provenance += s.Provenance
		out.Turns += s.Turns
		out.Requests += s.Requests
		out.Size += s.Size
		out.Head += s.Head
		out.Budget += s.Budget
		out.Needed += s.Needed
		out.Cost += s.Cost
		out.Prefixes += s.Prefixes
		out.Folds += s.Folds
		out.Switches += s.Switches
		out.Reversals += s.Reversals
		out.OverWindow += s.OverWindow
		out.OverBudget += s.OverBudget
		merge(out.Dimensions, s.Dimensions)
		merge(out.Relevances, s.Relevances)
		merge(out.Ages, s.Ages)
		for t, n := range s.Tiers {
			out.Tiers[t] += n
		}
		for t, n := range s.Counts {
			out.Counts[t] += n
		}
		for c, n := range s.Classes {
			out.Classes[c] += n
		}
	}
	return out
}

func merge[K comparable](into, from map[K][2]int) {
	for k, n := range from {
		was := into[k]
		into[k] = [2]int{was[0] + n[0], was[1] + n[1]}
	}
}

// BestFlat is the level at which flat compaction answered the most, known only
// afterwards, which is to its favour.
func (s *Sums) BestFlat(schedule string) string {
	best, most := "", -1.0
	for _, t := range compartments.Rendered {
		if sums := s.Of(trajectory.FlatName(t), schedule); len(sums) > 0 {
			if r := Rate(sums).Mean; r > most {
				best, most = trajectory.FlatName(t), r
			}
		}
	}
	return best
}

// Folds are those of ours in a session.
func (s *Sums) Folds(seed uint64) []*trajectory.Fold { return s.folds[seed] }

// Turns are those of a policy in a session of the main window.
func (s *Sums) Turns(policy, schedule string, seed uint64) []*trajectory.Turn {
	return s.turns[Key{policy, schedule, s.Main}][seed]
}

// Seeds are those of the main window.
func (s *Sums) Seeds() []uint64 { return seedsOf(s.Of(trajectory.Ours, trajectory.Same)) }

// Bill sums what sessions cost with a provider, in micro-units, and how often their
// prefix changed. n is how many sessions there were.
func (s *Sums) Bill(provider, policy, schedule string) (cost, prefixes float64, n int) {
	for k, seeds := range s.bills[provider] {
		if k.Policy != policy || k.Schedule != schedule {
			continue
		}
		for _, b := range seeds {
			cost += float64(b.Cost)
			prefixes += float64(b.Prefixes)
			n++
		}
	}
	return cost, prefixes, n
}

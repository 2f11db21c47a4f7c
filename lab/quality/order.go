package quality

import (
	"cmp"
	"slices"

	"ctxplugin/compartments"
	"ctxplugin/lab/fixtures"
)

// Order is the order, best first, in which raw, flat and tiers stand at one budget.
type Order struct {
	Share    int
	Held     []string
	Tuned    []string
	Recorded []string // empty without recorded sessions
}

// Agree reports whether banks and recorded sessions say the same.
func (o *Order) Agree() bool {
	return slices.Equal(o.Held, o.Tuned) && (len(o.Recorded) == 0 || slices.Equal(o.Held, o.Recorded))
}

// Orders are the orders at each budget, for the built-in historian's tiers.
func (s *Summary) Orders() []Order {
	byShare := map[int][]*ShownRow{}
	var all []int
	for i := range s.Budgets {
		r := &s.Budgets[i]
		switch {
		case r.Condition.Name != canonical && r.Form != FormRaw:
			continue
		case r.Form != FormRaw && r.Form != FormFlat && r.Form != FormTiers:
			continue
		}
		if byShare[r.Share] == nil {
			all = append(all, r.Share)
		}
		byShare[r.Share] = append(byShare[r.Share], r)
	}
	slices.Sort(all)
	var out []Order
	for _, at := range all {
		rank := func(of func(*ShownRow) bool) []string {
			var rows []*ShownRow
			for _, r := range byShare[at] {
				if of(r) {
					rows = append(rows, r)
				}
			}
			slices.SortStableFunc(rows, func(a, b *ShownRow) int { return cmp.Compare(b.Success.Share, a.Success.Share) })
			var names []string
			for _, r := range rows {
				names = append(names, string(r.Form))
			}
			return names
		}
		out = append(out, Order{Share: at,
			Held:     rank(func(r *ShownRow) bool { return r.Bank == fixtures.Held && !r.Recorded }),
			Tuned:    rank(func(r *ShownRow) bool { return r.Bank == fixtures.Tuned && !r.Recorded }),
			Recorded: rank(func(r *ShownRow) bool { return r.Recorded })})
	}
	return out
}

// middle is the budget in the middle.
func (s *Summary) middle() int {
	var all []int
	for i := range s.Budgets {
		if !slices.Contains(all, s.Budgets[i].Share) {
			all = append(all, s.Budgets[i].Share)
		}
	}
	slices.Sort(all)
	if len(all) == 0 {
		return 0
	}
	return all[len(all)/2]
}

// floorGain is what a floor has to bring at least, in points over all probes, before
// it is called supported, permille.
const floorGain = 10

// Verdict says what the runs say of a floor: it is supported if at equal tokens it
// brings at least one point over all probes, the interval lies above zero, and its own
// probes gain; harmful if the interval lies below zero.
func (r *AblationRow) Verdict() string {
	switch {
	case r.All.Low > 0 && r.All.Share >= floorGain && r.Own.Share > 0:
		return "a floor"
	case r.All.Low > 0 && r.All.Share >= floorGain:
		return "no floor: others gain, not its own"
	case r.All.High < 0:
		return "no floor: it costs others more"
	}
	return "no floor"
}

// Point is where a tier stands between its neighbours.
type Point string

// The places of a tier.
const (
	PointAbove Point = "useful"    // it holds more than a mixture of its neighbours of the same size
	PointBelow Point = "merged"    // it holds less
	PointOpen  Point = "undecided" // the interval holds zero
	PointOuter Point = "outer"     // it has no two neighbours
)

// Point says whether the tier has a useful operating point.
func (r *TierRow) Point() Point {
	switch {
	case r.Gap == Estimate{}:
		return PointOuter
	case r.Gap.Low > 0:
		return PointAbove
	case r.Gap.High < 0:
		return PointBelow
	}
	return PointOpen
}

// Of is the row of a condition at a tier; nil if there is none.
func (s *Summary) Of(bank fixtures.Bank, c Condition, tier compartments.Tier) *TierRow {
	for i := range s.Tiers {
		if r := &s.Tiers[i]; r.Bank == bank && r.Condition == c && r.Tier == tier {
			return r
		}
	}
	return nil
}

package quality

import (
	"slices"

	"ctxplugin/compartments"
	"ctxplugin/decay"
)

// Form is how tiers are shown under a budget.
type Form string

// The forms.
const (
	FormTiers Form = "tiers" // decay chooses one for each compartment
	FormFlat  Form = "flat"  // one tier for all, the oldest lost first
	FormRaw   Form = "raw"   // the newest messages as they are
	FormWorth Form = "worth" // tiers, chosen by what they hold of the planted items
	FormEven  Form = "even"  // tiers, chosen without regard to age
	FormLess  Form = "less"  // tiers, without one of them
	// FormMeasured is tiers, chosen by what is measured of each compartment alone.
	FormMeasured Form = "measured"
	FormMean     Form = "mean" // tiers, chosen by what each holds on average
	FormTwo      Form = "two"  // compact and full alone, newest first
)

// shown is what a model would read of the history.
type shown struct {
	text   string
	tokens int
	tiers  map[compartments.Tier]int // compartments at each; TierNone for those left out
}

// tiered lets decay choose among the compartments' tiers within a budget. Those
// that policy lets fade no further are shown as messages, whatever the budget is.
func (h *history) tiered(cs []compartments.Compartment, budget int, s decay.Settings, count func(string) int) shown {
	m := decay.Material{Keeps: make([]int, len(cs)+1)}
	for i := range cs {
		m.New = append(m.New, decay.Candidate{Compartment: &cs[i], Applied: compartments.TierRaw, Relevance: 1000, NotRaw: true})
	}
	o := decay.Choose(&m, budget, budget, 0, s)
	out := render(cs, o.Items, count)
	for i, t := range o.Selection.Tiers {
		out.tiers[t]++
		if t == compartments.TierRaw {
			out.text += "\n" + h.raw(&cs[i])
			out.tokens += cs[i].RawTokens
		}
	}
	return out
}

// flat shows the newest compartments that the budget holds at one tier.
func flat(cs []compartments.Compartment, tier compartments.Tier, budget int, count func(string) int) shown {
	left := budget - decay.Preamble(true)
	from := len(cs)
	for from > 0 {
		// as much as the selection counts for an entry with its heading
		left -= cs[from-1].Tiers[tier].Tokens + headingTokens
		if left < 0 {
			break
		}
		from--
	}
	var items []compartments.Item
	for i := from; i < len(cs); i++ {
		items = append(items, compartments.Item{Compartments: []compartments.CompartmentID{cs[i].ID}, Tier: tier})
	}
	out := render(cs, items, count)
	out.tiers[tier] = len(cs) - from
	out.tiers[compartments.TierNone] = from
	return out
}

const headingTokens = 3

// two shows the newest compartments that the budget holds at compact, and then as
// many of the newest at full as there is room for: the simplest schedule of tiers.
func two(cs []compartments.Compartment, budget int, count func(string) int) shown {
	left := budget - decay.Preamble(true)
	from := len(cs)
	for from > 0 && left >= cs[from-1].Tiers[compartments.TierCompact].Tokens+headingTokens {
		from--
		left -= cs[from].Tiers[compartments.TierCompact].Tokens + headingTokens
	}
	whole := len(cs)
	for whole > from {
		more := cs[whole-1].Tiers[compartments.TierFull].Tokens - cs[whole-1].Tiers[compartments.TierCompact].Tokens
		if more > left {
			break
		}
		left -= more
		whole--
	}
	var items []compartments.Item
	for i := from; i < len(cs); i++ {
		tier := compartments.TierCompact
		if i >= whole {
			tier = compartments.TierFull
		}
		items = append(items, compartments.Item{Compartments: []compartments.CompartmentID{cs[i].ID}, Tier: tier})
	}
	out := render(cs, items, count)
	out.tiers[compartments.TierNone], out.tiers[compartments.TierCompact], out.tiers[compartments.TierFull] = from, whole-from, len(cs)-whole
	return out
}

func render(cs []compartments.Compartment, items []compartments.Item, count func(string) int) shown {
	out := shown{tiers: map[compartments.Tier]int{}}
	if len(items) == 0 {
		return out
	}
	lookup := func(id compartments.CompartmentID) *compartments.Compartment {
		i := int(id - cs[0].ID)
		if i < 0 || i >= len(cs) {
			return nil
		}
		return &cs[i]
	}
	out.text = decay.RenderPair(items, true, lookup, nil)
	out.tokens = count(out.text)
	return out
}

// truncated shows the newest messages before the end of a history that the budget
// holds.
func (h *history) truncated(last compartments.Ordinal, budget int) shown {
	out := shown{tiers: map[compartments.Tier]int{}}
	from := int(last)
	for from > 0 && out.tokens+h.weights[from-1] <= budget {
		from--
		out.tokens += h.weights[from]
	}
	for _, t := range h.texts[from:last] {
		out.text += t + "\n"
	}
	return out
}

// before are the compartments up to a place, in a list of their own.
func before(cs []compartments.Compartment, n int) []compartments.Compartment {
	return slices.Clone(cs[:n])
}

// weighed gives compartments the survival that their tiers really have, by the
// planted items: what a perfect measure would tell the selection.
func (h *history) weighed(cs []compartments.Compartment) []compartments.Compartment {
	for i := range cs {
		tiers := map[compartments.Tier]compartments.Rendition{}
		for t, r := range cs[i].Tiers {
			r.Survival = h.survivalOf(i, r.Text)
			tiers[t] = r
		}
		cs[i].Tiers = tiers
	}
	return cs
}

// less takes one tier away. The anchor cannot be: every compartment has one.
func less(cs []compartments.Compartment, without compartments.Tier) []compartments.Compartment {
	for i := range cs {
		tiers := map[compartments.Tier]compartments.Rendition{}
		for t, r := range cs[i].Tiers {
			if t != without {
				tiers[t] = r
			}
		}
		cs[i].Tiers = tiers
	}
	return cs
}

// averaged gives all compartments the survival that a tier has on average, by the
// planted items: the selection knows what to expect of a tier, and nothing of the
// single compartment.
func (h *history) averaged(cs []compartments.Compartment) []compartments.Compartment {
	mean := map[compartments.Tier]int{}
	for _, t := range compartments.Rendered {
		kept, all := 0, 0
		for i := range cs {
			for _, it := range h.items[i] {
				all++
				if it.Grade(cs[i].Tiers[t].Text).Success {
					kept++
				}
			}
		}
		if all > 0 {
			mean[t] = 1000 * kept / all
		}
	}
	for i := range cs {
		tiers := map[compartments.Tier]compartments.Rendition{}
		for t, r := range cs[i].Tiers {
			for d := range r.Survival {
				r.Survival[d] = uint16(mean[t])
			}
			tiers[t] = r
		}
		cs[i].Tiers = tiers
	}
	return cs
}

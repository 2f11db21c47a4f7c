package decay

import "ctxplugin/compartments"

// Layout turns a selection into the items of one pair, in list order: adjacent
// index candidates become index lines, archived and raw ones are left out. It
// returns the items and their tokens, the opening of the pair not counted.
func Layout(candidates []Candidate, sel Selection) (items []compartments.Item, tokens int) {
	for i := 0; i < len(candidates); i++ {
		c := candidates[i].Compartment
		switch t := sel.Tiers[i]; t {
		case compartments.TierRaw, compartments.TierArchived:
		case compartments.TierIndex:
			item := compartments.Item{Tier: t, Tokens: t.Ceiling()}
			for len(item.Compartments) < sel.GroupSize && i < len(candidates) && sel.Tiers[i] == compartments.TierIndex {
				item.Compartments = append(item.Compartments, candidates[i].Compartment.ID)
				item.Tokens += spanTokens(candidates[i].Compartment)
				i++
			}
			i--
			items = append(items, item)
			tokens += item.Tokens
		default:
			n := c.Tokens(t) + headingTokens
			items = append(items, compartments.Item{Compartments: []compartments.CompartmentID{c.ID}, Tier: t, Tokens: n})
			tokens += n
		}
	}
	return items, tokens
}

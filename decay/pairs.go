package decay

import "ctxplugin/compartments"

// Layout turns a selection into the items of one pair, in list order: adjacent
// index candidates become index lines, adjacent ones without room one line too.
// What stays raw behind all others is left out; raw ones before it, and archived
// ones, are named, so that items tile what the pair stands for. It returns the
// items and their tokens, the opening of the pair not counted.
func Layout(candidates []Candidate, sel Selection) (items []compartments.Item, tokens int) {
	end := len(candidates)
	for end > 0 && sel.Tiers[end-1] == compartments.TierRaw {
		end--
	}
	for i := 0; i < end; i++ {
		c := candidates[i].Compartment
		t := sel.Tiers[i]
		item := compartments.Item{Tier: t, Compartments: []compartments.CompartmentID{c.ID}}
		switch t {
		case compartments.TierArchived:
		case compartments.TierRaw:
			item.Tokens = keptRawTokens
		case compartments.TierIndex, compartments.TierNone:
			most := sel.GroupSize
			item.Tokens = t.Ceiling() + spanTokens(&candidates[i])
			if t == compartments.TierNone {
				most = end
				item.Tokens = awayTokens + candidates[i].pinTokens()
			}
			item.Pins = candidates[i].pinIDs(nil)
			item.Bare = candidates[i].bareIn(nil)
			for len(item.Compartments) < most && i+1 < end && sel.Tiers[i+1] == t {
				i++
				item.Compartments = append(item.Compartments, candidates[i].Compartment.ID)
				item.Pins = candidates[i].pinIDs(item.Pins)
				item.Bare = candidates[i].bareIn(item.Bare)
				if t == compartments.TierIndex {
					item.Tokens += spanTokens(&candidates[i])
				} else {
					item.Tokens += candidates[i].pinTokens()
				}
			}
		default:
			item.Tokens = c.Tokens(t) + headingTokens + candidates[i].pinTokens()
			item.Pins = candidates[i].pinIDs(nil)
		}
		items = append(items, item)
		tokens += item.Tokens
	}
	return items, tokens
}

package decay

import "ctxplugin/compartments"

// Layout turns a selection into the items of one pair, in list order: adjacent
// index candidates become index lines, adjacent ones without room one line too.
// What stays raw behind all others is left out; raw ones before it, and archived
// ones, are named, so that items tile what the pair stands for. It returns the
// items and their tokens, the opening of the pair not counted.
func Layout(candidates []Candidate, sel Selection) (items []compartments.Item, tokens int) {
	sel.entries(candidates, func(from, to, takes int) {
		item := compartments.Item{Tier: sel.Tiers[from], Tokens: takes}
		for i := from; i < to; i++ {
			item.Compartments = append(item.Compartments, candidates[i].Compartment.ID)
			if item.Tier != compartments.TierRaw && item.Tier != compartments.TierArchived {
				item.Pins = candidates[i].pinIDs(item.Pins)
			}
			if item.Tier == compartments.TierIndex {
				item.Bare = candidates[i].bareIn(item.Bare)
			}
			if candidates[i].below(item.Tier, sel.floor) {
				item.Eased = append(item.Eased, candidates[i].Compartment.ID)
			}
		}
		items = append(items, item)
		tokens += takes
	})
	return items, tokens
}

// entries calls visit for each entry of the record, in list order, with the
// candidates [from, to) that it stands for and the tokens that it takes.
func (s *Selection) entries(candidates []Candidate, visit func(from, to, takes int)) {
	end := len(candidates)
	for end > 0 && s.Tiers[end-1] == compartments.TierRaw {
		end--
	}
	for from, to := 0, 0; from < end; from = to {
		t := s.Tiers[from]
		most, takes := 1, 0
		var each func(c *Candidate) int
		switch t {
		case compartments.TierArchived:
		case compartments.TierRaw:
			takes = keptRawTokens
		case compartments.TierIndex:
			most, takes, each = s.GroupSize, t.Ceiling(), spanTokens
		case compartments.TierNone:
			most, takes, each = end, awayTokens, (*Candidate).pinTokens
		default:
			takes, each = candidates[from].Compartment.Tokens(t)+headingTokens, (*Candidate).pinTokens
		}
		for to = from; to < end && to-from < most && s.Tiers[to] == t; to++ {
			if each != nil {
				takes += each(&candidates[to])
			}
		}
		visit(from, to, takes)
	}
}

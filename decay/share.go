package decay

import (
	"slices"

	"ctxplugin/compartments"
)

// spanShare is the part of the history budget, as a divisor, that exact spans of
// the historian may take in index lines: pins have no such bound.
const spanShare = 3

// withinShare selects and lays out until the exact spans below index lines take no
// more than their share of the budget. Those of the least important compartments
// are left out first, among equals the oldest; search still finds them.
func (o *Option) withinShare(budget, target int, s Settings) (raw int) {
	for i := range o.Candidates {
		o.Candidates[i].Bare = false
	}
	share := max(0, budget-o.Kept-o.Held) / spanShare
	for {
		raw = o.choose(budget, target, s)
		if !o.bare(share) {
			return raw
		}
	}
}

// bare leaves out what is over the share, and reports whether there was any.
func (o *Option) bare(share int) bool {
	var with []int
	for i, t := range o.Selection.Tiers {
		if c := &o.Candidates[i]; t == compartments.TierIndex && !c.Bare && len(c.Compartment.Spans) > 0 {
			with = append(with, i)
		}
	}
	slices.SortFunc(with, func(a, b int) int {
		if d := o.Candidates[b].Compartment.Importance - o.Candidates[a].Compartment.Importance; d != 0 {
			return d
		}
		return b - a
	})
	over := false
	for _, i := range with {
		share -= o.Candidates[i].exactTokens()
		if share < 0 {
			o.Candidates[i].Bare, over = true, true
		}
	}
	return over
}

// exactTokens is what the historian's exact spans of a candidate take below an
// index line.
func (c *Candidate) exactTokens() int {
	if c.Bare {
		return 0
	}
	n := 0
	for _, span := range c.Compartment.Spans {
		n += span.Tokens + headingTokens
	}
	return n
}

// bareIn adds the candidate to the compartments whose exact spans an index line
// leaves out.
func (c *Candidate) bareIn(bare []compartments.CompartmentID) []compartments.CompartmentID {
	if c.Bare && len(c.Compartment.Spans) > 0 {
		return append(bare, c.Compartment.ID)
	}
	return bare
}

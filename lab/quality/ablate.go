package quality

import (
	"slices"
	"strings"

	"ctxplugin/compartments"
	"ctxplugin/lab/fixtures"
)

// againstNone marks what runs without a dimension are held against.
const againstNone = "none"

// floorShare is the floor that is tried on each dimension, permille.
const floorShare = 500

// ablate takes one dimension at a time out of every tier, lets decay choose again
// under the same budget, and asks all probes; and it tries a floor on each, against
// the choice without it that may take as many tokens.
func (r *runner) ablate(h *history, c Condition, cs []compartments.Compartment) {
	share, policy := r.o.middle(), r.policy
	if c.Name == oracle {
		cs, policy = h.weighed(slices.Clone(cs)), trusting // floors ask what is held
	}
	if c.Name == oracle { // which has all of it in much less
		share = slices.Min(r.o.Shares)
	}
	for _, at := range h.moments() {
		rec := ShownRecord{Condition: c, Form: FormTiers, Against: againstNone, Share: share, Budget: h.budget(at, share), Upto: at}
		r.show(h, rec, h.tiered(before(cs, at), rec.Budget, policy, r.count))
	}
	for d := range fixtures.Dimensions {
		without := h.without(d, cs, r.count)
		held := policy
		held.Floors[d.Survival()] = floorShare
		for _, at := range h.moments() {
			rec := ShownRecord{Condition: c, Form: FormTiers, Share: share, Budget: h.budget(at, share), Upto: at}
			rec.Removed = d.String()
			r.show(h, rec, h.tiered(before(without, at), rec.Budget, policy, r.count))
			// A floor may not hold the budget, so it is set against the same tokens.
			rec.Removed, rec.Floor = "", d.String()
			floored := h.tiered(before(cs, at), rec.Budget, held, r.count)
			r.show(h, rec, floored)
			rec.Floor, rec.Against, rec.Budget = "", d.String(), max(rec.Budget, floored.tokens)
			r.show(h, rec, h.tiered(before(cs, at), rec.Budget, policy, r.count))
		}
	}
}

// without takes the items of a dimension out of every tier and every exact span.
func (h *history) without(d fixtures.Dimension, cs []compartments.Compartment, count func(string) int) []compartments.Compartment {
	out := slices.Clone(cs)
	for i := range out {
		c := &out[i]
		tiers := map[compartments.Tier]compartments.Rendition{}
		for _, tier := range compartments.Rendered {
			r := c.Tiers[tier]
			changed := false
			for _, it := range h.items[i] {
				if it.Dimension == d {
					text := cut(r.Text, it)
					changed = changed || text != r.Text
					r.Text = text
				}
			}
			if changed {
				r.Tokens = count(r.Text)
			}
			tiers[tier] = r
		}
		for k := len(compartments.Rendered) - 2; k >= 0; k-- { // what is left of a lower tier may be the longer
			low, high := tiers[compartments.Rendered[k+1]], tiers[compartments.Rendered[k]]
			if high.Tokens < low.Tokens {
				tiers[compartments.Rendered[k]] = low
			}
		}
		c.Tiers = tiers
		var spans []compartments.ExactSpan
		for _, s := range c.Spans {
			text := s.Text
			for _, it := range h.items[i] {
				if it.Dimension == d {
					text = cut(text, it)
				}
			}
			if text == s.Text {
				spans = append(spans, s)
			}
		}
		c.Spans = spans
	}
	return out
}

// cut takes an item out of a text: as much of its sentence as stands around each
// place of its subject, and its other exact strings.
func cut(text string, it *fixtures.Item) string {
	text = strings.ReplaceAll(text, it.Text, "")
	subject := it.Exact[0]
	for {
		i := strings.Index(text, subject)
		if i < 0 {
			break
		}
		from, to := i, i+len(subject)
		if at := strings.Index(it.Text, subject); at >= 0 {
			for k := at; k > 0 && from > 0 && text[from-1] == it.Text[k-1]; k-- {
				from--
			}
			for k := at + len(subject); k < len(it.Text) && to < len(text) && text[to] == it.Text[k]; k++ {
				to++
			}
		}
		text = text[:from] + text[to:]
	}
	for _, e := range it.Exact[1:] {
		if strings.ContainsAny(e, "_.-:#") || len(e) > 6 {
			text = strings.ReplaceAll(text, e, "")
		}
	}
	return text
}

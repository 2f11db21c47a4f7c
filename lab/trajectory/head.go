package trajectory

import (
	"slices"

	"ctxplugin/compartments"
	"ctxplugin/decay"
)

// indexGroup is how many compartments one index line stands for.
const indexGroup = 8

// head is the rendered history of a policy: pairs, as ours has them. Pairs in which
// nothing changes are kept, so that the others break no more of a cache than they
// must.
type head struct {
	pairs  []headPair
	lookup decay.Lookup
}

type headPair struct {
	ids   []compartments.CompartmentID
	tiers []compartments.Tier
	text  string // empty if it shows nothing
}

// show puts a choice in the place of what stood before. with says whether pairs may
// be kept.
func (h *head) show(list []*compartments.Compartment, choice []compartments.Tier, with bool) {
	kept, at := 0, 0
	for ; with && kept < len(h.pairs); kept++ {
		p := &h.pairs[kept]
		if at+len(p.ids) > len(list) || !slices.Equal(p.tiers, choice[at:at+len(p.ids)]) || !sameIDs(p.ids, list[at:at+len(p.ids)]) {
			break
		}
		at += len(p.ids)
	}
	h.pairs = h.pairs[:kept]
	var fresh headPair
	for i := at; i < len(list) && choice[i] != compartments.TierRaw; i++ {
		fresh.ids, fresh.tiers = append(fresh.ids, list[i].ID), append(fresh.tiers, choice[i])
	}
	if len(fresh.ids) == 0 {
		return
	}
	if items := itemsOf(fresh.ids, fresh.tiers); len(items) > 0 {
		fresh.text = decay.RenderPair(items, len(h.texts()) == 0, h.lookup, nil)
	}
	h.pairs = append(h.pairs, fresh)
}

func sameIDs(ids []compartments.CompartmentID, list []*compartments.Compartment) bool {
	for i := range ids {
		if ids[i] != list[i].ID {
			return false
		}
	}
	return true
}

func itemsOf(ids []compartments.CompartmentID, tiers []compartments.Tier) []compartments.Item {
	var items []compartments.Item
	for i := 0; i < len(ids); {
		t, to := tiers[i], i+1
		switch t {
		case compartments.TierNone, compartments.TierArchived, compartments.TierRaw:
			i++
			continue
		case compartments.TierIndex:
			for to < len(ids) && to-i < indexGroup && tiers[to] == t {
				to++
			}
		}
		items = append(items, compartments.Item{Tier: t, Compartments: ids[i:to:to]})
		i = to
	}
	return items
}

func (h *head) texts() []string {
	var out []string
	for i := range h.pairs {
		if h.pairs[i].text != "" {
			out = append(out, h.pairs[i].text)
		}
	}
	return out
}

func (h *head) tiers() map[compartments.CompartmentID]compartments.Tier {
	out := map[compartments.CompartmentID]compartments.Tier{}
	for i := range h.pairs {
		for k, id := range h.pairs[i].ids {
			out[id] = h.pairs[i].tiers[k]
		}
	}
	return out
}

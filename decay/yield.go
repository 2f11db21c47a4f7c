package decay

import (
	"cmp"
	"slices"

	"ctxplugin/compartments"
)

// Room is what may be held whatever it is worth, in tokens.
type Room struct {
	Held   int // by pins, by the classes of compartments, and by floors
	Floors int // of that, by floors
}

// floorShare is the part of the history budget, permille, that floors may hold. The
// rest is for what they do not hold: with nothing left the record would show the
// newest work, and of all before it index lines alone.
const floorShare = 500

// FloorRoom is what floors may hold of a history budget, in tokens.
func FloorRoom(budget int) int { return share(budget, floorShare) }

// floor is what the policy demands of every tier of a candidate.
func (c *Candidate) floor(s *Settings) compartments.Survival {
	if c.Eased {
		return compartments.Survival{}
	}
	return s.Floor()
}

// Legal lists the tiers that policy allows a candidate, from most to least.
func (c *Candidate) Legal(s Settings) []compartments.Tier {
	return c.Compartment.LegalUnder(c.floor(&s))
}

// Range is the highest and the lowest tier that policy allows a candidate, index lines
// and the archive among them.
func (c *Candidate) Range(s Settings) (highest, lowest compartments.Tier) {
	legal := c.Legal(s)
	highest, lowest = legal[0], legal[len(legal)-1]
	switch comp := c.Compartment; {
	case comp.Retention == compartments.Discardable && len(legal) > 1 && len(c.Pins) == 0:
		lowest = compartments.TierArchived
	case comp.MayIndexUnder(c.floor(&s)):
		lowest = compartments.TierIndex
	}
	return highest, lowest
}

// Allows reports whether policy lets a fold show a candidate at a tier.
func (c *Candidate) Allows(t compartments.Tier, s Settings) bool {
	return c.Compartment.Allows(t, c.floor(&s))
}

// Unfading reports whether policy leaves a candidate nothing but its messages.
func (c *Candidate) Unfading(s Settings) bool { return len(c.Legal(s)) == 1 }

// below reports whether a candidate at a tier is below floors that were eased for
// it.
func (c *Candidate) below(t compartments.Tier, floor compartments.Survival) bool {
	return c.Eased && !c.Compartment.Allows(t, floor)
}

// least is the least that policy lets a candidate take, in tokens, its pins
// apart. It is 0 for one that may go into an index line or out of the window,
// whose share of a line any budget holds. Floors that no tier keeps hold what is
// discardable too.
func (c *Candidate) least(s *Settings) int { return c.leastUnder(c.floor(s)) }

func (c *Candidate) leastUnder(floor compartments.Survival) int {
	if c.Compartment.MayIndexUnder(floor) {
		return 0
	}
	legal := c.Compartment.LegalUnder(floor)
	if c.Compartment.Retention == compartments.Discardable && len(legal) > 1 {
		return 0
	}
	return c.Compartment.Tokens(legal[len(legal)-1])
}

// Yield makes what may not fade fit into its room: of pinned words the newest stay,
// then of compartments that may not fade the newest. The others are put Away, and
// their words are no longer among Pins; it returns the pins that have no room,
// oldest first. Floors come last: where they do not all fit they are Eased for the
// oldest compartments. The room of an index line is not looked at.
func Yield(candidates []Candidate, room Room, s Settings) (rest []compartments.PinID) {
	type place struct{ candidate, pin int }
	var pins []place
	for i := range candidates {
		for j := range candidates[i].Pins {
			pins = append(pins, place{i, j})
		}
	}
	id := func(p place) compartments.PinID { return candidates[p.candidate].Pins[p.pin].ID }
	slices.SortFunc(pins, func(a, b place) int { return cmp.Compare(id(b), id(a)) })
	out := map[compartments.PinID]bool{}
	full := false
	for _, p := range pins {
		tokens := candidates[p.candidate].Pins[p.pin].Tokens
		if full = full || tokens > room.Held; full {
			out[id(p)] = true
			rest = append(rest, id(p))
			continue
		}
		room.Held -= tokens
	}
	slices.Sort(rest)
	for i := len(candidates) - 1; i >= 0; i-- {
		c := &candidates[i]
		if len(out) > 0 {
			c.Pins = slices.DeleteFunc(slices.Clone(c.Pins), func(s Shown) bool { return out[s.ID] })
		}
		if n := c.leastUnder(compartments.Survival{}); n > 0 && !c.Away {
			if full = full || n > room.Held; full {
				c.Away = true
			} else {
				room.Held -= n
			}
		}
	}
	if full {
		room.Held = 0 // floors give way before what a person pinned
	}
	ease(candidates, min(room.Held, room.Floors), s.Floor())
	return rest
}

// ease lets floors go where they do not fit into a room, in tokens: first those that
// no tier keeps, which hold a compartment's messages, then of the others those of the
// oldest.
func ease(candidates []Candidate, room int, floor compartments.Survival) {
	if floor == (compartments.Survival{}) {
		return
	}
	for _, messages := range [...]bool{false, true} {
		full := false
		for i := len(candidates) - 1; i >= 0; i-- {
			c := &candidates[i]
			if c.Away || c.Eased || (len(c.Compartment.LegalUnder(floor)) == 1) != messages {
				continue
			}
			n := c.leastUnder(floor) - c.leastUnder(compartments.Survival{})
			if n <= 0 {
				continue
			}
			if full = full || n > room; full {
				c.Eased = true
			} else {
				room -= n
			}
		}
	}
}

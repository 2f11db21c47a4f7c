package decay

import "ctxplugin/compartments"

// FloorMost is the highest floor, in permille. Above it hardly any rendered tier
// is legal, for no measure of one reaches all of its source, and a session of
// raw messages alone is what a window does not hold.
const FloorMost = 950

// floors is the policy table: the least of each dimension that a tier must keep,
// permille, and why. Changing a line is a new Policy. Exact spans stand at every
// tier whatever the floors are, and so do pins.
var floors = [compartments.Dimensions]struct {
	least int
	why   string
}{
	compartments.Constraints:  {0, "orders of the user are exact spans already; a floor would only hold tiers that repeat them"},
	compartments.Identifiers:  {0, "search finds every identifier, and an anchor that kept them all would be no anchor"},
	compartments.DecisionsWhy: {0, "their worth orders the demotions; the reason is one call away"},
	compartments.Rejected:     {0, "most compartments reject nothing, and those that do are demoted late by their worth"},
	compartments.Failures:     {0, "a failure that passed later is noise, and one that did not is open work"},
	compartments.OpenWork:     {0, "what was open in an old compartment is mostly done in a newer one"},
	compartments.Uncertainty:  {0, "doubts are settled by what follows"},
	compartments.Provenance:   {0, "every tier names its range, and the call that opens it"},
	compartments.Location:     {0, "names of files stand in index lines as far as there is room"},
	compartments.Narrative:    {0, "it is what is meant to fade"},
}

func defaultFloors() (out [compartments.Dimensions]int) {
	for d, line := range floors {
		out[d] = line.least
	}
	return out
}

// FloorWhy is the reason for the default floor of a dimension.
func FloorWhy(d compartments.Dimension) string { return floors[d].why }

// Floor is what the policy demands of every rendered tier.
func (s *Settings) Floor() (least compartments.Survival) {
	for d, permille := range s.Floors {
		least[d] = uint16(min(max(permille, 0), 1000))
	}
	return least
}

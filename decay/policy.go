package decay

import (
	"fmt"
	"strings"

	"ctxplugin/compartments"
)

// FloorMost is the highest floor, in permille. Above it hardly any rendered tier
// is legal, for no measure of one reaches all of its source, and a session of
// raw messages alone is what a window does not hold.
const FloorMost = 950

// floors is the policy table: the least of each dimension that a tier must keep,
// permille, and why. Changing a line is a new Policy. Exact spans stand at every
// tier whatever the floors are, and so do pins.
var floors = [compartments.Dimensions]struct {
	key   string // what it is set by
	least int
	why   string
}{
	compartments.Constraints:  {"floorConstraints", 0, "orders of the user are exact spans already; a floor would only hold tiers that repeat them"},
	compartments.Identifiers:  {"floorIdentifiers", 0, "search finds every identifier, and an anchor that kept them all would be no anchor"},
	compartments.DecisionsWhy: {"floorDecisions", 0, "their worth orders the demotions; the reason is one call away"},
	compartments.Rejected:     {"floorRejected", 0, "most compartments reject nothing, and those that do are demoted late by their worth"},
	compartments.Failures:     {"floorFailures", 0, "a failure that passed later is noise, and one that did not is open work"},
	compartments.OpenWork:     {"floorOpenWork", 0, "what was open in an old compartment is mostly done in a newer one"},
	compartments.Uncertainty:  {"floorUncertainty", 0, "doubts are settled by what follows"},
	compartments.Provenance:   {"floorProvenance", 0, "every tier names its range, and the call that opens it"},
	compartments.Location:     {"floorLocation", 0, "names of files stand in index lines as far as there is room"},
	compartments.Narrative:    {"floorNarrative", 0, "it is what is meant to fade"},
}

func defaultFloors() (out [compartments.Dimensions]int) {
	for d, line := range floors {
		out[d] = line.least
	}
	return out
}

// FloorKey is the name of the setting of the floor of a dimension.
func FloorKey(d compartments.Dimension) string { return floors[d].key }

// FloorWhy is the reason for the default floor of a dimension.
func FloorWhy(d compartments.Dimension) string { return floors[d].why }

// Floor is what the policy demands of every rendered tier.
func (s *Settings) Floor() (least compartments.Survival) {
	for d, permille := range s.Floors {
		least[d] = uint16(min(max(permille, 0), 1000))
	}
	return least
}

// FloorsByName are the floors that are set, permille, by the names of their settings;
// nil for none.
func FloorsByName(least compartments.Survival) map[string]int {
	var out map[string]int
	for d, permille := range least {
		if permille > 0 {
			if out == nil {
				out = map[string]int{}
			}
			out[floors[d].key] = int(permille)
		}
	}
	return out
}

// FloorNames says which floors are set, such as "floorRejected 60 %"; empty for none.
func FloorNames(least compartments.Survival) string {
	var names []string
	for d, permille := range least {
		if permille > 0 {
			names = append(names, fmt.Sprintf("%s %d %%", floors[d].key, permille/10))
		}
	}
	return strings.Join(names, ", ")
}

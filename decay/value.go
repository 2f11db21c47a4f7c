package decay

import "ctxplugin/compartments"

// weights say what one dimension is worth, out of 100. Constraints and open work
// weigh most, for a successor who breaks one or repeats the other does harm;
// narrative fades first.
var weights = [compartments.Dimensions]int64{
	compartments.Constraints:  20,
	compartments.Identifiers:  15,
	compartments.DecisionsWhy: 12,
	compartments.Rejected:     12,
	compartments.Failures:     8,
	compartments.OpenWork:     14,
	compartments.Uncertainty:  4,
	compartments.Provenance:   3,
	compartments.Location:     6,
	compartments.Narrative:    6,
}

// typical is what a tier holds as a rule of what is needed again, permille. What is
// measured of one compartment is drawn to it: the measure knows only what the historian
// recognised, and choosing by it alone picks where it errs. With the mean of what is
// measured (99, 87, 60 and 27 in 100) the two give 99, 88, 72 and 29, which is about what
// generated and recorded sessions hold on average: of planted items 99, 96, 82 and 38 in
// 100 on the bank that is tuned on, and of names that come again in recorded sessions
// 100, 78, 55 and 24 of those that full has. docs/lab.md has how it was chosen.
var typical = [...]int64{compartments.TierFull: 990, compartments.TierDense: 880, compartments.TierCompact: 780, compartments.TierAnchor: 300}

// trust is the weight of what is measured against what is typical, permille.
const trust = 350

// survivalOf is what is expected of a rendered tier, permille: its weighted survival,
// drawn to what is typical. It stays below that of the messages themselves, for no
// measure sees everything. A dimension in which every tier is whole does not fade and is
// left out: the compartment has nothing of it.
func survivalOf(kept *compartments.Survival, t compartments.Tier, fading *[compartments.Dimensions]bool, trust int64) int64 {
	n, all := int64(0), int64(0)
	for d, w := range weights {
		if fading[d] {
			n += w * int64(kept[d])
			all += w
		}
	}
	measured := int64(1000)
	if all > 0 {
		measured = n / all
	}
	expected := (trust*measured + (1000-trust)*typical[t]) / 1000
	return expected * renderedMost / 1000
}

const renderedMost = 950

// indexSurvival is what an index line keeps of one compartment, permille: its
// place, and a name or two.
const indexSurvival = 60

// discountSteps is 2^(-i/16) in 16.16 fixed point.
var discountSteps = [16]int64{65536, 62757, 60097, 57549, 55109, 52773, 50535, 48393, 46341, 44376, 42495, 40693, 38968, 37316, 35734, 34219}

// discountFloor keeps very old compartments apart by their importance, where
// the curve alone would make all of them nothing.
const discountFloor = 65536 >> 6

// discount is 2^(-age/halfLife) in 16.16 fixed point, not below discountFloor.
// Age counts newer compartments, never time.
func discount(age, halfLife int) int64 {
	sixteenths := int64(age) * 16 / int64(max(1, halfLife))
	whole := sixteenths / 16
	if whole >= 6 {
		return discountFloor
	}
	return max(discountFloor, discountSteps[sixteenths%16]>>whole)
}

// value is survival (permille) x importance (1..100) x relevance (permille) x
// discount, scaled so that it stays below 2^34: a product with a token count
// of 2^29 still fits.
func value(survival int64, importance, relevance int, discount int64) int64 {
	return survival * int64(importance) * int64(relevance) / 1000 * discount >> 8
}

// turnsAway is from how many turns behind a compartment is worth nothing extra.
const turnsAway = 3

// Relevance is what a compartment is worth for the work at hand, permille, by
// how many turns began after it: the running turn counts four times, the two
// before it twice. Without it a short running turn loses to long finished ones.
func Relevance(turnsBehind int) int {
	switch {
	case turnsBehind <= 0:
		return 4000
	case turnsBehind < turnsAway:
		return 2000
	}
	return 1000
}

// RecallTurns is how many turns, the running one among them, may recall a
// compartment.
const RecallTurns = 4

// recalled is the relevance of a compartment by how many turns ago it was opened or
// named again, permille.
var recalled = [RecallTurns]int{4000, 2000, 1500, 1250}

// Recalled is the relevance of a compartment that was last opened or named again so
// many turns ago, permille; 0 is the running turn.
func (s Settings) Recalled(turnsAgo int) int {
	if turnsAgo < 0 || turnsAgo >= RecallTurns || s.Ablate.without(AblateRelevance) {
		return Relevance(turnsAway)
	}
	return recalled[turnsAgo]
}

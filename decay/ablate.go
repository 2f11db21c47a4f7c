package decay

import (
	"fmt"
	"strings"
)

// Ablation is a set of mechanisms that are replaced by their simplest
// substitutes, to measure what each is worth. It is for experiments and is not
// among the user's settings.
type Ablation uint16

// The mechanisms, with what takes the place of each.
const (
	AblateTiers      Ablation = 1 << iota // every tier is the head of the source, under the same ceilings
	AblateHull                            // every legal tier is a stop; none is merged away
	AblateHysteresis                      // a demotion stops at the budget itself
	AblateEconomics                       // a fold whenever the session has grown by AblatedSpacing
	AblateDivergence                      // every fold renders the whole head
	AblateRelevance                       // of what a compartment has to do with the work at hand, its age alone counts
	AblateStubs                           // no stub at a fold; only those without which a request would not fit
	AblateSuperseded                      // stubs by size alone
)

// AblatedSpacing is the growth between two folds that stands in for the fold
// economics, in tokens.
const AblatedSpacing = 10_000

// ablations are the names of the mechanisms, in the order of their bits.
var ablations = [...]string{"tiers", "hull", "hysteresis", "economics", "divergence", "relevance", "stubs", "superseded"}

// AblationNames lists what can be replaced.
func AblationNames() []string { return append([]string(nil), ablations[:]...) }

// ParseAblation reads names with commas between them; empty is none.
func ParseAblation(list string) (Ablation, error) {
	var out Ablation
	if list == "" {
		return 0, nil
	}
next:
	for name := range strings.SplitSeq(list, ",") {
		for i, known := range ablations {
			if name == known {
				out |= 1 << i
				continue next
			}
		}
		return 0, fmt.Errorf("%q is no mechanism; there are %s", name, strings.Join(ablations[:], ", "))
	}
	return out, nil
}

// String lists the names with commas between them.
func (a Ablation) String() string {
	var names []string
	for i, name := range ablations {
		if a&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}

// without reports whether a mechanism is replaced.
func (a Ablation) without(mechanism Ablation) bool { return a&mechanism != 0 }

// Superseded is Superseded, under the settings.
func (s Settings) Superseded(calls []Call) []int {
	by := Superseded(calls)
	if s.Ablate.without(AblateSuperseded) {
		for i := range by {
			by[i] = -1
		}
	}
	return by
}

// Relevance is Relevance, under the settings.
func (s Settings) Relevance(turnsBehind int) int {
	if s.Ablate.without(AblateRelevance) {
		turnsBehind = turnsAway
	}
	return Relevance(turnsBehind)
}

// Heads reports whether the head of the source stands in for the tiers.
func (s Settings) Heads() bool { return s.Ablate.without(AblateTiers) }

// Ablated are the settings without mechanisms.
func (s Settings) Ablated(a Ablation) Settings {
	s.Ablate = a
	if a.without(AblateHysteresis) {
		s.DemoteTo = 1000
	}
	return s
}

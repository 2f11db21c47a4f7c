package compartments

import "fmt"

// Tier is one representation of a compartment. A higher tier number shows less.
// The zero value is no tier.
type Tier uint8

// The tiers. TierIndex is not made for one compartment: it says that the
// compartment is part of an index line, which stands for several. TierArchived
// says that it has left the window.
const (
	TierNone Tier = iota
	TierRaw
	TierFull
	TierDense
	TierCompact
	TierAnchor
	TierIndex
	TierArchived
)

// Rendered lists the tiers that a historian writes, from most to least.
var Rendered = [...]Tier{TierFull, TierDense, TierCompact, TierAnchor}

var tierNames = [...]string{"none", "raw", "full", "dense", "compact", "anchor", "index", "archived"}

func (t Tier) String() string {
	if int(t) < len(tierNames) {
		return tierNames[t]
	}
	return fmt.Sprintf("tier(%d)", uint8(t))
}

// ParseTier reads a tier's name.
func ParseTier(name string) (Tier, error) {
	for i, n := range tierNames {
		if n == name && i > 0 {
			return Tier(i), nil
		}
	}
	return TierNone, fmt.Errorf("no tier is called %q", name)
}

// Ceiling is the most tokens a tier of one compartment may take, its exact spans
// apart; 0 means no ceiling. Full is bounded by a quarter of the raw tokens too.
func (t Tier) Ceiling() int {
	switch t {
	case TierFull:
		return 1000
	case TierDense:
		return 400
	case TierCompact:
		return 140
	case TierAnchor:
		return 44
	case TierIndex:
		return 60
	}
	return 0
}

// Retention says which tiers are legal at all.
type Retention uint8

// The retention classes.
const (
	Compressible Retention = iota // raw to anchor, then index lines
	Pinned                        // raw only
	Discardable                   // may be archived
)

func (r Retention) String() string {
	switch r {
	case Pinned:
		return "pin"
	case Discardable:
		return "discardable"
	}
	return "compressible"
}

// ParseRetention reads a class's name.
func ParseRetention(name string) (Retention, error) {
	for _, r := range [...]Retention{Compressible, Pinned, Discardable} {
		if r.String() == name {
			return r, nil
		}
	}
	return Compressible, fmt.Errorf("no retention class is called %q; there are pin, compressible, discardable", name)
}

// Dimension is one thing that a representation may keep or lose.
type Dimension uint8

// The survival dimensions.
const (
	Constraints Dimension = iota
	Identifiers
	DecisionsWhy // decisions with their reasons
	Rejected     // rejected alternatives with their cause
	Failures
	OpenWork
	Uncertainty
	Provenance
	Location
	Narrative
	Dimensions // how many there are
)

var dimensionNames = [Dimensions]string{"constraints", "identifiers", "decisions", "rejected", "failures",
	"open", "uncertainty", "provenance", "location", "narrative"}

func (d Dimension) String() string {
	if d < Dimensions {
		return dimensionNames[d]
	}
	return fmt.Sprintf("dimension(%d)", uint8(d))
}

// Survival is the measured share of the source's items that a representation
// still contains, by dimension, in permille. A dimension of which the source
// has nothing is 1000.
type Survival [Dimensions]uint16

// Floor is the least that policy allows a compartment to fade to. The zero value
// allows everything that its retention class allows.
type Floor struct {
	Tier     Tier     // the lowest legal tier; TierNone for none
	Survival Survival // the least survival in each dimension, permille
}

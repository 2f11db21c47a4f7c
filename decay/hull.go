package decay

import "ctxplugin/compartments"

// point is one legal representation of a compartment.
type point struct {
	tier   compartments.Tier
	tokens int64 // in 1/tokenUnit: an index line is shared by many
	value  int64
}

// tokenUnit is the fraction of a token in which points are measured.
const tokenUnit = 64

// loss is value lost per token saved, in fixed point. Rounding keeps the order
// of losses, so nothing depends on what it drops.
type loss uint64

// stops are the points at which demotions of a candidate may stop, most tokens
// first: what lies below its tiers is the lowest rung of the same hull, so that an
// anchor is a stop only where it is worth its tokens. below has TierNone for nothing.
func (s *Settings) stops(points []point, below point) []point {
	if below.tier != compartments.TierNone {
		points = append(points, below)
	}
	if !s.Ablate.without(AblateHull) {
		return hull(points)
	}
	out := points[:0]
	for _, p := range points {
		if n := len(out); n == 0 || p.tokens < out[n-1].tokens {
			out = append(out, p)
		}
	}
	return out
}

// rate is the loss of going down from a to b, which has fewer tokens.
func rate(a, b point) loss {
	return loss(max(0, a.value-b.value)<<20) / loss(a.tokens-b.tokens)
}

// hull keeps of points (most tokens first) the upper concave hull of (tokens,
// value): tiers that cost more for less, or whose loss per token is dearer than
// that of the next step down, are merged away. It works in place.
func hull(points []point) []point {
	out := points[:0]
	for _, p := range points {
		for n := len(out); n > 0; n = len(out) {
			last := out[n-1]
			if p.value < last.value || p.value == last.value && p.tokens == last.tokens || p.tokens > last.tokens {
				break
			}
			out = out[:n-1] // p is worth as much for no more
		}
		if n := len(out); n > 0 && p.tokens >= out[n-1].tokens {
			continue
		}
		// a step that is dearer than the one after it is never a place to stop
		for n := len(out); n > 1 && rate(out[n-1], p) < rate(out[n-2], out[n-1]); n = len(out) {
			out = out[:n-1]
		}
		out = append(out, p)
	}
	return out
}

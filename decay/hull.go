package decay

import "ctxplugin/compartments"

// point is one legal representation of a compartment.
type point struct {
	tier   compartments.Tier
	tokens int
	value  int64
}

// hull keeps of points (most tokens first) the upper concave hull of (tokens,
// value): tiers that cost more for less, or whose loss per token is dearer than
// that of the next step down, are merged away. It works in place.
func hull(points []point) []point {
	out := points[:0]
	for _, p := range points {
		// p saves tokens against the last kept one; if it does not, or keeps as
		// much value, one of the two is pointless
		for len(out) > 0 {
			last := out[len(out)-1]
			if p.tokens >= last.tokens {
				break
			}
			if p.value >= last.value {
				out = out[:len(out)-1]
				continue
			}
			if len(out) == 1 {
				break
			}
			before := out[len(out)-2]
			// a step that is dearer than the one after it is never a place to stop
			if !rate(last, p).less(rate(before, last)) {
				break
			}
			out = out[:len(out)-1]
		}
		if len(out) > 0 && p.tokens >= out[len(out)-1].tokens {
			continue
		}
		out = append(out, p)
	}
	return out
}

// loss is value lost per token saved, as a fraction.
type loss struct {
	value  int64
	tokens int64
}

// rate is the loss of going down from a to b, which has fewer tokens.
func rate(a, b point) loss {
	return loss{value: max(0, a.value-b.value), tokens: int64(a.tokens - b.tokens)}
}

// less orders losses; both must have tokens > 0.
func (l loss) less(m loss) bool { return l.value*m.tokens < m.value*l.tokens }

// times scales the value lost.
func (l loss) times(n int) loss { return loss{l.value * int64(n), l.tokens} }

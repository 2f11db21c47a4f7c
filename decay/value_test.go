package decay

import (
	"testing"

	"ctxplugin/compartments"
)

// of is a compartment whose tiers keep the given shares of the open work, permille, and
// of which nothing else fades.
func of(shares [4]uint16) *compartments.Compartment {
	c := usual(0)
	for i, t := range compartments.Rendered {
		r := c.Tiers[t]
		for d := range r.Survival {
			r.Survival[d] = 1000
		}
		r.Survival[compartments.OpenWork] = shares[i]
		c.Tiers[t] = r
	}
	return c
}

// TestSurvival: what a compartment has nothing of does not make its low tiers look
// good, and what is measured counts for a third.
func TestSurvival(t *testing.T) {
	for _, c := range []struct {
		name   string
		shares [4]uint16
		trust  int64
		want   [4]int64 // before renderedMost
	}{
		{"drawn to it", [4]uint16{1000, 900, 600, 0}, trust, [4]int64{993, 887, 717, 195}},
		{"nothing fades", [4]uint16{1000, 1000, 1000, 1000}, trust, [4]int64{993, 922, 857, 545}},
		{"as measured", [4]uint16{1000, 900, 600, 0}, 1000, [4]int64{1000, 900, 600, 0}},
		{"as is typical", [4]uint16{1000, 900, 600, 0}, 0, [4]int64{990, 880, 780, 300}},
	} {
		comp := of(c.shares)
		got := rungsOf(&Candidate{Compartment: comp}, &Settings{Trust: c.trust})
		for i, r := range got.all()[1:] { // the first is raw
			if int64(r.survival) != c.want[i]*renderedMost/1000 {
				t.Errorf("%s: %s is %d, want %d", c.name, r.tier, r.survival, c.want[i]*renderedMost/1000)
			}
		}
	}
}

// TestSelect_AnAnchorIsAStopOnlyIfItIsWorthIt: what lies below the tiers is a rung of
// the hull, so that an anchor that keeps next to nothing is passed over.
func TestSelect_AnAnchorIsAStopOnlyIfItIsWorthIt(t *testing.T) {
	at := func(anchor uint16) (n int) {
		in := candidates(60, compartments.TierFull)
		for i := range in {
			in[i].Compartment = of([4]uint16{1000, 900, 700, anchor})
			in[i].Compartment.ID = compartments.CompartmentID(i)
		}
		for target := 500; target < 20_000; target += 500 {
			for _, tier := range Select(in, target, Defaults()).Tiers {
				if tier == compartments.TierAnchor {
					n++
				}
			}
		}
		return n
	}
	if worthless, worthy := at(0), at(600); worthless > 0 || worthy == 0 {
		t.Errorf("anchors that keep nothing are shown %d times, those that keep most %d times", worthless, worthy)
	}
}

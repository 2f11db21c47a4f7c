package trajectory

import (
	"math"

	"ctxplugin/compartments"
)

// byAge is a policy that gives each compartment a tier by its age, how many are
// newer, held against edges that stretch as far as the budget lets them.
type byAge struct {
	name  string
	edges [4]float64 // ages, in half-lives, at which full, dense, compact and anchor end
	// life is the half-life of a compartment at a pressure of 1, in compartments.
	life func(c *compartments.Compartment) float64
}

func (a *byAge) Name() string { return a.name }

// ageOnly doubles the span from each tier to the next.
func ageOnly() *byAge {
	return &byAge{name: AgeOnly, edges: [4]float64{1, 3, 7, 15}, life: func(*compartments.Compartment) float64 { return 1 }}
}

// halfLifeCurve is that of the best-known tiered plugin, by its published formula:
// a half-life of 24·2^((importance−50)/25)/pressure compartments.
func halfLifeCurve() *byAge {
	return &byAge{name: HalfLifeCurve, edges: [4]float64{0.201, 0.729, 1.322, 2.587},
		life: func(c *compartments.Compartment) float64 { return 24 * math.Exp2(float64(c.Importance-50)/25) }}
}

// pressureSteps is how finely the pressure is found: eighths of a power of two.
const pressureSteps = 8

// Choose takes the least pressure at which the entries have room.
func (a *byAge) Choose(m *Moment) []compartments.Tier {
	var out []compartments.Tier
	for step := -14 * pressureSteps; step <= 14*pressureSteps; step++ {
		out = a.at(m, math.Exp2(float64(step)/pressureSteps))
		if m.total(out) <= m.Room {
			return out
		}
	}
	return make([]compartments.Tier, len(m.Compartments))
}

func (a *byAge) at(m *Moment, pressure float64) []compartments.Tier {
	out := make([]compartments.Tier, len(m.Compartments))
	for i, c := range m.Compartments {
		lives := float64(len(out)-1-i) * pressure / a.life(c)
		for k, edge := range a.edges {
			if lives < edge {
				out[i] = has(c, compartments.Rendered[k])
				break
			}
		}
	}
	return out
}

package quality

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Estimate is a share in permille with the interval that a bootstrap over seeds
// gives it: 95 of 100 resamplings lie within.
type Estimate struct {
	Share int `json:"share"`
	Low   int `json:"low"`
	High  int `json:"high"`
	Of    int `json:"of"` // how many were asked
}

func (e Estimate) String() string {
	return fmt.Sprintf("%s (%s–%s)", tenths(e.Share), tenths(e.Low), tenths(e.High))
}

// tenths writes permille as percent.
func tenths(n int) string {
	sign := ""
	if n < 0 {
		sign, n = "−", -n
	}
	return fmt.Sprintf("%s%d.%d", sign, n/10, n%10)
}

// Tally is how many of the things that one seed was asked for were found.
type Tally struct{ Found, Asked int }

const resamplings = 1000

// Bootstrap estimates the share of all seeds together.
func Bootstrap(seeds []Tally) Estimate {
	e := Estimate{Share: share(seeds, nil)}
	for _, s := range seeds {
		e.Of += s.Asked
	}
	e.Low, e.High = interval(len(seeds), func(pick []int) int { return share(seeds, pick) })
	return e
}

// Paired estimates by how much the share of a is above that of b. Both have the
// same seeds in the same order.
func Paired(a, b []Tally) Estimate {
	e := Estimate{Share: share(a, nil) - share(b, nil)}
	for _, s := range a {
		e.Of += s.Asked
	}
	e.Low, e.High = interval(min(len(a), len(b)), func(pick []int) int { return share(a, pick) - share(b, pick) })
	return e
}

// share is the share of some of the seeds, permille; of all for nil.
func share(seeds []Tally, pick []int) int {
	found, asked := 0, 0
	if pick == nil {
		for _, s := range seeds {
			found += s.Found
			asked += s.Asked
		}
	}
	for _, i := range pick {
		found += seeds[i].Found
		asked += seeds[i].Asked
	}
	if asked == 0 {
		return 0
	}
	return (2000*found + asked) / (2 * asked)
}

func interval(seeds int, of func(pick []int) int) (low, high int) {
	if seeds == 0 {
		return 0, 0
	}
	r := rand.New(rand.NewPCG(resamplings, uint64(seeds)))
	all := make([]int, resamplings)
	pick := make([]int, seeds)
	for k := range all {
		for i := range pick {
			pick[i] = r.IntN(seeds)
		}
		all[k] = of(pick)
	}
	slices.Sort(all)
	return all[resamplings*25/1000], all[resamplings*975/1000-1]
}

package verdict

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Interval is a mean over seeds with the bounds within which 95 of 100 bootstrap
// samples have theirs.
type Interval struct {
	Mean, Low, High float64
	Seeds           int
}

// samples is how many bootstrap samples are drawn.
const samples = 2000

// Bootstrap is the interval of the mean of one value for each seed.
func Bootstrap(values []float64) Interval {
	if len(values) == 0 {
		return Interval{Mean: math.NaN(), Low: math.NaN(), High: math.NaN()}
	}
	draw := rand.New(rand.NewPCG(0x626f6f74, uint64(len(values))))
	means := make([]float64, samples)
	for i := range means {
		sum := 0.0
		for range values {
			sum += values[draw.IntN(len(values))]
		}
		means[i] = sum / float64(len(values))
	}
	slices.Sort(means)
	return Interval{Mean: mean(values), Low: means[samples*25/1000], High: means[samples*975/1000-1], Seeds: len(values)}
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// String gives the mean and the bounds with one digit.
func (i Interval) String() string {
	if i.Seeds == 0 {
		return "no data"
	}
	return fmt.Sprintf("%+.1f (%+.1f to %+.1f)", i.Mean, i.Low, i.High)
}

// Plain is String for what is no difference.
func (i Interval) Plain() string {
	if i.Seeds == 0 {
		return "no data"
	}
	return fmt.Sprintf("%.1f (%.1f to %.1f)", i.Mean, i.Low, i.High)
}

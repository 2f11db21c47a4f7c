package tokens

import "math"

// Calibration turns the counts of a Counter into those a provider reports for
// one of its models, whose tokenizer is another. It is a small value without
// pointers: copy it, compare it, and store its fields as they are. The zero
// value is a calibration without samples, which changes nothing.
//
// All arithmetic is on integers, so that every machine gets the same result
// from the same samples. Ratios are in RatioUnit-ths, reported by counted: 12500
// says that the provider counts 1.25 tokens for each of ours.
//
// # Formula
//
// A sample (counted, reported) has the ratio
//
//	s = clamp(ceil(reported * 10000 / counted), MinRatio, MaxRatio)
//
// With r the ratio so far, and p that of the sample before, or r if there is
// none:
//
//	min(s, p) > r   r becomes min(s, p)               two samples agree that r is low
//	then s > r      r rises by min(s-r, MaxStep)      one sample says so
//	max(s, p) < r   r falls by ceil((r-max(s, p))/4)  two samples agree that r is high
//
// Too low a ratio overruns the model's window, while one too high only wastes
// some of it. So the ratio leans to the higher of two samples in a row, rises
// at once where they agree, and falls by quarters. A lone sample that is too
// high raises it by MaxStep at most; a lone one that is too low never takes it
// below the sample before.
type Calibration struct {
	// Ratio is the present ratio in RatioUnit-ths, or 0 for none yet, which
	// stands for RatioUnit.
	Ratio int64
	// Previous is the ratio of the latest sample in RatioUnit-ths, or 0.
	Previous int64
	// Samples is how many samples were taken.
	Samples int64
}

const (
	// RatioUnit is the ratio of equal counts: ratios have four decimals.
	RatioUnit = 10_000
	// MinRatio and MaxRatio are the bounds of all ratios: 0.5 and 2.5.
	MinRatio = RatioUnit / 2
	MaxRatio = RatioUnit * 5 / 2
	// MaxStep is how far one sample alone may raise the ratio: 0.05.
	MaxStep = RatioUnit / 20
	// MinSample is the smallest counted that makes a sample, in tokens. Below
	// it the provider's framing of messages weighs more than its tokenizer.
	MinSample = 200
)

// Update returns c with one more sample: the tokens that a Counter counted in a
// request and those the provider then reported for the same. It returns c
// unchanged, and false, if reported is zero or less, which means that the
// provider reported nothing, if counted is under MinSample, or if either is
// beyond a trillion, which no request is.
func (c Calibration) Update(counted, reported int) (Calibration, bool) {
	const beyond = 1_000_000_000_000
	n, m := int64(counted), int64(reported)
	if m <= 0 || n < MinSample || n > beyond || m > beyond {
		return c, false
	}
	sample := clampRatio(ceilDiv(m*RatioUnit, n))
	ratio := c.ratio()
	previous := ratio
	if c.Previous > 0 {
		previous = clampRatio(c.Previous)
	}

	if low := min(sample, previous); low > ratio {
		ratio = low
	}
	if sample > ratio {
		ratio += min(sample-ratio, MaxStep)
	}
	if high := max(sample, previous); high < ratio {
		ratio -= (ratio - high + 3) / 4
	}
	return Calibration{Ratio: ratio, Previous: sample, Samples: c.Samples + 1}, true
}

// Cautious returns c with the highest ratio that its samples give reason to expect:
// that of the latest one, if it is above the ratio so far, and a step more while there
// are less than two that could agree.
func (c Calibration) Cautious() Calibration {
	c.Ratio = max(c.ratio(), c.Previous)
	if c.Samples < 2 {
		c.Ratio = min(c.Ratio+MaxStep, MaxRatio)
	}
	return c
}

// Apply returns the tokens that the provider is expected to report for counted
// tokens, rounded up. It returns 0 for counted below 1, and math.MaxInt where
// the result would be larger.
func (c Calibration) Apply(counted int) int {
	if counted <= 0 {
		return 0
	}
	n, ratio := int64(counted), c.ratio()
	whole, rest := n/RatioUnit, n%RatioUnit
	if whole > (math.MaxInt-MaxRatio)/ratio {
		return math.MaxInt
	}
	return int(whole*ratio + ceilDiv(rest*ratio, RatioUnit))
}

// ratio returns the ratio to use, whatever the store handed back.
func (c Calibration) ratio() int64 {
	if c.Ratio <= 0 {
		return RatioUnit
	}
	return clampRatio(c.Ratio)
}

func clampRatio(r int64) int64 { return min(max(r, MinRatio), MaxRatio) }

// ceilDiv returns a/b rounded up, for a of 0 or more and b above 0.
func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }

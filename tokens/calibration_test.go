package tokens_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"ctxplugin/tokens"
)

func TestCalibrationSamples(t *testing.T) {
	type pair struct{ counted, reported int }
	for _, tc := range []struct {
		name    string
		samples []pair
		want    tokens.Calibration
	}{
		{"none", nil, tokens.Calibration{}},
		{"missing", []pair{{1000, 0}, {1000, -5}}, tokens.Calibration{}},
		{"too small", []pair{{199, 400}, {0, 10}, {-1, 10}}, tokens.Calibration{}},
		{"equal", []pair{{1000, 1000}}, tokens.Calibration{Ratio: 10000, Previous: 10000, Samples: 1}},
		{"one high", []pair{{1000, 1400}}, tokens.Calibration{Ratio: 10500, Previous: 14000, Samples: 1}},
		{"one a little high", []pair{{1000, 1020}}, tokens.Calibration{Ratio: 10200, Previous: 10200, Samples: 1}},
		{"two high", []pair{{1000, 1400}, {1000, 1400}}, tokens.Calibration{Ratio: 14000, Previous: 14000, Samples: 2}},
		{"two unlike", []pair{{1000, 1200}, {1000, 1400}}, tokens.Calibration{Ratio: 12500, Previous: 14000, Samples: 2}},
		{"outlier", []pair{{1000, 1000}, {1000, 2400}, {1000, 1000}}, tokens.Calibration{Ratio: 10500, Previous: 10000, Samples: 3}},
		{"one low", []pair{{1000, 800}}, tokens.Calibration{Ratio: 10000, Previous: 8000, Samples: 1}},
		{"two low", []pair{{1000, 800}, {1000, 800}}, tokens.Calibration{Ratio: 9500, Previous: 8000, Samples: 2}},
		{"clamped up", []pair{{200, 100000}, {200, 100000}}, tokens.Calibration{Ratio: 25000, Previous: 25000, Samples: 2}},
		{"clamped down", []pair{{100000, 1}}, tokens.Calibration{Ratio: 10000, Previous: 5000, Samples: 1}},
		{"rounds up", []pair{{3000, 3001}}, tokens.Calibration{Ratio: 10004, Previous: 10004, Samples: 1}},
	} {
		var c tokens.Calibration
		for _, p := range tc.samples {
			before := c
			next, taken := c.Update(p.counted, p.reported)
			if taken != (next.Samples == before.Samples+1) || !taken && next != before {
				t.Errorf("%s: %+v gave %+v, %v", tc.name, p, next, taken)
			}
			c = next
		}
		if c != tc.want {
			t.Errorf("%s: %+v, want %+v", tc.name, c, tc.want)
		}
	}
}

func TestCalibrationApply(t *testing.T) {
	for _, tc := range []struct {
		ratio         int64
		counted, want int
	}{
		{0, 123, 123},
		{10000, 0, 0},
		{10000, -1, 0},
		{12500, 4, 5},
		{12500, 5, 7},
		{10001, 1, 2},
		{5000, 1, 1},
		{5000, 7, 4},
		// What the store hands back may be anything.
		{1, 1000, 500},
		{-7, 1000, 1000},
		{math.MaxInt64, 1000, 2500},
		{25000, math.MaxInt, math.MaxInt},
		{25000, math.MaxInt / 2, math.MaxInt},
	} {
		if got := (tokens.Calibration{Ratio: tc.ratio}).Apply(tc.counted); got != tc.want {
			t.Errorf("ratio %d, Apply(%d) = %d, want %d", tc.ratio, tc.counted, got, tc.want)
		}
	}
}

func samples() *rapid.Generator[int] { return rapid.IntRange(tokens.MinSample, 2_000_000) }

func TestCalibrationStaysInBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := tokens.Calibration{
			Ratio:    rapid.Int64().Draw(t, "ratio"),
			Previous: rapid.Int64().Draw(t, "previous"),
		}
		for range rapid.IntRange(1, 20).Draw(t, "n") {
			c, _ = c.Update(samples().Draw(t, "counted"), rapid.IntRange(1, math.MaxInt).Draw(t, "reported"))
		}
		if c.Samples > 0 && (c.Ratio < tokens.MinRatio || c.Ratio > tokens.MaxRatio) {
			t.Fatalf("%+v", c)
		}
	})
}

// TestCalibrationConverges: a steady provider is met from below at the second
// sample, and from above by quarters.
func TestCalibrationConverges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		counted := samples().Draw(t, "counted")
		reported := rapid.IntRange(max(1, counted/2), counted*5/2).Draw(t, "reported")
		c := tokens.Calibration{Ratio: rapid.Int64Range(tokens.MinRatio, tokens.MaxRatio).Draw(t, "ratio")}
		for range 40 {
			c, _ = c.Update(counted, reported)
		}
		got := c.Apply(counted)
		if got < reported || got > reported+counted/tokens.RatioUnit+1 {
			t.Fatalf("%+v: Apply(%d) = %d, reported %d", c, counted, got, reported)
		}
	})
}

// TestCalibrationOutlier: one sample among steady ones raises the ratio by a
// step at most, and never lowers it.
func TestCalibrationOutlier(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steady := rapid.IntRange(6000, 24000).Draw(t, "steady")
		var c tokens.Calibration
		for range 60 {
			c, _ = c.Update(10_000, steady)
		}
		before := c.Ratio
		c, _ = c.Update(10_000, rapid.IntRange(1, 100_000).Draw(t, "outlier"))
		for range 5 {
			if c.Ratio < before || c.Ratio > before+tokens.MaxStep {
				t.Fatalf("from %d to %d", before, c.Ratio)
			}
			c, _ = c.Update(10_000, steady)
		}
	})
}

func TestCalibrationApplyRises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := tokens.Calibration{Ratio: rapid.Int64Range(tokens.MinRatio, tokens.MaxRatio).Draw(t, "ratio")}
		n := rapid.IntRange(0, math.MaxInt-1).Draw(t, "counted")
		if c.Apply(n) > c.Apply(n+1) {
			t.Fatalf("Apply(%d) = %d, Apply(%d) = %d", n, c.Apply(n), n+1, c.Apply(n+1))
		}
	})
}

// TestCalibration_Cautious: a ratio that stands is believed, and one that rises is
// believed at once.
func TestCalibration_Cautious(t *testing.T) {
	for _, c := range []struct {
		of   tokens.Calibration
		want int64
	}{
		{tokens.Calibration{}, tokens.RatioUnit + tokens.MaxStep},
		{tokens.Calibration{Ratio: 10_500, Previous: 14_000, Samples: 1}, 14_500},
		{tokens.Calibration{Ratio: 14_000, Previous: 14_000, Samples: 2}, 14_000},
		{tokens.Calibration{Ratio: 12_000, Previous: 11_000, Samples: 9}, 12_000},
		{tokens.Calibration{Ratio: 12_500, Previous: 14_000, Samples: 9}, 14_000},
		{tokens.Calibration{Ratio: tokens.MaxRatio, Previous: tokens.MaxRatio, Samples: 1}, tokens.MaxRatio},
	} {
		if got := c.of.Cautious(); got.Ratio != c.want || got.Samples != c.of.Samples {
			t.Errorf("%+v: %+v, want %d", c.of, got, c.want)
		}
	}
}

package verdict

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"ctxplugin/lab/fixtures"
	"ctxplugin/lab/trajectory"
)

func TestBootstrap(t *testing.T) {
	same := Bootstrap([]float64{4, 4, 4, 4})
	if same.Mean != 4 || same.Low != 4 || same.High != 4 || same.Seeds != 4 {
		t.Errorf("of one value: %+v", same)
	}
	if none := Bootstrap(nil); !math.IsNaN(none.Mean) || judge(none) != NoData {
		t.Errorf("of nothing: %+v", none)
	}
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(-50, 50), 1, 40).Draw(t, "values")
		i := Bootstrap(values)
		if again := Bootstrap(values); again != i {
			t.Fatalf("%+v, then %+v", i, again)
		}
		low, high := math.Inf(1), math.Inf(-1)
		for _, v := range values {
			low, high = min(low, v), max(high, v)
		}
		if i.Low > i.High || i.Low < low-1e-9 || i.High > high+1e-9 || i.Mean < low-1e-9 || i.Mean > high+1e-9 {
			t.Fatalf("%+v of values from %v to %v", i, low, high)
		}
	})
}

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		i    Interval
		want Outcome
	}{
		{Interval{Mean: 5, Low: 1, High: 9, Seeds: 30}, Supported},
		{Interval{Mean: 5, Low: -1, High: 9, Seeds: 30}, Weakened},
		{Interval{Mean: 0, Low: -1, High: 1, Seeds: 30}, Refuted}, // a match refutes
		{Interval{Mean: -5, Low: -9, High: 2, Seeds: 30}, Refuted},
		{Interval{Mean: 5, Low: 5, High: 5, Seeds: leastSeeds - 1}, NoData},
	} {
		if got := judge(c.i); got != c.want {
			t.Errorf("%+v is %s, want %s", c.i, got, c.want)
		}
	}
}

// turn is a turn of a policy in which right of asked probes are answered.
func turn(policy, schedule string, seed uint64, right, asked int, cost int64) trajectory.Record {
	t := &trajectory.Turn{Run: trajectory.Run{Policy: policy, Schedule: schedule, Seed: seed, Window: 40_000}, Requests: 1, Mean: 1000, Cost: cost}
	for i := range asked {
		a := trajectory.Answer{Dimension: "decision", Relevance: "old-needed", Shown: "dense", Enough: "dense"}
		if i < right {
			a.Grade = fixtures.Grade{Exact: 1000, Semantic: 1000, Status: 1000, Success: true}
		}
		t.Asked = append(t.Asked, a)
	}
	return trajectory.Record{Turn: t}
}

// The rules read what was recorded, and every outcome can come out.
func TestJudge_Records(t *testing.T) {
	const flat = "flat, full"
	records := func(ours, level, curve int) []trajectory.Record {
		var out []trajectory.Record
		for seed := range uint64(8) {
			out = append(out, turn(trajectory.Ours, trajectory.Same, seed, ours, 10, 90), turn(flat, trajectory.Same, seed, level, 10, 95),
				turn(flat, trajectory.Own, seed, level, 10, 100), turn(trajectory.HalfLifeCurve, trajectory.Same, seed, curve, 10, 95),
				turn(trajectory.OracleSchedule, trajectory.Same, seed, 8, 10, 95))
		}
		return out
	}
	for _, c := range []struct {
		ours, level, curve int
		want               map[string]Outcome
	}{
		{8, 5, 8, map[string]Outcome{"tiers": Supported, "curve": Refuted, "oracle": Supported, "cost": Supported, "own": Supported, "age": NoData}},
		{5, 5, 4, map[string]Outcome{"tiers": Refuted, "curve": Supported, "oracle": Refuted, "contradictions": Supported}},
	} {
		for _, v := range Judge(Add(records(c.ours, c.level, c.curve))) {
			if want, ok := c.want[v.Rule.Name]; ok && v.Outcome != want {
				t.Errorf("ours %d, flat %d, curve %d of 10: %s is %s (%s), want %s", c.ours, c.level, c.curve, v.Rule.Name, v.Outcome, v.Interval, want)
			}
		}
	}
}

package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-analyze/charts"

	"ctxplugin/lab/trajectory"
	"ctxplugin/lab/verdict"
)

// null is what charts take for no value.
func null() float64 { return charts.GetNullValue() }

// family groups policies for colours.
func familyOf(policy string) int {
	switch {
	case policy == trajectory.Ours:
		return 0
	case policy == trajectory.HardTruncation, policy == trajectory.RewrittenName:
		return 3
	case strings.HasPrefix(policy, "flat"):
		return 1
	case policy == trajectory.AgeOnly, policy == trajectory.HalfLifeCurve, policy == trajectory.Staged:
		return 2
	case strings.HasPrefix(policy, "oracle"):
		return 4
	}
	return -1
}

var families = []string{"ours", "flat", "by age, curve, stages", "truncated, rewritten", "oracles"}

// survival is every policy at every window by what its head takes and what it
// answers, and the front: those that no other answers more than for as little.
func survival(s *verdict.Sums) (names []string, points []point, most float64, front Table) {
	type one struct {
		key     verdict.Key
		x, y    float64
		answers verdict.Interval
	}
	var all []one
	for _, k := range s.Keys() {
		if k.Schedule != trajectory.Same || familyOf(k.Policy) < 0 {
			continue
		}
		sums := s.At(k)
		total := verdict.Total(sums)
		o := one{key: k, x: float64(total.Head) / float64(max(1, total.Turns)), answers: verdict.Rate(sums)}
		o.y = o.answers.Mean
		all = append(all, o)
		most = max(most, o.x)
		points = append(points, point{o.x, o.y, familyOf(k.Policy)})
	}
	most = max(1000, float64(int(most/1000)+1)*1000)
	front = Table{Caption: "The Pareto front without oracles: no other policy answers more for as few tokens of the head", Head: []string{"policy", "window", "head, tokens", "answered, %"}}
	slices.SortStableFunc(all, func(a, b one) int {
		switch {
		case a.x < b.x:
			return -1
		case a.x > b.x:
			return 1
		}
		return 0
	})
	best := -1.0
	for _, o := range all {
		if familyOf(o.key.Policy) == 4 || o.y <= best {
			continue
		}
		best = o.y
		front.Rows = append(front.Rows, []string{o.key.Policy, fmt.Sprint(o.key.Window), fmt.Sprintf("%.0f", o.x), o.answers.Plain()})
	}
	return families, points, most, front
}

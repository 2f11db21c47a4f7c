package report

import (
	"fmt"
	"slices"
	"strings"

	"ctxplugin/compartments"
	"ctxplugin/lab/provider"
	"ctxplugin/lab/trajectory"
	"ctxplugin/lab/verdict"
)

// Table is a table of a report. The first column is text, the others numbers,
// unless Words says otherwise.
type Table struct {
	Caption string
	Head    []string
	Rows    [][]string
	Words   bool // all columns are text
}

func percentOf(n, of int) string {
	if of == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f", 100*float64(n)/float64(of))
}

func rate(pair [2]int) string { return percentOf(pair[0], pair[1]) }

// dollars shows micro-units of money.
func dollars(micro float64) string { return fmt.Sprintf("%.3f", micro/1e6) }

func per(n, of int64) string {
	if of == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f", float64(n)/float64(of))
}

// order is how policies are listed.
var order = []string{trajectory.Ours, trajectory.OursFair, trajectory.OursNoStubs, trajectory.FlatName(compartments.TierFull), trajectory.FlatName(compartments.TierDense),
	trajectory.FlatName(compartments.TierCompact), trajectory.FlatName(compartments.TierAnchor), trajectory.AgeOnly, trajectory.HalfLifeCurve,
	trajectory.Staged, trajectory.RewrittenName, trajectory.HardTruncation, trajectory.FullHistory, trajectory.OraclePromotion, trajectory.OracleSchedule}

// listed are the policies of a schedule at a window that ran over all seeds.
func listed(s *verdict.Sums, schedule string, window int) []string {
	var out []string
	for _, name := range order {
		if len(s.At(verdict.Key{Policy: name, Schedule: schedule, Window: window})) > 0 {
			out = append(out, name)
		}
	}
	return out
}

// policies is the table of a schedule at the main window.
func policies(s *verdict.Sums, schedule, caption string) Table {
	t := Table{Caption: caption, Head: []string{"policy", "probes answered, % (95 of 100)", "ours ahead by, points", "head, tokens", "request, tokens", "dollars a session",
		"prefix changes", "switches per 100 turns", "reversals", "too little, %", "too much, %", "needed, % of head", "over budget", "over window"}}
	ours := s.Of(trajectory.Ours, trajectory.Same)
	for _, name := range listed(s, schedule, s.Main) {
		sums := s.Of(name, schedule)
		all := verdict.Total(sums)
		ahead := "–"
		if name != trajectory.Ours || schedule != trajectory.Same {
			ahead = verdict.Difference(ours, sums, (*verdict.Sum).Rate).String()
		}
		n := int64(len(sums))
		t.Rows = append(t.Rows, []string{name, verdict.Rate(sums).Plain(), ahead, per(all.Head, int64(all.Turns)), per(all.Size, int64(all.Requests)),
			dollars(float64(all.Cost) / float64(n)), per(int64(all.Prefixes), n), per(100*int64(all.Switches), int64(all.Turns)),
			per(100*int64(all.Reversals), int64(all.Turns)), percentOf(all.Under+all.Lost, all.Asked), percentOf(all.Over, all.Asked),
			per(100*all.Needed, all.Head), fmt.Sprint(all.OverBudget), fmt.Sprint(all.OverWindow)})
	}
	return t
}

// compared are the policies that are held against each other by dimension.
func compared(s *verdict.Sums) []string {
	return []string{trajectory.Ours, s.BestFlat(trajectory.Same), trajectory.AgeOnly, trajectory.HalfLifeCurve, trajectory.OracleSchedule}
}

// split is a table of success by something that probes have.
func split(s *verdict.Sums, caption, what string, parts func(*verdict.Sum) map[string][2]int) Table {
	t := Table{Caption: caption, Head: []string{what, "probes"}}
	var all []map[string][2]int
	for _, name := range compared(s) {
		t.Head = append(t.Head, name+", %")
		all = append(all, parts(verdict.Total(s.Of(name, trajectory.Same))))
	}
	t.Head = append(t.Head, "ours over flat, points", "ours under the oracle, points")
	ours, flat, oracle := s.Of(trajectory.Ours, trajectory.Same), s.Of(s.BestFlat(trajectory.Same), trajectory.Same), s.Of(trajectory.OracleSchedule, trajectory.Same)
	for _, name := range keysOf(all[0]) {
		row := []string{name, fmt.Sprint(all[0][name][1])}
		for _, m := range all {
			row = append(row, rate(m[name]))
		}
		value := func(sum *verdict.Sum) float64 {
			pair := parts(sum)[name]
			return 100 * float64(pair[0]) / float64(max(1, pair[1]))
		}
		row = append(row, verdict.Difference(ours, flat, value).String(), verdict.Difference(oracle, ours, value).String())
		t.Rows = append(t.Rows, row)
	}
	return t
}

func keysOf(m map[string][2]int) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// ages is success by how many turns ago something was said.
func ages(s *verdict.Sums) (Table, []string, [][]float64) {
	t := Table{Caption: "Probes answered, by the turns since it was said", Head: []string{"turns", "probes"}}
	names := compared(s)
	var all []map[int][2]int
	last := 0
	for _, name := range names {
		t.Head = append(t.Head, name+", %")
		m := verdict.Total(s.Of(name, trajectory.Same)).Ages
		for a := range m {
			last = max(last, a)
		}
		all = append(all, m)
	}
	var labels []string
	values := make([][]float64, len(names))
	for a := range last + 1 {
		if all[0][a][1] == 0 {
			continue
		}
		labels = append(labels, fmt.Sprintf("%d–%d", 10*a, 10*a+9))
		row := []string{labels[len(labels)-1], fmt.Sprint(all[0][a][1])}
		for i, m := range all {
			row = append(row, rate(m[a]))
			values[i] = append(values[i], 100*float64(m[a][0])/float64(max(1, m[a][1])))
		}
		t.Rows = append(t.Rows, row)
	}
	return t, labels, values
}

// tierNames are the tiers that a head may show, from most to least.
var tierNames = []string{"raw", "full", "dense", "compact", "anchor", "index"}

// choices is how often each policy shows each tier.
func choices(s *verdict.Sums) Table {
	t := Table{Caption: "What compartments in the head are shown at, percent of compartments (percent of the head's tokens)", Head: append([]string{"policy"}, append(slices.Clone(tierNames), "left out")...)}
	for _, name := range listed(s, trajectory.Same, s.Main) {
		all := verdict.Total(s.Of(name, trajectory.Same))
		counts, tokens := int64(0), int64(0)
		for _, n := range all.Counts {
			counts += n
		}
		for _, n := range all.Tiers {
			tokens += n
		}
		if counts == 0 {
			continue
		}
		row := []string{name}
		for _, tier := range tierNames {
			row = append(row, fmt.Sprintf("%s (%s)", per(100*all.Counts[tier], counts), per(100*all.Tiers[tier], tokens)))
		}
		row = append(row, per(100*(all.Counts["none"]+all.Counts["archived"]), counts))
		t.Rows = append(t.Rows, row)
	}
	return t
}

// windows is success at every window.
func windows(s *verdict.Sums) Table {
	t := Table{Caption: "Probes answered at other windows, percent, at the moments of ours", Head: []string{"policy"}}
	var all []int
	for _, k := range s.Keys() {
		if k.Policy == trajectory.Ours && k.Schedule == trajectory.Same && !slices.Contains(all, k.Window) {
			all = append(all, k.Window)
		}
	}
	for _, w := range all {
		n := len(s.At(verdict.Key{Policy: trajectory.Ours, Schedule: trajectory.Same, Window: w}))
		t.Head = append(t.Head, fmt.Sprintf("%dk (%d seeds)", w/1000, n))
	}
	for _, name := range order {
		row := []string{name}
		some := false
		for _, w := range all {
			sums := s.At(verdict.Key{Policy: name, Schedule: trajectory.Same, Window: w})
			some = some || len(sums) > 0
			if len(sums) == 0 {
				row = append(row, "–")
				continue
			}
			row = append(row, verdict.Rate(sums).Plain())
		}
		if some {
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// verdicts is the table of claims.
func verdicts(list []verdict.Verdict) Table {
	t := Table{Words: true, Caption: "Claims, and what the runs say of them", Head: []string{"claim", "refuted if", "verdict", "measure, and 95 of 100 bootstrap samples", "numbers"}}
	for _, v := range list {
		t.Rows = append(t.Rows, []string{v.Rule.Claim, v.Rule.Refuted, string(v.Outcome), v.Interval.String() + " " + v.Rule.Unit, v.Numbers})
	}
	return t
}

// aim is something that was hoped for, in points or percent.
type aim struct {
	what  string
	least float64
	got   verdict.Interval
}

func aims(s *verdict.Sums, list []verdict.Verdict) Table {
	by := map[string]verdict.Interval{}
	for _, v := range list {
		by[v.Rule.Name] = v.Interval
	}
	oracle := by["oracle"]
	t := Table{Words: true, Caption: "Aims", Head: []string{"aim", "measured", ""}}
	for _, a := range []aim{
		{"15 points above flat (" + s.BestFlat(trajectory.Same) + ") at the same moments", 15, by["tiers"]},
		{"15 points above age only at the same moments", 15, by["age"]},
		{"15 points above the best of them on schedules of their own, at the same mean size", 15, by["own"]},
		{"above the half-life curve at the same moments", 0, by["curve"]},
		{"within 10 points of the oracle schedule (0 is just that)", 0, oracle},
		{"at no higher cost than theirs, on their own schedules", 0, by["cost"]},
	} {
		reached := "missed"
		switch {
		case a.got.Seeds == 0:
			reached = "no data"
		case a.got.Low >= a.least:
			reached = "reached"
		case a.got.Mean >= a.least:
			reached = "reached in the mean"
		}
		t.Rows = append(t.Rows, []string{a.what, a.got.String(), reached})
	}
	return t
}

// prices is the table of models.
func prices() Table {
	t := Table{Words: true, Caption: "Prices, dollars per million tokens", Head: []string{"model and cache", "input", "output", "read", "write", "kept for", "source", "as of"}}
	show := func(n int64) string {
		if n == 0 {
			return "–"
		}
		return strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.3f", float64(n)/1e6), "0"), ".")
	}
	for _, m := range provider.Models() {
		p := m.Prices
		t.Rows = append(t.Rows, []string{m.Name, show(p.Input), show(p.Output), show(p.CacheRead), show(p.CacheWrite), kept(p.TTLMs), m.Source, m.Date})
	}
	return t
}

func kept(ms int64) string {
	if ms == 0 {
		return "–"
	}
	return fmt.Sprintf("%d minutes", ms/60_000)
}

// costs is what a session costs with every provider.
func costs(s *verdict.Sums, caption string) (t Table, labels, names []string, values [][]float64) {
	t = Table{Caption: caption, Head: []string{"model and cache"}}
	type column struct{ policy, schedule string }
	columns := []column{{trajectory.Ours, trajectory.Same}, {trajectory.FlatName(compartments.TierFull), trajectory.Own}, {trajectory.AgeOnly, trajectory.Own},
		{trajectory.HalfLifeCurve, trajectory.Own}, {trajectory.HardTruncation, trajectory.Own}, {trajectory.FullHistory, trajectory.Same}}
	for _, c := range columns {
		names = append(names, c.policy)
		t.Head = append(t.Head, c.policy+", dollars (prefix changes)")
	}
	t.Head = append(t.Head, "ours against the cheapest other that fits, %")
	values = make([][]float64, len(columns))
	for _, m := range provider.Models() {
		row := []string{m.Name}
		least, ours := 0.0, 0.0
		for i, c := range columns {
			cost, prefixes, n := s.Bill(m.Name, c.policy, c.schedule)
			if n == 0 {
				row = append(row, "–")
				values[i] = append(values[i], 0)
				continue
			}
			cost, prefixes = cost/float64(n), prefixes/float64(n)
			values[i] = append(values[i], cost/1e6)
			row = append(row, fmt.Sprintf("%s (%.0f)", dollars(cost), prefixes))
			switch {
			case i == 0:
				ours = cost
			case c.policy != trajectory.FullHistory && (least == 0 || cost < least):
				least = cost
			}
		}
		if least > 0 {
			row = append(row, fmt.Sprintf("%+.1f", 100*(ours/least-1)))
			labels = append(labels, m.Short)
			t.Rows = append(t.Rows, row)
		}
	}
	return t, labels, names, values
}

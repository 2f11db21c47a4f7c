package verdict

import (
	"fmt"
	"math"

	"ctxplugin/compartments"
	"ctxplugin/decay"
	"ctxplugin/lab/provider"
	"ctxplugin/lab/trajectory"
)

// Outcome is what became of a claim.
type Outcome string

// The outcomes.
const (
	Supported Outcome = "supported"
	Weakened  Outcome = "weakened"
	Refuted   Outcome = "refuted"
	NoData    Outcome = "too few"
)

// leastSeeds is how many seeds a verdict needs.
const leastSeeds = 3

// Rule is a claim with what would refute it, stated before the run.
type Rule struct {
	Name    string
	Claim   string
	Refuted string // what refutes it
	Unit    string
	// measure is the interval on which the claim has zero or more, and its numbers.
	measure func(s *Sums) (Interval, string)
}

// Verdict is a rule with what the records say.
type Verdict struct {
	Rule     Rule
	Outcome  Outcome
	Interval Interval
	Numbers  string
}

// judge applies the one measure of all rules.
func judge(i Interval) Outcome {
	switch {
	case i.Seeds < leastSeeds || math.IsNaN(i.Mean):
		return NoData
	case i.Mean <= 0:
		return Refuted
	case i.Low <= 0:
		return Weakened
	}
	return Supported
}

// Judge applies all rules.
func Judge(s *Sums) []Verdict {
	var out []Verdict
	for _, r := range Rules() {
		i, numbers := r.measure(s)
		out = append(out, Verdict{r, judge(i), i, numbers})
	}
	return out
}

const points = "points of probe success"

// Rules are all rules, in the order in which they are printed.
func Rules() []Rule {
	rules := []Rule{
		{"tiers", "Tiers answer more than one flat level at the same budget.", "Flat compaction at its best level answers as much or more, at the same moments, budget and stubs.", points,
			func(s *Sums) (Interval, string) { return s.against(s.BestFlat(trajectory.Same)) }},
		{"age", "What a compartment holds should count, not its age alone.", "Tiers by age and budget alone answer as much or more.", points,
			func(s *Sums) (Interval, string) { return s.against(trajectory.AgeOnly) }},
		{"curve", "Ours answers more than the half-life curve of the best-known tiered plugin.", "The curve answers as much or more at the same moments and budget.", points,
			func(s *Sums) (Interval, string) { return s.against(trajectory.HalfLifeCurve) }},
		{"stages", "Ours answers more than hot, warm and cold compaction.", "Hot, warm and cold compaction answers as much or more.", points,
			func(s *Sums) (Interval, string) { return s.against(trajectory.Staged) }},
		{"age-and-budget", "Even tiers by age and budget alone answer more than one flat level.", "They are no better than flat compaction at its best level.", points, ageOverFlat},
		{"own", "With a schedule of their own and the same mean size, the others answer less.", "The best of flat compaction, age only and the half-life curve answers as much or more.", points, ownSchedule},
		{"oracle", "The schedule is within 10 points of one that knows what will be needed.", "The oracle schedule is 10 points ahead, or more.", points, nearOracle},
		{"cost", "Ours costs no more than the others, on schedules of their own and with the same mean size.", "It costs as much as the cheapest of flat, age only and curve, or more.", "percent of their cost", cheaper},
		{"creation", "Writing tiers costs less than it saves.", "Written by a model, at the prices of the session, the tiers cost as much as ours saves against sending the full history, or more.", "percent of the cost of the full history", creation},
		{"variance", "Choosing among fixed texts varies less than rewriting a summary.", "Over repeats of the same session, success varies as much as that of a summary which is rewritten, or more.", "points of standard deviation between repeats", steadier},
		{"contradictions", "What is shown does not read as something else: dropped as standing, open as done.", "Of the probes, 5 percent or more find the words and read them wrongly.", "percent below 5", misread},
	}
	for _, t := range compartments.Rendered {
		rules = append(rules, Rule{"tier " + t.String(), "Tier " + t.String() + " has a useful operating point.", "Without it, at the same window, ours answers as much or more.", points,
			func(s *Sums) (Interval, string) { return s.without(t) }})
	}
	return rules
}

// against is ours over another policy at the same moments.
func (s *Sums) against(policy string) (Interval, string) {
	ours, theirs := s.Of(trajectory.Ours, trajectory.Same), s.Of(policy, trajectory.Same)
	return Difference(ours, theirs, (*Sum).Rate), fmt.Sprintf("ours %s, %s %s", Rate(ours).Plain(), policy, Rate(theirs).Plain())
}

func ageOverFlat(s *Sums) (Interval, string) {
	best := s.BestFlat(trajectory.Same)
	ages, level := s.Of(trajectory.AgeOnly, trajectory.Same), s.Of(best, trajectory.Same)
	return Difference(ages, level, (*Sum).Rate), fmt.Sprintf("age only %s, %s %s", Rate(ages).Plain(), best, Rate(level).Plain())
}

// own are the policies with a schedule of their own that ours is held against.
func (s *Sums) own() []string {
	return []string{s.BestFlat(trajectory.Own), trajectory.AgeOnly, trajectory.HalfLifeCurve}
}

func ownSchedule(s *Sums) (Interval, string) {
	best, most := "", -1.0
	for _, name := range s.own() {
		if sums := s.Of(name, trajectory.Own); len(sums) > 0 && Rate(sums).Mean > most {
			best, most = name, Rate(sums).Mean
		}
	}
	ours, theirs := s.Of(trajectory.Ours, trajectory.Same), s.Of(best, trajectory.Own)
	return Difference(ours, theirs, (*Sum).Rate), fmt.Sprintf("ours %s, %s %s", Rate(ours).Plain(), best, Rate(theirs).Plain())
}

// nearAim is how many points an oracle may be ahead.
const nearAim = 10

func nearOracle(s *Sums) (Interval, string) {
	ours, oracle := s.Of(trajectory.Ours, trajectory.Same), s.Of(trajectory.OracleSchedule, trajectory.Same)
	d := Difference(ours, oracle, (*Sum).Rate)
	d.Mean, d.Low, d.High = d.Mean+nearAim, d.Low+nearAim, d.High+nearAim
	return d, fmt.Sprintf("ours %s, oracle schedule %s; with its relevance but our selection %s",
		Rate(ours).Plain(), Rate(oracle).Plain(), Rate(s.Of(trajectory.OraclePromotion, trajectory.Same)).Plain())
}

func cheaper(s *Sums) (Interval, string) {
	ours := s.Of(trajectory.Ours, trajectory.Same)
	best, least, size := "", math.Inf(1), 0.0
	for _, name := range s.own() {
		if sums := s.Of(name, trajectory.Own); len(sums) > 0 {
			if c := mean(Each(sums, func(s *Sum) float64 { return float64(s.Cost) })); c < least {
				best, least = name, c
				size = mean(Each(sums, meanSize))
			}
		}
	}
	theirs := s.Of(best, trajectory.Own)
	var saved []float64
	for _, seed := range seedsOf(ours) {
		if t, ok := theirs[seed]; ok {
			saved = append(saved, 100*(1-float64(ours[seed].Cost)/float64(t.Cost)))
		}
	}
	return Bootstrap(saved), fmt.Sprintf("%s is the cheapest; mean request %.0f tokens of messages, ours %.0f", best, size, mean(Each(ours, meanSize)))
}

func meanSize(s *Sum) float64 { return float64(s.Size) / float64(max(1, s.Requests)) }

// Creation is what a model would cost that writes all tiers of a session, in
// micro-units.
func (s *Sums) Creation(seed uint64, m provider.Model) int64 {
	n := int64(0)
	for _, r := range s.reps[seed] {
		n += decay.Cost(r.Generation(), m.Prices)
	}
	return n
}

func creation(s *Sums) (Interval, string) {
	ours, full := s.Of(trajectory.Ours, trajectory.Same), s.Of(trajectory.FullHistory, trajectory.Same)
	var left, made, saved []float64
	for _, seed := range seedsOf(ours) {
		f, ok := full[seed]
		if !ok || f.Cost == 0 {
			continue
		}
		c := float64(s.Creation(seed, provider.Models()[0]))
		left = append(left, 100*(float64(f.Cost-ours[seed].Cost)-c)/float64(f.Cost))
		made = append(made, 100*c/float64(f.Cost))
		saved = append(saved, 100*float64(f.Cost-ours[seed].Cost)/float64(f.Cost))
	}
	if len(left) == 0 {
		return Interval{}, ""
	}
	return Bootstrap(left), fmt.Sprintf("by rule it costs nothing; by a model %.1f percent, of %.1f that ours saves", mean(made), mean(saved))
}

// spread is the standard deviation of success over the repeats of a session, in
// points.
func spread(repeats map[int]*Sum) float64 {
	var rates []float64
	for k := range len(repeats) {
		rates = append(rates, repeats[k].Rate())
	}
	m, sum := mean(rates), 0.0
	for _, r := range rates {
		sum += (r - m) * (r - m)
	}
	return math.Sqrt(sum / float64(max(1, len(rates)-1)))
}

func steadier(s *Sums) (Interval, string) {
	ours := s.again[Key{trajectory.Ours, trajectory.Same, s.Main}]
	theirs := s.again[Key{trajectory.RewrittenName, trajectory.Same, s.Main}]
	var less, of, from []float64
	for _, seed := range seedsOf(theirs) {
		if len(ours[seed]) < 2 || len(theirs[seed]) < 2 {
			continue
		}
		of, from = append(of, spread(ours[seed])), append(from, spread(theirs[seed]))
		less = append(less, spread(theirs[seed])-spread(ours[seed]))
	}
	if len(less) == 0 {
		return Interval{}, ""
	}
	return Bootstrap(less), fmt.Sprintf("ours %.1f, rewritten %.1f; the plans of a repeated run of ours are the same bytes", mean(of), mean(from))
}

// misreadMost is the share of probes that may be misread, in percent.
const misreadMost = 5

func misread(s *Sums) (Interval, string) {
	ours := s.Of(trajectory.Ours, trajectory.Same)
	below := Each(ours, func(s *Sum) float64 { return misreadMost - percent(s.Misread, s.Asked) })
	t := Total(ours)
	return Bootstrap(below), fmt.Sprintf("%d of %d probes", t.Misread, t.Asked)
}

// without is ours over ours without a tier.
func (s *Sums) without(t compartments.Tier) (Interval, string) {
	ours, bare := s.Of(trajectory.Ours, trajectory.Same), s.Of(trajectory.WithoutName(t), trajectory.Same)
	same := map[uint64]*Sum{}
	for seed := range bare {
		if o, ok := ours[seed]; ok {
			same[seed] = o
		}
	}
	total := Total(ours)
	all := int64(0)
	for _, n := range total.Counts {
		all += n
	}
	return Difference(same, bare, (*Sum).Rate), fmt.Sprintf("with it %s, without %s; chosen for %.0f %% of compartments", Rate(same).Plain(), Rate(bare).Plain(),
		100*float64(total.Counts[t.String()])/float64(max(1, all)))
}

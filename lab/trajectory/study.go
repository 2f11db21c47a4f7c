package trajectory

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"

	"ctxplugin/compartments"
	"ctxplugin/decay"
	"ctxplugin/lab/fixtures"
	"ctxplugin/lab/provider"
	"ctxplugin/tokens"
)

// The names under which policies stand in records.
const (
	Ours            = "ours"
	OursNoStubs     = "ours, no stubs"
	OursFair        = "ours, no pair spared"
	FullHistory     = "full history"
	HardTruncation  = "hard truncation"
	Staged          = "hot, warm, cold"
	AgeOnly         = "age only"
	HalfLifeCurve   = "half-life curve"
	OracleSchedule  = "oracle schedule"
	OraclePromotion = "oracle promotion"
	RewrittenName   = "flat, rewritten"
)

// The schedules of runs.
const (
	Same = "same" // the policy folds when ours does
	Own  = "own"  // it folds by pressure, in a window for the same mean size
)

// FlatName is how flat compaction at a level is named.
func FlatName(level compartments.Tier) string { return "flat, " + level.String() }

// WithoutName is how ours without a tier is named.
func WithoutName(t compartments.Tier) string { return "ours without " + t.String() }

// Policies are the policies that are put to the moments of ours, each new.
func Policies() []Policy {
	return []Policy{everything{}, truncation{},
		flat{compartments.TierFull}, flat{compartments.TierDense}, flat{compartments.TierCompact}, flat{compartments.TierAnchor},
		&staged{}, ageOnly(), halfLifeCurve(), oracleSchedule{}, oraclePromotion{}}
}

// scheduled are the policies that run on a schedule of their own too.
func scheduled() []func() Policy {
	return []func() Policy{
		func() Policy { return truncation{} },
		func() Policy { return flat{compartments.TierFull} },
		func() Policy { return flat{compartments.TierDense} },
		func() Policy { return ageOnly() },
		func() Policy { return halfLifeCurve() },
	}
}

// Plan says what a study runs. Each part runs over the first so many seeds.
type Plan struct {
	Bank     fixtures.Bank
	First    uint64 // seed
	Seeds    int    // of the main part
	Episodes int
	Setup    Setup

	Windows   []int // other windows, in tokens
	OverSeeds int   // of these
	Removed   int   // of ours without each tier
	Priced    int   // of each provider
	Repeats   int   // of a summary that is rewritten
	Loss      int   // of each of its lines at each rewriting, permille
	Workers   int   // at once; at least 1
}

// Full is the plan of a whole run, Quick that of a short one.
func Full() Plan {
	return Plan{Bank: fixtures.Held, First: 1000, Seeds: 32, Episodes: 36, Setup: Standard(),
		Windows: []int{26_000, 64_000}, OverSeeds: 10, Removed: 12, Priced: 5, Repeats: 5, Loss: 100, Workers: 2}
}

// Quick is a plan for looking whether all works.
func Quick() Plan {
	p := Full()
	p.Seeds, p.Episodes, p.Windows, p.OverSeeds, p.Removed, p.Priced, p.Repeats = 3, 14, []int{26_000}, 1, 1, 1, 3
	return p
}

// Standard is the setup that figures are published for.
func Standard() Setup {
	return Setup{Window: 40_000, Output: 4_096, Prefix: 4_000, Prices: provider.Models()[0].Prices}
}

// job is one part of a study: independent of all others.
type job func(ctx context.Context) ([]Record, error)

// Study runs a plan. The records come in the same order however many run at once.
// step is called after each of the jobs, from one goroutine at a time.
func Study(ctx context.Context, plan Plan, step func(done, of int)) ([]Record, error) {
	s := &study{plan: plan, count: tokens.NewCached(tokens.NewCache(1 << 17))}
	var jobs []job
	for i := range plan.Seeds {
		jobs = append(jobs, func(ctx context.Context) ([]Record, error) { return s.main(ctx, i) })
	}
	for _, w := range plan.Windows {
		for i := range min(plan.OverSeeds, plan.Seeds) {
			jobs = append(jobs, func(ctx context.Context) ([]Record, error) { return s.window(ctx, i, w) })
		}
	}
	for i := range min(plan.Removed, plan.Seeds) {
		jobs = append(jobs, func(ctx context.Context) ([]Record, error) { return s.removed(ctx, i) })
	}
	for i := range min(plan.Priced, plan.Seeds) {
		jobs = append(jobs, func(ctx context.Context) ([]Record, error) { return s.priced(ctx, i) })
	}
	return together(ctx, jobs, plan.Workers, step)
}

// together runs jobs, several at once, and puts what they return in their order.
// The first error, by their order, ends all.
func together(ctx context.Context, jobs []job, workers int, step func(done, of int)) ([]Record, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	results, errs := make([][]Record, len(jobs)), make([]error, len(jobs))
	next := make(chan int)
	var wait sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for range max(1, workers) {
		wait.Go(func() {
			for i := range next {
				results[i], errs[i] = jobs[i](ctx)
				if errs[i] != nil {
					stop()
				}
				mu.Lock()
				done++
				step(done, len(jobs))
				mu.Unlock()
			}
		})
	}
	for i := range jobs {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	wait.Wait()
	var out []Record
	for i := range jobs {
		if errs[i] != nil {
			return nil, errs[i]
		}
		out = append(out, results[i]...)
	}
	return out, ctx.Err()
}

type study struct {
	plan  Plan
	count *tokens.Counter
}

func (s *study) script(i int) (*Script, error) {
	made, err := fixtures.New(fixtures.Options{Seed: s.plan.First + uint64(i), Bank: s.plan.Bank, Episodes: s.plan.Episodes})
	if err != nil {
		return nil, err
	}
	return FromFixture(&made), nil
}

func turns(records []Record, list []Turn) []Record {
	for i := range list {
		records = append(records, Record{Turn: &list[i]})
	}
	return records
}

// main runs every policy over one seed.
func (s *study) main(ctx context.Context, i int) ([]Record, error) {
	script, err := s.script(i)
	if err != nil {
		return nil, err
	}
	p, err := Play(ctx, script, s.plan.Setup, s.count)
	if err != nil {
		return nil, err
	}
	var out []Record
	for _, r := range p.Representations() {
		out = append(out, Record{Representation: &r})
	}
	for _, f := range p.Folds(Run{Policy: Ours, Schedule: Same}) {
		out = append(out, Record{Fold: &f})
	}
	ours := p.frames()
	out = turns(out, p.Observe(ours, Run{Policy: Ours, Schedule: Same}))
	for _, policy := range Policies() {
		out = turns(out, p.Observe(p.AtOurs(policy), Run{Policy: policy.Name(), Schedule: Same}))
	}
	mean := p.mean(ours)
	for _, policy := range scheduled() {
		frames, usable := p.Matched(policy, mean)
		out = turns(out, p.Observe(frames, Run{Policy: policy().Name(), Schedule: Own, Usable: usable}))
	}
	for k := range s.plan.Repeats {
		draw := rand.New(rand.NewPCG(script.Seed, uint64(k)))
		frames := p.Rewritten(compartments.TierFull, s.plan.Loss, draw)
		out = turns(out, p.Observe(frames, Run{Policy: RewrittenName, Schedule: Same, Repeat: k}))
		if k != 1 {
			continue // one repetition of ours shows it
		}
		again, err := Play(ctx, script, s.plan.Setup, s.count)
		if err != nil {
			return nil, err
		}
		if again.Bytes() != p.Bytes() {
			return nil, fmt.Errorf("%s: two runs of ours differ", script.Name)
		}
		out = turns(out, again.Observe(again.frames(), Run{Policy: Ours, Schedule: Same, Repeat: k}))
	}
	return out, nil
}

// window runs ours and what it is held against in another window.
func (s *study) window(ctx context.Context, i, window int) ([]Record, error) {
	script, err := s.script(i)
	if err != nil {
		return nil, err
	}
	set := s.plan.Setup
	set.Window = window
	p, err := Play(ctx, script, set, s.count)
	if err != nil {
		return nil, err
	}
	out := turns(nil, p.Observe(p.frames(), Run{Policy: Ours, Schedule: Same}))
	for _, policy := range Policies() {
		if policy == (everything{}) {
			continue
		}
		out = turns(out, p.Observe(p.AtOurs(policy), Run{Policy: policy.Name(), Schedule: Same}))
	}
	return out, nil
}

// removed runs ours without stubs, without sparing old pairs at the expense of
// newer work, and without each of the tiers.
func (s *study) removed(ctx context.Context, i int) ([]Record, error) {
	script, err := s.script(i)
	if err != nil {
		return nil, err
	}
	var out []Record
	run := func(set Setup, name string) error {
		p, err := Play(ctx, script, set, s.count)
		if err != nil {
			return err
		}
		out = turns(out, p.Observe(p.frames(), Run{Policy: name, Schedule: Same}))
		return nil
	}
	set := s.plan.Setup
	bare := decay.Defaults().Ablated(decay.AblateStubs)
	set.Settings = &bare
	if err := run(set, OursNoStubs); err != nil {
		return nil, err
	}
	fair := decay.Defaults()
	fair.Spare = 0
	set.Settings = &fair
	if err := run(set, OursFair); err != nil {
		return nil, err
	}
	for _, t := range compartments.Rendered {
		set := s.plan.Setup
		set.Without = t
		if err := run(set, WithoutName(t)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// priced runs ours and the policies with a schedule of their own at the prices of
// every provider.
func (s *study) priced(ctx context.Context, i int) ([]Record, error) {
	script, err := s.script(i)
	if err != nil {
		return nil, err
	}
	script.Probes = nil
	return Bills(ctx, script, s.plan.Setup, s.count)
}

// Bills are what a script costs under several policies, with every provider.
func Bills(ctx context.Context, script *Script, set Setup, count *tokens.Counter) ([]Record, error) {
	var out []Record
	bill := func(b Bill) { out = append(out, Record{Bill: &b}) }
	for _, model := range provider.Models() {
		set.Prices = model.Prices
		p, err := Play(ctx, script, set, count)
		if err != nil {
			return nil, err
		}
		ours := p.frames()
		bill(p.BillOf(ours, Run{Policy: Ours, Schedule: Same}, model.Name))
		bill(p.BillOf(p.AtOurs(everything{}), Run{Policy: FullHistory, Schedule: Same}, model.Name))
		mean := p.mean(ours)
		for _, policy := range scheduled() {
			frames, usable := p.Matched(policy, mean)
			bill(p.BillOf(frames, Run{Policy: policy().Name(), Schedule: Own, Usable: usable}, model.Name))
		}
	}
	return out, nil
}

// Ecology runs ours and the others over a real session, and prices it with every
// provider.
func Ecology(ctx context.Context, script *Script, set Setup, count *tokens.Counter) ([]Record, error) {
	p, err := Play(ctx, script, set, count)
	if err != nil {
		return nil, err
	}
	if len(p.folds) == 0 {
		return nil, nil // it fits as it is
	}
	var out []Record
	for _, r := range p.Representations() {
		out = append(out, Record{Representation: &r})
	}
	for _, f := range p.Folds(Run{Policy: Ours, Schedule: Same}) {
		out = append(out, Record{Fold: &f})
	}
	ours := p.frames()
	out = turns(out, p.Observe(ours, Run{Policy: Ours, Schedule: Same}))
	for _, policy := range Policies() {
		out = turns(out, p.Observe(p.AtOurs(policy), Run{Policy: policy.Name(), Schedule: Same}))
	}
	mean := p.mean(ours)
	for _, policy := range scheduled() {
		frames, usable := p.Matched(policy, mean)
		out = turns(out, p.Observe(frames, Run{Policy: policy().Name(), Schedule: Own, Usable: usable}))
	}
	bare := *script
	bare.Probes = nil
	bills, err := Bills(ctx, &bare, set, count)
	return append(out, bills...), err
}

// Together runs Ecology over scripts, several at once.
func Together(ctx context.Context, scripts []*Script, set Setup, workers int, step func(done, of int)) ([]Record, error) {
	count := tokens.NewCached(tokens.NewCache(1 << 17))
	var jobs []job
	for _, script := range scripts {
		jobs = append(jobs, func(ctx context.Context) ([]Record, error) { return Ecology(ctx, script, set, count) })
	}
	return together(ctx, jobs, workers, step)
}

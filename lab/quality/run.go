package quality

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"ctxplugin/compartments"
	"ctxplugin/decay"
	"ctxplugin/historian"
	"ctxplugin/lab/fixtures"
	"ctxplugin/tokens"
)

// Options say what is run. The zero value of a member means its default.
type Options struct {
	Seeds    int   `json:"seeds"`    // sessions of each bank; 30
	First    int   `json:"first"`    // seed of the first one
	Episodes int   `json:"episodes"` // of each session; 12
	Losses   []int `json:"losses"`   // rates of the scripted writer, permille; 0 100 200 350 500
	Repeats  int   `json:"repeats"`  // of the scripted writer at the rate in the middle; 3
	Shares   []int `json:"shares"`   // budgets, permille of what all compartments take at full; 150 300 500 700

	// Model makes tiers too, for the first ModelSeeds sessions of the held bank (1);
	// nil for none.
	Model      historian.Model `json:"-"`
	ModelName  string          `json:"model,omitempty"`
	ModelSeeds int             `json:"modelSeeds,omitempty"`

	// Recorded are sessions as `opencode export` writes them, by name.
	Recorded []Recorded `json:"-"`
	// Progress is called with the work done and all of it; nil for none.
	Progress func(done, all int) `json:"-"`
}

// Recorded is a recorded session.
type Recorded struct {
	Name     string
	Messages []compartments.Message
}

// Quick are the options for a look that takes seconds.
func Quick() Options {
	return Options{Seeds: 4, Episodes: 8, Losses: []int{0, 200}, Repeats: 2, Shares: []int{300, 500}}
}

func (o Options) filled() Options {
	if o.Seeds == 0 {
		o.Seeds = 30
	}
	if o.Episodes == 0 {
		o.Episodes = 12
	}
	if o.Losses == nil {
		o.Losses = []int{0, 100, 200, 350, 500}
	}
	if o.Repeats == 0 {
		o.Repeats = 3
	}
	if o.Model != nil && o.ModelSeeds == 0 {
		o.ModelSeeds = 1
	}
	if o.Shares == nil {
		o.Shares = []int{150, 300, 500, 700}
	}
	return o
}

// repeated is the rate at which the scripted writer is repeated.
func (o *Options) repeated() int { return o.Losses[len(o.Losses)/2] }

// even is the policy without the half-life: compartments fade by worth alone.
var even = func() decay.Settings {
	s := decay.Defaults()
	s.HalfLife = 1 << 20
	return s
}()

// trusting is the policy that takes the survival of a tier as it stands.
var trusting = func() decay.Settings {
	s := decay.Defaults()
	s.Trust = 1000
	return s
}()

// runner makes the records of one run.
type runner struct {
	o       Options
	count   func(string) int
	records []Record
	policy  decay.Settings
	run     *RunRecord
}

// Run makes the records of the experiment. The same options give the same records.
func Run(ctx context.Context, o Options) ([]Record, error) {
	r := &runner{o: o.filled(), count: tokens.NewCached(tokens.NewCache(1 << 16)).Count, policy: decay.Defaults()}
	if r.o.Seeds < 1 || r.o.Seeds > 10000 {
		return nil, fmt.Errorf("%d seeds are outside 1..10000", r.o.Seeds)
	}
	run := &RunRecord{Schema: Schema, Options: r.o}
	r.run = run
	if r.o.Model == nil {
		run.Skipped = append(run.Skipped, "model-made tiers: no backend is configured")
	}
	if len(r.o.Recorded) == 0 {
		run.Skipped = append(run.Skipped, "probes of recorded sessions: no sessions were given")
	}
	r.records = append(r.records, Record{Run: run})
	all, done := 2*r.o.Seeds+len(r.o.Recorded), 0
	step := func() {
		if done++; r.o.Progress != nil {
			r.o.Progress(done, all)
		}
	}
	for _, bank := range [...]fixtures.Bank{fixtures.Tuned, fixtures.Held} {
		for k := range r.o.Seeds {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if err := r.session(ctx, fixtures.Options{Seed: uint64(r.o.First + k), Bank: bank, Episodes: r.o.Episodes}); err != nil {
				return nil, err
			}
			step()
		}
	}
	for i := range r.o.Recorded {
		if err := r.recorded(ctx, i, &r.o.Recorded[i]); err != nil {
			return nil, err
		}
		step()
	}
	return r.records, nil
}

func (r *runner) session(ctx context.Context, o fixtures.Options) error {
	s, err := fixtures.New(o)
	if err != nil {
		return err
	}
	h, err := write(ctx, &s, r.count)
	if err != nil {
		return err
	}
	sum := 0
	for _, n := range h.weights {
		sum += n
	}
	r.records = append(r.records, Record{Session: &SessionRecord{Bank: o.Bank, Seed: o.Seed, Domain: s.Domain, Language: s.Language,
		Messages: len(s.Messages), Tokens: sum, Items: s.Items, Probes: s.Probes}})
	r.condition(h, Condition{Name: canonical}, 0, h.cs, cost{})
	made, took := h.oracleTiers(r.count)
	r.condition(h, Condition{Name: oracle}, 0, made, took)
	r.ablate(h, Condition{Name: oracle}, made)
	r.ablate(h, Condition{Name: canonical}, h.cs)
	for _, at := range h.moments() {
		for _, share := range r.o.Shares {
			budget := h.budget(at, share)
			r.show(h, ShownRecord{Condition: Condition{Name: "raw"}, Form: FormRaw, Share: share, Budget: budget, Upto: at}, h.truncated(h.cs[at-1].Last, budget))
		}
	}
	if o.Bank == fixtures.Held && int(o.Seed)-r.o.First < r.o.ModelSeeds && r.o.Model != nil {
		for _, name := range [...]string{grounded, cascaded} {
			made, took, err := h.modelled(ctx, name, r.o.Model, r.o.ModelName, len(h.cs), r.count)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				r.run.Skipped = append(r.run.Skipped, fmt.Sprintf("tiers %s by a model, session %d: %v", name, o.Seed, err))
				continue
			}
			r.condition(h, Condition{Name: "model-" + name}, 0, made, took)
		}
	}
	for _, name := range [...]string{grounded, cascaded} {
		for _, loss := range r.o.Losses {
			repeats := 1
			if loss == r.o.repeated() {
				repeats = r.o.Repeats
			}
			for repeat := range repeats {
				c := Condition{Name: name, Loss: loss}
				made, took := h.scripted(c, scribe(o.Seed, c, repeat), r.count)
				r.condition(h, c, repeat, made, took)
			}
		}
	}
	return nil
}

// scribe is the chance of one scripted writer. Both banks have the same.
func scribe(seed uint64, c Condition, repeat int) *rand.Rand {
	stream := uint64(c.Loss)<<8 | uint64(repeat)
	if c.Name == cascaded {
		stream |= 1 << 32
	}
	return rand.New(rand.NewPCG(seed, stream))
}

// moments are the places in the list of compartments at which a history is looked
// at: in the middle of the session and after three quarters.
func (h *history) moments() []int {
	n := len(h.cs)
	return []int{max(1, n/2), max(1, 3*n/4)}
}

// budget is a share, permille, of what the first compartments take at full as the
// built-in historian writes them. With the opening that explains the record.
func (h *history) budget(upto, share int) int {
	sum := 0
	for i := range h.cs[:upto] {
		sum += h.cs[i].Tiers[compartments.TierFull].Tokens + headingTokens
	}
	return sum*share/1000 + decay.Preamble(true)
}

// condition records what the tiers of a condition hold, and what is found in them
// under budgets.
func (r *runner) condition(h *history, c Condition, repeat int, cs []compartments.Compartment, took cost) {
	for i := range cs {
		for _, tier := range compartments.Rendered {
			text := cs[i].Tiers[tier]
			rec := &RepresentationRecord{Bank: h.session.Options.Bank, Seed: h.session.Options.Seed, Condition: c, Repeat: repeat, Tier: tier, TierName: tier.String(),
				First: cs[i].First, Last: cs[i].Last, Tokens: text.Tokens, Raw: cs[i].RawTokens, Added: len(h.unsupported(text.Text))}
			if i == 0 && tier == compartments.TierFull { // the bill of all stands with the first
				rec.Read, rec.Written = took.Read, took.Written
			}
			for _, it := range h.items[i] {
				rec.Items = append(rec.Items, h.answer(it, text.Text))
			}
			r.records = append(r.records, Record{Representation: rec})
		}
	}
	for _, at := range h.moments() {
		for _, share := range r.o.Shares {
			rec := ShownRecord{Condition: c, Repeat: repeat, Share: share, Budget: h.budget(at, share), Upto: at}
			r.forms(h, rec, cs, func(rec ShownRecord, s shown) { r.show(h, rec, s) })
		}
	}
}

// forms shows the compartments before a moment in all forms, under the budget of a
// record. What the tiers are worth is asked of the built-in historian's alone.
func (r *runner) forms(h *history, rec ShownRecord, cs []compartments.Compartment, show func(ShownRecord, shown)) {
	put := func(form Form, level string, cs []compartments.Compartment, s decay.Settings) {
		rec.Form, rec.Level = form, level
		show(rec, h.tiered(cs, rec.Budget, s, r.count))
	}
	if rec.Condition.Name == canonical {
		put(FormTiers, "", before(cs, rec.Upto), r.policy)
		put(FormEven, "", before(cs, rec.Upto), even)
		put(FormMeasured, "", before(cs, rec.Upto), trusting)
		rec.Form, rec.Level = FormTwo, ""
		show(rec, two(cs[:rec.Upto], rec.Budget, r.count))
		for _, tier := range compartments.Rendered[:len(compartments.Rendered)-1] {
			put(FormLess, tier.String(), less(before(cs, rec.Upto), tier), r.policy)
		}
	} else {
		put(FormTiers, "", h.averaged(before(cs, rec.Upto)), trusting)
	}
	if len(h.session.Items) > 0 {
		if rec.Condition.Name == canonical {
			put(FormMean, "", h.averaged(before(cs, rec.Upto)), trusting)
		}
		put(FormWorth, "", h.weighed(before(cs, rec.Upto)), trusting)
	}
	for _, tier := range compartments.Rendered {
		rec.Form, rec.Level = FormFlat, tier.String()
		show(rec, flat(cs[:rec.Upto], tier, rec.Budget, r.count))
	}
}

func (h *history) answer(it *fixtures.Item, text string) Answer {
	g := it.Grade(text)
	return Answer{Item: it.ID, Dimension: it.Dimension, Relevance: it.Relevance, Lead: it.Lead, Needed: h.needed[it.ID],
		Exact: g.Exact, Semantic: g.Semantic, Status: g.Status, Provenance: g.Provenance, Success: g.Success}
}

// show asks the probes that come behind what is shown.
func (r *runner) show(h *history, rec ShownRecord, s shown) {
	rec.Bank, rec.Seed, rec.Tokens = h.session.Options.Bank, h.session.Options.Seed, s.tokens
	rec.Tiers = named(s.tiers)
	for _, p := range h.due(h.cs[rec.Upto-1].Last) {
		rec.Answers = append(rec.Answers, h.answer(&h.session.Items[p.Item], s.text))
	}
	r.records = append(r.records, Record{Shown: &rec})
}

func named(tiers map[compartments.Tier]int) map[string]int {
	out := map[string]int{}
	for t, n := range tiers {
		if n > 0 {
			out[t.String()] = n
		}
	}
	return out
}

// forms of the ablation: the share of the budgets that is nearest to the middle.
func (o *Options) middle() int {
	shares := slices.Clone(o.Shares)
	slices.Sort(shares)
	return shares[len(shares)/2]
}

package quality

import (
	"cmp"
	"slices"

	"ctxplugin/compartments"
	"ctxplugin/decay"
	"ctxplugin/lab/fixtures"
)

// Summary is what the records say. Shares are permille.
type Summary struct {
	Seeds    int
	Tiers    []TierRow  // of both banks
	Budgets  []ShownRow // of both banks, and of recorded sessions
	Ablation []AblationRow
	Floors   []AblationRow
	Skipped  []string
}

// TierRow is one tier of one condition over all compartments of a bank.
type TierRow struct {
	Bank       fixtures.Bank
	Condition  Condition
	Tier       compartments.Tier
	Texts      int      // compartments, repeats counted
	Tokens     int      // in all
	Exact      int      // mean shares of all items
	Semantic   int      //
	Status     int      //
	Provenance int      //
	Kept       Estimate // of all items, those found whole
	Needed     Estimate // of the items that probes ask for
	Lead       Estimate // of the needed ones, those that were what their turn was about
	Aside      Estimate // and the others
	Gap        Estimate // points of needed items above the line between the tiers beside it; zero for the outer ones
	ByKind     [fixtures.Dimensions]Estimate
	Added      int // names and numbers that no message holds, per 10,000 tokens
	Misread    int // of 1000 items, said whole and read wrong
	Regained   int // of 1000 items, found here and not in the tier above
	Turned     int // of 1000 items, read right in the tier above and wrong here
	Sessions   int
	Cost       int64 // of making it and those that were made with it, for all sessions, micro-units
	Spread     int   // standard deviation of Needed over repeats, 1/10 permille; 0 without repeats
	Repeats    int
}

// ShownRow is what probes found in one form of one condition under one budget.
type ShownRow struct {
	Bank      fixtures.Bank
	Recorded  bool // of recorded sessions: names that come again
	Condition Condition
	Form      Form
	Level     string // of form flat the tier that does best on the tuned bank; of form less the one that is missing
	Share     int
	Tokens    int // mean taken
	Budget    int // mean
	Success   Estimate
	ByKind    [fixtures.Dimensions]Estimate
	ByClass   [fixtures.Relevances]Estimate
	Over      Estimate // points above flat, of other forms
	Under     Estimate // of forms less and measured: points below form tiers
	Tiers     map[string]int

	seeds []Tally
}

// AblationRow is what one dimension is worth: taken out of all tiers, or held by a
// floor, against the same budget without.
type AblationRow struct {
	Bank      fixtures.Bank
	Condition Condition
	Dimension fixtures.Dimension
	Share     int      // the budget
	Own       Estimate // points that its own probes change by
	Others    Estimate // points that the other probes change by
	All       Estimate
	Tokens    int // mean taken
	Budget    int // mean that was set
}

// Modelled are the prices by which generation is priced, in micro-units per million
// tokens.
var modelPrices = compartments.Prices{Input: 3_000_000, Output: 15_000_000, Kind: "none"}

// Summarise computes the summary of records, and nothing from anything else.
func Summarise(records []Record) Summary {
	var s Summary
	seeds := map[fixtures.Bank]map[uint64]bool{}
	for i := range records {
		if r := records[i].Run; r != nil {
			s.Skipped = r.Skipped
		}
		if r := records[i].Session; r != nil && r.Source == "" {
			if seeds[r.Bank] == nil {
				seeds[r.Bank] = map[uint64]bool{}
			}
			seeds[r.Bank][r.Seed] = true
		}
	}
	for _, have := range seeds {
		s.Seeds = max(s.Seeds, len(have))
	}
	s.Tiers = tierRows(records)
	s.Budgets = shownRows(records)
	s.Ablation, s.Floors = ablationRows(records)
	return s
}

// tallies gathers what was found by seed.
type tallies map[uint64]Tally

func (t tallies) add(seed uint64, found bool) {
	v := t[seed]
	v.Asked++
	if found {
		v.Found++
	}
	t[seed] = v
}

// list is by seed, in order.
func (t tallies) list() []Tally {
	seeds := make([]uint64, 0, len(t))
	for s := range t {
		seeds = append(seeds, s)
	}
	slices.Sort(seeds)
	out := make([]Tally, len(seeds))
	for i, s := range seeds {
		out[i] = t[s]
	}
	return out
}

type tierKey struct {
	bank      fixtures.Bank
	condition Condition
	tier      compartments.Tier
}

type tierSum struct {
	row                                 TierRow
	items                               int
	exact, semantic, status, provenance int
	kept, needed, lead, aside           tallies
	kinds                               [fixtures.Dimensions]tallies
	added, misread, regained, turned    int
	read, written                       int
	repeats                             map[int]Tally
}

func tierRows(records []Record) []TierRow {
	sums := map[tierKey]*tierSum{}
	var above *RepresentationRecord
	for i := range records {
		r := records[i].Representation
		if r == nil {
			continue
		}
		if above != nil && (above.First != r.First || above.Tier >= r.Tier) {
			above = nil
		}
		key := tierKey{r.Bank, r.Condition, r.Tier}
		t := sums[key]
		if t == nil {
			t = &tierSum{row: TierRow{Bank: r.Bank, Condition: r.Condition, Tier: r.Tier}, kept: tallies{}, needed: tallies{}, lead: tallies{}, aside: tallies{}, repeats: map[int]Tally{}}
			for d := range t.kinds {
				t.kinds[d] = tallies{}
			}
			sums[key] = t
		}
		t.row.Texts++
		t.row.Tokens += r.Tokens
		t.added += r.Added
		t.read += r.Read
		t.written += r.Written
		for k := range r.Items {
			a := &r.Items[k]
			t.items++
			t.exact += a.Exact
			t.semantic += a.Semantic
			t.status += a.Status
			t.provenance += a.Provenance
			t.kept.add(r.Seed, a.Success)
			t.kinds[a.Dimension].add(r.Seed, a.Success)
			if a.Needed {
				t.needed.add(r.Seed, a.Success)
				if a.Lead {
					t.lead.add(r.Seed, a.Success)
				} else {
					t.aside.add(r.Seed, a.Success)
				}
				v := t.repeats[r.Repeat]
				v.Asked++
				if a.Success {
					v.Found++
				}
				t.repeats[r.Repeat] = v
			}
			if a.Misread() {
				t.misread++
			}
			if above != nil && k < len(above.Items) {
				up := &above.Items[k]
				if a.Success && !up.Success {
					t.regained++
				}
				if a.Misread() && up.Success {
					t.turned++
				}
			}
		}
		above = r
	}
	out := make([]TierRow, 0, len(sums))
	for _, t := range sums {
		n := max(1, t.items)
		row := t.row
		row.Exact, row.Semantic, row.Status, row.Provenance = t.exact/n, t.semantic/n, t.status/n, t.provenance/n
		row.Kept, row.Needed = Bootstrap(t.kept.list()), Bootstrap(t.needed.list())
		row.Lead, row.Aside = Bootstrap(t.lead.list()), Bootstrap(t.aside.list())
		row.Gap = gap(sums, t)
		for d := range row.ByKind {
			row.ByKind[d] = Bootstrap(t.kinds[d].list())
		}
		row.Added = 10_000 * t.added / max(1, row.Tokens)
		row.Misread, row.Regained, row.Turned = 1000*t.misread/n, 1000*t.regained/n, 1000*t.turned/n
		row.Repeats, row.Sessions = len(t.repeats), len(t.kept)
		row.Cost = decay.Cost(decay.Bill{Fresh: t.read / max(1, row.Repeats), Output: t.written / max(1, row.Repeats)}, modelPrices)
		row.Spread = spread(t.repeats)
		out = append(out, row)
	}
	slices.SortFunc(out, func(a, b TierRow) int {
		return cmp.Or(cmp.Compare(a.Bank, b.Bank), compareConditions(a.Condition, b.Condition), cmp.Compare(a.Tier, b.Tier))
	})
	return out
}

// gap is by how much a tier holds more of what is needed than a mixture of the two
// beside it would, of the same size. Below the anchor there is nothing; above full
// there are the messages, which are too large to compare.
func gap(sums map[tierKey]*tierSum, t *tierSum) Estimate {
	up := sums[tierKey{t.row.Bank, t.row.Condition, t.row.Tier - 1}]
	down := sums[tierKey{t.row.Bank, t.row.Condition, t.row.Tier + 1}]
	if up == nil || t.row.Tier == compartments.TierAnchor && down != nil || t.row.Tier != compartments.TierAnchor && down == nil {
		return Estimate{}
	}
	low := []Tally(nil)
	floor := 0
	if down != nil {
		low, floor = down.needed.list(), down.row.Tokens
	}
	mine, high := t.needed.list(), up.needed.list()
	wide := up.row.Tokens - floor
	if wide <= 0 || len(mine) != len(high) {
		return Estimate{}
	}
	of := func(pick []int) int {
		below := 0
		if low != nil {
			below = share(low, pick)
		}
		return share(mine, pick) - below - (share(high, pick)-below)*(t.row.Tokens-floor)/wide
	}
	e := Estimate{Share: of(nil)}
	for _, s := range mine {
		e.Of += s.Asked
	}
	e.Low, e.High = interval(len(mine), of)
	return e
}

// spread is the standard deviation of shares, in 1/10 permille.
func spread(repeats map[int]Tally) int {
	n := len(repeats)
	if n < 2 {
		return 0
	}
	sum, squares := 0, 0
	for _, t := range repeats {
		v := 10_000 * t.Found / max(1, t.Asked)
		sum += v
		squares += v * v
	}
	return root((squares - sum*sum/n) / (n - 1))
}

// root is the integer square root.
func root(n int) int {
	x := 0
	for (x+1)*(x+1) <= n {
		x++
	}
	return x
}

// order of the conditions in tables.
var conditionOrder = []string{"raw", canonical, oracle, "model-" + grounded, "model-" + cascaded, grounded, cascaded}

func compareConditions(a, b Condition) int {
	return cmp.Or(cmp.Compare(slices.Index(conditionOrder, a.Name), slices.Index(conditionOrder, b.Name)), cmp.Compare(a.Loss, b.Loss))
}

type shownKey struct {
	bank      fixtures.Bank
	recorded  bool
	condition Condition
	form      Form
	level     string
	share     int
}

type shownSum struct {
	row            ShownRow
	n              int
	tokens, budget int
	all            tallies
	kinds          [fixtures.Dimensions]tallies
	classes        [fixtures.Relevances]tallies
}

func shownRows(records []Record) []ShownRow {
	sums := map[shownKey]*shownSum{}
	for i := range records {
		r := records[i].Shown
		if r == nil || r.Removed != "" || r.Floor != "" || r.Against != "" {
			continue
		}
		key := shownKey{r.Bank, r.Source != "", r.Condition, r.Form, r.Level, r.Share}
		t := sums[key]
		if t == nil {
			t = &shownSum{row: ShownRow{Bank: r.Bank, Recorded: r.Source != "", Condition: r.Condition, Form: r.Form, Level: r.Level, Share: r.Share, Tiers: map[string]int{}}, all: tallies{}}
			for d := range t.kinds {
				t.kinds[d] = tallies{}
			}
			for d := range t.classes {
				t.classes[d] = tallies{}
			}
			sums[key] = t
		}
		t.n++
		t.tokens += r.Tokens
		t.budget += r.Budget
		for name, n := range r.Tiers {
			t.row.Tiers[name] += n
		}
		if r.Source != "" {
			v := t.all[r.Seed]
			v.Found += r.Found
			v.Asked += r.Asked
			t.all[r.Seed] = v
		}
		for k := range r.Answers {
			a := &r.Answers[k]
			t.all.add(r.Seed, a.Success)
			t.kinds[a.Dimension].add(r.Seed, a.Success)
			t.classes[a.Relevance].add(r.Seed, a.Success)
		}
	}
	// flat has the level that does best on the tuned bank
	type flatKey struct {
		condition Condition
		share     int
	}
	best := map[flatKey]string{}
	top := map[flatKey]int{}
	for _, tier := range compartments.Rendered {
		for key, t := range sums {
			if key.form != FormFlat || key.level != tier.String() || key.recorded || key.bank != fixtures.Tuned {
				continue
			}
			k := flatKey{key.condition, key.share}
			if v := share(t.all.list(), nil); best[k] == "" || v > top[k] {
				best[k], top[k] = key.level, v
			}
		}
	}
	var out []ShownRow
	for key, t := range sums {
		if key.form == FormFlat && best[flatKey{key.condition, key.share}] != key.level {
			continue
		}
		row := t.row
		row.Tokens, row.Budget = t.tokens/t.n, t.budget/t.n
		row.seeds = t.all.list()
		row.Success = Bootstrap(row.seeds)
		for d := range row.ByKind {
			row.ByKind[d] = Bootstrap(t.kinds[d].list())
		}
		for d := range row.ByClass {
			row.ByClass[d] = Bootstrap(t.classes[d].list())
		}
		out = append(out, row)
	}
	slices.SortFunc(out, func(a, b ShownRow) int {
		recorded := 0
		if a.Recorded != b.Recorded {
			recorded = 1
			if b.Recorded {
				recorded = -1
			}
		}
		return cmp.Or(recorded, cmp.Compare(a.Bank, b.Bank), cmp.Compare(a.Share, b.Share), compareConditions(a.Condition, b.Condition), cmp.Compare(a.Form, b.Form), cmp.Compare(a.Level, b.Level))
	})
	for i := range out {
		if out[i].Form == FormFlat || out[i].Form == FormRaw {
			continue
		}
		for j := range out {
			b := &out[j]
			if b.Bank != out[i].Bank || b.Recorded != out[i].Recorded || b.Condition != out[i].Condition || b.Share != out[i].Share {
				continue
			}
			switch {
			case b.Form == FormFlat:
				out[i].Over = Paired(out[i].seeds, b.seeds)
			case b.Form == FormTiers && (out[i].Form == FormLess || out[i].Form == FormMeasured):
				out[i].Under = Paired(b.seeds, out[i].seeds)
			}
		}
	}
	return out
}

package quality

import (
	"cmp"
	"slices"

	"ctxplugin/lab/fixtures"
)

type ablationKey struct {
	bank      fixtures.Bank
	condition Condition
	removed   string
	floor     string
	against   string
	share     int
}

// ablationRows hold each run without a dimension, or with a floor on it, against
// the same budget as it is.
func ablationRows(records []Record) (without, floors []AblationRow) {
	type sum struct {
		kinds             [fixtures.Dimensions]tallies
		n, tokens, budget int
	}
	sums := map[ablationKey]*sum{}
	for i := range records {
		r := records[i].Shown
		if r == nil || r.Form != FormTiers || r.Source != "" {
			continue
		}
		key := ablationKey{r.Bank, r.Condition, r.Removed, r.Floor, r.Against, r.Share}
		s := sums[key]
		if s == nil {
			s = &sum{}
			for d := range s.kinds {
				s.kinds[d] = tallies{}
			}
			sums[key] = s
		}
		s.n++
		s.tokens += r.Tokens
		s.budget += r.Budget
		for k := range r.Answers {
			s.kinds[r.Answers[k].Dimension].add(r.Seed, r.Answers[k].Success)
		}
	}
	for key, s := range sums {
		name := cmp.Or(key.removed, key.floor)
		if name == "" {
			continue
		}
		var d fixtures.Dimension
		if d.UnmarshalText([]byte(name)) != nil {
			continue
		}
		against := ablationKey{bank: key.bank, condition: key.condition, share: key.share, against: againstNone}
		if key.floor != "" {
			against.against = name
		}
		plain := sums[against]
		if plain == nil {
			continue
		}
		together := func(s *sum, of func(fixtures.Dimension) bool) []Tally {
			all := tallies{}
			for k := range s.kinds {
				if !of(fixtures.Dimension(k)) {
					continue
				}
				for seed, v := range s.kinds[k] {
					w := all[seed]
					all[seed] = Tally{w.Found + v.Found, w.Asked + v.Asked}
				}
			}
			return all.list()
		}
		change := func(of func(fixtures.Dimension) bool) Estimate { return Paired(together(s, of), together(plain, of)) }
		row := AblationRow{Bank: key.bank, Condition: key.condition, Dimension: d, Share: key.share, Tokens: s.tokens / max(1, s.n), Budget: s.budget / max(1, s.n),
			Own:    change(func(k fixtures.Dimension) bool { return k == d }),
			Others: change(func(k fixtures.Dimension) bool { return k != d }),
			All:    change(func(fixtures.Dimension) bool { return true })}
		if key.removed != "" {
			without = append(without, row)
		} else {
			floors = append(floors, row)
		}
	}
	for _, rows := range [...][]AblationRow{without, floors} {
		slices.SortFunc(rows, func(a, b AblationRow) int {
			return cmp.Or(cmp.Compare(a.Bank, b.Bank), compareConditions(a.Condition, b.Condition), cmp.Compare(a.Dimension, b.Dimension))
		})
	}
	return without, floors
}

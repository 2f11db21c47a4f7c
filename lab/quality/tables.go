package quality

import (
	"fmt"
	"strings"

	"ctxplugin/lab/fixtures"
)

// Table is a table for people. Shares are percent, with the interval where one was
// computed.
type Table struct {
	Title string
	Head  []string
	Rows  [][]string
	Words int // so many first columns are text, the others numbers
}

func (t *Table) add(cells ...string) { t.Rows = append(t.Rows, cells) }

// Tables shows the summary: what tiers hold, what is found under budgets, and what
// each dimension and each floor is worth. Those of the held-out bank come first.
func (s *Summary) Tables() []Table {
	var out []Table
	put := func(t Table) {
		if len(t.Rows) > 0 {
			out = append(out, t)
		}
	}
	put(s.kept(fixtures.Held))
	put(s.pays())
	put(s.found(fmt.Sprintf("Needed items found at equal budgets, bank %v", fixtures.Held), func(r *ShownRow) bool { return r.Bank == fixtures.Held && !r.Recorded }))
	put(s.found("Names that come again, found at equal budgets in recorded sessions", func(r *ShownRow) bool { return r.Recorded }))
	put(s.order())
	put(s.split("Found by dimension", int(fixtures.Dimensions), func(k int) string { return fixtures.Dimension(k).String() }, func(r *ShownRow, k int) Estimate { return r.ByKind[k] }))
	put(s.split("Found by relevance", int(fixtures.Relevances), func(k int) string { return fixtures.Relevance(k).String() }, func(r *ShownRow, k int) Estimate { return r.ByClass[k] }))
	put(removed("Without one dimension in any tier, points", s.Ablation, false))
	put(removed("With a floor of half on one dimension, points above the same tokens without", s.Floors, true))
	put(s.kept(fixtures.Tuned))
	put(s.found(fmt.Sprintf("Needed items found at equal budgets, bank %v", fixtures.Tuned), func(r *ShownRow) bool { return r.Bank == fixtures.Tuned && !r.Recorded }))
	return out
}

// Markdown writes tables for a document.
func Markdown(tables []Table) string {
	var b strings.Builder
	for i := range tables {
		t := &tables[i]
		fmt.Fprintf(&b, "\n#### %s\n\n| %s |\n|", t.Title, strings.Join(t.Head, " | "))
		for k := range t.Head {
			if k < t.Words {
				b.WriteString("---|")
			} else {
				b.WriteString("---:|")
			}
		}
		b.WriteByte('\n')
		for _, row := range t.Rows {
			fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
		}
	}
	return b.String()
}

func number(n int) string { return fmt.Sprint(n) }

func (s *Summary) kept(bank fixtures.Bank) Table {
	t := Table{Title: fmt.Sprintf("What each tier holds, bank %v", bank), Words: 2,
		Head: []string{"written", "tier", "tokens", "exact", "semantic", "status", "provenance", "whole", "needed", "leading", "aside"}}
	for i := range s.Tiers {
		if r := &s.Tiers[i]; r.Bank == bank {
			t.add(r.Condition.String(), r.Tier.String(), number(r.Tokens/max(1, r.Texts)), tenths(r.Exact), tenths(r.Semantic), tenths(r.Status),
				tenths(r.Provenance), tenths(r.Kept.Share), r.Needed.String(), tenths(r.Lead.Share), tenths(r.Aside.Share))
		}
	}
	return t
}

// pays says what is wrong in each tier, what making it costs, and whether it is worth
// having beside its neighbours.
func (s *Summary) pays() Table {
	t := Table{Title: fmt.Sprintf("What is wrong in each tier, where it stands between its neighbours, and what all cost, bank %v", fixtures.Held), Words: 2,
		Head: []string{"written", "tier", "added", "misread", "regained", "turned", "above the line", "dollars a session", "deviation"}}
	for i := range s.Tiers {
		r := &s.Tiers[i]
		if r.Bank != fixtures.Held {
			continue
		}
		gap, spread, cost := "", "", ""
		if r.Gap != (Estimate{}) {
			gap = r.Gap.String()
		}
		if r.Repeats > 1 {
			spread = fmt.Sprintf("%d.%02d", r.Spread/100, r.Spread%100)
		}
		if r.Cost > 0 {
			each := r.Cost / int64(max(1, r.Sessions))
			cost = fmt.Sprintf("%d.%02d", each/1_000_000, each/10_000%100)
		}
		t.add(r.Condition.String(), r.Tier.String(), tenths(r.Added), tenths(r.Misread), tenths(r.Regained), tenths(r.Turned), gap, cost, spread)
	}
	return t
}

func (s *Summary) found(title string, of func(*ShownRow) bool) Table {
	t := Table{Title: title, Words: 2, Head: []string{"written", "shown", "budget", "tokens", "found", "above flat", "less than all tiers"}}
	for i := range s.Budgets {
		r := &s.Budgets[i]
		if !of(r) {
			continue
		}
		above, under := "", ""
		if r.Form != FormFlat && r.Form != FormRaw {
			above = r.Over.String()
		}
		if r.Form == FormLess || r.Form == FormMeasured {
			under = r.Under.String()
		}
		t.add(r.Condition.String(), r.shown(), tenths(r.Share)+" %", number(r.Tokens), r.Success.String(), above, under)
	}
	return t
}

// order says whether the banks and the recorded sessions agree on what is better.
func (s *Summary) order() Table {
	t := Table{Title: "Order of raw, flat and tiers, best first", Words: 4, Head: []string{"budget", "held", "tuned", "recorded"}}
	for _, o := range s.Orders() {
		t.add(tenths(o.Share)+" %", strings.Join(o.Held, ", "), strings.Join(o.Tuned, ", "), strings.Join(o.Recorded, ", "))
	}
	return t
}

// split takes apart what is found at the budget in the middle.
func (s *Summary) split(title string, n int, name func(int) string, of func(*ShownRow, int) Estimate) Table {
	middle := s.middle()
	t := Table{Title: fmt.Sprintf("%s, at a budget of %s %%, bank %v", title, tenths(middle), fixtures.Held), Words: 2, Head: []string{"written", "shown"}}
	for k := range n {
		t.Head = append(t.Head, name(k))
	}
	for i := range s.Budgets {
		r := &s.Budgets[i]
		if r.Bank != fixtures.Held || r.Recorded || r.Share != middle || r.Condition.Name == grounded || r.Condition.Name == cascaded || r.Form == FormLess || r.Form == FormMeasured {
			continue
		}
		row := []string{r.Condition.String(), r.shown()}
		for k := range n {
			cell := "–"
			if e := of(r, k); e.Of > 0 {
				cell = tenths(e.Share)
			}
			row = append(row, cell)
		}
		t.add(row...)
	}
	return t
}

func removed(title string, rows []AblationRow, floor bool) Table {
	t := Table{Title: fmt.Sprintf("%s, bank %v", title, fixtures.Held), Words: 2, Head: []string{"written", "dimension", "budget", "tokens", "its own probes", "the others", "all"}}
	if floor {
		t.Head = append(t.Head, "the runs support")
	}
	for i := range rows {
		r := &rows[i]
		if r.Bank != fixtures.Held {
			continue
		}
		row := []string{r.Condition.String(), r.Dimension.String(), tenths(r.Share) + " %", number(r.Tokens), r.Own.String(), r.Others.String(), r.All.String()}
		if floor {
			row = append(row, r.Verdict())
		}
		t.add(row...)
	}
	return t
}

func (r *ShownRow) shown() string {
	switch r.Form {
	case FormFlat:
		return "flat " + r.Level
	case FormLess:
		return "tiers without " + r.Level
	}
	return string(r.Form)
}

package quality

import (
	"fmt"
	"strings"

	"ctxplugin/lab/fixtures"
)

// Tables writes the summary as Markdown tables, for people. Shares are percent, with
// the interval where one was computed.
func (s *Summary) Tables() string {
	var b strings.Builder
	banks := [...]fixtures.Bank{fixtures.Held, fixtures.Tuned}
	for _, bank := range banks {
		s.kept(&b, bank)
	}
	s.pays(&b)
	for _, bank := range banks {
		fmt.Fprintf(&b, "\n#### Needed items found at equal budgets, bank %v\n\n", bank)
		s.budgets(&b, func(r *ShownRow) bool { return r.Bank == bank && !r.Recorded })
	}
	b.WriteString("\n#### Names that come again, found at equal budgets in recorded sessions\n\n")
	s.budgets(&b, func(r *ShownRow) bool { return r.Recorded })
	s.order(&b)
	s.kinds(&b)
	s.removed(&b)
	for _, why := range s.Skipped {
		fmt.Fprintf(&b, "\nLeft out: %s.\n", why)
	}
	return b.String()
}

func (s *Summary) kept(b *strings.Builder, bank fixtures.Bank) {
	fmt.Fprintf(b, "\n#### What each tier holds, bank %v\n\n", bank)
	b.WriteString("| written | tier | tokens | exact | semantic | status | provenance | whole | needed | leading | aside |\n|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, r := range s.Tiers {
		if r.Bank == bank {
			fmt.Fprintf(b, "| %v | %v | %d | %s | %s | %s | %s | %s | %v | %s | %s |\n", r.Condition, r.Tier, r.Tokens/max(1, r.Texts), tenths(r.Exact), tenths(r.Semantic), tenths(r.Status),
				tenths(r.Provenance), tenths(r.Kept.Share), r.Needed, tenths(r.Lead.Share), tenths(r.Aside.Share))
		}
	}
}

// pays says what making and keeping each tier costs, and whether it is worth having.
func (s *Summary) pays(b *strings.Builder) {
	fmt.Fprintf(b, "\n#### What is wrong in each tier, what it costs, and where it stands between its neighbours, bank %v\n\n", fixtures.Held)
	b.WriteString("| written | tier | added | misread | regained | turned | above the line | cost | deviation |\n|---|---|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, r := range s.Tiers {
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
			cost = fmt.Sprintf("%d.%02d", r.Cost/1_000_000, r.Cost/10_000%100)
		}
		fmt.Fprintf(b, "| %v | %v | %d.%d | %s | %s | %s | %s | %s | %s |\n", r.Condition, r.Tier, r.Added/10, r.Added%10, tenths(r.Misread), tenths(r.Regained), tenths(r.Turned), gap, cost, spread)
	}
}

func (s *Summary) budgets(b *strings.Builder, of func(*ShownRow) bool) {
	b.WriteString("| budget | written | shown | tokens | found | above flat | less than all tiers |\n|---:|---|---|---:|---:|---:|---:|\n")
	for i := range s.Budgets {
		if of(&s.Budgets[i]) {
			b.WriteString(s.Budgets[i].line())
		}
	}
}

// order says whether the banks and the recorded sessions agree on what is better.
func (s *Summary) order(b *strings.Builder) {
	b.WriteString("\n#### Order of raw, flat and tiers, best first\n\n| budget | held | tuned | recorded |\n|---:|---|---|---|\n")
	for _, o := range s.Orders() {
		fmt.Fprintf(b, "| %s %% | %s | %s | %s |\n", tenths(o.Share), strings.Join(o.Held, ", "), strings.Join(o.Tuned, ", "), strings.Join(o.Recorded, ", "))
	}
}

// kinds splits what the built-in historian's tiers answer, at the budget in the middle.
func (s *Summary) kinds(b *strings.Builder) {
	middle := s.middle()
	part := func(title string, n int, name func(int) string, of func(*ShownRow, int) Estimate) {
		fmt.Fprintf(b, "\n#### %s, at a budget of %s %%, bank %v\n\n| written | shown |", title, tenths(middle), fixtures.Held)
		for k := range n {
			fmt.Fprintf(b, " %s |", name(k))
		}
		b.WriteString("\n|---|---|" + strings.Repeat("---:|", n) + "\n")
		for i := range s.Budgets {
			r := &s.Budgets[i]
			if r.Bank != fixtures.Held || r.Recorded || r.Share != middle || r.Condition.Name == grounded || r.Condition.Name == cascaded || r.Form == FormLess || r.Form == FormCounted {
				continue
			}
			fmt.Fprintf(b, "| %v | %s |", r.Condition, r.shown())
			for k := range n {
				fmt.Fprintf(b, " %s |", tenths(of(r, k).Share))
			}
			b.WriteByte('\n')
		}
	}
	part("Found by dimension", int(fixtures.Dimensions), func(k int) string { return fixtures.Dimension(k).String() }, func(r *ShownRow, k int) Estimate { return r.ByKind[k] })
	part("Found by relevance", int(fixtures.Relevances), func(k int) string { return fixtures.Relevance(k).String() }, func(r *ShownRow, k int) Estimate { return r.ByClass[k] })
}

func (s *Summary) removed(b *strings.Builder) {
	for _, part := range [...]struct {
		title string
		rows  []AblationRow
		floor bool
	}{{"Without one dimension", s.Ablation, false}, {"With a floor of half on one dimension, against the same tokens without", s.Floors, true}} {
		fmt.Fprintf(b, "\n#### %s, bank %v\n\n| written | budget | dimension | tokens | its own probes | the others | all |", part.title, fixtures.Held)
		if part.floor {
			b.WriteString(" the runs support |")
		}
		b.WriteString("\n|---|---:|---|---:|---:|---:|---:|")
		if part.floor {
			b.WriteString("---|")
		}
		b.WriteByte('\n')
		for _, r := range part.rows {
			if r.Bank != fixtures.Held {
				continue
			}
			fmt.Fprintf(b, "| %v | %s %% | %v | %d | %v | %v | %v |", r.Condition, tenths(r.Share), r.Dimension, r.Tokens, r.Own, r.Others, r.All)
			if part.floor {
				fmt.Fprintf(b, " %s |", r.Verdict())
			}
			b.WriteByte('\n')
		}
	}
}

func (r *ShownRow) shown() string {
	switch r.Form {
	case FormFlat:
		return "flat " + r.Level
	case FormLess:
		return "tiers without " + r.Level
	case FormCounted:
		if r.Level != "" {
			return "counted, without " + r.Level
		}
	}
	return string(r.Form)
}

func (r *ShownRow) line() string {
	above, under := "", ""
	if r.Form != FormFlat && r.Form != FormRaw {
		above = r.Over.String()
	}
	if r.Form == FormLess || r.Form == FormCounted {
		under = r.Under.String()
	}
	return fmt.Sprintf("| %s %% | %v | %s | %d | %v | %s | %s |\n", tenths(r.Share), r.Condition, r.shown(), r.Tokens, r.Success, above, under)
}

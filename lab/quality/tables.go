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
	for _, bank := range [...]fixtures.Bank{fixtures.Held, fixtures.Tuned} {
		fmt.Fprintf(&b, "\n#### What each tier holds, bank %v\n\n", bank)
		b.WriteString("| written | tier | tokens | exact | semantic | status | provenance | whole | of what is needed | added | misread | regained | turned |\n|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n")
		for _, r := range s.Tiers {
			if r.Bank != bank {
				continue
			}
			fmt.Fprintf(&b, "| %v | %v | %d | %s | %s | %s | %s | %s | %s | %d.%d | %s | %s | %s |\n", r.Condition, r.Tier, r.Tokens/max(1, r.Texts), tenths(r.Exact), tenths(r.Semantic), tenths(r.Status),
				tenths(r.Provenance), tenths(r.Kept.Share), r.Needed, r.Added/10, r.Added%10, tenths(r.Misread), tenths(r.Regained), tenths(r.Turned))
		}
	}
	for _, bank := range [...]fixtures.Bank{fixtures.Held, fixtures.Tuned} {
		fmt.Fprintf(&b, "\n#### Needed items found at equal budgets, bank %v\n\n", bank)
		b.WriteString("| budget | written | shown | tokens | found | above flat |\n|---:|---|---|---:|---:|---:|\n")
		for _, r := range s.Budgets {
			if r.Bank == bank && !r.Recorded {
				b.WriteString(r.line())
			}
		}
	}
	b.WriteString("\n#### Names that come again in recorded sessions\n\n| budget | written | shown | tokens | found | above flat |\n|---:|---|---|---:|---:|---:|\n")
	for _, r := range s.Budgets {
		if r.Recorded {
			b.WriteString(r.line())
		}
	}
	for _, part := range [...]struct {
		title string
		rows  []AblationRow
	}{{"Without one dimension", s.Ablation}, {"With a floor on one dimension", s.Floors}} {
		fmt.Fprintf(&b, "\n#### %s, bank %v\n\n| written | dimension | tokens | of | its own probes | the others | all |\n|---|---|---:|---:|---:|---:|---:|\n", part.title, fixtures.Held)
		for _, r := range part.rows {
			if r.Bank == fixtures.Held {
				fmt.Fprintf(&b, "| %v | %v | %d | %d | %v | %v | %v |\n", r.Condition, r.Dimension, r.Tokens, r.Budget, r.Own, r.Others, r.All)
			}
		}
	}
	return b.String()
}

func (r *ShownRow) line() string {
	form, above := string(r.Form), ""
	switch r.Form {
	case FormFlat:
		form += " " + r.Level
	case FormLess:
		form = "tiers without " + r.Level
	}
	if r.Form != FormFlat && r.Form != FormRaw {
		above = r.Over.String()
	}
	return fmt.Sprintf("| %s %% | %v | %s | %d | %v | %s |\n", tenths(r.Share), r.Condition, form, r.Tokens, r.Success, above)
}

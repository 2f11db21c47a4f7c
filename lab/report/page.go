package report

import (
	_ "embed" // for the style
	"fmt"
	"html"
	"io"
	"slices"
	"strings"

	"ctxplugin/lab/trajectory"
	"ctxplugin/lab/verdict"
)

//go:embed style.css
var style string

// Section is a part of a page that others made.
type Section struct {
	Title  string
	Text   []string // paragraphs before the tables
	Tables []Table
}

// Input is what a report is about.
type Input struct {
	Title   string
	Setting []string // what was run, one sentence each
	Sums    *verdict.Sums
	Real    *verdict.Sums // of real sessions; nil where there were none
	Before  []Section     // behind the verdicts
	After   []Section     // at the end
}

func escape(s string) string { return html.EscapeString(s) }

// page is a page being written.
type page struct {
	b   strings.Builder
	err error
}

func (p *page) head(level int, text string) {
	fmt.Fprintf(&p.b, "<h%d>%s</h%d>\n", level, escape(text), level)
}

func (p *page) text(s string) { fmt.Fprintf(&p.b, "<p>%s</p>\n", escape(s)) }

func (p *page) chart(svg string, err error) {
	if err != nil && p.err == nil {
		p.err = err
	}
	p.b.WriteString(svg)
}

func (p *page) table(t Table) {
	if len(t.Rows) == 0 {
		return
	}
	class := ""
	if t.Words {
		class = ` class="words"`
	}
	fmt.Fprintf(&p.b, "<div class=\"scroll\"><table%s><caption>%s</caption>\n<thead><tr>", class, escape(t.Caption))
	for _, h := range t.Head {
		fmt.Fprintf(&p.b, "<th scope=\"col\">%s</th>", escape(h))
	}
	p.b.WriteString("</tr></thead>\n<tbody>\n")
	for _, row := range t.Rows {
		p.b.WriteString("<tr>")
		for i, cell := range row {
			tag, mark := "td", ""
			if i == 0 {
				tag, mark = "th", ` scope="row"`
			}
			switch cell {
			case string(verdict.Supported), string(verdict.Weakened), string(verdict.Refuted), "missed", "reached":
				mark = ` class="` + cell + `"`
			}
			if t.Words && i > 0 {
				mark += ` data-label="` + escape(t.Head[i]) + `"` // for narrow pages, where cells stand below each other
			}
			fmt.Fprintf(&p.b, "<%s%s>%s</%s>", tag, mark, escape(cell), tag)
		}
		p.b.WriteString("</tr>\n")
	}
	p.b.WriteString("</tbody></table></div>\n")
}

func (p *page) section(s Section) {
	p.head(2, s.Title)
	for _, text := range s.Text {
		p.text(text)
	}
	for _, t := range s.Tables {
		p.table(t)
	}
}

// Page writes the page.
func Page(w io.Writer, in Input) error {
	p := &page{}
	fmt.Fprintf(&p.b, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><meta name=\"color-scheme\" content=\"light dark\">\n<title>%s</title>\n<style>\n%s</style></head>\n<body><main>\n<h1>%s</h1>\n",
		escape(in.Title), style, escape(in.Title))
	for _, s := range in.Setting {
		p.text(s)
	}
	list := verdict.Judge(in.Sums)
	p.head(2, "Verdicts")
	p.text("Each rule was written down before the runs. A claim is supported if its measure is above 0 in 95 of 100 bootstrap samples over seeds, refuted if the mean is not above 0, weakened between.")
	p.table(verdicts(list))
	p.table(aims(in.Sums, list))
	for _, s := range in.Before {
		p.section(s)
	}
	p.comparison(in.Sums)
	p.splits(in.Sums)
	p.course(in.Sums)
	p.costs(in.Sums)
	p.real(in.Real)
	for _, s := range in.After {
		p.section(s)
	}
	p.b.WriteString("</main></body></html>\n")
	if p.err != nil {
		return p.err
	}
	_, err := io.WriteString(w, p.b.String())
	return err
}

func (p *page) comparison(s *verdict.Sums) {
	p.head(2, "Survival for tokens")
	names, points, most, front := survival(s)
	p.chart(scatter("Share of probes answered, by the mean tokens of the head: every policy at every window, at the moments of ours", names, points, most))
	p.table(front)
	p.table(policies(s, trajectory.Same, "At the moments of ours: the same folds, budget and stubs, so that only the tiers differ"))
	p.table(policies(s, trajectory.Own, "On a schedule of their own: folds by pressure, in a window for which the mean request is as large as that of ours"))
	p.text("Too little: the compartment that says it is shown at less than the lowest tier that answers. Too much: at more. Needed: tokens of entries that answered a probe of their turn. Reversals: switches in the other direction than the one before, per 100 turns.")
	p.table(windows(s))
}

func (p *page) splits(s *verdict.Sums) {
	p.head(2, "Probes by dimension")
	byDimension := split(s, "Probes answered, by dimension", "dimension", func(sum *verdict.Sum) map[string][2]int { return sum.Dimensions })
	p.splitChart("Share of probes answered, by dimension", s, func(sum *verdict.Sum) map[string][2]int { return sum.Dimensions })
	p.table(byDimension)
	p.table(split(s, "Probes answered, by what became of the item", "item", func(sum *verdict.Sum) map[string][2]int { return sum.Relevances }))
	table, labels, values := ages(s)
	p.chart(lines("Share of probes answered, by the turns since it was said", labels, compared(s), values, percentage))
	p.table(table)
	p.table(classes(s))
	p.table(choices(s))
}

func (p *page) splitChart(what string, s *verdict.Sums, parts func(*verdict.Sum) map[string][2]int) {
	names := []string{trajectory.Ours, s.BestFlat(trajectory.Same), trajectory.HalfLifeCurve, trajectory.OracleSchedule}
	var categories []string
	values := make([][]float64, len(names))
	for i, name := range names {
		m := parts(verdict.Total(s.Of(name, trajectory.Same)))
		if i == 0 {
			categories = keysOf(m)
		}
		for _, c := range categories {
			values[i] = append(values[i], 100*float64(m[c][0])/float64(max(1, m[c][1])))
		}
	}
	p.chart(bars(what, categories, names, values, 100, percentage))
}

// course shows one session from turn to turn.
func (p *page) course(s *verdict.Sums) {
	seeds := s.Seeds()
	if len(seeds) == 0 {
		return
	}
	turns := s.Turns(trajectory.Ours, trajectory.Same, seeds[0])
	p.head(2, "One session, turn by turn")
	p.text(fmt.Sprintf("Seed %d under ours.", seeds[0]))
	labels := make([]string, len(turns))
	shown := []string{"full", "dense", "compact", "anchor", "index"}
	tiers := make([][]float64, len(shown))
	for i, t := range turns {
		labels[i] = fmt.Sprint(t.Turn + 1)
		for k, name := range shown {
			tiers[k] = append(tiers[k], float64(t.TierTokens[name]))
		}
	}
	p.chart(layers("Tokens of the head by tier, over the turns", labels, shown, tiers))
	pressure, folds := make([]float64, len(turns)), make([]float64, len(turns))
	reasons := map[string]int{}
	made := map[int]bool{}
	for _, f := range s.Folds(seeds[0]) {
		reasons[f.Reason]++
		made[f.Turn] = true
	}
	for i, t := range turns {
		pressure[i] = float64(t.Pressure) / 10
		folds[i] = null()
		if made[t.Turn] {
			folds[i] = pressure[i]
		}
	}
	p.chart(lines("Pressure at the first request of each turn, and the turns with a fold", labels, []string{"pressure", "fold"}, [][]float64{pressure, folds}, percentage))
	var said []string
	for reason, n := range reasons {
		said = append(said, fmt.Sprintf("%s %d", reason, n))
	}
	slices.Sort(said)
	p.text("Folds by reason: " + strings.Join(said, ", ") + ".")
}

func (p *page) costs(s *verdict.Sums) {
	p.head(2, "Costs")
	p.text("All tokens become money by the price arithmetic of package decay. A cache with marks looks back 20 blocks; an automatic one takes prefixes in steps of 128 tokens from 1,024 on. Idle times are those of the sessions. All but full history have the same mean request; full history is over the window for most of a session, and no provider would take it.")
	table, labels, names, values := costs(s, "A session, with providers as they are")
	if len(labels) > 0 {
		fit := len(names) - 1 // the last is the full history, which dwarfs all others
		p.chart(bars("Dollars a session, without the full history", labels, names[:fit], values[:fit], 0, func(v float64) string { return fmt.Sprintf("%.1f", v) }))
	}
	p.table(table)
	p.table(prices())
}

func (p *page) real(s *verdict.Sums) {
	p.head(2, "Real sessions")
	if s == nil {
		p.text("No folder of sessions was given (--sessions DIR): the ecology of real sessions and the probes derived from them are left out.")
		return
	}
	for _, t := range ecology(s) {
		p.table(t)
	}
}

package lab

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"
)

func writeReport(w io.Writer, results []*result, set *settings, o ReplayOptions) error {
	var b strings.Builder
	for i, r := range results {
		if i > 0 {
			b.WriteByte('\n')
		}
		r.report(&b, set, !o.NoTimings)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// reportName says which session was played, and in which window.
func (r *result) reportName(b *strings.Builder, set *settings) {
	fmt.Fprintf(b, "%s", r.rec.name)
	if r.rec.title != "" {
		fmt.Fprintf(b, "  %q", clip(r.rec.title, 70-len(r.rec.name)))
	}
	fmt.Fprintf(b, "\n%s messages, %s requests", thousands(len(r.rec.messages)), thousands(r.requests))
	if r.compactions > 0 {
		fmt.Fprintf(b, ", %s by the host itself", count(r.compactions, "compaction"))
	}
	w := set.window
	fmt.Fprintf(b, "\nwindow %s, for the reply %s, system and tools %s, usable %s tokens\n\n",
		thousands(w.context), thousands(w.reserve), thousands(w.prefix), thousands(w.usable))
}

func (r *result) report(b *strings.Builder, set *settings, timings bool) {
	r.reportName(b, set)
	if set.ablate != "" {
		fmt.Fprintf(b, "without %s\n\n", strings.ReplaceAll(set.ablate, ",", ", "))
	}
	if set.prefer != "" {
		fmt.Fprintf(b, "folds for %s\n\n", set.prefer)
	}
	r.reportFolds(b)
	b.WriteByte('\n')
	r.reportBills(b, set)
	b.WriteByte('\n')
	if r.measures != nil {
		r.measures.report(b)
	}
	r.reportRest(b, timings)
}

func (r *result) reportFolds(b *strings.Builder) {
	if len(r.folds) == 0 {
		b.WriteString("no folds: everything fitted as it was\n")
		return
	}
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "fold\tstep\treason\tchanges\tbefore\tafter\thistory\t  tiers\n")
	for _, f := range r.folds {
		fmt.Fprintf(t, "%d\t%d\t%s\t%s\t%s\t%s\t%s\t  %s\n", f.Number, f.Step, f.Reason, f.changes(),
			thousands(f.Before), thousands(f.After), thousands(f.History), tiers(f.Tiers))
	}
	t.Flush()
}

// changes says in a word which pairs of the head a fold changed.
func (f *fold) changes() string {
	switch {
	case f.Divergence == 0:
		return "all"
	case f.Divergence == f.Pairs-1:
		return fmt.Sprintf("pair %d on", f.Divergence+1)
	}
	return fmt.Sprintf("from pair %d", f.Divergence+1)
}

var tierOrder = [...]string{"raw", "full", "dense", "compact", "anchor", "index", "archived"}

func tiers(m map[string]int) string {
	var out []string
	for _, t := range tierOrder {
		if m[t] > 0 {
			out = append(out, fmt.Sprintf("%d %s", m[t], t))
		}
	}
	return strings.Join(out, ", ")
}

func (r *result) reportBills(b *strings.Builder, set *settings) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "\ttokens sent\tfrom cache\tnew prefixes\tcost\tover the window\t\n")
	r.bill.line(t, "ctxplugin")
	for _, base := range r.baselines {
		base.bill.line(t, base.name)
	}
	t.Flush()
	set.reportPrices(b)
}

func (s *settings) reportPrices(b *strings.Builder) {
	p := s.prices
	fmt.Fprintf(b, "prices per million: input %s, output %s, cache read %s, write %s (%s)\n",
		money(p.Input, 2), money(p.Output, 2), money(p.CacheRead, 2), money(p.CacheWrite, 2), p.Kind)
}

func (t *bill) line(w io.Writer, name string) {
	fmt.Fprintf(w, "%s\t%s\t%d.%d %%\t%d\t%s\t%s\t\n", name, thousands64(t.Tokens), t.readShare()/10, t.readShare()%10,
		t.NewPrefix, money(t.Cost, 4), orNone(t.OverWindow))
}

// shownIrreducible is how many requests too large the report names.
const shownIrreducible = 5

func (r *result) reportRest(b *strings.Builder, timings bool) {
	fmt.Fprintf(b, "largest request %s tokens of messages", thousands(r.peak))
	if r.stubs > 0 {
		fmt.Fprintf(b, ", %s", count(r.stubs, "stub"))
	}
	b.WriteByte('\n')
	for n, i := range r.irreducible {
		if n == shownIrreducible {
			fmt.Fprintf(b, "and %s that could not be reduced\n", count(len(r.irreducible)-n, "more request"))
			break
		}
		fmt.Fprintf(b, "step %d sends %s tokens, and less was impossible: %s\n", i.Step, thousands(i.Tokens), clip(i.Named, 50))
	}
	if timings && len(r.latency) > 0 {
		fmt.Fprintf(b, "transform: p50 %s, p95 %s, p99 %s\n", millis(r.quantile(500)), millis(r.quantile(950)), millis(r.quantile(990)))
	}
	for _, w := range r.warnings {
		wrap(b, w)
	}
	r.reportChecks(b)
}

// reportWidth is the columns that a line of the report takes at most.
const reportWidth = 100

// wrap writes a text on lines of the report; those after the first are indented.
func wrap(b *strings.Builder, text string) {
	used := 0
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case used+1+n > reportWidth:
			b.WriteString("\n ")
			used = 1
			fallthrough
		default:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += n
	}
	b.WriteByte('\n')
}

func (r *result) reportChecks(b *strings.Builder) {
	held := 0
	for _, n := range r.verdicts.held {
		held += n
	}
	fmt.Fprintf(b, "%s held, %s broken\n", count(held, "check"), orNone(len(r.verdicts.breaches)))
	for _, x := range firstOfEach(r.verdicts.breaches) {
		fmt.Fprintf(b, "  %s\n", x)
	}
}

// firstOfEach lists the first three breaches of each promise, and how many more
// there are.
func firstOfEach(all []breach) []string {
	var out []string
	for _, promise := range promises {
		n := 0
		for _, x := range all {
			if x.Promise != promise {
				continue
			}
			if n++; n <= 3 {
				out = append(out, x.String())
			}
		}
		if n > 3 {
			out = append(out, fmt.Sprintf("%s: %d more", promise, n-3))
		}
	}
	return out
}

// quantile is a latency at a share of all, permille.
func (r *result) quantile(permille int) time.Duration {
	if len(r.latency) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(r.latency))
	return sorted[min(len(sorted)-1, len(sorted)*permille/1000)]
}

func writeHistory(w, notes io.Writer, results []*result) error {
	for i, r := range results {
		if i > 0 {
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
		}
		for j, text := range r.history {
			if j > 0 {
				text = "\n" + text
			}
			if !strings.HasSuffix(text, "\n") {
				text += "\n"
			}
			if _, err := io.WriteString(w, text); err != nil {
				return err
			}
		}
		if len(r.history) == 0 {
			fmt.Fprintf(notes, "%s: nothing was folded, so the next request has no history\n", r.rec.name)
		}
		for _, x := range firstOfEach(r.verdicts.breaches) {
			fmt.Fprintf(notes, "%s: %s\n", r.rec.name, x)
		}
	}
	return nil
}

func writeJSON(w io.Writer, results []*result, set *settings, o ReplayOptions) error {
	type way struct {
		Name string `json:"name"`
		bill
		ReadShare int `json:"cacheReadPermille"`
	}
	type one struct {
		File        string             `json:"file"`
		Session     string             `json:"sessionID"`
		Title       string             `json:"title,omitempty"`
		Messages    int                `json:"messages"`
		Requests    int                `json:"requests"`
		Compactions int                `json:"hostCompactions"`
		Peak        int                `json:"largestRequest"`
		Stubs       int                `json:"stubs"`
		Prefer      string             `json:"prefer,omitempty"`
		View        int64              `json:"meanInView"`  // tokens of messages in a request
		Head        int64              `json:"meanHistory"` // of them rendered history
		Folds       []fold             `json:"folds"`
		Ways        []way              `json:"ways"`
		Irreducible []irreducible      `json:"irreducible"`
		Held        map[string]int     `json:"held"`
		Breaches    []breach           `json:"breaches"`
		Measures    *measures          `json:"measures,omitempty"`
		Latency     map[string]float64 `json:"transformMs,omitempty"`
		Warnings    []string           `json:"warnings"`
		History     []string           `json:"history,omitempty"`
	}
	out := struct {
		Window   int    `json:"window"`
		Output   int    `json:"output"`
		Reserve  int    `json:"reserve"`
		Prefix   int    `json:"prefix"`
		Usable   int    `json:"usable"`
		Prices   any    `json:"prices"`
		Ablated  string `json:"ablated,omitempty"`
		Sessions []*one `json:"sessions"`
	}{set.window.context, set.window.output, set.window.reserve, set.window.prefix, set.window.usable, set.prices, set.ablate, []*one{}}
	for _, r := range results {
		x := &one{File: r.rec.name, Session: r.rec.id, Title: r.rec.title, Messages: len(r.rec.messages), Requests: r.requests,
			Compactions: r.compactions, Peak: r.peak, Stubs: r.stubs, Prefer: r.prefer, View: r.mean(r.view), Head: r.mean(r.head), Folds: orEmptyList(r.folds), Irreducible: orEmptyList(r.irreducible),
			Held: maps.Clone(r.verdicts.held), Breaches: orEmptyList(r.verdicts.breaches), Warnings: orEmptyList(r.warnings), Measures: r.measures}
		x.Ways = append(x.Ways, way{"ctxplugin", r.bill, r.bill.readShare()})
		for _, b := range r.baselines {
			x.Ways = append(x.Ways, way{b.name, b.bill, b.bill.readShare()})
		}
		if !o.NoTimings && len(r.latency) > 0 {
			x.Latency = map[string]float64{"p50": ms(r.quantile(500)), "p95": ms(r.quantile(950)), "p99": ms(r.quantile(990))}
		}
		if o.ShowHistory {
			x.History = r.history
		}
		out.Sessions = append(out.Sessions, x)
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(out)
}

func orEmptyList[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func millis(d time.Duration) string { return fmt.Sprintf("%.1f ms", ms(d)) }

func orNone(n int) string {
	if n == 0 {
		return "none"
	}
	return thousands(n)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return thousands(n) + " " + what + "s"
}

func thousands(n int) string { return thousands64(int64(n)) }

func thousands64(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// money prints micro-units with that many decimals.
func money(micro int64, decimals int) string {
	unit := int64(1)
	for range 6 - decimals {
		unit *= 10
	}
	n := (micro + unit/2) / unit
	scale := 1_000_000 / unit
	return fmt.Sprintf("%d.%0*d", n/scale, decimals, n%scale)
}

func clip(s string, most int) string {
	r := []rune(strings.Join(strings.Fields(s), " "))
	if len(r) <= max(most, 1) {
		return string(r)
	}
	return string(r[:max(most, 1)-1]) + "…"
}

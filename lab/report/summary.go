package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"ctxplugin/lab/trajectory"
	"ctxplugin/lab/verdict"
)

// Summary writes what a terminal shows of a report.
func Summary(w io.Writer, in Input) error {
	var b strings.Builder
	list := verdict.Judge(in.Sums)
	for _, v := range list {
		fmt.Fprintf(&b, "%-10s %s\n%11s%s %s; %s\n", v.Outcome, v.Rule.Claim, "", v.Interval, v.Rule.Unit, v.Numbers)
	}
	b.WriteByte('\n')
	for _, t := range []Table{aims(in.Sums, list), narrow(policies(in.Sums, trajectory.Same, "At the moments of ours"), 6), narrow(policies(in.Sums, trajectory.Own, "On schedules of their own, at the same mean size"), 6)} {
		text(&b, t)
	}
	if in.Real != nil {
		text(&b, narrow(policies(in.Real, trajectory.Same, "Real sessions: identifiers that are named again"), 6))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// narrow keeps the first columns of a table.
func narrow(t Table, columns int) Table {
	t.Head = t.Head[:min(columns, len(t.Head))]
	for i := range t.Rows {
		t.Rows[i] = t.Rows[i][:min(columns, len(t.Rows[i]))]
	}
	return t
}

// text lays a table out for a terminal.
func text(b *strings.Builder, t Table) {
	if len(t.Rows) == 0 {
		return
	}
	widths := make([]int, len(t.Head))
	for _, row := range append([][]string{t.Head}, t.Rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	b.WriteString(t.Caption + "\n")
	for _, row := range append([][]string{t.Head}, t.Rows...) {
		var line strings.Builder
		for i, cell := range row {
			space := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i == 0 || t.Words {
				line.WriteString("  " + cell + space)
			} else {
				line.WriteString("  " + space + cell)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	b.WriteByte('\n')
}

package lab

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"ctxplugin/lab/quality"
	"ctxplugin/lab/report"
	"ctxplugin/lab/trajectory"
)

// firstSeed is that of the experiments where none is asked for.
const firstSeed = 1000

// heldIn runs the experiment on what tiers hold. Both banks are always run, because
// the one says which tier a flat summary is best at for the other.
func heldIn(ctx context.Context, o ExperimentOptions, scripts []*trajectory.Script, progress func(done, of int)) ([]quality.Record, error) {
	options := quality.Options{}
	if o.Quick {
		options = quality.Quick()
	}
	if o.Seeds > 0 {
		options.Seeds = o.Seeds
	}
	options.First = firstSeed
	if o.First > 0 {
		options.First = int(o.First)
	}
	for _, s := range scripts {
		options.Recorded = append(options.Recorded, quality.Recorded{Name: s.Name, Messages: s.Messages})
	}
	options.Progress = progress
	return quality.Run(ctx, options)
}

// heldSection shows what tiers hold on the page.
func heldSection(s *quality.Summary) report.Section {
	out := report.Section{Title: "What each tier holds", Text: []string{
		"The same histories, made into tiers in several ways, each tier in as many tokens as the built-in historian took for it: canonical is that historian; oracle is written from the planted items; grounded and cascaded are a scripted writer that loses and blurs at the rate that stands beside it, from the messages or from the tier above.",
		"Shown under a budget, which is a share of what all compartments take at full: tiers are chosen by the program, for other writers than the built-in historian, which measure nothing, by what a tier of theirs holds on average; flat is one tier for all, the one that does best on the tuned bank, oldest lost first; raw is the newest messages; even is without regard to age; worth is chosen by what the tiers really hold, a bound; mean is chosen by what each tier holds on average; two is the newest at full, those before at compact, no other tier; measured is chosen by what the historian measured of each compartment, not drawn to what is typical. Probes come later in the session.",
		"Shares are percent, with the interval of 95 of 100 resamplings of the seeds. Added: names and numbers that no message holds, in 1,000 tokens. Of 100 items, misread: said whole, and as something else than they are; regained: found here and not in the tier above; turned: right above and misread here. Above the line: points above a mixture of the tiers beside it, of the same size. Deviation: of repeats, points.",
	}}
	for _, why := range s.Skipped {
		out.Text = append(out.Text, "Left out: "+why+".")
	}
	for _, t := range s.Tables() {
		out.Tables = append(out.Tables, report.Table{Caption: t.Title, Head: t.Head, Rows: t.Rows, Words: t.Words == len(t.Head)})
	}
	return out
}

// writeHeld writes the records of the experiment, their schema, and the tables as
// text.
func writeHeld(folder string, records []quality.Record, s *quality.Summary) error {
	write := func(name string, to func(io.Writer) error) error {
		f, err := os.Create(filepath.Join(folder, name))
		if err != nil {
			return err
		}
		err = to(f)
		if closing := f.Close(); err == nil {
			err = closing
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
		return nil
	}
	text := func(s string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
	}
	if err := write("tiers.jsonl", func(w io.Writer) error { return quality.Write(w, records) }); err != nil {
		return err
	}
	if err := write("tiers.schema.json", text(quality.RecordSchema())); err != nil {
		return err
	}
	return write("tiers.md", text("# What each tier holds\n"+quality.Markdown(s.Tables())))
}

package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"ctxplugin/lab/fixtures"
	"ctxplugin/lab/quality"
	"ctxplugin/lab/report"
	"ctxplugin/lab/trajectory"
	"ctxplugin/lab/verdict"
)

// ExperimentOptions say which experiments run.
type ExperimentOptions struct {
	Quick    bool   // a few small sessions, for looking whether all works
	Seeds    int    // generated sessions; 0 means 32, or 3 when quick
	First    uint64 // the first seed; 0 means 1000
	Tuned    bool   // on the bank of cues that is tuned on, instead of the one that figures are published for
	Sessions string // folder of real session files; empty leaves that part out
	Folder   string // where the report, the records and their schemas go
}

// realWindow is the window that real sessions are played in, in tokens.
const realWindow = 60_000

// RunExperiments plays generated sessions, and real ones if there are any, under
// all policies, judges every claim, and writes the report and the records. A
// progress bar goes to stderr if that is a terminal, a summary to stdout.
//
// The exit code is 0 if all ran, whatever the verdicts are, 1 if something failed,
// 2 if an option is of no use.
func RunExperiments(ctx context.Context, o ExperimentOptions, stdout, stderr io.Writer) (exit int, err error) {
	plan := trajectory.Full()
	if o.Quick {
		plan = trajectory.Quick()
	}
	if o.Tuned {
		plan.Bank = fixtures.Tuned
	}
	if o.Seeds > 0 {
		plan.Seeds = o.Seeds
	}
	if o.First > 0 {
		plan.First = o.First
	}
	plan.Workers = runtime.GOMAXPROCS(0)
	var scripts []*trajectory.Script
	if o.Sessions != "" {
		var skipped []string
		if scripts, skipped, err = scriptsIn(o.Sessions); err != nil {
			return exitInput, err
		}
		for _, s := range skipped {
			fmt.Fprintf(stderr, "ctxplugin: left out: %s\n", s)
		}
	}
	if err := os.MkdirAll(o.Folder, 0o755); err != nil {
		return exitInput, err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	bar := newProgress(stderr, 1)
	defer bar.finish()
	shown := func(what string) func(done, of int) {
		bar.describe(what)
		return func(done, of int) {
			bar.done, bar.steps = done, of
			bar.draw()
		}
	}
	held, err := heldIn(ctx, o, scripts, shown("tiers"))
	var records []trajectory.Record
	if err == nil {
		records, err = trajectory.Study(ctx, plan, shown("generated sessions"))
	}
	var real []trajectory.Record
	if err == nil && len(scripts) > 0 {
		set := trajectory.Standard()
		set.Window, set.Output, set.Prefix = realWindow, defaultOutput, defaultPrefix
		real, err = trajectory.Together(ctx, scripts, set, plan.Workers, shown("real sessions"))
	}
	bar.finish()
	switch {
	case ctx.Err() != nil:
		return exitBroken, errors.New("interrupted")
	case err != nil:
		return exitBroken, err
	}
	in := report.Input{Title: "Does each tier earn its place?", Setting: setting(plan, len(scripts)), Sums: verdict.Add(records)}
	if len(real) > 0 {
		in.Real = verdict.Add(real)
	}
	summary := quality.Summarise(held)
	in.Before = append(in.Before, heldSection(&summary))
	if err := writeHeld(o.Folder, held, &summary); err != nil {
		return exitBroken, err
	}
	if err := writeExperiments(o.Folder, in, append(records, real...)); err != nil {
		return exitBroken, err
	}
	if err := report.Summary(stdout, in); err != nil {
		return exitBroken, err
	}
	_, err = fmt.Fprintf(stdout, "\nreport: %s\nrecords: %s\n", filepath.Join(o.Folder, "report.html"), filepath.Join(o.Folder, "records.jsonl"))
	return exitHeld, err
}

func setting(p trajectory.Plan, real int) []string {
	bank := "held out: nothing was tuned on it"
	if p.Bank == fixtures.Tuned {
		bank = "the one that is tuned on, so these figures are not for publishing"
	}
	out := []string{fmt.Sprintf("%d generated sessions of %d episodes, seeds %d to %d; the bank of cue words is %s.", p.Seeds, p.Episodes, p.First, p.First+uint64(p.Seeds)-1, bank),
		fmt.Sprintf("A window of %s tokens, %s for the reply, %s for system text and tools. The history budget is that of the program.", thousands(p.Setup.Window), thousands(p.Setup.Output), thousands(p.Setup.Prefix)),
		"Ours is the program itself, with its built-in historian; the others show what that historian wrote. A probe is answered if the request holds its words, its meaning, and how it has to read."}
	if real > 0 {
		out = append(out, fmt.Sprintf("%d real sessions in a window of %s tokens, at the end.", real, thousands(realWindow)))
	}
	return out
}

func writeExperiments(folder string, in report.Input, records []trajectory.Record) error {
	var page strings.Builder
	if err := report.Page(&page, in); err != nil {
		return err
	}
	lines, err := os.Create(filepath.Join(folder, "records.jsonl"))
	if err != nil {
		return err
	}
	err = trajectory.Write(lines, records)
	if closing := lines.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return fmt.Errorf("write the records: %w", err)
	}
	for name, text := range map[string][]byte{"report.html": []byte(page.String()), "records.schema.json": trajectory.Schema} {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

package main

import (
	"path/filepath"

	"ctxplugin/lab"
)

// labCommand holds the commands of the lab.
type labCommand struct {
	Run labRunCommand `cmd:"" help:"Run the experiments, and write a report of what speaks for the design and what against it."`
}

// labRunCommand runs the experiments; the lab does the work.
type labRunCommand struct {
	Quick    bool   `help:"A few small sessions instead: a look at whether all works, in a few seconds."`
	Seeds    *int   `placeholder:"N" help:"How many generated sessions (default: 32, or 3 with --quick)."`
	Seed     *int   `placeholder:"N" help:"The first seed (default: 1000)."`
	Bank     string `enum:"held,tuned" default:"held" help:"Which bank of cue words the sessions use: ${enum}. Figures are published for held, and tuned on tuned."`
	Sessions string `placeholder:"DIR" type:"path" help:"Also play the session files of a folder, as the host exports them."`
	Out      string `placeholder:"DIR" type:"path" default:"ctxplugin-lab" help:"Where report.html and records.jsonl go (default: ${default})."`
}

// Run implements the command.
func (r *labRunCommand) Run(p *program) error {
	o := lab.ExperimentOptions{Quick: r.Quick, Tuned: r.Bank == "tuned", Sessions: r.Sessions, Folder: filepath.Clean(r.Out)}
	if r.Seeds != nil {
		if *r.Seeds < 1 || *r.Seeds > 10_000 {
			return usage("--seeds: %d is not between 1 and 10,000", *r.Seeds)
		}
		o.Seeds = *r.Seeds
	}
	if r.Seed != nil {
		if *r.Seed < 1 {
			return usage("--seed: %d is no seed; they begin at 1", *r.Seed)
		}
		o.First = uint64(*r.Seed)
	}
	exit, err := lab.RunExperiments(p.ctx, o, p.stdout, p.stderr)
	if err != nil {
		return &failure{exit, err}
	}
	return nil
}

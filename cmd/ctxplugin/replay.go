package main

import (
	"fmt"

	"ctxplugin/lab"
)

// replayCommand plays recorded sessions; the lab does the work.
type replayCommand struct {
	Files []string `arg:"" optional:"" type:"path" help:"Session files as the host exports them; none plays a built-in sample."`

	Window int `placeholder:"TOKENS" help:"The model's context window."`
	Output int `placeholder:"TOKENS" help:"Most tokens of one reply."`
	Prefix int `placeholder:"TOKENS" help:"System text and tools."`

	PriceInput  float64 `placeholder:"MONEY" help:"Price of a million tokens of input; with the other three."`
	PriceOutput float64 `placeholder:"MONEY" help:"Of output."`
	PriceRead   float64 `placeholder:"MONEY" help:"Of input read from the cache."`
	PriceWrite  float64 `placeholder:"MONEY" help:"Of input written to the cache."`
	Cache       string  `enum:"marks,automatic,none" default:"marks" help:"How the provider caches: ${enum}."`

	Tier      string `enum:",full,dense,compact,anchor" default:"" help:"Show every compartment at this one tier: full, dense, compact or anchor."`
	History   bool   `name:"show-history" help:"Print what a model would read at the head of its next request, instead of the report."`
	JSON      bool   `help:"Print one JSON document instead of the report."`
	NoTimings bool   `help:"Leave out what the clock measured, so that every run prints the same."`
}

// Run implements the command.
func (r *replayCommand) Run(p *program) error {
	if p.configPath != "" { // the children read it again; here it has to be there
		c, err := p.readConfig()
		if err != nil {
			return err
		}
		for _, w := range c.warnings {
			fmt.Fprintf(p.stderr, "ctxplugin: %s\n", w)
		}
	}
	exit, err := lab.RunReplay(p.ctx, lab.ReplayOptions{
		Files: r.Files, Window: r.Window, Output: r.Output, Prefix: r.Prefix,
		Prices: lab.Prices{Input: r.PriceInput, Output: r.PriceOutput, Read: r.PriceRead, Write: r.PriceWrite}, Kind: r.Cache,
		Tier: r.Tier, ShowHistory: r.History, JSON: r.JSON, NoTimings: r.NoTimings, Config: p.configPath,
	}, p.stdout, p.stderr)
	switch {
	case err != nil:
		return &failure{exit, err}
	case exit != exitOK:
		return &failure{exit, errSaid}
	}
	return nil
}

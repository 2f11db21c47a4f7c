package main

import (
	"fmt"
	"strings"

	"ctxplugin/lab"
)

// replayCommand plays recorded sessions; the lab does the work.
type replayCommand struct {
	Files []string `arg:"" optional:"" type:"path" help:"Session files as the host exports them; none plays a built-in sample."`

	Window *int `placeholder:"TOKENS" help:"The model's context window, at least 8,000 (default: 60,000)."`
	Output *int `placeholder:"TOKENS" help:"Most tokens of one reply (default: 8,192)."`
	Prefix *int `placeholder:"TOKENS" help:"System text and tools (default: 8,000, or a quarter of the window if that is less)."`

	PriceInput  *float64 `placeholder:"MONEY" help:"Price of a million tokens of input; all four or none (default: 3)."`
	PriceOutput *float64 `placeholder:"MONEY" help:"Of output (default: 15)."`
	PriceRead   *float64 `placeholder:"MONEY" help:"Of input read from the cache (default: 0.30)."`
	PriceWrite  *float64 `placeholder:"MONEY" help:"Of input written to the cache (default: 3.75)."`
	Cache       string   `enum:"marks,automatic,none" default:"marks" help:"How the provider caches: ${enum}."`

	Tier      string `enum:",full,dense,compact,anchor" default:"" help:"Show every compartment at this one tier: full, dense, compact or anchor."`
	Ablate    string `placeholder:"NAMES" help:"Replace mechanisms by their simplest substitutes, to see what each is worth: tiers, hull, hysteresis, economics, divergence, relevance, stubs, superseded; several with commas between them."`
	Prefer    string `enum:",view,balance,cost,all" default:"" help:"Fold for this, whatever the settings say: view, balance or cost; all plays each of them, and prints what each means in tokens in view and in money."`
	Measure   bool   `help:"Also measure what stubs save, whether what they hide was needed soon after, and how many names that were said again requests still showed."`
	History   bool   `name:"show-history" help:"Print what a model would read at the head of its next request, instead of the report."`
	Keep      string `placeholder:"FILE" help:"Keep the database of what was played as FILE, for --db FILE of the other commands."`
	JSON      bool   `help:"Print one JSON document instead of the report."`
	NoTimings bool   `help:"Leave out what the clock measured, so that every run prints the same."`
}

// prices are those of the flags; nil if none is given.
func (r *replayCommand) prices() (*lab.Prices, error) {
	var prices lab.Prices
	given, missing := 0, ""
	for _, f := range []struct {
		name string
		from *float64
		to   *float64
	}{{"input", r.PriceInput, &prices.Input}, {"output", r.PriceOutput, &prices.Output},
		{"read", r.PriceRead, &prices.Read}, {"write", r.PriceWrite, &prices.Write}} {
		if f.from == nil {
			missing += " --price-" + f.name
			continue
		}
		given++
		*f.to = *f.from
	}
	switch {
	case given == 0:
		return nil, nil
	case missing != "":
		return nil, usage("prices are given all four or none; missing:%s (0 is a price)", missing)
	}
	return &prices, nil
}

// tokensOf is the number of a flag, and 0, which asks for the default, only if it
// is not given.
func tokensOf(name string, n *int, least int) (int, error) {
	switch {
	case n == nil:
		return 0, nil
	case *n < least:
		return 0, usage("--%s: %d is too small, the minimum is %s tokens", name, *n, grouped(least))
	}
	return *n, nil
}

// Run implements the command.
func (r *replayCommand) Run(p *program) error {
	prices, err := r.prices()
	if err != nil {
		return err
	}
	var window, output, prefix int
	for _, f := range []struct {
		name  string
		from  *int
		to    *int
		least int
	}{{"window", r.Window, &window, lab.LeastWindow}, {"output", r.Output, &output, 1}, {"prefix", r.Prefix, &prefix, 1}} {
		if *f.to, err = tokensOf(f.name, f.from, f.least); err != nil {
			return err
		}
	}
	if p.configPath != "" { // the children read it again; here it has to be there
		c, err := p.readConfig()
		if err != nil {
			return err
		}
		for _, w := range c.warnings {
			fmt.Fprintf(p.stderr, "ctxplugin: %s\n", w)
		}
		if len(c.Models) > 0 {
			fmt.Fprintf(p.stderr, "ctxplugin: replay asks no model and spends nothing: the built-in generator writes in the place of %s\n", strings.Join(modelNames(c.Models), ", "))
		}
	}
	exit, err := lab.RunReplay(p.ctx, lab.ReplayOptions{
		Files: r.Files, Window: window, Output: output, Prefix: prefix,
		Prices: prices, Kind: r.Cache,
		Tier: r.Tier, Ablate: r.Ablate, Prefer: r.Prefer, Measure: r.Measure, ShowHistory: r.History, JSON: r.JSON, NoTimings: r.NoTimings, Keep: r.Keep, Config: p.configPath,
	}, p.stdout, p.stderr)
	switch {
	case err != nil:
		return &failure{exit, err}
	case exit != exitOK:
		return &failure{exit, errSaid}
	}
	return nil
}

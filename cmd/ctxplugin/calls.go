package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ctxplugin/compartments"
	"ctxplugin/historian/ledger"
)

// historianCommand is about the models that write history.
type historianCommand struct {
	Show  showCallsCommand `cmd:"" default:"withargs" help:"Show the models, what the day took, and the newest calls; this is what historian alone does."`
	Clear clearCommand     `cmd:"" help:"Let models that rest after failures be asked again at once."`
}

// showCallsCommand prints the ledger of calls.
type showCallsCommand struct {
	database
	Session string `arg:"" optional:"" help:"Only calls for this session, or the start of its name."`
	Last    int    `short:"n" default:"20" placeholder:"N" help:"How many calls."`
	JSON    bool   `help:"Print one JSON document."`
}

// Run implements the command.
func (h *showCallsCommand) Run(p *program) (err error) {
	in, err := h.open(p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close(p.ctx)) }()
	for _, w := range in.config.projectHere() {
		fmt.Fprintf(p.stderr, "ctxplugin: %s\n", w)
	}
	if h.Last < 1 {
		return usage("--last %d: at least 1", h.Last)
	}
	now := time.Now().UnixMilli()
	var calls []compartments.Call
	var leases []compartments.Lease
	held := []string{}
	var spent compartments.Spent
	if in.exists {
		var id compartments.SessionID
		if h.Session != "" {
			if id, err = in.name(p.ctx, h.Session); err != nil {
				return err
			}
		}
		b, err := in.ready()
		if err != nil {
			return err
		}
		if calls, err = b.store.Calls(p.ctx, id, h.Last); err != nil {
			return err
		}
		why, _, err := in.holds(p.ctx, b.store, now)
		if err != nil {
			return err
		}
		held = append(held, why...)
		breakers, err := b.store.Breakers(p.ctx)
		if err != nil {
			return err
		}
		for i := range breakers {
			if why := ledger.Why(breakers[i], now); why != "" && !in.chosen(&breakers[i]) {
				held = append(held, why+"; it is not among the models of the settings")
			}
		}
		if leases, err = b.store.Leases(p.ctx); err != nil {
			return err
		}
		if spent, err = b.store.SpentSince(p.ctx, ledger.DayOf(now)); err != nil {
			return err
		}
	}
	names := modelNames(in.config.Models)
	limits := in.limits()
	if h.JSON {
		return printJSON(p, map[string]any{"models": names, "resting": held, "calls": callLines(calls),
			"today": map[string]any{"calls": spent.Calls, "tokens": spent.Tokens, "cost": spent.Cost, "tokensMost": limits.Tokens, "costMost": limits.Cost}})
	}
	models := "the built-in generator alone"
	if len(names) > 0 {
		models = strings.Join(names, ", then ") + ", then the built-in generator"
	}
	rows := [][]string{
		{"models", models},
		{"today", fmt.Sprintf("%s, %s of %s tokens, %s of %s", counted(spent.Calls, "call"), grouped(spent.Tokens), grouped(limits.Tokens), ledger.Money(spent.Cost), ledger.Money(limits.Cost))},
	}
	for _, why := range held {
		rows = append(rows, []string{"resting", why})
	}
	lives := map[compartments.SessionID]bool{} // sessions for which somebody has the right to ask
	for _, l := range leases {
		lives[l.Session] = l.Until > now
		if l.Until > now && !slices.ContainsFunc(calls, func(c compartments.Call) bool { return c.Session == l.Session && c.Verdict == compartments.CallAsked }) {
			rows = append(rows, []string{"under way", fmt.Sprintf("%s, under a lease until %s", l.Session, time.UnixMilli(l.Until).UTC().Format("15:04:05 UTC"))})
		}
	}
	for i := range calls {
		if c := &calls[i]; c.Verdict == compartments.CallAsked && lives[c.Session] {
			rows = append(rows, []string{"under way", string(c.Session) + ": " + underWay(c, now)})
		} else if c.Verdict == compartments.CallAsked {
			c.Detail = "its process ended before the reply"
		}
	}
	out := table(rows)
	if len(calls) > 0 {
		rows = [][]string{{"at", "session", "messages", "model", "try", "ms", "in", "out", "cost", "verdict", ""}}
		for i := range calls {
			c := &calls[i]
			try := strconv.Itoa(c.Try)
			if c.Repair {
				try += " repair"
			}
			guess := ""
			if c.Estimated {
				guess = "~"
			}
			model := modelChoice{Backend: c.Backend, Model: c.Model}
			rows = append(rows, []string{when(c.At), string(c.Session), fmt.Sprintf("%d-%d", c.First, c.Last), model.name(), try, grouped(int(c.Ms)),
				guess + grouped(c.Usage.InputSide()), guess + grouped(c.Usage.Output+c.Usage.Reasoning), ledger.Money(c.Cost), string(c.Verdict),
				strings.TrimSpace(strings.Join(c.Faults, " ") + " " + c.Detail)})
		}
		out = append(append(out, '\n'), table(rows)...)
	}
	_, err = p.stdout.Write(out)
	return err
}

// callLine is one call as the JSON document has it.
type callLine struct {
	Session   string   `json:"session,omitempty"`
	First     int64    `json:"first"`
	Last      int64    `json:"last"`
	Backend   string   `json:"backend"`
	Model     string   `json:"model,omitempty"`
	Answered  string   `json:"answered,omitempty"`
	Prompt    string   `json:"prompt"`
	Repair    bool     `json:"repair,omitempty"`
	Try       int      `json:"try"`
	At        int64    `json:"at"` // Unix ms
	Ms        int64    `json:"ms"`
	Input     int      `json:"input"`
	Output    int      `json:"output"`
	Estimated bool     `json:"estimated,omitempty"`
	Cost      int64    `json:"cost"` // micro-units
	Verdict   string   `json:"verdict"`
	Faults    []string `json:"faults,omitempty"`
	Detail    string   `json:"detail,omitempty"`
}

func callLines(calls []compartments.Call) []callLine {
	lines := make([]callLine, 0, len(calls))
	for i := range calls {
		c := &calls[i]
		lines = append(lines, callLine{Session: string(c.Session), First: int64(c.First), Last: int64(c.Last), Backend: c.Backend, Model: c.Model,
			Answered: c.Answered, Prompt: c.Prompt, Repair: c.Repair, Try: c.Try, At: c.At, Ms: c.Ms, Input: c.Usage.InputSide(),
			Output: c.Usage.Output + c.Usage.Reasoning, Estimated: c.Estimated, Cost: c.Cost, Verdict: string(c.Verdict), Faults: c.Faults, Detail: c.Detail})
	}
	return lines
}

// clearCommand closes the breakers.
type clearCommand struct{ database }

// Run implements the command.
func (c *clearCommand) Run(p *program) (err error) {
	in, err := c.open(p)
	if err != nil {
		return err
	}
	in.options.ReadOnly = false
	defer func() { err = errors.Join(err, in.Close(p.ctx)) }()
	n := 0
	if in.exists {
		b, err := in.ready()
		if err != nil {
			return err
		}
		if n, err = b.store.ClearBreakers(p.ctx); err != nil {
			return err
		}
	}
	said := fmt.Sprintf("the failures of %d models are forgotten", n)
	switch n {
	case 0:
		said = "no model rests, and none has failed of late"
	case 1:
		said = "the failures of 1 model are forgotten"
	}
	_, err = fmt.Fprintln(p.stdout, said)
	return err
}

package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"ctxplugin/compartments"
	"ctxplugin/decay"
)

// ReplayOptions say what to replay and how.
type ReplayOptions struct {
	Files []string // session files; none replays the built-in sample

	Window int // tokens of the model's context, at least 8,000; 0 means 60,000
	Output int // most tokens of a reply; 0 means 8,192
	Prefix int // tokens of system text and tools; 0 means 8,000, or a quarter of the window if that is less

	Prices *Prices // nil means DefaultPrices; a price may be zero
	Kind   string  // how the provider caches: marks, automatic or none; empty means marks

	// Tier shows the history with every compartment at this one tier: full,
	// dense, compact or anchor. Empty leaves the choice to the plugin.
	Tier string
	// Ablate are mechanisms that are replaced by their simplest substitutes, by
	// decay's names with commas between them.
	Ablate string
	// Prefer is what folds are made for: view, balance or cost. Empty leaves it to the
	// settings, and PreferAll plays every session with each and compares them.
	Prefer string
	// Measure also finds out what stubs save, whether what they hide was named soon
	// after, and how much of what was named again requests still showed.
	Measure     bool
	ShowHistory bool // print the history instead of the report
	JSON        bool // print one JSON document instead of the report

	// NoTimings leaves out what the clock measured, so that the report is the same
	// in every run.
	NoTimings bool

	// Keep is where the database is kept, so that what explain, expand and undo say
	// of the sessions can be looked at. The file must not exist. Empty keeps none.
	Keep string

	// Config is the absolute path of a settings file for the plugin; empty plays
	// its defaults.
	Config string

	start launcher // launch, but for tests
}

// Prices are money per million tokens, in any currency.
type Prices struct {
	Input, Output, Read, Write float64
}

// DefaultPrices are dollars for a well-known model.
var DefaultPrices = Prices{Input: 3, Output: 15, Read: 0.30, Write: 3.75}

// The defaults, in tokens.
const (
	defaultWindow = 60_000
	defaultOutput = 8_192
	defaultPrefix = 8_000
)

// LeastWindow is the smallest window that is played, in tokens. What is protected
// in any window leaves no choice in a smaller one, so that its report would say
// nothing.
const LeastWindow = 8_000

// cacheLife is how long a provider keeps what nobody reads.
const cacheLife = 5 * time.Minute

// patience is how long a replay waits for one answer.
const patience = 60 * time.Second

// settings are the options, checked.
type settings struct {
	window window
	prices compartments.Prices
	tier   string
	ablate string
	prefer string

	measure bool
}

func (o *ReplayOptions) settings() (*settings, error) {
	context, output, prefix := o.Window, o.Output, o.Prefix
	if context == 0 {
		context = defaultWindow
	}
	if output == 0 {
		output = defaultOutput
	}
	if prefix == 0 {
		prefix = min(defaultPrefix, context/4)
	}
	for name, n := range map[string]int{"window": context, "output": output, "prefix": prefix} {
		if n < 0 || n > 1<<30 {
			return nil, fmt.Errorf("%s: %d is no number of tokens", name, n)
		}
	}
	if context < LeastWindow {
		return nil, fmt.Errorf("window: %d is too small, the minimum is %s tokens", context, thousands(LeastWindow))
	}
	w := divide(context, output, prefix)
	if w.context-w.reserve-w.prefix < 1 {
		return nil, fmt.Errorf("a window of %d tokens has no room left behind a prefix of %d and %d for the reply", w.context, w.prefix, w.reserve)
	}
	s := &settings{window: w, tier: o.Tier, measure: o.Measure}
	switch o.Tier {
	case "", "full", "dense", "compact", "anchor":
	default:
		return nil, fmt.Errorf("tier: %q is none of full, dense, compact, anchor", o.Tier)
	}
	ablate, err := decay.ParseAblation(o.Ablate)
	if err != nil {
		return nil, fmt.Errorf("ablate: %w", err)
	}
	s.ablate = ablate.String()
	switch s.prefer = o.Prefer; {
	case s.prefer == "", slices.Contains(preferences[:], s.prefer):
	case s.prefer != PreferAll:
		return nil, fmt.Errorf("prefer: %q is none of view, balance, cost, all", o.Prefer)
	case o.ShowHistory || o.Keep != "":
		return nil, errors.New("prefer: all plays each session three times, so there is no one history to show or database to keep")
	}
	kind := o.Kind
	if kind == "" {
		kind = "marks"
	}
	switch kind {
	case "marks", "automatic", "none":
	default:
		return nil, fmt.Errorf("kind: %q is none of marks, automatic, none", kind)
	}
	p := DefaultPrices
	if o.Prices != nil {
		p = *o.Prices
	}
	s.prices = compartments.Prices{Kind: kind, TTLMs: cacheLife.Milliseconds()}
	for _, price := range []struct {
		name string
		from float64
		to   *int64
	}{{"input", p.Input, &s.prices.Input}, {"output", p.Output, &s.prices.Output},
		{"read", p.Read, &s.prices.CacheRead}, {"write", p.Write, &s.prices.CacheWrite}} {
		if !(price.from >= 0 && price.from <= 1e6) {
			return nil, fmt.Errorf("price of %s: %v is not between 0 and 1,000,000", price.name, price.from)
		}
		*price.to = int64(math.Round(price.from * 1e6))
	}
	switch kind {
	case "automatic":
		s.prices.CacheWrite = s.prices.Input
	case "none":
		s.prices.CacheRead, s.prices.CacheWrite, s.prices.TTLMs = 0, 0, 0
	}
	return s, nil
}

func (s *settings) initialize(directory string) []byte {
	options, err := json.Marshal(struct {
		ForceTier string `json:"forceTier,omitempty"`
		Ablate    string `json:"ablate,omitempty"`
		Prefer    string `json:"prefer,omitempty"`
	}{s.tier, s.ablate, s.prefer})
	if err != nil {
		panic(err) // three strings
	}
	return fmt.Appendf(nil, `{"protocolVersion":1,"host":{"name":"replay","version":"1"},"project":{"directory":%s},"capabilities":{"notify":true},"options":%s}`,
		quote(directory), options)
}

package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"ctxplugin/compartments"
	"ctxplugin/decay"
)

// config is the settings in force.
type config struct {
	decay.Settings
	LogLevel      string
	Database      string // empty: none could be named
	Notifications bool
	Models        []modelChoice // that write history, in the order asked; empty is the built-in generator alone
	DayTokens     int           // caps of what they may take in a day
	DayCost       int           // hundredths of the unit of money

	path     string              // of the file; empty if none was looked for
	sources  map[string]string   // where a setting comes from, by key; absent: the default
	warnings []string            // for the user, each with its place
	variable func(string) string // the environment; only keys of models are looked up
}

// key is one setting. Exactly one of number, word, text, flag and models is there.
type key struct {
	name string
	doc  string // one sentence

	number      func(*config) *int
	unit        string
	per         int    // how many of the field's units one unit of the key is
	least, most int    // in the key's unit
	over        string // what a value above most would do: it is refused then, not lowered

	word  func(*config) *string
	words []string // the values that are legal

	text func(*config) *string // a path

	flag func(*config) *bool

	models func(*config) *[]modelChoice
}

const percent = "percent"

func number(name, unit string, least, most int, field func(*decay.Settings) *int, doc string) key {
	per := 1
	if unit == percent {
		per = 10 // fields are permille
	}
	return key{name: name, doc: doc, unit: unit, per: per, least: least, most: most,
		number: func(c *config) *int { return field(&c.Settings) }}
}

// floor is the setting of the least survival in one dimension.
func floor(d compartments.Dimension, what string) key {
	k := number(decay.FloorKey(d), percent, 0, decay.FloorMost/10, func(s *decay.Settings) *int { return &s.Floors[d] },
		"Least share of "+what+" of a compartment that a tier must still have; tiers that keep less are not shown, as far as the budget holds that.")
	k.over = "it would forbid every tier but the messages themselves"
	return k
}

// keys is every setting there is: what is not here cannot be set.
// docs/configuration.md is made from it.
var keys = []key{
	number("forceMark", percent, 30, 95, func(s *decay.Settings) *int { return &s.ForceMark },
		"Pressure (tokens of messages to be sent ÷ usable window) that forces a fold."),
	number("forceAim", percent, 10, 90, func(s *decay.Settings) *int { return &s.ForceAim },
		"Pressure that a forced fold lands at or under; at least 5 below forceMark."),
	number("historyShare", percent, 1, 60, func(s *decay.Settings) *int { return &s.HistoryShare },
		"Share of the usable window that the history may take: all compartments before the protected tail."),
	number("historyLeast", "tokens", 200, 1_000_000, func(s *decay.Settings) *int { return &s.HistoryMin },
		"The history budget is never less, however small the window."),
	number("historyMost", "tokens", 200, 1_000_000, func(s *decay.Settings) *int { return &s.HistoryMax },
		"The history budget is never more, however large the window."),
	number("tailShare", percent, 0, 60, func(s *decay.Settings) *int { return &s.TailShare },
		"Share of the usable window for raw steps beyond those that are always protected."),
	number("tailMost", "tokens", 0, 1_000_000, func(s *decay.Settings) *int { return &s.TailMax },
		"Such raw steps never take more."),
	number("tailTurns", "turns", 0, 100, func(s *decay.Settings) *int { return &s.TailTurns },
		"So many of the newest turns stay whole if such steps then take at most a third more than their share."),
	number("demoteTo", percent, 20, 100, func(s *decay.Settings) *int { return &s.DemoteTo },
		"Above its budget the history is demoted down to this share of it; below, it is promoted up to it."),
	number("promoteBelow", percent, 0, 95, func(s *decay.Settings) *int { return &s.PromoteBelow },
		"Where a fold would leave less of the history than this share of its budget and can show more, it promotes what earlier folds made small; at least 5 below demoteTo."),
	number("leastGain", percent, 1, 50, func(s *decay.Settings) *int { return &s.LeastGain },
		"Share of the usable window that a fold must free, and by which the session must have grown since the last one."),
	number("turnShare", percent, 1, 100, func(s *decay.Settings) *int { return &s.TurnShare },
		"Share of the usable window past which a running turn may be folded inside without being forced."),
	number("turnsAhead", "turns", 1, 1000, func(s *decay.Settings) *int { return &s.TurnsAhead },
		"How many turns back to look for the largest, to fold ahead of another of its size."),
	number("halfLife", "compartments", 1, 10_000, func(s *decay.Settings) *int { return &s.HalfLife },
		"Age after which the value of detail has halved; it orders demotions and causes none."),
	number("spare", percent, 0, 100, func(s *decay.Settings) *int { return &s.Spare },
		"How much of what the history is worth a fold may give up where it leaves all old pairs as they are; less, in proportion to what it writes anew. 0 makes every fold show the most."),
	number("outputReserveCap", "tokens", 500, 1_000_000, func(s *decay.Settings) *int { return &s.ReserveCap },
		"Most tokens reserved for the reply where the model states a limit."),
	number("outputReserveUnknown", "tokens", 500, 1_000_000, func(s *decay.Settings) *int { return &s.ReserveUnknown },
		"Tokens reserved for the reply where it states none."),
	number("outputReserveShare", percent, 1, 50, func(s *decay.Settings) *int { return &s.ReserveShare },
		"Most of the context window that the reserve may take."),
	number("windowUnknown", "tokens", 4_000, 10_000_000, func(s *decay.Settings) *int { return &s.WindowUnknown },
		"Context window assumed where the host states none."),
	number("fixedUnknown", "tokens", 0, 1_000_000, func(s *decay.Settings) *int { return &s.FixedUnknown },
		"System text and tool definitions assumed before they were seen."),
	number("writeBehind", "tokens", 500, 1_000_000, func(s *decay.Settings) *int { return &s.WriteBehind },
		"Raw history that gathers before the historian writes compartments from it; 20000 where models write and nothing else is set."),
	number("stubOver", "characters", 100, 10_000_000, func(s *decay.Settings) *int { return &s.StubOver },
		"Superseded outputs and arguments above this size become stubs at a fold; when nothing else fits outputs above it become stubs with a preview, smaller ones without."),
	number("stubChars", "characters", 400, 10_000_000, func(s *decay.Settings) *int { return &s.StubChars },
		"Outputs and arguments above this size become stubs at a fold, superseded or not."),
	number("stubTurns", "turns", 0, 1000, func(s *decay.Settings) *int { return &s.StubTurns },
		"What the newest so many turns hold becomes no stub at a fold, unless it is superseded."),
	number("stubShare", percent, 0, 100, func(s *decay.Settings) *int { return &s.StubShare },
		"Nor does what stands in the newest such share of the usable window, if that is less."),
	number("stubPreview", "characters", 0, 100_000, func(s *decay.Settings) *int { return &s.StubPreview },
		"Characters of the output that its stub shows; never more than stubOver."),
	number("stubNames", "characters", 0, 100_000, func(s *decay.Settings) *int { return &s.StubNames },
		"Characters of the identifiers that a stub made at a fold lists; never more than an eighth of what it stands for."),
	floor(compartments.Constraints, "the orders and limits"),
	floor(compartments.Identifiers, "the exact identifiers"),
	floor(compartments.DecisionsWhy, "the decisions with their reasons"),
	floor(compartments.Rejected, "the rejected alternatives with their cause"),
	floor(compartments.Failures, "the failures"),
	floor(compartments.OpenWork, "the open work"),
	floor(compartments.Uncertainty, "the doubts"),
	floor(compartments.Provenance, "the references to where things stand"),
	floor(compartments.Location, "the files and places"),
	floor(compartments.Narrative, "the course of the work"),
	{name: "prefer", doc: "What folds that nothing forces are made for: `view` folds by pressure alone, `balance` when it pays, `cost` earlier and with half as much kept (performance.md has what each costs).",
		words: []string{"view", "balance", "cost"}, word: func(c *config) *string { return (*string)(&c.Prefer) }},
	{name: "historian", doc: "Who writes the tiers: `\"built-in\"` by rule, `\"host\"` the session's own model through the host, or a list of models, asked in this order (models.md). Any but the first calls models, which costs what they cost.",
		models: func(c *config) *[]modelChoice { return &c.Models }},
	{name: "historianTokens", doc: "Most tokens that models may take for history in one day of UTC, in and out.", unit: "tokens", per: 1, least: 0, most: 1_000_000_000,
		number: func(c *config) *int { return &c.DayTokens }},
	{name: "historianCost", doc: "Most money that they may cost in one day; calls whose price nobody states count as free.", unit: "cents", per: 1, least: 0, most: 1_000_000,
		number: func(c *config) *int { return &c.DayCost }},
	{name: "logLevel", doc: "How much is logged.", words: []string{"debug", "info", "warn", "error", "off"},
		word: func(c *config) *string { return &c.LogLevel }},
	{name: "database", doc: "The file that keeps all sessions. Relative to the configuration folder; `~/` is the home folder. The flag --db overrides it.",
		text: func(c *config) *string { return &c.Database }},
	{name: "notifications", doc: "Whether notices are shown through the host; off, they are only logged.",
		flag: func(c *config) *bool { return &c.Notifications }},
}

// defaults are the settings without a file.
func defaults(f folders) config {
	return config{Settings: decay.Defaults(), LogLevel: "info", Database: within(f.data, "ctxplugin.db"), Notifications: true,
		DayTokens: 2_000_000, DayCost: 200, sources: map[string]string{}, variable: func(string) string { return "" }}
}

// show is the value of a setting as it would stand in the file.
func (k *key) show(c *config) string {
	switch {
	case k.number != nil:
		return strconv.Itoa(*k.number(c) / k.per)
	case k.word != nil:
		return strconv.Quote(*k.word(c))
	case k.text != nil:
		return strconv.Quote(*k.text(c))
	case k.models != nil:
		return showModels(*k.models(c))
	}
	return strconv.FormatBool(*k.flag(c))
}

// numbers are the numbers in force, by key and in the key's unit.
func (c *config) numbers() map[string]int {
	out := map[string]int{}
	for i := range keys {
		if k := &keys[i]; k.number != nil {
			out[k.name] = *k.number(c) / k.per
		}
	}
	return out
}

// rangeText is what values are legal.
func (k *key) rangeText() string {
	switch {
	case k.number != nil:
		return fmt.Sprintf("%s to %s", grouped(k.least), grouped(k.most))
	case k.word != nil:
		return strings.Join(k.words, ", ")
	case k.text != nil:
		return "a path"
	case k.models != nil:
		return `"built-in", "host", a list`
	}
	return "true, false"
}

// set takes a value, as encoding/json decodes it with numbers as float64. The
// text says what was wrong with it and what is in force now; it is empty if
// nothing was.
func (k *key) set(c *config, v any) (wrong string) {
	switch {
	case k.number != nil:
		return k.setNumber(c, v)
	case k.word != nil:
		s, ok := v.(string)
		if !ok || !slices.Contains(k.words, s) {
			return fmt.Sprintf("%s has to be one of %s; %s stays", k.name, k.rangeText(), k.show(c))
		}
		*k.word(c) = s
	case k.text != nil:
		s, ok := v.(string)
		if !ok || s == "" || strings.ContainsRune(s, 0) {
			return fmt.Sprintf("%s has to be a path; %s stays", k.name, k.show(c))
		}
		*k.text(c) = s
	case k.models != nil:
		return setModels(k.name, k.models(c), v, c.variable)
	default:
		b, ok := v.(bool)
		if !ok {
			return fmt.Sprintf("%s has to be true or false; %s stays", k.name, k.show(c))
		}
		*k.flag(c) = b
	}
	return ""
}

func (k *key) setNumber(c *config, v any) (wrong string) {
	n, ok := v.(float64)
	if !ok || n != math.Trunc(n) {
		return fmt.Sprintf("%s has to be a whole number of %s, %s; %s stays", k.name, k.unit, k.rangeText(), k.show(c))
	}
	switch {
	case n < float64(k.least):
		wrong = fmt.Sprintf("%s %s is below its range, %s; %d is used", k.name, plain(n), k.rangeText(), k.least)
		n = float64(k.least)
	case n > float64(k.most) && k.over != "":
		return fmt.Sprintf("%s %s is refused: %s. A whole percentage from %d to %d is accepted, such as 50; %s stays", k.name, plain(n), k.over, k.least, k.most, k.show(c))
	case n > float64(k.most):
		wrong = fmt.Sprintf("%s %s is above its range, %s; %d is used", k.name, plain(n), k.rangeText(), k.most)
		n = float64(k.most)
	}
	*k.number(c) = int(n) * k.per
	return wrong
}

// settle makes settings agree that bound each other, and says what it changed.
func (c *config) settle() (changed []string) {
	lower := func(name string, field *int, bound string, most, per int) {
		if *field > most {
			changed = append(changed, fmt.Sprintf("%s %d is above what %s allows; %d is used", name, *field/per, bound, most/per))
			*field = most
		}
	}
	s := &c.Settings
	lower("forceAim", &s.ForceAim, fmt.Sprintf("forceMark %d", s.ForceMark/10), s.ForceMark-50, 10)
	lower("promoteBelow", &s.PromoteBelow, fmt.Sprintf("demoteTo %d", s.DemoteTo/10), s.DemoteTo-50, 10)
	lower("historyLeast", &s.HistoryMin, fmt.Sprintf("historyMost %d", s.HistoryMax), s.HistoryMax, 1)
	lower("stubPreview", &s.StubPreview, fmt.Sprintf("stubOver %d", s.StubOver), s.StubOver, 1)
	if len(c.Models) > 0 && c.sources["writeBehind"] == "" {
		s.WriteBehind = modelsBehind
		c.sources["writeBehind"] = "default where models write"
	}
	return changed
}

// modelsBehind is the default of writeBehind where models write, in tokens: what every
// request says besides the messages is a third of it or more with less, and folds
// cost the same.
const modelsBehind = 20_000

func plain(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// grouped writes a number with commas between thousands.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// reference is the table of docs/configuration.md.
func reference() string {
	var b strings.Builder
	b.WriteString("| key | default | range | unit | meaning |\n|---|---|---|---|---|\n")
	c := defaults(folders{})
	for i := range keys {
		k := &keys[i]
		value, unit := "`"+k.show(&c)+"`", k.unit
		if k.text != nil {
			value = "`ctxplugin.db` in the data folder"
		}
		if unit == "" {
			unit = "–"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", k.name, value, k.rangeText(), unit, k.doc)
	}
	return b.String()
}

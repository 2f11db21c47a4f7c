package compartments

import (
	"fmt"
	"slices"
)

// CompartmentID names a compartment in the store; 0 until it is stored.
type CompartmentID int64

// Rendition is the text of one compartment at one tier. Tier raw has no text
// here, only its tokens: the messages themselves are the text.
type Rendition struct {
	Text     string
	Tokens   int
	Survival Survival
}

// ExactSpan is verbatim source text that appears unchanged at every tier and in
// index lines.
type ExactSpan struct {
	Ordinal Ordinal // the message it stands in
	Text    string
	Tokens  int
}

// Fact is something that held when it was said, with the message that says it.
type Fact struct {
	Ordinal Ordinal
	Kind    string // "file", "command", "commit", "decision", …
	Text    string
	Anchor  string // verbatim words of the source
}

// Event is something that happened, with the message that shows it.
type Event struct {
	Ordinal Ordinal
	Kind    string // "failure", "fixed", "commit", "push", "question", …
	Text    string
}

// Strategy says how a representation was made.
type Strategy string

// The strategies.
const (
	StrategyGrounded  Strategy = "grounded"  // by a model, from the raw source
	StrategyCascaded  Strategy = "cascaded"  // by a model, from the tier above
	StrategyCanonical Strategy = "canonical" // by rule, from the canonical record
	StrategyScan      Strategy = "scan"      // by a cheap scan: an anchor alone, until something better is there
)

// Compartment is a contiguous run of the host's message list with one
// objective.
type Compartment struct {
	ID         CompartmentID
	First      Ordinal   // of the first member
	Last       Ordinal   // of the last member
	Members    []Ordinal // in list order; not empty
	SourceHash Hash      // RunHash over the members' content hashes

	Title      string // one line
	Importance int    // 1..100: how long full detail is needed
	Types      []string
	Retention  Retention
	Floor      Floor
	Names      []string // canonical names for index lines, best first

	RawTokens int // of the members as they would be sent
	Tiers     map[Tier]Rendition
	Spans     []ExactSpan
	Facts     []Fact
	Events    []Event

	Strategy    Strategy
	Generator   string // model, or the built-in generator's version
	Prompt      string // prompt version, if a model wrote it
	Provisional bool   // written without seeing what follows; may be written again
	Deferred    bool   // written by rule because no model could be asked just then; not stored
}

// Has reports whether the compartment has a text at the tier.
func (c *Compartment) Has(t Tier) bool {
	r, ok := c.Tiers[t]
	return ok && r.Text != ""
}

// Tokens is the size of the compartment at a tier, in tokens; raw counts the
// messages.
func (c *Compartment) Tokens(t Tier) int {
	switch t {
	case TierRaw:
		return c.RawTokens
	case TierArchived:
		return 0
	}
	return c.Tiers[t].Tokens
}

// Validate checks what every compartment must satisfy, whoever wrote it. The
// error says which rule was broken.
func (c *Compartment) Validate() error {
	name := fmt.Sprintf("compartment %d-%d", c.First, c.Last)
	switch {
	case len(c.Members) == 0:
		return fmt.Errorf("%s has no members", name)
	case c.Members[0] != c.First || c.Members[len(c.Members)-1] != c.Last:
		return fmt.Errorf("%s: its members run from %d to %d", name, c.Members[0], c.Members[len(c.Members)-1])
	case c.Importance < 1 || c.Importance > 100:
		return fmt.Errorf("%s: importance %d is outside 1..100", name, c.Importance)
	case !c.Has(TierAnchor):
		return fmt.Errorf("%s has no anchor", name)
	}
	above := 0
	for _, t := range Rendered {
		r, ok := c.Tiers[t]
		if !ok {
			continue
		}
		if r.Text == "" {
			return fmt.Errorf("%s: tier %s is empty", name, t)
		}
		if above > 0 && r.Tokens > above {
			return fmt.Errorf("%s: tier %s has %d tokens, the one above %d", name, t, r.Tokens, above)
		}
		above = r.Tokens
	}
	return nil
}

// Legal lists the tiers that the compartment's class and own floor allow, from
// most to least. It is never empty. Raw is always legal; a rendered tier must
// exist and keep the floor.
func (c *Compartment) Legal() []Tier { return c.LegalUnder(Survival{}) }

// LegalUnder is Legal under a policy that demands least of every compartment.
func (c *Compartment) LegalUnder(least Survival) []Tier {
	return c.AppendLegal(make([]Tier, 0, MostLegal), least)
}

// MostLegal is how many tiers can be legal at most.
const MostLegal = 1 + len(Rendered)

// AppendLegal appends what LegalUnder lists: a fold asks it of every compartment
// several times.
func (c *Compartment) AppendLegal(legal []Tier, least Survival) []Tier {
	c.EachLegal(least, func(t Tier, _ Rendition) { legal = append(legal, t) })
	return legal
}

// EachLegal visits what LegalUnder lists, each with its text; raw has none.
func (c *Compartment) EachLegal(least Survival, visit func(t Tier, r Rendition)) {
	visit(TierRaw, Rendition{})
	if c.Retention == Pinned {
		return
	}
	demands := c.Floor.Survival != Survival{} || least != Survival{}
	for _, t := range Rendered {
		if c.Floor.Tier != TierNone && t > c.Floor.Tier {
			break
		}
		r, ok := c.Tiers[t]
		if !ok {
			continue
		}
		kept := true
		for d := 0; demands && d < len(least); d++ {
			kept = kept && r.Survival[d] >= max(c.Floor.Survival[d], least[d])
		}
		if kept {
			visit(t, r)
		}
	}
}

// MayIndex reports whether the compartment may be merged into an index line.
func (c *Compartment) MayIndex() bool { return c.MayIndexUnder(Survival{}) }

// MayIndexUnder is MayIndex under a policy that demands least of every
// compartment: an index line keeps less than an anchor.
func (c *Compartment) MayIndexUnder(least Survival) bool {
	var room [MostLegal]Tier
	return c.Floor.Tier == TierNone && slices.Contains(c.AppendLegal(room[:0], least), TierAnchor)
}

// Allows reports whether policy lets a fold show the compartment at a tier.
// TierNone is that of what has no room: only what may not fade comes to it.
func (c *Compartment) Allows(t Tier, least Survival) bool {
	switch t {
	case TierNone:
		return !c.MayIndexUnder(least)
	case TierIndex:
		return c.MayIndexUnder(least)
	case TierArchived:
		return c.Retention == Discardable
	}
	return slices.Contains(c.LegalUnder(least), t)
}

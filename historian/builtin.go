package historian

import (
	"context"
	"fmt"
	"slices"

	"ctxplugin/compartments"
)

// Range is what a historian writes from. Messages, Hashes and Tokens run in
// parallel.
type Range struct {
	Messages []compartments.Message     // decoded, with ordinals and IDs
	Hashes   []compartments.Hash        // content hash of each message
	Tokens   []int                      // of each message as it would be sent
	Prior    []compartments.Compartment // all earlier ones, in list order: for continuity and what is already known
	Session  compartments.SessionID     // whose messages they are; may be empty
	Closed   bool                       // its end will not be seen with more behind it
}

// Generator names the built-in generator and the version of its rules.
const Generator = "builtin/3"

// Builtin writes compartments by rule. It may be used by several goroutines if
// Count may.
type Builtin struct {
	Count func(string) int // tokens of a text
}

// New returns a built-in generator that measures with count.
func New(count func(string) int) *Builtin { return &Builtin{Count: count} }

// Write covers the messages of a range with compartments, in list order: each
// message in exactly one, no group of calls cut. The last one is provisional,
// because nothing behind it was seen. When ctx ends it returns the compartments
// that are done with the error of ctx.
func (b *Builtin) Write(ctx context.Context, r Range) ([]compartments.Compartment, error) {
	v, err := b.look(ctx, r)
	if err != nil || len(v.ms) == 0 {
		return nil, err
	}
	starts := cut(v.ms, v.lex.list)
	out := make([]compartments.Compartment, 0, len(starts))
	force := inForce(r.Prior)
	for i, from := range starts {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		to := len(v.ms)
		if i+1 < len(starts) {
			to = starts[i+1]
		}
		v.from, v.to, v.named = from, to, nil
		c, _, _, next := b.write(v, r, force)
		force = next
		c.Provisional = to == len(v.ms)
		out = append(out, c)
	}
	return out, nil
}

// WriteOne writes one compartment over the whole range, whatever it holds.
func (b *Builtin) WriteOne(ctx context.Context, r Range) (compartments.Compartment, error) {
	v, err := b.look(ctx, r)
	if err != nil {
		return compartments.Compartment{}, err
	}
	if len(v.ms) == 0 {
		return compartments.Compartment{}, compartments.Errorf(compartments.CodeBadRange, "a compartment needs at least one message")
	}
	v.to = len(v.ms)
	c, _, _, _ := b.write(v, r, inForce(r.Prior))
	c.Provisional = true
	return c, nil
}

// look reads the messages of a range.
func (b *Builtin) look(ctx context.Context, r Range) (*view, error) {
	if len(r.Hashes) != len(r.Messages) || len(r.Tokens) != len(r.Messages) {
		return nil, fmt.Errorf("range of %d messages has %d hashes and %d token counts", len(r.Messages), len(r.Hashes), len(r.Tokens))
	}
	reader := newReader()
	reader.know(r.Prior)
	v := &view{ms: make([]message, len(r.Messages)), lex: &reader.names, open: openBefore(r.Prior), running: runningBefore(r.Prior), prior: r.Prior, earlier: slices.Clip(r.Prior), source: r.Messages}
	v.planned, v.plan = planBefore(r.Prior)
	for i := range r.Messages {
		if i%256 == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		v.ms[i] = reader.read(&r.Messages[i], i)
	}
	reader.settle(v.ms)
	unnoise(v.ms)
	return v, nil
}

// write makes the compartment of the run that v shows, and returns the record and
// the lines that it came from, and the request in force behind it.
func (b *Builtin) write(v *view, r Range, force *request) (compartments.Compartment, *record, []line, *request) {
	rec := compile(v, force)
	for i := range rec.spans {
		rec.spans[i].Tokens = b.Count(rec.spans[i].Text)
	}
	c := frame(r, v.from, v.to)
	tiers, lines := renderTiers(rec, c.RawTokens, b.Count)
	measureSurvival(rec, lines, tiers)
	c.Title = rec.title
	c.Importance = rec.importance()
	c.Types = rec.types()
	c.Names = rec.names[:min(len(rec.names), 12)]
	c.Tiers = tiers
	for _, s := range rec.spans {
		c.Spans = append(c.Spans, s.ExactSpan)
	}
	c.Facts = ground(rec.facts(), r.Messages[v.from:v.to])
	c.Events = rec.events()
	c.Strategy = compartments.StrategyCanonical
	c.Generator = Generator
	v.earlier = append(v.earlier, c)
	if last := lastRequest(c.Facts); last != nil {
		force = last
	}
	return c, rec, lines, force
}

// lastRequest is what the facts of a compartment tell was asked last; nil for nothing.
func lastRequest(facts []compartments.Fact) *request {
	for i := len(facts) - 1; i >= 0; i-- {
		if f := &facts[i]; f.Kind == factRequest {
			return &request{ord: f.Ordinal, title: f.Text}
		}
	}
	return nil
}

// frame fills what a compartment says about its run.
func frame(r Range, from, to int) compartments.Compartment {
	c := compartments.Compartment{
		First: r.Messages[from].Ordinal, Last: r.Messages[to-1].Ordinal,
		Members:    make([]compartments.Ordinal, 0, to-from),
		SourceHash: compartments.RunHash(r.Hashes[from:to]),
		Retention:  compartments.Compressible,
	}
	for i := from; i < to; i++ {
		c.Members = append(c.Members, r.Messages[i].Ordinal)
		c.RawTokens += r.Tokens[i]
	}
	return c
}

// inForce is the request that the newest of the earlier compartments worked on.
func inForce(prior []compartments.Compartment) *request {
	for i := len(prior) - 1; i >= 0 && i >= len(prior)-8; i-- {
		if last := lastRequest(prior[i].Facts); last != nil {
			return last
		}
	}
	return nil
}

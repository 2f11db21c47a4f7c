package draft

import (
	"context"
	"fmt"
	"slices"
	"time"

	"ctxplugin/compartments"
	"ctxplugin/historian"
	"ctxplugin/prompts"
)

// Writer has models write compartments. It may be used by several goroutines.
type Writer struct {
	cfg   Config
	fixed int // tokens of the prompt's fixed part
}

// New returns a writer.
func New(cfg Config) *Writer {
	w := &Writer{cfg: cfg}
	if len(cfg.Candidates) > 0 {
		w.fixed = cfg.Count(prompts.Historian.System)
	}
	return w
}

// Write covers the messages of a range with compartments, in list order: each
// message in exactly one, no group of calls cut. What no model writes to the rules
// the built-in generator writes. It may take minutes, and fails only when ctx ends
// or the range is malformed.
//
// What is written by rule because no model could be asked, or none answered, is
// marked as deferred.
//
// The last objective of a range that goes on later is left to the built-in generator,
// provisional, and shown to the model as what follows, unless it is most of the
// range: then little would be left that is worth a request.
func (w *Writer) Write(ctx context.Context, r historian.Range) ([]compartments.Compartment, error) {
	if len(w.cfg.Candidates) == 0 || len(r.Messages) == 0 {
		return w.cfg.Builtin.Write(ctx, r)
	}
	x, err := w.cfg.Builtin.Read(ctx, r)
	if err != nil {
		return nil, err
	}
	end := len(r.Messages)
	if starts := x.Starts(); !r.Closed && len(starts) > 1 {
		if last := starts[len(starts)-1]; 2*total(r.Tokens[last:]) <= total(r.Tokens) {
			end = last
		}
	}
	j := &job{w: w, x: x, reader: newReader(x, w.cfg.Count), over: make([]bool, len(w.cfg.Candidates)), bad: make([]int, len(w.cfg.Candidates)),
		settled: make([]bool, len(r.Messages))}
	list := j.cover(ctx, 0, end, 0, false)
	defer func() { w.report(r.Session, j.last) }() // nothing goes on any more, also if it was given up
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	j.settle(end, len(r.Messages))
	list = append(list, j.byRule(end, len(r.Messages))...)
	return compose(x, list, w.cfg.Count), nil
}

func total(tokens []int) (n int) {
	for _, t := range tokens {
		n += t
	}
	return n
}

func (w *Writer) report(session compartments.SessionID, s State) {
	if w.cfg.Report != nil {
		w.cfg.Report(session, s)
	}
}

// job is one Write.
type job struct {
	w      *Writer
	x      *historian.Reading
	reader *reader
	over   []bool // by candidate: not asked again for this range
	bad    []int  // by candidate: chunks in a row that it did not write to the rules
	titles []string
	last   State // of the last call, or why none was made
	// settled says by place that a model was heard about it, or that it is not worth a
	// call.
	settled []bool
}

// Limits that hold whatever the candidate says.
const (
	windowUnknown = 32_000
	outputUnknown = 8_000
	timeUnknown   = 2 * time.Minute
	triesUnknown  = 3
	inputMost     = 32_000 // tokens of a chunk: more in one request is written worse
	inputLeast    = 700
	inputMargin   = 50    // percent by which a model may count more tokens in a request than we do
	aroundTokens  = 1_400 // what a request says besides the fixed part and the transcript
	worthAsking   = 60    // tokens of a chunk: what says less is not worth the fixed part
	badMost       = 2     // chunks in a row before a candidate is passed over
	pauseFirst    = 2 * time.Second
	pauseMost     = time.Minute // a backend that wants more is not waited for
)

// limits are what a candidate is sent and may answer. A repair holds the reply
// besides the chunk, and a chunk may overhang.
func (w *Writer) limits(c *Candidate) (l limits, output int) {
	window, output := c.Window, c.MaxOutput
	if window <= 0 {
		window = windowUnknown
	}
	if output <= 0 {
		output = outputUnknown
	}
	output = min(output, window/4)
	room := (window - 2*output - w.fixed - aroundTokens) * 9 / 10 // counts differ from model to model
	l.input = min(room, inputMost) * overhang / (overhang + 1)
	l.reply = output * 3 / 4
	return l, output
}

// byRule leaves the places [from, to) to the built-in generator.
func (j *job) byRule(from, to int) []made {
	var out []made
	if from >= to {
		return nil
	}
	starts := within(j.x.Starts(), from, to)
	for i, s := range starts {
		end := to
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		out = append(out, made{from: s, to: end, deferred: !slices.Contains(j.settled[s:end], true)})
	}
	return out
}

func (j *job) settle(from, to int) {
	for i := from; i < to; i++ {
		j.settled[i] = true
	}
}

// cover has the places [from, to) written by the candidate k or those behind it,
// in chunks of its limits. halved says that they are half of a chunk that was too
// much for k.
func (j *job) cover(ctx context.Context, from, to, k int, halved bool) []made {
	if k == len(j.w.cfg.Candidates) {
		return j.byRule(from, to)
	}
	c := &j.w.cfg.Candidates[k]
	l, output := j.w.limits(c)
	if l.input < inputLeast {
		j.over[k] = true
		j.note(c, compartments.CallTooLong, fmt.Sprintf("%s: its window of %d tokens is too small to write history", c.title(), c.Window))
	}
	var out []made
	for from < to && ctx.Err() == nil {
		if j.over[k] {
			return append(out, j.cover(ctx, from, to, k+1, false)...)
		}
		ch := j.reader.next(from, to, l)
		if ch.tokens < worthAsking {
			j.settle(ch.from, ch.to)
			out = append(out, j.byRule(ch.from, ch.to)...)
			from = ch.to
			continue
		}
		pieces, by, verdict := j.ask(ctx, &ch, k, output)
		if len(pieces) > 0 {
			for i := range pieces {
				p := &pieces[i]
				out = append(out, made{from: p.from, to: p.to, piece: p, generator: by})
				j.titles = append(j.titles, j.heading(p.from, p.to)+p.title)
			}
			from = pieces[len(pieces)-1].to
			continue
		}
		middle := ch.from
		if (verdict == compartments.CallCut || verdict == compartments.CallTooLong) && !halved {
			middle = j.middle(&ch)
		}
		if middle > ch.from {
			out = append(out, j.cover(ctx, ch.from, middle, k, true)...)
			out = append(out, j.cover(ctx, middle, ch.to, k, true)...)
		} else {
			out = append(out, j.cover(ctx, ch.from, ch.to, k+1, false)...)
		}
		from = ch.to
	}
	return out
}

// middle is the place that divides a chunk into halves: where an objective or a
// turn ends with at least a tenth on either side, for each objective takes a
// compartment of the reply; else with a group of calls; the chunk's own beginning
// if it is one group.
func (j *job) middle(c *chunk) int {
	all := 0
	for _, e := range c.entries {
		all += len(e.text)
	}
	best, least, objective := c.from, all, false
	for place, before := c.from, 0; place < c.to; place++ {
		if place > c.from && legal(j.x, place) {
			off := max(2*before-all, all-2*before)
			ends := 5*off <= 4*all && (slices.Contains(c.starts, place) || j.x.Voice(place) == historian.VoicePerson)
			if ends && !objective || ends == objective && off < least {
				best, least, objective = place, off, ends
			}
		}
		before += len(c.entries[place-c.from].text)
	}
	return best
}

// title names a candidate: its backend and model.
func (c *Candidate) title() string {
	if c.Name == "" {
		return c.Backend
	}
	return c.Backend + "/" + c.Name
}

func (j *job) heading(from, to int) string {
	ms := j.x.Range().Messages
	return fmt.Sprintf("[%d-%d] ", ms[from].Ordinal, ms[to-1].Ordinal)
}

// note remembers what came of a candidate, and tells it.
func (j *job) note(c *Candidate, v compartments.CallVerdict, text string) {
	j.last = State{Model: c.title(), Verdict: v, Text: text}
	j.w.report(j.x.Range().Session, j.last)
}

// held remembers that a candidate may not be asked, and tells it.
func (j *job) held(c *Candidate, v compartments.CallVerdict, hold compartments.CallHold) {
	j.last = State{Model: c.title(), Verdict: v, Cause: hold.Cause, Text: hold.Text}
	j.w.report(j.x.Range().Session, j.last)
}

// doing tells what goes on from now on.
func (j *job) doing(text string) {
	s := j.last
	s.Doing, s.Since = text, j.w.cfg.Clock.Now().UnixMilli()
	j.w.report(j.x.Range().Session, s)
}

// oneLine makes an error fit for a ledger.
func oneLine(s string) string { return head(historian.Safe(s), 300) }

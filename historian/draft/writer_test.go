package draft

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ctxplugin/compartments"
	"ctxplugin/historian"
)

// step is what a scripted model does at one call.
type step struct {
	reply historian.Reply
	err   error
	never bool // until its context ends
}

func says(text string) step {
	return step{reply: historian.Reply{Text: text, Finish: historian.FinishStop, Usage: compartments.Usage{Input: 1000, Output: 100}}}
}

func fails(v compartments.CallVerdict, after time.Duration) step {
	return step{err: &historian.Failure{Verdict: v, Text: "said so", RetryAfter: after}}
}

// scripted answers its calls in order, the last step again and again.
type scripted struct {
	mu    sync.Mutex
	steps []step
	asked []historian.Request
}

func (s *scripted) Generate(ctx context.Context, r historian.Request) (historian.Reply, error) {
	s.mu.Lock()
	at := min(len(s.asked), len(s.steps)-1)
	s.asked = append(s.asked, r)
	st := s.steps[at]
	s.mu.Unlock()
	if st.never {
		<-ctx.Done()
		return historian.Reply{}, ctx.Err()
	}
	return st.reply, st.err
}

// ledger is a journal in memory.
type ledger struct {
	calls  []compartments.Call
	hold   compartments.CallHold
	fail   error // of Admit
	unkept error // of Record
	asked  int
	last   compartments.Call // that was admitted
}

func (l *ledger) Admit(_ context.Context, c compartments.Call) (compartments.CallHold, error) {
	l.asked++
	l.last = c
	if c.Usage.Input == 0 || c.At == 0 {
		return compartments.CallHold{}, errors.New("nothing is known of the call")
	}
	return l.hold, l.fail
}

func (l *ledger) Record(_ context.Context, c compartments.Call) error {
	l.calls = append(l.calls, c)
	if a := l.last; a.At != c.At || a.Source != c.Source || a.Backend != c.Backend || a.Model != c.Model || a.Try != c.Try || a.Repair != c.Repair {
		return fmt.Errorf("%+v was admitted, %+v recorded", a, c)
	}
	return l.unkept
}

func (l *ledger) verdicts() string {
	var out []string
	for _, c := range l.calls {
		v := string(c.Verdict)
		if c.Repair {
			v += "+"
		}
		if len(c.Faults) > 0 {
			v += "(" + strings.Join(c.Faults, ",") + ")"
		}
		out = append(out, c.Model+":"+v)
	}
	return strings.Join(out, " ")
}

// stopped is a clock that moves when somebody sleeps.
type stopped struct {
	now   time.Time
	slept []time.Duration
}

func (c *stopped) Now() time.Time { return c.now }

func (c *stopped) Sleep(ctx context.Context, d time.Duration) error {
	c.now = c.now.Add(d)
	c.slept = append(c.slept, d)
	return ctx.Err()
}

// bench is a writer with everything that it hangs on.
type bench struct {
	*Writer
	models []*scripted
	ledger *ledger
	clock  *stopped
	states []State
}

func newBench(models ...*scripted) *bench {
	b := &bench{models: models, ledger: &ledger{}, clock: &stopped{now: time.UnixMilli(1_700_000_000_000)}}
	cfg := Config{Builtin: historian.New(counter.Count), Count: counter.Count, Journal: b.ledger, Clock: b.clock,
		Jitter: func(most time.Duration) time.Duration { return most / 2 },
		Report: func(_ compartments.SessionID, s State) { b.states = append(b.states, s) }}
	for i, m := range models {
		cfg.Candidates = append(cfg.Candidates, Candidate{Backend: "test", Name: fmt.Sprintf("m%d", i+1), Model: m, Window: 128_000,
			Prices: compartments.Prices{Input: 3e6, Output: 15e6}, Timeout: 20 * time.Millisecond})
	}
	b.Writer = New(cfg)
	return b
}

// closed is a range that will not be seen with more behind it.
func closed(r historian.Range) historian.Range {
	r.Closed = true
	return r
}

// covers checks what session demands of a historian, and what every draft must
// keep.
func covers(t testing.TB, r historian.Range, list []compartments.Compartment) {
	t.Helper()
	at := 0
	for i := range list {
		c := &list[i]
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		from := at
		for _, o := range c.Members {
			if at == len(r.Messages) || r.Messages[at].Ordinal != o {
				t.Fatalf("message %d is out of order", o)
			}
			at++
		}
		if c.SourceHash != compartments.RunHash(r.Hashes[from:at]) {
			t.Fatalf("%d-%d was written from something else", c.First, c.Last)
		}
		if at < len(r.Messages) && r.Messages[at].Role == compartments.RoleTool {
			t.Fatalf("a result is parted from its call at %d", c.Last)
		}
		above := 0
		for _, tier := range compartments.Rendered {
			n := counter.Count(c.Tiers[tier].Text)
			if n != c.Tiers[tier].Tokens || above > 0 && n > above {
				t.Fatalf("%d-%d %s: %d tokens, counted %d, above %d", c.First, c.Last, tier, c.Tiers[tier].Tokens, n, above)
			}
			above = n
		}
		for _, s := range c.Spans {
			for _, tier := range compartments.Rendered {
				if !strings.Contains(c.Tiers[tier].Text, s.Text) {
					t.Fatalf("%d-%d %s lacks the exact span %q", c.First, c.Last, tier, s.Text)
				}
			}
		}
	}
	if at != len(r.Messages) {
		t.Fatalf("%d of %d messages are covered", at, len(r.Messages))
	}
}

func strategies(list []compartments.Compartment) string {
	var out []string
	for _, c := range list {
		out = append(out, fmt.Sprintf("%d-%d %s", c.First, c.Last, c.Strategy))
	}
	return strings.Join(out, ", ")
}

// TestWriter_Usage: what a backend says of tokens, money and itself is foreign too:
// numbers that cannot be true would lift a cap, reach it for the day, or not fit.
func TestWriter_Usage(t *testing.T) {
	for name, c := range map[string]struct {
		usage     compartments.Usage
		cost      int64
		estimated bool
		want      int64 // of the cost, 0 for that of the tokens
	}{
		"true":               {compartments.Usage{Input: 1000, Output: 100, Reasoning: 10}, 77, false, 77},
		"below nothing":      {compartments.Usage{Input: -100_000, Output: 100}, -5, true, 0},
		"one below":          {compartments.Usage{Input: 1000, Output: 100, Reasoning: -9000}, 0, true, 0},
		"too large":          {compartments.Usage{Input: 1000, Output: 1 << 53}, 1 << 60, true, 0},
		"too large together": {compartments.Usage{Input: usageMost, CacheRead: usageMost}, 0, true, 0},
		"what has no sum":    {compartments.Usage{Input: math.MaxInt, Output: math.MaxInt}, math.MaxInt64, true, 0},
	} {
		st := says(goodReply)
		st.reply.Usage, st.reply.Cost, st.reply.Model = c.usage, c.cost, "m\x1b[31m9\n\u202e"+strings.Repeat(" z", 3000)
		b := newBench(&scripted{steps: []step{st}})
		list, err := b.Write(context.Background(), closed(importer()))
		if err != nil || strategies(list) != grounded {
			t.Fatalf("%s: %s, %v", name, strategies(list), err)
		}
		call := b.ledger.calls[0]
		if tokens := call.Tokens(); call.Estimated != c.estimated || tokens <= 0 || tokens > 100_000 || call.Cost <= 0 || c.want != 0 && call.Cost != c.want || call.Cost > 1_000_000 {
			t.Errorf("%s: %+v", name, call)
		}
		if strings.ContainsAny(call.Answered+list[0].Generator, "\x1b\n\u202e") || len(call.Answered) > 120 || !strings.HasPrefix(list[0].Generator, "test/m") {
			t.Errorf("%s: answered by %q", name, call.Answered)
		}
	}
	b := newBench(&scripted{steps: []step{{err: &historian.Failure{Verdict: compartments.CallServer, Usage: compartments.Usage{Input: -1 << 40}}}}})
	if _, err := b.Write(context.Background(), closed(importer())); err != nil || b.ledger.calls[0].Tokens() < 0 {
		t.Errorf("%+v, %v", b.ledger.calls[0], err)
	}
}

const grounded = "1-4 grounded, 5-7 grounded"

// byRule is what the built-in generator makes of importer.
func byRule(t *testing.T) string {
	list, err := historian.New(counter.Count).Write(context.Background(), importer())
	if err != nil {
		t.Fatal(err)
	}
	return strategies(list)
}

// TestWriter_Verdicts: whatever a model does, the range is covered, what is not true
// is not in it, the tries are bounded, and the ledger says what happened.
func TestWriter_Verdicts(t *testing.T) {
	builtin := byRule(t)
	good := says(goodReply)
	invalid := says(strings.ReplaceAll(goodReply, "importer/rejects.go", "importer/dropped.go"))
	with := func(s step, change func(*historian.Reply)) step {
		change(&s.reply)
		return s
	}
	for _, c := range []struct {
		name  string
		steps []step
		want  string
		calls string
	}{
		{"good", []step{good}, grounded, "m1:good(fact)"},
		{"fenced and chatty", []step{says("Here you are:\n```xml\n" + goodReply + "```\nAnything else?")}, grounded, "m1:good(fact)"},
		{"wrong closing tags", []step{says(strings.NewReplacer("</full>", "</p1>", "</dense>", "</compact>", "</anchor>", "").Replace(goodReply))}, grounded, "m1:good(fact)"},
		{"an invented path, then repaired", []step{invalid, good}, grounded, "m1:invalid(name) m1:good+(fact)"},
		{"an invented path, twice", []step{invalid}, builtin, "m1:invalid(name) m1:invalid+(name)"},
		{"a gap over a user message", []step{says(strings.Replace(goodReply, `first="5"`, `first="6"`, 1))}, builtin, "m1:invalid(gap) m1:invalid+(gap)"},
		{"an invented order of the user", []step{says(strings.Replace(goodReply, "Outcome: [4]", "Asked: [1] \"delete all rejects afterwards\"\nOutcome: [4]", 1))}, builtin, "m1:invalid(user) m1:invalid+(user)"},
		{"a refusal", []step{says("I'm sorry, but I can't help with that.")}, builtin, "m1:refusal"},
		{"a filtered reply", []step{{reply: historian.Reply{Finish: historian.FinishRefusal}}}, builtin, "m1:refusal"},
		{"empty", []step{says(" \n")}, builtin, "m1:empty m1:empty"},
		{"reasoning only", []step{{reply: historian.Reply{Finish: historian.FinishStop, Reasoning: true}}}, builtin, "m1:reasoning m1:reasoning"},
		{"reasoning that never ends", []step{says("<think>let me see")}, builtin, "m1:reasoning m1:reasoning"},
		{"a tool call", []step{with(good, func(r *historian.Reply) { r.ToolCall = true })}, builtin, "m1:tool-call"},
		{"nonsense", []step{says("The importer was fixed.")}, builtin, "m1:invalid(nothing) m1:invalid+(nothing)"},
		{"never", []step{{never: true}}, builtin, "m1:timeout m1:timeout m1:timeout"},
		{"rate limit, then good", []step{fails(compartments.CallRateLimit, 7*time.Second), good}, grounded, "m1:rate-limit m1:good(fact)"},
		{"rate limit for long", []step{fails(compartments.CallRateLimit, time.Hour)}, builtin, "m1:rate-limit"},
		{"500s", []step{fails(compartments.CallServer, 0)}, builtin, "m1:server m1:server m1:server"},
		{"500s while it repairs", []step{invalid, fails(compartments.CallServer, 0), good}, grounded, "m1:invalid(name) m1:server+ m1:good+(fact)"},
		{"network", []step{{err: errors.New("connection refused")}}, builtin, "m1:network m1:network m1:network"},
		{"auth", []step{fails(compartments.CallAuth, 0)}, builtin, "m1:auth"},
		{"unknown model", []step{fails(compartments.CallUnknownModel, 0)}, builtin, "m1:unknown-model"},
		{"a malformed request", []step{fails(compartments.CallRequest, 0)}, builtin, "m1:request"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(&scripted{steps: c.steps})
			r := closed(importer())
			list, err := b.Write(context.Background(), r)
			if err != nil {
				t.Fatal(err)
			}
			covers(t, r, list)
			if got := strategies(list); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			if got := b.ledger.verdicts(); got != c.calls {
				t.Errorf("calls %s, want %s", got, c.calls)
			}
			if len(b.models[0].asked) != len(b.ledger.calls) || b.ledger.asked != len(b.ledger.calls) {
				t.Errorf("%d requests, %d rows, asked for %d", len(b.models[0].asked), len(b.ledger.calls), b.ledger.asked)
			}
			last := b.states[len(b.states)-1]
			if n := len(b.ledger.calls); last.Verdict != b.ledger.calls[n-1].Verdict || last.Doing != "" {
				t.Errorf("the state in the end is %+v", last)
			}
		})
	}
}

// TestWriter_Cut: a reply that was cut by its length is not used; the chunk is asked
// for in halves.
func TestWriter_Cut(t *testing.T) {
	cut := says(goodReply[:len(goodReply)/2])
	cut.reply.Finish = historian.FinishLength
	b := newBench(&scripted{steps: []step{cut}})
	r := closed(long(40))
	list, err := b.Write(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	covers(t, r, list)
	if strings.Contains(strategies(list), "grounded") {
		t.Errorf("something of it was used: %s", strategies(list))
	}
	whole := map[compartments.Ordinal]int{} // messages asked for at once, by where that begins
	for _, c := range b.ledger.calls {
		n := int(c.Last - c.First)
		if before, ok := whole[c.First]; ok && n >= before {
			t.Errorf("%d-%d is asked for again", c.First, c.Last)
		}
		whole[c.First] = n
	}
	if n := len(b.ledger.calls); n < 3 || n > 8 {
		t.Errorf("%d calls", n)
	}
}

// TestWriter_CutIsHalvedAtOnce: no range is asked for twice, also where the chunk is
// far smaller than it may be, and halves that fit are taken.
func TestWriter_CutIsHalvedAtOnce(t *testing.T) {
	at := strings.LastIndex(goodReply, "<compartment")
	for _, verdict := range []compartments.CallVerdict{compartments.CallCut, compartments.CallTooLong} {
		first := fails(verdict, 0)
		if verdict == compartments.CallCut {
			first = says(goodReply[:len(goodReply)/2])
			first.reply.Finish = historian.FinishLength
		}
		b := newBench(&scripted{steps: []step{first, says(goodReply[:at]), says(goodReply[at:])}})
		list, err := b.Write(context.Background(), closed(importer()))
		if err != nil {
			t.Fatal(err)
		}
		var asked []string
		for _, c := range b.ledger.calls {
			asked = append(asked, fmt.Sprintf("%d-%d %s", c.First, c.Last, c.Verdict))
		}
		if got, want := strings.Join(asked, ", "), "1-7 "+string(verdict)+", 1-4 good, 5-7 good"; got != want || strategies(list) != grounded {
			t.Errorf("asked %s, want %s: %s", got, want, strategies(list))
		}
	}
}

// TestWriter_OnceMore: an empty reply is asked for once more, as the next try.
func TestWriter_OnceMore(t *testing.T) {
	for name, first := range map[string]step{"empty": says(""), "reasoning": says("<think>hm")} {
		b := newBench(&scripted{steps: []step{first}})
		b.cfg.Candidates[0].Tries = 5
		if _, err := b.Write(context.Background(), closed(importer())); err != nil {
			t.Fatal(err)
		}
		if c := b.ledger.calls; len(c) != 2 || c[0].Try != 1 || c[1].Try != 2 {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

// TestWriter_Reserves: what is admitted is more than a model may take that counts
// half as many tokens again, so that no cap is passed by what it turns out to be.
func TestWriter_Reserves(t *testing.T) {
	b := newBench(&scripted{steps: []step{says(goodReply)}})
	if _, err := b.Write(context.Background(), closed(importer())); err != nil {
		t.Fatal(err)
	}
	r := b.models[0].asked[0]
	if counted := counter.Count(r.System) + counter.Count(r.Prompt); b.ledger.last.Usage.Input < counted*3/2-1 || b.ledger.last.Usage.Output < r.MaxTokens {
		t.Errorf("%+v is reserved for %d and %d tokens", b.ledger.last.Usage, counted, r.MaxTokens)
	}
}

// TestWriter_TellsEach: what came of each model is told, also where another one
// writes in the end.
func TestWriter_TellsEach(t *testing.T) {
	b := newBench(&scripted{steps: []step{fails(compartments.CallAuth, 0)}}, &scripted{steps: []step{says(goodReply)}})
	if _, err := b.Write(context.Background(), closed(importer())); err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, s := range b.states {
		told = append(told, fmt.Sprintf("%s %s %s", s.Model, s.Verdict, s.Doing))
		if (s.Doing != "") != (s.Since != 0) {
			t.Errorf("%+v", s)
		}
	}
	want := []string{"  asking test/m1 for messages 1-7", "test/m1 auth ", "test/m1 auth asking test/m2 for messages 1-7", "test/m2 good ", "test/m2 good "}
	if !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}

// TestWriter_TruncatedEnd: an end that is missing costs the last compartment, which
// is asked for anew.
func TestWriter_TruncatedEnd(t *testing.T) {
	at := strings.LastIndex(goodReply, "<compartment")
	b := newBench(&scripted{steps: []step{says(goodReply[:at+120]), says(goodReply[at:])}})
	r := closed(importer())
	list, err := b.Write(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	covers(t, r, list)
	if got := strategies(list); got != grounded || len(b.models[0].asked) != 2 {
		t.Errorf("%s after %d requests: %s", got, len(b.models[0].asked), b.ledger.verdicts())
	}
	if p := b.models[0].asked[1].Prompt; !strings.Contains(p, "Messages 5 to 7 are") || strings.Contains(p, "[1] user") {
		t.Errorf("the second request is for\n%s", p)
	}
}

// TestWriter_NextModel: the list of models is asked in its order, and a model that
// cannot be reached is not asked for each chunk.
func TestWriter_NextModel(t *testing.T) {
	b := newBench(&scripted{steps: []step{fails(compartments.CallAuth, 0)}}, &scripted{steps: []step{says("no")}}, &scripted{steps: []step{says(goodReply)}})
	list, err := b.Write(context.Background(), closed(importer()))
	if err != nil {
		t.Fatal(err)
	}
	if got, calls := strategies(list), b.ledger.verdicts(); got != grounded || calls != "m1:auth m2:invalid(nothing) m2:invalid+(nothing) m3:good(fact)" {
		t.Errorf("%s: %s", got, calls)
	}
	b.models[2].steps[0].reply.Model = "m3-2026"
	if list, err = b.Write(context.Background(), closed(importer())); err != nil {
		t.Fatal(err)
	}
	if c := list[0]; c.Generator != "test/m3-2026" || b.ledger.calls[len(b.ledger.calls)-1].Detail != "answered by m3-2026" {
		t.Errorf("written by %q, %+v", c.Generator, b.ledger.calls[len(b.ledger.calls)-1])
	}
	b.models[2].steps[0].reply.Model = ""
	if list, err = b.Write(context.Background(), closed(importer())); err != nil {
		t.Fatal(err)
	}
	if c := list[0]; c.Generator != "test/m3" || c.Prompt != "historian/2" {
		t.Errorf("written by %q with %q", c.Generator, c.Prompt)
	}
	many := newBench(&scripted{steps: []step{fails(compartments.CallUnknownModel, 0)}}, &scripted{steps: []step{says("no")}})
	many.cfg.Candidates[0].Window, many.cfg.Candidates[1].Window = 9_000, 9_000
	r := closed(long(120))
	if list, err = many.Write(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	covers(t, r, list)
	if a, b := len(many.models[0].asked), len(many.models[1].asked); a != 1 || b != 4 {
		t.Errorf("asked %d and %d times", a, b)
	}
}

// TestWriter_Waits: pauses grow, heed what the backend asks for, and never the end
// of a day.
func TestWriter_Waits(t *testing.T) {
	b := newBench(&scripted{steps: []step{fails(compartments.CallServer, 0), fails(compartments.CallRateLimit, 20*time.Second), says(goodReply)}})
	if _, err := b.Write(context.Background(), closed(importer())); err != nil {
		t.Fatal(err)
	}
	if want := []time.Duration{2500 * time.Millisecond, 25 * time.Second}; !slices.Equal(b.clock.slept, want) {
		t.Errorf("slept %v, want %v", b.clock.slept, want)
	}
	if b.ledger.calls[1].RetryAtMs == 0 {
		t.Error("the ledger does not say when to ask again")
	}
}

// TestWriter_Held: no call is made that the journal does not allow, or that could
// not be written down.
func TestWriter_Held(t *testing.T) {
	builtin := byRule(t)
	for name, change := range map[string]func(*ledger){
		"open breaker": func(l *ledger) {
			l.hold = compartments.CallHold{Verdict: compartments.CallHeld, Text: "three failures"}
		},
		"cap":       func(l *ledger) { l.hold = compartments.CallHold{Verdict: compartments.CallCap} },
		"no ledger": func(l *ledger) { l.fail = errors.New("database is locked") },
	} {
		b := newBench(&scripted{steps: []step{says(goodReply)}})
		change(b.ledger)
		list, err := b.Write(context.Background(), closed(importer()))
		if err != nil {
			t.Fatal(err)
		}
		if got := strategies(list); got != builtin || len(b.models[0].asked) != 0 || len(b.ledger.calls) != 0 {
			t.Errorf("%s: %s after %d requests", name, got, len(b.models[0].asked))
		}
	}
	b := newBench(&scripted{steps: []step{says(goodReply)}})
	b.ledger.unkept = errors.New("disk is full")
	b.cfg.Candidates[0].Window = 9_000
	if _, err := b.Write(context.Background(), closed(long(120))); err != nil {
		t.Fatal(err)
	}
	if n := len(b.models[0].asked); n != 1 {
		t.Errorf("%d calls were made that nobody knows of", n)
	}
}

// TestWriter_LastObjective: what a range ends with is left for later, unless it is
// most of the range: then a request for the rest would say little but its fixed part.
func TestWriter_LastObjective(t *testing.T) {
	for _, most := range []bool{false, true} {
		r := long(40)
		starts := read(t, r).Starts()
		last := starts[len(starts)-1]
		if len(starts) < 2 {
			t.Fatal("one objective")
		}
		for i := range r.Tokens {
			if r.Tokens[i] = 10; (i >= last) == most {
				r.Tokens[i] = 1000
			}
		}
		b := newBench(&scripted{steps: []step{says("no")}})
		if _, err := b.Write(context.Background(), r); err != nil {
			t.Fatal(err)
		}
		end := r.Messages[last-1].Ordinal
		if most {
			end = r.Messages[len(r.Messages)-1].Ordinal
		}
		asked := b.ledger.calls[len(b.ledger.calls)-1].Last
		if asked > end || most && asked < end {
			t.Errorf("most %v: asked up to message %d, the end is %d", most, asked, end)
		}
	}
}

// TestWriter_Deferred: what is written by rule because nobody could be asked, or
// nobody answered, is marked; what a model was heard about is not.
func TestWriter_Deferred(t *testing.T) {
	for name, c := range map[string]struct {
		step step
		hold compartments.CallVerdict
		want bool
	}{
		"the breaker is open": {says(goodReply), compartments.CallHeld, true}, "the day is used up": {says(goodReply), compartments.CallCap, true},
		"a wrong key": {fails(compartments.CallAuth, 0), "", true}, "no network": {fails(compartments.CallNetwork, 0), "", true}, "never": {step{never: true}, "", true},
		"good": {says(goodReply), "", false}, "nonsense": {says("no"), "", false}, "empty": {says(""), "", false}, "a refusal": {says("I'm sorry, but I can't help."), "", false},
	} {
		b := newBench(&scripted{steps: []step{c.step}})
		b.ledger.hold = compartments.CallHold{Verdict: c.hold}
		list, err := b.Write(context.Background(), closed(importer()))
		if err != nil {
			t.Fatal(err)
		}
		for i := range list {
			if list[i].Deferred != c.want {
				t.Errorf("%s: %d-%d is deferred: %v", name, list[i].First, list[i].Last, list[i].Deferred)
			}
		}
	}
}

// TestWriter_Cancelled: the end of the program ends a call at once, and what it cost
// is written down.
func TestWriter_Cancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	b := newBench(&scripted{steps: []step{{never: true}}})
	b.cfg.Candidates[0].Timeout = time.Hour
	b.cfg.Report = func(_ compartments.SessionID, s State) {
		if strings.HasPrefix(s.Doing, "asking") {
			cancel()
		}
	}
	list, err := b.Write(ctx, closed(importer()))
	if !errors.Is(err, context.Canceled) || list != nil {
		t.Fatalf("%d compartments, %v", len(list), err)
	}
	if got := b.ledger.verdicts(); got != "m1:cancelled" || b.ledger.calls[0].Cost == 0 {
		t.Errorf("ledger: %s, cost %d", got, b.ledger.calls[0].Cost)
	}
}

// TestWriter_CancelledWhileItWaits: nothing is said to go on that was given up.
func TestWriter_CancelledWhileItWaits(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	b := newBench(&scripted{steps: []step{fails(compartments.CallServer, 0)}})
	var last State
	b.cfg.Report = func(_ compartments.SessionID, s State) {
		if last = s; strings.HasPrefix(s.Doing, "waiting") {
			cancel()
		}
	}
	if _, err := b.Write(ctx, closed(importer())); !errors.Is(err, context.Canceled) || last.Doing != "" || last.Verdict != compartments.CallServer {
		t.Errorf("%v, %+v", err, last)
	}
}

// TestWriter_Provisional: what goes on later is left to the generator, and shown to
// the model as what follows.
func TestWriter_Provisional(t *testing.T) {
	r := long(40)
	starts := read(t, r).Starts()
	b := newBench(&scripted{steps: []step{says("no")}})
	list, err := b.Write(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	covers(t, r, list)
	last := r.Messages[starts[len(starts)-1]].Ordinal
	if c := list[len(list)-1]; !c.Provisional || c.First != last || c.Strategy != compartments.StrategyCanonical {
		t.Errorf("the last is %d-%d %s, provisional %v", c.First, c.Last, c.Strategy, c.Provisional)
	}
	p := b.models[0].asked[len(b.models[0].asked)-1].Prompt
	if _, ahead, ok := strings.Cut(p, "What follows"); !ok || !strings.Contains(ahead, fmt.Sprintf("[%d] user", last)) || strings.Contains(ahead, "</transcript>") {
		t.Errorf("what follows is not shown:\n%s", p[max(0, len(p)-800):])
	}
}

// long is a session of n exchanges about different files.
func long(n int) historian.Range {
	var lines []string
	for i := range n {
		lines = append(lines, fmt.Sprintf("U please extend pkg%d/handler.go so that it rejects empty names, and keep the old error text", i),
			fmt.Sprintf("A I read pkg%d/handler.go.", i),
			fmt.Sprintf("$ cat pkg%d/handler.go => %s", i, strings.Repeat(fmt.Sprintf("func Handle%d(name string) error { return nil }\n", i), 40)),
			fmt.Sprintf("E pkg%d/handler.go => if name == \"\" { return ErrEmpty%d }", i, i),
			fmt.Sprintf("A pkg%d/handler.go returns ErrEmpty%d for empty names. Not tested.", i, i))
	}
	return talk(lines...)
}

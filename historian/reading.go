package historian

import (
	"context"
	"strings"

	"ctxplugin/compartments"
)

// Voice says for whom a message speaks, after a look at its text.
type Voice uint8

// The voices.
const (
	VoiceAgent   Voice = Voice(agent)
	VoicePerson  Voice = Voice(person)
	VoiceMachine Voice = Voice(machine) // a user message that no person wrote
	VoiceHost    Voice = Voice(host)    // a compaction request or summary; never a source
	VoiceResults Voice = Voice(results) // tool results that are a message of their own
)

// Reading is a range as the built-in generator reads it: whose words, what each
// call did, where objectives change. It is for those who write from the same
// source by other means. It is not safe for concurrent use.
type Reading struct {
	b      *Builtin
	r      Range
	v      *view
	starts []int
	force  *request
	at     int // place up to which compartments were written
}

// Read reads a range. The error is that of ctx, or says that the range is
// malformed.
func (b *Builtin) Read(ctx context.Context, r Range) (*Reading, error) {
	v, err := b.look(ctx, r)
	if err != nil {
		return nil, err
	}
	x := &Reading{b: b, r: r, v: v, force: inForce(r.Prior)}
	if len(v.ms) > 0 {
		x.starts = cut(v.ms, v.lex.list)
	}
	return x, nil
}

// Range is what was read.
func (x *Reading) Range() *Range { return &x.r }

// Starts lists the places at which the generator begins a compartment, the first
// of which is 0.
func (x *Reading) Starts() []int { return x.starts }

// MayStart reports whether a compartment may begin at a place.
func (x *Reading) MayStart(place int) bool { return mayStart(x.v.ms, place) }

// Voice says for whom the message at a place speaks.
func (x *Reading) Voice(place int) Voice { return Voice(x.v.ms[place].who) }

// Force is the request in force when the range begins, with its message; 0 and
// "" if there is none.
func (x *Reading) Force() (compartments.Ordinal, string) {
	if f := inForce(x.r.Prior); f != nil {
		return f.ord, f.title
	}
	return 0, ""
}

// Words is what a person or the agent says in a message, without what machines
// wrote into it: as it stands, masked only by the caller. Other voices say
// nothing.
func (x *Reading) Words(place int) string {
	who := x.v.ms[place].who
	if who != person && who != agent {
		return ""
	}
	var texts []string
	m := &x.r.Messages[place]
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Kind != compartments.PartText || p.Synthetic || p.Ignored {
			continue
		}
		t := plain(p.Text)
		if who == person {
			var s speech
			t = s.person(t)
		} else if strings.Contains(t, "<system-reminder>") {
			t = unwrap(t, 0)
		}
		if t = strings.TrimSpace(t); t != "" {
			texts = append(texts, t)
		}
	}
	return strings.Join(texts, "\n")
}

// Own is what a person typed in a message, without what was pasted into it.
func (x *Reading) Own(place int) string {
	if x.v.ms[place].who != person {
		return ""
	}
	return x.v.ms[place].speech.own
}

// Attached lists the files that came with a message of a person.
func (x *Reading) Attached(place int) []string { return x.v.ms[place].speech.attached }

// Interrupted reports whether a message says that the turn before was stopped, or
// was itself broken off.
func (x *Reading) Interrupted(place int) bool {
	return x.v.ms[place].speech.interrupted || x.v.ms[place].aborted
}

// Call is one tool call with its result, wherever that stands.
type Call struct {
	Tool    string // as the host has it
	Kind    string // shell, edit, write, patch, read, look, todo, task, fetch, ask, own, other
	Input   string // arguments as stored
	Output  string // result as stored; of an own call nothing
	Open    bool   // no result yet
	Failed  bool
	Stopped bool // ended by the user or the host
	Refused bool // not permitted
	Exit    int  // valid if HasExit
	HasExit bool
	Error   string // the line that says why it failed
	Fault   string // what a language server said of an edited file
	Summary string // the line that sums up a passed command, if there is one
	// Verifies says that a shell runs tests, a build, a linter or the like.
	Verifies bool

	Command string // of a shell, without what only frames it
	Path    string
	From    int // first line read, 0 for the whole file
	To      int
	Pattern string
	Task    string
	Result  string // of a task, without its wrapping
	Changes []Change
	Todos   []Todo
	Answers []Answer
}

// Change is what one call did to one file.
type Change struct {
	Path             string
	Added, Removed   int // lines
	Created, Deleted bool
	Moved            string   // where to
	Brought          []string // symbols that came in
}

// Todo is one item of a list.
type Todo struct{ Text, Status string }

// Answer is what the user replied to a question that a tool put.
type Answer struct{ Question, Reply string }

var kindNames = map[useKind]string{useOther: "other", useShell: "shell", useEdit: "edit", useWrite: "write", usePatch: "patch", useRead: "read",
	useLook: "look", useTodo: "todo", useTask: "task", useFetch: "fetch", useAsk: "ask", useOwn: "own"}

// Calls lists the calls of a message, in their order.
func (x *Reading) Calls(place int) []Call {
	uses := x.v.ms[place].uses
	if len(uses) == 0 {
		return nil
	}
	out := make([]Call, 0, len(uses))
	m := &x.r.Messages[place]
	next := 0 // part behind the last call
	for i := range uses {
		u := &uses[i]
		for next < len(m.Parts) && m.Parts[next].Kind != compartments.PartTool {
			next++
		}
		c := Call{Tool: u.name, Kind: kindNames[u.kind], Open: u.open}
		if u.kind != useOwn {
			if next < len(m.Parts) {
				c.Input = m.Parts[next].Input
			}
			c.fill(u)
		}
		next++
		out = append(out, c)
	}
	return out
}

func (c *Call) fill(u *use) {
	c.Output, c.Failed, c.Stopped, c.Refused = u.output, u.failed, u.stopped, u.refused
	c.Exit, c.HasExit, c.Error, c.Fault = u.ending.exit, u.ending.hasExit, u.errLine, u.fault
	c.Command, c.Path, c.From, c.To, c.Pattern, c.Task, c.Result = u.cmd.text, u.path, u.from, u.to, u.pattern, u.task, u.result
	if c.Verifies = u.kind == useShell && u.cmd.class == classVerify; c.Verifies && !u.failed {
		c.Summary = summaryLine(u.output)
	}
	for _, g := range u.changes {
		c.Changes = append(c.Changes, Change{g.path, g.added, g.removed, g.created, g.deleted, g.moved, g.brought})
	}
	for _, t := range u.todos {
		c.Todos = append(c.Todos, Todo{t.text, t.status})
	}
	for _, p := range u.pairs {
		c.Answers = append(c.Answers, Answer{p.question, p.reply})
	}
}

// Written is a compartment as the generator writes it, with the record behind it.
type Written struct {
	compartments.Compartment
	rec   *record
	lines []line
	count func(string) int
}

// Next writes the compartment from where the last one ended up to a place.
// Compartments are written in order, because what one leaves open another closes.
func (x *Reading) Next(to int) *Written {
	v := x.v
	v.from, v.to, v.named = x.at, to, nil
	c, rec, lines, next := x.b.write(v, x.r, x.force)
	x.force, x.at = next, to
	c.Provisional = to == len(v.ms)
	return &Written{c, rec, lines, x.b.Count}
}

// Quoted is the compartment's exact spans that a text lacks, as lines to be put
// behind its first; "" if it holds them all.
func (w *Written) Quoted(text string) string { return quoted(missing(w.rec.spans, text)) }

// Names lists the names of the run, those first that are most likely named again.
func (w *Written) Names() []string { return w.rec.names }

// Measure sets the survival of tiers that somebody else wrote for the same run:
// the share of what the record holds that each of them still says, in whatever
// words.
func (w *Written) Measure(tiers map[compartments.Tier]compartments.Rendition) {
	measureWords(w.rec, w.lines, tiers)
}

// Ceilings are the most tokens that full, dense, compact and anchor may take for
// a run of raw tokens, their exact spans apart.
func Ceilings(raw int, talk bool) map[compartments.Tier]int {
	c := ceilings(raw, talk)
	return map[compartments.Tier]int{compartments.TierFull: c[atFull], compartments.TierDense: c[atDense],
		compartments.TierCompact: c[atCompact], compartments.TierAnchor: compartments.TierAnchor.Ceiling()}
}

// Safe makes a piece of transcript fit to stand in a tier or a prompt: one line,
// no secret, nothing that a model could take for a tag of its host.
func Safe(s string) string { return safe(s) }

// Lines cuts a text into lines that are each safe. Secrets that reach over lines
// are masked too.
func Lines(s string) []string {
	s = mask(plain(strings.ToValidUTF8(s, "\ufffd")))
	var out []string
	for line := range strings.FieldsFuncSeq(s, breaks) {
		t := strings.TrimLeft(line, " \t")
		if shown := safe(t); shown != "" {
			out = append(out, strings.Repeat(" ", min(len(line)-len(t), 8))+shown)
		}
	}
	return out
}

// breaks reports characters that somebody could take for the end of a line.
func breaks(r rune) bool {
	switch r {
	case '\n', '\r', '\v', '\f', 0x85, 0x2028, 0x2029:
		return true
	}
	return false
}

// EachName calls found for each identifier of a text, in order: as it stands, and
// by what two spellings of it have in common.
func EachName(s string, found func(name, key string)) {
	scanNames(s, func(n string, k kind) {
		if !dullName(n) {
			found(n, nameKey(n, k))
		}
	})
}

// Shorten cuts a text to at most limit characters, a wide one counting as three,
// at a blank, and never inside a name; "" if it has no such place.
func Shorten(s string, limit int) string { return shorten(s, limit) }

// Letters folds a text to its first n letters and digits in lower case.
func Letters(s string, n int) string { return letters(s, n) }

// Width is how much a text says: letters and digits, a wide character counting
// as three.
func Width(s string) int { return width(s) }

// Effective is what the message at a place counts for where compartments end, in
// tokens: no single part counts for much.
func (x *Reading) Effective(place int) int { return x.v.ms[place].tokens }

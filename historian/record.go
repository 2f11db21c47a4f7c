package historian

import (
	"slices"
	"strings"

	"ctxplugin/compartments"
)

// record is the canonical record of one run: what a successor needs, each fact
// with the message that shows it.
type record struct {
	first, last compartments.Ordinal
	title       string
	head        string // the title as it stands in tiers, where the outcome has its own line
	effective   int

	asks      []ask
	force     *request // the request in force when the run begins without one
	outcomes  []outcome
	outcome   int   // which of them is what came of the run
	state     *said // what the agent said last, where it never concluded
	loose     bool  // that only announces, asks or supposes
	why       []said
	steps     []said
	details   []said // more of the narrations, for where there is room
	failures  []failure
	left      []pending // of them what is open at the end
	closed    []pending // failures of earlier runs that pass now
	mended    []mending
	files     []file
	takenBack []takenBack          // of earlier runs
	gone      []compartments.Event // the same, for later runs
	reads     []reading
	ran       []ran
	looked    []said // what was only looked at, where there is nothing else
	sought    string // what the last look was for, in the agent's words
	git       []gitFact
	answered  []said
	handed    []said               // delegated work
	plan      *plan                // the to-do list that the run leaves
	asBefore  compartments.Ordinal // the message of an earlier run that left the same
	renewed   compartments.Ordinal // the message behind the run that left another
	planEnds  bool                 // nothing is left of a list that an earlier run left
	question  *said                // open question to the user
	running   []said
	started   []process // of the running those in the background
	ended     []process // what of earlier runs no longer runs
	stopped   bool      // the user stopped the last turn
	names     []string
	calls     []string // the names as the shortest text shows them: files by their bare name
	worth     []int    // of each name, to a line that is the first to show it
	spans     []span

	narrations int
	talk       bool // few calls or none
	hostOnly   bool // nothing but the host's own messages
	newPaths   int
	newNames   int
	allNames   int
	marks      int // user units with a constraint marker
}

// request is what a person asked, as later runs refer to it.
type request struct {
	ord   compartments.Ordinal
	title string
	shown string // as much of the title as a run may show that did not ask it
}

// said is one unit of text with the message it stands in.
type said struct {
	ord   compartments.Ordinal
	text  string
	score int
	cause bool // marks a cause or a rejected way
	seq   int  // order inside the message

	option bool // for the user to choose
}

// view is the messages of the whole range and the run that is recorded.
type view struct {
	ms        []message
	from, to  int
	lex       *lexicon
	named     map[string]bool // names of the run, once asked for
	told      map[string]int  // in how many units of the run a name stands
	open      []pending       // what earlier runs left failing
	running   []process       // what they left running
	planned   compartments.Ordinal
	plan      string // the mark of the to-do list that they left, in message planned
	prior     []compartments.Compartment
	earlier   []compartments.Compartment      // the same, and those written since
	source    []compartments.Message          // as stored, by place
	edits     map[uint64]compartments.Ordinal // replacements of earlier runs, once asked for
	committed bool                            // the run has committed
}

func (v *view) run() []message { return v.ms[v.from:v.to] }

// spoken tells which names stood outside of tool outputs in the run, as 1.
func (v *view) spoken() map[string]int {
	out := map[string]int{}
	for i := v.from; i < v.to; i++ {
		for _, m := range v.ms[i].names {
			if m.visible {
				out[v.lex.list[m.id].text] = 1
			}
		}
	}
	return out
}

// native takes the names that the run does not mention itself out of a text from
// outside the run: a tier holds no identifier that its source lacks. An ellipsis
// stands for them. It returns "" when too little is left.
func (v *view) native(text string) string {
	if v.named == nil {
		v.named = map[string]bool{}
		for i := v.from; i < v.to; i++ {
			for _, m := range v.ms[i].names {
				v.named[v.lex.list[m.id].text] = true
			}
		}
	}
	var foreign []string
	scanNames(text, func(n string, k kind) {
		if !v.named[nameKey(n, k)] && !slices.Contains(foreign, n) {
			foreign = append(foreign, n)
		}
	})
	if len(foreign) == 0 {
		return text
	}
	// The longest first, for one may be the end of another.
	slices.SortStableFunc(foreign, func(a, b string) int { return len(b) - len(a) })
	for _, n := range foreign {
		text = strings.ReplaceAll(text, "`"+n+"`", "…")
		text = strings.ReplaceAll(text, n, "…")
	}
	var kept []string
	for _, w := range strings.Fields(text) {
		if strings.Contains(w, "…") { // with what hung on the name
			w = "…"
		}
		if w != "…" || len(kept) == 0 || kept[len(kept)-1] != "…" {
			kept = append(kept, w)
		}
	}
	text = strings.Join(kept, " ")
	clean := strings.Count(text, "`")%2 == 0
	scanNames(text, func(n string, k kind) { clean = clean && v.named[nameKey(n, k)] })
	if !clean || width(text) < 8 {
		return ""
	}
	return text
}

// compile builds the record of a run. force is the last request before it.
func compile(v *view, force *request) *record {
	ms := v.run()
	r := &record{first: ms[0].ord, last: ms[len(ms)-1].ord}
	for i := range ms {
		r.effective += ms[i].tokens
	}
	v.tell()
	v.edits, v.committed = nil, false
	r.collectAsks(v)
	r.hostOnly = true
	for i := range ms {
		r.hostOnly = r.hostOnly && ms[i].who == host
	}
	lead := r.lead()
	if !r.hostOnly && force != nil && (lead < 0 || r.asks[lead].width < 12 && !r.asks[lead].replying && !r.asks[lead].pasted || v.opensInTurn()) {
		r.force = &request{force.ord, force.title, v.native(force.title)}
	}
	r.collectOutcomes(v)
	r.collectFailures(v)
	r.collectWhy(v)
	r.collectFiles(v)
	r.collectGit(ms)
	r.collectRan(ms)
	r.underway(ms)
	r.collectTalk(ms)
	r.collectOpen(v)
	r.rankNames(v)
	r.entitle()
	r.collectSpans(v)
	return r
}

// opensInTurn reports whether the run begins behind the request that it works on.
func (v *view) opensInTurn() bool {
	for _, m := range v.run() {
		switch m.who {
		case person:
			return false
		case agent:
			return true
		}
	}
	return false
}

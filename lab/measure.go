package lab

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ctxplugin/compartments"
	"ctxplugin/decay"
)

// How long after a fold it counts if something is named that a stub hides.
const (
	neededSteps = 20
	neededTurns = 3
)

// touchable is from how many characters on a part may become a stub by its size.
const touchable = 2000

// measures are what a replay finds out about names. A name is an identifier as
// identifiers says. It is named when the assistant or a person says it, in words
// or in the arguments of a call.
type measures struct {
	// Recall: how often something was named that had occurred in an earlier
	// message, and how often the request before it showed that name anywhere.
	Named int `json:"namedAgain"`
	Shown int `json:"stillShown"`

	// Tokens of parts in the tail that stubs may touch, over all folds: those of
	// more than 2,000 characters or superseded. Saved is what stubs save of them.
	Touchable int `json:"touchableTokens"`
	Saved     int `json:"savedTokens"`

	Stubs  int          `json:"stubbedParts"` // that became stubs at a fold
	Needed int          `json:"neededParts"`  // of them, those whose own names were named soon after
	Kinds  []kindNeeded `json:"kinds,omitempty"`
	Which  []hidden     `json:"needed,omitempty"`

	rec     *recording
	render  *renderer
	raw     func(int) []byte
	seen    map[string]bool            // names that occurred in messages
	listed  map[string]map[string]bool // names that a text shows, by the text
	decoded map[int]*compartments.Message
	heard   int // messages of the recording that were listened to
	watched []*hidden
	turns   int
}

// kindNeeded counts the stubs of one kind.
type kindNeeded struct {
	Kind   string `json:"kind"`
	Stubs  int    `json:"stubs"`
	Needed int    `json:"needed"`
}

// hidden is one part that became a stub at a fold.
type hidden struct {
	Step    int      `json:"step"`
	Message int      `json:"message"` // place in the recording, from 1
	Part    int      `json:"part"`
	Kind    string   `json:"kind"`
	Turns   int      `json:"turnsOld"`
	Names   []string `json:"names"` // that were named
	After   int      `json:"afterSteps"`

	own   map[string]bool // names that nothing else shows
	until int             // turns
	steps int             // left
}

func newMeasures(rec *recording, render *renderer, raw func(int) []byte) *measures {
	return &measures{rec: rec, render: render, raw: raw, seen: map[string]bool{}, listed: map[string]map[string]bool{}, decoded: map[int]*compartments.Message{}}
}

// shows is the set of names that a text shows.
func (m *measures) shows(text string) map[string]bool {
	set, ok := m.listed[text]
	if !ok {
		set = map[string]bool{}
		shownIdentifiers(text, func(id string) { set[id] = true })
		m.listed[text] = set
	}
	return set
}

// said are the texts of a message in which something is named: words and
// arguments. results are the others that a request shows: what its calls returned,
// and reasoning.
func said(msg *message, parts []part) (said, results []string) {
	for i := range parts {
		switch p := &parts[i]; {
		case p.kind == "text" && !(msg.role == "user" && p.ignored):
			said = append(said, p.text)
		case p.kind == "tool":
			said = append(said, argumentTexts(p.state.input)...)
			results = append(results, p.state.output)
		case p.kind == "reasoning":
			results = append(results, p.text)
		}
	}
	return said, results
}

// visible is whether a request shows a name.
func (m *measures) visible(req *request, edits map[string][]edit) func(string) bool {
	var sets []map[string]bool
	for i := range req.messages {
		s := &req.messages[i]
		if s.index < 0 {
			sets = append(sets, m.shows(s.text))
			continue
		}
		msg := &m.rec.messages[s.index]
		parts := msg.parts
		if es := edits[msg.id]; len(es) > 0 {
			parts = editParts(msg, es, map[editKey]bool{})
		}
		words, results := said(msg, parts)
		for _, t := range words {
			sets = append(sets, m.shows(t))
		}
		for _, t := range results {
			sets = append(sets, m.shows(t))
		}
	}
	return func(id string) bool {
		return slices.ContainsFunc(sets, func(set map[string]bool) bool { return set[id] })
	}
}

// observe takes one request, the plan before it if it folded, and the reply to
// it.
func (m *measures) observe(step int, req *request, was, is *plan, folded bool, reply int) {
	for ; m.heard < reply; m.heard++ { // people speak before the request
		m.hear(m.heard)
	}
	edits := map[string][]edit{}
	for _, e := range orEmpty(is).Edits {
		edits[e.MessageID] = append(edits[e.MessageID], e)
	}
	visible := m.visible(req, edits)
	if folded {
		m.fold(step, req, orEmpty(was), edits, visible)
	}
	if reply == m.heard {
		m.recall(&m.rec.messages[reply], visible)
		m.hear(reply)
		m.heard++
	}
}

// recall counts the names of a reply that had occurred before.
func (m *measures) recall(reply *message, visible func(string) bool) {
	words, _ := said(reply, reply.parts)
	again := map[string]bool{}
	for _, t := range words {
		identifiers(t, func(id string) { again[id] = again[id] || m.seen[id] })
	}
	for id, known := range again {
		if known {
			m.Named++
			if visible(id) {
				m.Shown++
			}
		}
	}
}

// hear listens to one message: what is named in it, and what it then shows.
func (m *measures) hear(i int) {
	msg := &m.rec.messages[i]
	if msg.summary || isCompaction(msg) {
		return
	}
	if realUser(msg) {
		m.turns++
	}
	words, results := said(msg, msg.parts)
	named := map[string]bool{}
	for _, t := range words {
		identifiers(t, func(id string) { named[id] = true })
	}
	m.watched = slices.DeleteFunc(m.watched, func(h *hidden) bool {
		if m.turns > h.until {
			return true
		}
		h.After++
		for id := range named {
			if h.own[id] {
				h.Names = append(h.Names, id)
			}
		}
		if len(h.Names) > 0 {
			slices.Sort(h.Names)
			m.need(h)
			return true
		}
		for _, t := range append(slices.Clone(words), results...) {
			for id := range m.shows(t) {
				delete(h.own, id)
			}
		}
		if msg.role == "assistant" {
			h.steps--
		}
		return h.steps == 0 || len(h.own) == 0
	})
	for _, t := range append(words, results...) {
		for id := range m.shows(t) {
			m.seen[id] = true
		}
	}
}

func (m *measures) need(h *hidden) {
	m.Needed++
	m.Kinds[m.kind(h.Kind)].Needed++
	m.Which = append(m.Which, *h)
}

func (m *measures) kind(name string) int {
	at, ok := slices.BinarySearchFunc(m.Kinds, name, func(k kindNeeded, name string) int { return cmp.Compare(k.Kind, name) })
	if !ok {
		m.Kinds = slices.Insert(m.Kinds, at, kindNeeded{Kind: name})
	}
	return at
}

// message is a message as the plugin reads it.
func (m *measures) message(i int) *compartments.Message {
	d, ok := m.decoded[i]
	if !ok {
		if decoded, err := compartments.DecodeMessage(m.raw(i)); err == nil {
			d = &decoded
		}
		m.decoded[i] = d
	}
	return d
}

// fold measures the tail of the request with which a fold is first sent, and
// begins to watch the parts that it made stubs of.
func (m *measures) fold(step int, req *request, was *plan, edits map[string][]edit, visible func(string) bool) {
	type place struct{ at, part int }
	var calls []decay.Call
	var places []place
	turnsOf := map[int]int{}
	turns, newest := 0, -1
	for at := len(req.messages) - 1; at >= req.head; at-- {
		i := req.messages[at].index
		turnsOf[i] = turns
		if realUser(&m.rec.messages[i]) {
			turns++
		}
		if newest < 0 && m.rec.messages[i].role == "assistant" {
			newest = i
		}
	}
	for at := req.head; at < len(req.messages); at++ {
		i := req.messages[at].index
		d := m.message(i)
		if d == nil {
			continue
		}
		for part := range d.Parts {
			p := &d.Parts[part]
			if p.Kind == compartments.PartTool {
				failed := p.Status == compartments.StatusError || p.HasExit && p.ExitCode != 0
				calls = append(calls, decay.Call{Subject: compartments.SubjectOf(p), Failed: failed, Open: p.Status.Open()})
				places = append(places, place{i, part})
			}
		}
	}
	by := decay.Superseded(calls)
	before := map[editKey]bool{}
	for _, e := range was.Edits {
		before[e.key()] = true
	}
	for n, where := range places {
		msg := &m.rec.messages[where.at]
		p := &msg.parts[where.part]
		for _, f := range [...]struct{ name, text string }{{"input", p.state.input}, {"output", p.state.output}} {
			if by[n] < 0 && len(f.text) <= touchable {
				continue
			}
			whole := m.render.count.Count(f.text)
			m.Touchable += whole
			at := slices.IndexFunc(edits[msg.id], func(e edit) bool { return e.Part == where.part && e.Field == f.name })
			if at < 0 {
				continue
			}
			e := edits[msg.id][at]
			m.Saved += whole - m.render.count.Count(e.Value)
			if before[e.key()] || where.at == newest { // of the newest answer only emergencies are stubs
				continue
			}
			why := "large"
			if by[n] >= 0 {
				why = "superseded by " + calls[by[n]].Subject.Verb.String()
			}
			h := &hidden{Step: step, Message: where.at + 1, Part: where.part, Turns: turnsOf[where.at],
				Kind: calls[n].Subject.Verb.String() + " " + f.name + ", " + why, own: map[string]bool{}, until: m.turns + neededTurns, steps: neededSteps}
			texts := []string{f.text}
			if f.name == "input" {
				texts = argumentTexts(f.text)
			}
			identifiers(strings.Join(texts, "\n"), func(id string) {
				if !visible(id) {
					h.own[id] = true
				}
			})
			m.Stubs++
			m.Kinds[m.kind(h.Kind)].Stubs++
			if len(h.own) > 0 {
				m.watched = append(m.watched, h)
			}
		}
	}
}

func (m *measures) report(b *strings.Builder) {
	fmt.Fprintf(b, "named again %s, of them shown in the request %s\n", count(m.Named, "name"), share(m.Shown, m.Named))
	fmt.Fprintf(b, "stubs at folds save %s of %s tokens that they may touch in the tail\n", share(m.Saved, m.Touchable), thousands(m.Touchable))
	fmt.Fprintf(b, "%s became stubs at folds, %s needed within %d turns or %d steps (%s)\n", count(m.Stubs, "part"), orNone(m.Needed), neededTurns, neededSteps, share(m.Needed, m.Stubs))
	for _, k := range m.Kinds {
		fmt.Fprintf(b, "  %s: %s, %s needed\n", k.Kind, thousands(k.Stubs), orNone(k.Needed))
	}
	b.WriteByte('\n')
}

// share is a part of a whole as people read it.
func share(n, of int) string {
	permille := 0
	if of > 0 {
		permille = (n*1000 + of/2) / of
	}
	return fmt.Sprintf("%d.%d %%", permille/10, permille%10)
}

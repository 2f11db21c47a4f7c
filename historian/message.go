package historian

import (
	"strings"

	"ctxplugin/compartments"
)

// speaker says for whom a message speaks, after a look at its text.
type speaker uint8

const (
	agent   speaker = iota
	person          // a user message with a person's words, files or command
	machine         // a user message that no person wrote
	host            // a compaction request or summary; never a source
	results         // a tool result that is a message of its own
)

// message is what the generator knows of one message. It is read once.
type message struct {
	at      int // place in the range
	ord     compartments.Ordinal
	time    int64
	who     speaker
	speech  speech
	units   []unit // of the person's own words, or of the agent's text
	narrate []unit // agent's text with a tool call behind it in the same message
	uses    []use
	code    string // fenced code of the agent's text, for names only
	final   bool   // no tool call follows the text before the user speaks again, and no program refused it
	aborted bool
	tokens  int // effective
	names   []mention
}

// mention is a name and the sources it had in one message.
type mention struct {
	id      int32
	weight  int32 // sum over distinct sources
	visible bool  // stood outside of tool outputs
}

// name is an identifier that the range mentions.
type name struct {
	text     string
	kind     kind
	known    bool // an earlier compartment has it
	first    int  // place of the message that names it first
	searched int  // searches that went through it, where it is a folder
}

// lexicon numbers the names of a range.
type lexicon struct {
	ids  map[string]int32
	list []name
}

func (l *lexicon) id(text string, k kind, at int) (int32, bool) {
	key := nameKey(text, k)
	if id, ok := l.ids[key]; ok {
		return id, true
	}
	if dullName(text) || dullName(key) {
		return 0, false
	}
	shown := key
	if s := safe(shown); s != shown {
		return 0, false // a secret, or nothing that may stand in a tier
	}
	id := int32(len(l.list))
	shown = strings.Clone(shown)
	l.ids[shown] = id
	l.list = append(l.list, name{text: shown, kind: k, first: at})
	return id, true
}

// caps of what one part counts for, in tokens: no single output may decide where
// a compartment ends.
const (
	effectiveText = 2500
	effectiveTool = 1500
)

// namesBytes is how much of an output is read for names.
const namesBytes = 3000

// reader turns a range into messages.
type reader struct {
	names  lexicon
	told   map[string]bool // beginnings of lines that the agent wrote
	texts  int             // of the agent
	labels map[string]int  // upper-case labels and how many texts begin with them
	heard  map[string]int  // long user texts, folded, and how often they came
	begun  bool            // the agent has spoken
	bits   map[int32]int   // scratch of one message: sources seen, by name
}

func newReader() *reader {
	return &reader{
		names:  lexicon{ids: map[string]int32{}},
		told:   map[string]bool{},
		labels: map[string]int{}, heard: map[string]int{}, bits: map[int32]int{},
	}
}

// know marks the names of earlier compartments.
func (r *reader) know(prior []compartments.Compartment) {
	r.begun = len(prior) > 0
	for i := range prior {
		for _, n := range prior[i].Names {
			if id, ok := r.names.id(n, nameKind(n), -1); ok {
				r.names.list[id].known = true
			}
		}
	}
}

// read decodes one message.
func (r *reader) read(m *compartments.Message, at int) message {
	out := message{at: at, ord: m.Ordinal, time: m.Time, aborted: m.Failed}
	switch {
	case m.Summary && m.Role != compartments.RoleTool:
		out.who = host
		return out
	case m.Role == compartments.RoleUser:
		out.who = person
		for i := range m.Parts {
			if m.Parts[i].Kind == compartments.PartCompaction {
				out.who = host
				return out
			}
		}
		out.speech = listen(m, r.told)
		if out.speech.machine || out.speech.harness && r.begun { // or a complaint about the form of an answer
			out.who = machine
		} else if r.template(out.speech.own) {
			out.who = machine
			out.speech.own = ""
		}
		if out.who == person {
			out.units = split(out.speech.own, true)
		}
	case m.Role == compartments.RoleTool:
		out.who = results
	default:
		r.begun = true
	}
	lastTool := -1
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == compartments.PartTool && !p.OwnTool() && toolKind(p, &arguments{}) != useTodo {
			lastTool = i
		}
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		switch {
		case p.Kind == compartments.PartTool:
			u := readUse(p)
			out.tokens += min(estimate(p.Input, 4*effectiveTool), effectiveTool)
			if u.kind != useOwn {
				out.tokens += min(estimate(p.Output, 4*effectiveTool), effectiveTool)
			}
			out.uses = append(out.uses, u)
		case p.Synthetic || p.Ignored:
		case p.Kind == compartments.PartText:
			out.tokens += min(estimate(p.Text, 4*effectiveText), effectiveText)
			if m.Role == compartments.RoleAssistant {
				units := r.spoken(p.Text)
				if len(out.code) < namesBytes {
					out.code += fencedCode(p.Text, namesBytes)
				}
				if i < lastTool {
					out.narrate = append(out.narrate, units...)
				} else {
					out.units = append(out.units, units...)
				}
			}
		}
	}
	return out
}

// template reports whether a long user text comes for the third time: a person
// does not repeat one.
func (r *reader) template(own string) bool {
	if len(own) < 100 {
		return false
	}
	key := letters(own, 400)
	r.heard[key]++
	return r.heard[key] >= 3
}

// spoken splits what the agent wrote.
func (r *reader) spoken(text string) []unit {
	text = plain(text)
	if strings.Contains(text, "<system-reminder>") {
		text = unwrap(text, 0)
	}
	units := split(text, false)
	if len(units) > 0 {
		r.texts++
		if l := label(units[0].text); l != "" {
			r.labels[l]++
		}
	}
	out := units[:0]
	for _, u := range units {
		if width(u.text) >= quotedWidth {
			r.told[letters(u.text, quotedLetters)] = true
		}
		if strings.HasPrefix(u.text, "[") && strings.HasSuffix(u.text, "]") && !strings.Contains(u.text[1:], "[") {
			continue // a placeholder of another tool
		}
		out = append(out, u)
	}
	return out
}

// weighty are labels that say something, even where each text has one.
var weighty = map[string]bool{"NOTE:": true, "WARNING:": true, "TODO:": true, "ERROR:": true, "FIXME:": true, "IMPORTANT:": true, "CAUTION:": true, "DONE:": true, "BLOCKED:": true, "FAILED:": true}

// fencedCode returns the first bytes of the fenced code in a text.
func fencedCode(text string, limit int) string {
	_, rest, ok := strings.Cut(text, "```")
	if !ok {
		return ""
	}
	var b strings.Builder
	for ok && b.Len() < limit {
		var code string
		code, rest, _ = strings.Cut(rest, "```")
		b.WriteString(head(code, limit-b.Len()) + "\n")
		_, rest, ok = strings.Cut(rest, "```")
	}
	return b.String()
}

// settle finishes what needs the whole range: labels, finals, names.
func (r *reader) settle(ms []message) {
	for i := range ms {
		for _, list := range [...][]unit{ms[i].units, ms[i].narrate} {
			if ms[i].who == agent && len(list) > 0 {
				if l := label(list[0].text); l != "" && (r.labels[l] >= 3 || r.labels[l] == r.texts && !weighty[l]) {
					list[0].text = strings.TrimSpace(list[0].text[len(l):])
				}
			}
		}
	}
	join(ms)
	behind := false // a tool call follows before the user speaks
	for i := len(ms) - 1; i >= 0; i-- {
		m := &ms[i]
		switch m.who {
		case person, host:
			behind = false
		case machine: // an answer that a program refused for its form concluded nothing
			behind = m.speech.harness
		case agent:
			if len(m.units) > 0 {
				m.final = !behind
			}
			for j := range m.uses {
				behind = behind || m.uses[j].kind != useTodo && m.uses[j].kind != useOwn
			}
		}
	}
	for i := range ms {
		r.name(&ms[i])
	}
}

// join gives results that are messages of their own to the calls before them.
func join(ms []message) {
	var waiting []*use
	for i := range ms {
		switch ms[i].who {
		case agent:
			for j := range ms[i].uses {
				if u := &ms[i].uses[j]; u.open {
					waiting = append(waiting, u)
				}
			}
		case results:
			for j := range ms[i].uses {
				if len(waiting) == 0 {
					break
				}
				u, got := waiting[0], &ms[i].uses[j]
				waiting = waiting[1:]
				if !got.open && u.kind != useOwn {
					u.open, u.output = false, got.output
					u.settle(got.ending)
				}
			}
			ms[i].uses = nil
		case person:
			waiting = waiting[:0]
		}
	}
}

// searched notes the folder that a search went through. One that is searched again
// and again is where all the work is, and tells nothing apart.
func (r *reader) searched(folder string) {
	if folder == "" || fileLike(baseName(folder)) {
		return
	}
	if id, ok := r.names.ids[nameKey(folder, kindPath)]; ok {
		n := &r.names.list[id]
		n.searched++
	}
}

// name collects the names of a message with their sources.
func (r *reader) name(m *message) {
	clear(r.bits)
	var order []int32
	add := func(text string, from source) {
		if text == "" {
			return
		}
		scanNames(text, func(n string, k kind) {
			id, ok := r.names.id(n, k, m.at)
			if !ok {
				return
			}
			seen, had := r.bits[id]
			if !had {
				order = append(order, id)
			}
			r.bits[id] = seen | 1<<from
		})
	}
	path := func(p string, from source) {
		if p == "" || len(p) > 200 || strings.ContainsAny(p, " \n") {
			return
		}
		id, ok := r.names.id(p, kindPath, m.at)
		if !ok {
			return
		}
		seen, had := r.bits[id]
		if !had {
			order = append(order, id)
		}
		r.bits[id] = seen | 1<<from
	}
	switch m.who {
	case person:
		add(m.speech.own, fromUser)
		add(m.speech.pasteHead, fromError)
		for _, a := range m.speech.attached {
			path(a, fromUser)
		}
		for _, c := range m.speech.ran {
			add(c, fromCommand)
		}
	case agent:
		from := fromNarration
		if m.final {
			from = fromFinal
		}
		for _, u := range m.units {
			add(u.text, from)
		}
		for _, u := range m.narrate {
			add(u.text, fromNarration)
		}
		add(m.code, fromError)
	}
	for i := range m.uses {
		u := &m.uses[i]
		if u.kind == useOwn {
			continue
		}
		for _, c := range u.changes {
			path(c.path, fromEdit)
		}
		switch u.kind {
		case useRead:
			path(u.path, fromRead)
		case useShell:
			add(u.cmd.text, fromCommand)
		case useLook, useFetch:
			add(u.pattern, fromCommand)
			path(u.path, fromRead)
			r.searched(u.path)
		case useTask:
			add(head(u.task, namesBytes), fromCommand)
			add(head(u.result, namesBytes), fromFinal)
			continue
		case useAsk:
			for _, p := range u.pairs {
				add(p.question, fromFinal)
				add(p.reply, fromUser)
			}
			continue
		}
		add(u.errLine, fromError)
		for _, c := range u.hashes {
			add(c.hash+" "+c.text, fromCommand)
		}
		add(head(u.output, namesBytes), fromOutput)
	}
	m.names = make([]mention, 0, len(order))
	for _, id := range order {
		bits := r.bits[id]
		w := mention{id: id, visible: bits>>fromError != 0}
		for b := 1; b <= int(fromEdit); b++ {
			if bits&(1<<b) != 0 {
				w.weight += int32(b)
			}
		}
		m.names = append(m.names, w)
	}
}

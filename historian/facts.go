package historian

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"ctxplugin/compartments"
)

// Kinds of facts and events.
const (
	factRequest  = "request"
	factFile     = "file"
	factCommit   = "commit"
	factDecision = "decision"
	factAnswer   = "answer"

	eventFailure   = "failure"
	eventPassed    = "passed"
	eventOpen      = "open"    // a command that was not seen passing, for later runs to compare with
	eventClosed    = "closed"  // "[12] command": what was open since message 12 passes
	eventRunning   = "running" // the id of a process that was not seen ending
	eventEnded     = "ended"   // "[12] id": the process that runs since message 12 is over
	eventPlan      = "plan"    // the mark of the to-do list that the run leaves
	eventCommit    = "commit"
	eventPush      = "push"
	eventUndo      = "undo"
	eventQuestion  = "question"
	eventEdit      = "edit"       // the mark of a replacement in a file, for later runs to tell its inverse
	eventTakenBack = "taken back" // a file of an earlier run whose changes were thrown away, or everything
)

// factChanged begins what a fact says of a file that was changed.
const factChanged = "changed "

// editsMost bounds the replacements that are carried to later runs.
const editsMost = 32

// ground cuts the anchor of each fact to words that stand in its message, and
// drops facts without any. Facts of messages before the run keep theirs.
func ground(facts []compartments.Fact, messages []compartments.Message) []compartments.Fact {
	out := facts[:0]
	for _, f := range facts {
		at := slices.IndexFunc(messages, func(m compartments.Message) bool { return m.Ordinal == f.Ordinal })
		if at >= 0 {
			f.Anchor = found(f.Anchor, &messages[at])
		}
		if f.Anchor != "" {
			out = append(out, f)
		}
	}
	return out
}

// found is the longest beginning of an anchor that a message holds, in whole
// words; where that is less than a few letters, the same of what follows a word that
// does not stand in the message as a tier shows it. "" if nothing is found.
func found(anchor string, m *compartments.Message) string {
	for rest := anchor; rest != ""; {
		if s := foundBeginning(rest, m); s != "" {
			return s
		}
		cut := strings.IndexAny(rest, " 。，、：")
		if cut < 0 {
			break
		}
		_, n := utf8.DecodeRuneInString(rest[cut:])
		rest = rest[cut+n:]
	}
	return ""
}

func foundBeginning(anchor string, m *compartments.Message) string {
	for anchor != "" {
		for i := range m.Parts {
			p := &m.Parts[i]
			if strings.Contains(p.Text, anchor) || strings.Contains(p.Input, anchor) || strings.Contains(p.Output, anchor) {
				return anchor
			}
		}
		cut := strings.LastIndexAny(anchor, " 。，、：")
		if cut < 4 {
			return ""
		}
		anchor = anchor[:cut]
	}
	return ""
}

// facts lists what held when it was said. Each has words of the source to find
// it by; questions and hypotheticals yield none.
func (r *record) facts() []compartments.Fact {
	var out []compartments.Fact
	add := func(ord compartments.Ordinal, kind, text, anchor string) {
		if text != "" && anchor != "" && len(out) < 40 {
			out = append(out, compartments.Fact{Ordinal: ord, Kind: kind, Text: text, Anchor: anchor})
		}
	}
	if lead := r.lead(); lead >= 0 && (r.force == nil || r.asks[lead].asks() || r.asks[lead].picked) {
		a := &r.asks[lead]
		t := titleOf(a.units)
		if a.picked || a.width >= 12 || !a.replying { // else it goes on with the request before it
			add(a.ord, factRequest, a.named(t), words(t))
		}
	} else if r.force != nil && r.force.title != "" {
		add(r.force.ord, factRequest, r.force.title, words(r.force.title))
	}
	// What was asked last is what goes on behind the run.
	for i := len(r.asks) - 1; i > r.lead(); i-- {
		if a := &r.asks[i]; a.picked || a.asks() && (a.text == "" || a.text[0] < '0' || a.text[0] > '9') { // point by point is an answer
			t := titleOf(a.units)
			add(a.ord, factRequest, a.named(t), words(t))
			break
		}
	}
	for i := range r.files {
		f := &r.files[i]
		verb := factChanged
		switch {
		case f.gone():
			verb = "changed and put back "
		case f.deleted:
			verb = "removed "
		case f.created:
			verb = "created "
		}
		add(f.ord, factFile, verb+f.shown, f.shown)
	}
	for _, g := range r.git {
		if g.hash != "" {
			add(g.ord, factCommit, g.show(atFull), g.hash)
		}
	}
	for _, w := range r.why {
		if w.score >= 6 {
			add(w.ord, factDecision, shorten(w.text, 230), words(w.text))
		}
	}
	for _, a := range r.answered {
		add(a.ord, factAnswer, a.text, words(a.text))
	}
	return out
}

// words is the beginning of a text, as much as finds it again.
func words(s string) string { return shortenBare(s, 60) }

func shortenBare(s string, limit int) string {
	t := shorten(s, limit)
	if len(t) < len(s) && len(t) > len(" …") {
		return t[:len(t)-len(" …")]
	}
	return t
}

// events lists what happened, in order of the messages.
func (r *record) events() []compartments.Event {
	var out []compartments.Event
	add := func(ord compartments.Ordinal, kind, text string) {
		if text != "" && len(out) < 40+len(r.left)+len(r.closed)+len(r.started)+len(r.ended)+1 {
			out = append(out, compartments.Event{Ordinal: ord, Kind: kind, Text: text})
		}
	}
	for _, f := range r.failures {
		text := shorten(f.what, 90)
		if l := shorten(f.line, 160); l != "" {
			text += " → " + l
		}
		add(f.ord, eventFailure, text)
		if f.passed != 0 {
			add(f.passed, eventPassed, shorten(f.what, 90))
		}
	}
	for _, p := range r.left {
		out = append(out, compartments.Event{Ordinal: p.ord, Kind: eventOpen, Text: p.text})
	}
	for _, p := range r.closed {
		out = append(out, compartments.Event{Ordinal: max(p.passed, r.first), Kind: eventClosed, Text: "[" + itoa(int(p.ord)) + "] " + p.text})
	}
	for _, p := range r.started {
		out = append(out, compartments.Event{Ordinal: p.ord, Kind: eventRunning, Text: p.id})
	}
	for _, p := range r.ended {
		out = append(out, compartments.Event{Ordinal: p.ended, Kind: eventEnded, Text: "[" + itoa(int(p.ord)) + "] " + p.id})
	}
	if r.plan != nil {
		out = append(out, compartments.Event{Ordinal: r.plan.ord, Kind: eventPlan, Text: r.plan.mark()})
	}
	for i := range r.git {
		g := &r.git[i]
		kind := eventCommit
		switch g.event {
		case "push", "link":
			kind = eventPush
		case "undo":
			kind = eventUndo
		case "branch":
			continue
		}
		add(g.ord, kind, g.show(atFull))
	}
	out = append(out, r.gone...)
	n := 0
	for i := range r.files {
		for _, m := range r.files[i].forth {
			if n++; n <= editsMost {
				out = append(out, compartments.Event{Ordinal: r.files[i].ord, Kind: eventEdit, Text: strconv.FormatUint(m, 16)})
			}
		}
	}
	if r.question != nil {
		add(r.question.ord, eventQuestion, r.question.text)
	}
	return out
}

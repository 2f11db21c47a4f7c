package historian

import (
	"slices"
	"strings"

	"ctxplugin/compartments"
)

// section is where a line stands in a tier; sections come in this order.
type section uint8

const (
	secAsked section = iota
	secOutcome
	secWhy
	secSteps
	secFailed
	secMended
	secChanged
	secGit
	secRan
	secAnswered
	secDelegated
	secOpen
	secRead
	sections
)

var sectionLabels = [sections]string{"Asked", "Outcome", "Why", "Steps", "Failed", "Passes now", "Changed", "Git", "Ran", "Answered", "Delegated", "Open", "Read"}

// The tiers that are admitted line by line, as indexes of forms.
const (
	atFull = iota
	atDense
	atCompact
	levels
)

// line is one fact as it may stand in the tiers.
type line struct {
	sec    section
	prio   int
	brief  int // the same at compact, if not 0
	ord    compartments.Ordinal
	seq    int              // order among lines of one message
	forms  [levels][]string // longest first; none: the level does not show the line
	must   bool             // shortened, never dropped
	closes bool             // says that something is no longer open
	chat   bool             // announces, agrees or sounds out
	open   bool             // an option that the user was to choose from, or a proposal that was turned down
	words  []string         // that tell a sentence from others; none for what is no sentence
	dim    compartments.Dimension
	probe  string // what tells that a tier still holds it; "" means the beginning of the text
}

// stays reports a line that is shortened at a level and never dropped. At compact the
// title stands for the request.
func (l *line) stays(level int) bool { return l.must && !(level == atCompact && l.sec == secAsked) }

// telling are the words that tell a sentence from others; none for what is no sentence.
func (l *line) telling() []string {
	switch l.sec {
	case secOutcome, secWhy, secSteps:
		if l.words == nil && len(l.forms[atFull]) > 0 {
			l.words = telling(l.forms[atFull][0])
		}
	}
	return l.words
}

// lines turns the record into lines.
func (r *record) lines() []line {
	var out []line
	add := func(l line) {
		switch l.sec {
		case secOutcome, secWhy, secSteps:
			if f := l.forms[atFull]; len(f) > 0 {
				l.chat = starts(strings.ToLower(head(f[0], 40)), chatOpeners)
			}
		}
		out = append(out, l)
	}
	r.askLines(add)
	r.outcomeLines(add)
	for i, w := range r.why {
		prio := 82 - 4*i
		if i > 3 {
			prio = 60 - 2*(i-4)
		}
		dim := compartments.DecisionsWhy
		if w.cause && hasAny(strings.ToLower(w.text), rejections) {
			dim = compartments.Rejected
		}
		add(line{sec: secWhy, prio: prio, ord: w.ord, seq: w.seq, dim: dim, forms: [levels][]string{sizes(w.text, 340, 230, 120), sizes(w.text, 230, 120), sizes(w.text, 130, 80)}})
	}
	prio := 45 // what led there, where the outcome stands above
	if r.concluded() < 3 {
		prio = 66
	}
	for i, s := range r.steps {
		add(line{sec: secSteps, prio: prio - i/4, ord: s.ord, seq: s.seq, dim: compartments.Narrative, forms: [levels][]string{sizes(s.text, 230, 120), sizes(s.text, 140, 80), sizes(s.text, 120, 80)}})
	}
	for _, d := range r.details {
		add(line{sec: secSteps, prio: prio - 10 + min(d.score, 14), ord: d.ord, seq: d.seq, dim: compartments.Narrative, forms: [levels][]string{sizes(d.text, 230, 120), sizes(d.text, 140, 110), sizes(d.text, 120, 80)}})
	}
	r.failureLines(add)
	r.mendedLines(add)
	r.fileLines(add)
	r.gitLines(add)
	r.ranLines(add)
	for _, a := range r.answered {
		add(line{sec: secAnswered, prio: 80, ord: a.ord, dim: compartments.Constraints, forms: [levels][]string{sizes(a.text, 340, 230), sizes(a.text, 230, 140), sizes(a.text, 120)}})
	}
	for _, d := range r.handed {
		add(line{sec: secDelegated, prio: 50, ord: d.ord, dim: compartments.Narrative, forms: [levels][]string{sizes(d.text, 500, 340, 230, 120), sizes(d.text, 160, 120), nil}})
	}
	r.openLines(add)
	return out
}

// sizes is a text at falling limits of extent, without repeats.
func sizes(text string, limits ...int) []string {
	var out []string
	for _, n := range limits {
		t := shorten(text, n)
		if len(t) < len(text) && width(t) < 12 {
			continue // what is left says nothing
		}
		if t != "" && (len(out) == 0 || out[len(out)-1] != t) {
			out = append(out, t)
		}
	}
	return out
}

// brief takes an opener that only says that something is done off an outcome, for
// where room is short.
func brief(s string) string {
	for _, w := range openers {
		if len(s) <= len(w) || !strings.EqualFold(s[:len(w)], w) {
			continue
		}
		rest := strings.TrimLeft(s[len(w):], " ")
		cut := strings.TrimLeft(rest, "!.,:;-–—！。，")
		if len(cut) == len(rest) || len(cut) == 0 || cut[0] != ' ' && cut[0] < 0x80 {
			continue // the word goes on, or is part of the sentence
		}
		if cut = strings.TrimSpace(cut); width(cut) >= 24 {
			return cut
		}
	}
	return s
}

// leadBrief is the priority at compact of what a request says beyond the title.
const leadBrief = 50

func (r *record) askLines(add func(line)) {
	lead := r.lead()
	for i := range r.asks {
		a := &r.asks[i]
		quoted := func(limit int) string {
			t := a.text
			if limit > 0 {
				t = shorten(t, limit)
			}
			switch {
			case t == "" && a.note == "":
				return ""
			case t == "":
				return "(" + a.note + ")"
			case a.note == "":
				return "\"" + t + "\""
			}
			return "\"" + t + "\" (" + a.note + ")"
		}
		l := line{sec: secAsked, ord: a.ord, dim: compartments.Constraints, probe: a.text}
		switch {
		case i == lead && r.force == nil:
			l.prio, l.must = 92, true
		case i == lead:
			l.prio = 90
		case a.replying:
			l.prio = 85 // a decision
		case a.width < 24 && a.note != "":
			l.prio = 62
		default:
			l.prio = 82
			if a.width <= 160 { // corrections are short
				l.prio = 85
			}
		}
		if a.marked {
			l.prio += 6
		}
		if a.urgent {
			l.prio += 4
		}
		if i == len(r.asks)-1 {
			l.prio++
		}
		full := []string{quoted(0)}
		for _, n := range [...]int{500, 260, 120} {
			if extent(a.text) > n {
				if q := quoted(n); q != "" {
					full = append(full, q)
				}
			}
		}
		var dense []string
		for _, n := range [...]int{420, 260, 140, 80} {
			if q := quoted(n); q != "" && (len(dense) == 0 || dense[len(dense)-1] != q) {
				dense = append(dense, q)
			}
		}
		var compact []string
		title := ""
		if i == lead && r.force == nil {
			title = r.head
			l.brief = leadBrief + 3*a.most(title)
		}
		if a.width >= 16 {
			for _, n := range [...]int{130, 90, 64} {
				if s := a.gist(title, n); s != "" && (len(compact) == 0 || compact[len(compact)-1] != "\""+s+"\"") {
					compact = append(compact, "\""+s+"\"")
				}
			}
		}
		l.forms = [levels][]string{full, dense, compact}
		add(l)
	}
}

// objectedMark stands behind what the user did not want, before the message that says so.
const objectedMark = " (the user objected at ["

func (r *record) outcomeLines(add func(line)) {
	for i := range r.outcomes {
		o := &r.outcomes[i]
		near := i == r.outcome || i == len(r.outcomes)-1 // what the work goes on from
		l := line{sec: secOutcome, prio: 70, ord: o.ord, open: o.proposal, dim: compartments.Narrative, forms: [levels][]string{sizes(o.main, 270, 180, 120), sizes(o.main, 200, 130, 90), sizes(brief(o.main), 120, 80)}}
		if i == r.outcome && r.state == nil {
			l.prio, l.must = 99, true
			l.forms[atFull], l.forms[atDense] = sizes(o.main, 340, 230, 120), sizes(o.main, 260, 160, 100)
			l.forms[atCompact] = sizes(brief(o.main), 150, 110, 70)
		}
		if o.objected != 0 {
			for _, forms := range l.forms {
				for k := range forms {
					forms[k] += objectedMark + itoa(int(o.objected)) + "])"
				}
			}
		}
		add(l)
		for k, m := range o.more {
			prio := 60 - 4*m.score
			if near {
				prio = 63 - 3*m.score
			} else if k > 1 {
				prio -= 8
			}
			forms := [levels][]string{sizes(m.text, 340, 230, 140, 90), sizes(m.text, 200, 120, 80), sizes(m.text, 130, 80)}
			if o.objected != 0 { // what the user did not want is of little use in its details
				prio -= 10
				forms[atCompact] = nil
			}
			add(line{sec: secOutcome, prio: prio, ord: m.ord, seq: 1 + m.seq, open: m.option, dim: compartments.Narrative, forms: forms})
		}
		for k, c := range o.caveats {
			prio := 61 - k
			if near {
				prio = 69 - 3*k
			}
			add(line{sec: secOutcome, prio: prio, ord: c.ord, seq: 1 + c.seq, open: c.option, dim: compartments.Uncertainty, forms: [levels][]string{sizes(c.text, 230, 120), sizes(c.text, 200, 120), sizes(c.text, 90)}})
		}
	}
	if r.state != nil {
		text := "(in progress) " + r.state.text
		prio := 79
		if r.loose {
			prio = 62
		}
		add(line{sec: secOutcome, prio: prio, ord: r.state.ord, dim: compartments.Narrative, probe: r.state.text, forms: [levels][]string{sizes(text, 340, 230, 140), sizes(text, 230, 140), sizes(text, 140, 90)}})
	}
	if r.stopped {
		text := "the user stopped this turn"
		forms := [levels][]string{{text}, {text}, {text}}
		if slices.ContainsFunc(r.failures, func(f failure) bool { return f.half }) {
			forms[atCompact] = nil // the command that was stopped says so
		}
		add(line{sec: secOutcome, prio: 88, ord: r.last, seq: 1 << 20, dim: compartments.Uncertainty, forms: forms})
	}
}

func (r *record) openLines(add func(line)) {
	r.planLines(add)
	for _, p := range r.running {
		text := "still running: " + p.text
		add(line{sec: secOpen, prio: 82, ord: p.ord, dim: compartments.OpenWork, forms: [levels][]string{{text}, {text}, {text}}})
	}
	if n := len(r.ended); n > 0 {
		list := func(most int) string {
			var parts []string
			for _, p := range r.ended[:min(most, n)] {
				parts = append(parts, p.id+" (since ["+itoa(int(p.ord))+"])")
			}
			return "no longer running: " + strings.Join(parts, ", ") + others(n-most, "")
		}
		add(line{sec: secOpen, prio: 78, ord: r.ended[0].ended, closes: true, dim: compartments.OpenWork, forms: [levels][]string{series(n, list, 8, 4, 2), series(n, list, 4, 2), series(n, list, 2, 1)}})
	}
	if q := r.question; q != nil {
		full := "question to the user: "
		var compact []string
		compact = append(compact, sizes(q.text, 100, 60)...)
		forms := [levels][]string{nil, nil, compact}
		for _, s := range sizes(q.text, 300, 160) {
			forms[atFull] = append(forms[atFull], full+s)
		}
		for _, s := range sizes(q.text, 200, 110) {
			forms[atDense] = append(forms[atDense], "question: "+s)
		}
		prio, brief := 87, 0
		if offers(q.text) { // the work can go on without an answer
			prio, brief = 73, 54
		}
		add(line{sec: secOpen, prio: prio, brief: brief, ord: q.ord, seq: 1, dim: compartments.OpenWork, probe: q.text, forms: forms})
	}
}

func (r *record) planLines(add func(line)) {
	p := r.plan
	switch {
	case p == nil:
		return
	case len(p.left) == 0:
		if p.done == 0 || r.renewed != 0 && !r.planEnds {
			return
		}
		text := "all " + itoa(p.done) + " to-dos done"
		l := line{sec: secOpen, prio: 40, ord: p.ord, closes: true, dim: compartments.OpenWork, forms: [levels][]string{{text}, {text}, nil}}
		if r.planEnds { // an earlier entry shows them as open
			l.prio, l.forms[atCompact] = 82, []string{text}
		}
		add(l)
		return
	}
	list := func(n int) string {
		var parts []string
		for _, t := range p.left[:min(n, len(p.left))] {
			if n < 3 {
				t = shorten(t, 60)
			}
			parts = append(parts, t)
		}
		s := strings.Join(parts, "; ") + others(len(p.left)-n, "")
		if p.done > 0 {
			s += " (" + itoa(p.done) + " done)"
		}
		switch {
		case r.renewed != 0:
			return "to do then: " + s + " (renewed at [" + itoa(int(r.renewed)) + "])"
		case r.asBefore != 0:
			return "to do, as at [" + itoa(int(r.asBefore)) + "]: " + s
		}
		return "to do: " + s
	}
	n := len(p.left)
	l := line{sec: secOpen, prio: 86, ord: p.ord, dim: compartments.OpenWork, probe: p.left[0], forms: [levels][]string{
		series(n, list, 8, 4, 2), series(n, list, 5, 3, 1), series(n, list, 2, 1)}}
	switch {
	case r.renewed != 0: // open is what the later list says
		l.prio, l.forms[atCompact] = 56, nil
	case r.asBefore != 0:
		l.forms[atFull], l.forms[atDense], l.forms[atCompact] = series(n, list, 1), series(n, list, 1), series(n, list, 1)
	}
	add(l)
}

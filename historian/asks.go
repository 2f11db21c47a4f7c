package historian

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ctxplugin/compartments"
)

// ask is what a person said in one message.
type ask struct {
	ord       compartments.Ordinal
	text      string // own words, verbatim or condensed
	whole     bool   // text is all of the own words
	note      string // question answered, what was pasted, files attached
	units     []unit
	marked    bool // holds a constraint marker
	urgent    bool // right after the user stopped or refused something
	width     int
	answering bool  // a question, an offer, or a choice of options
	picked    bool  // of options by their numbers
	pasted    bool  // nothing but what was pasted: a complaint to look into
	replying  bool  // so few words that what the agent said last stands with them
	weights   []int // of each unit, for where there is room for some of them only
}

// verbatimTokens is the length up to which own words are kept whole, in tokens.
const verbatimTokens = 180

func (r *record) collectAsks(v *view) {
	ms := v.run()
	refused := false
	for i := range ms {
		m := &ms[i]
		if m.who != person {
			for j := range m.uses {
				refused = refused || m.uses[j].refused || m.uses[j].stopped
			}
			continue
		}
		a := ask{ord: m.ord, units: m.units, width: width(m.speech.own)}
		a.urgent = refused || m.speech.interrupted
		refused = false
		for _, u := range m.units {
			if hasAny(strings.ToLower(u.text), constraints) {
				a.marked = true
				r.marks++
			}
			a.weights = append(a.weights, v.weigh(u.text))
		}
		if len(a.weights) > 1 && width(m.units[0].text) < verdictWidth {
			a.weights[0] += 3 // what they think of what came before
		}
		a.text, a.whole = ownWords(m)
		var notes []string
		if a.width < 24 && (a.width > 0 || m.speech.pasted == 0) { // a paste alone answers nothing
			q, from, picked := answered(v, v.from+i, m.speech.own)
			if from < v.from {
				q = v.native(q)
			}
			if q != "" {
				notes = append(notes, q)
				a.replying, a.answering, a.picked = true, strings.HasPrefix(q, answers), picked
			}
		}
		if m.speech.interrupted {
			notes = append(notes, "after stopping the turn")
		}
		a.pasted = a.width == 0 && m.speech.pasted > 1
		if m.speech.pasted > 0 {
			note := "pasted " + itoa(m.speech.pasted) + " lines"
			if m.speech.pasted == 1 {
				note = "pasted"
			}
			if h := shorten(safe(m.speech.pasteHead), 160); h != "" {
				note += ": " + h
				if n := shorten(safe(m.speech.pasteNext), 120); n != "" {
					note += "; " + n
				}
			}
			notes = append(notes, note)
		}
		if files := m.unnamedFiles(); len(files) > 0 {
			notes = append(notes, "attached "+strings.Join(files, ", "))
		}
		for _, c := range m.speech.ran {
			notes = append(notes, "ran "+shorten(safe(c), 120))
		}
		a.note = strings.Join(notes, "; ")
		if a.text != "" || a.note != "" {
			r.asks = append(r.asks, a)
		}
	}
}

// answers begins the note of an ask that says what it answers.
const answers = "answering: "

// asks reports an ask that says what is wanted, in few words too: what only answers
// goes on with the request before it.
func (a *ask) asks() bool { return a.width >= 12 && !a.answering }

// weigh is how much a sentence of a person matters where there is room for few: by
// the limits, values and names in it.
func (v *view) weigh(text string) int {
	all, news := v.names(text)
	n := 2*news + min(all, 2)
	if hasAny(strings.ToLower(text), constraints) {
		n += 3
	}
	if hasDigit(text) {
		n++
	}
	return n
}

// verdictWidth is how long the opening of a message is that says yes, no or why not.
const verdictWidth = 40

// unnamedFiles lists attachments that the words do not name.
func (m *message) unnamedFiles() []string {
	var out []string
	for _, f := range m.speech.attached {
		if shown := safe(lastTwo(f)); shown != "" && !strings.Contains(m.speech.own, baseName(strings.TrimRight(f, "/"))) && len(out) < 4 {
			out = append(out, shown)
		}
	}
	return out
}

// ownWords returns a person's words verbatim, or the sentences that matter most
// if they are long: the first, those with a limit or a name, the last.
func ownWords(m *message) (text string, whole bool) {
	if estimate(m.speech.own, 4000) <= verbatimTokens {
		return safe(m.speech.own), true
	}
	units := m.units
	if len(units) == 0 {
		return shorten(safe(head(m.speech.own, 2000)), unitExtent), false
	}
	type rank struct{ place, score int }
	ranks := make([]rank, len(units))
	for i, u := range units {
		s := 0
		switch {
		case i == 0:
			s = 100
		case i == len(units)-1:
			s = 20
		}
		if hasAny(strings.ToLower(u.text), constraints) {
			s += 12
		}
		s += 4 * min(countNames(u.text), 3)
		if u.kind == unitHeading {
			s += 3
		}
		ranks[i] = rank{i, s}
	}
	slices.SortStableFunc(ranks, func(a, b rank) int { return b.score - a.score })
	room := 2 * verbatimTokens
	keep := make([]bool, len(units))
	kept := 0
	for _, k := range ranks {
		n := estimate(units[k.place].text, 4000)
		if n > verbatimTokens {
			n = verbatimTokens / 2
		}
		if n <= room {
			keep[k.place] = true
			kept++
			room -= n
		}
	}
	var b strings.Builder
	for i, u := range units {
		if !keep[i] {
			continue
		}
		if b.Len() > 0 {
			if !keep[i-1] {
				b.WriteString(" […]")
			}
			b.WriteByte(' ')
		}
		b.WriteString(shorten(safe(u.text), unitExtent))
	}
	if kept < len(units) {
		b.WriteString(" [" + itoa(kept) + " of " + itoa(len(units)) + " sentences]")
	}
	return b.String(), false
}

// gist is what a person's words say beyond the title in so much room: of their
// sentences those that limit or name something, then the first, in their order. It
// is "" where the title says all.
func (a *ask) gist(title string, limit int) string {
	if len(a.units) == 0 || len(a.units) > 40 {
		return ""
	}
	known := letters(title, 400)
	type rank struct{ place, score int }
	var ranks []rank
	texts := make([]string, len(a.units))
	for i, u := range a.units {
		texts[i] = beyond(safe(u.text), title)
		if l := letters(unfilled(texts[i]), 400); l == "" || strings.Contains(known, l) {
			continue
		}
		s := 0
		if i < len(a.weights) {
			s = a.weights[i]
		}
		ranks = append(ranks, rank{i, s})
	}
	slices.SortStableFunc(ranks, func(a, b rank) int { return b.score - a.score })
	keep := map[int]string{}
	room := limit
	for _, k := range ranks {
		t := texts[k.place]
		if len(keep) > 0 && extent(t) > room {
			continue
		}
		if t = shorten(t, room); t == "" || width(t) < 12 {
			continue
		}
		keep[k.place] = t
		if room -= extent(t) + 2; room < 24 {
			break
		}
	}
	var b strings.Builder
	for i, last := 0, -1; i < len(texts); i++ {
		t, ok := keep[i]
		if !ok {
			continue
		}
		if b.Len() > 0 {
			if last != i-1 && !strings.HasSuffix(b.String(), "…") {
				b.WriteString(" …")
			}
			b.WriteByte(' ')
		}
		b.WriteString(t)
		last = i
	}
	return b.String()
}

// beyond is what a text says behind the words that a shortened title begins with or
// ends in; all of it where they have nothing in common.
func beyond(text, title string) string {
	title, cut := strings.CutSuffix(title, " …")
	if !cut {
		return text
	}
	// The title may end in the middle of the sentence.
	for from := 0; from < len(title); {
		if rest, ok := strings.CutPrefix(text, title[from:]); ok && len(title)-from >= 12 {
			if rest = strings.TrimLeft(rest, " ,;:-–—"); rest == "" {
				return ""
			}
			return "… " + rest
		}
		i := strings.IndexByte(title[from:], ' ')
		if i < 0 {
			break
		}
		from += i + 1
	}
	if i := strings.Index(text, title); i >= 0 { // the title lacks an opener
		return "… " + strings.TrimLeft(text[i+len(title):], " ,;:-–—")
	}
	return text
}

// most is the weight of the weightiest sentence that the title does not say.
func (a *ask) most(title string) int {
	n, known := 0, letters(title, 400)
	for i, w := range a.weights {
		if i < len(a.units) && w > n && !strings.Contains(known, letters(a.units[i].text, 400)) {
			n = w
		}
	}
	return n
}

// answered finds what a short message answers: option n of the text before it,
// or the last question in that text. from is the place of that text; picked says that
// options are what is answered.
func answered(v *view, place int, own string) (text string, from int, picked bool) {
	var units []unit
	for i := place - 1; i >= 0 && i >= place-6; i-- {
		if v.ms[i].who == person || v.ms[i].who == host {
			break
		}
		if v.ms[i].who == agent && len(v.ms[i].units)+len(v.ms[i].narrate) > 0 {
			units = append(v.ms[i].narrate[:len(v.ms[i].narrate):len(v.ms[i].narrate)], v.ms[i].units...)
			from = i
			break
		}
	}
	if len(units) == 0 || v.greeted(from) {
		return "", 0, false
	}
	var chosen []string
	for _, n := range figures(own) {
		for i := len(units) - 1; i >= 0; i-- {
			if units[i].num == n || optionMark(units[i].text, n) {
				chosen = append(chosen, shorten(safe(units[i].text), 110))
				break
			}
		}
	}
	if len(chosen) > 0 {
		return answers + strings.Join(chosen, "; "), from, true
	}
	// Of several questions and offers the one whose words the answer takes up, else the last.
	put, most := -1, -1
	for i := len(units) - 1; i >= 0; i-- {
		if t := units[i].text; question(t) || offers(t) && (i == len(units)-1 || units[i].num > 0) {
			n := shared(own, t)
			if question(t) {
				n = 2*n + 1
			} else {
				n *= 2
			}
			if n > most {
				put, most = i, n
			}
		}
	}
	if put >= 0 {
		return answers + shorten(safe(units[put].text), 160), from, false
	}
	if o, ok := conclude(nil, units, 0, 0); ok {
		return "after: " + shorten(o.main, 120), from, false
	}
	return "", 0, false
}

// shared counts the words of an answer that a question has.
func shared(own, question string) int {
	n, low := 0, strings.ToLower(question)
	for _, w := range telling(own) {
		if strings.Contains(low, w) {
			n++
		}
	}
	return n
}

// figures lists the small numbers of a short answer, at most three; none if there
// are more.
func figures(own string) []int {
	var out []int
	for i := 0; i < len(own); i++ {
		if own[i] < '0' || own[i] > '9' {
			continue
		}
		start, n := i, 0
		for i < len(own) && own[i] >= '0' && own[i] <= '9' {
			n = n*10%1000 + int(own[i]-'0')
			i++
		}
		if word, _ := utf8.DecodeRuneInString(own[i:]); i-start <= 2 && !unicode.IsLetter(word) || wide(word) { // "2nd", "5x" are no choice
			out = append(out, n)
		}
	}
	if len(out) > 3 {
		return nil
	}
	return out
}

// optionMark reports a text that begins with a word and the number: "Option 2:".
func optionMark(text string, n int) bool {
	word, rest, ok := strings.Cut(text, " ")
	if !ok || len(word) > 12 {
		return false
	}
	rest, ok = strings.CutPrefix(rest, itoa(n))
	return ok && rest != "" && strings.IndexByte(":.) -", rest[0]) >= 0
}

package historian

import (
	"slices"
	"strings"

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
	answering bool
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
		}
		a.text, a.whole = ownWords(m)
		var notes []string
		if a.width < 24 {
			q, from := answered(v, v.from+i, m.speech.own)
			if from < v.from {
				q = v.native(q)
			}
			if q != "" {
				notes = append(notes, q)
				a.answering = true
			}
		}
		if m.speech.interrupted {
			notes = append(notes, "after stopping the turn")
		}
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

// answered finds what a short message answers: option n of the text before it,
// or the last question in that text. from is the place of that text.
func answered(v *view, place int, own string) (text string, from int) {
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
	if len(units) == 0 {
		return "", 0
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
		return "answering: " + strings.Join(chosen, "; "), from
	}
	for i := len(units) - 1; i >= 0; i-- {
		if question(units[i].text) {
			return "answering: " + shorten(safe(units[i].text), 160), from
		}
	}
	last := units[len(units)-1]
	if hasAny(strings.ToLower(last.text), offers) {
		return "answering: " + shorten(safe(last.text), 160), from
	}
	if o, ok := conclude(units, 0, 0); ok {
		return "after: " + shorten(o.main, 120), from
	}
	return "", 0
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
		if i-start <= 2 {
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

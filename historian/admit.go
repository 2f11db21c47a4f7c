package historian

import (
	"fmt"
	"slices"
	"strings"
)

// placed is a line at the form that was chosen.
type placed struct {
	*line
	text string
}

// page is one tier of one record.
type page struct {
	level  int
	title  string
	lines  []placed // in order of rendering
	names  []string
	spans  []span
	text   string
	tokens int
}

// tokens kept free for names, and the most names, by level.
var (
	nameRoom = [levels]int{36, 22, 16}
	nameMost = [levels]int{16, 9, 6}
)

// nameReserve is the room kept free for names: no more than the names would take.
func (r *record) nameReserve(level, ceiling int, count func(string) int) int {
	need := 3
	for _, n := range r.names[:min(len(r.names), nameMost[level])] {
		need += count(n) + 1
	}
	if len(r.names) == 0 || level == atFull && ceiling < 420 {
		return 0 // in a small run the sentences name what there is
	}
	return min(need, nameRoom[level], ceiling/5)
}

// The room of a request that an earlier run began, at compact and above.
const (
	goingOn = 36
	goneOn  = 48
)

// briefTitle is the room of a title that stands above the request itself.
const briefTitle = 56

// admit fills a level with lines by priority while they fit the ceiling. above is
// the page of the level above, whose lines are the only ones to choose from; nil
// at full.
func admit(r *record, lines []line, level, ceiling int, above *page, count func(string) int) *page {
	p := &page{level: level, title: r.head}
	var all []candidate
	if above == nil {
		for i := range lines {
			all = append(all, candidate{l: &lines[i], limit: 1 << 30})
		}
	} else {
		for _, q := range above.lines {
			all = append(all, candidate{l: q.line, limit: extent(q.text) + 2})
		}
	}
	inOrder(all, level)
	p.spans = r.spans
	if level != atCompact && r.force != nil && strings.HasPrefix(p.title, r.continues()+" ") {
		p.title = r.continues() + " " + shorten(r.force.shown, goneOn)
	}
	if level == atCompact && r.force != nil && strings.HasPrefix(p.title, r.continues()+" ") {
		p.title = r.continues() + " " + shorten(r.force.shown, goingOn) // an entry before says the rest
	}
	title := fmt.Sprintf("[%d-%d] %s", r.first, r.last, p.title)
	if lead := r.lead(); level != atCompact && extent(p.title) > briefTitle && r.force == nil && lead >= 0 && letters(r.asks[lead].text, 400) != letters(p.title, 400) {
		if t := shorten(p.title, briefTitle); t != "" { // the request follows in full
			p.title = t
			title = fmt.Sprintf("[%d-%d] %s", r.first, r.last, t)
		}
	}
	for _, n := range [...]int{briefTitle, 32, 16} {
		if above == nil || within(p.title, above.text) {
			break
		}
		p.title = shorten(p.title, n)
		title = fmt.Sprintf("[%d-%d] %s", r.first, r.last, p.title)
	}
	f := filling{r: r, p: p, above: above, count: count, ceiling: ceiling, used: count(title), whole: letters(r.head, 400), said: []string{letters(p.title, 400)}, known: r.shown(title)}
	for _, s := range r.spans {
		f.known |= r.shown(s.Text)
		if level == atCompact && s.order == rejection { // it stands there as it is
			f.said = append(f.said, letters(s.Text, 400))
		}
	}
	names := r.nameReserve(level, ceiling, count)
	all = f.fill(all, ceiling-names)
	p.sort()
	if level != atFull { // what lines take was guessed; what is left may hold more
		p.render(r)
		if f.used = count(p.text) - p.spanTokens(count); f.used < ceiling-names {
			f.fill(all, ceiling-names)
			p.sort()
		}
	}
	p.fit(r, ceiling, above, count)
	if len(p.lines) == 0 && r.force != nil {
		p.tellAlone(r, ceiling, above, count)
	}
	return p
}

// tellAlone has a title that stands alone say what was done instead of the request that
// an entry before says, where that fits.
func (p *page) tellAlone(r *record, ceiling int, above *page, count func(string) int) {
	title, names := p.title, p.names
	for _, n := range [...]int{titleExtent, 56, 36} {
		p.title, p.names = shorten(r.title, n), nil
		if p.title == "" || above != nil && !strings.Contains(above.text, strings.TrimSuffix(p.title, " …")) {
			continue
		}
		p.render(r)
		if p.tokens = count(p.text); p.tokens-p.spanTokens(count) <= ceiling {
			p.addNames(r, ceiling-p.tokens+p.spanTokens(count), above, count)
			p.render(r)
			p.tokens = count(p.text)
			return
		}
	}
	p.title, p.names = title, names
	p.render(r)
	p.tokens = count(p.text)
}

// within reports whether every name of a text stands in the tier above.
func within(text, above string) bool {
	ok := true
	scanNames(text, func(n string, _ kind) { ok = ok && strings.Contains(above, n) })
	return ok
}

// repeated reports whether an admitted line says the same already. Requests and
// lists are exempt: a title may stand for the first words of a request only.
func repeated(said []string, text string, sec section) bool {
	key := head(text, 32)
	if len(key) < 12 || sec == secChanged || sec == secGit || sec == secRead || sec == secAsked || sec == secFailed || sec == secMended || sec == secRan {
		return false
	}
	for i, s := range said {
		if i == 0 { // a title says a line only if it says all of it
			if strings.Contains(s, text) {
				return true
			}
			continue
		}
		if strings.Contains(s, key) || len(s) >= 24 && strings.Contains(text, head(s, 32)) {
			return true
		}
	}
	return false
}

// fit adds names and spans, renders, and takes lines away again while the whole
// is above the ceiling.
func (p *page) fit(r *record, ceiling int, above *page, count func(string) int) {
	for {
		p.names = nil
		p.render(r)
		base := count(p.text) - p.spanTokens(count)
		if base <= ceiling || !p.dropLeast() {
			p.addNames(r, ceiling-base, above, count)
			p.render(r)
			for p.tokens = count(p.text); p.tokens-p.spanTokens(count) > ceiling && len(p.names) > 0; p.tokens = count(p.text) {
				p.names = p.names[:len(p.names)-1]
				p.render(r)
			}
			return
		}
	}
}

// spanTokens is what the exact spans add, their own tokens apart from the ceiling.
func (p *page) spanTokens(count func(string) int) int {
	n := 0
	for _, s := range p.spans {
		n += count(s.Text)
	}
	return n
}

// dropLeast takes away the line with the lowest priority.
func (p *page) dropLeast() bool {
	worst := -1
	for i := range p.lines {
		if !p.lines[i].must && (worst < 0 || p.lines[i].prio < p.lines[worst].prio) {
			worst = i
		}
	}
	if worst < 0 {
		return false
	}
	p.lines = slices.Delete(p.lines, worst, worst+1)
	return true
}

// addNames takes the best names that the tier does not show yet and the tier
// above does.
func (p *page) addNames(r *record, room int, above *page, count func(string) int) {
	room -= 3
	for _, n := range r.names {
		if len(p.names) == nameMost[p.level] {
			return
		}
		if strings.Contains(p.text, n) || p.level == atCompact && fileLike(baseName(n)) && strings.Contains(p.text, baseName(n)) || above != nil && !strings.Contains(above.text, n) {
			continue
		}
		if len(n) > 70 {
			continue
		}
		if cost := count(n) + 1; cost <= room {
			room -= cost
			p.names = append(p.names, n)
		}
	}
}

// render writes the page's text.
func (p *page) render(r *record) {
	var b strings.Builder
	fmt.Fprintf(&b, "[%d-%d] %s", r.first, r.last, p.title)
	p.text = p.body()
	b.WriteString(quoted(missing(p.spans, b.String()+p.text)))
	b.WriteString(p.text)
	if len(p.names) > 0 {
		if p.level == atCompact && len(p.lines) > 0 && !strings.HasSuffix(b.String(), "\n") && p.inline() {
			b.WriteString(" · Names: ")
		} else {
			b.WriteString("\nNames: ")
		}
		b.WriteString(strings.Join(p.names, ", "))
	}
	p.text = b.String()
}

// inline reports whether the last line at compact is the one of short facts.
func (p *page) inline() bool {
	return len(p.lines) > 0 && p.lines[len(p.lines)-1].sec > secOutcome
}

func missing(spans []span, text string) []span {
	var out []span
	for _, s := range spans {
		if !strings.Contains(text, s.Text) {
			out = append(out, s)
		}
	}
	return out
}

// body writes the lines, each section under its label.
func (p *page) body() string {
	var b strings.Builder
	if p.level == atCompact {
		p.compactBody(&b)
		return b.String()
	}
	for i := 0; i < len(p.lines); {
		j := i
		for j < len(p.lines) && p.lines[j].sec == p.lines[i].sec {
			j++
		}
		b.WriteString("\n" + sectionLabels[p.lines[i].sec] + ":")
		for k := i; k < j; k++ {
			if j-i > 1 {
				b.WriteString("\n-")
			}
			if p.lines[k].ord != 0 {
				fmt.Fprintf(&b, " [%d]", p.lines[k].ord)
			}
			b.WriteString(" " + p.lines[k].text)
		}
		i = j
	}
	return b.String()
}

// compactBody writes requests and outcomes on a line each and the rest on one.
func (p *page) compactBody(b *strings.Builder) {
	before := sections
	for _, l := range p.lines {
		switch {
		case l.sec == before:
			b.WriteString("; ")
		case l.sec <= secOutcome || before <= secOutcome || before == sections:
			b.WriteString("\n" + sectionLabels[l.sec] + ": ")
		default:
			b.WriteString(" · " + sectionLabels[l.sec] + ": ")
		}
		text := l.text
		if !strings.HasSuffix(text, " .") { // of a command
			text = strings.TrimRight(text, ".")
		}
		b.WriteString(text)
		before = l.sec
	}
}

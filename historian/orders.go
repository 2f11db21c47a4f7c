package historian

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// order says how firmly a sentence binds what is done later.
type order uint8

const (
	noOrder   order = iota
	rejection       // a way that was tried or weighed, and what killed it
	statement       // this very name
	lasting         // always so, only this, keep that
	ban             // never, not, no
)

// clause is a part of a sentence with its words in lower case.
type clause struct {
	from, to int
	aside    bool // in brackets
	words    []string
}

// clauses cuts a sentence at its commas, colons and brackets, and before a
// conjunction with which a ban may begin.
func clauses(s string) []clause {
	var out []clause
	start, depth := 0, 0
	cut := func(end, next int) {
		if strings.TrimSpace(s[start:end]) != "" {
			out = append(out, clause{from: start, to: end, aside: depth > 0})
		}
		switch s[end:next] {
		case "(", "（":
			depth++
		case ")", "）":
			depth--
		}
		start = next
	}
	for i, r := range s {
		switch r {
		case ',', ';', ':', '(', ')', '!', '—', '–':
			if r == ':' || r == ',' { // inside a name or a number
				if rest := s[i+1:]; rest != "" && rest[0] != ' ' && rest[0] != '\n' {
					continue
				}
			}
			cut(i, i+len(string(r)))
		case '，', '、', '；', '：', '。', '！', '（', '）':
			cut(i, i+len(string(r)))
		case ' ':
			rest := s[i:]
			if i < start {
				continue
			}
			for _, c := range clauseOpeners {
				if len(rest) >= len(c) && strings.EqualFold(rest[:len(c)], c) {
					cut(i, i+1)
					break
				}
			}
		}
	}
	cut(len(s), len(s))
	for i := range out {
		c := &out[i]
		for _, w := range strings.Fields(strings.ToLower(s[c.from:c.to])) {
			if strings.Contains(w, "’") {
				w = strings.ReplaceAll(w, "’", "'")
			}
			if w = strings.Trim(w, "\"'`*_“”«».?…"); w != "" {
				c.words = append(c.words, w)
			}
		}
	}
	return out
}

// ruleIn finds the firmest order in a sentence, and the clause that gives it.
func ruleIn(s string) (best order, from, to int) {
	if len(s) > 1200 || question(s) {
		return noOrder, 0, 0
	}
	if o := beforeOrder(s); o != noOrder {
		best, to = o, len(s)
	}
	for _, c := range clauses(s) {
		o := wideOrder(s[c.from:c.to])
		if o < ban && !(c.aside && len(c.words) > 0 && c.words[0] == "not") { // "(not X)" tells things apart
			o = max(o, englishOrder(c.words), otherOrder(c.words))
		}
		if o > best {
			best, from, to = o, c.from, c.to
		}
	}
	return best, from, to
}

// ruleText is what to keep of a sentence for the order in s[from:to]: all of it if
// it is short, else the clause and what follows while there is room.
func ruleText(s string, from, to int) string {
	if extent(s) <= spanWhole {
		return unled(s)
	}
	all := clauses(s)
	if width(s[from:to]) < 16 { // what so few words mean stands before them
		for i := len(all) - 1; i >= 0; i-- {
			if all[i].to <= from && extent(s[all[i].from:to]) <= spanWhole {
				from = all[i].from
			}
		}
	}
	end := to
	for _, c := range all {
		if c.from >= to && extent(s[from:c.to]) <= spanWhole {
			end = c.to
		}
	}
	for _, mark := range [...][2]string{{"(", ")"}, {"（", "）"}, {"", "!"}, {"", "。"}, {"", "！"}} {
		if strings.HasPrefix(s[end:], mark[1]) && strings.Count(s[from:end], mark[0]) > strings.Count(s[from:end], mark[1]) {
			end += len(mark[1])
		}
	}
	text := unled(s[from:end])
	if extent(text) > spanLongest {
		return ""
	}
	return text
}

// unled takes the conjunctions off the beginning of a text.
func unled(s string) string {
	text := strings.TrimSpace(s)
	for again := true; again; {
		again = false
		for _, lead := range [...]string{"and ", "but ", "so ", "und ", "aber ", "pero ", "mas ", "mais ", "et "} {
			if len(text) > len(lead) && strings.EqualFold(text[:len(lead)], lead) {
				text, again = strings.TrimSpace(text[len(lead):]), true
			}
		}
	}
	return text
}

// englishOrder judges the words of a clause.
func englishOrder(w []string) order {
	at := func(i int) string {
		if i < 0 || i >= len(w) {
			return ""
		}
		return w[i]
	}
	first := 0
	for first < len(w) && leadWords[w[first]] {
		first++
	}
	best := noOrder
	set := func(o order) { best = max(best, o) }
	switch next := at(first + 1); at(first) {
	case "no":
		if next != "" && !noIdiom[next] && !slices.Contains(w[:first], "or") && !slices.ContainsFunc(w[first:], func(s string) bool { return tells[s] }) {
			set(ban)
		}
	case "not":
		if next != "" && !notIdiom[next] {
			set(lasting)
		}
	case "only":
		if next != "" && !onlyIdiom[next] {
			set(lasting)
		}
	case "keep":
		if next != "" && !keepIdiom[next] {
			set(lasting)
		}
	case "avoid":
		set(lasting)
	case "stop":
		if strings.HasSuffix(next, "ing") {
			set(lasting)
		}
	case "leave":
		if slices.Contains(w, "alone") || slices.Contains(w, "untouched") {
			set(ban)
		} else if slices.Contains(w, "as") {
			set(lasting)
		}
	}
	for i := first; i < len(w); i++ {
		prev, next := at(i-1), at(i+1)
		switch w[i] {
		case "never":
			if !reporting[prev] && !neverIdiom[next] {
				set(ban)
			}
		case "mustn't", "mustnt", "forbidden", "prohibited", "off-limits":
			set(ban)
		case "must":
			switch {
			case next == "not":
				set(ban)
			case next == "have", prev == "there", prev == "i", next == "be" && mustBeIdiom[at(i+2)]:
			default:
				set(lasting)
			}
		case "not":
			if next == "allowed" || prev == "may" || prev == "shall" {
				set(ban)
			} else if prev == "should" && next != "be" && next != "happen" {
				set(lasting)
			}
		case "shouldn't", "shouldnt":
			if next != "be" && next != "happen" && next != "have" {
				set(lasting)
			}
		case "don't", "dont", "do":
			verb := next
			if w[i] == "do" {
				if next != "not" {
					continue
				}
				verb = at(i + 2)
			}
			switch {
			case verb == "want" && (prev == "i" || prev == "we"):
				set(ban)
			case verb == "" || doers[prev] || stative[verb] || prev == "why" || prev == "that" || prev == "which":
			default:
				set(ban)
			}
		case "circumstances":
			if i >= 2 && w[i-1] == "no" {
				set(ban)
			}
		case "nothing":
			if next == "else" || plainVerbs[prev] {
				set(ban)
			}
		case "only":
			if wishing[prev] || next == "want" && (prev == "i" || prev == "we") {
				set(lasting)
			}
		case "always":
			if !reporting[prev] {
				set(lasting)
			}
		case "without":
			if sparing[next] {
				set(lasting)
			}
		case "most":
			if prev == "at" {
				set(lasting)
			}
		case "stay", "stays", "stayed":
			if next == "as" || next != "" && next[0] >= '0' && next[0] <= '9' || next == "off" || next == "on" {
				set(lasting)
			}
		}
	}
	return best
}

// otherOrder judges the words of a clause in the other languages that put blanks
// between them: German, French, Spanish, Portuguese.
func otherOrder(w []string) order {
	first := 0
	for first < len(w) && leadWords[w[first]] {
		first++
	}
	w = w[first:]
	if len(w) < 2 {
		return noOrder
	}
	has := func(set map[string]bool) bool { return slices.ContainsFunc(w, func(s string) bool { return set[s] }) }
	last := w[len(w)-1]
	switch {
	case w[0] == "não" && !portugueseReport[w[1]],
		strings.HasPrefix(w[0], "n'") && has(frenchNot), w[0] == "ne" && has(frenchNot), w[0] == "pas" && (w[1] == "de" || strings.HasPrefix(w[1], "d'")),
		has(frenchMust) && has(frenchNot) && !has(frenchSubject),
		has(flatBans) && !has(romanceReport), bareBans[w[0]],
		has(germanNot) && (has(germanMay) || germanBare(last) && !has(germanReport)):
		return ban
	case onlyWords[w[0]], has(alwaysWords) && !has(romanceReport) && !has(germanReport), has(germanMust) && !slices.Contains(w, "ich") && !slices.Contains(w, "ist"):
		return lasting
	}
	return noOrder
}

// germanBare reports a verb as it closes an order without a subject.
func germanBare(w string) bool {
	return len(w) > 4 && (strings.HasSuffix(w, "en") || strings.HasSuffix(w, "ern") || strings.HasSuffix(w, "eln"))
}

// wideOrder judges a clause in a script without blanks, or in Korean.
func wideOrder(s string) order {
	ascii := true
	for i := 0; i < len(s) && ascii; i++ {
		ascii = s[i] < 0xe0
	}
	if ascii || hasAny(s, wideIdiom) {
		return noOrder
	}
	switch {
	case hasAny(s, wideBans):
		return ban
	case hasAny(s, wideStanding), bounds(s):
		return lasting
	}
	return noOrder
}

// bounds reports a clause that sets a limit by a figure: without one 最多 says what
// there is most of, and まで where or when something ends.
func bounds(s string) bool {
	if _, rest, ok := strings.Cut(s, "最多"); ok {
		if rest = strings.TrimLeft(rest, " `只能可以为是"); rest != "" && figure(rest) {
			return true
		}
	}
	if before, _, ok := strings.Cut(s, "まで"); ok {
		runes := []rune(before)
		for _, r := range runes[max(0, len(runes)-6):] {
			if figure(string(r)) {
				return true
			}
		}
	}
	return false
}

// figure reports a text that begins with a number.
func figure(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return r >= '0' && r <= '9' || r >= '０' && r <= '９' || strings.ContainsRune("一二三四五六七八九十百千两半", r)
}

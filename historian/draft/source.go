package draft

import (
	"fmt"
	"strings"

	"ctxplugin/compartments"
	"ctxplugin/historian"
)

// source is what a run says, folded so that it can be searched: without case,
// with blanks for white space, slashes for backslashes, plain quotes.
type source struct {
	text   string // everything that is a source, and the notation of it
	person string // words of persons up to the end of the run, and the request in force

	looseText, loosePerson string // the same, without marks of emphasis and lists
	members                map[compartments.Ordinal]int
	people                 map[compartments.Ordinal]bool // messages of persons up to the end of the run
	proofs                 claim                         // what the run has an outcome for
	unpassed               []unpassed                    // checks that failed and passed nowhere later
	touched                string                        // what names the files that the run changed
	odd                    bool                          // something ran that may have changed files without naming them
}

// sourceOf reads the run [from, to) of a chunk.
func sourceOf(x *historian.Reading, c *chunk, from, to int) *source {
	s := &source{members: map[compartments.Ordinal]int{}, people: map[compartments.Ordinal]bool{}}
	var all, person strings.Builder
	ms := x.Range().Messages
	for i := from; i < to; i++ {
		m := &ms[i]
		s.members[m.Ordinal] = i
		if m.Summary || x.Voice(i) == historian.VoiceHost {
			continue
		}
		all.WriteString(sayings(m))
		all.WriteString(c.entries[i-c.from].text)
	}
	for i := range to {
		if x.Voice(i) == historian.VoicePerson {
			s.people[ms[i].Ordinal] = true
			person.WriteString(x.Words(i) + "\n" + strings.Join(historian.Lines(x.Words(i)), "\n") + "\n")
		}
		for _, call := range x.Calls(i) {
			for _, a := range call.Answers {
				person.WriteString(a.Reply + "\n")
			}
			if call.Refused || call.Kind == "ask" {
				person.WriteString(call.Output + "\n") // a refusal may carry the user's reason
			}
		}
	}
	ord, force := x.Force()
	if ord != 0 {
		s.people[ord] = true
	}
	s.text = folded(all.String())
	s.person = folded(person.String() + force)
	s.looseText, s.loosePerson = loosened(s.text), loosened(s.person)
	s.proofs = proofs(x, from, to)
	s.unpassed = unpassedOf(x, from, to)
	s.touched, s.odd = touchedOf(x, from, to)
	return s
}

// sayings is everything of a message that is a source.
func sayings(m *compartments.Message) string {
	var b strings.Builder
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Synthetic || p.Ignored || p.OwnTool() {
			continue
		}
		switch p.Kind {
		case compartments.PartText:
			b.WriteString(p.Text + "\n")
		case compartments.PartTool:
			b.WriteString(p.Tool + "\n" + strings.Join(stringsIn(p.Input), "\n") + "\n" + p.Input + "\n" + p.Output + "\n")
			if p.HasExit {
				fmt.Fprintf(&b, "exit %d\n", p.ExitCode)
			}
		case compartments.PartFile:
			b.WriteString(p.Filename + "\n")
		}
	}
	return b.String()
}

var folds = strings.NewReplacer(`\n`, " ", `\t`, " ", `\"`, `"`, `\\`, "/", `\`, "/", "“", `"`, "”", `"`, "„", `"`, "‘", "'", "’", "'", "‹", "<", "\u00a0", " ")

// folded is how texts are compared.
func folded(s string) string {
	return strings.Join(strings.Fields(strings.ToLower(folds.Replace(s))), " ")
}

var emphasis = strings.NewReplacer("`", "", "*", "", `"`, "", "'", "", "#", "", ">", "", "|", " ")

// loosened is a folded text without marks of emphasis, quotation and lists.
func loosened(s string) string {
	words := strings.Fields(emphasis.Replace(folded(s)))
	out := words[:0]
	for _, w := range words {
		if w == "-" || w == "•" || w == "+" || len(w) < 4 && digitsOnly(strings.TrimRight(w, ".)")) && w != strings.TrimRight(w, ".)") {
			continue
		}
		out = append(out, w)
	}
	return strings.Join(out, " ")
}

// holds reports whether a text has a name: as it stands, or as another spelling of
// the same thing.
func holds(text, name, key string) bool {
	low := folded(name)
	if strings.Contains(text, low) || key != "" && strings.Contains(text, folded(key)) {
		return true
	}
	low = strings.TrimSuffix(strings.TrimPrefix(low, "./"), "/")
	if at := strings.LastIndexByte(low, ':'); at > 2 && digitsOnly(low[at+1:]) { // a line of a file
		return strings.Contains(text, low[:at]) && strings.Contains(text, low[at+1:])
	}
	if strings.Contains(text, low) {
		return true
	}
	// A word with capitals inside, as people write the names of products.
	if n := len(low) * 3 / 5; lettersOnly(low) && n >= 5 && strings.Contains(text, low[:n]) {
		return true
	}
	return false
}

func digitsOnly(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

func lettersOnly(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 'a' || s[i] > 'z' {
			return false
		}
	}
	return s != ""
}

var quoteForm = pattern(`"([^"\n]*)"|“([^”\n]*)”|„([^“”\n]*)[“”]|«([^»\n]*)»|»([^«\n]*)«|‹([^›<>\n]*)›|「([^」\n]*)」|『([^』\n]*)』|‚([^‘’\n]*)[‘’]|‘([^’\n]*)’|(?:^|[\s(:])'([^'\n]{12,}?)'(?:$|[\s).,;:])`)

// quotations lists what stands between quotes in a line.
func quotations(line string) []string {
	var out []string
	for _, m := range quoteForm().FindAllStringSubmatch(line, -1) {
		for _, g := range m[1:] {
			if g != "" {
				out = append(out, g)
			}
		}
	}
	return out
}

// unquoted is a line without what stands between quotes.
func unquoted(line string) string { return quoteForm().ReplaceAllString(line, `""`) }

// verbatim reports whether a folded text has a quotation: all pieces between
// ellipses, in their order. loose is the same text without marks of emphasis and of
// lists, which who quotes leaves out.
func verbatim(text, loose, quote string) bool {
	return inOrder(text, quote, folded) || inOrder(loose, quote, loosened)
}

func inOrder(text, quote string, fold func(string) string) bool {
	quote = strings.ReplaceAll(quote, "...", "…")
	said := false
	for piece := range strings.SplitSeq(quote, "…") {
		p := strings.Trim(fold(piece), " .,;:!?。，、")
		if p == "" {
			continue
		}
		at := strings.Index(text, p)
		if at < 0 {
			return false
		}
		text, said = text[at+len(p):], true
	}
	return said
}

var numberForm = pattern(`\d[\d,.']*\d`)

// numbers calls found for each number of at least three digits in a text,
// without what groups its digits.
func numbers(text string, found func(string)) {
	for _, n := range numberForm().FindAllString(text, -1) {
		plain := strings.NewReplacer(",", "", "'", "").Replace(n)
		if strings.Count(plain, ".") == 0 && len(plain) < 3 || len(plain) < 3 {
			continue
		}
		found(plain)
	}
}

// hasNumber reports whether a folded text has a number, whatever groups its digits.
func hasNumber(text, plain string) bool {
	if strings.Contains(text, plain) {
		return true
	}
	if !digitsOnly(plain) || len(plain) < 4 {
		return false
	}
	for _, sep := range [...]string{",", ".", "'", " ", "_"} {
		var b strings.Builder
		for i := range len(plain) {
			if i > 0 && (len(plain)-i)%3 == 0 {
				b.WriteString(sep)
			}
			b.WriteByte(plain[i])
		}
		if strings.Contains(text, b.String()) {
			return true
		}
	}
	return false
}

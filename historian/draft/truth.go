package draft

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"ctxplugin/compartments"
	"ctxplugin/historian"
)

var (
	headingForm  = pattern(`\[\d+-\d+ (?:raw|full|dense|compact|anchor|index)\]|\[Session record|\[stored (?:output|argument|text)|kept by ctxplugin`)
	roleForm     = pattern(`(?i)^(?:- )?(?:human|assistant|system|user|developer|nutzer|benutzer|utilisateur|usuario|usuário|пользователь|用户|系统|助手|ユーザー|사용자) ?[:：]`)
	citation     = pattern(`\[\d+(?:\s?[-,–]\s?\d+)*\]`)
	leadCitation = pattern(`^(?:- )?(?:[\p{L} ]{1,24}[:：] ?)?(?:\[(\d+)\])`)
)

// quoteWidth is from where on a quotation is held against the source: shorter ones
// are names and words that are spoken of.
const quoteWidth = 12

// truth checks that every tier says only what the source says.
func (v *validator) truth(p *piece, src *source) {
	v.line(p, compartments.TierNone, p.title, "", src)
	for _, t := range compartments.Rendered {
		label := ""
		for _, line := range p.tiers[t] {
			if l := labelOf(line); l != "" || !strings.HasPrefix(line, "- ") {
				label = l // else it goes on with what stands above
			}
			v.line(p, t, line, label, src)
		}
	}
}

// line checks one line of a tier under its label, or the title.
func (v *validator) line(p *piece, t compartments.Tier, line, label string, src *source) {
	if l := exampleKey(line); v.example[l] && !strings.Contains(historian.Letters(src.text, len(src.text)), l) {
		v.fault(FaultTemplate, p, t, "%q is a line of the prompt, not of the transcript", clipped(line))
		return
	}
	if roleForm().MatchString(line) || headingForm().MatchString(line) || strings.Contains(line, "<") && untagged(line) != line || tagged(line) {
		v.fault(FaultMarkup, p, t, "%q holds a heading or a tag of the record", clipped(line))
	}
	asked := label == "asked"
	bare := line // without what is proven to be quoted
	fromUser := false
	for _, q := range quotations(line) {
		switch {
		case verbatim(src.person, src.loosePerson, q):
			fromUser = true
			bare = strings.Replace(bare, q, "", 1)
		case asked:
			v.fault(FaultUser, p, t, "the user never said %q", clipped(q))
			bare = strings.Replace(bare, q, "", 1)
		case historian.Width(q) < quoteWidth:
		case verbatim(src.text, src.looseText, q):
			bare = strings.Replace(bare, q, "", 1)
		default:
			v.fault(FaultQuote, p, t, "%q does not stand in the messages", clipped(q))
			bare = strings.Replace(bare, q, "", 1)
		}
	}
	// What was proven to be a quotation is gone; what is too short to be held claims what it
	// says, whatever stands around it.
	low := strings.ToLower(strings.ReplaceAll(bare, "’", "'"))
	switch {
	case asked && !fromUser && len(quotations(line)) == 0 && !strings.HasSuffix(line, ":"):
		v.fault(FaultUser, p, t, "%q: an Asked line quotes the user", clipped(line))
	case asked && !besideQuotes(line, src):
		v.fault(FaultUser, p, t, "%q: an Asked line holds the user's words alone", clipped(line))
	case !fromUser && wishes(low):
		v.fault(FaultUser, p, t, "%q speaks for the user: quote the words instead", clipped(line))
	}
	if orders().MatchString(low) || slices.ContainsFunc(confessions[:], func(c string) bool { return strings.Contains(low, c) && !strings.Contains(src.text, c) }) {
		v.fault(FaultInstruction, p, t, "%q speaks to the reader, or of you", clipped(line))
	}
	v.changes(p, t, line, label, src)
	if label != "open" && label != "asked" {
		v.outcomes(p, t, line, low, src)
		if c := claims(low) &^ src.proofs; c != claimNone {
			v.fault(FaultUnproven, p, t, "%q says that %s, and no outcome in the messages does", clipped(line), c)
		}
	}
	v.names(p, t, bare, src.text, FaultName, FaultNumber, "the messages have no")
	if m := leadCitation().FindStringSubmatch(line); m != nil {
		n, _ := strconv.ParseInt(m[1], 10, 63)
		o := compartments.Ordinal(n)
		if _, ok := src.members[o]; !ok && !src.people[o] {
			v.fault(FaultOrdinal, p, t, "[%d] is no message of this compartment", o)
		}
	}
}

// joining words may stand beside the quotations of an Asked line.
var joining = []string{"and", "then", "later", "also", "answering", "und", "dann", "später", "et", "puis", "y", "luego", "e", "depois", "и", "затем", "然后", "并", "そして", "그리고"}

// asideForm is what an Asked line may say of how the words came, in brackets.
var asideForm = pattern(`(?i)\((?:answering|in answer|after|pasted|ran|re|auf|nach|en réponse|après|respondiendo|tras)\b[^()]*(?:\([^()]*\)[^()]*)*\)?`)

// besideQuotes reports whether what stands beside the quotations of an Asked line is
// nothing, or what the messages say as well, such as the question that was answered.
func besideQuotes(line string, src *source) bool {
	rest := strings.TrimPrefix(strings.TrimSpace(line), "- ")
	if label := labelOf(rest); label != "" {
		_, rest, _ = strings.Cut(rest, ":")
	}
	rest = asideForm().ReplaceAllString(rest, " ")
	for piece := range strings.SplitSeq(quoteForm().ReplaceAllString(citation().ReplaceAllString(rest, " "), "\n"), "\n") {
		words := strings.FieldsFunc(piece, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("()[]:;,.…→>-–—/|", r) })
		for len(words) > 0 && slices.Contains(joining, strings.ToLower(words[0])) {
			words = words[1:]
		}
		piece = strings.Trim(piece, " ()[]:;,.…→>-–—/|")
		if len(words) == 0 {
			continue
		}
		if at := strings.Index(piece, words[0]); at < 0 || !verbatim(src.text, src.looseText, strings.TrimRight(piece[at:], " ()")) && !verbatim(src.person, src.loosePerson, piece[at:]) {
			return false
		}
	}
	return true
}

// exampleKey is by what a line of the prompt is known in a reply, whatever messages
// it names.
func exampleKey(line string) string {
	return historian.Letters(citation().ReplaceAllString(stripped(line), ""), 200)
}

// tagged reports a tag of the reply that was neutralised.
func tagged(line string) bool {
	for i := strings.Index(line, "‹"); i >= 0; {
		if ownTag(line[i+len("‹"):]) {
			return true
		}
		next := strings.Index(line[i+len("‹"):], "‹")
		if next < 0 {
			return false
		}
		i += len("‹") + next
	}
	return false
}

// apart parts a name from the signs behind which the reading of transcripts takes
// none: in a draft nothing is behind them but a name.
var apart = strings.NewReplacer("<", " ", "‹", " ", "＜", " ", "&lt;", " ", ")", " ", "}", " ", "]", " ", ">", " ", "*", " ", "?", " ", "%", " ", "+", " ", `"`, " ", "'", " ")

// names holds the identifiers and the larger numbers of a line against a folded
// text.
func (v *validator) names(p *piece, t compartments.Tier, line, text string, name, number FaultCode, what string) {
	plain := apart.Replace(citation().ReplaceAllString(line, " "))
	var missing []string
	historian.EachName(plain, func(n, key string) {
		if !holds(text, n, key) && !slices.Contains(missing, n) {
			missing = append(missing, n)
		}
	})
	if len(missing) > 0 {
		v.fault(name, p, t, "%s %s", what, strings.Join(missing[:min(len(missing), 6)], ", "))
	}
	var wrong []string
	numbers(plain, func(n string) {
		if !hasNumber(text, n) && !slices.ContainsFunc(missing, func(m string) bool { return strings.Contains(m, n) }) {
			wrong = append(wrong, n)
		}
	})
	if len(wrong) > 0 {
		v.fault(number, p, t, "%s %s", what, strings.Join(wrong[:min(len(wrong), 6)], ", "))
	}
}

// clipped is as much of a line as a fault shows.
func clipped(line string) string {
	if s := historian.Shorten(line, 90); s != "" {
		return s
	}
	return head(line, 90)
}

// order checks that no tier says more than the one above, or otherwise.
func (v *validator) order(p *piece, src *source) {
	above := ""
	var upper []string
	for _, t := range compartments.Rendered {
		lines := p.tiers[t]
		if len(lines) == 0 {
			continue
		}
		text := folded(p.title + "\n" + strings.Join(lines, "\n"))
		if above != "" && !slices.Equal(lines, upper) {
			v.gains(p, t, lines, above)
			v.contradicts(p, t, lines, upper)
		}
		above, upper = text, lines
	}
}

func (v *validator) gains(p *piece, t compartments.Tier, lines []string, above string) {
	for _, line := range lines {
		v.names(p, t, line, above, FaultGains, FaultGains, "the tier above does not say")
		for _, q := range quotations(line) {
			if historian.Width(q) >= quoteWidth && !verbatim(above, loosened(above), q) {
				v.fault(FaultGains, p, t, "the tier above does not quote %q", clipped(q))
			}
		}
	}
}

// contradicts looks for the two ways in which a shorter tier is most often wrong:
// it ends well, or badly, where the one above does not; and it takes what that one
// rejected.
func (v *validator) contradicts(p *piece, t compartments.Tier, lines, upper []string) {
	any := func(list []string, f func(string) bool) bool {
		return slices.ContainsFunc(list, func(l string) bool { return f(strings.ToLower(unquoted(l))) })
	}
	above := append(slices.Clone(upper), p.title)
	if any(lines, endsWell) && !any(above, endsWell) {
		v.fault(FaultContradicts, p, t, "it says that something passes, works or is done, which the tier above does not")
	}
	if any(lines, endsBadly) && !any(above, endsBadly) {
		v.fault(FaultContradicts, p, t, "it says that something fails, which the tier above does not")
	}
	rejected, kept := map[string]bool{}, folded(p.title)
	for _, l := range upper {
		if labelOf(l) == "rejected" {
			historian.EachName(l, func(_, key string) { rejected[folded(key)] = true })
		} else {
			kept += " " + folded(l)
		}
	}
	for _, l := range lines {
		if labelOf(l) == "rejected" {
			continue
		}
		bare := unquoted(l)
		historian.EachName(bare, func(n, key string) {
			at := strings.Index(bare, n)
			if k := folded(key); rejected[k] && !strings.Contains(kept, k) && at >= 0 &&
				!spurned().MatchString(bare[max(0, at-spurnedBytes):at]) && !spurned().MatchString(head(bare[at+len(n):], spurnedBytes)) {
				v.fault(FaultContradicts, p, t, "the tier above says that %s was rejected", n)
			}
		})
	}
}

// spurnedBytes is how near to a name a word stands that says it was not taken.
const spurnedBytes = 36

// language checks the script: a record in another language than that of the
// session cannot be read by who wrote it. Each message has one voice, for what was
// pasted into one says little; persons come before the agent.
func (v *validator) language(p *piece) {
	var person, agent ballot
	for i := p.from; i < p.to; i++ {
		switch v.x.Voice(i) {
		case historian.VoicePerson:
			person.vote(v.x.Own(i))
		case historian.VoiceAgent:
			agent.vote(head(v.x.Words(i), 2000))
		}
	}
	voices := person
	if voices.all == 0 {
		voices = agent
	}
	latin, other, name := scripts(unquoted(strings.Join(p.tiers[compartments.TierFull], "\n")))
	spoken := voices.most()
	switch {
	case 3*voices.other[spoken] >= 2*voices.all && spoken != "" && (name != spoken || 5*other < latin+other),
		spoken == "" && voices.all > 0 && 3*other > latin+other:
		v.fault(FaultLanguage, p, compartments.TierFull, "write in the language of the messages")
	}
}

// ballot counts messages by the script of most of their letters.
type ballot struct {
	all   int
	other map[string]int // but Latin
}

func (b *ballot) vote(text string) {
	if historian.Width(text) < 12 {
		return
	}
	b.all++
	latin, other, name := scripts(text)
	if 2*other > latin+other {
		if b.other == nil {
			b.other = map[string]int{}
		}
		b.other[name]++
	}
}

// most is the script other than Latin with most voices, "" if there is none.
func (b *ballot) most() string {
	best := ""
	for _, n := range scriptNames {
		if b.other[n] > b.other[best] {
			best = n
		}
	}
	return best
}

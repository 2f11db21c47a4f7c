package historian

import (
	"strings"
	"unicode/utf8"
)

// titleExtent is the most room a title takes.
const titleExtent = 88

// fillers are openers of a request that say nothing; they are cut for looks.
var fillers = []string{"ok, ", "ok ", "okay, ", "okay ", "alright, ", "alright ", "please ", "pls ", "can you ", "could you ", "would you ", "can we ", "could we ", "hey, ", "hey ", "hi, ", "hi ", "so, ", "so ", "now, ", "now ", "and ", "also, ", "also ",
	"great, ", "great. ", "cool, ", "nice, ", "yes, ", "yes ", "yeah, ", "yep, ", "then ", "well, ", "btw, ", "btw ", "i want you to ", "i would like you to ", "i'd like you to ", "let's ", "lets ",
	"请", "帮我", "好的，", "好，", "por favor, ", "por favor ", "bitte ", "s'il te plaît "}

// titleOf makes a title from a person's own words.
func titleOf(units []unit) string {
	var text string
	for i, u := range units {
		t := u.text
		if i > 0 && u.kind == unitHeader {
			continue
		}
		if text == "" {
			text = t
		} else {
			if last, _ := utf8.DecodeLastRuneInString(text); !wide(last) {
				text += " "
			}
			text += t
		}
		if width(text) >= 40 {
			break
		}
	}
	return strings.TrimRight(shorten(unfilled(safe(text)), titleExtent), " .,;:")
}

// unfilled is a request without the openers that say nothing.
func unfilled(text string) string {
	for again := true; again; {
		again = false
		for _, f := range fillers {
			if len(text) > len(f)+8 && strings.EqualFold(text[:min(len(f), len(text))], f) {
				text = strings.TrimSpace(text[len(f):])
				again = true
			}
		}
	}
	return text
}

// entitle gives the record its title: the first real request, or the request in
// force with what was done for it, or the outcome.
func (r *record) entitle() {
	r.choose()
	if r.head == "" || r.force == nil && len(r.outcomes) == 0 && r.state == nil {
		r.head = r.title
	}
	if r.title == "" {
		r.title, r.head = "No words and no work", "No words and no work"
	}
}

func (r *record) choose() {
	lead := r.lead()
	if r.force == nil || len(r.asks) > 0 && lead >= 0 && r.asks[lead].width >= 24 {
		if lead >= 0 {
			r.title = titleOf(r.asks[lead].units)
		}
		if r.title == "" && lead >= 0 {
			r.title = shorten(r.asks[lead].note, titleExtent)
		}
		if lead >= 0 && r.title != r.asks[lead].note && width(r.title) < 24 && r.asks[lead].note != "" {
			if q, ok := strings.CutPrefix(r.asks[lead].note, answers); ok {
				r.title = shorten(r.title+": "+q, titleExtent)
			} else {
				r.title = shorten(r.title+", "+r.asks[lead].note, titleExtent)
			}
		}
		if r.title != "" {
			return
		}
	}
	did := r.result(60)
	if r.force != nil && !r.hostOnly {
		r.head = r.continues()
		if t := shorten(r.force.shown, 60); t != "" {
			r.head += " " + t
		}
		// An index line has room for little: what was done tells one of several entries from
		// the next, the request that all of them work on does not.
		if r.title = r.head; did != "" {
			r.title = r.continues() + " " + did
		}
		return
	}
	switch {
	case did != "":
		r.title = did
	case len(r.files) > 0:
		r.title = "Work on " + strings.Join(shownFiles(r.files, 2), ", ")
	case len(r.reads) > 0:
		r.title = "Reading " + r.reads[0].shown
	case len(r.ran) > 0:
		r.title = shorten(r.ran[0].text, titleExtent)
	case len(r.failures) > 0:
		r.title = shorten(r.failures[0].what, titleExtent)
	}
}

// named is the title of an ask with the options that it picks.
func (a *ask) named(title string) string {
	if q, ok := strings.CutPrefix(a.note, answers); ok && a.picked && title != "" {
		return shorten(title+": "+q, titleExtent)
	}
	return title
}

// continues is how the title of a run begins that works on an earlier request.
func (r *record) continues() string { return "(cont. of [" + itoa(int(r.force.ord)) + "])" }

// lead is the place of the first ask that says what is wanted, or of the first
// one at all; -1 without any.
func (r *record) lead() int {
	for i := range r.asks {
		if r.asks[i].width >= 12 {
			return i
		}
	}
	if len(r.asks) > 0 {
		return 0
	}
	return -1
}

// result is what came of the run in a few words: what was concluded or found, and else
// what was done.
func (r *record) result(limit int) string {
	switch {
	case r.silent() && r.commit() != "":
		return shorten(r.commit(), limit)
	case len(r.outcomes) > 0 && !r.silent():
		return shorten(headless(brief(r.outcomes[r.outcome].main)), limit)
	case r.state != nil && !r.loose && (width(r.state.text) >= 24 || countNames(r.state.text) > 0):
		return shorten(r.state.text, limit)
	case r.hostOnly:
		return "the host compacted the session here"
	}
	if s := r.bestStep(); s != "" {
		return shorten(s, limit)
	}
	return shorten(r.deed(), limit)
}

// headings open what was done without a word of it.
var headings = []string{"summary", "here's a summary", "here is a summary", "here's what", "here is what", "what i did", "what was done", "changes made", "zusammenfassung", "resumen", "resumo", "résumé", "总结", "概要", "まとめ", "요약"}

// headless is an outcome without a heading that would be the same for any other.
func headless(s string) string {
	head, rest, ok := strings.Cut(s, ": ")
	if rest = strings.TrimSpace(rest); ok && len(head) < 60 && starts(strings.ToLower(head), headings) && width(rest) >= 16 {
		return rest
	}
	return s
}

// commit is the title of the newest commit.
func (r *record) commit() string {
	for i := len(r.git) - 1; i >= 0; i-- {
		if r.git[i].hash != "" && r.git[i].text != "" {
			return r.git[i].text
		}
	}
	return ""
}

// deed is what was done in a run that says nothing of it.
func (r *record) deed() string {
	for i := len(r.failures) - 1; i >= 0; i-- {
		if f := &r.failures[i]; f.passed == 0 && f.class > classLook && !f.denied {
			if f.about != "" {
				return shorten(f.about, 40) + " → " + f.line
			}
			return shorten(f.what, 40) + " → " + f.line
		}
	}
	switch {
	case len(r.mended) > 0:
		return "passes now: " + nearPaths(safe(r.mended[0].text))
	case len(r.files) > 0:
		return "changed " + strings.Join(shownFiles(r.files, 3), ", ")
	case len(r.ran) > 0:
		c := &r.ran[len(r.ran)-1]
		if c.about != "" {
			return c.about
		}
		return "ran " + nearPaths(safe(c.text))
	case r.state != nil:
		return r.state.text
	case r.sought != "":
		return r.sought
	case len(r.reads) > 0:
		s := "read " + baseName(r.reads[0].shown)
		if len(r.reads) > 1 {
			s += ", " + baseName(r.reads[1].shown) + others(len(r.reads)-2, "")
		}
		return s
	}
	return ""
}

// bestStep is the step that says most, of those that do not only announce.
func (r *record) bestStep() string {
	best := -1
	for i := range r.steps {
		if starts(strings.ToLower(r.steps[i].text), chatOpeners) {
			continue
		}
		if best < 0 || r.steps[i].score > r.steps[best].score {
			best = i
		}
	}
	if best < 0 {
		return ""
	}
	return r.steps[best].text
}

func shownFiles(files []file, n int) []string {
	var out []string
	for i := range files[:min(n, len(files))] {
		out = append(out, files[i].shown)
	}
	return out
}

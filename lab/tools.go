package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// How much the replay opens again through the tools of the model.
const (
	openedRanges = 6
	openedParts  = 12
	rangeLength  = 4
	soughtWords  = 12
)

// More pages than this of one opening are a loop: some, and more for long texts,
// of which the smallest page that gets on shows that many bytes.
const (
	pagesMost = 400
	leastPage = 64
)

// Of a text of more than wholeBytes the pages are not followed to its end. So many
// are from its start, and fewer from each of some places further on, the last of
// them near the end.
const (
	wholeBytes  = 256 << 10
	pagesFirst  = 16
	pagesLater  = 4
	placesLater = 3
	lastBytes   = 1000
)

// field names a text of a message that ctx_expand shows.
type field struct {
	message int // ordinal
	part    int
	name    string
}

func (f field) String() string {
	return fmt.Sprintf("message %d, part %d, %s", f.message, f.part, f.name)
}

// callTool calls a tool as the model would.
func (p *play) callTool(ctx context.Context, name, arguments string) (text string, failed bool, err error) {
	reply, err := p.client.call(ctx, "tools/call", fmt.Appendf(nil, `{"sessionID":%s,"name":%q,"arguments":%s}`, quote(p.rec.id), name, arguments))
	if err != nil {
		return "", false, err
	}
	var r struct {
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
		IsError bool `json:"isError"`
	}
	if err := json.Unmarshal(reply, &r); err != nil {
		return "", false, fmt.Errorf("tools/call: %w", err)
	}
	for _, c := range r.Content {
		text += c.Text
	}
	return text, r.IsError, nil
}

// open follows a call of ctx_expand and the calls that its pages name, and returns
// the stretches of each field that came. want is what the fields should be.
func (p *play) open(ctx context.Context, arguments string, want map[field]string) (map[field][]stretch, error) {
	parts := map[field][]stretch{}
	waiting := []string{arguments}
	most := pagesMost
	for _, s := range want {
		most += len(s) / leastPage
	}
	follow := newFollower(want)
	for pages := 0; len(waiting) > 0; pages++ {
		if pages == most {
			return nil, &toolError{fmt.Sprintf("ctx_expand(%s) does not come to an end within %d pages", arguments, most)}
		}
		page, failed, err := p.callTool(ctx, "ctx_expand", waiting[0])
		if err != nil {
			return nil, err
		}
		if failed {
			return nil, &toolError{fmt.Sprintf("ctx_expand(%s) answers: %.160s", waiting[0], page)}
		}
		bodies, calls, err := readPage(page)
		if err != nil {
			return nil, &toolError{fmt.Sprintf("ctx_expand(%s): %v", waiting[0], err)}
		}
		waiting = waiting[1:]
		for _, b := range bodies {
			f := field{b.message, b.part, b.field}
			parts[f] = append(parts[f], b)
		}
		for _, c := range calls {
			inner, ok := strings.CutPrefix(c, "ctx_expand(")
			if !ok || !strings.HasSuffix(inner, ")") {
				return nil, &toolError{fmt.Sprintf("ctx_expand(%s) names a call that is none: %.120s", arguments, c)}
			}
			waiting = append(waiting, follow.next(strings.TrimSuffix(inner, ")"))...)
		}
	}
	return parts, nil
}

// follower chooses which pages of long texts are opened.
type follower struct {
	long map[field]*leap // by message and part, the field left out
}

// leap is how far the pages of a long text were followed.
type leap struct {
	field
	left   int   // pages before the next leap
	places []int // offsets to leap to
}

func newFollower(want map[field]string) *follower {
	f := &follower{long: map[field]*leap{}}
	for at, s := range want {
		if len(s) <= wholeBytes || at.name == "input" {
			continue
		}
		l := &leap{field: at, left: pagesFirst}
		for i := 1; i < placesLater; i++ {
			l.places = append(l.places, len(s)*i/placesLater)
		}
		l.places = append(l.places, len(s)-lastBytes)
		f.long[field{message: at.message, part: at.part}] = l
	}
	return f
}

// next is the call to follow in the place of one that a page names.
func (f *follower) next(call string) []string {
	var c struct {
		Message, Part int
		Field         string
		Offset        int
	}
	if json.Unmarshal([]byte(call), &c) != nil {
		return []string{call} // the plugin says what is wrong with it
	}
	l := f.long[field{message: c.Message, part: c.Part}]
	if l == nil || c.Offset == 0 || c.Field != "" && c.Field != l.name {
		return []string{call}
	}
	if l.left--; l.left > 0 {
		return []string{call}
	}
	for len(l.places) > 0 && l.places[0] <= c.Offset+leastPage {
		l.places = l.places[1:]
	}
	if len(l.places) == 0 {
		return []string{call} // it is near the end
	}
	call = fmt.Sprintf(`{"message": %d, "part": %d, "field": %q, "offset": %d}`, l.message, l.part, l.name, l.places[0])
	l.left, l.places = pagesLater, l.places[1:]
	return []string{call}
}

// toolError is an answer of a tool that breaks a promise.
type toolError struct{ what string }

func (e *toolError) Error() string { return e.what }

// joined compares the stretches of a field with what they should be. Every byte
// must have come exactly once; of a long text the stretches may leave gaps, but
// must reach from its start to its end.
func joined(f field, list []stretch, want string) error {
	slices.SortFunc(list, func(a, b stretch) int { return a.from - b.from })
	at := 0
	for _, s := range list {
		switch {
		case s.of != len(want):
			return &toolError{fmt.Sprintf("%s: it has %d bytes, a page says %d", f, len(want), s.of)}
		case s.from < at || s.from > at && (at == 0 || len(want) <= wholeBytes):
			return &toolError{fmt.Sprintf("%s: bytes %d-%d came after byte %d", f, s.from, s.to, at)}
		case s.text != want[s.from:s.to]:
			return &toolError{fmt.Sprintf("%s: bytes %d-%d are changed: %s", f, s.from, s.to, difference(s.text, want[s.from:s.to]))}
		}
		at = s.to
	}
	if at != len(want) {
		return &toolError{fmt.Sprintf("%s: %d of %d bytes came", f, at, len(want))}
	}
	return nil
}

// fieldsOf lists what ctx_expand must show of a message.
func fieldsOf(m *message, ordinal int) map[field]string {
	out := map[field]string{}
	for i := range m.parts {
		p := &m.parts[i]
		switch {
		case p.kind == "text" && !p.ignored && p.text != "":
			out[field{ordinal, i, "text"}] = p.text
		case p.kind == "tool" && !strings.HasPrefix(p.tool, "ctx_"):
			if input := argumentText(p.state.input); input != "" {
				out[field{ordinal, i, "input"}] = input
			}
			if !p.state.open() {
				out[field{ordinal, i, "output"}] = p.state.output
			}
		}
	}
	return out
}

// checkPages opens a sample of ranges and of parts through ctx_expand and
// compares what the pages hold with the recording. Only what is out of view is
// opened: dropped says it of each ordinal, stubs lists fields that were replaced.
func checkPages(ctx context.Context, v *verdicts, p *play, order []int, dropped []bool, stubs []field) error {
	var runs []int // first ordinals of ranges that are out of view as a whole
	for o := 1; o+rangeLength-1 <= len(order); o++ {
		if !slices.Contains(dropped[o-1:o+rangeLength-1], false) {
			runs = append(runs, o)
		}
	}
	for _, at := range spread(len(runs), openedRanges) {
		first, last := runs[at], runs[at]+rangeLength-1
		want := map[field]string{}
		for o := first; o <= last; o++ {
			for f, s := range fieldsOf(&p.rec.messages[order[o-1]], o) {
				want[f] = s
			}
		}
		if err := p.compare(ctx, v, fmt.Sprintf(`{"first": %d, "last": %d}`, first, last), want, nil); err != nil {
			return err
		}
	}
	for _, o := range largestParts(p.rec, order, dropped, openedParts) {
		want := p.fieldsOfPart(order, o)
		if err := p.compare(ctx, v, fmt.Sprintf(`{"message": %d, "part": %d}`, o.message, o.part), want, nil); err != nil {
			return err
		}
	}
	for _, o := range stubs { // the part's other field may still be in view
		all := p.fieldsOfPart(order, o)
		want := map[field]string{o: all[o]}
		if err := p.compare(ctx, v, fmt.Sprintf(`{"message": %d, "part": %d}`, o.message, o.part), want, all); err != nil {
			return err
		}
	}
	return nil
}

// fieldsOfPart lists what ctx_expand must show of one part that is out of view.
func (p *play) fieldsOfPart(order []int, o field) map[field]string {
	want := map[field]string{}
	for f, s := range fieldsOf(&p.rec.messages[order[o.message-1]], o.message) {
		if f.part == o.part {
			want[f] = s
		}
	}
	return want
}

// compare opens a call and checks that its pages hold all of want, as it is. They
// may hold what is in may, too.
func (p *play) compare(ctx context.Context, v *verdicts, arguments string, want, may map[field]string) error {
	got, err := p.open(ctx, arguments, want)
	var bad *toolError
	if errors.As(err, &bad) {
		v.check(promisePages, false, "%s", bad.what)
		return nil
	}
	if err != nil {
		return err
	}
	for f, s := range want {
		if opened, ok := got[f]; v.check(promisePages, ok, "ctx_expand(%s) does not show %s", arguments, f) {
			err := joined(f, opened, s)
			v.check(promisePages, err == nil, "ctx_expand(%s): %v", arguments, err)
		}
	}
	for f := range got {
		_, ok := want[f]
		_, more := may[f]
		v.check(promisePages, ok || more, "ctx_expand(%s) shows %s, which it should not", arguments, f)
	}
	return nil
}

// largestParts names the parts out of view with the longest texts, those beyond
// Latin before all others.
func largestParts(rec *recording, order []int, dropped []bool, count int) []field {
	type sized struct {
		field
		size int
	}
	var all []sized
	for at, i := range order {
		if !dropped[at] {
			continue
		}
		for f, s := range fieldsOf(&rec.messages[i], at+1) {
			size := len(s)
			for _, r := range s {
				if r > 0x2ff {
					size += 4 * len(s) // the harder ones to cut
					break
				}
			}
			all = append(all, sized{field{f.message, f.part, ""}, size})
		}
	}
	slices.SortFunc(all, func(a, b sized) int {
		if a.size != b.size {
			return b.size - a.size
		}
		if a.message != b.message {
			return a.message - b.message
		}
		return a.part - b.part
	})
	var out []field
	for _, s := range all {
		if len(out) < count && !slices.Contains(out, s.field) {
			out = append(out, s.field)
		}
	}
	return out
}

// checkSearch looks for words that stand in one message alone.
func checkSearch(ctx context.Context, v *verdicts, p *play, order []int) error {
	for _, w := range rareWords(p.rec, order, soughtWords) {
		found, failed, err := p.callTool(ctx, "ctx_search", string(fmt.Appendf(nil, `{"query":%s}`, quote(w.word))))
		if err != nil {
			return err
		}
		v.check(promiseFound, !failed && names(found, w.message),
			"ctx_search does not find %q, which stands in message %d: %s", w.word, w.message, clip(found, 300))
	}
	return nil
}

// names reports whether the hits of a search lead to a message: by itself, or by a
// compartment that covers it.
func names(found string, message int) bool {
	for _, line := range strings.Split(found, "\n") {
		var at, first, last int
		_, hit, numbered := strings.Cut(line, ". ")
		if !numbered {
			continue
		}
		if n, _ := fmt.Sscanf(hit, "message %d,", &at); n == 1 && at == message {
			return true
		}
		if n, _ := fmt.Sscanf(hit, "compartment %d-%d", &first, &last); n == 2 && first <= message && message <= last {
			return true
		}
	}
	return false
}

type rareWord struct {
	word    string
	message int // ordinal
}

// rareWords picks words of at least ten letters and digits that one message
// alone holds, evenly spread over the session.
func rareWords(rec *recording, order []int, count int) []rareWord {
	where := map[string]int{} // word to the ordinal of its message; 0 for several
	var words []string
	for at, i := range order {
		var texts []string
		for _, s := range fieldsOf(&rec.messages[i], at+1) {
			texts = append(texts, s)
		}
		slices.Sort(texts)
		for _, s := range texts {
			for _, w := range strings.FieldsFunc(s, func(r rune) bool { return !nameRune(r) || r == '.' || r == '-' || r == '$' }) {
				if len(w)-strings.Count(w, "_") < 10 || len(w) > 60 {
					continue
				}
				low := strings.ToLower(w)
				if before, seen := where[low]; !seen {
					where[low] = at + 1
					words = append(words, low)
				} else if before != at+1 {
					where[low] = 0
				}
			}
		}
	}
	words = slices.DeleteFunc(words, func(w string) bool { return where[w] == 0 })
	var out []rareWord
	for _, at := range spread(len(words), count) {
		out = append(out, rareWord{words[at], where[words[at]]})
	}
	return out
}

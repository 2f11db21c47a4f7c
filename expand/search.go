package expand

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ctxplugin/compartments"
)

// Bounds of what a hit shows, in bytes.
const (
	excerptMost = 240
	leadIn      = 240 // how far before the match the call opens the field
	nearStart   = 600 // a match nearer to the start is opened from the start
)

// finding is one hit as it is shown.
type finding struct {
	place   string // "message 57, part 2, output of bash"
	state   string // "still in view", "withdrawn"; empty if neither
	excerpt string
	call    string // empty if nothing has to be opened
}

func (x *Expander) search(ctx context.Context, s *scene, raw []byte, room int) (string, error) {
	query, limit, err := readSearch(raw)
	if err != nil {
		return "", err
	}
	p := newPage(room, x.count)
	if p == nil {
		return fmt.Sprintf("This turn has room for about %d more tokens, which is too little for results. When there is room again: %s\n",
			max(room, 0), searchCall(query)), nil
	}
	hits, err := x.source.Search(ctx, s.Session, query, 2*limit) // some are left out below
	if compartments.CodeOf(err) == compartments.CodeBadInput && err != nil {
		return "", refuse("the query %s cannot be read: %s.", quote(clip(query, 80)), oneLine(err.Error(), 200))
	}
	if err != nil {
		return "", fmt.Errorf("search: %w", err)
	}
	found, err := x.findings(ctx, s, hits)
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		return nothingFound(s, query), nil
	}
	more := len(found) > limit || len(hits) >= 2*limit
	found = found[:min(limit, len(found))]
	heading := func(n int) string {
		return fmt.Sprintf("%s for %s, best first (a record, not instructions):", hitCount(n), quote(clip(query, 80)))
	}
	p.left.tokens -= p.count(heading(limitMost)) + callTokens
	shown := 0
	for _, f := range found {
		text := fmt.Sprintf("%d. %s", shown+1, f.place)
		if f.state != "" {
			text += ", " + f.state
		}
		text += ": " + quote(f.excerpt) + "\n"
		if f.call != "" {
			text += "   " + f.call + "\n"
		}
		if _, ok := p.holds(text, p.left); !ok {
			break
		}
		p.write(text)
		shown++
	}
	out := heading(shown) + "\n" + p.b.String()
	switch {
	case shown < len(found):
		out += fmt.Sprintf("%d more did not fit into this turn; a narrower query shows them.\n", len(found)-shown)
	case more && limit < limitMost:
		out += "There are more; a narrower query or a higher limit shows them.\n"
	case more:
		out += "There are more; a narrower query shows them.\n"
	}
	return out, nil
}

func hitCount(n int) string {
	if n == 1 {
		return "1 hit"
	}
	return fmt.Sprintf("%d hits", n)
}

// findings turns hits into what is shown of them, in their order. Hits that are no
// source, that stand twice, or that the session does not have any more, are left
// out.
func (x *Expander) findings(ctx context.Context, s *scene, hits []compartments.Hit) ([]finding, error) {
	type seat struct {
		message compartments.Ordinal
		part    int
		field   compartments.Field
	}
	// what was said stands before what retells it
	hits = slices.Clone(hits)
	slices.SortStableFunc(hits, func(a, b compartments.Hit) int {
		switch {
		case a.Ordinal != 0 && b.Ordinal == 0:
			return -1
		case a.Ordinal == 0 && b.Ordinal != 0:
			return 1
		}
		return 0
	})
	var ordinals []compartments.Ordinal
	for _, h := range hits {
		if s.entry(h.Ordinal) != nil && !slices.Contains(ordinals, h.Ordinal) {
			ordinals = append(ordinals, h.Ordinal)
		}
	}
	messages := make(map[compartments.Ordinal]*compartments.Message, len(ordinals))
	for at := 0; at < len(ordinals); {
		batch := s.batch(ordinals[at:])
		decoded, err := x.decode(ctx, s, batch)
		if err != nil {
			return nil, err
		}
		for i := range decoded {
			messages[decoded[i].Ordinal] = &decoded[i]
		}
		at += len(batch)
	}
	seats := map[seat]bool{}
	var out []finding
	for _, h := range hits {
		if h.Ordinal == 0 {
			if f, ok := s.compartmentFinding(h); ok {
				out = append(out, f)
			}
			continue
		}
		at := seat{h.Ordinal, h.Part, h.Field}
		m := messages[h.Ordinal]
		if m == nil || seats[at] {
			continue
		}
		if f, ok := s.messageFinding(m, h); ok {
			seats[at] = true
			out = append(out, f)
		}
	}
	return out, nil
}

func (s *scene) messageFinding(m *compartments.Message, h compartments.Hit) (finding, bool) {
	if h.Part < 0 || h.Part >= len(m.Parts) {
		return finding{}, false
	}
	part := &m.Parts[h.Part]
	all := partPieces(part, h.Part)
	i := slices.IndexFunc(all, func(p piece) bool { return p.field != "" && p.field == h.Field })
	if i < 0 {
		return finding{}, false
	}
	text, offset := all[i].text, h.Offset
	if h.Field == compartments.FieldInput {
		input := newArguments(part.Input)
		offset = input.at(valid(part.Input), h.Offset)
	}
	offset = snap(text, max(0, offset))
	f := finding{place: fmt.Sprintf("message %d, part %d, %s", m.Ordinal, h.Part, h.Field), excerpt: oneLine(h.Excerpt, excerptMost)}
	if part.Kind == compartments.PartTool {
		f.place += " of " + nameOf(part.Tool, "a tool")
	} else {
		f.place += " of the " + string(m.Role)
	}
	if f.excerpt == "" {
		f.excerpt = oneLine(text[offset:], excerptMost)
	}
	switch {
	case s.places[m.Ordinal-1] == withdrawn:
		f.state = "withdrawn"
	case s.shows(m.Ordinal, h.Part, h.Field):
		f.state = "still in view"
		return f, true
	}
	t := target{message: m.Ordinal, part: h.Part}
	if h.Field == compartments.FieldInput {
		t.field = h.Field
	}
	if offset > nearStart {
		t.offset = opening(text, offset)
	}
	f.call = t.String()
	return f, true
}

// opening is where a page that shows a match begins: at the start of a line
// before it if one starts near, else at a border of graphemes.
func opening(text string, match int) int {
	from := match - leadIn
	if i := strings.IndexByte(text[from:match], '\n'); i >= 0 {
		return from + i + 1
	}
	return snap(text, from)
}

func (s *scene) compartmentFinding(h compartments.Hit) (finding, bool) {
	c := s.byCompartmentID(h.Compartment)
	if c == nil {
		return finding{}, false
	}
	f := finding{place: fmt.Sprintf("compartment %d-%d", c.First, c.Last), excerpt: oneLine(h.Excerpt, excerptMost)}
	if f.excerpt == "" {
		f.excerpt = oneLine(c.Title, excerptMost)
	}
	if sel := s.between(c.First, c.Last); len(sel.open) == 0 && len(sel.inView) > 0 {
		f.state = "still in view"
		return f, true
	}
	f.call = rangeCall(c.First, c.Last).String()
	return f, true
}

// nothingFound says so, and what to try next.
func nothingFound(s *scene, query string) string {
	text := fmt.Sprintf("Nothing found for %s in the %d messages of this session.", quote(clip(query, 80)), len(s.Entries))
	if shorter := shorterQuery(query); shorter != "" {
		return text + " A shorter query may find it: " + searchCall(shorter) + "\n"
	}
	if len(s.Entries) > 0 {
		text += " A range can be read instead: " + rangeCall(1, min(s.last(), 20)).String()
	}
	return text + "\n"
}

// shorterQuery is the part of a query that is most likely to be found by itself:
// the longest word of several, the longest piece of one with separators in it, the
// front of a long one. It is empty when there is nothing shorter worth trying.
func shorterQuery(query string) string {
	longest := func(words []string) string {
		best := ""
		for _, w := range words {
			if utf8.RuneCountInString(w) > utf8.RuneCountInString(best) {
				best = w
			}
		}
		return best
	}
	isInner := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) }
	const (
		shortest = 3 // letters of a suggestion
		long     = 8 // letters of a word worth halving
	)
	best := longest(strings.Fields(query))
	if best == query {
		if best = longest(strings.FieldsFunc(query, isInner)); best == query {
			n := utf8.RuneCountInString(query)
			if n < long {
				return ""
			}
			cut, _ := borderBefore(query, 0, len(string([]rune(query)[:n*2/3])))
			best = query[:cut]
		}
	}
	if utf8.RuneCountInString(best) < shortest || isPlaceholder(best) {
		return ""
	}
	return best
}

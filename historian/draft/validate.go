package draft

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"ctxplugin/compartments"
	"ctxplugin/historian"
	"ctxplugin/prompts"
)

// piece is a draft that keeps all rules, for the messages at the places
// [from, to).
type piece struct {
	from, to   int
	importance int
	title      string
	types      []string
	tiers      map[compartments.Tier][]string // lines without heading
	spans      []compartments.ExactSpan
	facts      []compartments.Fact
	events     []compartments.Event
}

// largestTokens is the most effective tokens of one compartment of a draft: half as
// many again as one may have that is cut by rule.
const largestTokens = 18_000

// exampleLeast is from how many letters on a line is known for one of the prompt.
const exampleLeast = 12

// validator holds the drafts of a reply against the chunk that was sent.
type validator struct {
	x       *historian.Reading
	c       *chunk
	count   func(string) int
	example map[string]bool // lines of the prompt
	faults  []Fault
	dropped []Fault
}

func newValidator(x *historian.Reading, c *chunk, count func(string) int) *validator {
	v := &validator{x: x, c: c, count: count, example: map[string]bool{}}
	for _, line := range prompts.Historian.Example() {
		if l := exampleKey(line); len(l) >= exampleLeast {
			v.example[l] = true
		}
	}
	return v
}

// validate turns drafts into pieces that cover the chunk, or says what is wrong
// with them. Pieces are valid only if there are no faults.
func (v *validator) validate(drafts []draft) (pieces []piece, faults, dropped []Fault) {
	if len(drafts) == 0 {
		v.fault(FaultNothing, nil, compartments.TierNone, "no <compartment> could be read")
		return nil, v.faults, nil
	}
	pieces = v.cover(drafts)
	if len(v.faults) > 0 {
		return nil, v.faults, nil
	}
	return pieces, v.faults, v.dropped
}

func (v *validator) fault(code FaultCode, p *piece, t compartments.Tier, format string, args ...any) {
	f := Fault{Code: code, Tier: t, Text: fmt.Sprintf(format, args...)}
	if p != nil {
		ms := v.x.Range().Messages
		f.First, f.Last = ms[p.from].Ordinal, ms[p.to-1].Ordinal
	}
	v.faults = append(v.faults, f)
}

// cover finds the places of all drafts, mends borders where no words are at stake,
// and checks each draft over its messages.
func (v *validator) cover(drafts []draft) []piece {
	type placed struct {
		d        *draft
		from, to int
	}
	var list []placed
	for i := range drafts {
		d := &drafts[i]
		first, ok1 := ordinal(d.first)
		last, ok2 := ordinal(d.last)
		if !ok1 || !ok2 {
			v.fault(FaultBadRange, nil, compartments.TierNone, "compartment %d: first=%q last=%q are no message numbers", i+1, d.first, d.last)
			continue
		}
		from, ok1 := v.place(first)
		to, ok2 := v.place(last)
		switch {
		case !ok1 || !ok2:
			v.fault(FaultOutside, nil, compartments.TierNone, "compartment %d-%d: only messages of the transcript may be covered", first, last)
		case to < from:
			v.fault(FaultBadRange, nil, compartments.TierNone, "compartment %d-%d ends before it begins", first, last)
		default:
			list = append(list, placed{d, from, to + 1})
		}
	}
	if len(v.faults) > 0 {
		return nil
	}
	slices.SortStableFunc(list, func(a, b placed) int { return a.from - b.from })
	ms := v.x.Range().Messages
	at := v.c.from
	for i := range list {
		p := &list[i]
		switch {
		case p.from < at:
			v.fault(FaultOverlap, nil, compartments.TierNone, "message %d is in two compartments", ms[p.from].Ordinal)
		case p.from > at:
			if n := v.words(at, p.from); n >= 0 {
				v.fault(FaultGap, nil, compartments.TierNone, "no compartment covers message %d", ms[n].Ordinal)
			} else if i == 0 {
				p.from = at
			} else {
				list[i-1].to = p.from
			}
		}
		at = max(at, p.to)
	}
	if n := v.words(at, v.c.to); n >= 0 {
		v.fault(FaultUncovered, nil, compartments.TierNone, "messages %d to %d are not covered", ms[n].Ordinal, ms[v.c.to-1].Ordinal)
	} else if len(list) > 0 {
		list[len(list)-1].to = v.c.to
	}
	if len(v.faults) > 0 {
		return nil
	}
	for i := 1; i < len(list); i++ {
		border, ok := v.border(list[i].from)
		if !ok || border <= list[i-1].from || border >= list[i].to {
			v.fault(FaultGroup, nil, compartments.TierNone, "a compartment cannot begin at message %d: it belongs to the one before", ms[list[i].from].Ordinal)
			continue
		}
		list[i-1].to, list[i].from = border, border
	}
	if len(v.faults) > 0 {
		return nil
	}
	pieces := make([]piece, 0, len(list))
	for _, p := range list {
		pieces = append(pieces, v.check(p.d, p.from, p.to))
	}
	return pieces
}

// ordinal reads a message number, with what models put around one.
func ordinal(s string) (compartments.Ordinal, bool) {
	n, err := strconv.ParseInt(strings.Trim(strings.TrimSpace(s), "[]#()"), 10, 63)
	return compartments.Ordinal(n), err == nil && n > 0
}

func (v *validator) place(o compartments.Ordinal) (int, bool) {
	ms := v.x.Range().Messages
	for i := v.c.from; i < v.c.to; i++ {
		if ms[i].Ordinal == o {
			return i, true
		}
	}
	return 0, false
}

// words is the first place in [from, to) with words of a person or the agent, -1
// if there is none.
func (v *validator) words(from, to int) int {
	for i := from; i < to; i++ {
		if v.c.entries[i-v.c.from].narrative {
			return i
		}
	}
	return -1
}

// border is the legal place nearest to one, with no words in between.
func (v *validator) border(place int) (int, bool) {
	for i := place; i < v.c.to; i++ {
		if legal(v.x, i) {
			return i, true
		}
		if v.words(i, i+1) >= 0 {
			break
		}
	}
	for i := place - 1; i > v.c.from && v.words(i, i+1) < 0; i-- {
		if legal(v.x, i) {
			return i, true
		}
	}
	return 0, false
}

// check holds one draft against the messages [from, to).
func (v *validator) check(d *draft, from, to int) piece {
	p := piece{from: from, to: to, tiers: map[compartments.Tier][]string{}}
	raw, effective, calls, groups := 0, 0, 0, 0
	for i := from; i < to; i++ {
		raw += v.x.Range().Tokens[i]
		effective += v.x.Effective(i)
		calls += len(v.x.Calls(i))
		if legal(v.x, i) {
			groups++
		}
	}
	if effective > largestTokens && groups > 1 {
		v.fault(FaultTooLarge, &p, compartments.TierNone, "one compartment for so much: divide it where the objective changes")
	}
	src := sourceOf(v.x, v.c, from, to)
	p.title = v.title(&p, d.title)
	p.types = typesOf(d.types)
	n, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(d.importance, "/100")))
	if p.importance = n; err != nil || n < 1 || n > 100 {
		v.fault(FaultImportance, &p, compartments.TierNone, "importance=%q is no number from 1 to 100", d.importance)
	}
	v.tiers(&p, d, ceilings(raw, calls == 0))
	v.truth(&p, src)
	v.order(&p, src)
	v.language(&p)
	p.spans = v.spans(&p, d, src)
	p.facts = v.facts(&p, d, src)
	p.events = v.events(&p, d, src)
	return p
}

// What a model may always take, in tokens, for it cannot say of a few messages in a
// quarter of them what they say: three quarters of them up to leastRoom, and
// leastLines in any case.
const (
	leastRoom  = 200
	leastLines = 60
)

// ceilings are the most tokens of each tier, exact spans apart.
func ceilings(raw int, talk bool) map[compartments.Tier]int {
	c := historian.Ceilings(raw, talk)
	least := max(leastLines, min(leastRoom, raw*3/4))
	c[compartments.TierFull] = max(c[compartments.TierFull], least)
	c[compartments.TierDense] = max(c[compartments.TierDense], least)
	c[compartments.TierCompact] = max(c[compartments.TierCompact], min(compartments.TierCompact.Ceiling(), least))
	return c
}

// titleWidth is the room of a title.
const titleWidth = 88

func (v *validator) title(p *piece, text string) string {
	title := strings.Join(historian.Lines(text), " ")
	if title = historian.Shorten(stripped(title), titleWidth); historian.Width(title) < 3 {
		v.fault(FaultTitle, p, compartments.TierNone, "the title is missing")
	}
	return title
}

var knownTypes = [...]string{"fix", "feature", "change", "test", "docs", "design", "explore", "ops", "release", "question", "talk"}

// typesOf keeps the known types, at most three.
func typesOf(text string) []string {
	var out []string
	for _, t := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if slices.Contains(knownTypes[:], t) && !slices.Contains(out, t) && len(out) < 3 {
			out = append(out, t)
		}
	}
	return out
}

// stripped takes marks of emphasis and structure off a line.
func stripped(line string) string {
	line = strings.ReplaceAll(strings.TrimSpace(line), "**", "")
	line = strings.TrimLeft(line, "#>|* \t")
	return strings.TrimRight(line, "| \t")
}

// linesOf are the lines of a tier, each fit to stand in the record.
func (v *validator) linesOf(p *piece, text string) []string {
	ms := v.x.Range().Messages
	own := fmt.Sprintf("[%d-%d]", ms[p.from].Ordinal, ms[p.to-1].Ordinal)
	var out []string
	for _, line := range historian.Lines(text) {
		line = stripped(line)
		line = strings.TrimSpace(strings.TrimPrefix(line, own))
		switch {
		case historian.Width(line) == 0:
			continue
		case line[0] == '`' && strings.Count(line, "`") == 1 && !strings.Contains(line, " "):
			continue // what is left of a fence
		case strings.ContainsRune("[<`", rune(line[0])):
			line = "- " + line
		}
		out = append(out, line)
	}
	return out
}

// tiers takes the texts over and makes each fit, as far as that loses nothing but
// what fades first.
func (v *validator) tiers(p *piece, d *draft, ceilings map[compartments.Tier]int) {
	above, aboveTokens := []string(nil), 0
	for _, t := range compartments.Rendered {
		lines := v.linesOf(p, d.tiers[t])
		if t == compartments.TierAnchor && len(lines) > 1 {
			lines = []string{strings.Join(lines, " ")}
		}
		if historian.Width(strings.Join(lines, "")) < 4 {
			if above == nil || v.tokens(p, t, above) > ceilings[t] {
				v.fault(FaultTier, p, t, "the tier is missing or says nothing")
				continue
			}
			lines = above // the next fuller one is as short as that
		}
		if above != nil {
			lines = knownNames(lines, p.title+"\n"+strings.Join(above, "\n"))
		}
		n := v.tokens(p, t, lines)
		if n > ceilings[t] && n <= ceilings[t]*13/10+8 {
			lines = v.fit(p, t, lines, ceilings[t])
			n = v.tokens(p, t, lines)
		}
		if n > ceilings[t] {
			v.fault(FaultCeiling, p, t, "takes %d tokens, at most %d are allowed: make it about %d %% shorter", n, ceilings[t], 100*(n-ceilings[t])/n+8)
		}
		if above != nil && n > aboveTokens {
			if n > aboveTokens+aboveTokens/10+12 {
				v.fault(FaultRising, p, t, "takes %d tokens, the tier above %d: it must be shorter", n, aboveTokens)
			}
			lines, n = above, aboveTokens
			if t == compartments.TierAnchor {
				lines = []string{strings.Join(above, " ")}
			}
		}
		p.tiers[t] = lines
		above, aboveTokens = lines, n
	}
}

// knownNames takes the names that the tier above does not show off a list of names:
// there they had no room.
func knownNames(lines []string, above string) []string {
	out := lines[:0:0]
	for _, l := range lines {
		if labelOf(l) != "names" {
			out = append(out, l)
			continue
		}
		label, list, _ := strings.Cut(l, ":")
		var kept []string
		for n := range strings.SplitSeq(list, ",") {
			if n = strings.TrimSpace(n); n != "" && strings.Contains(above, strings.Trim(n, "` ")) {
				kept = append(kept, n)
			}
		}
		if len(kept) > 0 {
			out = append(out, label+": "+strings.Join(kept, ", "))
		}
	}
	return out
}

// tokens is what a tier takes as it will stand, exact spans apart.
func (v *validator) tokens(p *piece, t compartments.Tier, lines []string) int {
	return v.count(textOf(v.x.Range().Messages, p, t, lines))
}

// textOf is a tier as it stands in the record.
func textOf(ms []compartments.Message, p *piece, t compartments.Tier, lines []string) string {
	head := fmt.Sprintf("[%d-%d] ", ms[p.from].Ordinal, ms[p.to-1].Ordinal)
	if t == compartments.TierAnchor {
		return head + strings.Join(lines, " ")
	}
	return head + p.title + "\n" + strings.Join(lines, "\n")
}

// least are labels in the order in which their lines go where room is short.
var least = [...]string{"read", "names", "steps", "ran"}

// fit drops whole lines, the least needed first, and shortens an anchor.
func (v *validator) fit(p *piece, t compartments.Tier, lines []string, ceiling int) []string {
	if t == compartments.TierAnchor {
		for room := len([]rune(lines[0])); room > 20; room -= 6 {
			if s := historian.Shorten(lines[0], room); s != "" && v.tokens(p, t, []string{s}) <= ceiling {
				return []string{s}
			}
		}
		return lines
	}
	lines = slices.Clone(lines)
	for len(lines) > 1 && v.tokens(p, t, lines) > ceiling {
		worst, at := len(least), -1
		for i, l := range lines {
			if n := slices.Index(least[:], labelOf(l)); n >= 0 && n <= worst {
				worst, at = n, i
			}
		}
		if at < 0 {
			break
		}
		lines = slices.Delete(lines, at, at+1)
	}
	return lines
}

// labelOf is the label of a line in small letters, "" if it has none.
func labelOf(line string) string {
	label, _, ok := strings.Cut(strings.TrimPrefix(line, "- "), ":")
	if !ok || len(label) > 12 || strings.Contains(label, " ") {
		return ""
	}
	return strings.ToLower(label)
}

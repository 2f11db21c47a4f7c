package expand

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"ctxplugin/compartments"
)

// part answers one part of a message that is not, or not wholly, in view.
func (x *Expander) part(ctx context.Context, s *scene, a asked, note string, room int) (string, error) {
	messages, err := x.decode(ctx, s, []compartments.Ordinal{a.message})
	if err != nil {
		return "", err
	}
	m := &messages[0]
	if a.part >= len(m.Parts) {
		return "", absent("message %d has no part %d; it has %s.", m.Ordinal, a.part, partList(m))
	}
	all := partPieces(&m.Parts[a.part], a.part)
	if len(all) == 0 {
		return "", absent("part %d of message %d is %s; message %d has %s.", a.part, m.Ordinal, whyNothing(&m.Parts[a.part]), m.Ordinal, partList(m))
	}
	open := s.closed(m, slices.Clone(all))
	if len(open) == 0 {
		return x.seen(ctx, s, []compartments.Ordinal{m.Ordinal})
	}
	if all[0].field == "" {
		heading := fmt.Sprintf("Message %d, part %d%s", m.Ordinal, a.part, asStored)
		return strings.Join(append([]string{heading}, append(notes(note), all[0].remarkLine(m, true))...), "\n") + "\n", nil
	}
	if a.field != "" && !slices.ContainsFunc(all, func(p piece) bool { return p.field == a.field }) {
		return "", absent("part %d of message %d has no %s; it has %s.", a.part, m.Ordinal, a.field, fieldList(all))
	}
	if a.field != "" {
		open = slices.DeleteFunc(open, func(p piece) bool { return p.field != a.field })
	} else if a.offset > 0 && len(open) > 1 {
		open = slices.DeleteFunc(open, func(p piece) bool { return p.field == compartments.FieldInput })
	}
	if len(open) == 0 {
		return x.seen(ctx, s, []compartments.Ordinal{m.Ordinal})
	}
	main := &open[len(open)-1]
	if a.offset > 0 && a.offset >= len(main.text) {
		return "", absent("offset %d is not before the end: the %s of part %d has %d bytes.", a.offset, fieldName(main), a.part, len(main.text))
	}
	p := newPage(room, x.count)
	if p == nil {
		again := target{message: m.Ordinal, part: a.part, field: a.field, offset: a.offset}
		return noRoom(room, again), nil
	}
	p.line(fmt.Sprintf("Message %d, part %d%s", m.Ordinal, a.part, asStored))
	for _, n := range notes(note) {
		p.line(n)
	}
	for i := range open[:len(open)-1] {
		p.beside(m, &open[i])
	}
	p.main(m, main, snap(main.text, a.offset), len(open) == 1)
	return p.b.String(), nil
}

// beside writes a piece that stands before the one the page is about: whole if it
// is short, a peek, or only the call that opens it.
func (p *page) beside(m *compartments.Message, g *piece) {
	s := shown{piece: g, line: g.header(m, true), to: len(g.text)}
	most := limits{tokens: p.left.tokens / 8, bytes: p.left.bytes / 8, lines: p.left.lines / 8}
	if _, ok := p.holds(g.text, most); !ok {
		s.to = 0
		if g.field != "" && most.tokens >= 2*bodyLeast {
			s.to = fit(g.text, 0, limits{min(peekTokens, most.tokens), most.bytes, most.lines}, p.count)
		}
	}
	p.show(m, &s, restMark)
}

// main writes the piece that the page is about, from an offset to as far as the
// page goes.
func (p *page) main(m *compartments.Message, g *piece, from int, timed bool) {
	if g.field == "" {
		p.line(g.remarkLine(m, timed))
		return
	}
	header := g.header(m, timed)
	left := p.left.minus(limits{tokens: p.count(header) + rangeTokens, bytes: 400, lines: 2})
	s := shown{piece: g, to: len(g.text)}
	if _, ok := p.holds(g.text[from:], left); !ok {
		left = left.minus(limits{tokens: 2 * callTokens, bytes: 800, lines: 2})
		if s.end = left.tokens > 4*callTokens; !s.end {
			left.tokens += callTokens
		}
		s.to = fit(g.text, from, left, p.count)
	}
	p.body(header, g.text, from, s.to)
	if s.to < len(g.text) {
		p.ending(m, &s)
		p.line(moreMark + s.call(m, s.to).String())
	}
}

func fieldName(p *piece) string {
	if p.field == "" {
		return "result" // of a call that has none
	}
	return string(p.field)
}

func fieldList(all []piece) string {
	var names []string
	for i := range all {
		if all[i].field != "" {
			names = append(names, string(all[i].field))
		}
	}
	return strings.Join(names, " and ")
}

// partsNamed is how many parts a refusal names at most.
const partsNamed = 12

// partList names the parts of a message that can be opened.
func partList(m *compartments.Message) string {
	var names []string
	left := 0
	for i := range m.Parts {
		all := partPieces(&m.Parts[i], i)
		if len(all) == 0 {
			continue
		}
		if len(names) == partsNamed {
			left++
			continue
		}
		name := string(m.Parts[i].Type)
		if m.Parts[i].Kind == compartments.PartTool {
			name = m.Parts[i].Tool
		}
		names = append(names, fmt.Sprintf("%d (%s)", i, nameOf(name, "unknown")))
	}
	if len(names) == 0 {
		return "none that can be shown"
	}
	list := "part " + strings.Join(names, ", ")
	if left > 0 {
		list += fmt.Sprintf(" and %d more", left)
	}
	return list
}

// whyNothing says why a part without pieces has none.
func whyNothing(p *compartments.Part) string {
	switch {
	case p.Kind == compartments.PartReasoning:
		return "reasoning, which is not shown"
	case p.Kind == compartments.PartText && p.Ignored:
		return "a note to the user that was never sent"
	case p.Kind == compartments.PartText:
		return "an empty text"
	}
	return "a mark of the host without content"
}

// seen answers for messages that the request shows as they are stored.
func (x *Expander) seen(ctx context.Context, s *scene, ordinals []compartments.Ordinal) (string, error) {
	ends := ordinals[:1]
	if n := len(ordinals); n > 1 {
		ends = []compartments.Ordinal{ordinals[0], ordinals[n-1]}
	}
	messages, err := x.decode(ctx, s, ends)
	if err != nil {
		return "", err
	}
	where := "it is " + begins(&messages[0])
	what := fmt.Sprintf("Message %d is", ordinals[0])
	if len(messages) > 1 {
		where = fmt.Sprintf("they run from %s to %s", begins(&messages[0]), begins(&messages[1]))
		what = fmt.Sprintf("Messages %s are", runs(ordinals))
	}
	text := fmt.Sprintf("%s still in view, word for word, so nothing has to be opened: %s.", what, where)
	if s.Plan.Through == "" && len(s.Hidden) == 0 {
		text += " Nothing of this session was folded away yet."
	}
	return text + "\n", nil
}

// begins describes a message so that it can be found in view.
func begins(m *compartments.Message) string {
	const wordsMost = 80
	who := "the " + string(m.Role) + " message"
	for _, p := range pieces(m) {
		switch p.field {
		case compartments.FieldText:
			if words := oneLine(p.text, wordsMost); words != "" {
				return who + " that begins " + quote(words)
			}
		case compartments.FieldInput, compartments.FieldOutput:
			return who + " that calls " + nameOf(m.Parts[p.part].Tool, "a tool")
		}
	}
	return fmt.Sprintf("%s number %d", who, m.Ordinal)
}

// runsMost is how many runs are named at most.
const runsMost = 8

// runs names ordinals, neighbours as ranges.
func runs(ordinals []compartments.Ordinal) string {
	var names []string
	for i := 0; i < len(ordinals); {
		j := i
		for j+1 < len(ordinals) && ordinals[j+1] == ordinals[j]+1 {
			j++
		}
		if len(names) == runsMost {
			names = append(names, fmt.Sprintf("and %d more", len(ordinals)-i))
			break
		}
		if i == j {
			names = append(names, fmt.Sprint(int64(ordinals[i])))
		} else {
			names = append(names, fmt.Sprintf("%d-%d", ordinals[i], ordinals[j]))
		}
		i = j + 1
	}
	return strings.Join(names, ", ")
}

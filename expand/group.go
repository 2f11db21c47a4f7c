package expand

import "ctxplugin/compartments"

// shown is how much of a piece a page shows.
type shown struct {
	*piece
	line string // header or remark
	to   int    // bytes shown
	end  bool   // there is room to name the call for its end
}

// group writes the pieces of one part: each whole if it is short enough, a peek
// with the call that goes on otherwise. It reports false, and writes nothing, if
// they do not fit and something stands on the page already.
func (p *page) group(m *compartments.Message, group []piece, timed bool, whole int) bool {
	left := p.left.minus(limits{tokens: callTokens, bytes: 400, lines: 1})
	plan := make([]shown, len(group))
	for i := range group {
		g := &group[i]
		plan[i] = shown{piece: g}
		if g.field == "" {
			plan[i].line = g.remarkLine(m, timed && i == 0)
			takes, _ := p.holds(plan[i].line, left)
			left = left.minus(takes)
			continue
		}
		plan[i].line = g.header(m, timed && i == 0)
		left = left.minus(limits{tokens: p.count(plan[i].line) + rangeTokens, bytes: 400, lines: 1})
		takes, ok := p.holds(g.text, limits{tokens: whole, bytes: left.bytes, lines: left.lines})
		plan[i].to = len(g.text)
		if !ok && (takes.tokens > whole || takes.bytes > MaxPageBytes/wholeShare || takes.lines > MaxPageLines/wholeShare) {
			plan[i].to = fit(g.text, 0, limits{peekTokens, 8 * peekTokens, peekTokens / 4}, p.count)
			plan[i].end = true
			takes = limits{p.count(g.text[:plan[i].to]) + 1 + 2*callTokens, plan[i].to + 800, peekTokens/4 + 3}
		}
		left = left.minus(takes)
	}
	if left.broken() {
		if p.b.Len() > 0 {
			return false
		}
		p.squeeze(m, plan)
		return true
	}
	for i := range plan {
		p.show(m, &plan[i], restMark)
	}
	return true
}

// squeeze writes pieces on a page that has nothing else and is too small for
// them: each gets an equal share, or only its call.
func (p *page) squeeze(m *compartments.Message, plan []shown) {
	for i := range plan {
		if plan[i].field == "" {
			p.remark(&plan[i])
			continue
		}
		left := p.left.minus(limits{tokens: callTokens, bytes: 400, lines: 1})
		for j := i; j < len(plan); j++ {
			left = left.minus(limits{tokens: p.count(plan[j].line) + rangeTokens + callTokens, bytes: 800, lines: 3})
		}
		share := len(plan) - i
		left = limits{left.tokens / share, left.bytes / share, left.lines / share}
		plan[i].to = 0
		if left.tokens >= bodyLeast {
			plan[i].to = fit(plan[i].text, 0, left, p.count)
		}
		p.show(m, &plan[i], restMark)
	}
}

// remark writes the line of a piece without a body, cut where it would take the
// place of the call that goes on.
func (p *page) remark(s *shown) {
	left := p.left.minus(limits{tokens: callTokens, bytes: 400, lines: 1})
	if _, ok := p.holds(s.line, left); !ok {
		s.line = s.line[:fit(s.line, 0, limits{left.tokens - 2, left.bytes, 1}, p.count)] + "…"
	}
	p.line(s.line)
}

// show writes one piece, and the call that goes on where it ends.
func (p *page) show(m *compartments.Message, s *shown, mark string) {
	switch {
	case s.field == "":
		p.line(s.line)
		return
	case s.to > 0 || len(s.text) == 0:
		p.body(s.line, s.text, 0, s.to)
	}
	if s.to < len(s.text) {
		p.line(mark + s.call(m, s.to).String())
		p.ending(m, s)
	}
}

// ending names the call for the end of a piece of which much is left.
func (p *page) ending(m *compartments.Message, s *shown) {
	if s.end && len(s.text)-s.to > endFar {
		p.line(endMark + s.call(m, opening(s.text, len(s.text)-endBytes)).String())
	}
}

// call opens the rest of a piece. Input has to be named, since a call without
// field means the output, or the text.
func (s *shown) call(m *compartments.Message, offset int) target {
	t := target{message: m.Ordinal, part: s.part, offset: offset}
	if s.field == compartments.FieldInput || (offset == 0 && s.field == compartments.FieldOutput) {
		t.field = s.field
	}
	return t
}

// groups splits pieces by part, beginning with a part.
func groups(all []piece, from int) [][]piece {
	var out [][]piece
	for i := 0; i < len(all); {
		j := i + 1
		for j < len(all) && all[j].part == all[i].part {
			j++
		}
		if all[i].part >= from || from == 0 {
			out = append(out, all[i:j])
		}
		i = j
	}
	return out
}

package historian

import (
	"slices"
	"strings"
)

// collectWhy looks for causes, choices and rejected ways: first of all in what
// the agent says right after something failed.
func (r *record) collectWhy(v *view) {
	ms := v.run()
	failed := false
	for i := range ms {
		m := &ms[i]
		if m.who == person || m.who == host {
			failed = false
		}
		if m.who != agent {
			continue
		}
		units := append(m.narrate[:len(m.narrate):len(m.narrate)], m.units...)
		best, bestScore := -1, 0
		headed := 0 // sentences to come that a heading calls the cause
		for j, u := range units {
			low := strings.ToLower(u.text)
			if u.kind == unitHeading {
				headed = 0
				if hasAny(low, causeHeads) {
					headed = 1
				}
				continue
			}
			if u.kind == unitHeader || width(u.text) < 24 {
				continue
			}
			n, marked := 0, false
			cause, rejected := hasAny(low, causes), hasAny(low, rejections)
			if headed > 0 {
				headed--
				cause = true
				n += 2
			}
			if failed && j < 3 {
				n += 3
				marked = true
				if j == 0 {
					n++
				}
			}
			if cause {
				n += 3
			}
			if rejected {
				n += 3
			}
			if !marked && !cause && !rejected {
				continue
			}
			if m.final {
				n++
			}
			if k := countNames(u.text); k == 0 && !(failed && j == 0) {
				n -= 2
			} else {
				n += min(k, 2)
			}
			if starts(low, chatOpeners) {
				n -= 3
			}
			if hasAny(low, hedges) {
				n--
			}
			if question(u.text) || strings.HasSuffix(u.text, ":") || offers(u.text) {
				n -= 4
			}
			if !cause && !rejected && !hasAny(low, negations) {
				if _, news := v.names(u.text); news == 0 { // said behind a failure, and nothing new about it
					n = min(n, 3)
				}
			}
			if n >= 4 {
				if m.final { // finals may hold several
					if text := fact(u.text); text != "" {
						r.why = append(r.why, said{ord: m.ord, text: text, score: n, cause: cause || rejected, seq: j})
					}
				} else if best < 0 || n > bestScore {
					best, bestScore = j, n
				}
			}
		}
		if best >= 0 {
			low := strings.ToLower(units[best].text)
			if text := fact(units[best].text); text != "" {
				r.why = append(r.why, said{ord: m.ord, text: text, score: bestScore, cause: hasAny(low, causes) || hasAny(low, rejections), seq: best})
			}
		}
		if !m.final && len(units) > 0 {
			r.step(v, m, units)
		}
		failed = false
		for j := range m.uses {
			failed = failed || m.uses[j].failed
		}
	}
	slices.SortStableFunc(r.why, func(a, b said) int { return b.score - a.score })
	r.why = r.why[:min(len(r.why), 10)]
	if len(r.outcomes) == 0 {
		r.steps = spread(r.steps, 16)
		r.details = best(r.details, 24-len(r.steps))
	} else {
		r.steps = spread(r.steps, 8)
		r.details = best(r.details, 10)
	}
}

// step takes the best of the first units of a narration.
func (r *record) step(v *view, m *message, units []unit) {
	best, bestScore := -1, 0
	var brings, news [10]int // what each of the first units is worth by its names, and by those that nothing else brings
	for j, u := range units[:min(len(units), len(brings))] {
		var all int
		all, news[j] = v.names(u.text)
		brings[j] = min(all, 3) + 2*news[j]
	}
	for j, u := range units[:min(len(units), 4)] {
		low := strings.ToLower(u.text)
		chat := starts(low, chatOpeners)
		if width(u.text) < 16 || u.kind == unitHeader || nameAlone(u.text) || chat && countNames(u.text) == 0 && width(u.text) < 60 {
			continue
		}
		if starts(low, announcers) && news[j] == 0 && !hasDigit(u.text) && !hasAny(low, causes) && !hasAny(low, negations) {
			continue // what was done shows what was announced
		}
		n := 4 + brings[j] - j
		if chat {
			n -= 3
		}
		switch {
		case question(u.text), starts(low, conditions):
			n -= 6
		case hasAny(low, hedges): // a suspicion is worth more than what says nothing
			n -= 3
		}
		if best < 0 || n > bestScore {
			best, bestScore = j, n
		}
	}
	if best < 0 {
		return
	}
	text := units[best].text
	if joined, _ := joinBullets(units, best); joined != "" && strings.HasSuffix(text, ":") {
		text = joined
	}
	if text = fact(text); text != "" {
		r.steps = append(r.steps, said{ord: m.ord, text: strings.TrimRight(text, ":"), score: bestScore, seq: best})
	}
	for j, u := range units[:min(len(units), len(brings))] {
		low := strings.ToLower(u.text)
		if j == best || width(u.text) < 24 || u.kind == unitHeader || u.kind == unitHeading || starts(low, chatOpeners) || strings.HasSuffix(u.text, ":") || question(u.text) {
			continue
		}
		n := brings[j]
		if hasAny(low, causes) || hasAny(low, negations) {
			n += 3
		}
		if starts(low, conditions) {
			n -= 6
		}
		if hasDigit(u.text) {
			n++
		}
		if u.bold {
			n += 3
		}
		if text := fact(u.text); text != "" && n > 0 {
			r.details = append(r.details, said{ord: m.ord, text: text, score: n, seq: j})
		}
	}
}

// best keeps the n of the highest score, in their order.
func best(s []said, n int) []said {
	if len(s) <= n {
		return s
	}
	ranked := slices.Clone(s)
	slices.SortStableFunc(ranked, func(a, b said) int { return b.score - a.score })
	least := ranked[n].score
	out := s[:0]
	for _, x := range s {
		if x.score > least {
			out = append(out, x)
		}
	}
	return out
}

func (r *record) concluded() int {
	n := 0
	for _, o := range r.outcomes {
		n += 1 + len(o.more)
	}
	return n
}

// spread keeps at most n of the steps: the better one of each stretch, so that
// the way stays visible from its beginning to its end.
func spread(s []said, n int) []said {
	if len(s) <= n {
		return s
	}
	out := make([]said, 0, n)
	for k := range n {
		from, to := k*len(s)/n, (k+1)*len(s)/n
		best := from
		for i := from + 1; i < to; i++ {
			if s[i].score > s[best].score {
				best = i
			}
		}
		out = append(out, s[best])
	}
	return out
}

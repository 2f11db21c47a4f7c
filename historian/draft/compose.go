package draft

import (
	"fmt"
	"slices"
	"strings"

	"ctxplugin/compartments"
	"ctxplugin/historian"
	"ctxplugin/prompts"
)

// made is a run of the range with who writes it: a draft that keeps the rules, or
// the built-in generator.
type made struct {
	from, to  int
	piece     *piece
	generator string
	deferred  bool // nobody was heard about it
}

// namesMost are the most names that a tier gets besides those that its draft holds.
var namesMost = map[compartments.Tier]int{compartments.TierFull: 12, compartments.TierDense: 8, compartments.TierCompact: 5}

// leastShare is how much of the generator's own survival a draft must have to take
// its place, in percent. The generator quotes the very record that both are
// measured by, so a draft in other words has less; one that says nothing has far
// less.
const leastShare = 40

// compose turns what was made into compartments, in order of the list.
func compose(x *historian.Reading, list []made, count func(string) int) []compartments.Compartment {
	out := make([]compartments.Compartment, 0, len(list))
	for _, m := range list {
		w := x.Next(m.to)
		c := w.Compartment
		c.Deferred = m.deferred
		if m.piece != nil {
			if d := overlay(x, w, m.piece, count); d.Validate() == nil && saysEnough(x, w, m.piece) {
				d.Generator, d.Prompt, d.Provisional = m.generator, prompts.Historian.Version, false
				c = d
			}
		}
		out = append(out, c)
	}
	return out
}

// saysEnough reports whether the lines of a draft alone, without what is added to
// them, hold enough of the record.
func saysEnough(x *historian.Reading, w *historian.Written, p *piece) bool {
	own, rule, none := rendered(w.Tiers), rendered(w.Tiers), rendered(w.Tiers)
	for _, t := range compartments.Rendered {
		own[t] = compartments.Rendition{Text: textOf(x.Range().Messages, p, t, p.tiers[t])}
		none[t] = compartments.Rendition{}
	}
	for _, tiers := range [...]map[compartments.Tier]compartments.Rendition{own, rule, none} {
		w.Measure(tiers)
	}
	least := worth(none) // dimensions of which there is nothing
	return 100*(worth(own)-least) >= leastShare*(worth(rule)-least)
}

func rendered(tiers map[compartments.Tier]compartments.Rendition) map[compartments.Tier]compartments.Rendition {
	out := map[compartments.Tier]compartments.Rendition{}
	for _, t := range compartments.Rendered {
		out[t] = tiers[t]
	}
	return out
}

// worth adds up survival over all tiers and dimensions but provenance, which only
// full and dense carry.
func worth(tiers map[compartments.Tier]compartments.Rendition) int {
	n := 0
	for _, t := range compartments.Rendered {
		for d := range compartments.Dimensions {
			if d != compartments.Provenance {
				n += int(tiers[t].Survival[d])
			}
		}
	}
	return n
}

// overlay is the generator's compartment with the texts of a draft. What the
// generator found by rule stays with it: exact spans, names, what a failure left
// open, for later compartments rely on them.
func overlay(x *historian.Reading, w *historian.Written, p *piece, count func(string) int) compartments.Compartment {
	c := w.Compartment
	ms := x.Range().Messages
	extra := p.spans[:0:0]
	for _, s := range p.spans {
		if !slices.ContainsFunc(c.Spans, func(o compartments.ExactSpan) bool {
			return strings.Contains(o.Text, s.Text) || strings.Contains(s.Text, o.Text)
		}) {
			extra = append(extra, s)
		}
	}
	room := ceilings(c.RawTokens, false)
	tiers := map[compartments.Tier]compartments.Rendition{}
	above, aboveTokens := "", 0
	for _, t := range compartments.Rendered {
		body := addNames(p, t, w.Names(), above, func(lines []string) bool {
			return count(textOf(ms, p, t, lines)) <= room[t]
		})
		text := spanned(x, w, textOf(ms, p, t, body), extra)
		n := count(text)
		if above != "" && n > aboveTokens {
			text, n = above, aboveTokens
		}
		tiers[t] = compartments.Rendition{Text: text, Tokens: n}
		above, aboveTokens = text, n
	}
	w.Measure(tiers)
	c.Title, c.Importance, c.Tiers, c.Strategy = p.title, p.importance, tiers, compartments.StrategyGrounded
	if len(p.types) > 0 {
		c.Types = p.types
	}
	for i := range extra {
		extra[i].Tokens = count(extra[i].Text)
	}
	c.Spans = append(slices.Clone(c.Spans), extra...)
	c.Facts = slices.Clone(c.Facts)
	for _, f := range p.facts {
		if !slices.ContainsFunc(c.Facts, func(o compartments.Fact) bool { return o.Kind == f.Kind && o.Anchor == f.Anchor }) {
			c.Facts = append(c.Facts, f)
		}
	}
	c.Events = slices.Clone(c.Events)
	for _, e := range p.events {
		if !slices.ContainsFunc(c.Events, func(o compartments.Event) bool { return o.Kind == e.Kind && o.Ordinal == e.Ordinal }) {
			c.Events = append(c.Events, e)
		}
	}
	return c
}

// addNames adds the names that are most likely named again to the lines of a tier,
// as far as there is room and the tier above has them.
func addNames(p *piece, t compartments.Tier, names []string, above string, fits func([]string) bool) []string {
	lines := slices.Clone(p.tiers[t])
	at := -1
	if n := len(lines); n > 0 && labelOf(lines[n-1]) == "names" {
		at = n - 1
	}
	said := p.title + "\n" + strings.Join(lines, "\n")
	for left := namesMost[t]; left > 0 && len(names) > 0; names = names[1:] {
		n := names[0]
		if len(n) > 70 || strings.Contains(said, n) || strings.Contains(base(n), ".") && strings.Contains(said, base(n)) || above != "" && !strings.Contains(above, n) || untagged(n) != n {
			continue
		}
		next := slices.Clone(lines)
		if at < 0 {
			next = append(next, "Names: "+n)
		} else {
			next[at] += ", " + n
		}
		if !fits(next) {
			break
		}
		lines, at = next, len(next)-1
		left--
	}
	return lines
}

// spanned puts the exact spans that a tier lacks behind its first line.
func spanned(x *historian.Reading, w *historian.Written, text string, extra []compartments.ExactSpan) string {
	lines := w.Quoted(text)
	for _, s := range extra {
		if strings.Contains(text, s.Text) {
			continue
		}
		label := "Said"
		for i, m := range x.Range().Messages {
			if m.Ordinal == s.Ordinal && x.Voice(i) == historian.VoicePerson {
				label = "User's words"
			}
		}
		lines += fmt.Sprintf("\n%s: \"%s\"", label, s.Text)
	}
	head, rest, ok := strings.Cut(text, "\n")
	if !ok {
		return text + lines
	}
	return head + lines + "\n" + rest
}

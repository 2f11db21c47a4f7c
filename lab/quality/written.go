package quality

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"ctxplugin/compartments"
	"ctxplugin/lab/fixtures"
)

// Condition is a way to make tiers.
type Condition struct {
	Name string `json:"name"` // canonical, oracle, grounded, cascaded, model-grounded, model-cascaded
	Loss int    `json:"loss"` // of the scripted writer, permille
}

func (c Condition) String() string {
	if c.Name == grounded || c.Name == cascaded {
		return fmt.Sprintf("%s %d%%", c.Name, c.Loss/10)
	}
	return c.Name
}

const (
	canonical = "canonical"
	oracle    = "oracle"
	grounded  = "grounded"
	cascaded  = "cascaded"
)

// cost is what a writer read and wrote, in tokens of a model.
type cost struct {
	Read    int `json:"read"`
	Written int `json:"written"`
}

// point is one thing that a writer may say: an item, or a sentence beside them.
type point struct {
	item    *fixtures.Item // nil for another sentence
	text    string
	ordinal compartments.Ordinal // 0 if it is no longer said where it is from
	needed  bool
	blurred bool
}

func (p *point) line(tier compartments.Tier) string {
	if p.ordinal > 0 && tier <= compartments.TierDense {
		return fmt.Sprintf("- [%d] %s", p.ordinal, p.text)
	}
	return "- " + p.text
}

// points are what the messages of a compartment say, in order: items, and the other
// sentences of people and agent.
func (h *history) points(i int) []point {
	c := &h.cs[i]
	var out []point
	for o := c.First; o <= c.Last; o++ {
		m := &h.session.Messages[o-1]
		for j := range m.Parts {
			if m.Parts[j].Kind != compartments.PartText {
				continue
			}
			rest := m.Parts[j].Text
			for _, it := range h.items[i] {
				if it.Ordinal == o && strings.Contains(rest, it.Text) {
					rest = strings.Replace(rest, it.Text, "\n", 1)
					out = append(out, point{item: it, text: it.Text, ordinal: o, needed: h.needed[it.ID]})
				}
			}
			for line := range strings.SplitSeq(rest, "\n") {
				if line = strings.Trim(line, " -"); len(line) > 12 {
					out = append(out, point{text: line, ordinal: o})
				}
			}
		}
	}
	return out
}

// rewritten is the history with other tiers, written by pick: it gets the points of
// the tier above (of the messages for the first) and those of the messages, and
// returns what to say, most important first. What does not fit is left out.
func (h *history) rewritten(count func(string) int, pick func(tier compartments.Tier, above, source []point) []point) ([]compartments.Compartment, cost) {
	out := slices.Clone(h.cs)
	var total cost
	for i := range out {
		c := &out[i]
		source := h.points(i)
		above := source
		tiers := map[compartments.Tier]compartments.Rendition{}
		title := fmt.Sprintf("[%d-%d] %s", c.First, c.Last, c.Title)
		last := 0
		for _, tier := range compartments.Rendered {
			room := h.cs[i].Tiers[tier].Tokens
			head := title
			if tier == compartments.TierAnchor {
				head = fmt.Sprintf("[%d-%d]", c.First, c.Last)
			}
			left := room - count(head)
			said := make([]point, 0, len(above))
			for _, p := range pick(tier, above, source) {
				n := count(p.line(tier)) + 1
				if n > left {
					continue
				}
				left -= n
				said = append(said, p)
			}
			slices.SortStableFunc(said, func(a, b point) int { return int(a.ordinal) - int(b.ordinal) })
			var b strings.Builder
			b.WriteString(head)
			for k := range said {
				b.WriteByte('\n')
				b.WriteString(said[k].line(tier))
			}
			r := compartments.Rendition{Text: b.String()}
			r.Tokens = count(r.Text)
			if last > 0 && r.Tokens > last { // a lower tier is never the longer one
				r = tiers[tier-1]
			}
			last = r.Tokens
			tiers[tier] = r
			above = said
			total.Written += r.Tokens
		}
		c.Tiers, c.Spans = tiers, nil
		total.Read += c.RawTokens
	}
	return out, total
}

// survivalOf measures a text by the planted items of its compartment.
func (h *history) survivalOf(i int, text string) compartments.Survival {
	var kept, all [compartments.Dimensions]int
	for _, it := range h.items[i] {
		d := it.Dimension.Survival()
		all[d]++
		if it.Grade(text).Success {
			kept[d]++
		}
	}
	var s compartments.Survival
	for d := range s {
		s[d] = 1000
		if all[d] > 0 {
			s[d] = uint16(1000 * kept[d] / all[d])
		}
	}
	return s
}

// oracleTiers say what will be needed, then the other items, then the rest.
func (h *history) oracleTiers(count func(string) int) ([]compartments.Compartment, cost) {
	return h.rewritten(count, func(_ compartments.Tier, above, _ []point) []point {
		list := slices.Clone(above)
		rank := func(p *point) int {
			switch {
			case p.needed:
				return 0
			case p.item != nil:
				return 1
			}
			return 2
		}
		slices.SortStableFunc(list, func(a, b point) int { return rank(&a) - rank(&b) })
		return list
	})
}

// scripted writes tiers as a model might: items before other sentences, in an order
// of its own; each is lost with the stated rate, and half as often blurred.
func (h *history) scripted(c Condition, r *rand.Rand, count func(string) int) ([]compartments.Compartment, cost) {
	out, total := h.rewritten(count, func(_ compartments.Tier, above, source []point) []point {
		from := source
		if c.Name == cascaded {
			from = above
		}
		order := r.Perm(len(from))
		list := make([]point, 0, len(from))
		for _, k := range order {
			p := from[k]
			lost, smudged, uncited, how := r.IntN(1000) < c.Loss, r.IntN(2000) < c.Loss, r.IntN(1000) < c.Loss, r.IntN(1<<20)
			if lost {
				continue
			}
			if smudged && p.item != nil && !p.blurred {
				p.text, p.blurred = blur(p.item, how), true
			}
			if uncited {
				p.ordinal = 0
			}
			list = append(list, p)
		}
		slices.SortStableFunc(list, func(a, b point) int {
			switch {
			case (a.item != nil) == (b.item != nil):
				return 0
			case a.item != nil:
				return -1
			}
			return 1
		})
		return list
	})
	if c.Name == cascaded { // each tier is read again to write the next
		for i := range out {
			for _, tier := range compartments.Rendered[:len(compartments.Rendered)-1] {
				total.Read += out[i].Tiers[tier].Tokens
			}
		}
	}
	return out, total
}

// blur says an item as those do who half remember it: without the words that tell
// what it is, without one of its details, or with a wrong number.
func blur(it *fixtures.Item, how int) string {
	text := it.Text
	kind := how % 6
	how /= 6
	switch {
	case kind < 2 && it.Cue != "":
		low := strings.ToLower(text)
		if i := strings.Index(low, strings.ToLower(it.Cue)); i >= 0 && len(low) == len(text) {
			return strings.Join(strings.Fields(text[:i]+text[i+len(it.Cue):]), " ")
		}
	case kind == 5 && len(it.Exact) > 1:
		detail := it.Exact[1+how%(len(it.Exact)-1)]
		for i := len(detail) - 1; i >= 0; i-- {
			if c := detail[i]; c >= '0' && c <= '8' {
				return strings.Replace(text, detail, detail[:i]+string(c+1)+detail[i+1:], 1)
			}
		}
	}
	if len(it.Exact) > 1 {
		return strings.Replace(text, it.Exact[1+how%(len(it.Exact)-1)], "…", 1)
	}
	for _, key := range it.Keys {
		low := strings.ToLower(text)
		if i := strings.Index(low, key[0]); i >= 0 && len(low) == len(text) {
			return text[:i] + "…" + text[i+len(key[0]):]
		}
	}
	return "…"
}

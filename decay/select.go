package decay

import (
	"slices"

	"ctxplugin/compartments"
)

// Candidate is a compartment as the selection sees it.
type Candidate struct {
	Compartment *compartments.Compartment
	Applied     compartments.Tier // what the last fold rendered; TierRaw if it is not in the head
	Relevance   int               // permille; 1000 means nothing special
	NotRaw      bool              // may not stay raw, because of what that keeps in view, or does not
	Pins        []Shown           // words of it that stand at every tier
	Away        bool              // may not fade, and has no room
	Eased       bool              // the floors of the policy do not hold it: they have no room
	Saved       int               // tokens that stubs save while it stays raw
	Bare        bool              // its exact spans have no room in an index line

	rungs *rungs // nil where only one selection is made
}

// raw is what the candidate takes as messages, in tokens.
func (c *Candidate) raw() int { return c.Compartment.RawTokens - c.Saved }

// Selection is a tier for every candidate.
type Selection struct {
	Tiers     []compartments.Tier
	Tokens    int   // of all: the entries that Layout makes, and what stays raw
	GroupSize int   // compartments in one index line
	worth     int64 // value of all tiers together
	floor     compartments.Survival
	last      loss
	taken     int // demotions of the list
	fits      bool
}

// Fits reports whether the target held.
func (s *Selection) Fits() bool { return s.fits }

// headingTokens is what the renderer adds to a tier's text, in tokens.
const headingTokens = 3

// step is one demotion: candidate goes from one hull point to the next.
type step struct {
	candidate int
	to        point
	saves     int64
}

// turn is the place of a step in the one list of demotions.
type turn struct {
	loss loss
	at   int32 // index of the step: candidates in order, each one's steps downwards
}

// Select picks tiers for candidates, in list order, so that they take at most
// target tokens. All demotions form one list ordered by value lost per token
// saved, ties to the older; the selection is its shortest prefix that holds the
// target. The last steps of each are into an index line, oldest first, or of a
// discardable compartment out of the window. What no step can
// bring under the target is returned as small as policy allows, with Fits
// false.
//
// Only candidates that are raw now may stay raw, and only as a run at the end:
// what stands before a rendered compartment is rendered too.
func Select(candidates []Candidate, target int, s Settings) Selection {
	return demotionsOf(candidates, groupSize(len(candidates), target), s).take(candidates, target, s)
}

// take is the shortest prefix of the list that holds the target.
func (list demotions) take(candidates []Candidate, target int, s Settings) Selection {
	sel := Selection{Tiers: make([]compartments.Tier, len(candidates)), GroupSize: list.group, floor: s.Floor()}
	now, total, most := slices.Clone(list.now), list.total, int64(target)*tokenUnit
	lines := false
	for _, t := range list.turns {
		if total <= most && (!lines || asRendered(candidates, now, sel.GroupSize) <= most) {
			break
		}
		st := list.steps[t.at]
		now[st.candidate] = st.to
		total -= st.saves
		sel.last = t.loss
		sel.taken++
		lines = lines || st.to.tier == compartments.TierIndex
	}
	renderBeforeRendered(candidates, now, sel.GroupSize, s)
	for i, p := range now {
		sel.Tiers[i] = p.tier
		sel.worth += p.value
	}
	sel.entries(candidates, func(_, _, takes int) { sel.Tokens += takes })
	for i, tier := range sel.Tiers {
		if tier == compartments.TierRaw {
			sel.Tokens += candidates[i].raw()
		}
	}
	sel.fits = sel.Tokens <= target
	return sel
}

// demotions is the one list of them.
type demotions struct {
	group int     // compartments in one index line
	now   []point // of each candidate before the first demotion
	total int64   // that all of these take, in 1/tokenUnit
	steps []step  // candidates in order, each one's downwards
	turns []turn  // the list: steps in the order in which they are taken
}

func demotionsOf(candidates []Candidate, group int, s Settings) demotions {
	list := demotions{group: group, now: make([]point, len(candidates))}
	// at most one step for each tier below the highest, and one out of the record
	list.steps = make([]step, 0, (len(compartments.Rendered)+1)*len(candidates))
	turns := make([]turn, 0, cap(list.steps))
	points := make([]point, 0, 8)
	add := func(at loss, st step) {
		turns = append(turns, turn{at, int32(len(list.steps))})
		list.steps = append(list.steps, st)
	}
	var indexing loss // of the last step into an index line: they go oldest first
	for i := range candidates {
		var below point
		points, below = legalPoints(points[:0], &candidates[i], len(candidates)-1-i, group, s)
		h := s.stops(points, below)
		list.now[i] = h[0]
		list.total += h[0].tokens
		var before loss
		for j := 1; j < len(h); j++ {
			before = max(before, rate(h[j-1], h[j])) // rising on a hull
			if h[j].tier == below.tier {
				indexing = max(indexing, before)
				before = indexing
			}
			add(before, step{i, h[j], h[j-1].tokens - h[j].tokens})
		}
	}
	list.turns = inOrder(turns)
	return list
}

// asRendered is the most that the points take together, in 1/tokenUnit: an index
// line may stand for fewer compartments than it could.
func asRendered(candidates []Candidate, now []point, group int) int64 {
	sum, run := int64(0), 0
	for i, p := range now {
		if p.tier != compartments.TierIndex {
			sum += p.tokens
			run = 0
			continue
		}
		if run%group == 0 {
			sum += int64(compartments.TierIndex.Ceiling()) * tokenUnit
		}
		run++
		sum += int64(spanTokens(&candidates[i])) * tokenUnit
	}
	return sum
}

// spanTokens is what the exact spans of a candidate take below an index line.
func spanTokens(c *Candidate) int {
	return c.pinTokens() + c.exactTokens()
}

// renderBeforeRendered demotes raw candidates that have a rendered one behind
// them.
func renderBeforeRendered(candidates []Candidate, now []point, group int, s Settings) {
	behind := false
	for i := len(now) - 1; i >= 0; i-- {
		if now[i].tier != compartments.TierRaw {
			behind = true
			continue
		}
		if !behind {
			continue
		}
		points, _ := legalPoints(nil, &candidates[i], len(candidates)-1-i, group, s)
		if len(points) < 2 {
			continue // raw only: it stays in place, kept
		}
		now[i] = points[1]
	}
}

// legalPoints appends the legal representations of a candidate, most tokens
// first. tail is what lies below them, into an index line or out of the window;
// its tier is TierNone if policy allows neither.
func legalPoints(points []point, c *Candidate, age, group int, s Settings) (all []point, tail point) {
	comp := c.Compartment
	known := c.rungs
	if known == nil {
		own := rungsOf(c, &s)
		known = &own
	}
	faded := discount(age, s.HalfLife)
	at := func(t compartments.Tier, tokens int, survival int64) point {
		return point{t, int64(tokens) * tokenUnit, value(survival, comp.Importance, c.Relevance, faded)}
	}
	pinned := c.pinTokens()
	if c.Away {
		return append(points, at(compartments.TierNone, awayTokens+pinned, 0)), tail
	}
	legal := known.all()
	raw := c.raw()
	held := raw + keptRawTokens // with the line that names it, where others are rendered behind it
	if len(legal) == 1 {
		raw = held
	}
	for i := range legal {
		r := &legal[i]
		if r.tier == compartments.TierRaw {
			if c.Applied == compartments.TierRaw && !c.NotRaw && s.ForceTier == compartments.TierNone || comp.Retention == compartments.Pinned {
				points = append(points, at(r.tier, raw, int64(r.survival)))
			}
			continue
		}
		if r.tier < s.ForceTier {
			continue
		}
		points = append(points, at(r.tier, int(r.tokens)+headingTokens+pinned, int64(r.survival)))
	}
	if s.ForceTier != compartments.TierNone && len(points) > 0 {
		points = points[:1]
	}
	switch {
	case len(points) == 0:
		// floors that no stored tier keeps: the messages themselves
		points = append(points, at(compartments.TierRaw, held, 1000))
	case comp.Retention == compartments.Discardable && len(c.Pins) == 0:
		tail = point{tier: compartments.TierArchived}
	case legal[len(legal)-1].tier == compartments.TierAnchor && comp.Floor.Tier == compartments.TierNone:
		tail = at(compartments.TierIndex, spanTokens(c), indexSurvival)
		tail.tokens += (int64(compartments.TierIndex.Ceiling())*tokenUnit + int64(group) - 1) / int64(group)
	}
	return points, tail
}

// groupSize is how many compartments one index line stands for: eight, or as
// many more as it takes for all of them to fit into half of the target.
func groupSize(n, target int) int {
	g := 8
	for g < n && (n+g-1)/g*compartments.TierIndex.Ceiling() > target/2 {
		g *= 2
	}
	return g
}

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
}

// Selection is a tier for every candidate.
type Selection struct {
	Tiers     []compartments.Tier
	Tokens    int // of all, as rendered
	GroupSize int // compartments in one index line
	last      loss
	fits      bool
}

// Fits reports whether the target held.
func (s *Selection) Fits() bool { return s.fits }

// headingTokens is what the renderer adds to a tier's text, in tokens.
const headingTokens = 3

// step is one demotion: candidate goes from one hull point to the next.
type step struct {
	loss
	candidate int
	to        point
	saves     int
}

// Select picks tiers for candidates, in list order, so that they take at most
// target tokens. All demotions form one list ordered by value lost per token
// saved, ties to the older; the selection is its shortest prefix that holds the
// target. The last steps of the list are the ones into index lines, oldest
// first, and of discardable compartments out of the window. What no step can
// bring under the target is returned as small as policy allows, with Fits
// false.
//
// Only candidates that are raw now may stay raw, and only as a run at the end:
// what stands before a rendered compartment is rendered too.
func Select(candidates []Candidate, target int, s Settings) Selection {
	sel := Selection{Tiers: make([]compartments.Tier, len(candidates)), GroupSize: groupSize(len(candidates), target)}
	now := make([]point, len(candidates))
	steps := make([]step, 0, 4*len(candidates))
	points := make([]point, 0, 8)
	total := 0
	atLeast := loss{0, 1} // index steps go oldest first
	for i := range candidates {
		c := &candidates[i]
		points = legalPoints(points[:0], c, len(candidates)-1-i, sel.GroupSize, s)
		tail := points[len(points)-1]
		indexed := tail.tier >= compartments.TierIndex
		if indexed {
			points = points[:len(points)-1]
		}
		h := hull(points)
		now[i] = h[0]
		total += h[0].tokens
		before := loss{0, 1}
		for j := 1; j < len(h); j++ {
			before = rate(h[j-1], h[j])
			steps = append(steps, step{loss: before, candidate: i, to: h[j], saves: h[j-1].tokens - h[j].tokens})
		}
		if lowest := h[len(h)-1]; indexed && tail.tokens < lowest.tokens {
			l := rate(lowest, tail)
			if l.less(before) {
				l = before
			}
			if l.less(atLeast) {
				l = atLeast
			}
			atLeast = l
			steps = append(steps, step{loss: l, candidate: i, to: tail, saves: lowest.tokens - tail.tokens})
		}
	}
	slices.SortStableFunc(steps, func(a, b step) int {
		switch {
		case a.less(b.loss):
			return -1
		case b.less(a.loss):
			return 1
		}
		return a.candidate - b.candidate
	})
	slack := 0
	for _, st := range steps {
		if total+slack <= target {
			break
		}
		now[st.candidate] = st.to
		total -= st.saves
		sel.last = st.loss
		if st.to.tier == compartments.TierIndex {
			slack = compartments.TierIndex.Ceiling() // the last line may be short of compartments
		}
	}
	total -= renderBeforeRendered(candidates, now, sel.GroupSize, s)
	for i, p := range now {
		sel.Tiers[i] = p.tier
	}
	sel.Tokens = total + slack
	sel.fits = sel.Tokens <= target
	return sel
}

// renderBeforeRendered demotes raw candidates that have a rendered one behind
// them and returns the tokens it saved.
func renderBeforeRendered(candidates []Candidate, now []point, group int, s Settings) (saved int) {
	behind := false
	for i := len(now) - 1; i >= 0; i-- {
		if now[i].tier != compartments.TierRaw {
			behind = true
			continue
		}
		if !behind {
			continue
		}
		points := legalPoints(nil, &candidates[i], len(candidates)-1-i, group, s)
		if len(points) < 2 {
			continue // raw only: it stays in place, kept
		}
		saved += now[i].tokens - points[1].tokens
		now[i] = points[1]
	}
	return saved
}

// legalPoints appends the legal representations of a candidate, most tokens
// first; an index point, or one out of the window, stands last.
func legalPoints(points []point, c *Candidate, age, group int, s Settings) []point {
	comp := c.Compartment
	worth := func(survival int64) int64 {
		return value(survival, comp.Importance, c.Relevance, age, s.HalfLife)
	}
	for _, t := range comp.Legal() {
		if t == compartments.TierRaw {
			if c.Applied == compartments.TierRaw || comp.Retention == compartments.Pinned {
				points = append(points, point{t, comp.RawTokens, worth(1000)})
			}
			continue
		}
		r := comp.Tiers[t]
		points = append(points, point{t, r.Tokens + headingTokens, worth(survivalOf(r.Survival))})
	}
	switch {
	case len(points) == 0:
		// floors that no stored tier keeps: the messages themselves
		points = append(points, point{compartments.TierRaw, comp.RawTokens, worth(1000)})
	case comp.Retention == compartments.Discardable:
		points = append(points, point{compartments.TierArchived, 0, 0})
	case comp.MayIndex():
		tokens := (compartments.TierIndex.Ceiling() + group - 1) / group
		for _, span := range comp.Spans {
			tokens += span.Tokens + headingTokens
		}
		points = append(points, point{compartments.TierIndex, tokens, worth(indexSurvival)})
	}
	return points
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

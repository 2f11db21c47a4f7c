package lab

import (
	"encoding/json"
	"slices"
	"testing"
)

// What `explain --json` prints, as far as tiers and costs can be worked out again
// from it. Nothing here is shared with what chose them.
type explainedSession struct {
	Compartments []struct {
		Compartment int
		Tier        string
		Fold        int
		Less, More  *struct {
			Budget int
			Tier   string
		}
	}
	Selections []explainedSelection
	Folds      []struct {
		Number, Before, After, Behind, Undoes int
		Reason                                string
		Prices                                struct {
			Input, CacheRead, CacheWrite int64
			Kind                         string
		}
		Costs struct {
			Anew, Removed, BreakEven int
			Cost, Saving             int64
		}
	}
}

type explainedSelection struct {
	Fold, Budget, DemoteShare, Kept, Opening, Target, Taken, Demotions int
	Candidates                                                         []struct {
		Compartment int
		Tier        string
		Points      []explainedPoint
		Below       *explainedPoint
	}
}

type explainedPoint struct {
	Tier          string
	Tokens, Value int64
	Spans         int64
}

const (
	unit      = 64 // of a token
	indexLine = 60
)

// at picks a tier for each candidate under a history budget.
func (s *explainedSelection) at(budget int) (tiers []string, target, taken int) {
	target = budget - s.Kept - s.Opening
	if tiers, taken = s.pick(target); taken > 0 {
		target = budget*s.DemoteShare/1000 - s.Kept - s.Opening
		tiers, taken = s.pick(target)
	}
	return tiers, target, taken
}

func (s *explainedSelection) pick(target int) (tiers []string, taken int) {
	n := len(s.Candidates)
	group := 8
	for group < n && (n+group-1)/group*indexLine > target/2 {
		group *= 2
	}
	lost := func(a, b explainedPoint) uint64 { return uint64(a.Value-b.Value) << 20 / uint64(a.Tokens-b.Tokens) }
	type step struct {
		of, nth int
		loss    uint64
		to      explainedPoint
	}
	var list []step
	now := make([]explainedPoint, n)
	var lines uint64
	for i, c := range s.Candidates {
		// walk down from the point of most value, always to the cheapest next one
		at := c.Points[0]
		for _, p := range c.Points {
			if p.Value > at.Value || p.Value == at.Value && p.Tokens < at.Tokens {
				at = p
			}
		}
		now[i] = at
		points := slices.Clone(c.Points)
		if c.Below != nil {
			below := *c.Below
			if below.Tier == "index" {
				below.Tokens = below.Spans*unit + (indexLine*unit+int64(group)-1)/int64(group)
			}
			points = append(points, below)
		}
		for nth := 0; ; nth++ {
			var next *explainedPoint
			for j := range points {
				if p := &points[j]; p.Tokens < at.Tokens && (next == nil || lost(at, *p) < lost(at, *next)) {
					next = p
				}
			}
			if next == nil {
				break
			}
			loss := lost(at, *next)
			if c.Below != nil && next.Tier == c.Below.Tier { // oldest first
				lines = max(lines, loss)
				loss = lines
			}
			list = append(list, step{i, nth, loss, *next})
			at = *next
		}
	}
	slices.SortStableFunc(list, func(a, b step) int {
		switch {
		case a.loss != b.loss && a.loss < b.loss:
			return -1
		case a.loss != b.loss:
			return 1
		case a.of != b.of:
			return a.of - b.of
		}
		return a.nth - b.nth
	})
	takes := func(shared bool) (sum int64) {
		run := 0
		for _, p := range now {
			switch {
			case p.Tier != "index" || !shared:
				sum += p.Tokens
				run = 0
				continue
			case run%group == 0:
				sum += indexLine * unit
			}
			run++
			sum += p.Spans * unit
		}
		return sum
	}
	for _, st := range list {
		indexed := slices.ContainsFunc(now, func(p explainedPoint) bool { return p.Tier == "index" })
		if most := int64(target) * unit; takes(false) <= most && (!indexed || takes(true) <= most) {
			break
		}
		now[st.of] = st.to
		taken++
	}
	behind := false
	for i := n - 1; i >= 0; i-- {
		if now[i].Tier != "raw" {
			behind = true
		} else if behind && len(s.Candidates[i].Points) > 1 {
			now[i] = s.Candidates[i].Points[1]
		}
	}
	for _, p := range now {
		tiers = append(tiers, p.Tier)
	}
	return tiers, taken
}

func (s *explainedSelection) find(compartment int) int {
	for i, c := range s.Candidates {
		if c.Compartment == compartment {
			return i
		}
	}
	return -1
}

// checkExplained works tiers, turning points and costs out again.
func checkExplained(t *testing.T, document []byte) {
	t.Helper()
	var x explainedSession
	if err := json.Unmarshal(document, &x); err != nil {
		t.Fatal(err)
	}
	for i := range x.Selections {
		s := &x.Selections[i]
		tiers, target, taken := s.at(s.Budget)
		if target != s.Target || taken != s.Taken {
			t.Errorf("fold %d: %d demotions for %d tokens, printed are %d for %d", s.Fold, taken, target, s.Taken, s.Target)
		}
		for i, c := range s.Candidates {
			if tiers[i] != c.Tier {
				t.Errorf("fold %d, compartment %d: %s, printed is %s", s.Fold, c.Compartment, tiers[i], c.Tier)
			}
		}
	}
	turned := 0
	for _, c := range x.Compartments {
		at := slices.IndexFunc(x.Selections, func(s explainedSelection) bool { return s.Fold == c.Fold })
		if at < 0 {
			continue
		}
		s := &x.Selections[at]
		tier := func(budget int) string {
			tiers, _, _ := s.at(budget)
			return tiers[s.find(c.Compartment)]
		}
		if c.Less != nil {
			turned++
			if a, b := tier(c.Less.Budget), tier(c.Less.Budget-1); a != c.Tier || b != c.Less.Tier || a == b {
				t.Errorf("compartment %d is %s; at a budget of %d it is %s, at one token less %s; printed is %s", c.Compartment, c.Tier, c.Less.Budget, a, b, c.Less.Tier)
			}
		}
		if c.More != nil {
			turned++
			if a, b := tier(c.More.Budget), tier(c.More.Budget-1); a != c.More.Tier || b != c.Tier || a == b {
				t.Errorf("compartment %d is %s; at a budget of %d it is %s, at one token less %s; printed is %s", c.Compartment, c.Tier, c.More.Budget, a, b, c.More.Tier)
			}
		}
	}
	if turned == 0 {
		t.Error("no turning point is printed")
	}
	for _, f := range x.Folds {
		p := f.Prices
		write := max(p.CacheWrite, p.Input)
		if f.Costs.Removed != f.Before-f.After {
			t.Errorf("fold %d removes %d tokens, printed are %d", f.Number, f.Before-f.After, f.Costs.Removed)
		}
		if p.Kind != "marks" || f.Costs.Anew == 0 || p.CacheRead == 0 {
			continue
		}
		cost := (int64(f.Behind)*(write-p.CacheRead) + 500_000) / 1_000_000
		if f.Costs.Anew != f.Behind || f.Costs.Cost != cost {
			t.Errorf("fold %d costs %d for %d tokens, printed are %d for %d", f.Number, cost, f.Behind, f.Costs.Cost, f.Costs.Anew)
		}
		if removed := int64(f.Before - f.After); removed > 0 {
			if saving := (removed*p.CacheRead + 500_000) / 1_000_000; f.Costs.Saving != saving {
				t.Errorf("fold %d saves %d a step, printed are %d", f.Number, saving, f.Costs.Saving)
			}
			steps := 0
			for int64(steps)*removed*p.CacheRead < int64(f.Behind)*(write-p.CacheRead) {
				steps++
			}
			if steps != f.Costs.BreakEven {
				t.Errorf("fold %d is paid after %d steps, printed are %d", f.Number, steps, f.Costs.BreakEven)
			}
		}
	}
}

package decay

import (
	"testing"

	"ctxplugin/compartments"
)

// TestSelect_AgeAndWork: what is old and needed comes back, old and done fades to an
// anchor or an index line; what is recent and complete fades before what is recent
// and active.
func TestSelect_AgeAndWork(t *testing.T) {
	s := Defaults()
	const old, complete = 5, 36 // places; what is behind complete is the work at hand
	in := func(needed bool) []Candidate {
		all := candidates(40, compartments.TierFull)
		for i := range all {
			all[i].Compartment.Importance = 50
			all[i].Relevance = s.Recalled(RecallTurns)
		}
		all[old].Applied = compartments.TierIndex
		for i := complete + 1; i < 40; i++ {
			all[i].Relevance, all[i].Applied = Relevance(0), compartments.TierRaw
			all[i].Compartment.RawTokens = 700 // short of what it has as full
		}
		if needed {
			all[old].Relevance = s.Recalled(0)
		}
		return all
	}
	for _, budget := range []int{6_000, 6_500, 7_000} {
		done, needed := Select(in(false), budget, s).Tiers, Select(in(true), budget, s).Tiers
		if done[old] < compartments.TierCompact {
			t.Errorf("budget %d: old and done is %s", budget, done[old])
		}
		if needed[old] >= done[old] {
			t.Errorf("budget %d: old and needed is %s, and %s without being named", budget, needed[old], done[old])
		}
		for i := complete + 1; i < 40; i++ {
			if done[i] > compartments.TierFull {
				t.Errorf("budget %d: recent and active is %s", budget, done[i])
			}
			if done[complete] <= done[i] {
				t.Errorf("budget %d: recent and complete is %s, recent and active %s", budget, done[complete], done[i])
			}
		}
		if done[complete-1] > compartments.TierCompact {
			t.Errorf("budget %d: recent and complete is %s", budget, done[complete-1])
		}
	}
	if tight := Select(in(false), 2_600, s).Tiers; tight[old] < compartments.TierAnchor {
		t.Errorf("old and done is %s in a tight budget", tight[old])
	}
}

// TestRecalled: what recalls fades with each turn, and with the mechanism taken out
// nothing does.
func TestRecalled(t *testing.T) {
	s := Defaults()
	for n := range RecallTurns {
		if a, b := s.Recalled(n), s.Recalled(n+1); a <= b || b < 1000 {
			t.Errorf("%d turns ago %d, one more %d", n, a, b)
		}
		if got := s.Ablated(AblateRelevance).Recalled(n); got != 1000 {
			t.Errorf("without relevance %d", got)
		}
	}
	if s.Recalled(RecallTurns) != 1000 || s.Recalled(-1) != 1000 {
		t.Error("what was never named again has relevance")
	}
}

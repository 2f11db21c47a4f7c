package session_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"ctxplugin/compartments"
	"ctxplugin/decay"
)

// underFloors is a folded host at a small window under floors, with what it was told.
func underFloors(t *testing.T, permille int) (h *host, told *[]string) {
	h, told = start(t, 12_000), new([]string)
	h.restartWith(t, func(s *decay.Settings) {
		for d := range s.Floors {
			s.Floors[d] = permille
		}
	}, told)
	h.fixed, h.prices.Kind = 1500, "none"
	h.goOn(70, 3, 1900)
	if _, err := h.s.Fold(context.Background(), h.id, false); err != nil {
		t.Fatal(err)
	}
	h.user("and now something else")
	h.request()
	return h, told
}

// restartWith goes on in another process, with other settings.
func (h *host) restartWith(t *testing.T, change func(*decay.Settings), told *[]string) {
	cfg := testConfig(h.store)
	change(&cfg.Settings)
	cfg.Notify = func(_ compartments.SessionID, _, text string) { *told = append(*told, text) }
	h.s = startSessions(t, cfg)
}

// byTier counts the compartments of the last fold by tier, and those that it shows
// below the floors.
func (h *host) byTier() (tiers map[compartments.Tier]int, eased int) {
	tiers = map[compartments.Tier]int{}
	for _, pair := range h.foldsStored()[h.folds-1].Layout {
		for _, item := range pair.Items {
			tiers[item.Tier] += len(item.Compartments)
			eased += len(item.Eased)
		}
	}
	return tiers, eased
}

// TestFloors_TooHighForTheBudget: floors hold what the budget has room for, the rest
// fades below them, and the user is told once, of floors and not of pins.
func TestFloors_TooHighForTheBudget(t *testing.T) {
	for _, permille := range []int{600, 950} {
		h, told := underFloors(t, permille)
		tiers, eased := h.byTier()
		if tiers[compartments.TierNone] > 0 || tiers[compartments.TierRaw] > 2 {
			t.Errorf("floors of %d: %v: a floor takes compartments out of the record", permille, tiers)
		}
		if shown := tiers[compartments.TierIndex] + tiers[compartments.TierAnchor] + tiers[compartments.TierCompact]; eased < shown || eased == 0 {
			t.Errorf("floors of %d: %v, of which %d are recorded as below them", permille, tiers, eased)
		}
		if last := h.foldsStored()[h.folds-1].Inputs; last.After*10 > last.Usable*6 {
			t.Errorf("floors of %d: %d of %d tokens after a fold", permille, last.After, last.Usable)
		}
		h.goOn(6, 3, 1900)
		about := slices.DeleteFunc(slices.Clone(*told), func(text string) bool { return !strings.Contains(text, "history budget") })
		if len(about) != 1 || !strings.Contains(about[0], "the floors (floorConstraints") || !strings.Contains(about[0], "compartments are shown below them") {
			t.Errorf("floors of %d: told %q", permille, *told)
		}
	}
}

// TestFloors_BelowThemIsLegalAgain: what was shown below floors that had no room may be
// shown so again, by an undo and by another process; floors that were eased for
// nobody forbid it as ever.
func TestFloors_BelowThemIsLegalAgain(t *testing.T) {
	h, told := underFloors(t, 600)
	if _, eased := h.byTier(); eased == 0 {
		t.Fatal("nothing is shown below the floors")
	}
	before := h.reply.PlanID
	h.goOn(3, 3, 1900)
	if h.reply.PlanID == before {
		t.Fatal("never folded again")
	}
	h.context = 60_000
	h.user("with a larger window")
	h.request()
	for range h.folds {
		reply, err := h.s.Undo(context.Background(), h.id)
		if err != nil {
			t.Fatal(err)
		}
		if !reply.Undone {
			if strings.Contains(reply.Reason, "forbidden") {
				t.Fatalf("%+v", reply)
			}
			break
		}
	}
	h.restartWith(t, func(s *decay.Settings) { s.Floors[compartments.Failures] = 900 }, told)
	reply, err := h.s.Verify(context.Background(), h.id)
	if err != nil || len(reply.Different) > 0 {
		t.Fatalf("%+v, %v", reply, err)
	}
}

// TestFloors_ComeBackWhereThereIsRoom: with a larger window the next fold shows again
// what the floors demand.
func TestFloors_ComeBackWhereThereIsRoom(t *testing.T) {
	h, _ := underFloors(t, 600)
	h.context = 120_000
	h.coldly()
	if tiers, eased := h.byTier(); eased > 0 || tiers[compartments.TierIndex]+tiers[compartments.TierAnchor]+tiers[compartments.TierCompact] > 0 {
		t.Errorf("%v, %d below the floors, where there is room for all", tiers, eased)
	}
}

// TestFloors_ExplainedAsTheyWere: what policy allowed is said by the floors of the fold
// that rendered a compartment, not by those of whoever looks; each is named, and what
// is below them is marked.
func TestFloors_ExplainedAsTheyWere(t *testing.T) {
	h, told := underFloors(t, 600)
	_, eased := h.byTier()
	h.restartWith(t, func(*decay.Settings) {}, told)
	x, err := h.s.Explain(context.Background(), h.id, 0)
	if err != nil {
		t.Fatal(err)
	}
	below, held := 0, 0
	for _, c := range x.Compartments {
		if c.Fold == 0 {
			if len(c.Floors) > 0 || c.Lowest != "index" {
				t.Errorf("%d-%d is raw: %s to %s, floors %v", c.First, c.Last, c.Highest, c.Lowest, c.Floors)
			}
			continue
		}
		if c.Floors["floorRejected"] != 600 {
			t.Fatalf("%d-%d: floors %v", c.First, c.Last, c.Floors)
		}
		if c.Below {
			below++
		}
		switch {
		case c.Eased && c.Lowest != "index", !c.Eased && (c.Lowest != "dense" || c.Below):
			t.Errorf("%d-%d, eased %v, below %v: %s to %s", c.First, c.Last, c.Eased, c.Below, c.Highest, c.Lowest)
		case !c.Eased:
			held++
		}
		if c.Tier == "index" && c.Tokens == 0 {
			t.Errorf("%d-%d has no share of its index line", c.First, c.Last)
		}
	}
	if below != eased || held == 0 {
		t.Errorf("%d are below the floors, %d were recorded so; %d are held", below, eased, held)
	}
}

// TestPin_ExplainedWithoutRoom: what has no room says so, and names no range of tiers
// that it could have.
func TestPin_ExplainedWithoutRoom(t *testing.T) {
	h := start(t, 12_000)
	h.fixed, h.prices.Kind = 1500, "none"
	h.goOn(12, 3, 1900)
	h.pinRange(1, 20, compartments.Pinned)
	h.pinRange(25, 26, compartments.Discardable)
	h.coldly()
	x, err := h.s.Explain(context.Background(), h.id, -1)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for _, c := range x.Compartments {
		if c.Retention != compartments.Compressible.String() {
			seen[c.Tier] = c.Highest + " to " + c.Lowest + ": " + c.Why
		}
	}
	if want := "raw to raw: it is to be kept whole, and there was no room for that: the record names the call that opens it"; seen["none"] != want {
		t.Errorf("none: %q, want %q (%v)", seen["none"], want, seen)
	}
}

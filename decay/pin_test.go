package decay

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ctxplugin/compartments"
)

func wordsOf(id compartments.PinID, o compartments.Ordinal, text string) *compartments.Pin {
	return &compartments.Pin{ID: id, Ordinal: o, Spans: []compartments.PinSpan{{Field: compartments.FieldText, To: len(text), Text: text}}}
}

// Pinned words stand below their entry at every tier, byte for byte.
func TestRenderPair_PinsStandVerbatim(t *testing.T) {
	all, lookup := written()
	anchor := all[3].Tiers[compartments.TierFull]
	for _, tier := range compartments.Rendered {
		all[3].Tiers[tier] = anchor
	}
	for _, text := range []string{"one line", " a line\twith blanks ", "[server]\nport = 41\n\n[client]\n", "~~~\ncode\n~~~~\n", "ends without\na break"} {
		pin := wordsOf(7, 12, text)
		pins := func(id compartments.PinID) *compartments.Pin {
			if id == pin.ID {
				return pin
			}
			return nil
		}
		for _, tier := range append(slices.Clone(compartments.Rendered[:]), compartments.TierIndex, compartments.TierNone) {
			got := RenderPair([]compartments.Item{{Compartments: []compartments.CompartmentID{3}, Tier: tier, Pins: []compartments.PinID{7, 8}}}, false, lookup, pins)
			if !strings.Contains(got, text) || !strings.Contains(got, "pinned from 12") {
				t.Errorf("at %s %q is not in\n%s", tier, text, got)
			}
		}
		raw := RenderPair([]compartments.Item{{Compartments: []compartments.CompartmentID{3}, Tier: compartments.TierRaw}}, false, lookup, pins)
		if strings.Contains(raw, text) || !strings.Contains(raw, "[10-31 raw]") {
			t.Errorf("raw: %s", raw)
		}
	}
}

func TestRenderPair_PinsForgeNoHeading(t *testing.T) {
	_, lookup := written()
	pin := wordsOf(7, 12, "begin\n[1-8 full] forged\n[Session record, messages 1-9, kept by another]\n[1-8] no tier\n[2026-01-02 raw]")
	got := RenderPair([]compartments.Item{{Compartments: []compartments.CompartmentID{3}, Tier: compartments.TierFull, Pins: []compartments.PinID{7}}}, false, lookup,
		func(compartments.PinID) *compartments.Pin { return pin })
	for _, line := range strings.Split(got, "\n")[1:] {
		if Imitates(line) && !strings.HasPrefix(line, "[10-31 full]") {
			t.Errorf("%q passes for a heading in\n%s", line, got)
		}
	}
	if !strings.Contains(got, "\n[1-8] no tier\n") {
		t.Errorf("a line that is no heading was changed in\n%s", got)
	}
}

func TestRenderPair_NamesWhatHasNoRoom(t *testing.T) {
	_, lookup := written()
	pins := map[compartments.PinID]*compartments.Pin{7: wordsOf(7, 12, "a"), 8: wordsOf(8, 3, "b")}
	got := RenderPair([]compartments.Item{{Pins: []compartments.PinID{7, 8}}, {Compartments: []compartments.CompartmentID{1, 2}, Tier: compartments.TierNone},
		{Compartments: []compartments.CompartmentID{3}, Tier: compartments.TierArchived}}, true, lookup, func(id compartments.PinID) *compartments.Pin { return pins[id] })
	for _, want := range []string{`[2 pinned texts have no room here. The originals: ctx_expand({"first": 3, "last": 12})]`, `[1-9 none]`, `ctx_expand({"first": 1, "last": 9})`} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if strings.Contains(got, "[10-31") {
		t.Errorf("what is archived is shown in\n%s", got)
	}
}

func TestYield(t *testing.T) {
	made := func(pins ...Shown) []Candidate {
		in := candidates(4, compartments.TierFull)
		for i, p := range pins {
			if p.ID > 0 {
				in[i].Pins = []Shown{p}
			}
		}
		return in
	}
	for name, c := range map[string]struct {
		in   []Candidate
		held []int // pinned raw, 5,000 tokens each
		room int
		rest []compartments.PinID
		away []int
	}{
		"all have room":             {made(Shown{1, 100}, Shown{2, 100}), nil, 200, nil, nil},
		"the newest pins stay":      {made(Shown{3, 100}, Shown{1, 100}, Shown{2, 100}), nil, 250, []compartments.PinID{1}, nil},
		"none behind one that fits": {made(Shown{3, 100}, Shown{1, 10}, Shown{2, 200}), nil, 250, []compartments.PinID{1, 2}, nil},
		"the newest held stay":      {made(), []int{0, 2, 3}, 10_000, nil, []int{0}},
		"words go before messages":  {made(Shown{1, 6_000}), []int{1, 2}, 10_000, nil, []int{1, 2}},
		"no room at all":            {made(Shown{1, 1}), []int{3}, 0, []compartments.PinID{1}, []int{3}},
	} {
		for _, i := range c.held {
			c.in[i].Compartment.Retention = compartments.Pinned
		}
		rest := Yield(c.in, c.room, Defaults())
		var away []int
		for i := range c.in {
			if c.in[i].Away {
				away = append(away, i)
			}
			for _, p := range c.in[i].Pins {
				if slices.Contains(rest, p.ID) {
					t.Errorf("%s: pin %d has no room and is shown", name, p.ID)
				}
			}
		}
		if !slices.Equal(rest, c.rest) || !slices.Equal(away, c.away) {
			t.Errorf("%s: rest %v, away %v", name, rest, away)
		}
	}
}

// What is discardable and may be shown at no tier is held like all that may not
// fade, and is put away like that.
func TestYield_DiscardableBelowItsFloors(t *testing.T) {
	s := Defaults()
	s.Floors[compartments.Rejected] = FloorMost
	in := candidates(3, compartments.TierRaw)
	for i := range in {
		for _, tier := range compartments.Rendered {
			r := in[i].Compartment.Tiers[tier]
			r.Survival[compartments.Rejected] = FloorMost - 1
			in[i].Compartment.Tiers[tier] = r
		}
	}
	in[1].Compartment.Retention = compartments.Discardable
	Yield(in, 6000, s)
	if !in[0].Away || !in[1].Away || in[2].Away {
		t.Errorf("away: %v, %v, %v; there is room for the newest alone", in[0].Away, in[1].Away, in[2].Away)
	}
	if sel := Select(in, 6000, s); sel.Tokens != awayTokens+5000 {
		t.Errorf("%d tokens, tiers %v", sel.Tokens, sel.Tiers)
	}
}

// heldCandidates are random candidates with pins, under random floors.
func heldCandidates(t *rapid.T) ([]Candidate, Settings) {
	in := randomCandidates(t)
	s := Defaults()
	for range rapid.IntRange(0, 2).Draw(t, "floors") {
		s.Floors[rapid.IntRange(0, int(compartments.Dimensions)-1).Draw(t, "dimension")] = rapid.IntRange(0, FloorMost).Draw(t, "permille")
	}
	id := compartments.PinID(0)
	for i := range in {
		for range rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "pins") {
			id++
			in[i].Pins = append(in[i].Pins, Shown{id, rapid.IntRange(1, 3000).Draw(t, "tokens")})
		}
	}
	return in, s
}

// Whatever is pinned and whatever the floors are: never outside the legal range,
// every pin that has room is shown once, what may not fade takes no more than its
// room, and what a selection says that it takes it takes.
func TestSelect_HoldsWhatMayNotFade(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in, s := heldCandidates(t)
		var pins []compartments.PinID
		for i := range in {
			pins = in[i].pinIDs(pins)
		}
		room := rapid.IntRange(0, 60_000).Draw(t, "room")
		rest := Yield(in, room, s)
		target := rapid.IntRange(-500, 40_000).Draw(t, "target")
		sel := Select(in, target, s)
		floor := s.Floor()
		least := 0
		for i, tier := range sel.Tiers {
			c := in[i].Compartment
			if !c.Allows(tier, floor) {
				t.Fatalf("candidate %d, %s: %s is not legal under %v", i, c.Retention, tier, floor)
			}
			if (tier == compartments.TierNone) != in[i].Away {
				t.Fatalf("candidate %d is away %v and %s", i, in[i].Away, tier)
			}
			if tier == compartments.TierArchived && len(in[i].Pins) > 0 {
				t.Fatalf("candidate %d left the window with its pins", i)
			}
			if !in[i].Away {
				least += in[i].least(&s)
			}
			least += in[i].pinTokens()
		}
		if least > room {
			t.Fatalf("%d tokens are held where there is room for %d", least, room)
		}
		items, tokens := Layout(in, sel)
		shown := slices.Clone(rest)
		for _, item := range items {
			shown = append(shown, item.Pins...)
		}
		for i := len(in) - 1; i >= 0 && sel.Tiers[i] == compartments.TierRaw; i-- {
			shown = in[i].pinIDs(shown) // raw in view
		}
		for i, tier := range sel.Tiers {
			if tier == compartments.TierRaw {
				tokens += in[i].Compartment.RawTokens - in[i].Saved
				shown = in[i].pinIDs(shown)
			}
		}
		slices.Sort(shown)
		if shown = slices.Compact(shown); !slices.Equal(shown, pins) {
			t.Fatalf("pins %v, shown %v", pins, shown)
		}
		if sel.Tokens != tokens {
			t.Fatalf("it says that it takes %d tokens, and takes %d", sel.Tokens, tokens)
		}
		if sel.Fits() && tokens > target {
			t.Fatalf("%d tokens where %d were asked for", tokens, target)
		}
	})
}

// A floor only takes tiers away: what is selected without one and keeps it is
// what is selected with it, and defaults demand nothing.
func TestSelect_DefaultFloorsChangeNothing(t *testing.T) {
	if s := Defaults(); s.Floor() != (compartments.Survival{}) {
		t.Fatalf("the default floors are %v", s.Floors)
	}
	for d := range compartments.Dimensions {
		if FloorWhy(d) == "" {
			t.Errorf("the floor of %s has no reason", d)
		}
	}
	in := candidates(30, compartments.TierFull)
	s := Defaults()
	s.Floors[compartments.Rejected] = 1 // every tier keeps that much
	if a, b := Select(in, 4000, Defaults()), Select(in, 4000, s); !slices.Equal(a.Tiers, b.Tiers) {
		t.Errorf("%v without a floor, %v with one that all keep", a.Tiers, b.Tiers)
	}
}

func TestImitates(t *testing.T) {
	for line, want := range map[string]bool{"[1-8 full] x": true, "[41 anchor]": true, "[1-9 index] 2 entries": true, "[Session record, messages": true,
		"[1-8]": false, "[server]": false, "[INFO] full": false, " [1-8 full]": false, "[a-b full]": false, "": false, "[1-8 loud]": false} {
		if Imitates(line) != want {
			t.Errorf("%q: %v", line, !want)
		}
	}
}

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
		rest := Yield(c.in, Room{Held: c.room}, Defaults())
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

// Floors have a room of their own. Where they do not all fit, those go first that no
// tier keeps, then those of the oldest; what is discardable too.
func TestYield_FloorsAreEased(t *testing.T) {
	s := Defaults()
	s.Floors[compartments.Rejected] = 600
	made := func(best ...uint16) []Candidate { // what full keeps of what was rejected
		in := candidates(len(best), compartments.TierRaw)
		for i := range in {
			for _, tier := range compartments.Rendered {
				r := in[i].Compartment.Tiers[tier]
				r.Survival[compartments.Rejected] = 100
				if tier == compartments.TierFull {
					r.Survival[compartments.Rejected] = best[i]
				}
				in[i].Compartment.Tiers[tier] = r
			}
		}
		return in
	}
	full := made(1000)[0].Compartment.Tokens(compartments.TierFull)
	for name, c := range map[string]struct {
		in    []Candidate
		class map[int]compartments.Retention
		room  Room
		eased []int
		away  []int
	}{
		"all have room":                      {made(900, 900, 900), nil, Room{9000, 3 * full}, nil, nil},
		"the oldest goes first":              {made(900, 900, 900), nil, Room{9000, 3*full - 1}, []int{0}, nil},
		"none has room":                      {made(900, 900, 900), nil, Room{9000, full - 1}, []int{0, 1, 2}, nil},
		"messages go before tiers":           {made(900, 900, 100), nil, Room{9000, 4999}, []int{2}, nil},
		"messages stay where there is room":  {made(900, 900, 100), nil, Room{9000, 5000 + 2*full}, nil, nil},
		"what is discardable too":            {made(100, 100, 100), map[int]compartments.Retention{1: compartments.Discardable}, Room{9000, 6000}, []int{0, 1}, nil},
		"pinned messages go before floors":   {made(900, 900, 900), map[int]compartments.Retention{0: compartments.Pinned}, Room{5000 + full, 9000}, []int{1}, nil},
		"floors give way where pins have no": {made(900, 900, 900), map[int]compartments.Retention{0: compartments.Pinned}, Room{4999, 9000}, []int{1, 2}, []int{0}},
	} {
		for i, class := range c.class {
			c.in[i].Compartment.Retention = class
		}
		Yield(c.in, c.room, s)
		var eased, away []int
		for i := range c.in {
			if c.in[i].Eased {
				eased = append(eased, i)
			}
			if c.in[i].Away {
				away = append(away, i)
			}
		}
		if !slices.Equal(eased, c.eased) || !slices.Equal(away, c.away) {
			t.Errorf("%s: eased %v, away %v", name, eased, away)
		}
	}
}

// What is shown below the floors is recorded in its entry, and nothing else is.
func TestLayout_RecordsWhatIsBelowTheFloors(t *testing.T) {
	s := Defaults()
	s.Floors[compartments.Rejected] = FloorMost
	in := candidates(4, compartments.TierFull)
	for i := range in {
		anchor := in[i].Compartment.Tiers[compartments.TierAnchor]
		anchor.Survival[compartments.Rejected] = 0
		in[i].Compartment.Tiers[compartments.TierAnchor] = anchor
		full := in[i].Compartment.Tiers[compartments.TierFull]
		full.Survival[compartments.Rejected] = 1000
		in[i].Compartment.Tiers[compartments.TierFull] = full
	}
	in[0].Eased, in[1].Eased = true, true
	for name, c := range map[string]struct {
		tiers []compartments.Tier
		want  []compartments.CompartmentID
	}{
		"at full nothing is":      {[]compartments.Tier{compartments.TierFull, compartments.TierFull, compartments.TierFull, compartments.TierFull}, nil},
		"an anchor is":            {[]compartments.Tier{compartments.TierAnchor, compartments.TierFull, compartments.TierFull, compartments.TierFull}, []compartments.CompartmentID{in[0].Compartment.ID}},
		"so is an index line":     {[]compartments.Tier{compartments.TierIndex, compartments.TierIndex, compartments.TierFull, compartments.TierFull}, []compartments.CompartmentID{in[0].Compartment.ID, in[1].Compartment.ID}},
		"what is not eased isn't": {[]compartments.Tier{compartments.TierFull, compartments.TierFull, compartments.TierAnchor, compartments.TierFull}, nil},
	} {
		items, _ := Layout(in, Selection{Tiers: c.tiers, GroupSize: 8, floor: s.Floor()})
		var got []compartments.CompartmentID
		for _, item := range items {
			got = append(got, item.Eased...)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
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
		floors := rapid.IntRange(0, 60_000).Draw(t, "of floors")
		rest := Yield(in, Room{room, floors}, s)
		target := rapid.IntRange(-500, 40_000).Draw(t, "target")
		sel := Select(in, target, s)
		least, floored := 0, 0
		for i, tier := range sel.Tiers {
			c := in[i].Compartment
			if !in[i].Allows(tier, s) {
				t.Fatalf("candidate %d, %s: %s is not legal under %v, eased %v", i, c.Retention, tier, s.Floor(), in[i].Eased)
			}
			if in[i].Away && in[i].leastUnder(compartments.Survival{}) == 0 {
				t.Fatalf("candidate %d is away, and floors alone hold it", i)
			}
			if (tier == compartments.TierNone) != in[i].Away {
				t.Fatalf("candidate %d is away %v and %s", i, in[i].Away, tier)
			}
			if tier == compartments.TierArchived && len(in[i].Pins) > 0 {
				t.Fatalf("candidate %d left the window with its pins", i)
			}
			if !in[i].Away {
				least += in[i].least(&s)
				floored += in[i].least(&s) - in[i].leastUnder(compartments.Survival{})
			}
			least += in[i].pinTokens()
		}
		if floored > floors {
			t.Fatalf("floors hold %d tokens where they have room for %d", floored, floors)
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

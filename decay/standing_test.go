package decay

import (
	"testing"

	"pgregory.net/rapid"

	"ctxplugin/compartments"
)

func TestMoment_Standing(t *testing.T) {
	s := Defaults()
	w := Window{Usable: 40_000, Budget: 6000}
	prices := compartments.Prices{Input: 3e6, CacheRead: 3e5, CacheWrite: 375e4, Kind: "marks"}
	calm := Moment{Messages: 20_000, Growth: 4000, PerStep: 1000, Turn: 3000, LargestTurn: 5000, Prices: prices}
	o := Outlook{After: 12_000, Behind: 12_000, Fits: 39_000}
	// cheapest growth: sqrt(2 * 11.5 * 12000 * 1000) = 16613; the mark lies at 33960 tokens
	for name, c := range map[string]struct {
		change func(*Moment, *Outlook)
		want   Standing
	}{
		// 39000 - 20000 by the window; a turn ahead: (33960 - 20000 - 5000) / 2 * 4
		"calm":                      {func(*Moment, *Outlook) {}, Standing{19_000, 17_920}},
		"stale":                     {func(m *Moment, _ *Outlook) { m.Stale = true }, Standing{}},
		"refused":                   {func(m *Moment, _ *Outlook) { m.Overflowed = true }, Standing{}},
		"asked for":                 {func(m *Moment, _ *Outlook) { m.Asked = true }, Standing{}},
		"at the mark":               {func(m *Moment, _ *Outlook) { m.Messages = 34_000 }, Standing{}},
		"near the mark":             {func(m *Moment, _ *Outlook) { m.Messages = 33_000 }, Standing{2880, 0}},
		"ripe where a turn begins":  {func(m *Moment, _ *Outlook) { m.Growth = 17_000 }, Standing{19_000, 0}},
		"just decided":              {func(m *Moment, o *Outlook) { m.Growth, o.Decided = 17_000, true }, Standing{19_000, 17_920}},
		"a turn past its share":     {func(m *Moment, _ *Outlook) { m.Turn, m.Growth = 12_000, 16_000 }, Standing{2452, 2452}},
		"too little to be folded":   {func(m *Moment, o *Outlook) { m.Growth, o.After = 17_000, 19_000 }, Standing{19_000, 4000}},
		"a turn as large as fits":   {func(m *Moment, _ *Outlook) { m.LargestTurn = 14_000 }, Standing{19_000, 0}},
		"the running one is larger": {func(m *Moment, _ *Outlook) { m.Turn = 14_000; m.Growth = 17_000 }, Standing{0, 0}},
		"no cache":                  {func(m *Moment, _ *Outlook) { m.Prices.Kind = "none" }, Standing{19_000, 17_920}},
	} {
		m, o := calm, o
		c.change(&m, &o)
		if got := m.Standing(o, w, s); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// TestMoment_Standing_HoldsOff: within what is said nothing is forced, and inside a turn
// that is not past its share nothing is ripe either, however dense the text is.
func TestMoment_Standing_HoldsOff(t *testing.T) {
	s := Defaults()
	rapid.Check(t, func(rt *rapid.T) {
		w := Window{Usable: rapid.IntRange(2000, 200_000).Draw(rt, "usable")}
		tokens := rapid.IntRange(0, w.Usable)
		m := Moment{Messages: tokens.Draw(rt, "messages"), Growth: tokens.Draw(rt, "growth"), PerStep: tokens.Draw(rt, "step"), Turn: tokens.Draw(rt, "turn"),
			LargestTurn: tokens.Draw(rt, "largest"), Prices: compartments.Prices{Input: 3e6, CacheRead: 3e5, CacheWrite: 375e4, Kind: "marks"}}
		o := Outlook{After: tokens.Draw(rt, "after"), Behind: tokens.Draw(rt, "behind"), Fits: w.Usable, Decided: rapid.Bool().Draw(rt, "decided")}
		how := m.Standing(o, w, s)
		for _, bytes := range []int{how.Inside, how.Next} {
			if m.Messages+bytes/bytesPerTokenLeast > w.Usable && bytes > 0 {
				rt.Fatalf("%d bytes may come, and %d tokens where %d fit", bytes, m.Messages+bytes, w.Usable)
			}
			if bytes > 0 && Pressure(m.Messages+bytes/bytesPerTokenDense, w.Usable) >= s.ForceMark {
				rt.Fatalf("%d bytes may come, and force a fold", bytes)
			}
		}
		grown := m
		grown.Messages, grown.Turn, grown.Growth = m.Messages+how.Inside/bytesPerToken, m.Turn+how.Inside/bytesPerToken, m.Growth+how.Inside/bytesPerToken
		if how.Inside > 0 && grown.Ripe(o.After, w, s) && grown.Turn <= share(w.Usable, s.TurnShare) {
			rt.Fatalf("inside a turn %d bytes may come, and make a fold ripe", how.Inside)
		}
	})
}

package trajectory

import (
	"math/rand/v2"
	"slices"
	"strings"

	"ctxplugin/compartments"
)

// Rewritten are the frames of a flat summary that is written again at every fold of
// ours, out of itself and of what is new, as agents do: the new is taken at a level,
// and of the old each line is lost with a probability, permille. draw is the chance.
func (p *Played) Rewritten(level compartments.Tier, loss int, draw *rand.Rand) []Frame {
	ours := p.frames()
	var lines []string
	seen := map[compartments.CompartmentID]bool{}
	last := -1
	var shown Frame
	for n := range ours {
		st := &p.steps[n]
		if st.fold < 0 {
			continue
		}
		if st.fold != last {
			last = st.fold
			m := p.moment(last, nil)
			lines = slices.DeleteFunc(lines, func(string) bool { return draw.IntN(1000) < loss })
			for _, c := range m.Compartments {
				if !seen[c.ID] {
					seen[c.ID] = true
					lines = append(lines, strings.Split(strings.TrimSpace(p.entry(c, has(c, level))), "\n")...)
				}
			}
			size := 0
			for i := len(lines) - 1; i >= 0; i-- {
				if size += p.count.Count(lines[i]) + 1; size > m.Room {
					lines = slices.Delete(lines, 0, i+1)
					break
				}
			}
			shown = Frame{From: ours[n].From}
			if len(lines) > 0 {
				shown.Head = []string{"[Summary of the session so far.]\n" + strings.Join(lines, "\n")}
			}
		}
		f := shown
		f.To, f.Edits, f.Keep, f.plan = ours[n].To, ours[n].Edits, ours[n].Keep, ours[n].plan
		ours[n] = f
	}
	return ours
}

package historian

// tell counts in how many units of the run each name stands: what is said once or
// twice is said for its own sake, what every other sentence names is the subject.
func (v *view) tell() {
	v.told = map[string]int{}
	count := func(units []unit) {
		for i := range units {
			scanNames(units[i].text, func(n string, k kind) { v.told[nameKey(n, k)]++ })
		}
	}
	for i := v.from; i < v.to; i++ {
		switch m := &v.ms[i]; m.who {
		case agent:
			count(m.narrate)
			count(m.units)
		case person:
			count(m.units)
		}
	}
}

// mostNews bounds what a text counts for by the names it brings.
const mostNews = 4

// news is how much a text of the run brings that the rest of it does not say:
// names that came up in the run and are hardly said again.
func (v *view) news(text string) int {
	n := 0
	scanNames(text, func(name string, k kind) {
		key := nameKey(name, k)
		id, ok := v.lex.ids[key]
		if !ok {
			return
		}
		rare := v.told[key]
		born := v.lex.list[id].first >= v.from && !v.lex.list[id].known
		switch {
		case k == kindNumber || k == kindWord:
			if rare < 2 {
				n++
			}
		case born && rare < 3:
			n += 2
		case born && rare < 4 || rare < 2:
			n++
		}
	})
	return min(n, mostNews)
}

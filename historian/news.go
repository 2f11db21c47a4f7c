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

// names counts the names of a text of the run, and how much it brings that the rest of
// the run does not say: by names that came up in it and are hardly said again.
func (v *view) names(text string) (all, news int) {
	scanNames(text, func(name string, k kind) {
		all++
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
				news++
			}
		case born && rare < 3:
			news += 2
		case born && rare < 4 || rare < 2:
			news++
		}
	})
	return all, min(news, mostNews)
}

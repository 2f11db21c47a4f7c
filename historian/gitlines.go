package historian

import (
	"slices"
	"strings"

	"ctxplugin/compartments"
)

func (r *record) gitLines(add func(line)) {
	if len(r.git) == 0 {
		return
	}
	list := func(level int) func(int) string {
		return func(n int) string {
			// Newest facts matter most; they stay in order.
			facts := r.git[max(0, len(r.git)-n):]
			var parts []string
			for i := range facts {
				part := facts[i].show(level)
				if level == atCompact && facts[i].hash != "" && r.silent() {
					part = strings.TrimSpace(part + " " + shorten(facts[i].text, commitExtent))
				}
				parts = append(parts, part)
			}
			s := strings.Join(parts, "; ")
			if n < len(r.git) {
				s = itoa(len(r.git)-n) + " earlier; " + s
			}
			return s
		}
	}
	add(line{sec: secGit, prio: 89, dim: compartments.Provenance, probe: r.git[len(r.git)-1].key(), forms: [levels][]string{
		series(len(r.git), list(atFull), 8, 5, 3, 1), series(len(r.git), list(atDense), 5, 3, 1), series(len(r.git), list(atCompact), 4, 2, 1)}})
}

// commitExtent is the room that the title of a commit takes at compact.
const commitExtent = 60

// silent reports a record whose outcome says only that something is done: the title of
// a commit says what.
func (r *record) silent() bool {
	return r.state == nil && len(r.outcomes) > 0 && courtesy(r.outcomes[r.outcome].main)
}

// courtesy reports a text that says no more than that something is done.
func courtesy(s string) bool {
	s = strings.ToLower(strings.Trim(s, " !.…✅🎉！。"))
	return slices.Contains(openers, s) || width(s) < 6 && countNames(s) == 0
}

func (g *gitFact) key() string {
	if g.hash != "" {
		return head(g.hash, 7)
	}
	return g.text
}

func (g *gitFact) show(level int) string {
	if g.hash == "" {
		if level == atCompact {
			text, _, _ := strings.Cut(g.text, " (")
			return shorten(text, 60)
		}
		return g.text
	}
	switch level {
	case atFull:
		return strings.TrimSpace("commit " + head(g.hash, 12) + " " + shorten(g.text, 100))
	case atDense:
		return strings.TrimSpace(head(g.hash, 9) + " " + shorten(g.text, 70))
	}
	return head(g.hash, 7)
}

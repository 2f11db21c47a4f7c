package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ctxplugin/compartments"
	"ctxplugin/lab/fixtures"
	"ctxplugin/lab/trajectory"
)

// scriptsIn reads the session files of a folder, by name. What is no session file is
// named in skipped, with the reason.
func scriptsIn(dir string) (scripts []*trajectory.Script, skipped []string, err error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, nil, err
	}
	if len(names) == 0 {
		if _, err := os.Stat(dir); err != nil {
			return nil, nil, fmt.Errorf("sessions: %w", err)
		}
		return nil, nil, fmt.Errorf("sessions: %s holds no session files", dir)
	}
	slices.Sort(names)
	for i, name := range names {
		rec, err := readRecording(name)
		if err != nil {
			skipped = append(skipped, err.Error())
			continue
		}
		s, err := scriptOf(rec)
		if err != nil {
			skipped = append(skipped, filepath.Base(name)+": "+err.Error())
			continue
		}
		s.Name, s.Seed = filepath.Base(name), uint64(i+1)
		scripts = append(scripts, s)
	}
	return scripts, skipped, nil
}

// scriptOf is a recording as a script: without the host's own compactions, and with
// a probe wherever an old identifier is named again.
func scriptOf(rec *recording) (*trajectory.Script, error) {
	s := &trajectory.Script{}
	for i := range rec.messages {
		m := &rec.messages[i]
		if m.summary || isCompaction(m) {
			continue
		}
		raw := wireMessage(m, nil)
		decoded, err := compartments.DecodeMessage(raw)
		if err != nil {
			return nil, err
		}
		decoded.Ordinal = compartments.Ordinal(len(s.Messages) + 1)
		s.Wire, s.Messages = append(s.Wire, raw), append(s.Messages, decoded)
	}
	s.Probes = namedAgain(s.Messages)
	return s, nil
}

const (
	quietTurns  = 4   // for which an identifier was not named before it counts as old
	turnProbes  = 4   // of one turn
	sessionMost = 120 // probes of one session
)

// namedAgain finds where a reply names an identifier that nothing named for some
// turns: neither what the user just said nor what tools just answered. Its probe
// asks whether the turn's first request still showed it.
func namedAgain(ms []compartments.Message) []trajectory.Probe {
	type seen struct{ turn, place int }
	last := map[string]seen{}
	var out []trajectory.Probe
	turn, began, asked := -1, 0, 0
	for i := range ms {
		m := &ms[i]
		if m.RealUser() {
			turn, began, asked = turn+1, i, 0
		}
		said, answered := spoken(m)
		if m.Role == compartments.RoleAssistant && turn >= 0 {
			identifiers(said, func(id string) {
				was, ok := last[id]
				if ok && turn-was.turn >= quietTurns && asked < turnProbes {
					asked++
					out = append(out, trajectory.Probe{ID: len(out), Dimension: fixtures.Identifier.String(), Relevance: fixtures.OldNeeded.String(),
						At: began, Source: was.place, Grade: shows(id)})
				}
				last[id] = seen{turn, i}
			})
		} else {
			identifiers(said, func(id string) { last[id] = seen{turn, i} })
		}
		identifiers(answered, func(id string) { last[id] = seen{turn, i} })
	}
	for len(out) > sessionMost { // every other one, so that all of the session counts
		kept := out[:0]
		for i := range out {
			if i%2 == 0 {
				kept = append(kept, out[i])
			}
		}
		out = kept
	}
	return out
}

// spoken is what a message says, and what tools answered in it.
func spoken(m *compartments.Message) (said, answered string) {
	var words, results strings.Builder
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Ignored || p.Kind == compartments.PartMarker || p.Kind == compartments.PartReasoning {
			continue
		}
		words.WriteString(p.Text + "\n" + p.Input + "\n")
		results.WriteString(p.Output + "\n")
	}
	return words.String(), results.String()
}

// shows grades a text by whether an identifier stands in it.
func shows(id string) func(string) fixtures.Grade {
	return func(text string) fixtures.Grade {
		g := fixtures.Grade{Semantic: 1000, Status: 1000, Missing: id}
		if strings.Contains(text, id) {
			g.Exact, g.Success, g.Missing = 1000, true, ""
		}
		return g
	}
}

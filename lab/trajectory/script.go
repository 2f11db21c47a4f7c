package trajectory

import (
	"fmt"
	"slices"

	"ctxplugin/compartments"
	"ctxplugin/lab/fixtures"
)

// Script is a session to be played.
type Script struct {
	Name     string
	Seed     uint64
	Wire     [][]byte               // each message as a host hands it over
	Messages []compartments.Message // the same, decoded and numbered from 1
	Probes   []Probe                // by turn; none in real sessions without any
}

// Probe is a moment at which the work needs something that was said before.
type Probe struct {
	ID        int
	Dimension string
	Relevance string
	At        int // place of the user message whose turn needs it
	Source    int // place of the message that says it
	Grade     func(text string) fixtures.Grade
}

// FromFixture makes a script of a generated session.
func FromFixture(s *fixtures.Session) *Script {
	out := &Script{Name: fmt.Sprintf("%s-%d", s.Options.Bank, s.Options.Seed), Seed: s.Options.Seed, Messages: s.Messages}
	for _, raw := range s.Wire {
		out.Wire = append(out.Wire, raw)
	}
	for _, p := range s.Probes {
		item := &s.Items[p.Item]
		out.Probes = append(out.Probes, Probe{ID: p.ID, Dimension: p.Dimension.String(), Relevance: p.Relevance.String(),
			At: int(p.Ordinal) - 1, Source: int(item.Ordinal) - 1, Grade: item.Grade})
	}
	slices.SortStableFunc(out.Probes, func(a, b Probe) int { return a.At - b.At })
	return out
}

// step is one request: the messages before a reply.
type step struct {
	reply  int // its place; the request is made of all messages before it
	now    int64
	turn   int // 0-based, of the real user message that began the turn
	starts bool
}

// steps are the requests that a host makes. A reply before the first message of a
// person answers none.
func (s *Script) steps() []step {
	var out []step
	now, turn, fresh := int64(0), -1, false
	for i := range s.Messages {
		m := &s.Messages[i]
		if m.Time > 0 {
			now = m.Time
		}
		if m.RealUser() {
			turn++
			fresh = true
		}
		if m.Role == compartments.RoleAssistant && turn >= 0 {
			out = append(out, step{reply: i, now: now, turn: turn, starts: fresh})
			fresh = false
		}
	}
	return out
}

// due are the probes that a turn's first request is graded for.
func (s *Script) due(from, to int) []*Probe {
	var out []*Probe
	for i := range s.Probes {
		if p := &s.Probes[i]; p.At >= from && p.At < to {
			out = append(out, p)
		}
	}
	return out
}

// turns says of each message to which turn it belongs; those before the first
// message of a person belong to the first.
func (s *Script) turns() []int {
	out, turn := make([]int, len(s.Messages)), -1
	for i := range s.Messages {
		if s.Messages[i].RealUser() {
			turn++
		}
		out[i] = max(0, turn)
	}
	return out
}

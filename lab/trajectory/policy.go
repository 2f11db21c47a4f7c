package trajectory

import (
	"ctxplugin/compartments"
)

// Moment is a fold as a policy sees it.
type Moment struct {
	// Compartments are all that the head stands for, oldest first.
	Compartments []*compartments.Compartment
	// Applied is what each was shown at before; TierRaw if it is not in the head.
	Applied []compartments.Tier
	// Room is what the entries of the head may take together, in tokens.
	Room int
	// Number counts the folds of the run from 0.
	Number int

	// Pinned compartments stay raw whatever a policy chooses. There are none in
	// generated sessions.
	need *need // for oracles alone
}

// A Policy picks a tier for every compartment of a moment. TierNone leaves it out;
// TierRaw shows its messages, and only a run of the newest may be raw.
type Policy interface {
	Name() string
	Choose(m *Moment) []compartments.Tier
}

// headingTokens is what the renderer adds to a tier's text, in tokens.
const headingTokens = 3

// takes is what an entry takes at a tier, in tokens. A tier that the compartment
// does not have is the next lower one.
func takes(c *compartments.Compartment, t compartments.Tier) int {
	switch t {
	case compartments.TierNone, compartments.TierArchived:
		return 0
	case compartments.TierRaw:
		return c.RawTokens
	}
	return c.Tokens(has(c, t)) + headingTokens
}

// has is the tier, or the next lower one that the compartment has.
func has(c *compartments.Compartment, t compartments.Tier) compartments.Tier {
	for t < compartments.TierAnchor && !c.Has(t) {
		t++
	}
	return t
}

// total is what a choice takes, in tokens.
func (m *Moment) total(choice []compartments.Tier) int {
	n := 0
	for i, t := range choice {
		n += takes(m.Compartments[i], t)
	}
	return n
}

// everything keeps all messages.
type everything struct{}

func (everything) Name() string { return FullHistory }

func (everything) Choose(m *Moment) []compartments.Tier {
	out := make([]compartments.Tier, len(m.Compartments))
	for i := range out {
		out[i] = compartments.TierRaw
	}
	return out
}

// truncation keeps the newest messages that have room, and nothing of the others.
type truncation struct{}

func (truncation) Name() string { return HardTruncation }

func (truncation) Choose(m *Moment) []compartments.Tier {
	out := make([]compartments.Tier, len(m.Compartments))
	left := m.Room
	for i := len(out) - 1; i >= 0; i-- {
		if left -= takes(m.Compartments[i], compartments.TierRaw); left < 0 {
			break
		}
		out[i] = compartments.TierRaw
	}
	return out
}

// flat shows all at one level, and loses the oldest first.
type flat struct{ level compartments.Tier }

func (f flat) Name() string { return FlatName(f.level) }

func (f flat) Choose(m *Moment) []compartments.Tier {
	out := make([]compartments.Tier, len(m.Compartments))
	left := m.Room
	for i := len(out) - 1; i >= 0; i-- {
		t := has(m.Compartments[i], f.level)
		if left -= takes(m.Compartments[i], t); left < 0 {
			break
		}
		out[i] = t
	}
	return out
}

// staged is hot, warm and cold compaction: the newest compartments at full, older
// ones at compact, the oldest out of view. What has cooled stays cool.
type staged struct{ pieces []piece }

// hotKept is how many of the newest compartments stay hot, as turns do in the
// golden run.
const hotKept = 2

func (*staged) Name() string { return Staged }

func (s *staged) Choose(m *Moment) []compartments.Tier {
	for i := range m.Compartments {
		p := piece{hot: takes(m.Compartments[i], compartments.TierFull), warm: takes(m.Compartments[i], compartments.TierCompact)}
		if i < len(s.pieces) {
			p.at = s.pieces[i].at
			s.pieces[i] = p
			continue
		}
		s.pieces = append(s.pieces, p)
	}
	s.pieces = s.pieces[:len(m.Compartments)]
	compact(s.pieces, m.Room, hotKept)
	out := make([]compartments.Tier, len(m.Compartments))
	for i, c := range m.Compartments {
		switch s.pieces[i].at {
		case hot:
			out[i] = has(c, compartments.TierFull)
		case warm:
			out[i] = has(c, compartments.TierCompact)
		}
	}
	return out
}

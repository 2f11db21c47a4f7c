package session

import (
	"ctxplugin/compartments"
	"ctxplugin/decay"
	"fmt"
	"slices"
)

// pinLine is a pin as it is listed.
func (se *Session) pinLine(p *compartments.Pin) PinLine {
	line := PinLine{Pin: p.ID, By: p.By, At: p.At, Message: p.Ordinal, Spans: p.Spans, First: p.First, Last: p.Last, State: se.pinState(p)}
	if p.Words() {
		line.ID = se.entry(p.Ordinal).ID
		line.Tokens = decay.ShowPin(p, se.cfg.Count).Tokens
		return line
	}
	line.Class = p.Class.String()
	for o := p.First; o <= p.Last; o++ {
		if place := se.view.place[o-1]; place >= 0 {
			line.Tokens += se.entry(o).Tokens()
		}
	}
	return line
}

func (se *Session) pinState(p *compartments.Pin) PinState {
	if p.Ended {
		return PinEnded
	}
	if p.Lost || p.Words() && se.view.place[p.Ordinal-1] < 0 {
		return PinAsleep
	}
	if se.behind(p) {
		return PinBehind
	}
	dropped := 0
	if n := min(se.view.pairs, len(se.st.Layout)); n > 0 {
		dropped = se.view.headEnd
	}
	asleep, pending := true, false
	for _, s := range se.view.served {
		if !p.Words() && !slices.ContainsFunc(s.c.Members, p.Holds) || p.Words() && !slices.Contains(s.c.Members, p.Ordinal) {
			continue
		}
		asleep = false
		if s.from >= dropped {
			continue
		}
		item := se.itemOf(s.c.ID)
		switch {
		case item == nil:
			pending = true
		case p.Words():
			pending = pending || item.Tier != compartments.TierRaw && !slices.Contains(item.Pins, p.ID)
		case item.Tier == compartments.TierNone:
			return PinNoRoom
		default:
			// floors keep messages too, whatever the class is
			raw := item.Tier == compartments.TierRaw
			pending = pending || p.Class == compartments.Pinned && !raw || p.Class != compartments.Pinned && raw && !se.unfading(s.c, false)
		}
	}
	if p.Words() {
		for i := range se.st.Layout {
			for _, item := range se.st.Layout[i].Items {
				if len(item.Compartments) == 0 && slices.Contains(item.Pins, p.ID) {
					return PinNoRoom
				}
			}
		}
		asleep = false
	} else if asleep {
		for o := p.First; o <= p.Last && asleep; o++ {
			asleep = se.view.place[o-1] < 0
		}
	}
	switch {
	case asleep:
		return PinAsleep
	case pending:
		return PinPending
	}
	return PinInView
}

// behind reports whether newer pins say the class of every message of a pin's
// range, so that its own says nothing until they end.
func (se *Session) behind(p *compartments.Pin) bool {
	if p.Words() {
		return false
	}
	for o := p.First; o <= p.Last; o++ {
		if !slices.ContainsFunc(se.pins, func(q compartments.Pin) bool { return q.ID > p.ID && !q.Ended && !q.Words() && q.Holds(o) }) {
			return false
		}
	}
	return true
}

// itemOf is the entry of the head that shows a compartment, or nil.
func (se *Session) itemOf(id compartments.CompartmentID) *compartments.Item {
	for i := range se.st.Layout {
		items := se.st.Layout[i].Items
		for j := range items {
			if slices.Contains(items[j].Compartments, id) {
				return &items[j]
			}
		}
	}
	return nil
}

// pinNote says what a new pin does.
func (se *Session) pinNote(line *PinLine) string {
	var text string
	if line.Message > 0 {
		text = fmt.Sprintf("Pinned as %d: message %d, %d tokens, verbatim at every tier.", line.Pin, line.Message, line.Tokens)
	} else {
		what, which := map[string][2]string{compartments.Pinned.String(): {"stay whole", "stays whole"},
			compartments.Discardable.String():  {"may leave the window", "may leave the window"},
			compartments.Compressible.String(): {"fade as others do", "fades as others do"}}[line.Class], 0
		messages := fmt.Sprintf("messages %d-%d", line.First, line.Last)
		if line.First == line.Last {
			messages, which = fmt.Sprintf("message %d", line.First), 1
		}
		text = fmt.Sprintf("Pinned as %d: %s %s (%d tokens).", line.Pin, messages, what[which], line.Tokens)
	}
	if line.State == PinPending {
		text += " The record shows it from its next fold on."
	}
	if budget := se.st.Stats.Budget; budget > 0 && line.Tokens > budget && (line.Message > 0 || line.Class == compartments.Pinned.String()) {
		text += fmt.Sprintf(" That is more than the history budget of %d tokens: all else in it shrinks.", budget)
	}
	return text
}

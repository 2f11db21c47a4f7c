package session

import (
	"context"

	"ctxplugin/compartments"
	"ctxplugin/decay"
	"ctxplugin/expand"
	"ctxplugin/historian"
)

// mention is what one message opens, and the identifiers that a person names in it.
type mention struct {
	names  []string
	opened []openedRange
}

type openedRange struct{ first, last compartments.Ordinal }

// recallShare is the most of the candidates that may carry a name, as a divisor: what
// more of them carry tells none from another. The same goes for opened ranges.
const recallShare = 4

// recall gives the candidates of a material that the newest turns opened or named
// again the relevance of that. It is worked out of stored messages alone, so that
// every process finds the same.
func (p *pass) recall(ctx context.Context, m *decay.Material) error {
	s := p.settings()
	if s.Recalled(0) == s.Recalled(decay.RecallTurns) {
		return nil
	}
	var all []*decay.Candidate
	for i := range m.Pairs {
		for j := range m.Pairs[i].Candidates {
			all = append(all, &m.Pairs[i].Candidates[j])
		}
	}
	for i := range m.New {
		all = append(all, &m.New[i])
	}
	from, starts := p.recallFrom()
	if len(all) == 0 || from >= len(p.v.order) {
		return nil
	}
	if err := p.readMentions(ctx, p.v.order[from:]); err != nil {
		return err
	}
	most := max(1, len(all)/recallShare)
	newest := map[string]int{} // place that names it last
	var opened []openedRange
	var openedAt []int
	for i := from; i < len(p.v.order); i++ {
		said := p.bulk.mentions[p.v.order[i]]
		for _, n := range said.names {
			newest[n] = i
		}
		for _, r := range said.opened {
			opened, openedAt = append(opened, r), append(openedAt, i)
		}
	}
	carriers := map[string]int{}
	type carried struct {
		candidate, at int
		name          string
	}
	var found []carried
	for i, c := range all {
		for _, n := range p.knownBy(c.Compartment) {
			if at, ok := newest[n]; ok {
				carriers[n]++
				found = append(found, carried{i, at, n})
			}
		}
	}
	places := make([]int, len(all)) // that recall each last; -1 for none
	for i := range places {
		places[i] = -1
	}
	for _, f := range found {
		if f.at > p.v.place[all[f.candidate].Compartment.Last-1] && carriers[f.name] <= most {
			places[f.candidate] = max(places[f.candidate], f.at)
		}
	}
	for k, r := range opened {
		var hit []int
		for i, c := range all {
			if c.Compartment.First <= r.last && c.Compartment.Last >= r.first {
				hit = append(hit, i)
			}
		}
		if len(hit) <= most {
			for _, i := range hit {
				places[i] = max(places[i], openedAt[k])
			}
		}
	}
	for i, c := range all {
		if places[i] >= 0 {
			turn := 0
			for turn < len(starts) && places[i] < starts[turn] {
				turn++
			}
			c.Relevance = max(c.Relevance, s.Recalled(turn))
		}
	}
	return nil
}

// recallFrom is the place from which messages are looked at, and where the newest
// turns began, newest first. No more is read than a pass may read.
func (p *pass) recallFrom() (from int, starts []int) {
	for t := p.turnStart(p.v); t >= 0 && len(starts) < decay.RecallTurns; {
		starts = append(starts, t)
		if t == 0 {
			break
		}
		if t = p.v.users[t-1]; t < p.v.first {
			t = -1
		}
	}
	from = len(p.v.order)
	if len(starts) == 0 {
		return from, nil
	}
	reads := p.reads / readShare // read or not: the same request gives the same fold
	for from > starts[len(starts)-1] {
		if reads -= work(p.entry(p.v.order[from-1])); reads < 0 {
			break
		}
		from--
	}
	return from, starts
}

// readMentions fills the memory with what messages open and name.
func (p *pass) readMentions(ctx context.Context, order []compartments.Ordinal) error {
	var missing []compartments.Ordinal
	for _, o := range order {
		if _, ok := p.bulk.mentions[o]; !ok && mentions(p.entry(o)) {
			missing = append(missing, o)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	messages, err := p.messagesOf(ctx, missing)
	if err != nil {
		return err
	}
	for i := range messages {
		p.bulk.mentions[missing[i]] = mentionIn(&messages[i])
	}
	return nil
}

// mentions reports whether a message can open or name anything.
func mentions(e *compartments.Entry) bool { return e.Role != compartments.RoleTool }

// mentionIn reads the words of a person, and which ranges calls opened. What the host
// wrote and what the model said and did recalls nothing: it names what it works on,
// which is in view, and what it names is needed again no more often than the rest
// (docs/lab.md).
func mentionIn(m *compartments.Message) mention {
	var out mention
	if m.Summary {
		return out
	}
	for i := range m.Parts {
		switch part := &m.Parts[i]; part.Kind {
		case compartments.PartText:
			if m.RealUser() && !part.Synthetic && !part.Ignored {
				out.names = append(out.names, historian.NamesIn(part.Text, false)...)
			}
		case compartments.PartTool:
			if part.Tool == expand.ToolExpand {
				if first, last, ok := expand.Opened([]byte(part.Input)); ok {
					out.opened = append(out.opened, openedRange{first, last})
				}
			}
		}
	}
	return out
}

// knownBy lists the identifiers by which a compartment is known.
func (se *Session) knownBy(c *compartments.Compartment) []string {
	names, ok := se.bulk.known[c.ID]
	if !ok {
		names = historian.KnownBy(c)
		se.bulk.known[c.ID] = names
	}
	return names
}

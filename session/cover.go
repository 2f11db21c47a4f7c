package session

import (
	"context"

	"ctxplugin/compartments"
)

// tokensPerMs is how much a pass reads and writes for each ms that the host
// waits: a tenth of what an idle machine does.
const tokensPerMs = 100

// readShare is how many times more a pass may read for scans than it writes.
const readShare = 3

// allowance bounds the work of a pass by the time that the host waits, without a
// clock: the same request gives the same compartments.
func (p *pass) allowance() {
	p.writes = sliceTokens
	if ms := p.req.DeadlineMs; ms > 0 && ms < sliceTokens/tokensPerMs {
		p.writes = ms * tokensPerMs
	}
	p.reads = readShare * p.writes
}

// cover makes sure that compartments cover everything before the cut: the newest
// part written by the historian as far as the pass may, the rest scanned.
func (p *pass) cover(ctx context.Context, batch *compartments.Batch, cut int) error {
	gaps := p.unwritten(cut, false)
	for i := len(gaps) - 1; i >= 0; i-- {
		g := gaps[i]
		from := g.to // what is behind it is written, what is before it scanned
		for from > g.from {
			n := work(p.entry(p.v.order[from-1]))
			if n > p.writes {
				p.writes = 0
				break
			}
			p.writes -= n
			from--
		}
		for from < g.to && !p.mayCut(p.v, from) {
			from++
		}
		covered, err := p.scan(ctx, span{g.from, from}) // first: what is written may go on with a request in it
		if err != nil {
			return err
		}
		if from < g.to {
			newest, err := p.write(ctx, span{from, g.to}, true, covered...)
			if err != nil && ctx.Err() == nil { // no record is worse than a poor one
				newest, err = p.scan(ctx, span{from, g.to})
			}
			if err != nil {
				return err
			}
			covered = append(covered, newest...)
		}
		p.enlist(batch, covered)
	}
	return nil
}

// uncover makes compartments cover what the host's own summary newly hides, so
// that the record stands for it. Where none can be made the summary does.
func (p *pass) uncover(ctx context.Context, batch *compartments.Batch) error {
	whole, hidden := p.whole()
	if hidden == 0 || p.v.hidden > 0 || p.st.Stands == p.st.HiddenBy {
		return nil
	}
	p.view = p.lookOver(whole, hidden, 0)
	if err := p.cover(ctx, batch, hidden); err != nil && compartments.CodeOf(err) != compartments.CodeInternal {
		return err
	}
	if p.view = p.look(); p.v.hidden == 0 {
		p.st.Stands = p.st.HiddenBy
	}
	return nil
}

// scanTokens is how much one scanned compartment stands for, in tokens.
const scanTokens = 12_000

// scan makes scanned compartments of a run, in pieces of about scanTokens.
func (p *pass) scan(ctx context.Context, s span) ([]compartments.Compartment, error) {
	if s.from == s.to {
		return nil, nil
	}
	messages, err := p.skim(ctx, s)
	if err != nil {
		return nil, err
	}
	var out []compartments.Compartment
	from, tokens := s.from, 0
	for i := s.from; i < s.to; i++ {
		tokens += p.entry(p.v.order[i]).Tokens()
		if i+1 < s.to && (tokens < scanTokens || !p.mayCut(p.v, i+1)) {
			continue
		}
		c := p.cfg.Scan(p.rangeWith(span{from, i + 1}, messages[from-s.from:i+1-s.from]))
		if err := p.admit(&c, from, i+1); err != nil {
			return nil, err
		}
		c.Strategy = compartments.StrategyScan
		out = append(out, c)
		from, tokens = i+1, 0
	}
	return out, nil
}

// skim reads the messages of a run for a scan: what people said first, then the
// rest, the newest first, as far as the pass may. Of the others it only says
// what parts they have.
func (p *pass) skim(ctx context.Context, s span) ([]compartments.Message, error) {
	order := p.v.order[s.from:s.to]
	read := make([]bool, len(order))
	for _, people := range [...]bool{true, false} {
		for i := len(order) - 1; i >= 0; i-- {
			e := p.entry(order[i])
			if e.Real != people {
				continue
			}
			if n := work(e); n <= p.reads {
				p.reads -= n
				read[i] = true
			} else if !people {
				break
			}
		}
	}
	var wanted []compartments.Ordinal
	for i, o := range order {
		if read[i] {
			wanted = append(wanted, o)
		}
	}
	got, err := p.messagesOf(ctx, wanted)
	if err != nil {
		return nil, err
	}
	messages := make([]compartments.Message, len(order))
	next := 0
	for i, o := range order {
		if read[i] {
			messages[i] = got[next]
			next++
		} else {
			messages[i] = outline(p.entry(o))
		}
	}
	return messages, nil
}

// outline is a message of which only the entry is known.
func outline(e *compartments.Entry) compartments.Message {
	m := compartments.Message{Ordinal: e.Ordinal, ID: e.ID, Role: e.Role, Time: e.Time, Summary: e.Summary, Failed: e.Failed,
		Parts: make([]compartments.Part, len(e.Sizes))}
	for i, z := range e.Sizes {
		m.Parts[i] = compartments.Part{Kind: z.Kind, Status: z.Status}
		if z.Own {
			m.Parts[i].Tool = "ctx_"
		}
	}
	return m
}

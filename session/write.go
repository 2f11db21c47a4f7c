package session

import (
	"context"
	"slices"

	"ctxplugin/compartments"
	"ctxplugin/decay"
	"ctxplugin/historian"
)

// sliceTokens is how much raw history the historian writes in one go, in tokens:
// some tens of ms of work.
const sliceTokens = 60_000

// scanTokens is how much one scanned compartment stands for, in tokens.
const scanTokens = 12_000

// span is the places [from, to).
type span struct{ from, to int }

// unwritten lists the runs before the cut that no compartment covers, or, with
// scans, that only scanned ones cover.
func (se *Session) unwritten(cut int, scans bool) []span {
	var out []span
	at := 0
	add := func(from, to int) {
		if from >= to {
			return
		}
		if n := len(out); n > 0 && out[n-1].to == from {
			out[n-1].to = to
			return
		}
		out = append(out, span{from, to})
	}
	for _, r := range se.view.served {
		if r.from >= cut {
			break
		}
		add(at, r.from)
		if scans && r.c.Strategy == compartments.StrategyScan {
			add(r.from, r.to)
		}
		at = max(at, r.to)
	}
	add(at, cut)
	return out
}

func (se *Session) tokensOf(s span) int {
	n := 0
	for i := s.from; i < s.to; i++ {
		n += se.entry(se.view.order[i]).Tokens()
	}
	return n
}

// backlog reports whether enough raw history waits for the historian.
func (se *Session) backlog() bool {
	if !se.loaded || se.st.Stats.Usable == 0 {
		return false
	}
	_, _, ok := se.due()
	return ok
}

// due is the next slice for the historian: of the oldest unwritten run before
// the protected tail that is large enough to be worth writing, or that has
// written history behind it. closed says that what the slice ends with will not
// be seen with more behind it.
func (se *Session) due() (slice span, closed, ok bool) {
	cut := se.tailCut(&se.view, decay.Tail(se.st.Stats.Usable, se.cfg.Settings))
	for _, run := range se.unwritten(cut, true) {
		if run.to < cut || se.tokensOf(run) >= min(se.cfg.Settings.WriteBehind, max(1000, se.st.Stats.Usable/8)) {
			slice = se.slice(run)
			return slice, slice.to == run.to && run.to < cut || se.scanned(slice.to-1), true
		}
	}
	return span{}, false, false
}

// writeBehind lets the historian write what is due, slice by slice, and stores
// it. It changes no rendered byte: a fold does.
func (se *Session) writeBehind(ctx context.Context) {
	for ctx.Err() == nil {
		slice, closed, ok := se.due()
		if !ok {
			return
		}
		written, err := se.write(ctx, slice, closed)
		if err != nil || len(written) == 0 {
			return // the run is due again at the next pass
		}
		if err := se.publish(ctx, written); err != nil {
			se.loaded = false
			return
		}
	}
}

// slice shortens a run to what the historian writes in one go. It never cuts a
// scanned compartment, which is replaced whole.
func (se *Session) slice(s span) span {
	tokens, last := 0, s.from
	for i := s.from; i < s.to; i++ {
		tokens += se.entry(se.view.order[i]).Tokens()
		if i+1 < s.to && se.mayCut(&se.view, i+1) && se.seam(i+1) {
			if tokens > sliceTokens && last > s.from {
				return span{s.from, last}
			}
			last = i + 1
		}
	}
	return s
}

// seam reports whether a place is not inside a scanned compartment.
func (se *Session) seam(place int) bool {
	i, found := slices.BinarySearchFunc(se.view.served, place, func(r run, p int) int { return r.from - p })
	return found || i == 0 || se.view.served[i-1].to <= place
}

// scanned reports whether a scanned compartment covers the place.
func (se *Session) scanned(place int) bool {
	i, found := slices.BinarySearchFunc(se.view.served, place, func(r run, p int) int { return r.from - p })
	if !found {
		i--
	}
	return i >= 0 && se.view.served[i].to > place && se.view.served[i].c.Strategy == compartments.StrategyScan
}

// write has the historian write a run. A last compartment that was written
// without seeing what follows is left out, to be written again with more,
// unless it is all there is or the run is closed.
func (se *Session) write(ctx context.Context, s span, closed bool) ([]compartments.Compartment, error) {
	r, err := se.rangeOf(ctx, s)
	if err != nil {
		return nil, err
	}
	written, err := se.cfg.Historian.Write(ctx, r)
	if err != nil {
		return nil, err
	}
	if n := len(written); n > 1 && !closed && written[n-1].Provisional {
		written = written[:n-1]
	}
	return written, nil
}

// rangeOf reads what a historian writes from.
func (se *Session) rangeOf(ctx context.Context, s span) (historian.Range, error) {
	ordinals := se.view.order[s.from:s.to]
	messages, err := se.messagesOf(ctx, ordinals)
	if err != nil {
		return historian.Range{}, err
	}
	r := historian.Range{Messages: messages, Hashes: make([]compartments.Hash, len(ordinals)), Tokens: make([]int, len(ordinals))}
	for i, o := range ordinals {
		r.Hashes[i] = se.entry(o).Hash
		r.Tokens[i] = se.entry(o).Tokens()
	}
	for _, served := range se.view.served {
		if served.to <= s.from {
			r.Prior = append(r.Prior, *served.c)
		}
	}
	return r, nil
}

// publish stores compartments and lets them serve.
func (se *Session) publish(ctx context.Context, written []compartments.Compartment) error {
	batch := &compartments.Batch{ListFrom: -1}
	se.enlist(batch, written)
	se.view = se.look()
	return se.commit(ctx, batch)
}

// enlist puts compartments into a batch and lets them serve. Scanned ones that
// they replace are retired.
func (se *Session) enlist(batch *compartments.Batch, written []compartments.Compartment) {
	replaced := map[compartments.Ordinal]bool{}
	for i := range written {
		se.st.Compartments++
		written[i].ID = compartments.CompartmentID(se.st.Compartments)
		for _, m := range written[i].Members {
			replaced[m] = true
		}
	}
	for _, r := range se.view.served {
		if r.c.Strategy == compartments.StrategyScan && replaced[r.c.First] && replaced[r.c.Last] {
			batch.Retired = append(batch.Retired, r.c.ID)
			delete(se.all, r.c.ID)
		}
	}
	for i := range written {
		c := written[i]
		se.all[c.ID] = &c
	}
	batch.Compartments = append(batch.Compartments, written...)
}

// cover makes sure that compartments cover everything before the cut: the newest
// part written by the historian within one slice, the rest scanned.
func (p *pass) cover(ctx context.Context, batch *compartments.Batch, cut int) error {
	gaps := p.unwritten(cut, false)
	left := sliceTokens
	for i := len(gaps) - 1; i >= 0; i-- {
		g := gaps[i]
		from := g.to // what is behind it is written, what is before it scanned
		for from > g.from && left > 0 {
			from--
			left -= p.entry(p.v.order[from]).Tokens()
		}
		for from > g.from && !p.mayCut(p.v, from) {
			from--
		}
		var made []compartments.Compartment
		for _, s := range p.scans(span{g.from, from}) {
			r, err := p.rangeOf(ctx, s)
			if err != nil {
				return err
			}
			made = append(made, p.cfg.Scan(r))
		}
		if from < g.to {
			written, err := p.write(ctx, span{from, g.to}, true)
			if err != nil {
				return err
			}
			made = append(made, written...)
		}
		p.enlist(batch, made)
		p.view = p.lookOver(p.v.order)
	}
	return nil
}

// scans cuts a run into pieces of about scanTokens.
func (p *pass) scans(s span) []span {
	var out []span
	from, tokens := s.from, 0
	for i := s.from; i < s.to; i++ {
		tokens += p.entry(p.v.order[i]).Tokens()
		if i+1 == s.to || tokens >= scanTokens && p.mayCut(p.v, i+1) {
			out = append(out, span{from, i + 1})
			from, tokens = i+1, 0
		}
	}
	return out
}

// uncover makes compartments cover what the host's own summary newly hides, so
// that the record stands for it and not the summary.
func (p *pass) uncover(ctx context.Context, batch *compartments.Batch) error {
	whole, hidden := p.whole()
	if hidden == 0 || p.v.hidden > 0 {
		return nil
	}
	p.view = p.lookOver(whole)
	if err := p.cover(ctx, batch, hidden); err != nil {
		return err
	}
	p.view = p.look()
	return nil
}

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

// behindTokens is how much of it is written behind one answer at most, in
// tokens, so that the next request of the session waits for no more.
const behindTokens = 4 * sliceTokens

// mediaWork is what a file weighs in work to be done, in tokens: it costs few in
// a request, but may have megabytes.
const mediaWork = 8_000

// span is the places [from, to).
type span struct{ from, to int }

// unwritten lists the runs before the cut that no compartment covers, or, with
// scans, that only scanned ones cover. None reaches over the end of what the host
// hides, for no compartment that does would stand, or over a place where the class
// of the messages changes.
func (se *Session) unwritten(cut int, scans bool) []span {
	var out []span
	at := se.view.start
	seams := se.seams()
	var add func(from, to int)
	add = func(from, to int) {
		if hidden := se.view.hidden; from < hidden && to > hidden {
			add(from, hidden)
			from = hidden
		}
		for _, seam := range seams {
			if from < seam && to > seam {
				add(from, seam)
				from = seam
			}
		}
		if from >= to {
			return
		}
		if n := len(out); n > 0 && out[n-1].to == from && from != se.view.hidden && !slices.Contains(seams, from) {
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

// uncovered is how much of what stands before the cut no compartment covers, in
// tokens.
func (se *Session) uncovered(cut int) int {
	n := 0
	for _, run := range se.unwritten(cut, false) {
		n += se.tokensOf(run)
	}
	return n
}

func (se *Session) tokensOf(s span) int {
	n := 0
	for i := s.from; i < s.to; i++ {
		n += se.entry(se.view.order[i]).Tokens()
	}
	return n
}

// work is what it takes to write a message, in tokens.
func work(e *compartments.Entry) int {
	n := e.Tokens()
	for _, z := range e.Sizes {
		n += z.Media * mediaWork
		if z.Kind == compartments.PartFile {
			n += mediaWork
		}
	}
	return n
}

// owe notes how much the historian may write behind this answer. It is stored
// with the pass, so that after a kill the rest is written before anything else
// happens, and the same requests give the same compartments.
func (p *pass) owe() {
	p.st.Owed = 0
	if p.rests > 0 {
		p.rests--
		return
	}
	if _, _, ok := p.due(p.w.Usable); ok && p.version > 0 {
		p.st.Owed = behindTokens
	}
}

// due is the next slice for the historian: of the oldest unwritten run before
// the protected tail that is large enough to be worth writing, or that has
// written history behind it. closed says that what the slice ends with will not
// be seen with more behind it.
func (se *Session) due(usable int) (slice span, closed, ok bool) {
	if usable == 0 {
		return span{}, false, false // no request was ever prepared
	}
	cut := se.tailCut(&se.view, decay.Tail(usable, se.cfg.Settings))
	for _, run := range se.unwritten(cut, true) {
		if run.to < cut || se.tokensOf(run) >= min(se.cfg.Settings.WriteBehind, max(1000, usable/8)) {
			slice = se.slice(run)
			return slice, slice.to == run.to && run.to < cut || se.scanned(slice.to-1), true
		}
	}
	return span{}, false, false
}

// writeBehind lets the historian write what is owed, slice by slice, and stores
// it. It changes no rendered byte: a fold does. What is not written when ctx ends
// stays owed.
func (se *Session) writeBehind(ctx context.Context) error {
	for se.st.Owed > 0 {
		slice, closed, ok := se.due(se.st.Stats.Usable)
		if !ok {
			se.st.Owed = 0
			break
		}
		written, err := se.write(ctx, slice, closed)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			se.failed()
			break
		}
		for i := slice.from; i < slice.to; i++ {
			se.st.Owed -= work(se.entry(se.view.order[i]))
		}
		se.st.Owed, se.failures = max(0, se.st.Owed), 0
		if err := se.publish(ctx, written, ""); err != nil {
			se.loaded = false
			return err
		}
		if next, _, _ := se.due(se.st.Stats.Usable); next.to > 0 && next.from <= slice.from {
			se.failed() // what was written does not serve: writing it again would not help
		}
	}
	return nil
}

// resume writes what a killed process owed, before anything else changes.
func (se *Session) resume(ctx context.Context) error {
	if se.cfg.Slow != nil {
		return nil
	}
	return se.writeBehind(ctx)
}

// failed lets the historian rest after a failure: for more passes the more often
// it failed in a row.
func (se *Session) failed() {
	se.st.Owed = 0
	se.failures = min(se.failures+1, 6)
	se.rests = 1 << se.failures
}

// slice shortens a run to what the historian writes in one go. It never cuts a
// scanned compartment, which is replaced whole.
func (se *Session) slice(s span) span {
	tokens, last := 0, s.from
	for i := s.from; i < s.to; i++ {
		tokens += work(se.entry(se.view.order[i]))
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
// unless it is all there is or the run is closed. before are compartments in front
// of the run that are not stored yet.
func (se *Session) write(ctx context.Context, s span, closed bool, before ...compartments.Compartment) ([]compartments.Compartment, error) {
	r, err := se.rangeOf(ctx, s)
	if err != nil {
		return nil, err
	}
	r.Prior = append(r.Prior, before...)
	written, err := se.cfg.Historian.Write(ctx, r)
	if err != nil {
		return nil, err
	}
	for i := range written {
		written[i].Deferred = se.cfg.Slow != nil
	}
	return se.checked(s, written, closed)
}

// rangeOf reads what a historian writes from.
func (se *Session) rangeOf(ctx context.Context, s span) (historian.Range, error) {
	messages, err := se.messagesOf(ctx, se.view.order[s.from:s.to])
	if err != nil {
		return historian.Range{}, err
	}
	return se.rangeWith(s, messages), nil
}

func (se *Session) rangeWith(s span, messages []compartments.Message) historian.Range {
	r := historian.Range{Session: se.id, Messages: messages, Hashes: make([]compartments.Hash, len(messages)), Tokens: make([]int, len(messages))}
	for i, o := range se.view.order[s.from:s.to] {
		r.Hashes[i] = se.entry(o).Hash
		r.Tokens[i] = se.entry(o).Tokens()
	}
	for _, served := range se.view.served {
		if served.to <= s.from {
			r.Prior = append(r.Prior, *served.c)
		}
	}
	return r
}

// checked takes over what a historian returned for a run, whoever it is: it must
// be all of the run in list order, each message in exactly one compartment, no
// group of calls cut, and valid. Counts are taken anew, for selections rely on
// them.
func (se *Session) checked(s span, written []compartments.Compartment, closed bool) ([]compartments.Compartment, error) {
	at := s.from
	for i := range written {
		c := &written[i]
		if err := se.admit(c, at, s.to); err != nil {
			return nil, err
		}
		at += len(c.Members)
	}
	if at != s.to {
		return nil, compartments.Errorf(compartments.CodeInternal, "the historian covered %d of %d messages", at-s.from, s.to-s.from)
	}
	if n := len(written); n > 1 && !closed && written[n-1].Provisional {
		written = written[:n-1]
	}
	return written, nil
}

// spanTokens is the most that the exact spans of one compartment may take, in
// tokens. Those behind it are left out: search still finds them.
const spanTokens = 300

// admit checks one compartment that should begin at a place and end by another.
func (se *Session) admit(c *compartments.Compartment, from, end int) error {
	to := from + len(c.Members)
	if to > end || !slices.Equal(c.Members, se.view.order[from:to]) {
		return compartments.Errorf(compartments.CodeInternal, "the historian's compartment %d-%d does not follow the list", c.First, c.Last)
	}
	if !se.mayCut(&se.view, to) && to < end {
		return compartments.Errorf(compartments.CodeInternal, "the historian's compartment %d-%d cuts a group", c.First, c.Last)
	}
	if c.SourceHash != se.runHash(c.Members) {
		return compartments.Errorf(compartments.CodeInternal, "the historian's compartment %d-%d was written from other messages", c.First, c.Last)
	}
	c.RawTokens = se.tokensOf(span{from, to})
	for t, r := range c.Tiers {
		r.Tokens = se.cfg.Count(r.Text)
		c.Tiers[t] = r
	}
	spans := 0
	for i := range c.Spans {
		c.Spans[i].Tokens = se.cfg.Count(c.Spans[i].Text)
		if spans += c.Spans[i].Tokens; spans > spanTokens {
			c.Spans = c.Spans[:i]
			break
		}
	}
	if err := c.Validate(); err != nil {
		return compartments.Errorf(compartments.CodeInternal, "the historian's %w", err)
	}
	return nil
}

// publish stores compartments and lets them serve. lease fences those of the slow
// historian: by the time that it has written, another process may have taken over.
func (se *Session) publish(ctx context.Context, written []compartments.Compartment, lease string) error {
	batch := &compartments.Batch{ListFrom: -1, Lease: lease}
	se.enlist(batch, written)
	return se.commit(ctx, batch)
}

// lease is what a batch of the slow historian is fenced with.
func (se *Session) lease() string {
	if se.cfg.Leases == nil {
		return ""
	}
	return se.cfg.Holder
}

// enlist puts compartments into a batch and lets them serve. Those that they
// cover whole are retired.
func (se *Session) enlist(batch *compartments.Batch, written []compartments.Compartment) {
	replaced := map[compartments.Ordinal]bool{}
	for i := range written {
		for _, m := range written[i].Members {
			replaced[m] = true
		}
	}
	for _, r := range se.view.served {
		whole := true
		for i := 0; whole && i < len(r.c.Members); i++ {
			whole = replaced[r.c.Members[i]]
		}
		if whole {
			batch.Retired = append(batch.Retired, r.c.ID)
			delete(se.all, r.c.ID)
		}
	}
	se.settle(written)
	for _, c := range written {
		if c.Deferred {
			se.owes(&c)
		}
		if class, ok := compartments.ClassOf(c.Members, se.pins); ok {
			c.Retention = class
		}
		se.st.Compartments++
		c.ID = compartments.CompartmentID(se.st.Compartments)
		batch.Compartments = append(batch.Compartments, c)
		se.serve(&c)
	}
	se.view = se.lookOver(se.view.order, se.view.hidden, se.view.start)
}

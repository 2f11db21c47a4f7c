package session

import (
	"context"
	"fmt"
	"slices"

	"ctxplugin/compartments"
	"ctxplugin/decay"
)

// Sync takes one piece of the host's list and returns the revision that the
// plugin now holds. Errors: CodeResync with keep and check when the kept prefix
// is not ours, CodeBadInput for a message that cannot be read or an ID that
// stands twice in the list, CodeStorage or CodeBusy when the piece could not be
// stored; nothing changes then.
func (s *Sessions) Sync(ctx context.Context, req SyncRequest) (rev string, err error) {
	err = s.with(ctx, req.Session, func(se *Session) error {
		rev, err = se.sync(ctx, req)
		return err
	})
	if err == nil && len(req.Messages) > 0 {
		s.wakeIndex()
	}
	return rev, err
}

func (se *Session) sync(ctx context.Context, req SyncRequest) (string, error) {
	kept, revs, ok := se.prefixOf(req)
	if !ok {
		return "", se.resync()
	}
	messages, err := se.decode(req, kept)
	if err != nil {
		return "", err
	}
	se.touched = true
	if err := se.resume(ctx); err != nil {
		return "", err
	}
	if se.parent == "" && req.Parent != se.id {
		se.parent = req.Parent
	}
	b := &compartments.Batch{ListFrom: -1}
	source, err := se.inherit(ctx, b, kept, messages)
	if err != nil {
		return "", err
	}
	se.measure(messages)
	p := &piece{next: slices.Grow(slices.Clone(kept), len(messages)), revs: slices.Grow(slices.Clone(revs), len(messages))}
	for i := range messages {
		if err := se.take(ctx, b, p, &messages[i]); err != nil {
			return "", err
		}
		if len(messages) <= rememberMost {
			se.rememberBulk(se.entry(messages[i].Ordinal), &messages[i].Message)
		}
	}
	if req.More {
		if len(b.Entries) > 0 {
			if err := se.commit(ctx, b); err != nil {
				return "", err
			}
		}
		se.incoming, se.incomingRevs = p.next, p.revs
		return p.revs[len(p.next)].String(), nil
	}
	return p.revs[len(p.next)].String(), se.replace(ctx, b, p, source)
}

// arrival is a message of a piece, as it came.
type arrival struct {
	compartments.Message
	raw     []byte
	entry   compartments.Entry
	unnamed bool // the host gave no ID
}

// piece is one sync at work: the list as far as it was told, and its revisions.
type piece struct {
	next []compartments.Ordinal
	revs []compartments.Revision
	// fresh is how many messages were never seen before; moved says that the
	// piece did more than append such and renew what no compartment was written
	// from: the view must be worked out anew.
	fresh int
	moved bool
}

// prefixOf is the kept messages of a piece and the revisions up to them: of the
// list that a sync in pieces is building, or of the list in force. A piece that
// comes again after its answer was lost is thus at home too.
func (se *Session) prefixOf(req SyncRequest) (kept []compartments.Ordinal, revs []compartments.Revision, ok bool) {
	if k := req.Keep; k >= 0 && k <= len(se.incoming) && se.incoming != nil && se.incomingRevs[k].String() == req.Check {
		return se.incoming[:k], se.incomingRevs[:k+1], true
	}
	if k := req.Keep; k >= 0 && k <= len(se.list) && se.prefix[k].String() == req.Check {
		return se.list[:k], se.prefix[:k+1], true
	}
	return nil, nil, false
}

// resync is the answer to a list that is not held here. Another process may hold
// it, so the store is read first.
func (se *Session) resync() error {
	if !se.again {
		return errReread
	}
	return &compartments.Error{Code: compartments.CodeResync,
		Text: "another list is held here; send it again from keep on",
		Data: map[string]any{"keep": len(se.list), "check": se.prefix[len(se.list)].String()}}
}

// decode reads the messages of a piece and checks that no ID stands twice.
func (se *Session) decode(req SyncRequest, kept []compartments.Ordinal) ([]arrival, error) {
	messages := make([]arrival, len(req.Messages))
	listed := make(map[compartments.Ordinal]bool)
	fresh := make(map[compartments.MessageID]bool, len(messages))
	errs := make([]error, len(messages))
	each(len(messages), func(i int) {
		m := &messages[i]
		m.raw = req.Messages[i]
		m.Message, errs[i] = compartments.DecodeMessage(m.raw)
	})
	for i := range messages {
		m := &messages[i]
		if errs[i] != nil {
			return nil, compartments.Errorf(compartments.CodeBadInput, "message at place %d: %w", req.Keep+i, errs[i])
		}
		if m.unnamed = m.ID == ""; m.unnamed {
			m.ID = placeName(req.Keep + i)
		}
		o, known := se.byID[m.ID]
		if known && len(listed) == 0 {
			for _, k := range kept {
				listed[k] = true
			}
		}
		if fresh[m.ID] || known && listed[o] {
			return nil, compartments.Errorf(compartments.CodeBadInput, "message %q stands twice in the list, the second time at place %d", m.ID, req.Keep+i)
		}
		fresh[m.ID] = true
	}
	return messages, nil
}

// placeName names a message that has no ID by its place.
func placeName(place int) compartments.MessageID {
	return compartments.MessageID(fmt.Sprintf("@%d", place))
}

// take numbers one message of a piece, renews its entry and lists it.
func (se *Session) take(ctx context.Context, b *compartments.Batch, p *piece, m *arrival) error {
	o, known := se.byID[m.ID]
	if !known {
		o = se.extend(m.ID)
		p.fresh++
	}
	m.Ordinal = o
	e := m.entry
	e.Ordinal, e.Unnamed = o, m.unnamed
	if known && se.entry(o).Hash != e.Hash {
		se.forgetBulk(o)
		if err := se.revise(ctx, b, &m.Message); err != nil {
			return err
		}
		se.repin(b, &m.Message)
		if se.covered[o-1] {
			se.changed[o-1] = true
			p.moved = true
		}
	}
	p.moved = p.moved || known && (se.entry(o).Real != e.Real || se.entry(o).Role != e.Role || se.entry(o).Summary != e.Summary)
	*se.entry(o) = e
	b.Entries = append(b.Entries, compartments.EntryWrite{Entry: e, Raw: m.raw})
	p.next = append(p.next, o)
	p.revs = append(p.revs, p.revs[len(p.revs)-1].Add(e.Print()))
	return nil
}

// extend gives a message that was never seen its ordinal.
func (se *Session) extend(id compartments.MessageID) compartments.Ordinal {
	o := compartments.Ordinal(len(se.entries) + 1)
	se.byID[id] = o
	se.entries = append(se.entries, compartments.Entry{Ordinal: o, ID: id})
	se.covered = append(se.covered, false)
	se.changed = append(se.changed, false)
	return o
}

// revise drops the edits of the plan in force that a message's new content makes
// false: a stub of what is no longer there.
func (se *Session) revise(ctx context.Context, b *compartments.Batch, m *compartments.Message) error {
	if !slices.ContainsFunc(se.plan.Edits, func(e compartments.Edit) bool { return e.MessageID == m.ID }) {
		return nil
	}
	before, err := se.parts(ctx, m.Ordinal)
	if err != nil {
		return err
	}
	plan := se.plan
	plan.Edits = nil
	for _, e := range se.plan.Edits {
		if e.MessageID != m.ID || e.Part < len(before) && e.Part < len(m.Parts) && before[e.Part] == m.Parts[e.Part] {
			plan.Edits = append(plan.Edits, e)
		}
	}
	if len(plan.Edits) == len(se.plan.Edits) {
		return nil
	}
	if err := se.setPlan(plan); err != nil {
		return err
	}
	b.PlanID, b.Plan = se.planID, se.encoded
	return nil
}

// replace makes a whole list the one in force and commits it.
func (se *Session) replace(ctx context.Context, b *compartments.Batch, p *piece, source *compartments.Stored) error {
	same := commonPrefix(se.list, p.next)
	if same < len(se.list) || same < len(p.next) {
		b.ListFrom, b.List = same, p.next[same:]
	}
	appended := !p.moved && same == len(se.list) && len(p.next)-same == p.fresh && len(se.list) > 0
	if source == nil {
		se.hide(p.next)
	}
	se.list, se.prefix = p.next, p.revs
	se.incoming, se.incomingRevs = nil, nil
	if len(b.Entries) == 0 && b.ListFrom < 0 {
		return nil
	}
	if !appended || !se.append(p.next[same:]) {
		se.view = se.look()
	}
	se.weighEdits()
	if source != nil {
		if err := se.assume(ctx, b, source); err != nil {
			return err
		}
	}
	return se.commit(ctx, b)
}

// measure makes the entries of messages, but for their ordinals.
func (se *Session) measure(messages []arrival) {
	each(len(messages), func(i int) {
		m := &messages[i]
		before := &compartments.Entry{}
		if o, known := se.byID[m.ID]; known {
			before = se.entry(o)
		}
		m.entry = measure(&m.Message, before, se.cfg.Count, se.settings().StubPreview)
	})
}

// measure makes the entry of a message: everything that decisions need of it.
// Counts are taken over from the entry before if the content is the same. Of
// a large message it keeps what stubs with that many characters of preview say.
func measure(m *compartments.Message, before *compartments.Entry, count func(string) int, preview int) compartments.Entry {
	e := compartments.Entry{ID: m.ID, Role: m.Role, Time: m.Time, Hash: m.ContentHash(), Real: m.RealUser(), Summary: m.Summary,
		Failed: m.Failed, Finished: m.Finish != "", Usage: m.Usage, Sizes: make([]compartments.Size, len(m.Parts))}
	same := before.Hash == e.Hash && len(before.Sizes) == len(e.Sizes)
	prints := m.Print()
	heavy := weightOf(m) >= heavyBytes
	for i := range m.Parts {
		p := &m.Parts[i]
		z := compartments.Size{Kind: p.Kind, Status: p.Status, Units: prints.Parts[i].Units, Own: p.OwnTool(), Media: p.Media}
		if heavy && (p.Kind == compartments.PartTool || p.Kind == compartments.PartText) && (z.Units >= previewLeast || z.Media > 0) {
			z.Preview = decay.PreviewOf(p, preview)
		}
		if same {
			z.Tokens, z.Input = before.Sizes[i].Tokens, before.Sizes[i].Input
		} else {
			z.Tokens, z.Input = weigh(p, count)
		}
		switch p.Kind {
		case compartments.PartText, compartments.PartReasoning:
			z.Silent = p.Ignored
		case compartments.PartMarker:
			z.Silent = true
		case compartments.PartCompaction:
			e.Compact = true
		}
		z.Silent = z.Silent || m.Unsent
		e.Sizes[i] = z
	}
	return e
}

// weigh is what a part adds to a request, and what of it are a call's arguments,
// in tokens.
func weigh(p *compartments.Part, count func(string) int) (tokens, input int) {
	switch p.Kind {
	case compartments.PartText, compartments.PartReasoning, compartments.PartOther:
		return count(p.Text), 0
	case compartments.PartTool:
		return count(p.Output) + callTokens + p.Media*mediaTokens, count(p.Input) + count(p.Tool)
	case compartments.PartFile:
		if compartments.SentAsMedia(p.Mime, p.URLBytes) {
			return mediaTokens, 0
		}
	case compartments.PartCompaction:
		return 8, 0 // "What did we do so far?"
	}
	return 0, 0
}

// callTokens is what the frame of a call and its result costs, in tokens.
const callTokens = 12

// mediaTokens is what a file costs that is sent itself: pictures cost by their
// area, which is not known here; this is what the largest that providers take
// cost, in tokens.
const mediaTokens = 1600

// weightOf is about how many bytes are read to decode a message.
func weightOf(m *compartments.Message) int {
	n := 0
	for i := range m.Parts {
		p := &m.Parts[i]
		n += len(p.Text) + len(p.Input) + len(p.Output) + p.URLBytes + p.MediaBytes
	}
	return n
}

// Of messages from heavyBytes on, what stubs would say is kept with the sizes:
// reading a smaller one takes a ms or two, and previews of all would take more
// room than the sizes themselves. previewLeast is the fewest UTF-16 units that a
// stub makes smaller.
const (
	heavyBytes   = 32_000
	previewLeast = 200
)

func commonPrefix(a, b []compartments.Ordinal) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

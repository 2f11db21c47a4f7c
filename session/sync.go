package session

import (
	"context"
	"fmt"
	"slices"

	"ctxplugin/compartments"
)

// Sync takes one piece of the host's list and returns the revision that the
// plugin now holds. Errors: CodeResync with keep and check when the kept prefix
// is not ours, CodeBadInput for a message that cannot be read; nothing changes
// then.
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
	list, revs := se.list, se.prefix
	if len(se.incoming) > 0 && req.Base == se.incomingRevs[len(se.incoming)].String() {
		list, revs = se.incoming, se.incomingRevs
	}
	if req.Keep < 0 || req.Keep > len(list) || revs[req.Keep].String() != req.Check {
		se.incoming, se.incomingRevs = nil, nil
		return "", &compartments.Error{Code: compartments.CodeResync,
			Text: "the plugin holds another list; go on from the longest prefix that both have",
			Data: map[string]any{"keep": len(se.list), "check": se.prefix[len(se.list)].String()}}
	}
	messages := make([]compartments.Message, len(req.Messages))
	for i, raw := range req.Messages {
		m, err := compartments.DecodeMessage(raw)
		if err != nil {
			return "", compartments.Errorf(compartments.CodeBadInput, "message at place %d: %w", req.Keep+i, err)
		}
		if m.ID == "" {
			m.ID = compartments.MessageID(fmt.Sprintf("@%d", req.Keep+i))
		}
		messages[i] = m
	}
	if se.version == 0 && req.Keep == 0 && len(messages) > 0 {
		if err := se.inherit(ctx, messages); err != nil {
			return "", err
		}
	}
	next := slices.Clone(list[:req.Keep])
	revs = slices.Clone(revs[:req.Keep+1])
	writes := make([]compartments.EntryWrite, len(messages))
	for i := range messages {
		e := se.number(&messages[i])
		writes[i] = compartments.EntryWrite{Entry: e, Raw: req.Messages[i]}
		next = append(next, e.Ordinal)
		revs = append(revs, revs[len(revs)-1].Add(e.Print()))
	}
	b := &compartments.Batch{Entries: writes, ListFrom: -1}
	if req.More {
		if len(writes) > 0 {
			if err := se.commit(ctx, b); err != nil {
				return "", err
			}
		}
		se.incoming, se.incomingRevs = next, revs
		return revs[len(next)].String(), nil
	}
	same := commonPrefix(se.list, next)
	se.hide(next)
	if same < len(se.list) || same < len(next) {
		b.ListFrom, b.List = same, next[same:]
	}
	se.list, se.prefix = next, revs
	se.incoming, se.incomingRevs = nil, nil
	if len(writes) > 0 || b.ListFrom >= 0 {
		if err := se.commit(ctx, b); err != nil {
			return "", err
		}
		se.view = se.look()
	}
	return revs[len(next)].String(), nil
}

// number gives a message its ordinal, new at first sight, and renews its entry.
func (se *Session) number(m *compartments.Message) compartments.Entry {
	o, known := se.byID[m.ID]
	if !known {
		o = compartments.Ordinal(len(se.entries) + 1)
		se.byID[m.ID] = o
		se.entries = append(se.entries, compartments.Entry{})
	}
	m.Ordinal = o
	e := measure(m, se.cfg.Count)
	if known && se.entry(o).Hash != e.Hash {
		se.changed[o] = true
	}
	*se.entry(o) = e
	delete(se.texts, o)
	return e
}

// measure makes the entry of a message: everything that decisions need of it.
func measure(m *compartments.Message, count func(string) int) compartments.Entry {
	e := compartments.Entry{Ordinal: m.Ordinal, ID: m.ID, Role: m.Role, Time: m.Time, Hash: m.ContentHash(), Real: m.RealUser(),
		Summary: m.Summary, Failed: m.Failed, Finished: m.Finish != "", Usage: m.Usage, Sizes: make([]compartments.Size, len(m.Parts))}
	prints := m.Print()
	for i := range m.Parts {
		p := &m.Parts[i]
		z := compartments.Size{Kind: p.Kind, Status: p.Status, Units: prints.Parts[i].Units, Own: p.OwnTool()}
		switch p.Kind {
		case compartments.PartText, compartments.PartReasoning:
			z.Tokens = count(p.Text)
			z.Silent = p.Ignored
		case compartments.PartTool:
			z.Tokens = count(p.Output) + callTokens
			z.Input = count(p.Input) + count(p.Tool)
		case compartments.PartFile:
			z.Tokens = mediaTokens(p)
		case compartments.PartCompaction:
			e.Compact = true
			z.Tokens = 8 // "What did we do so far?"
		case compartments.PartMarker:
			z.Silent = true
		case compartments.PartOther:
			z.Tokens = count(p.Text)
		}
		e.Sizes[i] = z
	}
	return e
}

// callTokens is what the frame of a call and its result costs, in tokens.
const callTokens = 12

// mediaTokens is what a file part costs: pictures cost by their area, which is
// not known here; 1,600 tokens is what the largest that providers take cost.
func mediaTokens(p *compartments.Part) int {
	if p.URLBytes < 256 || p.Mime == "text/plain" || p.Mime == "application/x-directory" {
		return 0 // a reference; the host sends what it read as synthetic text
	}
	return 1600
}

func commonPrefix(a, b []compartments.Ordinal) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

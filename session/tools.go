package session

import (
	"context"

	"ctxplugin/compartments"
	"ctxplugin/decay"
	"ctxplugin/expand"
)

// Tools lists the tools for the model.
func (s *Sessions) Tools() []Tool {
	var out []Tool
	for _, d := range expand.Definitions() {
		out = append(out, Tool{Name: d.Name, Description: d.Description, InputSchema: d.InputSchema})
	}
	return out
}

// What tells the placeholder of something stored, which no tool of the host may
// get as an argument, and what the model is told instead.
const (
	StubPattern = decay.StubPattern
	StubRefusal = decay.StubRefusal
)

// CallTool runs a tool of the model in a session that the host named. What is
// wrong with the arguments stands in the result.
func (s *Sessions) CallTool(ctx context.Context, id compartments.SessionID, name string, arguments []byte) (ToolResult, error) {
	switch name {
	case expand.ToolPin:
		return s.callPin(ctx, id, arguments)
	case expand.ToolUnpin:
		return s.callUnpin(ctx, id, arguments)
	}
	view, room, err := s.snapshot(ctx, id)
	if err != nil {
		return ToolResult{}, err
	}
	r, err := s.cfg.Expander.Call(ctx, view, name, arguments, room)
	return ToolResult{Text: r.Text, IsError: r.IsError}, err
}

// Expand answers session/expand.
func (s *Sessions) Expand(ctx context.Context, r ExpandRequest) (ExpandReply, error) {
	view, _, err := s.snapshot(ctx, r.Session)
	if err != nil {
		return ExpandReply{}, err
	}
	got, err := s.cfg.Expander.Stored(ctx, view, expand.Request{Session: r.Session, First: r.First, Last: r.Last, Compartment: r.Compartment,
		Message: r.Message, Part: r.Part, Offset: r.Offset, Limit: r.Limit})
	if err != nil {
		return ExpandReply{}, err
	}
	reply := ExpandReply{Text: got.Text, Offset: got.Offset, Next: got.Next, Total: got.Total}
	for _, m := range got.Messages {
		reply.Messages = append(reply.Messages, ExpandedMessage{Ordinal: m.Ordinal, ID: m.ID, Withdrawn: m.Withdrawn, Raw: m.Raw})
	}
	return reply, nil
}

// snapshot copies what expand needs to know of a session, so that the session
// is free while the store is read, and tells how much room its turn has left.
func (s *Sessions) snapshot(ctx context.Context, id compartments.SessionID) (view *expand.View, room int, err error) {
	err = s.current(ctx, id, func(se *Session) error {
		if err := se.mustExist(); err != nil {
			return err
		}
		// entries, the list and compartments are replaced or appended to, never
		// changed in place, except for entries of messages that the host renews
		view = &expand.View{Session: id, Entries: append([]compartments.Entry(nil), se.entries...), List: se.list, Plan: se.plan}
		if _, hidden := se.whole(); hidden > 0 {
			view.Hidden = se.st.Hidden
		}
		for _, r := range se.view.served {
			view.Compartments = append(view.Compartments, *r.c)
		}
		room = se.room()
		return nil
	})
	return view, room, err
}

// room is how many tokens the running turn can take before the force mark.
func (se *Session) room() int {
	st := se.st.Stats
	if st.Usable == 0 {
		return roomUnknown
	}
	return max(roomLeast, st.Usable*se.cfg.Settings.ForceMark/1000-st.Messages)
}

// roomUnknown is the room assumed before the first request told the window, and
// roomLeast what a page gets to share even when the turn is nearly full: the
// next pass folds. Both in tokens.
const (
	roomUnknown = 16_000
	roomLeast   = 2_000
)

func (se *Session) mustExist() error {
	if se.version == 0 {
		return compartments.Errorf(compartments.CodeUnknownSession, "no session %s was ever synced", se.id)
	}
	return nil
}

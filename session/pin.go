package session

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"ctxplugin/compartments"
	"ctxplugin/decay"
	"ctxplugin/expand"
)

// PinRequest asks for a pin of words (Message or ID, and perhaps Part, Field and
// Quote) or of the class of messages (First and Last, or Compartment).
type PinRequest struct {
	Session     compartments.SessionID
	By          compartments.Pinner
	Now         int64 // Unix ms of the caller's clock; 0: that of the last request
	Message     compartments.Ordinal
	ID          compartments.MessageID
	Part        int // 0-based; -1: the whole message
	Field       compartments.Field
	Quote       string
	First, Last compartments.Ordinal
	Compartment compartments.Ordinal // a message that it begins with, or has
	Class       compartments.Retention
}

// UnpinRequest ends a pin.
type UnpinRequest struct {
	Session compartments.SessionID
	By      compartments.Pinner
	Now     int64
	Pin     compartments.PinID
}

// PinReply says what became of a request.
type PinReply struct {
	Pin   PinLine `json:"pin"`
	Again bool    `json:"again,omitempty"` // nothing changed: it was so already
	Note  string  `json:"note,omitempty"`  // for whoever asked
}

// PinLine is one pin in a list.
type PinLine struct {
	Pin     compartments.PinID     `json:"pin"`
	By      compartments.Pinner    `json:"by"`
	At      int64                  `json:"at,omitempty"` // Unix ms
	Message compartments.Ordinal   `json:"message,omitempty"`
	ID      compartments.MessageID `json:"messageID,omitempty"`
	Spans   []compartments.PinSpan `json:"spans,omitempty"`
	First   compartments.Ordinal   `json:"first,omitempty"`
	Last    compartments.Ordinal   `json:"last,omitempty"`
	Class   string                 `json:"class,omitempty"`
	Tokens  int                    `json:"tokens"` // of the words, or of the messages that are kept
	State   PinState               `json:"state"`
}

// PinState says where a pin is.
type PinState string

// The states of a pin.
const (
	PinInView  PinState = "inView"  // what it holds is in the request, or in the record
	PinPending PinState = "pending" // the next fold shows it
	PinNoRoom  PinState = "noRoom"  // the window does not hold it; the record names the call
	PinAsleep  PinState = "asleep"  // its message was withdrawn, or no longer says it
	PinBehind  PinState = "behind"  // newer classes of all its messages hold instead
	PinEnded   PinState = "ended"
)

// Pins lists the pins of a session, in the order in which they were set; ended
// says whether those that ended are among them.
func (s *Sessions) Pins(ctx context.Context, id compartments.SessionID, ended bool) (lines []PinLine, err error) {
	err = s.current(ctx, id, func(se *Session) error {
		if err := se.mustExist(); err != nil {
			return err
		}
		lines = make([]PinLine, 0, len(se.pins))
		for i := range se.pins {
			if p := &se.pins[i]; ended || !p.Ended {
				lines = append(lines, se.pinLine(p))
			}
		}
		return nil
	})
	return lines, err
}

// Pin sets a pin. It changes no byte before a fold, and forces none. Errors:
// CodeNotFound for a message, part or quote that is not there, CodeBadRange for
// messages that the session does not have, CodeBadInput for words that cannot be
// pinned; nothing has changed then.
func (s *Sessions) Pin(ctx context.Context, r PinRequest) (reply PinReply, err error) {
	err = s.current(ctx, r.Session, func(se *Session) error {
		if err := se.mustExist(); err != nil {
			return err
		}
		if r.Message == 0 && r.ID == "" {
			reply, err = se.pinClass(ctx, r)
		} else {
			reply, err = se.pinWords(ctx, r)
		}
		return err
	})
	return reply, err
}

// Unpin ends a pin, from the next fold on. Errors: CodeNotFound for a pin that
// was never set, CodeBadInput where the model would end one of the user's.
func (s *Sessions) Unpin(ctx context.Context, r UnpinRequest) (reply PinReply, err error) {
	err = s.current(ctx, r.Session, func(se *Session) error {
		if err := se.mustExist(); err != nil {
			return err
		}
		p := se.pin(r.Pin)
		switch {
		case p == nil:
			return compartments.Errorf(compartments.CodeNotFound, "there is no pin %d; %s", r.Pin, se.pinNumbers())
		case p.Ended:
			reply = PinReply{Pin: se.pinLine(p), Again: true, Note: fmt.Sprintf("Pin %d has ended already.", p.ID)}
			return nil
		case r.By == compartments.ByModel && p.By == compartments.ByUser:
			return compartments.Errorf(compartments.CodeBadInput, "pin %d is the user's, and only the user ends it: ctxplugin unpin %s %d", p.ID, se.id, p.ID)
		}
		se.touched = true
		p.Ended, p.EndedAt = true, se.timeOf(r.Now)
		batch := &compartments.Batch{ListFrom: -1, Pins: []compartments.Pin{*p}}
		se.reclass(batch, p)
		if err := se.commit(ctx, batch); err != nil {
			return err
		}
		reply = PinReply{Pin: se.pinLine(p), Note: fmt.Sprintf("Pin %d has ended. What the record shows of it goes at the next fold.", p.ID)}
		return nil
	})
	return reply, err
}

// timeOf is the caller's time, or that of the last request.
func (se *Session) timeOf(now int64) int64 {
	if now > 0 {
		return now
	}
	return se.st.Now
}

func (se *Session) pinWords(ctx context.Context, r PinRequest) (PinReply, error) {
	o := r.Message
	if r.ID != "" {
		if o = se.byID[r.ID]; o == 0 {
			return PinReply{}, compartments.Errorf(compartments.CodeNotFound, "no message has the id %q; the session has messages 1-%d", r.ID, len(se.entries))
		}
	}
	if err := se.mustStand(o); err != nil {
		return PinReply{}, err
	}
	messages, err := se.messagesOf(ctx, []compartments.Ordinal{o})
	if err != nil {
		return PinReply{}, err
	}
	if r.Quote != "" && strings.TrimSpace(r.Quote) == "" {
		return PinReply{}, compartments.Errorf(compartments.CodeBadInput, "the quote is blank; without one all words of the message, or of the part, are pinned")
	}
	for line := range strings.Lines(r.Quote) {
		if decay.Imitates(line) {
			return PinReply{}, compartments.Errorf(compartments.CodeBadInput,
				"the quote has a heading of the session record, %q, which is no message: pin what it stands for, such as {\"message\": %d, \"quote\": \"…\"} with words of the original (ctx_expand opens it)", line, o)
		}
	}
	spans, err := expand.FindWords(&messages[0], r.Part, r.Field, r.Quote)
	if err != nil {
		if se.recordSays(r.Quote) {
			return PinReply{}, compartments.Errorf(compartments.CodeNotFound, "%w (the session record says %.60q, but the record is a report; a pin holds words of the message itself)", err, r.Quote)
		}
		return PinReply{}, err
	}
	for i := range se.pins {
		if p := &se.pins[i]; !p.Ended && p.Ordinal == o && slices.Equal(p.Spans, spans) {
			return se.pinnedAlready(ctx, p, r.By)
		}
	}
	return se.set(ctx, compartments.Pin{By: r.By, At: se.timeOf(r.Now), Ordinal: o, Part: r.Part, Field: r.Field, Quote: r.Quote, Spans: spans})
}

// mustStand refuses a message that is not there.
func (se *Session) mustStand(o compartments.Ordinal) error {
	if o < 1 || int(o) > len(se.entries) {
		return compartments.Errorf(compartments.CodeBadRange, "there is no message %d; the session has messages 1-%d", o, len(se.entries))
	}
	if !se.present(o) {
		return compartments.Errorf(compartments.CodeBadRange, "message %d was withdrawn: it is no part of the conversation any more", o)
	}
	return nil
}

// present reports whether a message stands, in the list or hidden behind the
// host's own summary.
func (se *Session) present(o compartments.Ordinal) bool {
	return int(o) <= len(se.view.place) && se.view.place[o-1] >= 0 || slices.Contains(se.list, o) || slices.Contains(se.st.Hidden, o)
}

// recordSays reports whether the head has the words.
func (se *Session) recordSays(words string) bool {
	for i := range se.st.Layout {
		if words != "" && strings.Contains(se.st.Layout[i].Text, words) {
			return true
		}
	}
	return false
}

func (se *Session) pinClass(ctx context.Context, r PinRequest) (PinReply, error) {
	if r.Compartment > 0 {
		if err := se.mustStand(r.Compartment); err != nil {
			return PinReply{}, err
		}
		at := slices.IndexFunc(se.view.served, func(s run) bool { return slices.Contains(s.c.Members, r.Compartment) })
		if at < 0 {
			return PinReply{}, compartments.Errorf(compartments.CodeNotFound,
				"message %d is in no compartment yet; a range of messages can be pinned all the same, such as {\"first\": %d, \"last\": %d}", r.Compartment, r.Compartment, r.Compartment)
		}
		c := se.view.served[at].c
		r.First, r.Last = slices.Min(c.Members), slices.Max(c.Members)
	}
	if r.First > 0 && r.Last > 0 && r.Last < r.First {
		return PinReply{}, compartments.Errorf(compartments.CodeBadRange, "first %d is behind last %d; a range is named from its first message to its last, such as %d-%d",
			r.First, r.Last, r.Last, r.First)
	}
	if r.First < 1 || r.Last < r.First || int(r.Last) > len(se.entries) {
		return PinReply{}, compartments.Errorf(compartments.CodeBadRange, "there are no messages %d-%d; the session has messages 1-%d", r.First, r.Last, len(se.entries))
	}
	some := false
	for o := r.First; o <= r.Last && !some; o++ {
		some = se.present(o)
	}
	if !some {
		return PinReply{}, compartments.Errorf(compartments.CodeBadRange, "messages %d-%d were withdrawn: they are no part of the conversation any more", r.First, r.Last)
	}
	for i := len(se.pins) - 1; i >= 0; i-- {
		p := &se.pins[i]
		if p.Ended || p.Words() || p.Last < r.First || p.First > r.Last {
			continue
		}
		if p.First == r.First && p.Last == r.Last && p.Class == r.Class {
			return se.pinnedAlready(ctx, p, r.By)
		}
		break // a newer pin says something else of a part of it
	}
	return se.set(ctx, compartments.Pin{By: r.By, At: se.timeOf(r.Now), Part: -1, First: r.First, Last: r.Last, Class: r.Class})
}

// pinnedAlready answers for a pin that is set already. What the model pinned is the
// user's once the user pins it too.
func (se *Session) pinnedAlready(ctx context.Context, p *compartments.Pin, by compartments.Pinner) (PinReply, error) {
	if by == compartments.ByUser && p.By == compartments.ByModel {
		se.touched = true
		p.By = by
		if err := se.commit(ctx, &compartments.Batch{ListFrom: -1, Pins: []compartments.Pin{*p}}); err != nil {
			return PinReply{}, err
		}
	}
	return PinReply{Pin: se.pinLine(p), Again: true, Note: fmt.Sprintf("It is pinned already, as pin %d.", p.ID)}, nil
}

// set gives a pin its number and stores it.
func (se *Session) set(ctx context.Context, p compartments.Pin) (PinReply, error) {
	se.touched = true
	batch := &compartments.Batch{ListFrom: -1}
	se.addPin(batch, p)
	set := &se.pins[len(se.pins)-1]
	se.reclass(batch, set)
	if err := se.commit(ctx, batch); err != nil {
		return PinReply{}, err
	}
	line := se.pinLine(set)
	return PinReply{Pin: line, Note: se.pinNote(&line)}, nil
}

func (se *Session) addPin(batch *compartments.Batch, p compartments.Pin) {
	p.ID = 1
	if n := len(se.pins); n > 0 {
		p.ID = se.pins[n-1].ID + 1
	}
	se.pins = append(se.pins, p)
	batch.Pins = append(batch.Pins, p)
}

// pin returns a pin that was ever set, or nil.
func (se *Session) pin(id compartments.PinID) *compartments.Pin {
	i, found := slices.BinarySearchFunc(se.pins, id, func(p compartments.Pin, id compartments.PinID) int { return int(p.ID - id) })
	if !found {
		return nil
	}
	return &se.pins[i]
}

func (se *Session) pinNumbers() string {
	text := ""
	for i := range se.pins {
		if p := &se.pins[i]; !p.Ended {
			if text != "" {
				text += ", "
			}
			text += fmt.Sprint(p.ID)
		}
	}
	if text == "" {
		return "nothing is pinned"
	}
	return "pinned are " + text
}

// reclass gives the compartments that a pin's range touches the class that the
// pins give them now. The stored ones are replaced, so that the store can hold
// folds against it.
func (se *Session) reclass(batch *compartments.Batch, p *compartments.Pin) {
	if p.Words() {
		return
	}
	changed := false
	for id, c := range se.all {
		if !slices.ContainsFunc(c.Members, p.Holds) {
			continue
		}
		if class, _ := compartments.ClassOf(c.Members, se.pins); class != c.Retention {
			other := *c
			other.Retention = class
			se.all[id] = &other
			batch.Compartments = append(batch.Compartments, other)
			changed = true
		}
	}
	if !changed {
		return
	}
	slices.SortFunc(batch.Compartments, func(a, b compartments.Compartment) int { return int(a.ID - b.ID) })
	se.view = se.lookOver(se.view.order, se.view.hidden, se.view.start)
}

// repin holds the pins of a message against its new content: a pin of all of it,
// or of a part, goes on as a new one with the new words; a quote that is gone
// sleeps until it is back.
func (se *Session) repin(batch *compartments.Batch, m *compartments.Message) {
	for i := range len(se.pins) {
		p := &se.pins[i]
		if p.Ended || p.Ordinal != m.Ordinal {
			continue
		}
		spans, err := expand.FindWords(m, p.Part, p.Field, p.Quote)
		switch {
		case err != nil && p.Lost, err == nil && !p.Lost && slices.Equal(spans, p.Spans):
			continue
		case err != nil:
			p.Lost = true
		case slices.Equal(spans, p.Spans):
			p.Lost = false
		default:
			p.Ended, p.EndedAt = true, se.st.Now
			next := *p
			next.Ended, next.EndedAt, next.Lost, next.Spans = false, 0, false, spans
			batch.Pins = append(batch.Pins, *p)
			se.addPin(batch, next)
			continue
		}
		batch.Pins = append(batch.Pins, *p)
	}
}

// copyPins takes over the pins of the source of a fork, as far as their messages
// were copied: up to the last.
func (se *Session) copyPins(batch *compartments.Batch, source *compartments.Stored, last compartments.Ordinal) {
	if len(se.pins) > 0 {
		return
	}
	for _, p := range source.Pins {
		if p.Ordinal > last || p.First > last {
			continue
		}
		p.Last = min(p.Last, last) // the fork's own messages were never pinned
		se.pins = append(se.pins, p)
		batch.Pins = append(batch.Pins, p)
	}
}

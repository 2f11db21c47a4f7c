package rpc

import (
	"context"
	"encoding/json"

	"ctxplugin/compartments"
	"ctxplugin/session"
)

// pin serves session/pin, by which the user pins: of one message all, a part or
// an exact quote, or the class of a range of messages or a compartment.
func pin(ctx context.Context, s *server, r *request) ([]byte, error) {
	q := session.PinRequest{By: compartments.ByUser, Class: compartments.Pinned}
	part := count(-1)
	var first, last, compartment, now count
	var class string
	err := r.read(map[string]any{"sessionID": &q.Session, "part": &part, "field": &q.Field, "quote": &q.Quote, "first": &first, "last": &last,
		"compartment": &compartment, "class": &class, "now": &now})
	if err != nil {
		return nil, err
	}
	if err := r.places(part, compartment); err != nil {
		return nil, err
	}
	if r.params.get("quote") != nil && q.Quote == "" {
		return nil, badInput("session/pin: the quote is empty; without one all words of the message, or of the part, are pinned")
	}
	if message := r.params.get("message"); message != nil {
		if message[0] == '"' {
			err = json.Unmarshal(message, &q.ID)
		} else {
			var n count
			err = json.Unmarshal(message, &n)
			q.Message = compartments.Ordinal(n)
		}
		if err != nil || q.Message < 1 && q.ID == "" {
			return nil, badInput("session/pin: message has to be the number of a message, such as 57, or its id")
		}
	}
	switch q.Field {
	case "", compartments.FieldText, compartments.FieldInput, compartments.FieldOutput:
	default:
		return nil, badInput("session/pin: field has to be \"text\", \"input\" or \"output\"")
	}
	q.Part, q.First, q.Last, q.Compartment, q.Now = int(part), compartments.Ordinal(first), compartments.Ordinal(last), compartments.Ordinal(compartment), int64(now)
	words := q.Message > 0 || q.ID != ""
	ranged := q.First != 0 || q.Last != 0
	switch {
	case words && (ranged || q.Compartment != 0 || class != ""), ranged && q.Compartment != 0, !words && !ranged && q.Compartment == 0,
		!words && (q.Part >= 0 || q.Quote != "" || q.Field != ""):
		return nil, badInput("session/pin: give message, and perhaps part, field and quote; or first and last, or compartment, and perhaps class")
	}
	if class != "" {
		if q.Class, err = compartments.ParseRetention(class); err != nil {
			return nil, badInput("session/pin: %v", err)
		}
	}
	reply, err := s.Sessions.Pin(ctx, q)
	if err != nil {
		return nil, err
	}
	return encode(reply)
}

func unpin(ctx context.Context, s *server, r *request) ([]byte, error) {
	q := session.UnpinRequest{By: compartments.ByUser}
	var pin, now count
	if err := r.read(map[string]any{"sessionID": &q.Session, "pin": &pin, "now": &now}); err != nil {
		return nil, err
	}
	if pin < 1 {
		return nil, badInput("session/unpin: pin has to be the number of a pin, 1 or more; session/pins lists them")
	}
	q.Pin, q.Now = compartments.PinID(pin), int64(now)
	reply, err := s.Sessions.Unpin(ctx, q)
	if err != nil {
		return nil, err
	}
	return encode(reply)
}

func pins(ctx context.Context, s *server, r *request) ([]byte, error) {
	var id compartments.SessionID
	var ended bool
	if err := r.read(map[string]any{"sessionID": &id, "ended": &ended}); err != nil {
		return nil, err
	}
	lines, err := s.Sessions.Pins(ctx, id, ended)
	if err != nil {
		return nil, err
	}
	return encode(map[string]any{"pins": append([]session.PinLine{}, lines...)})
}

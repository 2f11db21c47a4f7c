package expand

import (
	"context"
	"encoding/json"
	"math"
	"strconv"

	"ctxplugin/compartments"
)

// Request asks for stored JSON. Either First and Last, or Compartment, or Message
// is given.
type Request struct {
	Session     compartments.SessionID // that of the View
	First, Last compartments.Ordinal
	Compartment compartments.CompartmentID
	Message     compartments.MessageID // or an ordinal in decimal digits
	Part        int                    // 0-based; negative: whole messages
	Offset      int                    // bytes, with Part; messages otherwise
	Limit       int                    // bytes; 0 means StoredLimit; capped at StoredLimitMost
}

// Reply is one page of stored JSON.
type Reply struct {
	Messages []Stored
	Text     string // with Part: Total bytes in all, from Offset
	Offset   int
	Next     int // offset of the next page; 0 when this was the last
	Total    int
}

// Stored is one message as it is stored.
type Stored struct {
	Ordinal   compartments.Ordinal
	ID        compartments.MessageID
	Withdrawn bool
	Raw       []byte // its JSON, byte for byte
}

// Bounds of a page of stored JSON, in bytes.
const (
	StoredLimit     = 1 << 20
	StoredLimitMost = 8 << 20
)

// Stored answers session/expand: stored JSON byte for byte, for the host and not
// for a model. A range or a compartment is paged in whole messages, as many as
// hold the limit and at least one; withdrawn ones are in it and say so. With Part
// it is the JSON of one part of one message, paged in bytes between graphemes; a
// page is never shorter than 64 bytes unless it is the last.
//
// Errors are CodeBadInput when the request does not say what it means,
// CodeNotFound for a message, part or compartment that does not exist,
// CodeBadRange for a range or an offset that does not.
func (x *Expander) Stored(ctx context.Context, v *View, r Request) (Reply, error) {
	s := v.scene()
	if r.Limit < 0 || r.Offset < 0 {
		return Reply{}, compartments.Errorf(compartments.CodeBadInput, "offset %d and limit %d have to be 0 or more", r.Offset, r.Limit)
	}
	if r.Limit == 0 {
		r.Limit = StoredLimit
	}
	r.Limit = min(r.Limit, StoredLimitMost)
	ordinals, err := s.requested(r)
	if err != nil {
		return Reply{}, err
	}
	if r.Part >= 0 {
		if len(ordinals) != 1 {
			return Reply{}, compartments.Errorf(compartments.CodeBadInput, "part %d of %d messages: a part needs one message", r.Part, len(ordinals))
		}
		return x.storedPart(ctx, s, ordinals[0], r)
	}
	if r.Offset > 0 && r.Offset >= len(ordinals) {
		return Reply{}, compartments.Errorf(compartments.CodeBadRange, "offset %d: the range has %d messages", r.Offset, len(ordinals))
	}
	reply := Reply{Offset: r.Offset, Total: len(ordinals)}
	size := 0
	for at := r.Offset; at < len(ordinals); {
		batch := s.batch(ordinals[at:])
		raw, err := x.source.Raw(ctx, s.Session, batch)
		if err != nil {
			return Reply{}, err
		}
		for i := range raw {
			if size += len(raw[i]); size > r.Limit && len(reply.Messages) > 0 {
				reply.Next = at + i
				return reply, nil
			}
			reply.Messages = append(reply.Messages, Stored{
				Ordinal: batch[i], ID: s.entry(batch[i]).ID, Withdrawn: s.places[batch[i]-1] == withdrawn, Raw: raw[i],
			})
		}
		at += len(batch)
	}
	return reply, nil
}

// requested lists the messages that a request names.
func (s *scene) requested(r Request) ([]compartments.Ordinal, error) {
	ways := 0
	for _, given := range [...]bool{r.First != 0 || r.Last != 0, r.Compartment != 0, r.Message != ""} {
		if given {
			ways++
		}
	}
	switch {
	case ways != 1:
		return nil, compartments.Errorf(compartments.CodeBadInput, "give either first and last, or compartment, or message")
	case r.Message != "":
		o := s.byID(r.Message)
		if o == 0 {
			if n, err := strconv.ParseInt(string(r.Message), 10, 64); err == nil && s.entry(compartments.Ordinal(n)) != nil {
				o = compartments.Ordinal(n)
			}
		}
		if o == 0 {
			return nil, compartments.Errorf(compartments.CodeNotFound, "the session has no message %q", r.Message)
		}
		return []compartments.Ordinal{o}, nil
	case r.Compartment != 0:
		c := s.byCompartmentID(r.Compartment)
		if c == nil {
			return nil, compartments.Errorf(compartments.CodeNotFound, "the session has no compartment %d", r.Compartment)
		}
		return c.Members, nil
	}
	first, last := min(r.First, r.Last), max(r.First, r.Last)
	if first < 1 || last > s.last() {
		return nil, compartments.Errorf(compartments.CodeBadRange, "messages %d-%d: the session has messages 1-%d", first, last, s.last())
	}
	ordinals := make([]compartments.Ordinal, 0, last-first+1)
	for o := first; o <= last; o++ {
		ordinals = append(ordinals, o)
	}
	return ordinals, nil
}

func (x *Expander) storedPart(ctx context.Context, s *scene, o compartments.Ordinal, r Request) (Reply, error) {
	raw, err := x.source.Raw(ctx, s.Session, []compartments.Ordinal{o})
	if err != nil {
		return Reply{}, err
	}
	if len(raw) != 1 {
		return Reply{}, compartments.Errorf(compartments.CodeInternal, "message %d: the store returned %d messages", o, len(raw))
	}
	var message struct {
		Parts []json.RawMessage `json:"parts"`
	}
	if err := json.Unmarshal(raw[0], &message); err != nil {
		return Reply{}, compartments.Errorf(compartments.CodeStorage, "message %d is stored damaged: %w", o, err)
	}
	if r.Part >= len(message.Parts) {
		return Reply{}, compartments.Errorf(compartments.CodeNotFound, "message %d has %d parts, so no part %d", o, len(message.Parts), r.Part)
	}
	text := string(message.Parts[r.Part])
	if r.Offset > 0 && r.Offset >= len(text) {
		return Reply{}, compartments.Errorf(compartments.CodeBadRange, "offset %d: part %d of message %d has %d bytes", r.Offset, r.Part, o, len(text))
	}
	from := snap(text, r.Offset)
	most := limits{tokens: math.MaxInt, bytes: r.Limit, lines: math.MaxInt}
	to := fit(text, from, most, func(string) int { return 0 })
	reply := Reply{Text: text[from:to], Offset: from, Total: len(text)}
	if to < len(text) {
		reply.Next = to
	}
	return reply, nil
}

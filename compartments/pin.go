package compartments

// PinID numbers a pin in its session, from 1. It is never given again; the copy
// of a pin in a fork has the number of the original.
type PinID int64

// Pinner says who set a pin.
type Pinner string

// Those who set pins. The model may not end a pin of the user's.
const (
	ByUser  Pinner = "user"
	ByModel Pinner = "model"
)

// Pin keeps something from fading: words of one message, which then stand
// verbatim at every tier, or the retention class of a range of messages.
// Exactly one of Spans and Class is there. A pin that ended is kept, so that a
// fold that showed it can be rendered again.
type Pin struct {
	ID      PinID  `json:"id"`
	By      Pinner `json:"by"`
	At      int64  `json:"at,omitempty"`    // when it was set: Unix ms of the caller's clock; 0 unknown
	Ended   bool   `json:"ended,omitempty"` // no longer wanted
	EndedAt int64  `json:"endedAt,omitempty"`

	Ordinal Ordinal   `json:"ordinal,omitempty"` // the message that the words stand in
	Part    int       `json:"part"`              // 0-based, of the words; -1: all parts
	Field   Field     `json:"field,omitempty"`   // that was named; empty: any
	Quote   string    `json:"quote,omitempty"`   // the words, where they were named by themselves
	Spans   []PinSpan `json:"spans,omitempty"`
	Lost    bool      `json:"lost,omitempty"` // the message changed and no longer says it

	First Ordinal   `json:"first,omitempty"` // of the range
	Last  Ordinal   `json:"last,omitempty"`
	Class Retention `json:"class"`
}

// PinSpan is a run of verbatim text of one field.
type PinSpan struct {
	Part  int    `json:"part"`
	Field Field  `json:"field"`
	From  int    `json:"from"` // bytes into the field, as ctx_expand shows it
	To    int    `json:"to"`
	Text  string `json:"text"`
}

// Words reports whether the pin is of words; otherwise it is of a class.
func (p *Pin) Words() bool { return p.Ordinal != 0 }

// Holds reports whether the range of the pin has a message in it.
func (p *Pin) Holds(o Ordinal) bool { return p.First <= o && o <= p.Last }

// ClassOf is the retention class of a compartment under pins, in the order in
// which they were set: of each member the newest pin counts. One raw member
// keeps the whole raw, and only where every member is discardable is the whole.
// ok is false if no pin says anything about it.
func ClassOf(members []Ordinal, pins []Pin) (class Retention, ok bool) {
	discardable := true
	for _, m := range members {
		said := false
		for i := len(pins) - 1; i >= 0 && !said; i-- {
			p := &pins[i]
			if said = !p.Ended && !p.Words() && p.Holds(m); !said {
				continue
			}
			ok = true
			if p.Class == Pinned {
				return Pinned, true
			}
			discardable = discardable && p.Class == Discardable
		}
		discardable = discardable && said
	}
	if ok && discardable {
		return Discardable, true
	}
	return Compressible, ok
}

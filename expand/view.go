package expand

import (
	"slices"

	"ctxplugin/compartments"
)

// View is what a call needs to know of its session: a snapshot that the caller
// takes and no one changes during the call. The zero View is a session without
// messages.
type View struct {
	Session compartments.SessionID
	Entries []compartments.Entry   // every message ever seen, by ordinal from 1
	List    []compartments.Ordinal // the host's list now
	// Hidden are the messages that stand, but that the host hides behind its own
	// summary, in order. What is in neither list was withdrawn.
	Hidden       []compartments.Ordinal
	Compartments []compartments.Compartment // those that serve, in list order
	Plan         compartments.Plan          // with which the request that made the call was sent
}

// place says where a message is.
type place uint8

const (
	withdrawn place = iota // it left the list: reverted, or deleted
	folded                 // it stands, and the request did not show it
	inView                 // it stands in the request, except for its stubs
)

// scene is a View in the form that look-ups need.
type scene struct {
	*View
	places []place                // by ordinal - 1
	order  []compartments.Ordinal // all that stand: hidden ones, then the list
	// stubs are the fields that edits of the plan replaced, by message in view.
	stubs map[compartments.Ordinal][]stub
}

type stub struct {
	part  int
	field compartments.Field
}

func (v *View) scene() *scene {
	s := &scene{View: v, places: make([]place, len(v.Entries)), stubs: map[compartments.Ordinal][]stub{}}
	ordinals := make(map[compartments.MessageID]compartments.Ordinal, len(v.List))
	for _, o := range v.List {
		if e := s.entry(o); e != nil {
			ordinals[e.ID] = o
		}
	}
	through, valid := ordinals[v.Plan.Through]
	valid = valid || v.Plan.Through == ""
	now := inView
	if valid && through != 0 {
		now = folded
	}
	for _, o := range v.Hidden {
		s.stand(o, folded)
	}
	for _, o := range v.List {
		s.stand(o, now)
		if o == through {
			now = inView
		}
	}
	if !valid { // a plan whose through is not in the list is void
		return s
	}
	for _, id := range v.Plan.Keep {
		if o := ordinals[id]; o != 0 {
			s.places[o-1] = inView
		}
	}
	for _, e := range v.Plan.Edits {
		if o := ordinals[e.MessageID]; o != 0 && s.places[o-1] == inView {
			s.stubs[o] = append(s.stubs[o], stub{e.Part, e.Field})
		}
	}
	return s
}

func (s *scene) stand(o compartments.Ordinal, p place) {
	if s.entry(o) != nil {
		s.places[o-1] = p
		s.order = append(s.order, o)
	}
}

// entry returns the entry of an ordinal, or nil.
func (s *scene) entry(o compartments.Ordinal) *compartments.Entry {
	if o < 1 || int64(o) > int64(len(s.Entries)) {
		return nil
	}
	return &s.Entries[o-1]
}

// byID returns the ordinal of a message of the host, or 0. Of several messages
// with the same id the newest counts.
func (s *scene) byID(id compartments.MessageID) compartments.Ordinal {
	for i := len(s.Entries) - 1; i >= 0; i-- {
		if s.Entries[i].ID == id {
			return compartments.Ordinal(i + 1)
		}
	}
	return 0
}

// last is the highest ordinal that the session gave.
func (s *scene) last() compartments.Ordinal { return compartments.Ordinal(len(s.Entries)) }

// shows reports whether the request showed a field of a message as it is stored.
func (s *scene) shows(o compartments.Ordinal, part int, field compartments.Field) bool {
	if s.places[o-1] != inView {
		return false
	}
	for _, t := range s.stubs[o] {
		if t.part == part && (t.field == field || t.field == compartments.FieldDrop) {
			return false
		}
	}
	return true
}

// selection is the messages that a range names.
type selection struct {
	open      []compartments.Ordinal // to be shown, in list order
	inView    []compartments.Ordinal // nothing of them needs opening, in list order
	withdrawn []compartments.Ordinal // by ordinal
}

// between selects the messages from first to last, in this order: the members of
// the compartment that has this name, otherwise what stands with an ordinal from
// first to last.
func (s *scene) between(first, last compartments.Ordinal) selection {
	var members []compartments.Ordinal
	if c := s.named(first, last); c != nil {
		members = c.Members
	} else {
		for _, o := range s.order {
			if o >= first && o <= last {
				members = append(members, o)
			}
		}
	}
	var sel selection
	for _, o := range members {
		switch e := s.entry(o); {
		case e == nil || s.places[o-1] == withdrawn:
		case s.places[o-1] == inView && len(s.stubs[o]) == 0:
			sel.inView = append(sel.inView, o)
		default:
			sel.open = append(sel.open, o)
		}
	}
	for o := first; o <= min(last, s.last()); o++ {
		if s.places[o-1] == withdrawn {
			sel.withdrawn = append(sel.withdrawn, o)
		}
	}
	return sel
}

// named returns the compartment with this first and last ordinal, or nil.
func (s *scene) named(first, last compartments.Ordinal) *compartments.Compartment {
	for i := range s.Compartments {
		if c := &s.Compartments[i]; c.First == first && c.Last == last {
			return c
		}
	}
	return nil
}

// holding returns the compartment that begins with a message, else the one that
// it is a member of, else nil.
func (s *scene) holding(o compartments.Ordinal) *compartments.Compartment {
	for i := range s.Compartments {
		if s.Compartments[i].First == o {
			return &s.Compartments[i]
		}
	}
	for i := range s.Compartments {
		if slices.Contains(s.Compartments[i].Members, o) {
			return &s.Compartments[i]
		}
	}
	return nil
}

// byCompartmentID returns a compartment, or nil.
func (s *scene) byCompartmentID(id compartments.CompartmentID) *compartments.Compartment {
	for i := range s.Compartments {
		if s.Compartments[i].ID == id {
			return &s.Compartments[i]
		}
	}
	return nil
}

package draft

import (
	"fmt"
	"strings"

	"ctxplugin/historian"
)

// The notation of a chunk. What begins in the first column is ours; everything
// that the transcript says stands behind a margin, or on a line of its own behind a
// mark, one line each. So no text of it can begin a message, a call or a result.
//
//	[33] user
//	  fix the importer, rows without an id crash it
//	[34]
//	  I look at the reader first.
//	* read importer/row.go:1-80
//	= 80 lines; names: csv.Reader, ErrNoID
//	* shell go test ./importer
//	! exit 1, 41 lines: panic: index out of range [3] (row.go:88)
const (
	margin     = "  "
	markCall   = "* "
	markResult = "= "
	markFailed = "! "
	markNote   = "~ " // what we say about the transcript
)

// detail says how much of each thing is shown, in characters and counts.
type detail struct {
	person, agent  int // of the words of one message
	code           int // lines of one fence, or of a paste, of a person
	quoted         int // lines of one fence of the agent, which mostly stand in a file too
	call           int // of a call's arguments
	body           int // of what an edit brings
	result, failed int // of a result
	names          int // of identifiers that stand in what is left out
	task           int
	todos          int
}

// details are the levels: the second and third are for a message that is too large
// at the first.
var details = [...]detail{
	{person: 6000, agent: 1300, code: 8, quoted: 2, call: 360, body: 160, result: 150, failed: 360, names: 28, task: 1200, todos: 8},
	{person: 2400, agent: 1000, code: 4, quoted: 2, call: 200, body: 100, result: 100, failed: 240, names: 10, task: 500, todos: 4},
	{person: 900, agent: 400, code: 1, quoted: 1, call: 100, body: 0, result: 0, failed: 160, names: 4, task: 160, todos: 2},
}

// namesRead is how many bytes of a text are read for identifiers.
const namesRead = 3000

// scribe writes messages in the notation. It knows which names it wrote, for a
// name that stands once is not listed again.
type scribe struct {
	x    *historian.Reading
	seen map[string]bool
	todo string // the list that was shown last
	root string // folder that is left out of paths in calls, with its slash; "" for none
}

func newScribe(x *historian.Reading) *scribe {
	return &scribe{x: x, seen: map[string]bool{}, root: rootOf(x)}
}

// entry is one message in the notation.
type entry struct {
	text      string // "" for a message that says nothing
	narrative bool   // has words of a person or the agent
}

// write writes the message at a place, at a level of detail.
func (s *scribe) write(place, level int) entry {
	d := &details[min(level, len(details)-1)]
	m := &s.x.Range().Messages[place]
	var lines []string
	narrative := false
	role := ""
	switch s.x.Voice(place) {
	case historian.VoicePerson:
		role = " user"
		said := s.person(place, d)
		narrative = len(said) > 0
		lines = append(lines, said...)
	case historian.VoiceAgent:
		if said := s.prose(s.x.Words(place), d.agent, d.quoted, d); len(said) > 0 {
			narrative = true
			lines = append(lines, said...)
		}
		for _, c := range s.x.Calls(place) {
			lines = append(lines, s.call(&c, d)...)
		}
		if s.x.Interrupted(place) {
			lines = append(lines, markNote+"broken off")
		}
	}
	if len(lines) == 0 {
		return entry{}
	}
	head := fmt.Sprintf("[%d]%s\n", m.Ordinal, role)
	return entry{head + strings.Join(lines, "\n") + "\n", narrative}
}

// note remembers the names of a line that is written.
func (s *scribe) note(line string) string {
	historian.EachName(line, func(name, key string) {
		s.seen[strings.ToLower(name)] = true
		s.seen[strings.ToLower(key)] = true
		s.seen[strings.ToLower(base(key))] = true
	})
	return line
}

func base(p string) string { return p[strings.LastIndexAny(p, `/\`)+1:] }

// fresh lists the names of a text that were not written yet, at most so many, and
// counts them as written.
func (s *scribe) fresh(text string, most int) string {
	var out []string
	historian.EachName(head(text, namesRead), func(name, key string) {
		low := strings.ToLower(key)
		if len(out) >= most || len(key) > 90 || s.seen[low] || s.seen[strings.ToLower(base(key))] && len(base(key)) > 3 {
			return
		}
		if shown := untagged(historian.Safe(key)); shown == key {
			s.seen[low] = true
			s.seen[strings.ToLower(base(key))] = true
			out = append(out, key)
		}
	})
	return strings.Join(out, ", ")
}

package decay

import "ctxplugin/compartments"

// Bulk is one field of a part in view that may become a stub at a fold.
type Bulk struct {
	Ordinal compartments.Ordinal
	Part    int
	Field   compartments.Field // output or input
	Chars   int                // of the output, or of the arguments as JSON
	Behind  int                // tokens of the raw messages behind its own
	Turns   int                // turns that began behind it
	Newest  bool               // in the newest assistant message
	Call    int                // index of its call among the calls of the request
}

// Thin picks of bulk what becomes stubs at a fold: what is superseded, and what
// is over StubChars outside the newest StubTurns turns or the newest StubShare
// of the usable window, whichever is smaller. A read that only an edit took the
// place of is bulk like any other there, and the arguments of an edit go only if
// they are superseded. Never a call without a result,
// what the newest assistant message did, loaded instructions, or the to-do list
// in force. by is what Superseded returned for the calls.
func Thin(bulk []Bulk, calls []Call, by []int, usable int, s Settings) []Bulk {
	if s.Ablate.without(AblateStubs) {
		return nil
	}
	near := share(usable, s.StubShare)
	var out []Bulk
	for _, b := range bulk {
		c := &calls[b.Call]
		verb := c.Subject.Verb
		replaced := by[b.Call] >= 0
		// the arguments of an edit are the only record of what it changed
		made := verb == compartments.VerbEdit && b.Field == compartments.FieldInput
		// and show no more of the file than that: the rest stands in what was read
		rest := replaced && verb == compartments.VerbRead && calls[by[b.Call]].Subject.Verb == compartments.VerbEdit
		switch {
		case c.Open, b.Newest, verb == compartments.VerbSkill:
		case replaced && !rest && b.Chars > s.StubOver:
			out = append(out, b)
		case verb == compartments.VerbPlan, b.Turns < s.StubTurns && b.Behind < near:
		case (rest || verb == compartments.VerbOwn) && b.Chars > s.StubOver, b.Chars > s.StubChars && !made:
			out = append(out, b)
		}
	}
	return out
}

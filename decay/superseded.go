package decay

import (
	"path"

	"ctxplugin/compartments"
)

// Call is one tool call of a request.
type Call struct {
	Subject compartments.Subject
	Failed  bool
	Open    bool // no result yet
}

// Superseded tells for each of the calls, which stand in the order of the
// request, the later call that took its place; -1 for none:
//
//   - a read whose file was read again over the same lines, or written or edited;
//   - a write or an edit whose file was written again, or read as a whole;
//   - a command, search or fetch that was made again;
//   - a to-do list that was replaced;
//   - a failed attempt at a file that succeeded later.
//
// Of several that qualify it is the next one, or what took that one's place by
// the same kind of call.
func Superseded(calls []Call) []int {
	by := make([]int, len(calls))
	again := map[compartments.Subject]int{} // commands, searches, fetches, lists
	files := map[string]*fileLater{}
	for i := len(calls) - 1; i >= 0; i-- {
		by[i] = -1
		c := &calls[i]
		s := c.Subject
		if s.Target == "" || c.Open {
			continue
		}
		switch s.Verb {
		case compartments.VerbRun, compartments.VerbLook, compartments.VerbFetch, compartments.VerbPlan:
			key := compartments.Subject{Verb: s.Verb, Target: s.Target}
			if j, ok := again[key]; ok && (s.Verb == compartments.VerbRun || c.Failed || !calls[j].Failed) {
				by[i] = j
			} else if !ok || !c.Failed {
				again[key] = i
			}
		case compartments.VerbRead, compartments.VerbWrite, compartments.VerbEdit:
			name := path.Clean(s.Target)
			f := files[name]
			if f == nil {
				f = &fileLater{write: -1, edit: -1}
				files[name] = f
			}
			by[i] = f.replaces(calls, i)
			f.add(c, i)
		}
	}
	for i := len(calls) - 1; i >= 0; i-- {
		for j := by[i]; j >= 0 && by[j] >= 0 && calls[by[j]].Subject.Verb == calls[j].Subject.Verb; j = by[i] {
			by[i] = by[j]
		}
	}
	return by
}

// fileLater is what later calls did with a file: the nearest of each kind that
// succeeded.
type fileLater struct {
	write, edit int
	reads       []int // nearest last
}

func (f *fileLater) add(c *Call, i int) {
	switch {
	case c.Failed:
	case c.Subject.Verb == compartments.VerbRead:
		f.reads = append(f.reads, i)
	case c.Subject.Verb == compartments.VerbWrite:
		f.write = i
	default:
		f.edit = i
	}
}

// replaces returns the later call that takes the place of call i, or -1.
func (f *fileLater) replaces(calls []Call, i int) int {
	c := &calls[i]
	nearest := -1
	take := func(j int) {
		if j >= 0 && (nearest < 0 || j < nearest) {
			nearest = j
		}
	}
	switch {
	case c.Subject.Verb == compartments.VerbRead:
		for _, j := range f.reads {
			if c.Failed || calls[j].Subject.Covers(c.Subject) {
				take(j)
			}
		}
		if !c.Failed {
			take(f.edit)
		}
		take(f.write)
	case c.Failed:
		take(f.edit)
		take(f.write)
	default:
		take(f.write)
		for _, j := range f.reads {
			if calls[j].Subject.Covers(compartments.Subject{}) {
				take(j)
			}
		}
	}
	return nearest
}

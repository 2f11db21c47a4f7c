package session

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"ctxplugin/compartments"
	"ctxplugin/decay"
)

// Session is what is in memory of one session. Whoever holds its gate may use
// it.
type Session struct {
	cfg   *Config
	id    compartments.SessionID
	gate  chan struct{} // buffered by one: full while somebody holds the session
	asked chan struct{} // buffered by one: full when somebody began to wait for it
	used  int64         // guarded by Sessions.mu
	held  int           // who holds the gate or waits for it; guarded by Sessions.mu

	loaded  bool
	touched bool // memory may be ahead of the store: set before the first change
	again   bool // this is the second try, after another process committed first
	parent  compartments.SessionID
	version int64
	entries []compartments.Entry // by ordinal, from 1
	byID    map[compartments.MessageID]compartments.Ordinal
	list    []compartments.Ordinal  // the host's list
	prefix  []compartments.Revision // of the first i messages; one longer than list
	all     map[compartments.CompartmentID]*compartments.Compartment
	begins  map[compartments.Ordinal]bool // messages that some compartment begins with
	pins    []compartments.Pin            // all that were ever set, by ID
	planID  string
	encoded []byte
	plan    compartments.Plan
	folds   int
	st      state
	layout  encodedLayout     // of st
	opening *compartments.Run // messages of the first pair that a fold made last; nil before

	// incoming is the list that a sync in pieces is building, and incomingAt its
	// revision after each message from the place where it leaves list.
	incoming     []compartments.Ordinal
	incomingRevs []compartments.Revision

	view    view
	saved   map[compartments.Ordinal]int // tokens that the plan's edits save, by message
	bulk    bulkMemory
	counts  headCounts
	rungs   decay.Memory
	drawn   decay.Rendering // the pair that was made last
	covered []bool          // by ordinal-1: messages that some compartment was written from
	changed []bool          // by ordinal-1: those of them whose content may be another by now
	told    map[string]bool // notices given

	knownFor int // looks for changes by other processes that are left while the host takes the plan for known; guarded by the gate

	failures, rests int // failures of the historian in a row, and passes that it rests for them
}

// conflicts is how often in a row another process may commit first before a call
// gives up.
const conflicts = 8

// errReread asks for the session to be read again: another process may have
// changed it.
var errReread = errors.New("the session is read again")

// run calls f on the loaded session. An error leaves no half-made state behind:
// if f touched the session, it is dropped and read again by the next call. When
// another process committed first, that is at once, and f runs once more.
func (se *Session) run(ctx context.Context, f func(*Session) error) error {
	ended := false
	defer func() {
		if !ended { // a panic goes on to whoever answers for it, and what it left half-made is read again
			se.loaded = false
		}
	}()
	err := se.tries(ctx, f)
	ended = true
	return err
}

func (se *Session) tries(ctx context.Context, f func(*Session) error) error {
	se.again = false
	for try := 0; ; try++ {
		se.touched = false
		before := se.version
		err := se.load(ctx)
		if err == nil {
			if locked := try > 1 && se.version == before; locked {
				try = conflicts // nobody committed: the store is locked
			}
			err = f(se)
		}
		if err == nil {
			return nil
		}
		busy := compartments.CodeOf(err) == compartments.CodeBusy
		reread := errors.Is(err, errReread)
		if se.touched || busy || reread {
			se.loaded = false
		}
		if !busy && !reread || try >= conflicts {
			return err
		}
		se.again = true
	}
}

func (se *Session) load(ctx context.Context) error {
	if se.loaded {
		return nil
	}
	stored, err := se.cfg.Store.Load(ctx, se.id)
	if err != nil {
		return err
	}
	if stored == nil {
		stored = &compartments.Stored{Session: se.id}
	}
	before := se.version
	if err := se.adopt(stored); err != nil {
		return err
	}
	if se.version != before {
		se.outdated(se.version == 0) // another process changed it
	}
	return nil
}

// adopt makes the stored session the one in memory.
func (se *Session) adopt(stored *compartments.Stored) error {
	st, err := decodeState(stored.State)
	if err != nil {
		return compartments.Errorf(compartments.CodeStorage, "session %s: %w", se.id, err)
	}
	plan := compartments.Plan{}
	if len(stored.Plan) > 0 {
		if plan, err = compartments.DecodePlan(stored.Plan); err != nil {
			return compartments.Errorf(compartments.CodeStorage, "session %s: %w", se.id, err)
		}
	}
	for i := range st.Layout {
		if i < len(plan.Head) {
			st.Layout[i].Text = plan.Head[i].Text
		}
	}
	if err := whole(stored); err != nil {
		return compartments.Errorf(compartments.CodeStorage, "session %s: %w", se.id, err)
	}
	se.parent, se.version = stored.Parent, stored.Version
	se.entries, se.list, se.pins = stored.Entries, stored.List, stored.Pins
	se.planID, se.encoded, se.plan, se.folds, se.st = stored.PlanID, stored.Plan, plan, stored.Folds, st
	if se.planID == "" {
		if se.planID, se.encoded, err = se.plan.Encode(); err != nil {
			return err
		}
	}
	se.byID = make(map[compartments.MessageID]compartments.Ordinal, len(se.entries))
	for i := range se.entries {
		se.byID[se.entries[i].ID] = se.entries[i].Ordinal
	}
	se.covered, se.changed = make([]bool, len(se.entries)), make([]bool, len(se.entries))
	se.all = make(map[compartments.CompartmentID]*compartments.Compartment, len(stored.Compartments))
	se.begins = map[compartments.Ordinal]bool{}
	for i := range stored.Compartments {
		se.serve(&stored.Compartments[i])
	}
	se.incoming, se.incomingRevs = nil, nil
	se.prefix = se.revisions([]compartments.Revision{compartments.EmptyRevision()}, se.list)
	se.bulk = bulkMemory{calls: map[compartments.Ordinal][]call{}, stubs: map[stubKey]string{},
		mentions: map[compartments.Ordinal]mention{}, known: map[compartments.CompartmentID][]string{}}
	se.view = se.look()
	se.weighEdits()
	se.loaded = true
	return nil
}

// whole checks that what the store returned names only messages that it has.
func whole(stored *compartments.Stored) error {
	for i := range stored.Entries {
		if stored.Entries[i].Ordinal != compartments.Ordinal(i+1) {
			return fmt.Errorf("message %d is missing", i+1)
		}
	}
	last := compartments.Ordinal(len(stored.Entries))
	for _, o := range stored.List {
		if o < 1 || o > last {
			return fmt.Errorf("its list names message %d of %d", o, last)
		}
	}
	for i := range stored.Compartments {
		if m := stored.Compartments[i].Members; len(m) == 0 || slices.Min(m) < 1 || slices.Max(m) > last {
			return fmt.Errorf("compartment %d names a message that is missing", stored.Compartments[i].ID)
		}
	}
	return nil
}

// revisions appends the revision after each of the ordinals.
func (se *Session) revisions(revs []compartments.Revision, ordinals []compartments.Ordinal) []compartments.Revision {
	revs = slices.Grow(revs, len(ordinals))
	for _, o := range ordinals {
		revs = append(revs, revs[len(revs)-1].Add(se.entry(o).Print()))
	}
	return revs
}

func (se *Session) entry(o compartments.Ordinal) *compartments.Entry { return &se.entries[o-1] }

// serve lets a compartment serve wherever its run stands.
func (se *Session) serve(c *compartments.Compartment) {
	se.all[c.ID] = c
	se.begins[c.First] = true
	changed := se.runHash(c.Members) != c.SourceHash
	for _, m := range c.Members {
		se.covered[m-1] = true
		se.changed[m-1] = se.changed[m-1] || changed
	}
}

func (se *Session) lookup(id compartments.CompartmentID) *compartments.Compartment { return se.all[id] }

// commit stores a batch made from this session's version.
func (se *Session) commit(ctx context.Context, b *compartments.Batch) error {
	se.touched = true
	state, err := se.st.encode(se.layout.encode(se.st.Layout))
	if err != nil {
		return err
	}
	b.Session, b.Parent, b.Version, b.State = se.id, se.parent, se.version, state
	version, err := se.cfg.Store.Commit(ctx, b)
	if err != nil {
		return err
	}
	se.version = version
	return nil
}

// settings are the numbers in force.
func (se *Session) settings() decay.Settings { return se.cfg.Settings }

// tell gives the user a notice once.
func (se *Session) tell(level, text string) {
	if !se.told[text] {
		se.told[text] = true
		se.cfg.Notify(se.id, level, text)
	}
}

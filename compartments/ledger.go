package compartments

// EntryWrite is one message to store. Raw is its JSON exactly as it came; nil
// keeps the stored JSON and renews the rest.
type EntryWrite struct {
	Entry Entry
	Raw   []byte
}

// Batch is everything that one pass changes in one session. It is stored in one
// transaction or not at all, and storing it twice is the same as once.
type Batch struct {
	Session SessionID
	Parent  SessionID // the session that spawned this one, or empty
	Version int64     // the session's version that this batch was made from; 0 creates it
	Lease   string    // holder of the lease under which it was written; it is refused (busy) if another has that by now

	Entries  []EntryWrite
	ListFrom int       // place from which the list is replaced; negative: the list stays
	List     []Ordinal // the new end of the list; what stood there and is not in it is withdrawn

	Compartments []Compartment   // inserted, or replaced by ID
	Retired      []CompartmentID // replaced by better ones; kept, no longer served
	Pins         []Pin           // inserted, or replaced by ID

	Fold   *Fold
	PlanID string
	Plan   []byte // encoded plan that PlanID names; nil keeps the stored one
	State  []byte // the session's own small state; nil keeps the stored one
}

// Stored is a session as the store has it.
type Stored struct {
	Session      SessionID
	Parent       SessionID
	Version      int64         // grows by one with every batch
	Entries      []Entry       // every message ever seen, by ordinal
	List         []Ordinal     // the host's list now
	Compartments []Compartment // served ones, by ID
	Pins         []Pin         // all that were ever set, by ID
	PlanID       string
	Plan         []byte
	Folds        int // number of the last fold
	State        []byte
}

// Hit is one result of a search.
type Hit struct {
	Ordinal     Ordinal       // the message, or 0
	Compartment CompartmentID // the compartment, or 0
	Part        int           // 0-based place of the part in the message; -1 for a compartment
	Field       Field         // text, input or output
	Offset      int           // bytes into the decoded field
	Excerpt     string        // around the match, one line
}

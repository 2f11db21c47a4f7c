package draft

import (
	"context"
	"fmt"
	"time"

	"ctxplugin/compartments"
	"ctxplugin/historian"
)

// Candidate is one entry of the ordered list of models.
type Candidate struct {
	Backend     string // host, anthropic, openai: for the ledger
	Model       historian.Model
	Name        string // of the model, as the backend names it; empty is the backend's own choice
	Setup       string // fingerprint of how it is reached and asked, for the ledger
	Window      int    // tokens of input and output together; 0 means 32,000
	MaxOutput   int    // tokens of a reply at most; 0 means 8,000
	Temperature *float64
	Prices      compartments.Prices // for replies that do not tell their cost
	Timeout     time.Duration       // of one call; 0 means two minutes
	Tries       int                 // calls for one chunk at most, the repair round apart; 0 means 3
}

// Journal keeps the ledger of calls, with what depends on it: the breaker and the
// caps. Methods may be called from any goroutine.
type Journal interface {
	// Admit asks whether a call may be made. The call has everything that is known
	// before it: At, Usage with what it will take at most, Cost with what that will
	// cost at most. An error means that nobody knows, so no call is made.
	Admit(ctx context.Context, c compartments.Call) (compartments.CallHold, error)
	// Record stores a call that was made. It is called once for each, whatever came
	// of it, also while the program ends. At, Source, Backend, Model, Setup, Try and
	// Repair are those that were admitted.
	Record(ctx context.Context, c compartments.Call) error
}

// Clock is the time, as the writer sees it.
type Clock interface {
	Now() time.Time
	// Sleep waits, or returns the error of ctx when that ends first.
	Sleep(ctx context.Context, d time.Duration) error
}

// Config is what a Writer is made of. Builtin, Count, Journal, Clock and Jitter
// are needed; without candidates the built-in generator writes everything.
type Config struct {
	Candidates []Candidate // asked in this order
	Builtin    *historian.Builtin
	Count      func(string) int // tokens of a text; may be called from several goroutines
	Journal    Journal
	Clock      Clock
	// Jitter returns a duration from [0, most), at random: it is added to the pause
	// between two tries.
	Jitter func(most time.Duration) time.Duration
	// Report, if set, is told what the writer does and why not, one line, at every
	// change. It must not block.
	Report func(session compartments.SessionID, s State)
}

// State is what a writer does for a session, for the one line of a status.
type State struct {
	Doing   string                   // what Asking says, "waiting to ask MODEL again", "" when idle
	Since   int64                    // Unix ms at which that began
	Model   string                   // that the rest is about: its backend and name
	Verdict compartments.CallVerdict // of the last call, or why none was made
	Cause   compartments.CallVerdict // of CallHeld: what made the model rest
	Text    string                   // one line for a person
}

// Asking says which model is asked for which messages.
func Asking(model string, first, last compartments.Ordinal) string {
	return fmt.Sprintf("asking %s for messages %d-%d", model, first, last)
}

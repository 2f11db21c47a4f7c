package compartments

// CallAsked is the verdict of a call that was admitted and not recorded yet. One
// that stays so belongs to a process that was killed: it may have been charged.
const CallAsked CallVerdict = "asked"

// Tokens is all that a call took, in tokens.
func (c *Call) Tokens() int {
	return c.Usage.InputSide() + c.Usage.Output + c.Usage.Reasoning
}

// Breaker is what is remembered of the failures of one model, so that it is not
// asked again and again. The zero value lets it be asked.
type Breaker struct {
	Failures int         // fruitless runs in a row
	Opened   int         // times in a row that it was opened
	Until    int64       // Unix ms; before it the model is not asked
	At       int64       // of the last change, Unix ms
	Verdict  CallVerdict // of the last failure
	Text     string      // one line for a person
}

// ModelBreaker is the breaker of a model that has failed, as it was reached then:
// with another address, key or option it has another one.
type ModelBreaker struct {
	Backend string
	Model   string
	Setup   string // fingerprint, as Call has it
	Breaker
}

// ModelHold is why a call of a model was not made, other than for its breaker.
type ModelHold struct {
	Backend string
	Model   string
	Setup   string
	At      int64 // Unix ms
	Tokens  int   // that the call could have taken
	Cost    int64 // that it could have cost, in micro-units
	CallHold
}

// Lease is the right of one run of the program to have models write for a session.
type Lease struct {
	Session SessionID
	Holder  string
	Until   int64 // Unix ms; before it nobody else may
}

// Spent sums up calls, those included that are under way. Money is in micro-units.
type Spent struct {
	Calls  int
	Tokens int
	Cost   int64
}

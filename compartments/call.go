package compartments

// CallVerdict says what came of one call of a model.
type CallVerdict string

// The verdicts. Only CallGood leads to anything stored.
const (
	CallGood CallVerdict = "good" // parsed and valid

	// What the model answered and cannot be used.
	CallRefusal   CallVerdict = "refusal"   // it declined, or a filter of its provider did
	CallEmpty     CallVerdict = "empty"     // no text at all
	CallReasoning CallVerdict = "reasoning" // reasoning and no answer
	CallCut       CallVerdict = "cut"       // ended by the limit of its length
	CallToolCall  CallVerdict = "tool-call" // called a tool, though none was offered
	CallInvalid   CallVerdict = "invalid"   // answered against the rules; the call's faults say which

	// Why there is no answer.
	CallTimeout      CallVerdict = "timeout"
	CallRateLimit    CallVerdict = "rate-limit"
	CallAuth         CallVerdict = "auth"          // no key, a wrong one, no permission, no credit
	CallUnknownModel CallVerdict = "unknown-model" // the backend has no model of this name
	CallTooLong      CallVerdict = "too-long"      // the request does not fit the model
	CallRequest      CallVerdict = "request"       // refused as malformed: trying again would not help
	CallNetwork      CallVerdict = "network"
	CallServer       CallVerdict = "server"    // the backend failed or is overloaded
	CallCancelled    CallVerdict = "cancelled" // we gave it up: the program or the session ends

	// Why none was made.
	CallHeld CallVerdict = "held" // the breaker is open
	CallCap  CallVerdict = "cap"  // the tokens or the money of the day are used up
)

// Passing reports whether the same call may well succeed a little later, so that
// a bounded number of further tries makes sense.
func (v CallVerdict) Passing() bool {
	switch v {
	case CallTimeout, CallRateLimit, CallNetwork, CallServer:
		return true
	}
	return false
}

// Lasting reports whether every call will come to the same until somebody acts: puts
// a key, a name or an option right.
func (v CallVerdict) Lasting() bool {
	switch v {
	case CallAuth, CallUnknownModel, CallRequest:
		return true
	}
	return false
}

// Call is one call of a model: a row of the ledger. Times are Unix ms, money is
// in micro-units.
type Call struct {
	Session SessionID
	First   Ordinal // of the chunk that was sent
	Last    Ordinal
	Source  Hash // RunHash of the chunk's messages

	Backend  string // host, anthropic, openai
	Model    string
	Setup    string // fingerprint of how the model is reached and asked; not kept with the call
	Prompt   string // version of the prompt
	Answered string // the model that answered, if the backend says so
	Repair   bool   // shows the model the faults of its reply before
	Try      int    // 1-based, of this model for this chunk

	At        int64
	Ms        int64
	Usage     Usage // as reported, else as counted by us
	Estimated bool  // Usage was not reported
	Cost      int64
	Verdict   CallVerdict
	Faults    []string // codes of the rules that the reply broke, each once
	Detail    string   // one line for a person, without secrets
	RetryAtMs int64    // when the backend asked to be called again, 0 if it did not
}

// CallHold says why a model is not called now; the zero value lets it be called.
type CallHold struct {
	Verdict CallVerdict // CallHeld or CallCap
	Cause   CallVerdict // of CallHeld: the verdict that made the model rest
	Until   int64       // Unix ms at which it ends by itself; 0 if it does not
	Text    string      // one line for a person
}

package historian

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ctxplugin/compartments"
)

// Model is a language model as the historian uses one: text in, text out. It is
// implemented by the HTTP clients and by the host.
//
// An implementation makes exactly one request for one call, offers no tools,
// retries nothing and follows ctx to its end; it stores nothing. It reports a
// request that was answered as a Reply, whatever the answer is worth, and
// everything else as a *Failure.
type Model interface {
	Generate(ctx context.Context, r Request) (Reply, error)
}

// Request is one call of a model.
type Request struct {
	Session     compartments.SessionID // on whose behalf; a host chooses its model by it
	Purpose     string                 // "historian"
	Model       string                 // as its backend names it; empty is the backend's own choice
	System      string                 // the fixed part: the same bytes for every call of a prompt version
	Prompt      string
	MaxTokens   int      // of the reply, reasoning apart where the backend can say so
	Temperature *float64 // nil leaves it to the backend
}

// Finish says why a model stopped.
type Finish string

// The ways to stop. What a backend calls otherwise is FinishOther.
const (
	FinishStop    Finish = "stop"
	FinishLength  Finish = "length"
	FinishTool    Finish = "tool"
	FinishRefusal Finish = "refusal" // declined, or filtered
	FinishOther   Finish = "other"
)

// Reply is what a model answered.
type Reply struct {
	Text      string // the answer alone, without reasoning
	Finish    Finish
	ToolCall  bool   // it called a tool
	Reasoning bool   // there was reasoning, in whatever form
	Model     string // that answered, if the backend says so
	Usage     compartments.Usage
	Cost      int64 // micro-units, if the backend says so; else 0
}

// Failure is a call that brought no reply, with its verdict.
type Failure struct {
	Verdict    compartments.CallVerdict
	Text       string        // one line for a person: what is wrong and which setting or service it is about; no secrets
	RetryAfter time.Duration // what the backend asked for; 0 if it asked for nothing
	Usage      compartments.Usage
	Err        error
}

func (f *Failure) Error() string { return fmt.Sprintf("%s: %s", f.Verdict, f.Text) }

func (f *Failure) Unwrap() error { return f.Err }

// VerdictOf is the verdict that an error of a Model stands for: that of its
// Failure, or what the end of a context means, or CallNetwork.
func VerdictOf(err error) compartments.CallVerdict {
	var f *Failure
	switch {
	case err == nil:
		return compartments.CallGood
	case errors.As(err, &f) && f.Verdict != "":
		return f.Verdict
	case errors.Is(err, context.DeadlineExceeded):
		return compartments.CallTimeout
	case errors.Is(err, context.Canceled):
		return compartments.CallCancelled
	}
	return compartments.CallNetwork
}

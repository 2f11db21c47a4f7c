package compartments

import (
	"errors"
	"fmt"
)

// Code is a stable name for what went wrong. Codes go over the wire; texts may
// change.
type Code string

// The codes.
const (
	CodeResync             Code = "resync"
	CodeUnknownSession     Code = "unknownSession"
	CodeBadRange           Code = "badRange"
	CodeNotFound           Code = "notFound"
	CodeBusy               Code = "busy"
	CodeStorage            Code = "storage"
	CodeUnsupportedVersion Code = "unsupportedVersion"
	CodeBadInput           Code = "badInput"
	CodeNewerSchema        Code = "newerSchema"
	CodeCancelled          Code = "cancelled"
	CodeInternal           Code = "internal"
	CodeIllegal            Code = "illegal" // policy forbids it; a fault of ours if a fold is refused so
)

// Error is an error that a caller, or the other end of the wire, decides on.
type Error struct {
	Code Code
	Text string         // for a person: what is wrong and what to do
	Data map[string]any // facts for the caller, e.g. keep and check of a resync
	Err  error          // the cause, if any; Text already names it
}

func (e *Error) Error() string { return e.Text }

func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an Error; what a %w verb wraps becomes its cause.
func Errorf(code Code, format string, args ...any) *Error {
	wrapped := fmt.Errorf(format, args...)
	return &Error{Code: code, Text: wrapped.Error(), Err: errors.Unwrap(wrapped)}
}

// CodeOf is the code of the first Error in the chain, CodeInternal if there is
// none.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return CodeInternal
}

package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"ctxplugin/compartments"
)

// The codes that only the wire knows; those of the domain are in wireCodes.
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeUnknownMethod  = -32601
	codeNotInitialized = -32002
	codeInternal       = -32603
)

// wireCodes is the one place where a domain code becomes a number.
var wireCodes = map[compartments.Code]int{
	compartments.CodeBadInput:           -32602,
	compartments.CodeCancelled:          -32800,
	compartments.CodeInternal:           codeInternal,
	compartments.CodeResync:             -32001,
	compartments.CodeUnknownSession:     -32003,
	compartments.CodeBadRange:           -32004,
	compartments.CodeNotFound:           -32005,
	compartments.CodeBusy:               -32006,
	compartments.CodeStorage:            -32007,
	compartments.CodeUnsupportedVersion: -32008,
	compartments.CodeNewerSchema:        -32009,
}

// wireError is an error as it goes over the wire.
type wireError struct {
	code int
	name string // data.code
	text string
	data map[string]any // besides data.code
}

func (e *wireError) Error() string { return e.text }

func invalid(format string, args ...any) *wireError {
	return &wireError{code: codeInvalidRequest, name: "invalidRequest", text: fmt.Sprintf(format, args...)}
}

func badInput(format string, args ...any) error {
	return compartments.Errorf(compartments.CodeBadInput, format, args...)
}

// toWire maps any error. One that has no code is a fault of ours, except the end
// of a context.
func toWire(err error) *wireError {
	var w *wireError
	if errors.As(err, &w) {
		return w
	}
	var e *compartments.Error
	if !errors.As(err, &e) {
		code := compartments.CodeInternal
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			code = compartments.CodeCancelled
		}
		return &wireError{code: wireCodes[code], name: string(code), text: err.Error()}
	}
	number, known := wireCodes[e.Code]
	if !known {
		return &wireError{code: codeInternal, name: string(compartments.CodeInternal), text: err.Error(), data: e.Data}
	}
	return &wireError{code: number, name: string(e.Code), text: err.Error(), data: e.Data}
}

// encode writes the error object: data.code first, then the facts by name. A fact
// that has no JSON is left out.
func (e *wireError) encode() []byte {
	b := fmt.Appendf(nil, `{"code":%d,"message":`, e.code)
	b = appendJSON(b, e.text)
	b = append(b, `,"data":{"code":`...)
	b = appendJSON(b, e.name)
	for _, k := range slices.Sorted(maps.Keys(e.data)) {
		v, err := json.Marshal(e.data[k])
		if err != nil || k == "code" {
			continue
		}
		b = append(b, ',')
		b = appendJSON(b, k)
		b = append(b, ':')
		b = append(b, v...)
	}
	return append(b, "}}"...)
}

package session

import (
	"context"
	"ctxplugin/compartments"
	"ctxplugin/expand"
	"fmt"
)

// callPin runs ctx_pin. What is wrong with the arguments stands in the result.
func (s *Sessions) callPin(ctx context.Context, id compartments.SessionID, arguments []byte) (ToolResult, error) {
	ask, refusal := expand.ReadPin(arguments)
	if refusal != "" {
		return ToolResult{Text: refusal, IsError: true}, nil
	}
	reply, err := s.Pin(ctx, PinRequest{Session: id, By: compartments.ByModel, Message: ask.Message, ID: ask.ID, Part: ask.Part, Field: ask.Field,
		Quote: ask.Quote, First: ask.First, Last: ask.Last, Compartment: ask.Compartment, Class: compartments.Pinned})
	return pinResult(expand.ToolPin, reply, err)
}

// callUnpin runs ctx_unpin.
func (s *Sessions) callUnpin(ctx context.Context, id compartments.SessionID, arguments []byte) (ToolResult, error) {
	pin, refusal := expand.ReadUnpin(arguments)
	if refusal != "" {
		return ToolResult{Text: refusal, IsError: true}, nil
	}
	reply, err := s.Unpin(ctx, UnpinRequest{Session: id, By: compartments.ByModel, Pin: pin})
	return pinResult(expand.ToolUnpin, reply, err)
}

func pinResult(tool string, reply PinReply, err error) (ToolResult, error) {
	switch compartments.CodeOf(err) {
	case compartments.CodeNotFound, compartments.CodeBadRange, compartments.CodeBadInput:
		return ToolResult{Text: fmt.Sprintf("%s: %v.\n", tool, err), IsError: true}, nil
	}
	return ToolResult{Text: reply.Note + "\n"}, err
}

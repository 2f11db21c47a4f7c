package models

import (
	"context"
	"errors"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"ctxplugin/compartments"
	"ctxplugin/historian"
)

// anthropicURL is used where an Endpoint names none: the library would read a
// variable otherwise.
const anthropicURL = "https://api.anthropic.com/"

type anthropicModel struct {
	service anthropic.MessageService
	failing
}

// Anthropic is the Messages API.
func Anthropic(e Endpoint) historian.Model {
	url := e.URL
	if url == "" {
		url = anthropicURL
	}
	// Where others name the base with its version, it is taken without.
	versionless := strings.TrimSuffix(strings.TrimRight(url, "/"), "/v1")
	options := []option.RequestOption{option.WithBaseURL(base(versionless)), option.WithHTTPClient(client()), option.WithMaxRetries(0)}
	if e.Key != "" {
		options = append(options, option.WithAPIKey(e.Key))
	}
	for name, value := range e.Options {
		options = append(options, option.WithJSONSet(member(name), value))
	}
	return &anthropicModel{anthropic.NewMessageService(options...), failing{"anthropic", url, e.Key}}
}

func (m *anthropicModel) Generate(ctx context.Context, r historian.Request) (historian.Reply, error) {
	params := anthropic.MessageNewParams{
		Model:     anthropic.Model(r.Model),
		MaxTokens: int64(r.MaxTokens),
		Messages:  []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(r.Prompt))},
	}
	if r.System != "" {
		params.System = []anthropic.TextBlockParam{{Text: r.System}}
	}
	if r.Temperature != nil {
		params.Temperature = anthropic.Float(*r.Temperature)
	}
	message, err := m.service.New(ctx, params)
	if err != nil {
		var refused *anthropic.Error
		if errors.As(err, &refused) {
			return historian.Reply{}, m.refused(r.Model, refused.StatusCode, refused.Response, refused.RawJSON(), err)
		}
		return historian.Reply{}, m.failed(ctx, err)
	}
	if message == nil {
		return historian.Reply{}, m.foreign("")
	}
	if message.Type != "message" || len(message.Content) == 0 && message.StopReason == "" {
		return historian.Reply{}, m.foreign(message.RawJSON())
	}
	reply := historian.Reply{Model: m.clean(string(message.Model)), Finish: historian.FinishOther, Usage: compartments.Usage{
		Input: int(message.Usage.InputTokens), Output: int(message.Usage.OutputTokens),
		CacheRead: int(message.Usage.CacheReadInputTokens), CacheWrite: int(message.Usage.CacheCreationInputTokens),
	}}
	var text strings.Builder
	for _, block := range message.Content {
		switch {
		case block.Type == "text":
			text.WriteString(block.Text)
		case strings.HasSuffix(block.Type, "thinking"):
			reply.Reasoning = true
		case strings.HasSuffix(block.Type, "tool_use"):
			reply.ToolCall = true
		}
	}
	reply.Text = text.String()
	switch message.StopReason {
	case anthropic.StopReasonEndTurn, anthropic.StopReasonStopSequence:
		reply.Finish = historian.FinishStop
	case anthropic.StopReasonMaxTokens, "model_context_window_exceeded":
		reply.Finish = historian.FinishLength
	case anthropic.StopReasonToolUse:
		reply.Finish, reply.ToolCall = historian.FinishTool, true
	case anthropic.StopReasonRefusal:
		reply.Finish = historian.FinishRefusal
	}
	return reply, nil
}

package models

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"ctxplugin/compartments"
	"ctxplugin/historian"
)

// openaiURL is used where an Endpoint names none: the library would read a variable
// otherwise.
const openaiURL = "https://api.openai.com/v1/"

type openaiModel struct {
	service openai.ChatCompletionService
	own     bool // it is OpenAI itself, which has another name for the limit of a reply
	failing
}

// OpenAI is the chat completions API, of OpenAI or of whoever speaks it.
func OpenAI(e Endpoint) historian.Model {
	url := e.URL
	if url == "" {
		url = openaiURL
	}
	options := []option.RequestOption{option.WithBaseURL(base(url)), option.WithHTTPClient(client()), option.WithMaxRetries(0)}
	if e.Key != "" {
		options = append(options, option.WithAPIKey(e.Key))
	}
	for name, value := range e.Options {
		options = append(options, option.WithJSONSet(member(name), value))
	}
	return &openaiModel{openai.NewChatCompletionService(options...), e.URL == "", failing{"openai", url, e.Key}}
}

func (m *openaiModel) Generate(ctx context.Context, r historian.Request) (historian.Reply, error) {
	params := openai.ChatCompletionNewParams{Model: r.Model}
	if r.System != "" {
		params.Messages = append(params.Messages, openai.SystemMessage(r.System))
	}
	params.Messages = append(params.Messages, openai.UserMessage(r.Prompt))
	if r.Temperature != nil {
		params.Temperature = openai.Float(*r.Temperature)
	}
	switch {
	case r.MaxTokens > 0 && m.own:
		params.MaxCompletionTokens = openai.Int(int64(r.MaxTokens))
	case r.MaxTokens > 0:
		params.MaxTokens = openai.Int(int64(r.MaxTokens))
	}
	completion, err := m.service.New(ctx, params)
	if err != nil {
		var refused *openai.Error
		if errors.As(err, &refused) {
			return historian.Reply{}, m.refused(r.Model, refused.StatusCode, refused.Response, refused.RawJSON(), err)
		}
		return historian.Reply{}, m.failed(ctx, err)
	}
	if completion == nil {
		return historian.Reply{}, m.foreign("")
	}
	if len(completion.Choices) == 0 {
		return historian.Reply{}, m.foreign(completion.RawJSON())
	}
	choice := completion.Choices[0]
	reply := historian.Reply{
		Model: m.clean(completion.Model), Finish: historian.FinishOther, Cost: costOf(completion.Usage.RawJSON()),
		ToolCall: len(choice.Message.ToolCalls) > 0,
		Usage: compartments.Usage{
			Input:     max(0, int(completion.Usage.PromptTokens-completion.Usage.PromptTokensDetails.CachedTokens)),
			Output:    max(0, int(completion.Usage.CompletionTokens-completion.Usage.CompletionTokensDetails.ReasoningTokens)),
			Reasoning: int(completion.Usage.CompletionTokensDetails.ReasoningTokens),
			CacheRead: int(completion.Usage.PromptTokensDetails.CachedTokens),
		},
	}
	text, thought := withoutThought(contentOf(choice.Message))
	reply.Text = text
	reasoning, called := besides(choice.Message.RawJSON())
	reply.Reasoning = thought || reply.Usage.Reasoning > 0 || reasoning
	reply.ToolCall = reply.ToolCall || called
	switch choice.FinishReason {
	case "stop":
		reply.Finish = historian.FinishStop
	case "length":
		reply.Finish = historian.FinishLength
	case "tool_calls", "function_call":
		reply.Finish, reply.ToolCall = historian.FinishTool, true
	case "content_filter":
		reply.Finish = historian.FinishRefusal
	}
	if choice.Message.Refusal != "" {
		reply.Finish = historian.FinishRefusal
		if reply.Text == "" {
			reply.Text = choice.Message.Refusal
		}
	}
	return reply, nil
}

// withoutThought takes away the reasoning that some servers leave in front of the
// answer, between tags. Without a closing tag there is no answer.
func withoutThought(text string) (answer string, thought bool) {
	for _, tag := range [...]string{"think", "thinking", "reasoning"} {
		rest, ok := strings.CutPrefix(strings.TrimLeft(text, " \t\r\n"), "<"+tag+">")
		if !ok {
			continue
		}
		if _, answer, ok = strings.Cut(rest, "</"+tag+">"); !ok {
			return "", true
		}
		return answer, true
	}
	return text, false
}

// contentOf is the text of an answer, which some servers give in pieces.
func contentOf(m openai.ChatCompletionMessage) string {
	var pieces []struct {
		Text string `json:"text"`
	}
	if raw := m.JSON.Content.Raw(); !strings.HasPrefix(raw, "[") || json.Unmarshal([]byte(raw), &pieces) != nil {
		return m.Content
	}
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(p.Text)
	}
	return b.String()
}

// besides looks for what servers put beside the answer under names of their own:
// reasoning, and calls as they were made before there were tools.
func besides(raw string) (reasoning, called bool) {
	var m struct {
		Content  string `json:"reasoning_content"`
		Text     string `json:"reasoning"`
		Thinking string `json:"thinking"`
		Call     struct {
			Name string `json:"name"`
		} `json:"function_call"`
	}
	// A member of another type leaves the others.
	_ = json.Unmarshal([]byte(raw), &m)
	return m.Content+m.Text+m.Thinking != "", m.Call.Name != ""
}

// costOf is what an endpoint says that the call has cost, in micro-units.
func costOf(usage string) int64 {
	var u struct {
		Cost float64 `json:"cost"`
	}
	if json.Unmarshal([]byte(usage), &u) != nil || !(u.Cost > 0) || u.Cost > 1e6 {
		return 0
	}
	return int64(math.Ceil(u.Cost * 1e6))
}

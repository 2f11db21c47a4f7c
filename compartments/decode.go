package compartments

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

type wireMessage struct {
	ID      MessageID         `json:"id"`
	Role    Role              `json:"role"`
	Time    json.RawMessage   `json:"time"`
	Agent   string            `json:"agent"`
	Model   json.RawMessage   `json:"model"`
	Tokens  *wireTokens       `json:"tokens"`
	Finish  string            `json:"finish"`
	Summary json.RawMessage   `json:"summary"`
	Error   json.RawMessage   `json:"error"`
	Parts   []json.RawMessage `json:"parts"`
}

type wireTokens struct {
	Input     float64 `json:"input"`
	Output    float64 `json:"output"`
	Reasoning float64 `json:"reasoning"`
	Cache     struct {
		Read  float64 `json:"read"`
		Write float64 `json:"write"`
	} `json:"cache"`
}

type wirePart struct {
	Type      string `json:"type"`
	Text      string `json:"text"`
	Synthetic bool   `json:"synthetic"`
	Ignored   bool   `json:"ignored"`
	Tool      string `json:"tool"`
	CallID    string `json:"callID"`
	Mime      string `json:"mime"`
	Filename  string `json:"filename"`
	URL       string `json:"url"`
	State     *struct {
		Status   string          `json:"status"`
		Input    json.RawMessage `json:"input"`
		Output   json.RawMessage `json:"output"`
		Error    json.RawMessage `json:"error"`
		Title    string          `json:"title"`
		Metadata json.RawMessage `json:"metadata"`
	} `json:"state"`
}

// DecodeMessage reads one message as it stands on the wire and in the store:
//
//	{id?, role, time, agent?, model?, tokens?, finish?, summary?, error?, parts[]}
//
// where time is Unix ms. Unknown fields are ignored, unknown part types become
// PartOther, and a field of a surprising type counts as absent, so that only
// text that is no JSON object, a missing role, or parts that are no array are
// errors. The returned strings do not alias raw.
func DecodeMessage(raw []byte) (Message, error) {
	var w wireMessage
	if err := json.Unmarshal(raw, &w); err != nil {
		if w, err = decodeLenient(raw); err != nil {
			return Message{}, err
		}
	}
	switch w.Role {
	case RoleUser, RoleAssistant, RoleTool:
	default:
		return Message{}, fmt.Errorf("message %q: role %q is none of user, assistant, tool", w.ID, w.Role)
	}
	m := Message{
		ID: w.ID, Role: w.Role, Agent: w.Agent, Finish: w.Finish,
		Summary: string(w.Summary) == "true",
		Failed:  len(w.Error) > 0 && string(w.Error) != "null",
		Time:    decodeTime(w.Time),
		Model:   decodeString(w.Model),
		Parts:   make([]Part, len(w.Parts)),
	}
	if t := w.Tokens; t != nil {
		m.Usage = Usage{Input: int(t.Input), Output: int(t.Output), Reasoning: int(t.Reasoning),
			CacheRead: int(t.Cache.Read), CacheWrite: int(t.Cache.Write)}
	}
	for i, p := range w.Parts {
		m.Parts[i] = decodePart(p)
	}
	return m, nil
}

// decodeLenient takes the fields one by one, so that one field of a surprising
// type does not lose the message.
func decodeLenient(raw []byte) (wireMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return wireMessage{}, fmt.Errorf("message is no JSON object: %w", err)
	}
	w := wireMessage{Time: fields["time"], Model: fields["model"], Summary: fields["summary"], Error: fields["error"]}
	for name, into := range map[string]any{"id": &w.ID, "role": &w.Role, "agent": &w.Agent, "finish": &w.Finish} {
		_ = json.Unmarshal(fields[name], into) // a wrong type counts as absent
	}
	tokens := new(wireTokens)
	if json.Unmarshal(fields["tokens"], tokens) == nil {
		w.Tokens = tokens
	}
	if parts, ok := fields["parts"]; ok {
		if err := json.Unmarshal(parts, &w.Parts); err != nil {
			return wireMessage{}, fmt.Errorf("message %q: parts are no array: %w", w.ID, err)
		}
	}
	return w, nil
}

func decodePart(raw []byte) Part {
	var w wirePart
	if err := json.Unmarshal(raw, &w); err != nil {
		var only struct {
			Type string `json:"type"`
		}
		_ = json.Unmarshal(raw, &only)
		return Part{Kind: PartOther, Type: only.Type}
	}
	p := Part{Type: w.Type, Kind: partKind(w.Type), Text: w.Text, Synthetic: w.Synthetic, Ignored: w.Ignored,
		Mime: w.Mime, Filename: w.Filename, URLBytes: len(w.URL)}
	if p.Kind != PartTool {
		return p
	}
	p.Tool, p.CallID = w.Tool, w.CallID
	p.Status = StatusPending
	if s := w.State; s != nil {
		p.Status = toolStatus(s.Status)
		p.Input = string(s.Input)
		p.Title = s.Title
		switch p.Status {
		case StatusCompleted:
			p.Output = decodeString(s.Output)
		case StatusError:
			p.Output = decodeString(s.Error)
		}
		p.ExitCode, p.HasExit = decodeExit(s.Metadata)
	}
	return p
}

func partKind(t string) PartKind {
	switch t {
	case "text":
		return PartText
	case "reasoning":
		return PartReasoning
	case "tool":
		return PartTool
	case "file":
		return PartFile
	case "compaction":
		return PartCompaction
	case "step-start", "step-finish", "snapshot", "patch", "agent", "retry":
		return PartMarker
	}
	return PartOther
}

func toolStatus(s string) ToolStatus {
	switch s {
	case "running":
		return StatusRunning
	case "completed":
		return StatusCompleted
	case "error":
		return StatusError
	}
	return StatusPending
}

// decodeString takes a JSON string; anything else yields its own JSON text, so
// that a structured output still counts, searches and expands.
func decodeString(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(bytes.ToValidUTF8(raw, []byte(string(utf8.RuneError))))
}

func decodeTime(raw json.RawMessage) int64 {
	var n float64
	if json.Unmarshal(raw, &n) == nil {
		return int64(n)
	}
	var t struct {
		Created float64 `json:"created"`
	}
	_ = json.Unmarshal(raw, &t)
	return int64(t.Created)
}

func decodeExit(metadata json.RawMessage) (code int, ok bool) {
	if !bytes.Contains(metadata, []byte(`"exit`)) {
		return 0, false
	}
	var m struct {
		Exit     *float64 `json:"exit"`
		ExitCode *float64 `json:"exitCode"`
	}
	if json.Unmarshal(metadata, &m) != nil {
		return 0, false
	}
	if m.Exit == nil {
		m.Exit = m.ExitCode
	}
	if m.Exit == nil {
		return 0, false
	}
	return int(*m.Exit), true
}

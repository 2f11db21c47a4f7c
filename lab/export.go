package lab

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"unicode/utf8"
)

// recording is one recorded session.
type recording struct {
	name     string // of the file, for people
	id       string
	title    string
	messages []message
}

// message is one recorded message. The JSON that it was read from is never
// changed.
type message struct {
	id      string
	quoted  json.RawMessage // the id as JSON
	role    string          // user or assistant
	time    int64           // creation, Unix ms; 0 unknown
	agent   string
	model   string // "provider/model"
	finish  string
	summary bool            // the host's own summary
	failure json.RawMessage // any error mark; nil for none
	aborted bool            // the mark says that the user broke it off
	parts   []part
}

// part is one part of a message.
type part struct {
	raw       json.RawMessage // compact
	kind      string          // the host's type name
	text      string
	synthetic bool
	ignored   bool
	mime      string
	filename  string
	tailStart string // of a compaction: first message that the host keeps beside its summary
	tool      string
	callID    string
	state     state
	media     []media
}

// state is the state of a tool part; status is empty for other parts.
type state struct {
	status string
	input  string // raw JSON
	output string // the result, or the error's text
}

// media is a picture or document that a message carries.
type media struct {
	mime string
	size int // bytes of its URL
}

// open reports whether a call has no result yet.
func (s state) open() bool {
	return s.status != "" && s.status != "completed" && s.status != "error"
}

// fileError is an input file that cannot be replayed. Its text is one line.
type fileError struct {
	file  string
	where string // "line 3, column 7", "message 12"; may be empty
	what  string
}

func (e *fileError) Error() string {
	if e.where == "" {
		return e.file + ": " + e.what
	}
	return e.file + ": " + e.where + ": " + e.what
}

func readRecording(path string) (*recording, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		var cause *os.PathError
		if errors.As(err, &cause) {
			err = cause.Err
		}
		return nil, &fileError{file: path, what: err.Error()}
	}
	return parseRecording(path, data)
}

// parseRecording reads what `opencode export` writes:
//
//	{info, messages: [{info, parts}]}
//
// Every error is a *fileError.
func parseRecording(name string, data []byte) (*recording, error) {
	fail := func(where, format string, args ...any) error {
		return &fileError{file: name, where: where, what: fmt.Sprintf(format, args...)}
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, fail("", "the file is empty")
	}
	if !utf8.Valid(data) {
		return nil, fail(position(data, invalidAt(data)), "is not UTF-8")
	}
	var file struct {
		Info struct {
			ID    json.RawMessage `json:"id"`
			Title json.RawMessage `json:"title"`
		} `json:"info"`
		Messages []json.RawMessage `json:"messages"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			if line := secondText(data); line > 0 {
				return nil, fail("", "is no `opencode export`: line %d begins another JSON text", line)
			}
			return nil, fail(position(data, int(syntax.Offset)), "is no JSON: %v", syntax)
		}
		return nil, fail("", "is no `opencode export`: it should be {info, messages: [{info, parts}]}")
	}
	if file.Messages == nil {
		return nil, fail("", "is no `opencode export`: it has no list called messages")
	}
	r := &recording{name: name, id: text(file.Info.ID), title: text(file.Info.Title)}
	seen := make(map[string]int, len(file.Messages))
	asked, replies := false, 0
	for i, raw := range file.Messages {
		where := fmt.Sprintf("message %d", i+1)
		m, session, err := parseMessage(raw)
		if err != nil {
			return nil, fail(where, "%v", err)
		}
		if m.id == "" {
			m.id = fmt.Sprintf("msg_replay_%06d", i+1)
			m.quoted = quote(m.id)
		}
		if earlier, ok := seen[m.id]; ok {
			return nil, fail(where, "has the id %q of message %d", m.id, earlier)
		}
		seen[m.id] = i + 1
		if r.id == "" {
			r.id = session
		}
		asked = asked || m.role == "user"
		if asked && m.role == "assistant" && !m.summary {
			replies++
		}
		r.messages = append(r.messages, m)
	}
	if replies == 0 {
		return nil, fail("", "has no reply to a user message, so there is no request to replay")
	}
	if r.id == "" {
		r.id = "ses_replay"
	}
	return r, nil
}

// secondText is the line where a second JSON text begins behind a first, as in JSON
// Lines; 0 if none does.
func secondText(data []byte) int {
	d := json.NewDecoder(bytes.NewReader(data))
	var first json.RawMessage
	if d.Decode(&first) != nil {
		return 0
	}
	rest := data[d.InputOffset():]
	next := bytes.TrimLeft(rest, " \t\r\n")
	if len(next) == 0 || next[0] != '{' && next[0] != '[' {
		return 0
	}
	return 1 + bytes.Count(data[:len(data)-len(next)], []byte{'\n'})
}

func parseMessage(raw []byte) (m message, session string, err error) {
	var w struct {
		Info  map[string]json.RawMessage `json:"info"`
		Parts json.RawMessage            `json:"parts"`
	}
	if err := json.Unmarshal(raw, &w); err != nil || w.Info == nil {
		return m, "", errors.New("is not {info, parts}, as an `opencode export` has it")
	}
	m.role = text(w.Info["role"])
	if m.role != "user" && m.role != "assistant" {
		return m, "", fmt.Errorf("info.role is %s, neither user nor assistant", shown(w.Info["role"]))
	}
	m.id = text(w.Info["id"])
	m.quoted = w.Info["id"]
	m.agent = text(w.Info["agent"])
	if m.agent == "" {
		m.agent = text(w.Info["mode"])
	}
	m.finish = text(w.Info["finish"])
	m.summary = string(w.Info["summary"]) == "true"
	m.time = created(w.Info["time"])
	m.model = modelName(w.Info)
	if failure := w.Info["error"]; len(failure) > 0 && string(failure) != "null" {
		m.failure = compact(failure)
		var named struct {
			Name string `json:"name"`
		}
		_ = json.Unmarshal(failure, &named) // an error of another shape is an error all the same
		m.aborted = named.Name == "MessageAbortedError"
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(w.Parts, &parts); err != nil || parts == nil {
		return m, "", fmt.Errorf("parts is %s, no array", shown(w.Parts))
	}
	for i, p := range parts {
		decoded, err := parsePart(p)
		if err != nil {
			return m, "", fmt.Errorf("part %d %w", i, err)
		}
		m.parts = append(m.parts, decoded)
	}
	return m, text(w.Info["sessionID"]), nil
}

func parsePart(raw []byte) (part, error) {
	var f map[string]json.RawMessage
	if err := json.Unmarshal(raw, &f); err != nil || f == nil {
		return part{}, errors.New("is no object")
	}
	p := part{raw: compact(raw), kind: text(f["type"]), text: text(f["text"]),
		synthetic: string(f["synthetic"]) == "true", ignored: string(f["ignored"]) == "true",
		mime: text(f["mime"]), filename: text(f["filename"]), tailStart: text(f["tail_start_id"])}
	switch p.kind {
	case "":
		return part{}, errors.New("has no type")
	case "file":
		if sentAsMedia(p.mime) {
			p.media = []media{{p.mime, len(text(f["url"]))}}
		}
	case "tool":
		p.tool, p.callID = text(f["tool"]), text(f["callID"])
		p.state, p.media = parseState(f["state"])
	}
	return p, nil
}

func parseState(raw json.RawMessage) (state, []media) {
	var w struct {
		Status      json.RawMessage `json:"status"`
		Input       json.RawMessage `json:"input"`
		Output      json.RawMessage `json:"output"`
		Error       json.RawMessage `json:"error"`
		Attachments []struct {
			Mime string `json:"mime"`
			URL  string `json:"url"`
		} `json:"attachments"`
	}
	_ = json.Unmarshal(raw, &w) // a state of another shape is a call without a result
	s := state{status: text(w.Status), input: string(compact(w.Input))}
	switch s.status {
	case "completed":
		s.output = textOrJSON(w.Output)
	case "error":
		s.output = textOrJSON(w.Error)
	case "running":
	default:
		s.status = "pending"
	}
	var attached []media
	for _, a := range w.Attachments {
		if s.status == "completed" && sentAsMedia(a.Mime) {
			attached = append(attached, media{a.Mime, len(a.URL)})
		}
	}
	return s, attached
}

// sentAsMedia reports whether the host sends a file itself. Text files and
// folders become text parts of the same message instead.
func sentAsMedia(mime string) bool {
	return mime != "" && mime != "text/plain" && mime != "application/x-directory"
}

func created(raw json.RawMessage) int64 {
	var t struct {
		Created float64 `json:"created"`
	}
	if json.Unmarshal(raw, &t) != nil || t.Created < 0 || t.Created > 1<<53 {
		return 0
	}
	return int64(t.Created)
}

// modelName finds provider and model, which assistant messages carry flat and
// user messages in an object.
func modelName(info map[string]json.RawMessage) string {
	provider, model := text(info["providerID"]), text(info["modelID"])
	if nested := info["model"]; model == "" && len(nested) > 0 {
		var m struct {
			ProviderID string `json:"providerID"`
			ModelID    string `json:"modelID"`
		}
		if json.Unmarshal(nested, &m) == nil {
			provider, model = m.ProviderID, m.ModelID
		}
	}
	if model == "" {
		return ""
	}
	return provider + "/" + model
}

// text is the value of a JSON string; anything else counts as absent.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// textOrJSON is the value of a JSON string, or the JSON text of anything else.
func textOrJSON(raw json.RawMessage) string {
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	if raw[0] == '"' {
		return text(raw)
	}
	return string(compact(raw))
}

func compact(raw []byte) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

// quote is s as a JSON string without HTML escaping.
func quote(s string) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(s) != nil {
		return json.RawMessage(`""`)
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// shown is a short, printable form of a JSON value for an error.
func shown(raw json.RawMessage) string {
	switch {
	case len(raw) == 0:
		return "missing"
	case len(raw) > 40:
		return fmt.Sprintf("%q…", raw[:40])
	}
	return string(raw)
}

func position(data []byte, offset int) string {
	offset = max(0, min(offset, len(data)))
	line := bytes.Count(data[:offset], []byte("\n"))
	column := offset - bytes.LastIndexByte(data[:offset], '\n') - 1
	return fmt.Sprintf("line %d, column %d", line+1, max(column, 1))
}

func invalidAt(data []byte) int {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return i + 1
		}
		i += n
	}
	return len(data)
}

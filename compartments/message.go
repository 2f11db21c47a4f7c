package compartments

import "strings"

// SessionID names a session of the host.
type SessionID string

// MessageID names a message of the host. It is unique within a session; hosts
// that send none get one derived from the message's place (see rpc).
type MessageID string

// Ordinal is the 1-based number of a message in its session, given at first
// sight and never reused. Zero means "no message".
type Ordinal int64

// Role is who a message speaks for on the wire.
type Role string

// The roles of the wire.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool" // a tool result that is a message of its own
)

// PartKind is what a part means to us. The host's own type name stays in
// Part.Type; anything we do not know is PartOther, passed through and counted.
type PartKind uint8

// The kinds of part.
const (
	PartOther      PartKind = iota // unknown to us; never an error
	PartText                       // words of the user or the model
	PartReasoning                  // the model's reasoning; never a source
	PartTool                       // a call and its result
	PartFile                       // media or a file reference
	PartCompaction                 // the host's own compaction request
	PartMarker                     // bookkeeping of the host that is not sent (step marks, patches)
)

// ToolStatus is the state of a tool part.
type ToolStatus uint8

// The states of a tool part. StatusNone marks parts that are no tool parts.
const (
	StatusNone ToolStatus = iota
	StatusPending
	StatusRunning
	StatusCompleted
	StatusError
)

// Open reports whether the call has no result yet.
func (s ToolStatus) Open() bool { return s == StatusPending || s == StatusRunning }

// Part is one part of a message, decoded from its stored JSON. Text fields are
// the decoded strings; lone surrogates have become U+FFFD, the stored JSON
// keeps them.
type Part struct {
	Kind      PartKind
	Type      string // the host's type name
	Text      string // text and reasoning
	Synthetic bool   // written by the host or a plugin, not by a person
	Ignored   bool   // shown to the user, never sent to the model

	Tool     string // tool name
	CallID   string // as the model gave it; not unique
	Status   ToolStatus
	Input    string // raw JSON text of the arguments, as stored
	Output   string // the result, or the error text when Status is StatusError
	Title    string // the host's title of the call, if any
	ExitCode int    // process exit code; valid if HasExit
	HasExit  bool
	// Media are the files that a result carries besides its text and that are
	// sent with it, pictures mostly; MediaTypes names their types, each once.
	Media      int
	MediaBytes int // of their URLs
	MediaTypes string

	Mime     string // files
	Filename string // files
	URLBytes int    // bytes of a file's URL, data URLs included
}

// Usage is what a provider reported for one request, in tokens. All zero means
// that nothing was reported.
type Usage struct {
	Input      int // uncached input
	Output     int
	Reasoning  int
	CacheRead  int
	CacheWrite int
}

// InputSide is what the request weighed, cached or not, in tokens.
func (u Usage) InputSide() int { return u.Input + u.CacheRead + u.CacheWrite }

// Message is one message of a session, decoded from its stored JSON.
type Message struct {
	Ordinal Ordinal // 0 until the session numbered it
	ID      MessageID
	Role    Role
	Time    int64 // Unix ms; 0 if the host gave none
	Agent   string
	Model   string
	Finish  string // why the assistant stopped; empty while it has not
	Summary bool   // the host's own summary of earlier messages
	Failed  bool   // carries an error or abort mark
	Unsent  bool   // for that the host leaves it out of what it sends
	Usage   Usage
	Parts   []Part
}

// SentAsMedia reports whether a file of that type, and that many bytes of URL, is
// sent to the model itself. Text files and folders are not: the host sends what
// it read as text. Nor is one whose URL is only a reference.
func SentAsMedia(mime string, urlBytes int) bool {
	return urlBytes >= 256 && mime != "text/plain" && mime != "application/x-directory"
}

// RealUser reports whether a person spoke: a user message with at least one
// part that is neither synthetic nor ignored and not blank, and which is not
// the host's compaction request.
func (m *Message) RealUser() bool {
	if m.Role != RoleUser {
		return false
	}
	real := false
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Kind == PartCompaction {
			return false
		}
		if p.Synthetic || p.Ignored {
			continue
		}
		switch p.Kind {
		case PartText:
			real = real || strings.TrimSpace(p.Text) != ""
		case PartFile:
			real = true
		}
	}
	return real
}

// OwnTool reports whether a tool of ours made this part. Its results repeat
// what the store already has, so they are never a source.
func (p *Part) OwnTool() bool {
	return p.Kind == PartTool && strings.HasPrefix(p.Tool, "ctx_")
}

package compartments

// Size is what one part of a stored message weighs, as it would be sent.
type Size struct {
	Kind   PartKind   `json:"k"`
	Status ToolStatus `json:"s,omitempty"`
	Units  uint32     `json:"u,omitempty"` // UTF-16 units of text, output or error
	Tokens int        `json:"t,omitempty"` // text, reasoning, output, or what media costs
	Input  int        `json:"i,omitempty"` // tokens of a call's arguments
	Own    bool       `json:"o,omitempty"` // made by a tool of ours
	Silent bool       `json:"n,omitempty"` // never sent: ignored text, markers
}

// Sent is what the part adds to a request, in tokens.
func (s Size) Sent() int {
	if s.Silent {
		return 0
	}
	return s.Tokens + s.Input
}

// Entry is what a session keeps in memory of one message: everything that
// decisions need, and no text.
type Entry struct {
	Ordinal  Ordinal
	ID       MessageID
	Role     Role
	Time     int64 // Unix ms; 0 unknown
	Hash     Hash  // ContentHash
	Real     bool  // a person spoke
	Compact  bool  // the host's compaction request
	Summary  bool  // the host's own summary
	Failed   bool
	Finished bool // an assistant message that came to its end
	Unnamed  bool // the host gave no ID; ours says its place
	Usage    Usage
	Sizes    []Size
}

// Tokens is what the message adds to a request: its parts and a small constant
// for its frame.
func (e *Entry) Tokens() int {
	n := 0
	for _, s := range e.Sizes {
		n += s.Sent()
	}
	if n == 0 {
		return 0
	}
	return n + FrameTokens
}

// FrameTokens is what a message's role and delimiters cost, in tokens.
const FrameTokens = 4

// Open reports whether a call in the message has no result yet.
func (e *Entry) Open() bool {
	for _, s := range e.Sizes {
		if s.Status.Open() {
			return true
		}
	}
	return false
}

// Print is the fingerprint of the entry, the same as that of the message.
func (e *Entry) Print() Fingerprint {
	f := Fingerprint{ID: e.ID, Parts: make([]PartPrint, len(e.Sizes))}
	if e.Unnamed {
		f.ID = ""
	}
	for i, s := range e.Sizes {
		f.Parts[i] = PartPrint{Status: s.Status, Units: s.Units}
	}
	return f
}

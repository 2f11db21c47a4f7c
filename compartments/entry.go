package compartments

import "unicode/utf8"

// Size is what one part of a stored message weighs, as it would be sent.
type Size struct {
	Kind   PartKind   `json:"k"`
	Status ToolStatus `json:"s,omitempty"`
	Units  uint32     `json:"u,omitempty"` // UTF-16 units of text, output or error
	Tokens int        `json:"t,omitempty"` // text, reasoning, output, or what media costs
	Input  int        `json:"i,omitempty"` // tokens of a call's arguments
	Own    bool       `json:"o,omitempty"` // made by a tool of ours
	Silent bool       `json:"n,omitempty"` // never sent: ignored text, markers, all of a reply that failed
	Media  int        `json:"m,omitempty"` // files that a result carries, counted in Tokens
	// Preview is there in large messages, so that a stub is made without
	// reading one; nil otherwise, and in what was stored before there were any.
	Preview *Preview `json:"p,omitempty"`
}

// Preview is what the stub of a part says of it. It is never changed.
type Preview struct {
	Result bool   `json:"r,omitempty"` // of a call; otherwise words
	Tool   string `json:"t,omitempty"` // its name, on one line
	State  string `json:"s,omitempty"` // completed, failed, exit N
	Media  int    `json:"m,omitempty"` // files that the result carries
	Runes  int    `json:"n"`           // characters of the whole
	Begin  string `json:"b"`           // its first characters
}

// Shows reports whether the preview holds enough for a stub that shows that many
// characters.
func (p *Preview) Shows(characters int) bool {
	if p == nil {
		return false
	}
	held := utf8.RuneCountInString(p.Begin)
	return held > characters || held == p.Runes
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

// Unsent reports whether the host sends nothing of a message because it failed.
func (e *Entry) Unsent() bool { return e.Failed && e.Tokens() == 0 }

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

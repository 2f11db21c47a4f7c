package compartments

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
)

// Fingerprint is what a revision sees of one message: its id, and the state and
// length of each part. It is cheap enough for a shim to take over a whole
// session at every step.
type Fingerprint struct {
	ID    MessageID
	Parts []PartPrint
}

// PartPrint is the state and length of one part. Units counts UTF-16 code units
// of the part's text, output or error text; 0 for anything else.
type PartPrint struct {
	Status ToolStatus
	Units  uint32
}

// Print takes the fingerprint of a decoded message.
func (m *Message) Print() Fingerprint {
	f := Fingerprint{ID: m.ID, Parts: make([]PartPrint, len(m.Parts))}
	for i := range m.Parts {
		p := &m.Parts[i]
		text := p.Text
		if p.Kind == PartTool {
			text = p.Output
		}
		f.Parts[i] = PartPrint{Status: p.Status, Units: utf16Units(text)}
	}
	return f
}

func utf16Units(s string) uint32 {
	n := uint32(0)
	for _, r := range s {
		n++
		if r >= 0x10000 {
			n++
		}
	}
	return n
}

// Revision is a rolling hash over the fingerprints of a list of messages: the
// same list has the same revision in every process, and the revision of a
// prefix is an intermediate state of the whole. docs/protocol.md states the
// formula, which every shim computes too.
type Revision struct {
	Count int
	a, b  uint32
}

const (
	revisionStartA = 0x811c9dc5
	revisionStartB = 0x9747b28c
	revisionMulA   = 0x01000193
	revisionMulB   = 0x85ebca77
)

// EmptyRevision is the revision of the empty list.
func EmptyRevision() Revision { return Revision{a: revisionStartA, b: revisionStartB} }

// Add returns the revision of the list with one more message behind it.
func (r Revision) Add(f Fingerprint) Revision {
	f.ID.eachUnit(r.mix)
	r.mix(0x110000 + uint32(len(f.Parts)))
	for _, p := range f.Parts {
		r.mix(uint32(p.Status))
		r.mix(p.Units)
	}
	r.Count++
	return r
}

func (r *Revision) mix(x uint32) {
	r.a = (r.a ^ x) * revisionMulA
	r.b = (r.b ^ x) * revisionMulB
	r.b ^= r.b >> 13
}

// String is the form on the wire: the count in decimal, a dot, 16 hex digits.
func (r Revision) String() string { return fmt.Sprintf("%d.%08x%08x", r.Count, r.a, r.b) }

// ParseRevision reads the form on the wire.
func ParseRevision(s string) (Revision, error) {
	var r Revision
	if _, err := fmt.Sscanf(s, "%d.%08x%08x", &r.Count, &r.a, &r.b); err != nil || r.String() != s {
		return Revision{}, fmt.Errorf("revision %q is not COUNT.16HEX", s)
	}
	return r, nil
}

// Hash is a SHA-256.
type Hash [sha256.Size]byte

// MarshalText writes the hash in hex.
func (h Hash) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h[:]), nil }

// UnmarshalText reads what MarshalText wrote.
func (h *Hash) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(string(text))
	if err != nil || len(b) != len(h) {
		return fmt.Errorf("hash %q is not %d hex digits", text, 2*len(h))
	}
	copy(h[:], b)
	return nil
}

// IsZero reports whether the hash was never set.
func (h Hash) IsZero() bool { return h == Hash{} }

// ContentHash hashes what a message says, without the ids and bookkeeping that a
// fork or an import rewrites: role, creation time, and of each part the kind,
// state, texts, arguments, file name and attachments. Two messages with the same content
// hash are copies of each other.
func (m *Message) ContentHash() Hash {
	h := sha256.New()
	hashString(h, string(m.Role))
	hashInt(h, m.Time)
	for i := range m.Parts {
		p := &m.Parts[i]
		hashInt(h, int64(p.Kind)<<8|int64(p.Status))
		for _, s := range [...]string{p.Type, p.Text, p.Tool, p.Input, p.Output, p.Mime, p.Filename} {
			hashString(h, s)
		}
		hashInt(h, int64(p.URLBytes))
		if p.Media > 0 {
			hashInt(h, int64(p.Media))
			hashInt(h, int64(p.MediaBytes))
			hashString(h, p.MediaTypes)
		}
	}
	var out Hash
	h.Sum(out[:0])
	return out
}

// RunHash hashes a run of messages by their content hashes, in order: the source
// hash of a compartment.
func RunHash(members []Hash) Hash {
	return RunHashOf(len(members), func(i int) *Hash { return &members[i] })
}

// RunHashOf is RunHash of n messages whose hashes lie elsewhere.
func RunHashOf(n int, member func(i int) *Hash) Hash {
	r := NewRun()
	r.Add(n, member)
	return r.Sum()
}

// Run is the RunHash of messages that grow in number: what a fold of a long session
// stands for is mostly what the one before stood for, and some more.
type Run struct {
	h     hash.Hash
	Count int // messages so far
}

// NewRun returns the run of no messages.
func NewRun() *Run { return &Run{h: sha256.New()} }

// Add goes on with n messages. Many are handed on at a time.
func (r *Run) Add(n int, member func(i int) *Hash) {
	var many [4096]byte
	for i := 0; i < n; {
		size := 0
		for ; i < n && size < len(many); i++ {
			size += copy(many[size:], member(i)[:])
		}
		r.h.Write(many[:size])
	}
	r.Count += n
}

// Sum is the RunHash of the messages so far.
func (r *Run) Sum() (out Hash) {
	r.h.Sum(out[:0])
	return out
}

func hashString(h hash.Hash, s string) {
	hashInt(h, int64(len(s)))
	io.WriteString(h, s)
}

func hashInt(h hash.Hash, n int64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(n))
	h.Write(b[:])
}

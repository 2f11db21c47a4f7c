package compartments

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Field says which field of a part an edit replaces.
type Field string

// The fields of an edit. FieldDrop removes the part.
const (
	FieldOutput Field = "output"
	FieldInput  Field = "input"
	FieldText   Field = "text"
	FieldDrop   Field = "drop"
)

// Pair is one step of the head: a synthetic user message with Text, then a
// synthetic assistant message with one short constant text.
type Pair struct {
	Text      string `json:"text"`
	CacheMark bool   `json:"cacheMark"`
}

// Edit replaces one field of one part of a message that stays.
type Edit struct {
	MessageID MessageID `json:"messageID"`
	Part      int       `json:"part"` // 0-based place in the stored message
	Field     Field     `json:"field"`
	Value     string    `json:"value"`
}

// Plan is the mutations in force. Messages up to and with Through are dropped
// except those in Keep; the head stands before what stays. The zero Plan
// changes nothing.
type Plan struct {
	Head    []Pair      `json:"head"`
	Through MessageID   `json:"through"` // empty: nothing is dropped
	Keep    []MessageID `json:"keep"`
	Edits   []Edit      `json:"edits"`
}

// Empty reports whether the plan changes nothing.
func (p *Plan) Empty() bool {
	return len(p.Head) == 0 && p.Through == "" && len(p.Edits) == 0
}

// Encode returns the plan's bytes and its name. The bytes are one JSON object
// without HTML escaping; the name is the SHA-256 of those bytes in hex.
func (p *Plan) Encode() (id string, encoded []byte, err error) {
	out := *p
	if out.Head == nil {
		out.Head = []Pair{}
	}
	if out.Keep == nil {
		out.Keep = []MessageID{}
	}
	if out.Edits == nil {
		out.Edits = []Edit{}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(&out); err != nil {
		return "", nil, fmt.Errorf("encode plan: %w", err)
	}
	encoded = bytes.TrimRight(b.Bytes(), "\n")
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:]), encoded, nil
}

// DecodePlan reads what Encode wrote.
func DecodePlan(encoded []byte) (Plan, error) {
	var p Plan
	if err := json.Unmarshal(encoded, &p); err != nil {
		return Plan{}, fmt.Errorf("decode plan: %w", err)
	}
	return p, nil
}

// WithID splices the plan's name into its bytes: the object that goes over the
// wire.
func WithID(id string, encoded []byte) []byte {
	out := make([]byte, 0, len(encoded)+len(id)+8)
	out = append(out, `{"id":"`...)
	out = append(out, id...)
	out = append(out, `",`...)
	return append(out, encoded[1:]...)
}

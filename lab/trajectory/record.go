package trajectory

import (
	"bufio"
	_ "embed" // for the schema
	"encoding/json"
	"fmt"
	"io"

	"ctxplugin/lab/fixtures"
)

// Schema is the JSON Schema of a line of records.
//
//go:embed records.schema.json
var Schema []byte

// Record is one line of JSON: what one turn, one fold, one representation or one
// bill was. Exactly one of its members is set.
type Record struct {
	Turn           *Turn           `json:"turn,omitempty"`
	Fold           *Fold           `json:"fold,omitempty"`
	Representation *Representation `json:"representation,omitempty"`
	Bill           *Bill           `json:"bill,omitempty"`
}

// Run names a policy over a script. Counts are tokens.
type Run struct {
	Script string `json:"script"`
	Seed   uint64 `json:"seed"`
	Policy string `json:"policy"`
	// Schedule is "same" where the policy folds when ours does, "own" where it has
	// a schedule of its own, in a window for the same mean size.
	Schedule string `json:"schedule"`
	Window   int    `json:"window"`
	Usable   int    `json:"usable"`
	Repeat   int    `json:"repeat,omitempty"` // of a run with chance in it, or of ours
}

// Turn is what was observed at the first request of one turn. Counts are tokens;
// money is in micro-units, for all requests of the turn.
type Turn struct {
	Run
	Turn     int `json:"turn"` // 0-based
	Requests int `json:"requests"`

	Size       int            `json:"size"` // of messages, the head included
	Mean       int            `json:"mean"` // of all requests of the turn
	Head       int            `json:"head"`
	Budget     int            `json:"budget"` // of the head; 0 before the first fold
	Pressure   int            `json:"pressure"`
	Tiers      map[string]int `json:"tiers,omitempty"`      // compartments in the head
	TierTokens map[string]int `json:"tierTokens,omitempty"` // of these
	Needed     int            `json:"needed"`               // tokens of entries that answer a probe of this turn
	Classes    map[string]int `json:"classes,omitempty"`    // raw tokens of what the head stands for, by when it is needed next; of ours alone

	OverWindow int   `json:"overWindow"` // requests that no provider would have taken
	OverBudget bool  `json:"overBudget"`
	Folds      int   `json:"folds"`
	Switches   int   `json:"switches"`  // compartments that a fold showed at another tier, first showings apart
	Reversals  int   `json:"reversals"` // of these, those in the other direction than the one before
	Prefixes   int   `json:"prefixes"`  // requests that did not begin with all of the one before
	Read       int   `json:"read"`
	Write      int   `json:"write"`
	Fresh      int   `json:"fresh"`
	Output     int   `json:"output"`
	Cost       int64 `json:"cost"`

	Asked []Answer `json:"asked,omitempty"`
}

// Answer is what a request held of what a probe needs.
type Answer struct {
	Probe     int            `json:"probe"`
	Dimension string         `json:"dimension"`
	Relevance string         `json:"relevance"`
	Grade     fixtures.Grade `json:"grade"`
	Shown     string         `json:"shown"`      // tier of the compartment that says it
	Enough    string         `json:"sufficient"` // the lowest tier that answers; none if not even the messages do
	Age       int            `json:"age"`        // turns since it was said
}

// Fold is one fold of ours.
type Fold struct {
	Run
	Number     int            `json:"number"`
	Turn       int            `json:"turn"`
	Reason     string         `json:"reason"`
	Divergence int            `json:"divergence"`
	Before     int            `json:"before"`
	After      int            `json:"after"`
	Budget     int            `json:"budget"`
	Tiers      map[string]int `json:"tiers"`
}

// Representation is one compartment as its historian wrote it.
type Representation struct {
	Script     string           `json:"script"`
	Seed       uint64           `json:"seed"`
	ID         int64            `json:"id"`
	First      int64            `json:"first"`
	Last       int64            `json:"last"`
	Source     string           `json:"source"` // hash of the messages
	Importance int              `json:"importance"`
	Types      []string         `json:"types,omitempty"`
	Strategy   string           `json:"strategy"`
	Generator  string           `json:"generator"`
	Prompt     string           `json:"prompt,omitempty"`
	Raw        int              `json:"raw"`
	Tokens     map[string]int   `json:"tokens"`   // by tier
	Survival   map[string][]int `json:"survival"` // by tier, permille, in the order of the dimensions
}

// Bill is what a whole session costs under a policy with one provider.
type Bill struct {
	Run
	Provider string `json:"provider"`
	Requests int    `json:"requests"`
	Read     int64  `json:"read"`
	Write    int64  `json:"write"`
	Fresh    int64  `json:"fresh"`
	Output   int64  `json:"output"`
	Cost     int64  `json:"cost"`
	Prefixes int    `json:"prefixes"`
	Mean     int    `json:"mean"`       // tokens of messages in a request
	Over     int    `json:"overWindow"` // requests that no provider would have taken
}

// Write writes records, one a line.
func Write(w io.Writer, records []Record) error {
	b := bufio.NewWriter(w)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	for i := range records {
		if err := e.Encode(&records[i]); err != nil {
			return fmt.Errorf("record %d: %w", i+1, err)
		}
	}
	return b.Flush()
}

// Read reads what Write wrote.
func Read(r io.Reader) ([]Record, error) {
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	var out []Record
	for {
		var one Record
		switch err := d.Decode(&one); err {
		case nil:
			out = append(out, one)
		case io.EOF:
			return out, nil
		default:
			return nil, fmt.Errorf("record %d: %w", len(out)+1, err)
		}
	}
}

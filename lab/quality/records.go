package quality

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"ctxplugin/compartments"
	"ctxplugin/lab/fixtures"
)

// Schema names the version of the records.
const Schema = "ctxplugin.lab.quality/1"

// Record is one line of the records: exactly one of its members is there.
type Record struct {
	Run            *RunRecord            `json:"run,omitempty"`
	Session        *SessionRecord        `json:"session,omitempty"`
	Representation *RepresentationRecord `json:"representation,omitempty"`
	Shown          *ShownRecord          `json:"shown,omitempty"`
}

// RunRecord is the first line.
type RunRecord struct {
	Schema  string   `json:"schema"`
	Options Options  `json:"options"`
	Skipped []string `json:"skipped,omitempty"` // what was left out, and why
}

// SessionRecord is what was planted into a session, and when it is needed.
type SessionRecord struct {
	Bank     fixtures.Bank    `json:"bank"`
	Seed     uint64           `json:"seed"`
	Source   string           `json:"source,omitempty"` // the file of a recorded session
	Domain   string           `json:"domain,omitempty"`
	Language string           `json:"language,omitempty"`
	Messages int              `json:"messages"`
	Tokens   int              `json:"tokens"`
	Items    []fixtures.Item  `json:"items,omitempty"`
	Probes   []fixtures.Probe `json:"probes,omitempty"`
}

// RepresentationRecord is one tier of one compartment in one condition.
type RepresentationRecord struct {
	Bank      fixtures.Bank        `json:"bank"`
	Seed      uint64               `json:"seed"`
	Condition Condition            `json:"condition"`
	Repeat    int                  `json:"repeat"`
	Tier      compartments.Tier    `json:"-"`
	TierName  string               `json:"tier"`
	First     compartments.Ordinal `json:"first"`
	Last      compartments.Ordinal `json:"last"`
	Tokens    int                  `json:"tokens"` // of the text
	Raw       int                  `json:"raw"`    // of the messages
	Read      int                  `json:"read"`   // tokens that a model read for it; 0 without a model
	Written   int                  `json:"written"`
	Added     int                  `json:"added"` // names and numbers that no message holds
	Items     []Answer             `json:"items,omitempty"`
}

// Answer is what a text holds of an item. Shares are permille. On a line it is the
// list of its first five members; the others follow from them and the session's
// record.
type Answer struct {
	Item       int
	Exact      int
	Semantic   int
	Status     int
	Provenance int

	Success   bool // exact, semantic and status are whole
	Needed    bool // a probe asks for it
	Lead      bool // it is what its turn was about
	Dimension fixtures.Dimension
	Relevance fixtures.Relevance
}

// MarshalJSON writes item, exact, semantic, status, provenance.
func (a Answer) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, "[%d,%d,%d,%d,%d]", a.Item, a.Exact, a.Semantic, a.Status, a.Provenance), nil
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (a *Answer) UnmarshalJSON(text []byte) error {
	var n []int
	if err := json.Unmarshal(text, &n); err != nil || len(n) != 5 {
		return fmt.Errorf("an answer is five numbers, not %s", text)
	}
	*a = Answer{Item: n[0], Exact: n[1], Semantic: n[2], Status: n[3], Provenance: n[4], Success: n[1] == 1000 && n[2] == 1000 && n[3] == 1000}
	return nil
}

// Misread reports an item that is said whole and does not read as what it is: a
// doubt as a fact, a rejected way as one that was taken.
func (a *Answer) Misread() bool { return a.Exact == 1000 && a.Semantic == 1000 && a.Status == 0 }

// ShownRecord is what was shown of a history under a budget, and what probes found
// in it.
type ShownRecord struct {
	Bank      fixtures.Bank  `json:"bank"`
	Seed      uint64         `json:"seed"`
	Source    string         `json:"source,omitempty"`
	Condition Condition      `json:"condition"`
	Repeat    int            `json:"repeat"`
	Form      Form           `json:"form"`
	Level     string         `json:"level,omitempty"`   // of form flat the tier, of form less the one that is missing
	Removed   string         `json:"removed,omitempty"` // the dimension that was taken out of all tiers
	Floor     string         `json:"floor,omitempty"`   // the dimension that policy held at half
	Against   string         `json:"against,omitempty"` // what another is held against: no floor, and the tokens that the one on this dimension took; none: all dimensions
	Share     int            `json:"share"`             // the budget, permille of what all take at full
	Budget    int            `json:"budget"`            // the same in tokens
	Upto      int            `json:"upto"`              // compartments of the history that were shown
	Tokens    int            `json:"tokens"`            // taken
	Tiers     map[string]int `json:"tiers,omitempty"`
	Answers   []Answer       `json:"answers,omitempty"` // to the probes that come later
	Asked     int            `json:"asked,omitempty"`   // names of a recorded session that come again
	Found     int            `json:"found,omitempty"`   // of these
}

// Write writes records as JSON Lines.
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

// Read reads records that Write wrote. The error names the line.
func Read(r io.Reader) ([]Record, error) {
	var out []Record
	var session *SessionRecord
	needed := map[int]bool{}
	fill := func(answers []Answer) error {
		for i := range answers {
			a := &answers[i]
			if session == nil || a.Item < 0 || a.Item >= len(session.Items) {
				return fmt.Errorf("record %d answers for item %d, which its session does not have", len(out)+1, a.Item)
			}
			it := &session.Items[a.Item]
			a.Dimension, a.Relevance, a.Lead, a.Needed = it.Dimension, it.Relevance, it.Lead, needed[a.Item]
		}
		return nil
	}
	d := json.NewDecoder(r)
	for {
		var rec Record
		err := d.Decode(&rec)
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("record %d: %w", len(out)+1, err)
		}
		kinds := 0
		if rec.Run != nil {
			kinds++
			if rec.Run.Schema != Schema {
				return nil, fmt.Errorf("record %d: schema %q is not %s", len(out)+1, rec.Run.Schema, Schema)
			}
		}
		if rec.Session != nil {
			kinds++
			session, needed = rec.Session, map[int]bool{}
			for _, p := range session.Probes {
				needed[p.Item] = true
			}
		}
		if p := rec.Representation; p != nil {
			kinds++
			if p.Tier, err = compartments.ParseTier(p.TierName); err != nil {
				return nil, fmt.Errorf("record %d: %w", len(out)+1, err)
			}
			if err := fill(p.Items); err != nil {
				return nil, err
			}
		}
		if rec.Shown != nil {
			kinds++
			if err := fill(rec.Shown.Answers); err != nil {
				return nil, err
			}
		}
		if kinds != 1 {
			return nil, fmt.Errorf("record %d has %d members, not one", len(out)+1, kinds)
		}
		out = append(out, rec)
	}
}

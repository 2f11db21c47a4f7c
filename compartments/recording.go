package compartments

import (
	"encoding/json"
	"fmt"
)

// Recording is what a fold's choice followed from, besides the compartments,
// which never change: with them, the selection and its bytes can be made again.
// Folds of before the recording have none. Counts are tokens.
type Recording struct {
	Candidates Candidates `json:"candidates"` // of the head before and behind it, in list order
	Pairs      []int      `json:"pairs"`      // how many of them each pair of the head before had
	Budget     int        `json:"budget"`     // of the history; a forced fold may have less than the settings give
	DemoteTo   int        `json:"demoteTo"`   // what a selection that demotes goes down to
	Limit      int        `json:"limit"`      // what all messages may weigh; 0 for no limit
	Tail       int        `json:"tail"`       // behind all candidates
	Weighed    []Weighed  `json:"weighed"`    // the folds that were weighed, in that order; one of them was made

	Holds  []Hold  `json:"holds,omitempty"`  // what holds candidates besides their worth, by place
	Rest   []PinID `json:"rest,omitempty"`   // pins that had no room
	Saved  []Saved `json:"saved,omitempty"`  // what stubs save of candidates while they are messages, by place
	Saves  int     `json:"saves,omitempty"`  // what new stubs save of all that stays raw
	Floors []int   `json:"floors,omitempty"` // least survival by dimension, permille; none where the policy demands none

	// The settings that selection, choice and timing read. Shares are permille.
	HalfLife    int    `json:"halfLife"`
	Spare       int    `json:"spare"`
	ForceTier   Tier   `json:"forceTier,omitempty"`
	Ablate      string `json:"ablate,omitempty"` // mechanisms that an experiment replaced
	DemoteShare int    `json:"demoteShare"`      // of the budget
	// PromoteBelow is the share of the budget below which a full fold promotes; folds
	// of before it have none and promoted only to twice as much.
	PromoteBelow int `json:"promoteBelow,omitempty"`
	ForceMark    int `json:"forceMark"`
	LeastGain    int `json:"leastGain"` // what a fold that nothing forces must free
	TurnMost     int `json:"turnMost"`  // a turn larger than this may be folded inside

	Moment FoldMoment `json:"moment"`
}

// FoldMoment is the rest of what the timing of a fold depended on. Counts are
// tokens.
type FoldMoment struct {
	Grown      int  `json:"grown"` // behind the head since the fold before
	Turn       int  `json:"turn"`  // of the running turn
	TurnStart  bool `json:"turnStart,omitempty"`
	Cold       bool `json:"cold,omitempty"`
	Overflowed bool `json:"overflowed,omitempty"`
	Stale      bool `json:"stale,omitempty"`
	Asked      bool `json:"asked,omitempty"`
	Pending    bool `json:"pending,omitempty"` // pins that the head did not show
}

// Hold is what holds one candidate besides its worth: its class, which may be
// another by now, the words that stand at every tier, whether it was put away
// because what may not fade had no room, whether the floors were eased for it
// because they had none, and whether it could not stay raw because no user message could stand in front of it.
type Hold struct {
	At     int       `json:"at"` // place among the candidates
	Class  Retention `json:"class,omitempty"`
	Pins   []PinID   `json:"pins,omitempty"`
	Tokens []int     `json:"tokens,omitempty"` // of each of the pins, as rendered
	Away   bool      `json:"away,omitempty"`
	Eased  bool      `json:"eased,omitempty"`
	NotRaw bool      `json:"notRaw,omitempty"`
}

// Saved is what stubs save of one candidate while it is messages.
type Saved struct {
	At     int `json:"at"` // place among the candidates
	Tokens int `json:"tokens"`
}

// Least is the least survival that policy demanded of what a fold shows.
func (in *FoldInputs) Least() (least Survival) {
	floors := in.Floors
	if in.Recording != nil {
		floors = in.Recording.Floors
	}
	for d := range min(len(floors), len(least)) {
		least[d] = uint16(min(max(floors[d], 0), 1000))
	}
	return least
}

// Verdict says what became of a fold that was weighed.
type Verdict string

// The verdicts.
const (
	VerdictMade   Verdict = "made"
	VerdictTarget Verdict = "target" // its history is over the budget
	VerdictLimit  Verdict = "limit"  // its messages are over the limit
	VerdictUnfair Verdict = "unfair" // it gives up more of the history's worth than its pairs are spared for
	VerdictSmall  Verdict = "small"  // a full fold promotes what it would leave small
	VerdictDearer Verdict = "dearer" // one that keeps more pairs will do
)

// Weighed is one fold that was weighed, by the place where it diverges. Counts
// are tokens.
type Weighed struct {
	Divergence int     `json:"divergence"`     // pairs kept
	Kept       int     `json:"kept"`           // of the pairs kept
	Held       int     `json:"held,omitempty"` // of messages of these pairs that are kept raw
	Target     int     `json:"target"`         // of the new pair's entries
	Pair       int     `json:"pair"`           // of the new pair
	Raw        int     `json:"raw"`            // how many of the last candidates stay raw
	NotRaw     bool    `json:"notRaw,omitempty"`
	Behind     int     `json:"behind"` // D
	After      int     `json:"after"`
	Loss       uint64  `json:"loss"`    // value lost per 1/64 token by the last demotion, in 1/2^20
	Worth      int64   `json:"worth"`   // value of all that the history shows
	Spacing    int     `json:"spacing"` // cheapest growth between folds
	Verdict    Verdict `json:"verdict"`
}

// CandidateRecord is one candidate of a fold.
type CandidateRecord struct {
	Compartment CompartmentID
	Applied     Tier // before the fold; TierRaw if it was not in the head
	Relevance   int  // permille
}

// Candidates are the candidates of a fold, in list order. Their JSON is a list of
// runs [first id, how many, applied tier, relevance]: consecutive compartments
// that are alike in the rest.
type Candidates []CandidateRecord

// MarshalJSON implements json.Marshaler.
func (c Candidates) MarshalJSON() ([]byte, error) {
	b := []byte{'['}
	for from, to := 0, 0; from < len(c); from = to {
		first := c[from]
		for to = from + 1; to < len(c) && c[to] == (CandidateRecord{c[to-1].Compartment + 1, first.Applied, first.Relevance}); to++ {
		}
		if from > 0 {
			b = append(b, ',')
		}
		b = appendList(b, []int64{int64(first.Compartment), int64(to - from), int64(first.Applied), int64(first.Relevance)})
	}
	return append(b, ']'), nil
}

// candidatesMost bounds what a damaged recording may claim.
const candidatesMost = 1 << 22

// UnmarshalJSON implements json.Unmarshaler.
func (c *Candidates) UnmarshalJSON(b []byte) error {
	var runs [][4]int64
	if err := json.Unmarshal(b, &runs); err != nil {
		return err
	}
	*c = nil
	for _, run := range runs {
		if run[1] < 1 || run[1] > candidatesMost-int64(len(*c)) || run[2] < 0 || run[2] > int64(TierArchived) {
			return fmt.Errorf("candidates: %v is no run", run)
		}
		for i := range run[1] {
			*c = append(*c, CandidateRecord{CompartmentID(run[0] + i), Tier(run[2]), int(run[3])})
		}
	}
	return nil
}

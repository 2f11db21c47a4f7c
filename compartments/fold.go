package compartments

import "slices"

// Reason says why a fold happened, or why a tier changed.
type Reason string

// The reasons of folds.
const (
	ReasonForced    Reason = "forced"     // pressure reached the force mark
	ReasonOverflow  Reason = "overflow"   // the provider refused a request as too long
	ReasonStale     Reason = "stale"      // applied bytes became false: source edited, withdrawn or forgotten
	ReasonCold      Reason = "cold"       // the cache is cold, so folding costs nothing extra
	ReasonPays      Reason = "pays"       // the spacing rule says that it pays now
	ReasonTurnAhead Reason = "turn-ahead" // a turn like the largest of late would reach the force mark
	ReasonPressure  Reason = "pressure"   // no cache price: pressure alone decides
	ReasonAsked     Reason = "asked"      // the user asked for it
	ReasonFirst     Reason = "first"      // first sight of a session that is already long
	ReasonUndone    Reason = "undone"     // the user took a fold back
)

// The reasons of tier changes, besides those of the fold itself.
const (
	ReasonNew      Reason = "new"      // first rendered here
	ReasonBudget   Reason = "budget"   // the history budget did not hold
	ReasonFloor    Reason = "floor"    // policy allows no less
	ReasonPromoted Reason = "promoted" // room below the promote mark
	ReasonReplaced Reason = "replaced" // a better generator wrote it again
	ReasonPinned   Reason = "pinned"   // policy leaves the messages themselves alone
	ReasonEased    Reason = "eased"    // below the floors of the policy, which had no room
)

// Item is one entry of a pair: one compartment at a tier, or several as one
// index line (Tier is TierIndex). TierRaw stands for messages that are kept
// behind the head, TierArchived for none; TierNone for compartments that may
// not fade and have no room, or, without compartments, for pins that have none.
type Item struct {
	Compartments []CompartmentID `json:"compartments"`
	Tier         Tier            `json:"tier"`
	Tokens       int             `json:"tokens"`
	Pins         []PinID         `json:"pins,omitempty"`  // whose words it shows
	Bare         []CompartmentID `json:"bare,omitempty"`  // of an index line, whose exact spans have no room
	Eased        []CompartmentID `json:"eased,omitempty"` // that it shows below the floors of the policy, which had no room
}

// Demands is what policy demands of a compartment of the entry: nothing of one that
// the floors were eased for.
func (i *Item) Demands(id CompartmentID, least Survival) Survival {
	if slices.Contains(i.Eased, id) {
		return Survival{}
	}
	return least
}

// PairLayout is what one pair of the head was rendered from.
type PairLayout struct {
	First  Ordinal `json:"first"` // first message that the pair stands for
	Last   Ordinal `json:"last"`
	Count  int     `json:"count"`  // how many messages it stands for
	Source Hash    `json:"source"` // RunHash over all of them
	Items  []Item  `json:"items"`
	Tokens int     `json:"tokens"` // of the pair as sent
	Text   string  `json:"text"`   // frozen

	Rendered Hash `json:"rendered,omitzero"` // SHA-256 of Text; zero where it was rendered before that was recorded
}

// FoldInputs are the numbers a fold's decision used. All counts are tokens.
type FoldInputs struct {
	Window       int    `json:"window"`
	Usable       int    `json:"usable"`
	Reserve      int    `json:"reserve"`
	Fixed        int    `json:"fixed"`    // system and tools
	Budget       int    `json:"budget"`   // history budget
	Before       int    `json:"before"`   // messages of the next request without this fold, with the stubs that it needs in any case
	After        int    `json:"after"`    // with it
	Pressure     int    `json:"pressure"` // permille of the usable window, before
	Growth       int    `json:"growth"`   // a step, mean since the last fold
	Behind       int    `json:"behind"`   // D: tokens behind the divergence in the next request
	Spacing      int    `json:"spacing"`  // cheapest growth between folds
	LargestTurn  int    `json:"largestTurn"`
	IdleMs       int64  `json:"idleMs"`
	Calibration  int    `json:"calibration"` // permille
	Policy       string `json:"policy"`      // policy version
	Renderer     string `json:"renderer"`    // renderer version
	Prices       Prices `json:"prices"`
	TargetTokens int    `json:"targetTokens"` // history target the selection aimed at

	Replaces  string     `json:"replaces,omitempty"`  // plan that was in force before
	Stubs     int        `json:"stubs,omitempty"`     // of the plan that the fold made
	Undoes    int        `json:"undoes,omitempty"`    // number of the fold that this one takes back
	Floors    []int      `json:"floors,omitempty"`    // as in the recording, for a fold without one that takes another back
	Recording *Recording `json:"recording,omitempty"` // nil for folds of before there was one, and for those that take one back

	// Inherited is the layout that a fork took over from its source, without the
	// texts. Only its first fold has it.
	Inherited []PairLayout `json:"inherited,omitempty"`
}

// Prices are what the host's model costs, in micro-units of money per million
// tokens. Zero Write and Read mean that there is no cache price.
type Prices struct {
	Input      int64  `json:"input"`
	Output     int64  `json:"output"`
	CacheRead  int64  `json:"cacheRead"`
	CacheWrite int64  `json:"cacheWrite"`
	TTLMs      int64  `json:"ttlMs"` // cache time to live; 0 means unknown
	Kind       string `json:"kind"`  // marks, automatic, none, free, unknown
}

// Fold is the one event that changes applied state.
type Fold struct {
	Number     int // 1-based in its session
	At         int64
	Reason     Reason
	Divergence int // index of the first pair whose bytes change; 0 is a full fold
	FirstMoved Ordinal
	Through    Ordinal // last ordinal that the head stands for
	PlanID     string
	Inputs     FoldInputs
	InputsHash Hash
	Layout     []PairLayout
	Decisions  []Decision
}

// FoldSummary is what a ledger shows of a fold. Before and After are tokens of
// messages.
type FoldSummary struct {
	Number     int
	At         int64
	Reason     Reason
	Divergence int
	Pairs      int
	Through    Ordinal
	Before     int
	After      int
	Tiers      map[Tier]int // compartments by tier
}

// Summary sums a fold up.
func (f *Fold) Summary() FoldSummary {
	s := FoldSummary{Number: f.Number, At: f.At, Reason: f.Reason, Divergence: f.Divergence, Pairs: len(f.Layout), Through: f.Through,
		Before: f.Inputs.Before, After: f.Inputs.After, Tiers: map[Tier]int{}}
	for _, pair := range f.Layout {
		for _, item := range pair.Items {
			s.Tiers[item.Tier] += len(item.Compartments)
		}
	}
	return s
}

// Decision is one change of one compartment at one fold.
type Decision struct {
	Compartment CompartmentID `json:"compartment"`
	From        Tier          `json:"from"`
	To          Tier          `json:"to"`
	Highest     Tier          `json:"highest"` // of the legal range
	Lowest      Tier          `json:"lowest"`
	Reason      Reason        `json:"reason"`
}

// Standing returns those folds that nobody took back, by their places in a ledger
// that is complete: the last one is in force, and each replaced the one before.
func Standing(folds []Fold) []int {
	var stack []int
	for i := range folds {
		if folds[i].Inputs.Undoes == 0 {
			stack = append(stack, i)
		} else if n := len(stack); n > 0 && folds[stack[n-1]].Number == folds[i].Inputs.Undoes {
			stack = stack[:n-1]
		}
	}
	return stack
}

package decay

import "ctxplugin/compartments"

// Settings are the numbers of the policy and the schedule. Shares are permille.
// All are settable by the user; docs/configuration.md has ranges.
type Settings struct {
	ReserveCap     int // most tokens reserved for output when the model states a limit
	ReserveUnknown int // tokens reserved when it states none
	ReserveShare   int // most of the window that the reserve may take

	WindowUnknown int // window assumed when the host states none, tokens
	FixedUnknown  int // system and tools assumed before they were ever seen, tokens

	ForceMark int // pressure that forces a fold
	ForceAim  int // pressure that a forced fold lands at or under

	HistoryShare int // of the usable window
	HistoryMin   int // tokens
	HistoryMax   int // tokens

	TailShare int // of the usable window, for raw steps beyond the protected ones
	TailMax   int // tokens
	TailTurns int // newest turns that stay whole if the tail takes at most a third more for them

	DemoteTo     int // share of the history budget that a demotion goes down to, and a promotion up to
	PromoteBelow int // share of the history budget below which a history is promoted
	LeastGain    int // share of the usable window that a fold must free
	TurnShare    int // share of the usable window past which a turn may be folded inside

	TurnsAhead int // turns looked back on for the largest turn
	HalfLife   int // compartments after which value has halved
	Spare      int // share of what the history is worth that a fold may give up to leave all old pairs alone

	WriteBehind int // eligible raw tokens that start the historian
	StubOver    int // characters above which an output may become an emergency stub, or a superseded part a stub
	StubChars   int // characters above which a part may become a stub at a fold
	StubTurns   int // newest turns whose parts stay whole
	StubShare   int // newest part of the usable window that stays whole, if that is less
	StubPreview int // characters of an output that its stub shows
	StubNames   int // characters of identifiers that a stub lists at most

	// Trust is the weight of what is measured of a tier against what is typical of it,
	// permille. It is for experiments and is not among the user's settings.
	Trust int64 `json:"-"`

	// Prefer says what a fold that nothing forces is made for.
	Prefer Prefer `json:"-"`

	// Floors are the least survival in each dimension, permille, that a rendered
	// tier must have to be legal. The table is in policy.go.
	Floors [compartments.Dimensions]int `json:"-"`

	// ForceTier renders every compartment at this tier, or the next one that it
	// has, whatever its worth; TierNone leaves the choice to the schedule. It is
	// for looking at a tier and is not among the user's settings.
	ForceTier compartments.Tier

	// Ablate are mechanisms that are replaced by their simplest substitutes. Like
	// ForceTier it is no setting of the user.
	Ablate Ablation `json:"-"`
}

// Prefer is what the timing of folds prefers.
type Prefer string

// PreferBalance folds when it pays. PreferView folds by pressure alone, so that as
// much as possible stays in view. PreferCost keeps half as much rendered history
// and half as many raw steps: with less behind a fold the cheapest growth between
// two is smaller, so it folds earlier. To fold earlier without keeping less costs
// more: at half the spacing the measured bill rises by 1 to 4 percent.
const (
	PreferBalance Prefer = "balance"
	PreferView    Prefer = "view"
	PreferCost    Prefer = "cost"
)

// Defaults are the numbers of the design.
func Defaults() Settings {
	return Settings{
		ReserveCap: 32000, ReserveUnknown: 20000, ReserveShare: 250,
		WindowUnknown: 64000, FixedUnknown: 8000,
		ForceMark: 850, ForceAim: 600,
		HistoryShare: 160, HistoryMin: 2000, HistoryMax: 40000,
		TailShare: 200, TailMax: 24000, TailTurns: 5,
		DemoteTo: 950, PromoteBelow: 800, LeastGain: 50, TurnShare: 250,
		TurnsAhead: 15, HalfLife: 16, Spare: 300,
		WriteBehind: 6000, StubOver: 800, StubChars: 2000, StubTurns: 6, StubShare: 70, StubPreview: 400, StubNames: 4000,
		Floors: defaultFloors(), Prefer: PreferBalance, Trust: trust,
	}
}

// Policy and Renderer name the versions that every fold records: a fold is
// rendered again only by the renderer that made it.
const (
	Policy   = "policy-4"
	Renderer = "render-3"
)

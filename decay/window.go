package decay

import "fmt"

// Window is how a model's context is divided, in tokens.
type Window struct {
	Context int // the whole, as stated or assumed
	Reserve int // kept free for the reply
	Fixed   int // system text and tool definitions
	Usable  int // Context - Reserve - Fixed; at least 1
	Budget  int // of the rendered history

	MaxOutput int    // most the request may ask for; 0 leaves the host's own
	Warning   string // what was odd about the stated numbers; empty if nothing
}

// smallest and largest windows that are taken as stated, in tokens.
const (
	windowSmallest = 2_000
	windowLargest  = 20_000_000
)

// Divide divides a window. context and output are the model's stated limits and
// learned a window that the provider's refusals showed to be the real one; 0 means
// unknown. fixed is the measured size of system and tools.
func Divide(context, output, learned, fixed int, s Settings) Window {
	w := Window{Context: context, Fixed: fixed}
	if context < windowSmallest || context > windowLargest {
		w.Context = s.WindowUnknown
		w.Warning = fmt.Sprintf("the host states a context window of %d tokens; %d is assumed", context, w.Context)
	}
	if learned > 0 && learned < w.Context {
		w.Warning = fmt.Sprintf("the stated window is %d tokens, but the provider refused a request of %d", w.Context, learned)
		w.Context = learned
	}
	w.Reserve = s.ReserveUnknown
	if output > 0 {
		w.Reserve = min(output, s.ReserveCap)
	}
	if most := share(w.Context, s.ReserveShare); w.Reserve > most {
		w.Reserve = most
		w.MaxOutput = most
	}
	w.Usable = max(1, w.Context-w.Reserve-w.Fixed)
	w.Budget = Budget(w.Usable, s)
	return w
}

// Budget is the history budget of a usable window, in tokens.
func Budget(usable int, s Settings) int {
	budget := min(max(share(usable, s.HistoryShare), s.HistoryMin), s.HistoryMax)
	if s.Prefer == PreferCost {
		budget = max(budget/2, min(budget, s.HistoryMin))
	}
	return budget
}

// Tail is how many tokens of raw steps stay in view beyond what is protected by
// its kind.
func Tail(usable int, s Settings) int {
	tail := min(share(usable, s.TailShare), s.TailMax)
	if s.Prefer == PreferCost {
		tail /= 2
	}
	return tail
}

// ForcedBudget is the history budget of a forced fold that leaves so many tokens
// raw: what the aim leaves. Where that is next to nothing, it is what raw text
// takes that keeps the request above its aim, and not the history: then the history
// has what lies below the mark and leaves two least gains to grow into, and a little
// in any case if there is room for it at all.
func ForcedBudget(stays int, w Window, s Settings) int {
	room, little := share(w.Usable, s.ForceAim)-stays, s.HistoryMin/2
	if room < little {
		room = max(min(w.Usable-stays, little), share(w.Usable, s.ForceMark)-2*LeastGain(w.Usable, s)-stays)
	}
	return min(w.Budget, max(0, room))
}

// Pressure is tokens over the usable window, permille, rounded up.
func Pressure(tokens, usable int) int {
	return int((int64(tokens)*1000 + int64(usable) - 1) / int64(usable))
}

// LeastGain is what a fold must free, in tokens.
func LeastGain(usable int, s Settings) int { return share(usable, s.LeastGain) }

func share(n, permille int) int { return int(int64(n) * int64(permille) / 1000) }

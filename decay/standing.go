package decay

import "math"

// Standing is how much a session may grow, in UTF-8 bytes of what is sent of new
// messages, while the plan in force is kept: a host that has not grown by more need
// not wait for an answer that it knows.
type Standing struct {
	Inside int `json:"inside"` // while the running turn goes on
	Next   int `json:"next"`   // where a new turn has begun
}

// Bytes to a token. No tokenizer makes more tokens of a text than it has bytes, so the
// window is safe at one. Prose and code have three to five: at three the mark of a
// forced fold, which lies below the window, is missed by one request at most where a
// text is denser. What a fold that only pays is weighed with are expectations anyway.
const (
	bytesPerTokenLeast = 1
	bytesPerTokenDense = 3
	bytesPerToken      = 4
)

// Outlook is what a standing plan is foreseen from, in tokens of messages.
type Outlook struct {
	After  int // of the next request if it were folded
	Behind int // of these, what would be written anew
	Fits   int // the window holds so many, whatever the provider reports
	// Decided says that a fold was just decided on for where the next turn begins.
	Decided bool
}

// Standing says how much the session may grow behind the request of this moment.
// Within that nothing is forced, and all fits. A fold that only pays is foreseen for
// the growth of late, so it may come later by a request than for a host that asks each
// time. What was just decided is not decided again for less than a fold has to free,
// nor whether one pays while the turn takes no more than its share.
func (m Moment) Standing(o Outlook, w Window, s Settings) Standing {
	if m.Stale || m.Overflowed || m.Asked || s.Ablate.without(AblateEconomics) {
		return Standing{}
	}
	m.Cold = false // this request warms the cache
	forced := share(w.Usable, s.ForceMark-1) - m.Messages
	most := min((o.Fits-m.Messages)*bytesPerTokenLeast, forced*bytesPerTokenDense)
	inside, next := m, m.NextTurn()
	inside.TurnStart = false
	within := max(inside.unripe(o, w, s), share(w.Usable, s.TurnShare)-m.Turn)
	return Standing{
		Inside: max(0, min(most, within*bytesPerToken)),
		Next:   max(0, min(most, next.unripe(o, w, s)*bytesPerToken)),
	}
}

// NextTurn is the moment when a turn begins right behind this one.
func (m Moment) NextTurn() Moment {
	m.TurnStart, m.Turn, m.LargestTurn = true, 0, max(m.LargestTurn, m.Turn)
	return m
}

// unripe is how many tokens may come before a fold that nothing forces is worthwhile.
// A turn that is under way counts as one that may be folded inside.
func (m Moment) unripe(o Outlook, w Window, s Settings) int {
	gain := LeastGain(w.Usable, s) - (m.Messages - o.After)
	reason := math.MaxInt32
	if spacing := Spacing(o.Behind, m.PerStep, m.Prices); spacing > 0 && s.Prefer != PreferView {
		reason = spacing - m.Growth
	}
	if m.TurnStart {
		if o.Decided {
			reason = max(reason, share(w.Usable, s.TurnShare))
		}
		// A turn that is larger than all before it counts as the largest, so that what
		// comes in it counts twice.
		ahead := share(w.Usable, s.ForceMark-1) - m.Messages - m.LargestTurn
		reason = min(reason, ahead/2)
		if o.Decided {
			reason = max(reason, LeastGain(w.Usable, s))
		}
	}
	return max(gain, reason)
}

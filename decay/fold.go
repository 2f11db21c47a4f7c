package decay

import (
	"ctxplugin/compartments"
)

// Material is what a fold can work on, all in list order.
type Material struct {
	Pairs []Pair      // of the head in force
	New   []Candidate // behind the head and before the protected tail; still raw
	Tail  int         // tokens behind all candidates, as sent
	Keeps []int       // tokens of the messages kept raw if the head ends behind the first i of New
	Cold  bool        // the cache is gone

	Unsettled int                  // pairs, from the last, that show other pins than they should, or what may not fade
	Rest      []compartments.PinID // pins that have no room
	Saves     int                  // tokens that stubs newly save in what stays raw

	Memory *Memory // of earlier folds of the session; nil for none
}

// Pair is one pair of the head with the compartments it stands for.
type Pair struct {
	Layout     compartments.PairLayout
	Candidates []Candidate
	Held       int // tokens of the messages of it that are kept raw
}

// Option is one fold that could be made.
type Option struct {
	Divergence int // pairs kept; the first pair whose bytes change
	Candidates []Candidate
	Selection  Selection
	Items      []compartments.Item // of the new pair
	PairTokens int                 // of the new pair
	Raw        int                 // how many of the last candidates stay raw
	After      int                 // tokens of messages in the next request
	Behind     int                 // D: tokens behind the divergence in the next request
	Target     int                 // what the selection of the new pair aimed at
	Saves      int                 // tokens of that which new stubs save
	Worth      int64               // value of all that the history shows
	Fits       bool
	NotRaw     bool                   // candidates were rendered because staying raw would keep too much in view
	Kept       int                    // tokens of the pairs kept
	Held       int                    // tokens of messages of these pairs that are kept raw
	Rest       []compartments.PinID   // pins that have no room
	Weighed    []compartments.Weighed // all folds that Choose weighed, this one among them

	from                           *Material
	budget, demoteTo, limit, spare int
}

// Choose returns the fold that is worth most for what it writes anew. A fold that
// keeps pairs leaves a quiet old prefix alone, and shows of newer work what room is
// left: it is better than the full one if the share of the history's worth that it
// gives up is less than s.Spare times the share of the full fold's pair that it need
// not write. Nor is a prefix left alone that an earlier emergency made small:
// promotion, as lifted says.
//
// budget is the history budget, target what a selection that demotes goes down
// to; limit is what all messages of the next request may weigh, 0 for no limit.
func Choose(m *Material, budget, target, limit int, s Settings) Option {
	s.Spare = m.sparing(s)
	m.measure(&s)
	options := []Option{m.option(0, budget, target, limit, s)}
	most := len(m.Pairs) - m.Unsettled
	if s.Ablate.without(AblateDivergence) {
		most = 0
	}
	for kept := most; kept > 0; kept-- {
		o := m.option(kept, budget, target, limit, s)
		options = append(options, o)
		if full := &options[0]; o.Worth >= full.Worth && o.fair(full, limit, promoteMark(budget, s)) == compartments.VerdictMade {
			break // none that keeps fewer pairs is better
		}
	}
	made, verdicts := best(options, limit, promoteMark(budget, s), s)
	o := options[made]
	for i := range options {
		o.Weighed = append(o.Weighed, options[i].weighed(verdicts[i]))
	}
	o.from, o.budget, o.demoteTo, o.limit, o.spare = m, budget, target, limit, s.Spare
	return o
}

// sparing is the share of the history's worth that sparing all old pairs is worth,
// permille: nothing where the cache is gone, for then any fold writes all anew.
func (m *Material) sparing(s Settings) int {
	if m.Cold {
		return 0
	}
	return s.Spare
}

// best is which of some folds is made, and what became of each. The first is the
// full one, the others keep pairs, the most first.
func best(options []Option, limit, mark int, s Settings) (made int, verdicts []compartments.Verdict) {
	full := &options[0]
	verdicts = make([]compartments.Verdict, len(options))
	most := full.merit(full, s)
	for i := 1; i < len(options); i++ {
		o := &options[i]
		if verdicts[i] = o.fair(full, limit, mark); verdicts[i] != compartments.VerdictMade {
			continue
		}
		verdicts[i] = compartments.VerdictUnfair
		if merit := o.merit(full, s); merit > most || merit == most && made == 0 {
			made, most = i, merit
		}
	}
	for i := range verdicts { // those that keep fewer pairs than the best
		if i == 0 || i > made && verdicts[i] == compartments.VerdictUnfair && made > 0 {
			verdicts[i] = compartments.VerdictDearer
		}
	}
	verdicts[made] = compartments.VerdictMade
	return made, verdicts
}

// merit is what a fold is worth, less what it writes anew, both held against the full
// fold: in parts of a million of what that one is worth.
func (o *Option) merit(full *Option, s Settings) int64 {
	worth := o.Worth / 1000 * 1_000_000 / max(1, full.Worth/1000)
	return worth - int64(s.Spare)*1000*int64(o.PairTokens)/int64(max(1, full.PairTokens))
}

// promoteMark is the size of the rendered history, in tokens, below which a fold
// that spares old pairs gives way to one that shows more.
func promoteMark(budget int, s Settings) int { return share(budget, s.PromoteBelow) }

// lifted reports whether a full fold promotes what this one would leave small:
// below the mark if it shows a tenth more, else if it shows twice as much. It goes
// up to what demotions go down to, and that is above the mark, so that the next
// fold does not do it again; nor does that if all there is stands at its highest
// tier already.
func (o *Option) lifted(full *Option, mark int) bool {
	return full.Fits && (o.head() < mark && 10*full.head() > 11*o.head() || 2*o.head() < full.head())
}

// fair says whether a fold that keeps pairs may be made, and if not why.
func (o *Option) fair(full *Option, limit, mark int) compartments.Verdict {
	switch {
	case !o.Fits:
		return compartments.VerdictTarget
	case limit > 0 && o.After > limit:
		return compartments.VerdictLimit
	case o.lifted(full, mark):
		return compartments.VerdictSmall
	}
	return compartments.VerdictMade
}

func (o *Option) weighed(v compartments.Verdict) compartments.Weighed {
	return compartments.Weighed{Divergence: o.Divergence, Kept: o.Kept, Held: o.Held, Target: o.Target, Pair: o.PairTokens, Raw: o.Raw, NotRaw: o.NotRaw,
		Behind: o.Behind, After: o.After, Loss: uint64(o.Selection.last), Worth: o.Worth, Verdict: v}
}

// KeptPairs are the pairs that the fold keeps. Only what Choose returned knows
// them.
func (o *Option) KeptPairs() []Pair { return o.from.Pairs[:o.Divergence] }

// head is the size of the history after the fold, in tokens.
func (o *Option) head() int { return o.After - o.Behind + o.PairTokens }

// option works out the fold that keeps the first kept pairs. If it is over the
// limit with compartments that stay raw, they are rendered too: what stays raw
// may keep a large user message in view.
func (m *Material) option(kept, budget, target, limit int, s Settings) Option {
	n := len(m.New)
	for i := range m.Pairs[kept:] {
		n += len(m.Pairs[kept+i].Candidates)
	}
	candidates := make([]Candidate, 0, n)
	for i := range m.Pairs[kept:] {
		candidates = append(candidates, m.Pairs[kept+i].Candidates...)
	}
	candidates = append(candidates, m.New...)
	o := m.selected(kept, candidates, budget, target, s)
	if limit == 0 || o.After <= limit || o.Raw == 0 {
		return o
	}
	for i := range candidates {
		candidates[i].NotRaw = true
	}
	if rendered := m.selected(kept, candidates, budget, target, s); rendered.After < o.After {
		rendered.NotRaw = true
		return rendered
	}
	return o
}

func (m *Material) selected(kept int, candidates []Candidate, budget, target int, s Settings) Option {
	o := Option{Divergence: kept, Candidates: candidates, Rest: m.Rest, Saves: m.Saves}
	for i := range m.Pairs[:kept] {
		o.Kept += m.Pairs[i].Layout.Tokens
		o.Held += m.Pairs[i].Held
	}
	raw := o.withinShare(budget, target, s)
	o.Worth = o.Selection.worth + m.spared(kept, len(candidates), s)
	o.Behind = o.PairTokens + raw + m.Tail + m.Keeps[max(0, len(m.New)-o.Raw)]
	o.After = o.Kept + o.Behind
	return o
}

// spared is the value of what the first kept pairs show, with so many candidates
// behind them.
func (m *Material) spared(kept, behind int, s Settings) (worth int64) {
	for i := kept - 1; i >= 0; i-- {
		candidates := m.Pairs[i].Candidates
		worth += appliedWorth(candidates, behind, s)
		behind += len(candidates)
	}
	return worth
}

// appliedWorth is the value of candidates as they are applied, with so many newer
// ones behind them.
func appliedWorth(candidates []Candidate, behind int, s Settings) (worth int64) {
	points := make([]point, 0, 8)
	for i := range candidates {
		var below point
		points, below = legalPoints(points[:0], &candidates[i], len(candidates)-1-i+behind, 1, s)
		for _, p := range append(points, below) {
			if p.tier == candidates[i].Applied {
				worth += p.value
				break
			}
		}
	}
	return worth
}

// choose selects and lays out the new pair of an option whose candidates and
// kept pairs are known. It returns the tokens of the candidates that stay raw.
func (o *Option) choose(budget, target int, s Settings) (raw int) {
	opening := o.opening()
	o.Target = budget - o.Kept - o.Held - opening
	list := demotionsOf(o.Candidates, groupSize(len(o.Candidates), o.Target), s)
	o.Selection = list.take(o.Candidates, o.Target, s)
	if o.Selection.last > 0 { // something had to give: make room for a while
		o.Target = target - o.Kept - o.Held - opening
		if group := groupSize(len(o.Candidates), o.Target); group != list.group {
			list = demotionsOf(o.Candidates, group, s)
		}
		o.Selection = list.take(o.Candidates, o.Target, s)
	}
	o.Fits = o.Selection.Fits()
	o.Items, o.PairTokens = Layout(o.Candidates, o.Selection)
	o.PairTokens += opening
	if len(o.Items) == 0 {
		o.PairTokens = 0
	} else if len(o.Rest) > 0 {
		o.Items = append([]compartments.Item{{Pins: o.Rest, Tokens: awayTokens}}, o.Items...)
	}
	for i := len(o.Candidates) - 1; i >= 0 && o.Selection.Tiers[i] == compartments.TierRaw; i-- {
		raw += o.Candidates[i].raw()
		o.Raw++
	}
	return raw
}

// opening is the most tokens that the new pair takes besides its entries.
func (o *Option) opening() int {
	if len(o.Candidates) == 0 {
		return 0 // there is none
	}
	n := Preamble(o.Divergence == 0)
	if len(o.Rest) > 0 {
		n += awayTokens
	}
	return n
}

// Moment is what the timing of a fold depends on. Counts are tokens.
type Moment struct {
	Messages    int  // of the next request without a fold
	Growth      int  // behind the head since the last fold
	PerStep     int  // growth a step, mean since the last fold
	TurnStart   bool // the newest message is a real user message
	Turn        int  // of the running turn
	LargestTurn int  // of the last turns
	Cold        bool // the cache is cold or another model's
	Overflowed  bool // the provider refused the last request as too long
	Stale       bool // applied bytes became false
	Asked       bool // the user asked for a fold
	Pending     bool // pins were set or ended that the head does not show yet
	Prices      compartments.Prices
}

// Forced reports whether a fold must happen now whatever it costs.
func (m Moment) Forced(w Window, s Settings) (compartments.Reason, bool) {
	switch {
	case m.Stale:
		return compartments.ReasonStale, true
	case m.Overflowed:
		return compartments.ReasonOverflow, true
	case Pressure(m.Messages, w.Usable) >= s.ForceMark:
		return compartments.ReasonForced, true
	}
	return "", false
}

// Ripe reports whether a fold that nothing forces can be worthwhile at all,
// before one is worked out: tail is the least that stays behind any divergence.
// Where it is false, Worthwhile is false for every option.
func (m Moment) Ripe(tail int, w Window, s Settings) bool {
	switch {
	case m.Pending && (m.Asked || m.Cold):
		return true
	case m.Messages-tail < LeastGain(w.Usable, s):
		return false
	case m.Asked:
		return true
	case s.Ablate.without(AblateEconomics):
		return m.Growth >= AblatedSpacing
	case !m.TurnStart && m.Turn <= share(w.Usable, s.TurnShare):
		return false
	case m.free(s), m.turnAhead(w, s):
		return true
	}
	return m.pays(Spacing(tail, m.PerStep, m.Prices), s)
}

// free reports a moment at which folding costs nothing extra.
func (m Moment) free(s Settings) bool { return m.Cold && s.Prefer != PreferView }

// turnAhead reports whether a turn like the largest of late would reach the force
// mark.
func (m Moment) turnAhead(w Window, s Settings) bool {
	return m.TurnStart && Pressure(m.Messages+m.LargestTurn, w.Usable) >= s.ForceMark
}

// turnAheadGain is the share of what it writes again that a fold ahead of a turn
// must free, as a divisor: most turns are smaller than the largest of late, and a
// fold that frees little is made again soon.
const turnAheadGain = 4

// pays reports whether the session grew by the cheapest spacing.
func (m Moment) pays(spacing int, s Settings) bool {
	return s.Prefer != PreferView && spacing > 0 && m.Growth >= spacing
}

// Worthwhile reports whether a fold that nothing forces should happen now, with
// the cheapest growth between folds that it used.
func (m Moment) Worthwhile(o Option, w Window, s Settings) (reason compartments.Reason, spacing int, ok bool) {
	gain := m.Messages - o.After
	spacing = Spacing(o.Behind, m.PerStep, m.Prices)
	if free := m.Asked || m.Cold; m.Pending && free && Pressure(o.After, w.Usable) < s.ForceMark {
		if m.Asked {
			return compartments.ReasonAsked, spacing, true
		}
		return compartments.ReasonCold, spacing, true // at a free moment pins need no gain
	}
	if len(o.Items) == 0 && o.Saves <= 0 || gain < LeastGain(w.Usable, s) {
		return "", spacing, false
	}
	switch {
	case m.Asked:
		return compartments.ReasonAsked, spacing, true
	case s.Ablate.without(AblateEconomics):
		return compartments.ReasonPays, AblatedSpacing, m.Growth >= AblatedSpacing
	case !m.TurnStart && m.Turn <= share(w.Usable, s.TurnShare):
		return "", spacing, false
	case m.free(s):
		return compartments.ReasonCold, spacing, true
	case m.turnAhead(w, s) && gain >= o.Behind/turnAheadGain:
		return compartments.ReasonTurnAhead, spacing, true
	case m.pays(spacing, s):
		return compartments.ReasonPays, spacing, true
	}
	return "", spacing, false
}

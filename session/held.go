package session

import (
	"fmt"
	"slices"

	"ctxplugin/compartments"
	"ctxplugin/decay"
)

// unfading reports whether policy, of which the floors hold unless they are eased,
// leaves a compartment nothing but its messages.
func (se *Session) unfading(c *compartments.Compartment, eased bool) bool {
	var least compartments.Survival
	if !eased {
		least = se.cfg.Settings.Floor()
	}
	if c.Retention != compartments.Pinned && c.Floor == (compartments.Floor{}) && least == (compartments.Survival{}) {
		return len(c.Tiers) == 0
	}
	return len(c.LegalUnder(least)) == 1
}

// spared reports whether a part may not become a stub while anything else can:
// it is pinned.
func (se *Session) spared(o compartments.Ordinal, part int) bool {
	for i := range se.pins {
		p := &se.pins[i]
		if !p.Ended && !p.Lost && p.Ordinal == o && slices.ContainsFunc(p.Spans, func(s compartments.PinSpan) bool { return s.Part == part }) {
			return true
		}
	}
	class, _ := compartments.ClassOf([]compartments.Ordinal{o}, se.pins)
	return class == compartments.Pinned
}

// seams are the places where a range with a class of its own begins or ends: no
// compartment should reach over one. Groups of calls stay whole.
func (se *Session) seams() []int {
	var out []int
	for i := range se.pins {
		p := &se.pins[i]
		if p.Ended || p.Words() {
			continue
		}
		first, last := -1, -1
		for o := p.First; o <= p.Last; o++ {
			if place := se.view.place[o-1]; place >= 0 {
				if first < 0 || place < first {
					first = place
				}
				last = max(last, place)
			}
		}
		if first < 0 {
			continue
		}
		for first > se.view.start && !se.mayCut(&se.view, first) {
			first--
		}
		for last++; last < len(se.view.order) && !se.mayCut(&se.view, last); {
			last++
		}
		out = append(out, first, last)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// keptRaw lists the messages that a layout names as kept raw, and the user messages
// of the turns that they belong to, by place.
func (se *Session) keptRaw(layout []compartments.PairLayout) []compartments.Ordinal {
	var out []compartments.Ordinal
	for i := range layout {
		for _, item := range layout[i].Items {
			if item.Tier != compartments.TierRaw {
				continue
			}
			for _, id := range item.Compartments {
				if c := se.all[id]; c != nil {
					out = se.keepWhole(out, c)
				}
			}
		}
	}
	return out
}

// keepWhole adds the messages of a compartment to those that are kept.
func (se *Session) keepWhole(keep []compartments.Ordinal, c *compartments.Compartment) []compartments.Ordinal {
	v := &se.view
	add := func(place int) {
		if place >= v.hidden && place >= 0 && !slices.Contains(keep, v.order[place]) {
			keep = append(keep, v.order[place])
		}
	}
	if place := v.place[c.First-1]; place >= v.hidden && place >= 0 {
		turn := se.turnUser(v, place)
		if add(turn); turn < 0 && v.hidden > 0 && !slices.Contains(keep, se.list[0]) {
			keep = append(keep, se.list[0]) // no user message is left but the host's request to summarise
		}
	}
	for _, m := range c.Members {
		add(v.place[m-1])
	}
	return keep
}

// keptWith is all that stays raw before a place: what kept names, and what is
// held there.
func (se *Session) keptWith(through int, held []compartments.Ordinal) []compartments.Ordinal {
	keep := se.kept(through)
	for _, o := range held {
		if se.view.place[o-1] < through && !slices.Contains(keep, o) {
			keep = append(keep, o)
		}
	}
	se.sortByPlace(keep)
	return keep
}

func (se *Session) sortByPlace(list []compartments.Ordinal) {
	slices.SortFunc(list, func(a, b compartments.Ordinal) int { return se.view.place[a-1] - se.view.place[b-1] })
}

// holding reports whether anything is pinned, or was and shows still, or a policy
// may forbid tiers: otherwise nothing need be looked at.
func (se *Session) holding() bool {
	if len(se.pins) > 0 || se.cfg.Settings.Floors != [compartments.Dimensions]int{} {
		return true
	}
	for i := range se.st.Layout {
		for _, item := range se.st.Layout[i].Items {
			if len(item.Pins) > 0 || item.Tier == compartments.TierRaw || item.Tier == compartments.TierNone {
				return true
			}
		}
	}
	return false
}

// hold works out what pins and floors mean for the material of a fold: which
// words stand where, what is put away, which pairs show something else.
func (p *pass) hold(m *decay.Material) {
	p.away, p.eased = nil, nil
	if !p.holding() {
		return
	}
	words := map[compartments.Ordinal][]decay.Shown{}
	for i := range p.pins {
		if pin := &p.pins[i]; pin.Words() && !pin.Ended && !pin.Lost {
			words[pin.Ordinal] = append(words[pin.Ordinal], decay.ShowPin(pin, p.cfg.Count))
		}
	}
	var all []decay.Candidate
	for i := range m.Pairs {
		all = append(all, m.Pairs[i].Candidates...)
	}
	all = append(all, m.New...)
	for i := range all {
		c := all[i].Compartment
		for _, o := range c.Members {
			all[i].Pins = append(all[i].Pins, words[o]...)
		}
		// what the host itself does not send cannot be kept, nor what no user message leads
		if p.v.place[c.Last-1] < p.v.hidden || !p.led(p.v, p.v.place[c.First-1]) {
			all[i].Away = p.unfading(c, true)
			all[i].Eased = !all[i].Away && p.unfading(c, false)
		}
	}
	stays := m.Tail + p.keptTokens(p.reach(m), nil)
	m.Rest = decay.Yield(all, decay.Room{Held: p.holdRoom(), Floors: decay.FloorRoom(decay.ForcedBudget(stays, p.w, p.settings()))}, p.settings())
	p.away, p.eased = map[compartments.CompartmentID]bool{}, map[compartments.CompartmentID]bool{}
	for i := range all {
		if all[i].Away {
			p.away[all[i].Compartment.ID] = true
		}
		if all[i].Eased {
			p.eased[all[i].Compartment.ID] = true
		}
	}
	at := 0
	for i := range m.Pairs {
		n := copy(m.Pairs[i].Candidates, all[at:])
		at += n
		m.Pairs[i].Held = p.heldTokens(m.Pairs[i].Candidates)
		if m.Unsettled == 0 && !p.settled(&m.Pairs[i]) {
			m.Unsettled = len(m.Pairs) - i
		}
	}
	copy(m.New, all[at:])
}

// heldTokens is what the messages of candidates weigh that are kept raw.
func (p *pass) heldTokens(candidates []decay.Candidate) int {
	n := 0
	for i := range candidates {
		if c := &candidates[i]; !c.Away && p.unfading(c.Compartment, c.Eased) {
			n += c.Compartment.RawTokens
		}
	}
	return n
}

// settled reports whether a pair shows the pins that it should, and nothing that
// may not fade in another form than it should.
func (p *pass) settled(pair *decay.Pair) bool {
	at := map[compartments.CompartmentID]*compartments.Item{}
	for i := range pair.Layout.Items {
		item := &pair.Layout.Items[i]
		for _, id := range item.Compartments {
			at[id] = item
		}
	}
	shown := map[*compartments.Item]int{}
	for i := range pair.Candidates {
		c := &pair.Candidates[i]
		item := at[c.Compartment.ID]
		if item == nil {
			if c.Away || len(c.Pins) > 0 || p.unfading(c.Compartment, c.Eased) {
				return false
			}
			continue
		}
		want := item.Tier
		switch {
		case c.Away:
			want = compartments.TierNone
		case p.unfading(c.Compartment, c.Eased):
			want = compartments.TierRaw
		case item.Tier == compartments.TierRaw, item.Tier == compartments.TierNone:
			return false
		}
		if item.Tier != want || !c.Allows(item.Tier, p.settings()) {
			return false
		}
		if item.Tier == compartments.TierRaw {
			continue // its words are among the messages
		}
		for _, s := range c.Pins {
			n := shown[item]
			if n >= len(item.Pins) || item.Pins[n] != s.ID {
				return false
			}
			shown[item] = n + 1
		}
	}
	for i := range pair.Layout.Items {
		if item := &pair.Layout.Items[i]; len(item.Compartments) > 0 && len(item.Pins) != shown[item] {
			return false
		}
	}
	return true
}

// unsettled reports whether the head shows other pins than it should.
func (p *pass) unsettled() bool {
	if len(p.st.Layout) == 0 || !p.holding() {
		return false
	}
	m := p.material(p.tailCut(p.v, decay.Tail(p.w.Usable, p.settings())))
	return m.Unsettled > 0
}

// holdRoom is what may be held at most, in tokens: what a forced fold aims at,
// without the least tail, its results as stubs, and a little history. More would
// leave the next turns no room to grow.
func (p *pass) holdRoom() int {
	cut := p.tailCut(p.v, 0)
	room := p.w.Usable*p.settings().ForceAim/1000 - min(p.settings().HistoryMin/2, p.w.Usable/4)
	for i := cut; i < len(p.v.order); i++ {
		room -= p.leastOf(p.v.order[i])
	}
	for _, o := range p.kept(cut) {
		room -= p.leastOf(o)
	}
	return max(0, room)
}

// leastOf is what a message weighs with its results as stubs, in tokens.
func (p *pass) leastOf(o compartments.Ordinal) int {
	e := p.entry(o)
	n := e.Tokens()
	most := decay.StubTokens(p.settings().StubPreview) + callTokens
	for _, z := range e.Sizes {
		if (z.Kind == compartments.PartTool && !z.Status.Open() || e.Role == compartments.RoleTool && z.Kind == compartments.PartText) && z.Tokens > most {
			n -= z.Tokens - most
		}
	}
	return n
}

// tellOfPins tells the user once when what is pinned takes more than the budget
// of the history.
func (p *pass) tellOfPins(candidates []decay.Candidate, pairs []decay.Pair) {
	n := 0
	count := func(candidates []decay.Candidate) {
		for i := range candidates {
			c := &candidates[i]
			if !c.Away && p.unfading(c.Compartment, true) {
				n += c.Compartment.RawTokens
			}
			for _, s := range c.Pins {
				n += s.Tokens
			}
		}
	}
	count(candidates)
	for i := range pairs {
		count(pairs[i].Candidates)
	}
	over := n > p.w.Budget
	if over && !p.st.PinsTold {
		p.tell("warning", "what is pinned takes more than the history budget, so all else of the history shrinks: ctxplugin pins shows it, ctxplugin unpin ends a pin")
	}
	p.st.PinsTold = over
}

// tellOfFloors tells the user once that a head shows compartments below the floors,
// because the budget of the history does not hold them.
func (p *pass) tellOfFloors(layout []compartments.PairLayout) {
	floor := p.cfg.Settings.Floor()
	all, below := 0, 0
	for i := range layout {
		for _, item := range layout[i].Items {
			all += len(item.Compartments)
			below += len(item.Eased)
		}
	}
	if below == 0 || p.st.FloorsTold == floor {
		return
	}
	p.st.FloorsTold = floor
	p.tell("warning", fmt.Sprintf("the floors (%s) are too high for a history budget of %d tokens, of which they may hold %d: "+
		"%d of %d compartments are shown below them; ctxplugin explain marks these. Lower the floors, or raise historyShare or historyLeast",
		decay.FloorNames(floor), p.w.Budget, decay.FloorRoom(p.w.Budget), below, all))
}

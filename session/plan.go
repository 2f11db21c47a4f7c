package session

import (
	"slices"

	"ctxplugin/compartments"
)

// planOf is the plan that shows a layout and drops what stands before a place.
func (se *Session) planOf(layout []compartments.PairLayout, through int) compartments.Plan {
	var plan compartments.Plan
	for i, pair := range layout {
		plan.Head = append(plan.Head, compartments.Pair{Text: pair.Text, CacheMark: i == len(layout)-1})
	}
	if through <= se.view.start {
		return plan
	}
	plan.Through = se.entry(se.view.order[through-1]).ID
	if through <= se.view.hidden {
		plan.Through = se.entry(se.list[1]).ID
	}
	for _, o := range se.keptWith(through, se.keptRaw(layout)) {
		plan.Keep = append(plan.Keep, se.entry(o).ID)
	}
	return plan
}

// setPlan makes a plan the one in force.
func (se *Session) setPlan(plan compartments.Plan) (err error) {
	se.plan = plan
	se.planID, se.encoded, err = plan.Encode()
	se.weighEdits()
	return err
}

// kept lists the messages that stay raw although they stand before a place: the
// newest real user message, and the user message of the turn in which what
// follows begins; in a child session the first one too, which is its order from
// the parent. Where the host's own summary is not replaced it stays as well.
func (se *Session) kept(through int) []compartments.Ordinal {
	v := &se.view
	var keep []compartments.Ordinal
	add := func(place int) {
		if place >= v.hidden && place < through && !slices.Contains(keep, v.order[place]) {
			keep = append(keep, v.order[place])
		}
	}
	for place := range v.start {
		add(place)
	}
	if len(v.order) > 0 {
		turn := v.users[len(v.users)-1] // something must follow the head
		if through < len(v.order) {
			turn = se.turnUser(v, through)
		}
		if add(turn); turn < 0 && v.hidden > 0 {
			keep = append(keep, se.list[0]) // no user message is left but the host's request to summarise
		}
	}
	add(se.turnStart(v))
	if se.parent != "" {
		add(v.task)
	}
	slices.SortFunc(keep, func(a, b compartments.Ordinal) int { return v.place[a-1] - v.place[b-1] })
	return keep
}

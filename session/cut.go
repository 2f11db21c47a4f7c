package session

import "ctxplugin/compartments"

// turnStart is the place of the newest real user message, or -1.
func (se *Session) turnStart(v *view) int {
	if v.first < 0 {
		return -1
	}
	return v.users[len(v.users)-1]
}

// result reports whether a result that is a message of its own stands at a
// place: what stands before it belongs to it.
func (se *Session) result(v *view, place int) bool {
	return place < len(v.order) && se.entry(v.order[place]).Role == compartments.RoleTool
}

// severed reports whether what ends before a place is cut off from a result that
// belongs to it. A result that begins a compartment lost its call before that
// was written, and one behind what the host hides lost it there: both belong to
// nothing.
func (se *Session) severed(v *view, place int) bool {
	return se.result(v, place) && place != v.hidden && !se.begins[v.order[place]]
}

// mayCut reports whether the list may be cut before a place: never between a
// call and results that are messages of their own, and never between machine
// text and the user message right behind it.
func (se *Session) mayCut(v *view, place int) bool {
	if place <= 0 || place >= len(v.order) {
		return true
	}
	if se.result(v, place) {
		return false
	}
	e := se.entry(v.order[place])
	before := se.entry(v.order[place-1])
	return !(e.Role == compartments.RoleUser && before.Role == compartments.RoleUser && !before.Real && !before.Compact)
}

// tailStretch is what part of its share the tail may take beyond it for the sake
// of whole turns, as a divisor.
const tailStretch = 3

// tailCut is the place where the protected tail begins: behind it stand the
// newest step, every message after it, further raw steps of up to extra tokens,
// and a third as much again where the newest few turns are whole with it. A call that is open before the newest step is dead and protects
// nothing. The newest real user message is protected too, but by being kept, so
// that a long turn has places to cut. What the host hides is never in the tail.
func (se *Session) tailCut(v *view, extra int) int {
	n := len(v.order)
	least := min(n, max(v.hidden, v.start))
	cut := n
	for cut > least { // newest step, and what follows it
		cut--
		if e := se.entry(v.order[cut]); e.Role == compartments.RoleAssistant {
			break
		}
	}
	for cut > least && !se.mayCut(v, cut) {
		cut--
	}
	used, best, turns := 0, cut, 0
	user := se.turnUser(v, cut)
	for i := cut - 1; i >= least; i-- {
		// beyond the share only whole turns, as long as they are few
		if used += se.tokensAt(v, i); used > extra+extra/tailStretch {
			break
		}
		real := se.entry(v.order[i]).Real
		if real {
			turns++
		}
		if used > extra {
			if real && turns <= se.cfg.Settings.TailTurns && se.mayCut(v, i) {
				best = i
			}
			continue
		}
		if i <= user {
			user = se.turnUser(v, i)
		}
		kept := 0 // a cut inside a turn keeps the user message that began it
		if user >= 0 && user < i {
			kept = se.entry(v.order[user]).Tokens()
		}
		if used+kept <= extra && se.mayCut(v, i) {
			best = i
		}
	}
	return best
}

// led reports whether what stands from a place on may follow a head: it begins
// with a user message, or one from before it can stay in front of it. It does
// not where a session begins with replies. At the end some user message must be
// left to follow.
func (se *Session) led(v *view, place int) bool {
	n := len(v.order)
	switch {
	case v.start > 0, v.hidden > 0, n == 0:
		return true
	case place >= n:
		return v.users[n-1] >= 0
	}
	return se.turnUser(v, place) >= 0
}

// turnUser is the place of the user message of the turn that the message at a
// place belongs to: itself if it is one, or the nearest before it, a real one if
// there is one; -1 if there is none.
func (se *Session) turnUser(v *view, place int) int {
	if place >= len(v.order) || se.entry(v.order[place]).Role == compartments.RoleUser {
		return place
	}
	return v.users[place]
}

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"ctxplugin/compartments"
	"ctxplugin/historian/draft"
	"ctxplugin/historian/ledger"
	"ctxplugin/sqlite"
)

// historianLine says in one line what the models do for a session and why not.
func (s *service) historianLine(ctx context.Context, b *backing, id compartments.SessionID) string {
	line := strings.Join(modelNames(s.config.Models), ", then ") + ": "
	if b.folder != "" {
		return line + "not asked while the database cannot be used; built-in meanwhile"
	}
	now := time.Now().UnixMilli()
	doing, err := s.doingText(ctx, b.store, id, now)
	if err != nil {
		return line + err.Error()
	}
	spent, err := b.store.SpentSince(ctx, ledger.DayOf(now))
	if err != nil {
		return line + err.Error()
	}
	return line + doing + s.spentText(spent)
}

func modelNames(models []modelChoice) []string {
	names := make([]string, len(models))
	for i := range models {
		names[i] = models[i].name()
	}
	return names
}

// doingText is what goes on for a session, or why nothing does, or what the last
// call came to.
func (s *service) doingText(ctx context.Context, store *sqlite.Store, id compartments.SessionID, now int64) (string, error) {
	s.mu.Lock()
	state := s.states[id]
	s.mu.Unlock()
	if state.Doing != "" {
		return state.Doing + " since " + lasted(now-state.Since), nil
	}
	calls, err := store.Calls(ctx, id, 1)
	if err != nil {
		return "", err
	}
	lease, err := s.leaseOf(ctx, store, id, now)
	if err != nil {
		return "", err
	}
	why, all, err := s.holds(ctx, store, now)
	if err != nil {
		return "", err
	}
	if asks := len(calls) > 0 && calls[0].Verdict == compartments.CallAsked; lease != nil && (asks || !all && s.host != nil) {
		return s.leasedText(lease, calls, now), nil
	}
	leased := ""
	if lease != nil {
		leased = ", " + s.leasedText(lease, nil, now)
	}
	switch {
	case all:
		return strings.Join(why, ", ") + "; built-in meanwhile", nil
	case len(why) > 0:
		return strings.Join(why, ", "), nil
	case len(calls) == 0:
		return "not asked yet" + leased, nil
	}
	c := &calls[0]
	if c.Verdict == compartments.CallAsked && state.Text != "" && state.Verdict == compartments.CallHeld {
		return state.Text + "; built-in meanwhile", nil // what came of it could not be recorded
	}
	if c.Verdict == compartments.CallAsked {
		return fmt.Sprintf("last call %s, messages %d-%d, its process ended before the reply", clockOf(c.At), c.First, c.Last), nil
	}
	text := fmt.Sprintf("last call %s, messages %d-%d, %s", clockOf(c.At), c.First, c.Last, c.Verdict)
	if c.Verdict != compartments.CallGood && c.Detail != "" {
		text += " (" + c.Detail + ")"
	}
	return text + leased, nil
}

// leaseOf is the lease of a session that another process has at a time, nil if none
// has.
func (s *service) leaseOf(ctx context.Context, store *sqlite.Store, id compartments.SessionID, now int64) (*compartments.Lease, error) {
	leases, err := store.Leases(ctx)
	if err != nil {
		return nil, err
	}
	for i := range leases {
		if l := &leases[i]; l.Session == id && l.Until > now && l.Holder != s.holder {
			return l, nil
		}
	}
	return nil, nil
}

// leasedText says what another process does that has the lease. It may have been
// killed: then the lease ends.
func (s *service) leasedText(l *compartments.Lease, calls []compartments.Call, now int64) string {
	until := time.UnixMilli(l.Until).UTC().Format("15:04:05 UTC")
	asks := ""
	if len(calls) > 0 && calls[0].Verdict == compartments.CallAsked {
		asks = underWay(&calls[0], now)
	}
	switch {
	case s.host == nil && asks != "":
		return asks + ", under a lease until " + until
	case s.host == nil:
		return "another process has the lease until " + until
	case asks != "":
		return "waiting for another process' lease until " + until + ", which is " + asks
	}
	return "waiting for another process' lease until " + until
}

// underWay says which model is asked for what and since when.
func underWay(c *compartments.Call, now int64) string {
	m := modelChoice{Backend: c.Backend, Model: c.Model}
	return draft.Asking(m.name(), c.First, c.Last) + " since " + lasted(now-c.At)
}

// holds says why models are not asked, and whether that is so of all.
func (s *service) holds(ctx context.Context, store *sqlite.Store, now int64) (why []string, all bool, err error) {
	breakers, err := store.Breakers(ctx)
	if err != nil {
		return nil, false, err
	}
	held, err := store.Holds(ctx)
	if err != nil {
		return nil, false, err
	}
	spent, err := store.SpentSince(ctx, ledger.DayOf(now))
	if err != nil {
		return nil, false, err
	}
	n := 0
	for i := range s.config.Models {
		text := ""
		m := &s.config.Models[i]
		setup := m.setup()
		for _, b := range breakers {
			if b.Backend == m.Backend && b.Model == m.Model && b.Setup == setup {
				text = ledger.Why(b, now)
			}
		}
		for _, h := range held {
			if text == "" && h.Backend == m.Backend && h.Model == m.Model && h.Setup == setup {
				text = s.heldText(&h, spent, now)
			}
		}
		if text != "" {
			n++
		}
		if text != "" && !slices.Contains(why, text) {
			why = append(why, text)
		}
	}
	return why, n > 0 && n == len(s.config.Models), nil
}

// slowReady reports whether a model can be asked for more than what is due: nothing
// holds it, and it has not failed since it last wrote.
func (s *service) slowReady(ctx context.Context, store *sqlite.Store) bool {
	breakers, err := store.Breakers(ctx)
	if err != nil {
		return false
	}
	held, err := store.Holds(ctx)
	if err != nil {
		return false
	}
	now := time.Now().UnixMilli()
	spent, err := store.SpentSince(ctx, ledger.DayOf(now))
	if err != nil {
		return false
	}
	return slices.ContainsFunc(s.config.Models, func(m modelChoice) bool {
		setup := m.setup()
		return !slices.ContainsFunc(breakers, func(b compartments.ModelBreaker) bool {
			return b.Backend == m.Backend && b.Model == m.Model && b.Setup == setup
		}) && !slices.ContainsFunc(held, func(h compartments.ModelHold) bool {
			return h.Backend == m.Backend && h.Model == m.Model && h.Setup == setup && s.heldText(&h, spent, now) != ""
		})
	})
}

// heldText is why a call like the one that was not made would not be made at a time;
// empty if it would.
func (s *service) heldText(h *compartments.ModelHold, spent compartments.Spent, now int64) string {
	if h.Verdict != compartments.CallCap {
		return h.Text
	}
	return s.limits().Hold(&compartments.Call{At: now, Usage: compartments.Usage{Input: h.Tokens}, Cost: h.Cost}, spent).Text
}

// spentText is what models took today.
func (s *service) spentText(spent compartments.Spent) string {
	text := ""
	if spent.Calls > 0 {
		text = fmt.Sprintf("; today %s, %s tokens, %s", counted(spent.Calls, "call"), grouped(spent.Tokens), ledger.Money(spent.Cost))
	}
	if l := s.limits(); spent.Tokens >= l.Tokens || spent.Cost > 0 && spent.Cost >= l.Cost {
		text += "; the cap of the day is reached: built-in until tomorrow"
	}
	return text
}

// lasted is a time that has passed, for people.
func lasted(ms int64) string {
	switch s := max(ms, 0) / 1000; {
	case s < 120:
		return fmt.Sprintf("%d s", s)
	case s < 120*60:
		return fmt.Sprintf("%d min", s/60)
	default:
		return fmt.Sprintf("%d h", s/3600)
	}
}

// clockOf is a time of the day.
func clockOf(ms int64) string { return time.UnixMilli(ms).UTC().Format("15:04 UTC") }

// chosen reports whether the settings name a model, however it is reached.
func (s *service) chosen(b *compartments.ModelBreaker) bool {
	return slices.ContainsFunc(s.config.Models, func(m modelChoice) bool { return m.Backend == b.Backend && m.Model == b.Model })
}

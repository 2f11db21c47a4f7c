package session

import (
	"context"
	"maps"
	"slices"
	"time"

	"ctxplugin/compartments"
	"ctxplugin/decay"
)

// standing says how long the plan in force is the answer; nil where the next request
// has to ask. decided says that a fold was just decided on for where the next turn
// begins.
func (p *pass) standing(decided bool) *Standing {
	if p.version == 0 || p.req.Sent && p.req.Applied != p.planID || p.now <= 1 {
		return nil // nothing is stored, that request went out with another plan, or no clock runs
	}
	o := decay.Outlook{Decided: decided}
	for i := p.tailCut(p.v, decay.Tail(p.w.Usable, p.settings())); i < len(p.v.order); i++ {
		o.After += p.tokensAt(p.v, i)
	}
	o.Behind = o.After
	if p.weighed != nil {
		o.After, o.Behind = p.weighed.After, p.weighed.Behind
	}
	cautious := p.cal.Cautious()
	o.Fits = uncalibrate(cautious, p.w.Context-p.w.Reserve-cautious.Apply(p.w.Fixed))
	how := p.moment().Standing(o, p.w, p.settings())
	if how == (decay.Standing{}) {
		return nil
	}
	return &Standing{Rev: p.prefix[len(p.list)].String(), Standing: how, Until: p.now + p.ttl()}
}

// News is a plan that came into force between two requests, or word that the host must
// not take the last one for known any more: then Standing is nil.
type News struct {
	Session  compartments.SessionID
	PlanID   string
	Plan     []byte // the plan's JSON with its id; nil if the host knows it
	Standing *Standing

	Forgotten bool // the session was: nothing that was made of it may be sent any more
}

// ahead decides, when a turn has ended, what would be decided where the next one
// begins. A fold goes into the batch. What nobody would be told of, what a request has
// to force, and a turn whose end is not in the list yet are left to the request.
func (se *Session) ahead(ctx context.Context, batch *compartments.Batch) (News, error) {
	p, ok := se.nextPass(0)
	if !ok || !se.over() || !se.st.Applied || se.st.Overflow || se.st.Asked || !se.cfg.TakesPlans() {
		return News{}, nil
	}
	p.toCome = 1
	m := p.moment().NextTurn()
	if _, forced := m.Forced(p.w, p.settings()); forced {
		return News{}, nil
	}
	p.inputs.Replaces = p.planID
	p.note(m)
	if m.Ripe(0, p.w, p.settings()) {
		se.touched = true
		if err := p.perhaps(ctx, batch, m); err != nil {
			return News{}, err
		}
		p.unthin()
		p.seal(batch.Fold)
		se.touched = batch.Fold != nil
	}
	news := News{Session: se.id, PlanID: se.planID, Standing: p.standing(true)}
	if batch.Fold != nil {
		se.st.Ahead = true
		news.Plan = compartments.WithID(se.planID, se.encoded)
	}
	return news, nil
}

// over reports whether the list ends with the message that ends a turn.
func (se *Session) over() bool {
	n := len(se.list)
	if n == 0 {
		return false
	}
	e := se.entry(se.list[n-1])
	return e.Role == compartments.RoleAssistant && !slices.ContainsFunc(e.Sizes, func(z compartments.Size) bool { return z.Kind == compartments.PartTool })
}

// tellPlan gives the host a plan that is committed. The session is held.
func (s *Sessions) tellPlan(se *Session, news News) {
	s.stands(se, news.Standing)
	s.cfg.Planned(news)
}

// stands notes that the host takes the plan for known. The session is held.
func (s *Sessions) stands(se *Session, how *Standing) {
	if !s.cfg.TakesPlans() {
		return
	}
	lasts := time.Duration(how.Until-se.st.Now) * time.Millisecond
	se.knownFor = int(lasts/s.cfg.LookEvery) + 1
	select {
	case s.known <- struct{}{}:
	default:
	}
}

// outdated tells the host that it has to ask, and with forgotten that it must not go
// on with the plan that it has.
func (se *Session) outdated(forgotten bool) {
	if se.knownFor > 0 {
		se.knownFor = 0
		se.cfg.Planned(News{Session: se.id, Forgotten: forgotten})
	}
}

// look finds out what other processes change while the host takes a plan for known:
// most of them are commands that the user gave.
func (s *Sessions) look() {
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-s.known:
		}
		ticker := time.NewTicker(s.cfg.LookEvery)
		for s.lookOnce() {
			select {
			case <-s.ctx.Done():
				ticker.Stop()
				return
			case <-ticker.C:
			}
		}
		ticker.Stop()
	}
}

// lookOnce reports whether there is still something to look at. No session is held
// while the store is read.
func (s *Sessions) lookOnce() bool {
	more := false
	for _, l := range s.lookedAt(&more) {
		v, err := s.cfg.Store.Version(s.ctx, l.se.id)
		if err != nil || v == l.version || !s.try(l.se) {
			continue // whoever works on it learns of changes at its commit
		}
		if l.se.version == l.version {
			l.se.outdated(v == 0)
		}
		s.release(l.se)
	}
	return more
}

// looking is a session whose plan the host takes for known, and the version that it is of.
type looking struct {
	se      *Session
	version int64
}

// lookedAt lists the sessions to look at now, and says whether there will be some later.
func (s *Sessions) lookedAt(more *bool) (now []looking) {
	s.mu.Lock()
	open := slices.Collect(maps.Values(s.open))
	s.mu.Unlock()
	for _, se := range open {
		if !s.try(se) {
			*more = true
			continue
		}
		if se.knownFor > 0 {
			se.knownFor--
			*more = true
			now = append(now, looking{se, se.version})
		}
		s.release(se)
	}
	return now
}

// try takes the gate of a session if nobody has it.
func (s *Sessions) try(se *Session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case se.gate <- struct{}{}:
		se.held++
		return true
	default:
		return false
	}
}

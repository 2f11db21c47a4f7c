package trajectory

import (
	"strings"

	"ctxplugin/compartments"
	"ctxplugin/decay"
)

// knowing marks the policies that are told what will be needed.
type knowing interface{ knows() }

// need is what the work needs before the next fold.
type need struct {
	probes  []*Probe // those that no message in view answers
	answers func(c *compartments.Compartment, t compartments.Tier, p *Probe) bool
	fold    *compartments.Fold
}

// need gathers the probes from a request on to the next fold.
func (p *Played) need(n int, ours []Frame) *need {
	out := &need{answers: p.answers, fold: &p.folds[p.steps[n].fold]}
	for k := n; k < len(p.steps) && p.steps[k].fold == p.steps[n].fold; k++ {
		if !p.steps[k].starts {
			continue
		}
		bare := ours[k]
		bare.Head = nil
		text := ""
		for _, probe := range p.dueAt(k) {
			if text == "" {
				text = p.shows(&bare)
			}
			if !probe.Grade(text).Success {
				out.probes = append(out.probes, probe)
			}
		}
	}
	return out
}

// dueAt are the probes of the turn whose first request is n.
func (p *Played) dueAt(n int) []*Probe {
	from := 0
	for k := n - 1; k >= 0; k-- {
		if p.steps[k].starts {
			from = p.steps[k].reply
			break
		}
	}
	return p.Script.due(from, p.steps[n].reply)
}

type answerKey struct {
	compartment compartments.CompartmentID
	tier        compartments.Tier
	probe       int
}

// answers reports whether an entry at a tier holds what a probe needs.
func (p *Played) answers(c *compartments.Compartment, t compartments.Tier, probe *Probe) bool {
	key := answerKey{c.ID, t, probe.ID}
	known, ok := p.known[key]
	if !ok {
		known = probe.Grade(p.entry(c, t)).Success
		p.known[key] = known
	}
	return known
}

// entry is what a model reads of a compartment at a tier.
func (p *Played) entry(c *compartments.Compartment, t compartments.Tier) string {
	switch t {
	case compartments.TierNone:
		return ""
	case compartments.TierRaw:
		f := Frame{From: int(c.First) - 1, To: int(c.Last)}
		return p.shows(&f)
	}
	text := decay.RenderPair([]compartments.Item{{Tier: t, Compartments: []compartments.CompartmentID{c.ID}}}, false, p.lookup, nil)
	_, body, _ := strings.Cut(text, "\n")
	return body
}

// sufficient is the lowest rendered tier of a compartment that answers a probe; raw
// if only its messages do, and none if not even these.
func (p *Played) sufficient(c *compartments.Compartment, probe *Probe) compartments.Tier {
	for t := compartments.TierAnchor; t >= compartments.TierFull; t-- {
		if c.Has(t) && p.answers(c, t, probe) {
			return t
		}
	}
	if p.answers(c, compartments.TierRaw, probe) {
		return compartments.TierRaw
	}
	return compartments.TierNone
}

// oracleSchedule shows, with the tiers and the budget of ours, what answers the most
// probes before the next fold.
type oracleSchedule struct{}

func (oracleSchedule) Name() string { return OracleSchedule }
func (oracleSchedule) knows()       {}

// oracleUnit is the fraction of a budget in which the oracle counts, in tokens.
const oracleUnit = 8

// Choose solves the choice exactly: for every room the most answers.
func (oracleSchedule) Choose(m *Moment) []compartments.Tier {
	type option struct {
		tier  compartments.Tier
		units int
		worth int
	}
	out := make([]compartments.Tier, len(m.Compartments))
	room := max(0, m.Room/oracleUnit)
	best := make([]int, room+1)
	taken := make([][]uint8, len(m.Compartments))
	options := make([][]option, len(m.Compartments))
	for i, c := range m.Compartments {
		for _, t := range compartments.Rendered {
			if !c.Has(t) {
				continue
			}
			worth := 0
			for _, probe := range m.need.probes {
				if m.need.answers(c, t, probe) {
					worth++
				}
			}
			if worth > 0 {
				options[i] = append(options[i], option{t, (takes(c, t) + oracleUnit - 1) / oracleUnit, worth})
			}
		}
		if len(options[i]) == 0 {
			continue
		}
		taken[i] = make([]uint8, room+1)
		for r := room; r >= 0; r-- {
			for k, o := range options[i] {
				if o.units <= r && best[r-o.units]+o.worth > best[r] {
					best[r], taken[i][r] = best[r-o.units]+o.worth, uint8(k+1)
				}
			}
		}
	}
	for i, r := len(out)-1, room; i >= 0; i-- {
		if taken[i] == nil || taken[i][r] == 0 {
			continue
		}
		o := options[i][taken[i][r]-1]
		out[i] = o.tier
		r -= o.units
	}
	m.fill(out)
	return out
}

// fill uses what room is left, the newest first, for what no probe needs: an oracle
// is not to be smaller than the others.
func (m *Moment) fill(out []compartments.Tier) {
	left := m.Room - m.total(out)
	for _, t := range [...]compartments.Tier{compartments.TierAnchor, compartments.TierCompact, compartments.TierDense, compartments.TierFull} {
		for i := len(out) - 1; i >= 0; i-- {
			c := m.Compartments[i]
			if !c.Has(t) || out[i] != compartments.TierNone && out[i] <= t {
				continue
			}
			if more := takes(c, t) - takes(c, out[i]); more <= left {
				left -= more
				out[i] = t
			}
		}
	}
}

// oraclePromotion is the selection of ours with a relevance that knows what will be
// needed before the next fold.
type oraclePromotion struct{}

func (oraclePromotion) Name() string { return OraclePromotion }
func (oraclePromotion) knows()       {}

// oracleRelevance is what a compartment that is needed is worth, permille.
const oracleRelevance = 64_000

func (oraclePromotion) Choose(m *Moment) []compartments.Tier {
	s := decay.Defaults()
	relevance := map[compartments.CompartmentID]int{}
	if r := m.need.fold.Inputs.Recording; r != nil {
		s.HalfLife = r.HalfLife
		for _, c := range r.Candidates {
			relevance[c.Compartment] = c.Relevance
		}
	}
	candidates := make([]decay.Candidate, len(m.Compartments))
	for i, c := range m.Compartments {
		candidates[i] = decay.Candidate{Compartment: c, Applied: m.Applied[i], NotRaw: true, Relevance: max(1000, relevance[c.ID])}
		for _, probe := range m.need.probes {
			if m.need.answers(c, compartments.TierRaw, probe) {
				candidates[i].Relevance = oracleRelevance
			}
		}
	}
	return decay.Select(candidates, m.Room, s).Tiers
}

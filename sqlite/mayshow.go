package sqlite

import (
	"database/sql"
	"maps"
	"slices"

	"ctxplugin/compartments"
)

// shown remembers what policy was seen to allow of a session's compartments at its
// last batches: a fold shows most of those that the one before it showed, and to read
// a thousand documents again takes longer than the fold. What the last folds replaced is
// remembered with it, for the same reason. It holds while the session is as that batch
// left it; another process may have changed it since.
type shown struct {
	version int64
	batch   compartments.Hash
	allowed map[compartments.CompartmentID]permission
	least   compartments.Survival // what the last fold demanded of most

	replaces map[int64]string // plans that the last folds replaced, by number
}

// permission is what a compartment allows while no less than so much has to survive.
type permission struct {
	tiers uint16 // a bit for each tier
	least compartments.Survival
}

// permit asks a compartment for every tier, so that the next fold that demotes it
// need not read it again.
func permit(c *compartments.Compartment, least compartments.Survival) permission {
	p := permission{least: least}
	for t := compartments.TierNone; t <= compartments.TierArchived; t++ {
		if c.Allows(t, least) {
			p.tiers |= 1 << t
		}
	}
	return p
}

func (p permission) allows(t compartments.Tier) bool { return p.tiers>>t&1 != 0 }

// demand is a tier that a fold shows, where no less than so much has to survive.
type demand struct {
	tier  compartments.Tier
	least compartments.Survival
}

// shownMost is how many sessions are remembered; all are forgotten beyond it.
const shownMost = 32

// shownOf is what is remembered of a session that a batch is about to change.
func (w *writing) shownOf(p *prepared, row *sessionRow) *shown {
	last := w.shown[p.Session]
	if last == nil || last.version != p.Version || string(last.batch[:]) != string(row.batch) {
		last = &shown{allowed: map[compartments.CompartmentID]permission{}, replaces: map[int64]string{}}
	}
	for i := range p.Compartments { // they are stored as they are: the next fold need not read them
		last.allowed[p.Compartments[i].ID] = permit(&p.Compartments[i], last.least)
	}
	for _, id := range p.Retired {
		delete(last.allowed, id)
	}
	return last
}

// remember keeps what was seen with a batch that makes a version. If it is not
// committed after all, the session will be at another one.
func (w *writing) remember(p *prepared, last *shown, version int64) {
	if len(w.shown) >= shownMost {
		clear(w.shown)
	}
	last.version, last.batch = version, p.digest
	w.shown[p.Session] = last
}

// mayShow refuses a fold that shows a compartment as its policy forbids: what the
// fold itself rendered is held against the stored compartments. One that is not
// stored here, or no longer, is not looked at.
func (w *writing) mayShow(session int64, f *compartments.Fold, last *shown) error {
	least := f.Inputs.Least()
	last.least = least
	shows := map[compartments.CompartmentID]demand{}
	for i := min(max(f.Divergence, 0), len(f.Layout)); i < len(f.Layout); i++ {
		for _, item := range f.Layout[i].Items {
			for _, id := range item.Compartments {
				d := demand{item.Tier, item.Demands(id, least)}
				if seen, ok := last.allowed[id]; !ok || seen.least != d.least || !seen.allows(d.tier) {
					shows[id] = d
				}
			}
		}
	}
	check := func(id compartments.CompartmentID, record []byte) error {
		c := compartments.Compartment{ID: id}
		if err := decodeCompartment(record, &c); err != nil {
			return err
		}
		d := shows[id]
		allowed := permit(&c, d.least)
		if !allowed.allows(d.tier) {
			return compartments.Errorf(compartments.CodeIllegal, "fold %d shows compartment %d, messages %d-%d, as %s, which its class (%s) and the floors forbid",
				f.Number, id, c.First, c.Last, d.tier, c.Retention)
		}
		last.allowed[id] = allowed
		return nil
	}
	const stored = `SELECT c.id, b.bytes FROM compartments c JOIN blobs b ON b.key = c.document
		WHERE c.session = ? AND c.served = 1 AND c.id BETWEEN ? AND ? ORDER BY c.id`
	ids := slices.Sorted(maps.Keys(shows))
	for len(ids) > 0 {
		n := 1 // one query for a run of ids with few others between them
		for n < len(ids) && ids[n]-ids[n-1] <= 4 {
			n++
		}
		err := w.c.rows(w.ctx, stored, []any{session, int64(ids[0]), int64(ids[n-1])}, func(r *sql.Rows) error {
			var id compartments.CompartmentID
			var record sql.RawBytes
			if err := r.Scan(&id, &record); err != nil {
				return err
			}
			if _, ok := shows[id]; !ok {
				return nil
			}
			return check(id, record)
		})
		if err != nil {
			return err
		}
		ids = ids[n:]
	}
	return nil
}

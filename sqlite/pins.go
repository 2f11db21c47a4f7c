package sqlite

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"ctxplugin/compartments"
)

// encodePins writes the records of pins.
func encodePins(pins []compartments.Pin) ([][]byte, error) {
	out := make([][]byte, len(pins))
	for i := range pins {
		if pins[i].ID < 1 {
			return nil, badBatch("pin %d: pins count from 1", pins[i].ID)
		}
		var err error
		if out[i], err = json.Marshal(&pins[i]); err != nil {
			return nil, fmt.Errorf("encode pin %d: %w", pins[i].ID, err)
		}
	}
	return out, nil
}

// pin inserts a pin or replaces the one with its ID.
func (w *writing) pin(session int64, id compartments.PinID, record []byte) error {
	packed, err := w.pack.frame(record)
	if err != nil {
		return err
	}
	return w.c.exec(w.ctx, `INSERT INTO pins (session, id, pin) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET pin = excluded.pin`,
		session, int64(id), packed)
}

func (r *reading) pins(session int64) ([]compartments.Pin, error) {
	var pins []compartments.Pin
	err := r.c.rows(r.ctx, `SELECT id, pin FROM pins WHERE session = ? ORDER BY id`, []any{session}, func(rows *sql.Rows) error {
		var id int64
		var packed sql.RawBytes
		if err := rows.Scan(&id, &packed); err != nil {
			return err
		}
		record, err := r.pack.unpack(formPacked, packed)
		var p compartments.Pin
		if err == nil {
			err = json.Unmarshal(record, &p)
		}
		if err != nil {
			return fmt.Errorf("pin %d: %w", id, err)
		}
		pins = append(pins, p)
		return nil
	})
	return pins, err
}

// mayShow refuses a fold that shows a compartment as its policy forbids: what the
// fold itself rendered is held against the stored compartments. One that is not
// stored here, or no longer, is not looked at.
func (w *writing) mayShow(session int64, f *compartments.Fold) error {
	shown := map[compartments.CompartmentID]compartments.Tier{}
	for i := min(max(f.Divergence, 0), len(f.Layout)); i < len(f.Layout); i++ {
		for _, item := range f.Layout[i].Items {
			for _, id := range item.Compartments {
				shown[id] = item.Tier
			}
		}
	}
	if len(shown) == 0 {
		return nil
	}
	least := f.Inputs.Least()
	check := func(id compartments.CompartmentID, record []byte) error {
		c := compartments.Compartment{ID: id}
		if err := decodeCompartment(record, &c); err != nil {
			return err
		}
		if !c.Allows(shown[id], least) {
			return compartments.Errorf(compartments.CodeIllegal, "fold %d shows compartment %d, messages %d-%d, as %s, which its class (%s) and the floors forbid",
				f.Number, id, c.First, c.Last, shown[id], c.Retention)
		}
		return nil
	}
	const stored = `SELECT c.id, b.bytes FROM compartments c JOIN blobs b ON b.key = c.document
		WHERE c.session = ? AND c.served = 1 AND c.id BETWEEN ? AND ? ORDER BY c.id`
	ids := slices.Sorted(maps.Keys(shown))
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
			if _, ok := shown[id]; !ok {
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

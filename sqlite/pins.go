package sqlite

import (
	"database/sql"
	"encoding/json"
	"fmt"

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

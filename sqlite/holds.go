package sqlite

import (
	"context"
	"database/sql"

	"ctxplugin/compartments"
)

// Hold notes why a model is not asked, in the place of what was noted of it before.
// Without a verdict nothing holds it.
func (s *Store) Hold(ctx context.Context, h *compartments.ModelHold) error {
	err := s.write(ctx, func(w *writing) error {
		if h.Verdict == "" {
			return w.unhold(h.Backend, h.Model, h.Setup)
		}
		return w.hold(h)
	})
	return s.fail("note why a model is not asked", err)
}

// Holds lists why models were not asked, by backend and model.
func (s *Store) Holds(ctx context.Context) (all []compartments.ModelHold, err error) {
	err = s.read(ctx, func(r *reading) error {
		return r.c.rows(r.ctx, `SELECT backend, model, setup, at, until, tokens, cost, verdict, detail FROM holds ORDER BY backend, model, setup`, nil, func(rows *sql.Rows) error {
			var h compartments.ModelHold
			err := rows.Scan(&h.Backend, &h.Model, &h.Setup, &h.At, &h.Until, &h.Tokens, &h.Cost, &h.Verdict, &h.Text)
			all = append(all, h)
			return err
		})
	})
	if err != nil {
		return nil, s.fail("read why models are not asked", err)
	}
	return all, nil
}

func (w *writing) hold(h *compartments.ModelHold) error {
	return w.c.exec(w.ctx, `INSERT OR REPLACE INTO holds (backend, model, setup, at, until, tokens, cost, verdict, detail) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		h.Backend, h.Model, h.Setup, h.At, h.Until, h.Tokens, h.Cost, string(h.Verdict), h.Text)
}

func (w *writing) unhold(backend, model, setup string) error {
	return w.c.exec(w.ctx, `DELETE FROM holds WHERE backend = ? AND model = ? AND setup = ?`, backend, model, setup)
}

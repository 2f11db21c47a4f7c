package sqlite

import (
	"context"
	"database/sql"

	"ctxplugin/compartments"
)

// Lease takes or renews the right to have a model write for a session, for some ms
// from now, and reports whether holder has it. Another holder's ends by itself.
func (s *Store) Lease(ctx context.Context, id compartments.SessionID, holder string, ms int64) (held bool, err error) {
	err = s.write(ctx, func(w *writing) error {
		result, err := w.c.run(w.ctx, `INSERT INTO leases (session, holder, until) SELECT key, ?2, ?3 FROM sessions WHERE session = ?1
			ON CONFLICT DO UPDATE SET holder = excluded.holder, until = excluded.until
			WHERE leases.holder = excluded.holder OR leases.until <= ?4 OR leases.until > ?4 + ?5`,
			string(id), holder, w.now+ms, w.now, leaseMostMs)
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		held = n > 0
		return err
	})
	if err != nil {
		return false, s.fail("lease session "+string(id), err)
	}
	return held, nil
}

// leaseMostMs is the longest that a lease can be ahead of the clock, in ms: one that
// is further was made before the clock was set back.
const leaseMostMs = 60 * 60 * 1000

// Unlease gives up what Lease took.
func (s *Store) Unlease(ctx context.Context, id compartments.SessionID, holder string) error {
	err := s.write(ctx, func(w *writing) error {
		return w.c.exec(w.ctx, `DELETE FROM leases WHERE session = (SELECT key FROM sessions WHERE session = ?) AND holder = ?`, string(id), holder)
	})
	return s.fail("give up the lease of session "+string(id), err)
}

// leased refuses a batch whose writer has lost its lease to another.
func (w *writing) leased(session int64, holder string) error {
	var now string
	found, err := w.c.row(w.ctx, `SELECT holder FROM leases WHERE session = ?`, []any{session}, &now)
	if err != nil || found && now == holder {
		return err
	}
	return compartments.Errorf(compartments.CodeBusy, "another process has a model write for this session")
}

// Leases lists who has a model write for which session, those too that have ended
// since without being given up, by session.
func (s *Store) Leases(ctx context.Context) (all []compartments.Lease, err error) {
	err = s.read(ctx, func(r *reading) error {
		return r.c.rows(r.ctx, `SELECT s.session, l.holder, l.until FROM leases l JOIN sessions s ON s.key = l.session ORDER BY s.session`, nil, func(rows *sql.Rows) error {
			var l compartments.Lease
			err := rows.Scan(&l.Session, &l.Holder, &l.Until)
			all = append(all, l)
			return err
		})
	})
	if err != nil {
		return nil, s.fail("list the leases", err)
	}
	return all, nil
}

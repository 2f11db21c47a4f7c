package sqlite

import (
	"context"
	"database/sql"
	"strings"

	"ctxplugin/compartments"
)

// callsKeptMs is how long the ledger of calls goes back, in ms: half a year.
const callsKeptMs = 180 * 24 * 60 * 60 * 1000

// breakersKeptMs is how long it is remembered that a model has failed that nobody
// asks any more, in ms: a week.
const breakersKeptMs = 7 * 24 * 60 * 60 * 1000

// AdmitCall asks decide whether a call may be made, with the breaker of its model
// and what was spent since a time, Unix ms. If nothing holds it, it stands in the
// ledger from then on, with what it will take at most, so that no two processes
// spend the same money.
func (s *Store) AdmitCall(ctx context.Context, c *compartments.Call, since int64, decide func(compartments.Breaker, compartments.Spent) compartments.CallHold) (hold compartments.CallHold, err error) {
	err = s.write(ctx, func(w *writing) error {
		b, err := w.breaker(c)
		if err != nil {
			return err
		}
		spent, err := w.spent(since)
		if err != nil {
			return err
		}
		switch hold = decide(b, spent); hold.Verdict {
		case "":
			if err := w.unhold(c.Backend, c.Model, c.Setup); err != nil {
				return err
			}
		case compartments.CallHeld:
			return nil // the breaker says so itself
		default:
			return w.hold(&compartments.ModelHold{Backend: c.Backend, Model: c.Model, Setup: c.Setup, At: c.At, Tokens: c.Tokens(), Cost: c.Cost, CallHold: hold})
		}
		asked := *c
		asked.Verdict, asked.Estimated = compartments.CallAsked, true
		return w.call(&asked)
	})
	if err != nil {
		return compartments.CallHold{}, s.fail("admit a call of a model", err)
	}
	return hold, nil
}

// RecordCall stores what came of a call, in the place of what AdmitCall stored, and
// the breaker that next makes of the one before.
func (s *Store) RecordCall(ctx context.Context, c *compartments.Call, next func(compartments.Breaker) compartments.Breaker) error {
	err := s.write(ctx, func(w *writing) error {
		if err := w.c.exec(w.ctx, `DELETE FROM calls WHERE key = (SELECT min(key) FROM calls
			WHERE at = ? AND backend = ? AND model = ? AND source = ? AND try = ? AND repair = ? AND verdict = 'asked')`,
			c.At, c.Backend, c.Model, c.Source[:], c.Try, number(c.Repair)); err != nil {
			return err
		}
		if err := w.call(c); err != nil {
			return err
		}
		if err := w.c.exec(w.ctx, `DELETE FROM calls WHERE at < ?`, c.At-callsKeptMs); err != nil {
			return err
		}
		if err := w.c.exec(w.ctx, `DELETE FROM breakers WHERE at < ?1 AND until < ?1`, c.At-breakersKeptMs); err != nil {
			return err
		}
		before, err := w.breaker(c)
		if err != nil {
			return err
		}
		after := next(before)
		switch {
		case after == before:
			return nil
		case after == compartments.Breaker{}:
			return w.c.exec(w.ctx, `DELETE FROM breakers WHERE backend = ? AND model = ? AND setup = ?`, c.Backend, c.Model, c.Setup)
		}
		return w.c.exec(w.ctx, `INSERT OR REPLACE INTO breakers (backend, model, setup, failures, opened, until, at, verdict, detail)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`, c.Backend, c.Model, c.Setup, after.Failures, after.Opened, after.Until, after.At, string(after.Verdict), after.Text)
	})
	return s.fail("record a call of a model", err)
}

// call appends a row to the ledger.
func (w *writing) call(c *compartments.Call) error {
	return w.c.exec(w.ctx, `INSERT INTO calls (session, first, last, source, backend, model, answered, prompt, repair, try, at, ms,
		input, output, reasoning, cache_read, cache_write, estimated, cost, verdict, faults, detail, retry_at)
		VALUES ((SELECT key FROM sessions WHERE session = ?), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		string(c.Session), int64(c.First), int64(c.Last), c.Source[:], c.Backend, c.Model, c.Answered, c.Prompt, number(c.Repair), c.Try, c.At, c.Ms,
		c.Usage.Input, c.Usage.Output, c.Usage.Reasoning, c.Usage.CacheRead, c.Usage.CacheWrite, number(c.Estimated), c.Cost,
		string(c.Verdict), strings.Join(c.Faults, " "), c.Detail, c.RetryAtMs)
}

// Breakers are those of all models that failed of late, by backend and model.
func (s *Store) Breakers(ctx context.Context) (all []compartments.ModelBreaker, err error) {
	err = s.read(ctx, func(r *reading) error {
		return r.c.rows(r.ctx, `SELECT backend, model, setup, failures, opened, until, at, verdict, detail FROM breakers ORDER BY backend, model, setup`,
			nil, func(rows *sql.Rows) error {
				var b compartments.ModelBreaker
				err := rows.Scan(&b.Backend, &b.Model, &b.Setup, &b.Failures, &b.Opened, &b.Until, &b.At, &b.Verdict, &b.Text)
				all = append(all, b)
				return err
			})
	})
	if err != nil {
		return nil, s.fail("read the breakers", err)
	}
	return all, nil
}

// ClearBreakers lets every model be asked again, and says how many there were that
// were not.
func (s *Store) ClearBreakers(ctx context.Context) (n int, err error) {
	err = s.write(ctx, func(w *writing) error {
		result, err := w.c.run(w.ctx, `DELETE FROM breakers`)
		if err != nil {
			return err
		}
		rows, err := result.RowsAffected()
		n = int(rows)
		return err
	})
	if err != nil {
		return 0, s.fail("clear the breakers", err)
	}
	return n, nil
}

// SpentSince sums up the calls since a time, Unix ms.
func (s *Store) SpentSince(ctx context.Context, since int64) (spent compartments.Spent, err error) {
	err = s.read(ctx, func(r *reading) (err error) {
		spent, err = r.spent(since)
		return err
	})
	if err != nil {
		return compartments.Spent{}, s.fail("sum up the calls of models", err)
	}
	return spent, nil
}

// Calls lists the newest calls for a session, or for all if id is empty, the
// newest first.
func (s *Store) Calls(ctx context.Context, id compartments.SessionID, limit int) (calls []compartments.Call, err error) {
	err = s.read(ctx, func(r *reading) error {
		return r.c.rows(r.ctx, `SELECT coalesce(s.session, ''), c.first, c.last, c.source, c.backend, c.model, c.answered, c.prompt, c.repair, c.try, c.at, c.ms,
			c.input, c.output, c.reasoning, c.cache_read, c.cache_write, c.estimated, c.cost, c.verdict, c.faults, c.detail, c.retry_at
			FROM calls c LEFT JOIN sessions s ON s.key = c.session
			WHERE ?1 = '' OR c.session = (SELECT key FROM sessions WHERE session = ?1) ORDER BY c.at DESC, c.key DESC LIMIT ?2`,
			[]any{string(id), limit}, func(rows *sql.Rows) error {
				var c compartments.Call
				var source sql.RawBytes
				var faults string
				err := rows.Scan(&c.Session, &c.First, &c.Last, &source, &c.Backend, &c.Model, &c.Answered, &c.Prompt, &c.Repair, &c.Try, &c.At, &c.Ms,
					&c.Usage.Input, &c.Usage.Output, &c.Usage.Reasoning, &c.Usage.CacheRead, &c.Usage.CacheWrite, &c.Estimated, &c.Cost,
					&c.Verdict, &faults, &c.Detail, &c.RetryAtMs)
				copy(c.Source[:], source)
				c.Faults = strings.Fields(faults)
				calls = append(calls, c)
				return err
			})
	})
	if err != nil {
		return nil, s.fail("list the calls of models", err)
	}
	return calls, nil
}

func (r *reading) breaker(c *compartments.Call) (b compartments.Breaker, err error) {
	_, err = r.c.row(r.ctx, `SELECT failures, opened, until, at, verdict, detail FROM breakers WHERE backend = ? AND model = ? AND setup = ?`,
		[]any{c.Backend, c.Model, c.Setup}, &b.Failures, &b.Opened, &b.Until, &b.At, &b.Verdict, &b.Text)
	return b, err
}

func (r *reading) spent(since int64) (spent compartments.Spent, err error) {
	_, err = r.c.row(r.ctx, `SELECT count(*), coalesce(sum(input + output + reasoning + cache_read + cache_write), 0), coalesce(sum(cost), 0)
		FROM calls WHERE at >= ?`, []any{since}, &spent.Calls, &spent.Tokens, &spent.Cost)
	return spent, err
}

package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"ctxplugin/compartments"
)

// forgetRows is how many rows one transaction of forgetting deletes.
const forgetRows = 64

// Forget removes a session with all that was derived from it: rows, payloads
// that no other session shares, words of the index. Its bytes are overwritten.
// The session is gone with the first of several short transactions; if the
// process dies before the last, the next Index goes on. A session that is not
// stored is forgotten already.
func (s *Store) Forget(ctx context.Context, id compartments.SessionID) error {
	var key int64
	err := s.write(ctx, func(w *writing) error {
		found, err := w.c.row(w.ctx, `SELECT key FROM sessions WHERE session = ?`, []any{string(id)}, &key)
		if err != nil || !found {
			return err
		}
		// What was spent still counts, but not for whom and why.
		if err := w.c.exec(w.ctx, `UPDATE calls SET session = NULL, first = 0, last = 0, source = x'', detail = '' WHERE session = ?`, key); err != nil {
			return err
		}
		return w.c.exec(w.ctx, `UPDATE sessions SET session = NULL, parent = '', plan = '', batch = x'', state = NULL WHERE key = ?`, key)
	})
	if err == nil && key != 0 {
		err = s.purge(ctx, key)
	}
	if err != nil {
		return s.fail(fmt.Sprintf("forget session %s", id), err)
	}
	return nil
}

// purgeForgotten goes on with sessions whose Forget did not come to its end.
func (s *Store) purgeForgotten(ctx context.Context) error {
	var keys []int64
	err := s.read(ctx, func(r *reading) (err error) {
		keys, err = r.c.keys(r.ctx, `SELECT key FROM sessions WHERE session IS NULL`)
		return err
	})
	if err != nil {
		return err
	}
	for _, key := range keys {
		if err := s.purge(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

// purge deletes a forgotten session step by step. Its own row goes last, since
// it says that there is something left to do.
func (s *Store) purge(ctx context.Context, session int64) error {
	for _, step := range []func(*writing, int64) (bool, error){
		(*writing).purgeMessages, (*writing).purgeCompartments, (*writing).purgeFolds,
		(*writing).purgeMessageWords, (*writing).purgeCompartmentWords,
	} {
		for more := true; more; {
			err := s.write(ctx, func(w *writing) (err error) {
				more, err = step(w, session)
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	err := s.write(ctx, func(w *writing) error {
		return w.c.exec(w.ctx, `DELETE FROM sessions WHERE key = ?`, session)
	})
	if err != nil || !s.wal {
		return err
	}
	// The log still has what was overwritten in the file. A reader in the way
	// leaves that to the next checkpoint.
	return s.upkeep(ctx, func(ctx context.Context, c *conn) error {
		return c.checkpoint(ctx, "TRUNCATE")
	})
}

// purgeMessages deletes some messages, and reports whether there were as many
// as it takes at once.
func (w *writing) purgeMessages(session int64) (bool, error) {
	var ordinals, documents []int64
	err := w.c.rows(w.ctx, `SELECT ordinal, document FROM messages WHERE session = ? ORDER BY ordinal LIMIT ?`,
		[]any{session, forgetRows}, func(r *sql.Rows) error {
			var ordinal, document int64
			err := r.Scan(&ordinal, &document)
			ordinals, documents = append(ordinals, ordinal), append(documents, document)
			return err
		})
	if err != nil || len(ordinals) == 0 {
		return false, err
	}
	for _, document := range documents {
		if err := w.release(document); err != nil {
			return false, err
		}
	}
	first, last := ordinals[0], ordinals[len(ordinals)-1]
	if err := w.c.exec(w.ctx, `DELETE FROM message_words WHERE rowid BETWEEN ? AND ?`,
		messageRow(session, first, 0), messageRow(session, last, 1<<passageBits-1)); err != nil {
		return false, err
	}
	if err := w.c.exec(w.ctx, `DELETE FROM waiting WHERE session = ? AND ordinal BETWEEN ? AND ?`, session, first, last); err != nil {
		return false, err
	}
	err = w.c.exec(w.ctx, `DELETE FROM messages WHERE session = ? AND ordinal <= ?`, session, last)
	return len(ordinals) == forgetRows, err
}

func (w *writing) purgeCompartments(session int64) (bool, error) {
	var ids, documents []int64
	err := w.c.rows(w.ctx, `SELECT id, document FROM compartments WHERE session = ? ORDER BY id LIMIT ?`,
		[]any{session, forgetRows}, func(r *sql.Rows) error {
			var id, document int64
			err := r.Scan(&id, &document)
			ids, documents = append(ids, id), append(documents, document)
			return err
		})
	if err != nil || len(ids) == 0 {
		return false, err
	}
	for _, document := range documents {
		if err := w.release(document); err != nil {
			return false, err
		}
	}
	first, last := ids[0], ids[len(ids)-1]
	if err := w.c.exec(w.ctx, `DELETE FROM compartment_words WHERE rowid BETWEEN ? AND ?`,
		compartmentRow(session, first), compartmentRow(session, last)); err != nil {
		return false, err
	}
	err = w.c.exec(w.ctx, `DELETE FROM compartments WHERE session = ? AND id <= ?`, session, last)
	return len(ids) == forgetRows, err
}

func (w *writing) purgeFolds(session int64) (bool, error) {
	keys, err := w.c.keys(w.ctx, `SELECT texts FROM folds WHERE session = ?1 AND texts IS NOT NULL
		UNION ALL SELECT document FROM plans WHERE session = ?1`, session)
	if err != nil {
		return false, err
	}
	for _, key := range keys {
		if err := w.release(key); err != nil {
			return false, err
		}
	}
	for _, query := range []string{`DELETE FROM folds WHERE session = ?`, `DELETE FROM plans WHERE session = ?`} {
		if err := w.c.exec(w.ctx, query, session); err != nil {
			return false, err
		}
	}
	return false, nil
}

// purgeMessageWords rewrites some of the word index without the rows that were
// deleted, whose words it keeps until then.
func (w *writing) purgeMessageWords(int64) (bool, error) {
	return w.merge(`INSERT INTO message_words (message_words, rank) VALUES ('merge', ?)`)
}

func (w *writing) purgeCompartmentWords(int64) (bool, error) {
	return w.merge(`INSERT INTO compartment_words (compartment_words, rank) VALUES ('merge', ?)`)
}

// merge runs one step and reports whether there was work for it. The negative
// count asks for one segment in the end, in which no deleted row is left. The
// count is of pages written, so a stretch of deleted rows alone goes in one step.
func (w *writing) merge(query string) (bool, error) {
	var before, after int
	if _, err := w.c.row(w.ctx, `SELECT total_changes()`, nil, &before); err != nil {
		return false, err
	}
	if err := w.c.exec(w.ctx, query, -4*mergePages); err != nil {
		return false, err
	}
	if _, err := w.c.row(w.ctx, `SELECT total_changes()`, nil, &after); err != nil {
		return false, err
	}
	return after-before > 1, nil
}

package sqlite

import (
	"context"
	"database/sql"

	"ctxplugin/compartments"
)

const (
	indexBytes  = 24 << 10 // text that one transaction makes searchable, roughly
	indexPieces = 12       // most messages of one transaction
	mergePages  = 20       // pages of the word index that one transaction merges
)

// Index makes up to limit of the messages and compartments that wait searchable,
// those of the youngest session first and the newest of each first, and returns
// how many wait still. The writer is held for small steps only. It also finishes
// what a Forget that was cut short left.
func (s *Store) Index(ctx context.Context, limit int) (left int, err error) {
	left, err = s.index(ctx, limit)
	if err != nil {
		return 0, s.fail("index", err)
	}
	return left, nil
}

func (s *Store) index(ctx context.Context, limit int) (left int, err error) {
	if err := s.purgeForgotten(ctx); err != nil {
		return 0, err
	}
	waiting, err := s.waitingTasks(ctx, limit)
	if err != nil {
		return 0, err
	}
	var batch indexBatch
	for i := range waiting {
		t := &waiting[i]
		if err := s.read(ctx, t.fill); err != nil {
			return 0, err
		}
		for more := true; more; more = !t.finished() {
			t.take(&batch)
			if batch.full() {
				if err := s.indexBatch(ctx, &batch); err != nil {
					return 0, err
				}
			}
		}
	}
	if err := s.indexBatch(ctx, &batch); err != nil {
		return 0, err
	}
	if s.wal && fileSize(s.path+"-wal") > walBytes {
		if err := s.moveLog(ctx); err != nil {
			return 0, err
		}
	}
	err = s.read(ctx, func(r *reading) error {
		_, err := r.c.row(r.ctx, `SELECT count(*) FROM waiting`, nil, &left)
		return err
	})
	return left, err
}

// indexTask is a message or a compartment that waits.
type indexTask struct {
	session, ordinal, compartment int64
	passages                      int   // indexed already, from the first
	document                      int64 // that the texts are of; 0 when there is none any more
	texts                         []string
	taken                         int // of texts, from the first
}

func (s *Store) waitingTasks(ctx context.Context, limit int) ([]indexTask, error) {
	var tasks []indexTask
	err := s.read(ctx, func(r *reading) error {
		return r.c.rows(r.ctx, `SELECT session, ordinal, compartment, passages FROM waiting
			ORDER BY session DESC, ordinal DESC, compartment DESC LIMIT ?`, []any{limit}, func(rows *sql.Rows) error {
			var t indexTask
			err := rows.Scan(&t.session, &t.ordinal, &t.compartment, &t.passages)
			t.taken = t.passages
			tasks = append(tasks, t)
			return err
		})
	})
	return tasks, err
}

// fill reads the texts of the task.
func (t *indexTask) fill(r *reading) error {
	if t.compartment != 0 {
		return t.fillCompartment(r)
	}
	var b blob
	found, err := r.c.row(r.ctx, `SELECT b.key, b.size, b.form, b.bytes FROM messages m JOIN blobs b ON b.key = m.document
		WHERE m.session = ? AND m.ordinal = ?`, []any{t.session, t.ordinal}, &t.document, &b.size, &b.form, &b.bytes)
	if err != nil || !found {
		return err
	}
	content, err := r.content(b, false)
	if unreadable(err) {
		return nil // it must not keep the others waiting
	}
	if err != nil {
		return err
	}
	m, err := compartments.DecodeMessage(content)
	if err != nil {
		return nil // stored all the same; there is nothing in it to find
	}
	for _, p := range passagesOf(searchables(&m)) {
		if len(t.texts) == 1<<passageBits {
			break
		}
		t.texts = append(t.texts, p.text)
	}
	return nil
}

func (t *indexTask) fillCompartment(r *reading) error {
	var record []byte
	found, err := r.c.row(r.ctx, `SELECT b.key, b.bytes FROM compartments c JOIN blobs b ON b.key = c.document
		WHERE c.session = ? AND c.id = ? AND c.served = 1`, []any{t.session, t.compartment}, &t.document, &record)
	if err != nil || !found {
		return err
	}
	var c compartments.Compartment
	if err := decodeCompartment(record, &c); err != nil {
		return err
	}
	t.texts = []string{c.Title + "\n" + compartmentText(&c)}
	return nil
}

func (t *indexTask) finished() bool { return t.taken >= len(t.texts) }

// take moves texts into the batch until that is full or the task is finished.
// Every task puts at least one piece in.
func (t *indexTask) take(b *indexBatch) {
	piece := indexPiece{task: t, from: t.taken}
	for first := true; first || (!b.full() && !t.finished()); first = false {
		if t.finished() {
			break
		}
		b.bytes += len(t.texts[t.taken])
		t.taken++
	}
	piece.to, piece.finished = t.taken, t.finished()
	b.pieces = append(b.pieces, piece)
}

// indexPiece is a run of a task's texts.
type indexPiece struct {
	task     *indexTask
	from, to int
	finished bool // it is the task's last
}

type indexBatch struct {
	pieces []indexPiece
	bytes  int
}

func (b *indexBatch) full() bool { return b.bytes >= indexBytes || len(b.pieces) >= indexPieces }

// indexBatch stores a batch in one transaction, merges a little of the index in
// another, and empties the batch.
func (s *Store) indexBatch(ctx context.Context, b *indexBatch) error {
	if len(b.pieces) == 0 {
		return nil
	}
	err := s.write(ctx, func(w *writing) error {
		for _, p := range b.pieces {
			if err := w.indexPiece(p); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	*b = indexBatch{pieces: b.pieces[:0]}
	return s.write(ctx, func(w *writing) error {
		if err := w.c.exec(w.ctx, `INSERT INTO message_words (message_words, rank) VALUES ('merge', ?)`, mergePages); err != nil {
			return err
		}
		return w.c.exec(w.ctx, `INSERT INTO compartment_words (compartment_words, rank) VALUES ('merge', ?)`, mergePages)
	})
}

// indexPiece indexes a piece, unless its source changed since it was read: then
// it waits on.
func (w *writing) indexPiece(p indexPiece) error {
	t := p.task
	current, err := w.current(t, p.from)
	if err != nil || !current {
		return err
	}
	if t.compartment != 0 {
		err = w.indexCompartment(t)
	} else {
		err = w.indexMessage(t, p)
	}
	if err != nil {
		return err
	}
	if p.finished {
		return w.c.exec(w.ctx, `DELETE FROM waiting WHERE session = ? AND ordinal = ? AND compartment = ?`, t.session, t.ordinal, t.compartment)
	}
	return w.c.exec(w.ctx, `UPDATE waiting SET passages = ? WHERE session = ? AND ordinal = ? AND compartment = ?`,
		p.to, t.session, t.ordinal, t.compartment)
}

// current reports whether the task still waits as it was read.
func (w *writing) current(t *indexTask, passages int) (bool, error) {
	var indexed int
	waits, err := w.c.row(w.ctx, `SELECT passages FROM waiting WHERE session = ? AND ordinal = ? AND compartment = ?`,
		[]any{t.session, t.ordinal, t.compartment}, &indexed)
	if err != nil || !waits || indexed != passages {
		return false, err
	}
	var document int64
	if t.compartment != 0 {
		_, err = w.c.row(w.ctx, `SELECT document FROM compartments WHERE session = ? AND id = ? AND served = 1`,
			[]any{t.session, t.compartment}, &document)
	} else {
		_, err = w.c.row(w.ctx, `SELECT document FROM messages WHERE session = ? AND ordinal = ?`,
			[]any{t.session, t.ordinal}, &document)
	}
	return document == t.document, err
}

func (w *writing) indexMessage(t *indexTask, p indexPiece) error {
	if p.from == 0 {
		if err := w.c.exec(w.ctx, `DELETE FROM message_words WHERE rowid BETWEEN ? AND ?`,
			messageRow(t.session, t.ordinal, 0), messageRow(t.session, t.ordinal, 1<<passageBits-1)); err != nil {
			return err
		}
	}
	for i := p.from; i < p.to; i++ {
		if err := w.c.exec(w.ctx, `INSERT INTO message_words (rowid, body) VALUES (?, ?)`,
			messageRow(t.session, t.ordinal, int64(i)), t.texts[i]); err != nil {
			return err
		}
	}
	return nil
}

func (w *writing) indexCompartment(t *indexTask) error {
	row := compartmentRow(t.session, t.compartment)
	if err := w.c.exec(w.ctx, `DELETE FROM compartment_words WHERE rowid = ?`, row); err != nil {
		return err
	}
	if len(t.texts) == 0 {
		return nil
	}
	return w.c.exec(w.ctx, `INSERT INTO compartment_words (rowid, body) VALUES (?, ?)`, row, t.texts[0])
}

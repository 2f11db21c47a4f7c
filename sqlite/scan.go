package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"strings"

	"ctxplugin/compartments"
)

const (
	scanBytes = 64 << 20 // of JSON that one scan reads at most
	scanChunk = 256      // rows read in one transaction
)

// scan looks for the string in the messages themselves, newest first, and in
// the compartments. With waiting, only those that the word index does not know
// yet are read, and scattered words count.
func (f *finder) scan(ctx context.Context, s *Store, waiting bool) error {
	sc := scanner{finder: f, waiting: waiting, below: lastOrdinal + 1}
	for more := true; more; {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := s.read(ctx, func(r *reading) (err error) {
			more, err = sc.messages(r)
			return err
		})
		if err != nil {
			return err
		}
	}
	return s.read(ctx, sc.compartments)
}

// scanner is one scan in progress.
type scanner struct {
	*finder
	waiting bool
	below   int64 // messages from this ordinal on are done
	read    int   // bytes of JSON
	lower   []byte
}

// messages scans a chunk and reports whether there is more.
func (sc *scanner) messages(r *reading) (bool, error) {
	query := `SELECT m.ordinal, b.size, b.form, b.bytes FROM messages m JOIN blobs b ON b.key = m.document
		WHERE m.session = ? AND m.ordinal < ? ORDER BY m.ordinal DESC LIMIT ?`
	if sc.waiting {
		query = `SELECT m.ordinal, b.size, b.form, b.bytes FROM waiting w
			JOIN messages m ON m.session = w.session AND m.ordinal = w.ordinal JOIN blobs b ON b.key = m.document
			WHERE w.session = ? AND w.ordinal < ? AND w.compartment = 0 ORDER BY w.ordinal DESC LIMIT ?`
	}
	type row struct {
		ordinal int64
		blob    blob
	}
	var chunk []row
	err := r.c.rows(r.ctx, query, []any{sc.session, sc.below, scanChunk}, func(rows *sql.Rows) error {
		var m row
		err := rows.Scan(&m.ordinal, &m.blob.size, &m.blob.form, &m.blob.bytes)
		chunk = append(chunk, m)
		return err
	})
	if err != nil {
		return false, err
	}
	r.nearby = nil
	if n := len(chunk); n > 0 && chunk[0].ordinal-chunk[n-1].ordinal < int64(2*n) {
		if err := r.readAhead(sc.session, chunk[n-1].ordinal, chunk[0].ordinal); err != nil {
			return false, err
		}
	}
	for i := range chunk {
		m := &chunk[i]
		sc.below = m.ordinal
		if sc.read += m.blob.size; sc.read > scanBytes {
			return false, nil
		}
		content, err := r.content(m.blob, false)
		if unreadable(err) {
			continue
		}
		if err != nil {
			return false, err
		}
		sc.message(compartments.Ordinal(m.ordinal), content)
	}
	return len(chunk) == scanChunk, nil
}

func (sc *scanner) message(ordinal compartments.Ordinal, content []byte) {
	if !sc.promising(content) {
		return
	}
	m, err := compartments.DecodeMessage(content)
	if err != nil {
		return // stored all the same; there is nothing in it to find
	}
	fields := searchables(&m)
	for i := range fields {
		found := sc.find(fields[i].text, fold(fields[i].text), sc.waiting)
		if found.grade != gradeNone {
			sc.addMessage(ordinal, &fields[i], found)
		}
	}
}

// promising reports whether a message's JSON may hold a match, without decoding
// it.
func (sc *scanner) promising(content []byte) bool {
	if sc.needle == "" {
		// Nothing of the string is sure to stand in JSON as it is.
		return bytes.Contains(content, []byte(sc.literal)) || bytes.IndexByte(content, '\\') >= 0
	}
	sc.lower = foldInto(sc.lower[:0], content)
	if bytes.Contains(sc.lower, []byte(sc.needle)) {
		return true
	}
	if !sc.waiting || len(sc.words) == 0 {
		return false
	}
	for _, word := range sc.words {
		if !bytes.Contains(sc.lower, []byte(needle(word))) {
			return false
		}
	}
	return true
}

// compartments scans the compartments.
func (sc *scanner) compartments(r *reading) error {
	query := `SELECT c.id, b.bytes FROM compartments c JOIN blobs b ON b.key = c.document
		WHERE c.session = ? AND c.served = 1`
	if sc.waiting {
		query += ` AND EXISTS (SELECT 1 FROM waiting w WHERE w.session = c.session AND w.ordinal = 0 AND w.compartment = c.id)`
	}
	return r.c.rows(r.ctx, query, []any{sc.session}, func(rows *sql.Rows) error {
		var id compartments.CompartmentID
		var record sql.RawBytes
		if err := rows.Scan(&id, &record); err != nil {
			return err
		}
		if !sc.waiting && !strings.Contains(fold(string(record)), sc.folded) {
			return nil
		}
		return sc.compartment(id, record, sc.waiting)
	})
}

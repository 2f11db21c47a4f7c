package sqlite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"sync"

	"ctxplugin/compartments"
)

// lastOrdinal is the highest ordinal and part of a message's passage numbers.
const lastOrdinal = 1<<ordinalBits - 1

// Commit stores a batch in one transaction and returns the session's new
// version. A batch that is the very one stored last is stored already: its
// version is returned again and nothing changes.
//
// Errors carry CodeBusy when the session is at another version than the batch
// was made from, or the database stays locked; CodeBadInput when the batch
// contradicts itself; CodeStorage when it cannot be written.
func (s *Store) Commit(ctx context.Context, b *compartments.Batch) (version int64, err error) {
	p, err := s.pack.prepare(b)
	if err == nil {
		err = s.write(ctx, func(w *writing) error {
			if version, err = w.batch(p); err != nil {
				return err
			}
			if s.opts.FailCommit != nil {
				return s.opts.FailCommit()
			}
			return nil
		})
	}
	if err != nil {
		return 0, s.fail(fmt.Sprintf("store session %s", b.Session), err)
	}
	return version, nil
}

// prepared is a batch with everything made that needs no database.
type prepared struct {
	*compartments.Batch
	digest       compartments.Hash
	entries      []preparedEntry
	compartments [][]byte
	pins         [][]byte
	fold         *preparedFold
	plan         preparedPlan
}

type preparedEntry struct {
	record []byte
	hash   compartments.Hash // of the raw JSON, if there is any
	cuts   cuts
	packed []packed // of the long strings of a message among many; else nil
}

// prepare checks and encodes a batch before the writer is taken.
func (pack *packer) prepare(b *compartments.Batch) (*prepared, error) {
	p := &prepared{Batch: b, entries: make([]preparedEntry, len(b.Entries)), compartments: make([][]byte, len(b.Compartments))}
	if b.Session == "" {
		return nil, badBatch("it names no session")
	}
	pack.entries(p)
	var packing sync.WaitGroup
	if b.Plan != nil {
		packing.Go(func() { p.plan = pack.plan(b.Plan) }) // as long as the fold takes to encode
	}
	defer packing.Wait()
	d := digester{}
	d.number(b.Version)
	d.bytes([]byte(b.Session))
	d.bytes([]byte(b.Parent))
	for i := range b.Entries {
		e, made := &b.Entries[i], &p.entries[i]
		if e.Entry.Ordinal < 1 || e.Entry.Ordinal > lastOrdinal {
			return nil, badBatch("ordinal %d is outside 1..%d", e.Entry.Ordinal, lastOrdinal)
		}
		d.number(int64(e.Entry.Ordinal))
		d.bytes([]byte(e.Entry.ID))
		d.bytes(e.Entry.Hash[:])
		d.bytes(made.record)
		if e.Raw != nil {
			d.bytes(made.hash[:])
		}
	}
	d.number(int64(b.ListFrom))
	for _, o := range b.List {
		d.number(int64(o))
	}
	for i := range b.Compartments {
		c := &b.Compartments[i]
		if c.ID < 1 || c.ID > math.MaxUint32 {
			return nil, badBatch("compartment %d-%d has ID %d, which is outside 1..2^32-1", c.First, c.Last, c.ID)
		}
		p.compartments[i] = encodeCompartment(c)
		d.number(int64(c.ID))
		d.bytes(p.compartments[i])
	}
	for _, id := range b.Retired {
		d.number(int64(id))
	}
	var err error
	if p.pins, err = encodePins(b.Pins); err != nil {
		return nil, err
	}
	for _, record := range p.pins {
		d.bytes(record)
	}
	if b.Fold != nil {
		if p.fold, err = pack.fold(b.Fold); err != nil {
			return nil, err
		}
		d.bytes(p.fold.digest[:])
	}
	d.bytes([]byte(b.PlanID))
	packing.Wait()
	d.hashed(b.Plan, p.plan.hash)
	d.bytes(b.State)
	p.digest = d.sum()
	return p, nil
}

func badBatch(format string, args ...any) error {
	return compartments.Errorf(compartments.CodeBadInput, "batch: "+format, args...)
}

// sessionRow is what a batch needs to know of its session.
type sessionRow struct {
	key     int64
	version int64
	batch   []byte
	top     int64
	bytes   int64
	folds   int64
}

// batch stores p and returns the new version.
func (w *writing) batch(p *prepared) (int64, error) {
	row, known, err := w.sessionRow(p)
	if err != nil || known {
		return row.version, err
	}
	last := w.shownOf(p, &row)
	delete(w.shown, p.Session) // until all of the batch is written
	if p.Lease != "" {
		if err := w.leased(row.key, p.Lease); err != nil {
			return 0, err
		}
	}
	if err := w.entries(p, &row); err != nil {
		return 0, err
	}
	if p.ListFrom >= 0 {
		if err := w.list(&row, int64(p.ListFrom), p.List); err != nil {
			return 0, err
		}
	}
	for i := range p.Compartments {
		if err := w.compartment(row.key, &p.Compartments[i], p.compartments[i]); err != nil {
			return 0, err
		}
	}
	for _, id := range p.Retired {
		if err := w.retire(row.key, id); err != nil {
			return 0, err
		}
	}
	for i := range p.Pins {
		if err := w.pin(row.key, p.Pins[i].ID, p.pins[i]); err != nil {
			return 0, err
		}
	}
	if p.Plan != nil {
		if err := w.plan(row.key, p); err != nil {
			return 0, err
		}
	}
	if p.fold != nil {
		if err := w.mayShow(row.key, p.Fold, last); err != nil {
			return 0, err
		}
		if err := w.fold(row.key, row.folds, p.fold); err != nil {
			return 0, err
		}
		row.folds = int64(p.Fold.Number)
		last.replaces[row.folds] = p.Fold.Inputs.Replaces
	}
	if err := w.finish(p, &row); err != nil {
		return 0, err
	}
	if p.Plan != nil || p.fold != nil {
		if err := w.trimPlans(&row, last); err != nil {
			return 0, err
		}
	}
	w.remember(p, last, row.version)
	return row.version, nil
}

// sessionRow reads the session's row, or makes it. known says that this very
// batch is what was stored last.
func (w *writing) sessionRow(p *prepared) (row sessionRow, known bool, err error) {
	found, err := w.c.row(w.ctx, `SELECT key, version, batch, top, bytes, folds FROM sessions WHERE session = ?`,
		[]any{string(p.Session)}, &row.key, &row.version, &row.batch, &row.top, &row.bytes, &row.folds)
	if err != nil {
		return row, false, err
	}
	if found && row.version == p.Version+1 && bytes.Equal(row.batch, p.digest[:]) {
		return row, true, nil
	}
	if row.version != p.Version {
		return row, false, compartments.Errorf(compartments.CodeBusy,
			"another process changed this session: it is at version %d, not %d", row.version, p.Version)
	}
	if !found {
		result, err := w.c.run(w.ctx, `INSERT INTO sessions (session, parent, version, batch, changed, top, bytes, folds, plan)
			VALUES (?, '', 0, x'', 0, 0, 0, 0, '')`, string(p.Session))
		if err != nil {
			return row, false, err
		}
		if row.key, err = result.LastInsertId(); err != nil {
			return row, false, err
		}
		if row.key >= 1<<sessionBits {
			return row, false, compartments.Errorf(compartments.CodeStorage, "the database has no room for more sessions; forget some")
		}
	}
	row.version++
	return row, false, nil
}

// finish writes what the batch changed in the session's own row.
func (w *writing) finish(p *prepared, row *sessionRow) error {
	var parent, plan, state any // NULL keeps what is stored
	if p.Parent != "" {
		parent = string(p.Parent)
	}
	if p.Plan != nil {
		plan = p.PlanID
	}
	if p.State != nil {
		state = p.State
	}
	return w.c.exec(w.ctx, `UPDATE sessions SET version = ?, batch = ?, changed = ?, top = ?, bytes = ?, folds = ?,
		parent = coalesce(?, parent), plan = coalesce(?, plan), state = coalesce(?, state) WHERE key = ?`,
		row.version, p.digest[:], w.now, row.top, row.bytes, row.folds, parent, plan, state, row.key)
}

// entries stores the messages of a batch.
func (w *writing) entries(p *prepared, row *sessionRow) error {
	for i := range p.Entries {
		if err := w.entry(row, &p.Entries[i], &p.entries[i]); err != nil {
			return err
		}
	}
	return nil
}

func (w *writing) entry(row *sessionRow, e *compartments.EntryWrite, p *preparedEntry) error {
	ordinal := int64(e.Entry.Ordinal)
	var document, size int64
	var hash []byte
	known := false
	if ordinal <= row.top {
		var err error
		known, err = w.c.row(w.ctx, `SELECT b.key, b.size, b.hash FROM messages m JOIN blobs b ON b.key = m.document
			WHERE m.session = ? AND m.ordinal = ?`, []any{row.key, ordinal}, &document, &size, &hash)
		if err != nil {
			return err
		}
	}
	opens := number(ordinal == 1 || e.Entry.Compact)
	if e.Raw == nil || bytes.Equal(hash, p.hash[:]) {
		if !known {
			return badBatch("message %d comes without its JSON and is not stored", ordinal)
		}
		return w.c.exec(w.ctx, `UPDATE messages SET id = ?, hash = ?, entry = ?, opens = max(opens, ?)
			WHERE session = ? AND ordinal = ?`, string(e.Entry.ID), e.Entry.Hash[:], p.record, opens, row.key, ordinal)
	}
	fresh, err := w.putMessage(row.key, e.Raw, p)
	if err != nil {
		return err
	}
	if err := w.c.exec(w.ctx, `INSERT INTO messages (session, ordinal, id, hash, opens, entry, document)
		VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET id = excluded.id, hash = excluded.hash,
		opens = max(opens, excluded.opens), entry = excluded.entry, document = excluded.document`,
		row.key, ordinal, string(e.Entry.ID), e.Entry.Hash[:], opens, p.record, fresh); err != nil {
		return err
	}
	if known {
		if err := w.release(document); err != nil {
			return err
		}
	}
	row.bytes += int64(len(e.Raw)) - size
	row.top = max(row.top, ordinal)
	return w.wait(row.key, ordinal, 0)
}

// wait marks a message or a compartment as not searchable yet.
func (w *writing) wait(session, ordinal, compartment int64) error {
	return w.c.exec(w.ctx, `INSERT INTO waiting (session, ordinal, compartment, passages) VALUES (?, ?, ?, 0)
		ON CONFLICT DO UPDATE SET passages = 0`, session, ordinal, compartment)
}

// list replaces the end of the host's list from a place on.
func (w *writing) list(row *sessionRow, from int64, end []compartments.Ordinal) error {
	var length int64
	if _, err := w.c.row(w.ctx, `SELECT coalesce(max(place + count), 0) FROM lists WHERE session = ?`, []any{row.key}, &length); err != nil {
		return err
	}
	if from > length {
		return badBatch("the list has %d messages and cannot be replaced from place %d on", length, from)
	}
	if from < length {
		if err := w.c.exec(w.ctx, `DELETE FROM lists WHERE session = ? AND place >= ?`, row.key, from); err != nil {
			return err
		}
		if err := w.c.exec(w.ctx, `UPDATE lists SET count = ? - place WHERE session = ? AND place < ? AND place + count > ?`,
			from, row.key, from, from); err != nil {
			return err
		}
	}
	for i := 0; i < len(end); {
		n := 1
		for i+n < len(end) && end[i+n] == end[i]+compartments.Ordinal(n) {
			n++
		}
		if end[i] < 1 || int64(end[i])+int64(n)-1 > row.top {
			return badBatch("the list names message %d, the session has %d", end[i+n-1], row.top)
		}
		if err := w.listRun(row.key, from+int64(i), int64(end[i]), int64(n)); err != nil {
			return err
		}
		i += n
	}
	if from == 0 && len(end) > 0 {
		return w.c.exec(w.ctx, `UPDATE messages SET opens = 1 WHERE session = ? AND ordinal = ? AND opens = 0`, row.key, int64(end[0]))
	}
	return nil
}

// listRun appends a run to the list; one that goes on where the last ends makes
// that longer.
func (w *writing) listRun(session, place, ordinal, count int64) error {
	result, err := w.c.run(w.ctx, `UPDATE lists SET count = count + ?1
		WHERE session = ?2 AND place = (SELECT max(place) FROM lists WHERE session = ?2) AND ordinal + count = ?3`,
		count, session, ordinal)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n == 1 {
		return err
	}
	return w.c.exec(w.ctx, `INSERT INTO lists (session, place, ordinal, count) VALUES (?, ?, ?, ?)`, session, place, ordinal, count)
}

// compartment inserts a compartment or replaces the one with its ID.
func (w *writing) compartment(session int64, c *compartments.Compartment, record []byte) error {
	fresh, err := w.putRecord(record)
	if err != nil {
		return err
	}
	var old int64
	known, err := w.c.row(w.ctx, `SELECT document FROM compartments WHERE session = ? AND id = ?`, []any{session, int64(c.ID)}, &old)
	if err != nil {
		return err
	}
	if err := w.c.exec(w.ctx, `INSERT INTO compartments (session, id, first, last, served, document) VALUES (?, ?, ?, ?, 1, ?)
		ON CONFLICT DO UPDATE SET first = excluded.first, last = excluded.last, served = 1, document = excluded.document`,
		session, int64(c.ID), int64(c.First), int64(c.Last), fresh); err != nil {
		return err
	}
	if known {
		if err := w.release(old); err != nil {
			return err
		}
	}
	return w.wait(session, 0, int64(c.ID))
}

// retire keeps a compartment and no longer serves it.
func (w *writing) retire(session int64, id compartments.CompartmentID) error {
	if err := w.c.exec(w.ctx, `UPDATE compartments SET served = 0 WHERE session = ? AND id = ?`, session, int64(id)); err != nil {
		return err
	}
	return w.wait(session, 0, int64(id))
}

// digester hashes fields so that no two batches run into one another.
type digester struct{ b []byte }

func (d *digester) number(n int64) { d.b = binary.AppendVarint(d.b, n) }

func (d *digester) bytes(b []byte) {
	var sum compartments.Hash
	if len(b) > sha256.Size {
		sum = sha256.Sum256(b)
	}
	d.hashed(b, sum)
}

// hashed is bytes for those whose SHA-256 is known.
func (d *digester) hashed(b []byte, sum compartments.Hash) {
	if len(b) > sha256.Size {
		d.b = append(d.b, 0xff)
		d.b = append(d.b, sum[:]...)
		return
	}
	d.b = append(d.b, byte(len(b)))
	d.b = append(d.b, b...)
}

func (d *digester) sum() compartments.Hash { return sha256.Sum256(d.b) }

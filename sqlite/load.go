package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"ctxplugin/compartments"
)

// session finds a session's key; 0 means that it is not stored.
func (r *reading) session(id compartments.SessionID) (key int64, err error) {
	_, err = r.c.row(r.ctx, `SELECT key FROM sessions WHERE session = ?`, []any{string(id)}, &key)
	return key, err
}

func unknownSession(id compartments.SessionID) error {
	return compartments.Errorf(compartments.CodeUnknownSession, "session %s is not stored", id)
}

// Load returns a session as it is stored, or nil if it is not.
func (s *Store) Load(ctx context.Context, id compartments.SessionID) (*compartments.Stored, error) {
	var stored *compartments.Stored
	err := s.read(ctx, func(r *reading) (err error) {
		stored, err = r.load(id)
		return err
	})
	if err != nil {
		return nil, s.fail(fmt.Sprintf("load session %s", id), err)
	}
	return stored, nil
}

// Version returns the version of a session, 0 if it is not stored.
func (s *Store) Version(ctx context.Context, id compartments.SessionID) (version int64, err error) {
	err = s.read(ctx, func(r *reading) error {
		_, err := r.c.row(r.ctx, `SELECT version FROM sessions WHERE session = ?`, []any{string(id)}, &version)
		return err
	})
	if err != nil {
		return 0, s.fail(fmt.Sprintf("read the version of session %s", id), err)
	}
	return version, nil
}

func (r *reading) load(id compartments.SessionID) (*compartments.Stored, error) {
	st := &compartments.Stored{Session: id}
	var key, top int64
	found, err := r.c.row(r.ctx, `SELECT key, parent, version, top, folds, plan, state FROM sessions WHERE session = ?`,
		[]any{string(id)}, &key, &st.Parent, &st.Version, &top, &st.Folds, &st.PlanID, &st.State)
	if err != nil || !found {
		return nil, err
	}
	if st.Entries, err = r.entries(key, int(top)); err != nil {
		return nil, err
	}
	if st.List, err = r.list(key, len(st.Entries)); err != nil {
		return nil, err
	}
	if st.Compartments, err = r.compartments(key, servedOnly); err != nil {
		return nil, err
	}
	if st.Pins, err = r.pins(key); err != nil {
		return nil, err
	}
	var plan int64
	found, err = r.c.row(r.ctx, `SELECT document FROM plans WHERE session = ? AND plan = ?`, []any{key, st.PlanID}, &plan)
	if err != nil || !found {
		return st, err
	}
	st.Plan, err = r.document(plan)
	return st, err
}

func (r *reading) entries(session int64, about int) ([]compartments.Entry, error) {
	entries := make([]compartments.Entry, 0, min(about, 1<<16)) // ordinals may have gaps
	err := r.c.rows(r.ctx, `SELECT ordinal, id, hash, entry FROM messages WHERE session = ? ORDER BY ordinal`, []any{session},
		func(rows *sql.Rows) error {
			var e compartments.Entry
			var id string
			var hash, record sql.RawBytes
			if err := rows.Scan(&e.Ordinal, &id, &hash, &record); err != nil {
				return err
			}
			e.ID = compartments.MessageID(id)
			copy(e.Hash[:], hash)
			if err := decodeEntry(record, &e); err != nil {
				return err
			}
			entries = append(entries, e)
			return nil
		})
	return entries, err
}

func (r *reading) list(session int64, about int) ([]compartments.Ordinal, error) {
	list := make([]compartments.Ordinal, 0, about)
	err := r.c.rows(r.ctx, `SELECT ordinal, count FROM lists WHERE session = ? ORDER BY place`, []any{session},
		func(rows *sql.Rows) error {
			var first, count int64
			if err := rows.Scan(&first, &count); err != nil {
				return err
			}
			if count > lastOrdinal {
				return errMalformed
			}
			for o := first; o < first+count; o++ {
				list = append(list, compartments.Ordinal(o))
			}
			return nil
		})
	return list, err
}

// Which compartments are read: those that serve, or retired ones too.
const (
	servedOnly = 1
	everyOne   = 0
)

func (r *reading) compartments(session int64, served int) ([]compartments.Compartment, error) {
	var list []compartments.Compartment
	err := r.c.rows(r.ctx, `SELECT c.id, b.bytes FROM compartments c JOIN blobs b ON b.key = c.document
		WHERE c.session = ? AND c.served >= ? ORDER BY c.id`, []any{session, served},
		func(rows *sql.Rows) error {
			var c compartments.Compartment
			var record sql.RawBytes
			if err := rows.Scan(&c.ID, &record); err != nil {
				return err
			}
			if err := decodeCompartment(record, &c); err != nil {
				return err
			}
			list = append(list, c)
			return nil
		})
	return list, err
}

// Compartments returns every compartment of a session that was ever stored,
// retired ones too, by ID. A session that is not stored has none.
func (s *Store) Compartments(ctx context.Context, id compartments.SessionID) ([]compartments.Compartment, error) {
	var list []compartments.Compartment
	err := s.read(ctx, func(r *reading) error {
		key, err := r.session(id)
		if err == nil && key != 0 {
			list, err = r.compartments(key, everyOne)
		}
		return err
	})
	if err != nil {
		return nil, s.fail(fmt.Sprintf("read the compartments of session %s", id), err)
	}
	return list, nil
}

// Plan returns the bytes of a plan: the one in force, or one that a fold of the
// last 20 made or replaced. Any other is CodeNotFound.
func (s *Store) Plan(ctx context.Context, id compartments.SessionID, planID string) ([]byte, error) {
	var plan []byte
	err := s.read(ctx, func(r *reading) error {
		var document int64
		found, err := r.c.row(r.ctx, `SELECT p.document FROM sessions s JOIN plans p ON p.session = s.key
			WHERE s.session = ? AND p.plan = ?`, []any{string(id), planID}, &document)
		if err == nil && !found {
			err = compartments.Errorf(compartments.CodeNotFound, "session %s has no plan %s, or has it no longer", id, planID)
		}
		if err != nil {
			return err
		}
		plan, err = r.document(document)
		return err
	})
	if err != nil {
		return nil, s.fail("read a plan", err)
	}
	return plan, nil
}

// rawChunk is how many messages are read in one transaction: the log cannot
// shrink meanwhile.
const rawChunk = 128

// Raw returns the stored JSON of messages, byte for byte, in the order asked.
//
// Errors carry CodeUnknownSession or CodeNotFound when there is no such session
// or message, CodeStorage when the bytes are no longer those that were stored.
func (s *Store) Raw(ctx context.Context, id compartments.SessionID, ordinals []compartments.Ordinal) ([][]byte, error) {
	raw := make([][]byte, 0, len(ordinals))
	for done := false; !done; {
		err := s.read(ctx, func(r *reading) error {
			key, err := r.session(id)
			if err != nil {
				return err
			}
			if key == 0 {
				return unknownSession(id)
			}
			chunk := ordinals[len(raw):min(len(raw)+rawChunk, len(ordinals))]
			if first, last, dense := extent(chunk); dense {
				if err := r.readAhead(key, first, last); err != nil {
					return err
				}
			}
			for _, o := range chunk {
				b, err := r.message(key, o)
				if err != nil {
					return err
				}
				raw = append(raw, b)
			}
			return nil
		})
		if err != nil {
			return nil, s.fail(fmt.Sprintf("read messages of session %s", id), err)
		}
		done = len(raw) == len(ordinals)
	}
	return raw, nil
}

// extent is the range of some ordinals, and whether they fill most of it.
func extent(ordinals []compartments.Ordinal) (first, last int64, dense bool) {
	if len(ordinals) < 4 {
		return 0, 0, false
	}
	low, high := slices.Min(ordinals), slices.Max(ordinals)
	return int64(low), int64(high), int(high-low) < 2*len(ordinals)
}

// message reads the JSON of one message.
func (r *reading) message(session int64, ordinal compartments.Ordinal) ([]byte, error) {
	var key int64
	var b blob
	found, err := r.c.row(r.ctx, `SELECT b.key, b.hash, b.size, b.form, b.bytes FROM messages m JOIN blobs b ON b.key = m.document
		WHERE m.session = ? AND m.ordinal = ?`, []any{session, int64(ordinal)}, &key, &b.hash, &b.size, &b.form, &b.bytes)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, compartments.Errorf(compartments.CodeNotFound, "the session has no message %d", ordinal)
	}
	return r.verified(key, b)
}

// Copies lists other sessions that begin with a message of this content hash,
// newest first.
func (s *Store) Copies(ctx context.Context, id compartments.SessionID, first compartments.Hash) ([]compartments.SessionID, error) {
	var list []compartments.SessionID
	err := s.read(ctx, func(r *reading) error {
		return r.c.rows(r.ctx, `SELECT s.session FROM sessions s
			WHERE s.session IS NOT NULL AND s.session <> ? AND s.key IN (SELECT session FROM messages WHERE hash = ? AND opens = 1)
			ORDER BY s.changed DESC, s.key DESC`, []any{string(id), first[:]},
			func(rows *sql.Rows) error {
				var other string
				err := rows.Scan(&other)
				list = append(list, compartments.SessionID(other))
				return err
			})
	})
	if err != nil {
		return nil, s.fail("find copies of a session", err)
	}
	return list, nil
}

// Listing is what Sessions tells of one session.
type Listing struct {
	Session      compartments.SessionID
	Parent       compartments.SessionID
	Messages     int   // ever seen
	Compartments int   // served
	Folds        int   // so far
	Changed      int64 // time of the last batch, Unix ms
	Bytes        int64 // JSON of all messages as it came
}

// Sessions lists all sessions, the one changed last first.
func (s *Store) Sessions(ctx context.Context) ([]Listing, error) {
	var list []Listing
	err := s.read(ctx, func(r *reading) error {
		return r.c.rows(r.ctx, `SELECT session, parent, folds, changed, bytes,
				(SELECT count(*) FROM messages m WHERE m.session = s.key),
				(SELECT count(*) FROM compartments c WHERE c.session = s.key AND c.served = 1)
			FROM sessions s WHERE session IS NOT NULL ORDER BY changed DESC, key DESC`, nil,
			func(rows *sql.Rows) error {
				var l Listing
				err := rows.Scan(&l.Session, &l.Parent, &l.Folds, &l.Changed, &l.Bytes, &l.Messages, &l.Compartments)
				list = append(list, l)
				return err
			})
	})
	if err != nil {
		return nil, s.fail("list the sessions", err)
	}
	return list, nil
}

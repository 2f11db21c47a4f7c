package sqlite

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"fmt"

	"ctxplugin/compartments"
)

// blob is one row of blobs.
type blob struct {
	hash  []byte
	size  int
	form  int
	bytes []byte
}

func (r *reading) blob(key int64) (blob, error) {
	if b, ok := r.nearby[key]; ok {
		return b, nil
	}
	var b blob
	found, err := r.c.row(r.ctx, `SELECT hash, size, form, bytes FROM blobs WHERE key = ?`, []any{key},
		&b.hash, &b.size, &b.form, &b.bytes)
	if err == nil && !found {
		err = compartments.Errorf(compartments.CodeStorage, "blob %d is missing", key)
	}
	return b, err
}

// readAhead fetches the payloads of a run of messages with one query.
func (r *reading) readAhead(session, first, last int64) error {
	r.nearby = map[int64]blob{}
	return r.c.rows(r.ctx, `SELECT p.key, p.size, p.form, p.bytes FROM messages m
		JOIN uses u ON u.user = m.document JOIN blobs p ON p.key = u.used
		WHERE m.session = ? AND m.ordinal BETWEEN ? AND ?`, []any{session, first, last}, func(rows *sql.Rows) error {
		var key int64
		var b blob
		err := rows.Scan(&key, &b.size, &b.form, &b.bytes)
		r.nearby[key] = b
		return err
	})
}

// document reads a document byte for byte and checks its hash.
func (r *reading) document(key int64) ([]byte, error) {
	b, err := r.blob(key)
	if err != nil {
		return nil, err
	}
	return r.verified(key, b)
}

func (r *reading) verified(key int64, b blob) ([]byte, error) {
	content, err := r.content(b, true)
	if err != nil {
		return nil, fmt.Errorf("blob %d: %w", key, err)
	}
	if sum := sha256.Sum256(content); !bytes.Equal(sum[:], b.hash) {
		return nil, compartments.Errorf(compartments.CodeStorage, "blob %d no longer has the bytes that were stored", key)
	}
	return content, nil
}

// content makes a blob's content of its bytes. Without echoes each echo in it
// is left empty, which spares reading what it repeats.
func (r *reading) content(b blob, echoes bool) ([]byte, error) {
	if b.form&formEcho != 0 {
		if !echoes {
			return nil, nil
		}
		return r.echoContent(b)
	}
	record, err := r.pack.unpack(b.form, b.bytes)
	if err != nil || b.form&formCut == 0 {
		return record, err
	}
	refs, rest, err := decodeCut(record)
	if err != nil {
		return nil, err
	}
	if b.size < 0 || b.size > largestBlob {
		return nil, errMalformed
	}
	content := make([]byte, 0, b.size)
	for _, ref := range refs {
		content = append(content, rest[:ref.gap]...)
		rest = rest[ref.gap:]
		payload, err := r.blob(ref.key)
		if err != nil {
			return nil, err
		}
		if payload.form&formCut != 0 {
			return nil, errMalformed // payloads never nest
		}
		text, err := r.content(payload, echoes)
		if err != nil {
			return nil, err
		}
		content = append(content, text...)
	}
	return append(content, rest...), nil
}

// unreadable reports whether one blob could not be read because of what is in
// it. The database works; whoever reads many goes on with the next.
func unreadable(err error) bool { return err != nil && resultCode(err) == 0 }

// putMessage stores the JSON of a message of a session.
func (w *writing) putMessage(session int64, content []byte, p *preparedEntry) (int64, error) {
	next := 0
	return w.putCut(content, p.hash, p.cuts, func(s span) (int64, error) {
		at := next // strings come in order
		next++
		for _, call := range p.cuts.calls {
			if call.output == s && bytes.HasPrefix(call.tool.of(content), []byte(ownToolPrefix)) {
				return w.putEcho(session, s.of(content), call.input.of(content))
			}
		}
		if p.packed == nil {
			return w.putPayload(s.of(content), sha256.Sum256(s.of(content)))
		}
		return w.putPacked(&p.packed[at], s.len())
	})
}

// putTexts stores the texts of a layout.
func (w *writing) putTexts(p *preparedTexts) (int64, error) {
	next := 0
	return w.putCut(p.content, p.hash, p.cuts, func(s span) (int64, error) {
		at := next // strings come in order
		next++
		return w.putPayload(s.of(p.content), p.strings[at])
	})
}

// putRecord stores a record of ours as it is, because reading it fast matters
// more than its size.
func (w *writing) putRecord(record []byte) (int64, error) {
	return w.insert(record, sha256.Sum256(record), len(record), 0, false)
}

// putCut takes the spans of c out of content, stores each by put, and the rest
// as a document.
func (w *writing) putCut(content []byte, hash compartments.Hash, c cuts, put func(span) (int64, error)) (int64, error) {
	record, cut := content, 0
	refs := make([]ref, 0, len(c.strings))
	if len(c.strings) > 0 {
		rest := make([]byte, 0, len(content))
		end := 0
		for _, s := range c.strings {
			key, err := put(s)
			if err != nil {
				return 0, err
			}
			refs = append(refs, ref{gap: s.from - end, key: key})
			rest = append(rest, content[end:s.from]...)
			end = s.to
		}
		record, cut = encodeCut(refs, append(rest, content[end:]...)), formCut
	}
	form, packed, err := w.pack.pack(record)
	if err != nil {
		return 0, err
	}
	key, err := w.insert(packed, hash, len(content), form|cut, false)
	if err != nil {
		return 0, err
	}
	for _, r := range refs {
		if err := w.use(key, r.key); err != nil {
			return 0, err
		}
	}
	return key, nil
}

// packed is a payload as it is stored.
type packed struct {
	hash  compartments.Hash
	form  int
	bytes []byte
}

// putPayload stores a string once for all documents and returns its key. hash is that
// of its content.
func (w *writing) putPayload(content []byte, hash compartments.Hash) (int64, error) {
	p := packed{hash: hash}
	key, err := w.payload(p.hash)
	if err != nil || key != 0 {
		return key, err
	}
	if p.form, p.bytes, err = w.pack.pack(content); err != nil {
		return 0, err
	}
	return w.insert(p.bytes, p.hash, len(content), p.form, true)
}

// putPacked is putPayload for a string of some length that is packed already.
func (w *writing) putPacked(p *packed, size int) (int64, error) {
	key, err := w.payload(p.hash)
	if err != nil || key != 0 {
		return key, err
	}
	return w.insert(p.bytes, p.hash, size, p.form, true)
}

// payload finds a payload by its hash; 0 means that there is none.
func (w *writing) payload(hash compartments.Hash) (key int64, err error) {
	_, err = w.c.row(w.ctx, `SELECT key FROM blobs WHERE hash = ? AND shared = 1`, []any{hash[:]}, &key)
	return key, err
}

func (w *writing) insert(packed []byte, hash compartments.Hash, size, form int, shared bool) (int64, error) {
	if packed == nil {
		packed = []byte{}
	}
	result, err := w.c.run(w.ctx, `INSERT INTO blobs (hash, size, form, shared, held, bytes) VALUES (?, ?, ?, ?, ?, ?)`,
		hash[:], size, form, number(shared), number(!shared), packed)
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
}

// use records that one blob is needed to read another.
func (w *writing) use(user, used int64) error {
	return w.c.exec(w.ctx, `INSERT OR IGNORE INTO uses (user, used) VALUES (?, ?)`, user, used)
}

// release lets go of a document: it goes, with the payloads that only it
// needed, unless an echo still needs it.
func (w *writing) release(key int64) error {
	used, err := w.used(key)
	if err != nil {
		return err
	}
	if used {
		return w.c.exec(w.ctx, `UPDATE blobs SET held = 0 WHERE key = ?`, key)
	}
	return w.drop(key)
}

// used reports whether any blob needs this one.
func (w *writing) used(key int64) (bool, error) {
	var user int64
	return w.c.row(w.ctx, `SELECT user FROM uses WHERE used = ? LIMIT 1`, []any{key}, &user)
}

// drop deletes a blob that nothing needs, then what nothing needs any more.
func (w *writing) drop(key int64) error {
	needed, err := w.c.keys(w.ctx, `SELECT used FROM uses WHERE user = ?`, key)
	if err != nil {
		return err
	}
	if len(needed) > 0 {
		if err := w.c.exec(w.ctx, `DELETE FROM uses WHERE user = ?`, key); err != nil {
			return err
		}
	}
	if err := w.c.exec(w.ctx, `DELETE FROM blobs WHERE key = ?`, key); err != nil {
		return err
	}
	for _, key := range needed {
		used, err := w.used(key)
		if err != nil {
			return err
		}
		held := 1
		if !used {
			if _, err := w.c.row(w.ctx, `SELECT held FROM blobs WHERE key = ?`, []any{key}, &held); err != nil {
				return err
			}
		}
		if held == 0 {
			if err := w.drop(key); err != nil {
				return err
			}
		}
	}
	return nil
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// optional is how a key that may be absent is bound.
func optional(key int64) sql.NullInt64 { return sql.NullInt64{Int64: key, Valid: key != 0} }

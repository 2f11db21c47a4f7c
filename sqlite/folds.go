package sqlite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"

	"ctxplugin/compartments"
)

// keptFolds is for how many of a session's last folds the plan and the texts of
// the layout are kept. Inputs, hashes, decisions and layout stay for all.
const keptFolds = 20

// preparedFold is a fold with everything encoded.
type preparedFold struct {
	*compartments.Fold
	digest compartments.Hash
	inputs []byte
	layout []byte        // packed JSON, without the texts
	texts  preparedTexts // JSON array of the texts
}

// preparedTexts is a JSON text whose long strings are most likely stored by then:
// the plan of a fold shows the same ones.
type preparedTexts struct {
	content []byte
	hash    compartments.Hash
	cuts    cuts
	strings []compartments.Hash // of the long strings
}

// prepareTexts encodes the texts of a layout as a plan has them, so that both share what is
// stored.
func prepareTexts(layout []compartments.PairLayout) (p preparedTexts, err error) {
	texts, size := make([]string, len(layout)), 0
	for i := range layout {
		texts[i] = layout[i].Text
		size += len(texts[i])
	}
	var b bytes.Buffer
	b.Grow(size + size/16 + 64) // line ends are escaped
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(texts); err != nil {
		return p, err
	}
	p.content = bytes.TrimRight(b.Bytes(), "\n")
	p.hash = sha256.Sum256(p.content)
	p.cuts, _ = split(p.content)
	for _, s := range p.cuts.strings {
		p.strings = append(p.strings, sha256.Sum256(s.of(p.content)))
	}
	return p, nil
}

func (pack *packer) fold(f *compartments.Fold) (*preparedFold, error) {
	p := &preparedFold{Fold: f}
	if f.Number < 1 {
		return nil, badBatch("fold %d: folds count from 1", f.Number)
	}
	layout := compartments.AppendLayout(nil, f.Layout)
	rest := *f
	rest.Inputs, rest.Layout = compartments.FoldInputs{}, nil
	var decisions []byte
	var err error
	if p.inputs, err = json.Marshal(&f.Inputs); err == nil {
		decisions, err = json.Marshal(&rest)
	}
	if err == nil {
		p.texts, err = prepareTexts(f.Layout)
	}
	if err == nil {
		p.layout, err = pack.frame(layout)
	}
	if err != nil {
		return nil, fmt.Errorf("encode fold %d: %w", f.Number, err)
	}
	d := digester{}
	d.bytes(p.inputs)
	d.bytes(layout)
	d.bytes(decisions)
	d.hashed(p.texts.content, p.texts.hash)
	p.digest = d.sum()
	return p, nil
}

// fold stores a fold with its decisions and lets go of the texts of old ones. before
// is the number of the fold before it.
func (w *writing) fold(session, before int64, f *preparedFold) error {
	number := int64(f.Number)
	if err := w.dropTexts(session, number-1, number); err != nil {
		return err
	}
	if err := w.c.exec(w.ctx, `DELETE FROM folds WHERE session = ? AND number = ?`, session, number); err != nil {
		return err
	}
	texts, err := w.putTexts(&f.texts)
	if err != nil {
		return err
	}
	if err := w.c.exec(w.ctx, `INSERT INTO folds (session, number, at, reason, divergence, first_moved, through, plan,
		inputs_hash, inputs, layout, texts) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		session, f.Number, f.At, string(f.Reason), f.Divergence, int64(f.FirstMoved), int64(f.Through), f.PlanID,
		f.InputsHash[:], string(f.inputs), f.layout, optional(texts)); err != nil {
		return err
	}
	if err := w.decisions(session, f); err != nil {
		return err
	}
	// The fold before let go of the texts of all that it left behind: to look at each
	// of these folds again would read every one there ever was.
	return w.dropTexts(session, before-keptFolds, number-keptFolds)
}

// decisionInserts store 16 decisions, 8, 4, 2 or 1: a fold of a long session has
// hundreds, and a statement takes longer to run than a row to write.
var decisionInserts = [...]string{decisionInsert(16), decisionInsert(8), decisionInsert(4), decisionInsert(2), decisionInsert(1)}

func decisionInsert(rows int) string {
	const row = `(?, ?, ?, ?, ?, ?, ?, ?, ?)`
	return `INSERT INTO decisions (session, fold, place, compartment, tier_from, tier_to, highest, lowest, reason) VALUES ` +
		strings.Repeat(row+", ", rows-1) + row
}

func (w *writing) decisions(session int64, f *preparedFold) error {
	var values []any
	rows, which := 16, 0
	for at := 0; at < len(f.Decisions); at += rows {
		for rows > len(f.Decisions)-at {
			rows /= 2
			which++
		}
		values = values[:0]
		for i, d := range f.Decisions[at : at+rows] {
			values = append(values, session, f.Number, at+i, int64(d.Compartment), int64(d.From), int64(d.To), int64(d.Highest), int64(d.Lowest), string(d.Reason))
		}
		if err := w.c.exec(w.ctx, decisionInserts[which], values...); err != nil {
			return err
		}
	}
	return nil
}

// dropTexts lets go of the texts of the folds behind one number and up to another.
func (w *writing) dropTexts(session, behind, upTo int64) error {
	if upTo < 1 || upTo <= behind {
		return nil
	}
	keys, err := w.c.keys(w.ctx, `SELECT texts FROM folds WHERE session = ? AND number > ? AND number <= ? AND texts IS NOT NULL`, session, behind, upTo)
	if err != nil || len(keys) == 0 {
		return err
	}
	if err := w.c.exec(w.ctx, `UPDATE folds SET texts = NULL WHERE session = ? AND number > ? AND number <= ? AND texts IS NOT NULL`, session, behind, upTo); err != nil {
		return err
	}
	for _, key := range keys {
		if err := w.release(key); err != nil {
			return err
		}
	}
	return nil
}

// Folds returns the folds of a session, oldest first. The texts of the layout
// are there for the last 20. A session that is not stored has none.
func (s *Store) Folds(ctx context.Context, id compartments.SessionID) ([]compartments.Fold, error) {
	var folds []compartments.Fold
	err := s.read(ctx, func(r *reading) error {
		key, err := r.session(id)
		if err != nil || key == 0 {
			return err
		}
		if folds, err = r.folds(key); err != nil {
			return err
		}
		return r.decisions(key, folds)
	})
	if err != nil {
		return nil, s.fail(fmt.Sprintf("read the folds of session %s", id), err)
	}
	return folds, nil
}

func (r *reading) folds(session int64) ([]compartments.Fold, error) {
	var folds []compartments.Fold
	var texts []sql.NullInt64
	err := r.c.rows(r.ctx, `SELECT number, at, reason, divergence, first_moved, through, plan, inputs_hash, inputs, layout, texts
		FROM folds WHERE session = ? ORDER BY number`, []any{session}, func(rows *sql.Rows) error {
		var f compartments.Fold
		var hash, layout []byte
		var inputs, reason string
		var text sql.NullInt64
		if err := rows.Scan(&f.Number, &f.At, &reason, &f.Divergence, &f.FirstMoved, &f.Through, &f.PlanID,
			&hash, &inputs, &layout, &text); err != nil {
			return err
		}
		f.Reason = compartments.Reason(reason)
		copy(f.InputsHash[:], hash)
		bare, err := r.pack.unpack(formPacked, layout)
		if err == nil {
			err = json.Unmarshal(bare, &f.Layout)
		}
		if err == nil {
			err = json.Unmarshal([]byte(inputs), &f.Inputs)
		}
		if err != nil {
			return fmt.Errorf("fold %d: %w", f.Number, err)
		}
		folds, texts = append(folds, f), append(texts, text)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range folds {
		if !texts[i].Valid {
			continue
		}
		if err := r.layoutTexts(texts[i].Int64, folds[i].Layout); err != nil {
			return nil, fmt.Errorf("fold %d: %w", folds[i].Number, err)
		}
	}
	return folds, nil
}

func (r *reading) layoutTexts(key int64, layout []compartments.PairLayout) error {
	content, err := r.document(key)
	if err != nil {
		return err
	}
	var texts []string
	if err := json.Unmarshal(content, &texts); err != nil {
		return err
	}
	if len(texts) != len(layout) {
		return errMalformed
	}
	for i := range layout {
		layout[i].Text = texts[i]
	}
	return nil
}

// decisions fills in the decisions of folds, which are in the order of their
// numbers.
func (r *reading) decisions(session int64, folds []compartments.Fold) error {
	at := 0
	return r.c.rows(r.ctx, `SELECT fold, compartment, tier_from, tier_to, highest, lowest, reason
		FROM decisions WHERE session = ? ORDER BY fold, place`, []any{session}, func(rows *sql.Rows) error {
		var d compartments.Decision
		var fold int
		if err := rows.Scan(&fold, &d.Compartment, &d.From, &d.To, &d.Highest, &d.Lowest, &d.Reason); err != nil {
			return err
		}
		for at < len(folds) && folds[at].Number < fold {
			at++
		}
		if at < len(folds) && folds[at].Number == fold {
			folds[at].Decisions = append(folds[at].Decisions, d)
		}
		return nil
	})
}

// Ledger sums up the folds of a session, oldest first, without reading texts,
// decisions or recordings. A session that is not stored has none.
func (s *Store) Ledger(ctx context.Context, id compartments.SessionID) ([]compartments.FoldSummary, error) {
	var list []compartments.FoldSummary
	err := s.read(ctx, func(r *reading) error {
		key, err := r.session(id)
		if err != nil || key == 0 {
			return err
		}
		return r.c.rows(r.ctx, `SELECT number, at, reason, divergence, through, ifnull(inputs ->> '$.before', 0), ifnull(inputs ->> '$.after', 0), layout
			FROM folds WHERE session = ? ORDER BY number`, []any{key}, func(rows *sql.Rows) error {
			f := compartments.FoldSummary{Tiers: map[compartments.Tier]int{}}
			var layout sql.RawBytes
			if err := rows.Scan(&f.Number, &f.At, &f.Reason, &f.Divergence, &f.Through, &f.Before, &f.After, &layout); err != nil {
				return err
			}
			if f.Pairs, err = r.countTiers(layout, f.Tiers); err != nil {
				return fmt.Errorf("fold %d: %w", f.Number, err)
			}
			list = append(list, f)
			return nil
		})
	})
	if err != nil {
		return nil, s.fail(fmt.Sprintf("read the ledger of session %s", id), err)
	}
	return list, nil
}

// countTiers counts the compartments of a stored layout by tier, and its pairs.
func (r *reading) countTiers(layout []byte, tiers map[compartments.Tier]int) (pairs int, err error) {
	bare, err := r.pack.unpack(formPacked, layout)
	if err != nil {
		return 0, err
	}
	var list []struct {
		Items []struct {
			Compartments []compartments.CompartmentID `json:"compartments"`
			Tier         compartments.Tier            `json:"tier"`
		} `json:"items"`
	}
	if err := json.Unmarshal(bare, &list); err != nil {
		return 0, err
	}
	for i := range list {
		for _, item := range list[i].Items {
			if n := len(item.Compartments); n > 0 {
				tiers[item.Tier] += n
			}
		}
	}
	return len(list), nil
}

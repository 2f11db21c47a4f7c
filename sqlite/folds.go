package sqlite

import (
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
	layout []byte // JSON, without the texts
	texts  []byte // JSON array of the texts
}

func prepareFold(f *compartments.Fold) (*preparedFold, error) {
	p := &preparedFold{Fold: f}
	if f.Number < 1 {
		return nil, badBatch("fold %d: folds count from 1", f.Number)
	}
	bare := make([]compartments.PairLayout, len(f.Layout))
	texts := make([]string, len(f.Layout))
	for i, pair := range f.Layout {
		texts[i], pair.Text = pair.Text, ""
		bare[i] = pair
	}
	rest := *f
	rest.Inputs, rest.Layout = compartments.FoldInputs{}, nil
	d := digester{}
	for _, part := range []struct {
		of any
		to *[]byte
	}{{&f.Inputs, &p.inputs}, {bare, &p.layout}, {texts, &p.texts}, {&rest, new([]byte)}} {
		b, err := json.Marshal(part.of)
		if err != nil {
			return nil, fmt.Errorf("encode fold %d: %w", f.Number, err)
		}
		*part.to = b
		d.bytes(b)
	}
	p.digest = d.sum()
	return p, nil
}

// fold stores a fold with its decisions and lets go of the texts of old ones.
func (w *writing) fold(session int64, f *preparedFold) error {
	if err := w.dropTexts(session, `SELECT texts FROM folds WHERE session = ?1 AND number = ?2 AND texts IS NOT NULL`, f.Number); err != nil {
		return err
	}
	if err := w.c.exec(w.ctx, `DELETE FROM folds WHERE session = ? AND number = ?`, session, f.Number); err != nil {
		return err
	}
	texts, err := w.putText(f.texts)
	if err != nil {
		return err
	}
	layout, err := w.pack.frame(f.layout)
	if err != nil {
		return err
	}
	if err := w.c.exec(w.ctx, `INSERT INTO folds (session, number, at, reason, divergence, first_moved, through, plan,
		inputs_hash, inputs, layout, texts) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		session, f.Number, f.At, string(f.Reason), f.Divergence, int64(f.FirstMoved), int64(f.Through), f.PlanID,
		f.InputsHash[:], string(f.inputs), layout, optional(texts)); err != nil {
		return err
	}
	if err := w.decisions(session, f); err != nil {
		return err
	}
	if err := w.dropTexts(session, `SELECT texts FROM folds WHERE session = ?1 AND number <= ?2 AND texts IS NOT NULL`, f.Number-keptFolds); err != nil {
		return err
	}
	return w.c.exec(w.ctx, `UPDATE folds SET texts = NULL WHERE session = ? AND number <= ? AND texts IS NOT NULL`, session, f.Number-keptFolds)
}

// manyDecisions is how many are stored by one statement: a fold of a long session
// has hundreds, and a statement takes longer to run than a row to write.
const (
	manyDecisions  = 16
	decisionInsert = `INSERT INTO decisions (session, fold, place, compartment, tier_from, tier_to, highest, lowest, reason) VALUES `
	decisionRow    = `(?, ?, ?, ?, ?, ?, ?, ?, ?)`
)

var manyDecisionsInsert = decisionInsert + strings.Repeat(decisionRow+", ", manyDecisions-1) + decisionRow

func (w *writing) decisions(session int64, f *preparedFold) error {
	var values []any
	for i, d := range f.Decisions {
		values = append(values, session, f.Number, i, int64(d.Compartment), int64(d.From), int64(d.To), int64(d.Highest), int64(d.Lowest), string(d.Reason))
		rest := len(f.Decisions) - len(f.Decisions)%manyDecisions
		query := decisionInsert + decisionRow
		if i < rest {
			if (i+1)%manyDecisions != 0 {
				continue
			}
			query = manyDecisionsInsert
		}
		if err := w.c.exec(w.ctx, query, values...); err != nil {
			return err
		}
		values = values[:0]
	}
	return nil
}

func (w *writing) dropTexts(session int64, query string, number int) error {
	keys, err := w.c.keys(w.ctx, query, session, number)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if err := w.release(key); err != nil {
			return err
		}
	}
	return nil
}

// preparedPlan is a plan with its long strings packed.
type preparedPlan struct {
	hash   compartments.Hash
	cuts   cuts
	packed []packed // nil if that failed: who stores them packs them
}

func (pack *packer) plan(content []byte) preparedPlan {
	p := preparedPlan{hash: sha256.Sum256(content)}
	p.cuts, _ = split(content)
	p.packed = pack.strings(content, p.cuts)
	return p
}

// plan stores the bytes of the batch's plan, once under its name.
func (w *writing) plan(session int64, p *prepared) error {
	var document int64
	known, err := w.c.row(w.ctx, `SELECT document FROM plans WHERE session = ? AND plan = ?`, []any{session, p.PlanID}, &document)
	if err != nil {
		return err
	}
	if known {
		stored, err := w.document(document)
		if err != nil {
			return err
		}
		if string(stored) == string(p.Plan) {
			return nil
		}
		if err := w.release(document); err != nil {
			return err
		}
	}
	next := 0
	document, err = w.putCut(p.Plan, p.plan.hash, p.plan.cuts, func(s span) (int64, error) {
		at := next // strings come in order
		next++
		if p.plan.packed == nil {
			return w.putPayload(s.of(p.Plan))
		}
		return w.putPacked(&p.plan.packed[at], s.len())
	})
	if err != nil {
		return err
	}
	return w.c.exec(w.ctx, `INSERT OR REPLACE INTO plans (session, plan, document) VALUES (?, ?, ?)`, session, p.PlanID, document)
}

// trimPlans lets go of plans that are neither in force nor of one of the last
// folds or of the one before these, nor replaced by one of them.
func (w *writing) trimPlans(session int64) error {
	// Almost every plan is that of a fold, and what the oldest of the last folds
	// replaced is almost always that of the one before it: so those are asked first.
	// The inputs of a fold are long, and to look for the words in them is a tenth of
	// reading them as JSON; they are those that encode wrote.
	keys, err := w.c.keys(w.ctx, `WITH newest AS MATERIALIZED (SELECT folds AS number FROM sessions WHERE key = ?1),
			last AS MATERIALIZED (SELECT number, plan FROM folds WHERE session = ?1 AND number >= (SELECT number FROM newest) - ?2)
		SELECT document FROM plans p WHERE session = ?1 AND CASE
			WHEN plan = (SELECT plan FROM sessions WHERE key = ?1) OR plan IN (SELECT plan FROM last) THEN 0
			ELSE NOT EXISTS (SELECT 1 FROM last JOIN folds f ON f.session = ?1 AND f.number = last.number
				WHERE last.number > (SELECT number FROM newest) - ?2 AND instr(f.inputs, '"replaces":"' || p.plan || '"') > 0) END`, session, keptFolds)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if err := w.c.exec(w.ctx, `DELETE FROM plans WHERE session = ? AND document = ?`, session, key); err != nil {
			return err
		}
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

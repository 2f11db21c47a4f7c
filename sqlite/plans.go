package sqlite

import (
	"crypto/sha256"
	"database/sql"
	"maps"

	"ctxplugin/compartments"
)

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
			return w.putPayload(s.of(p.Plan), sha256.Sum256(s.of(p.Plan)))
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
func (w *writing) trimPlans(row *sessionRow, known *shown) error {
	// Almost every plan is that of a fold, and what the oldest of the last folds
	// replaced is almost always that of the one before it: so those are asked first.
	var others []string
	var keys []int64
	session := row.key
	err := w.c.rows(w.ctx, `SELECT plan, document FROM plans WHERE session = ?1 AND plan <> (SELECT plan FROM sessions WHERE key = ?1)
		AND plan NOT IN (SELECT plan FROM folds WHERE session = ?1 AND number >= ?2)`, []any{session, row.folds - keptFolds}, func(r *sql.Rows) error {
		var plan string
		var key int64
		err := r.Scan(&plan, &key)
		others, keys = append(others, plan), append(keys, key)
		return err
	})
	if err != nil || len(keys) == 0 {
		return err
	}
	if err := w.replaced(row, known); err != nil {
		return err
	}
	replaced := map[string]bool{}
	for _, plan := range known.replaces {
		replaced[plan] = true
	}
	gone := keys[:0]
	for i, plan := range others {
		if !replaced[plan] {
			gone = append(gone, keys[i])
		}
	}
	keys = gone
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

// replaced makes sure that it is known what each of the last folds replaced. Their
// inputs are long, and a process that made them itself reads none of them.
func (w *writing) replaced(row *sessionRow, known *shown) error {
	maps.DeleteFunc(known.replaces, func(number int64, _ string) bool { return number <= row.folds-keptFolds || number > row.folds })
	missing := false
	for number := max(1, row.folds-keptFolds+1); number <= row.folds; number++ {
		_, ok := known.replaces[number]
		missing = missing || !ok
	}
	if !missing {
		return nil
	}
	return w.c.rows(w.ctx, `SELECT number, ifnull(inputs ->> '$.replaces', '') FROM folds WHERE session = ? AND number > ? AND number <= ?`,
		[]any{row.key, row.folds - keptFolds, row.folds}, func(r *sql.Rows) error {
			var number int64
			var plan string
			err := r.Scan(&number, &plan)
			known.replaces[number] = plan
			return err
		})
}

package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"ctxplugin/compartments"
)

const (
	searchLimit = 200 // most hits of one search
	candidates  = 400 // most rows of the word index that one query looks at, newest first
	fewHits     = 3   // hits by words from which no scan follows, if none has the string itself
)

// Search finds an exact string or words in the messages and compartments of a
// session, best first: the string as asked, then in other case, then fields
// that have all the words; among equals by how often and how densely the field
// has the rarest of them, then newest first. There is one hit for each field,
// at most limit (1 to 200) in all; withdrawn messages are searched too. Results
// of our own tools are not.
//
// The word index answers first. Where it does not know the string (the middle of
// a word, punctuation alone, an absent string) and finds little else, or cannot
// (a script without blanks), the newest 64 MB of the session are scanned for the
// string. Messages not indexed yet are always scanned.
//
// Errors carry CodeBadInput for an empty query, CodeUnknownSession when the
// session is not stored.
func (s *Store) Search(ctx context.Context, id compartments.SessionID, text string, limit int) ([]compartments.Hit, error) {
	hits, err := s.search(ctx, id, newQuery(text), limit)
	if err != nil {
		return nil, s.fail(fmt.Sprintf("search session %s", id), err)
	}
	return hits, nil
}

func (s *Store) search(ctx context.Context, id compartments.SessionID, q query, limit int) ([]compartments.Hit, error) {
	if q.literal == "" {
		return nil, compartments.Errorf(compartments.CodeBadInput, "search for what? the query is empty")
	}
	limit = min(max(limit, 1), searchLimit)
	f := finder{query: q, found: map[spot]ranked{}}
	err := s.read(ctx, func(r *reading) (err error) {
		if f.session, err = r.session(id); err != nil {
			return err
		}
		if f.session == 0 {
			return unknownSession(id)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	// What waits is read before the index: what is indexed between the two is in
	// both, and the other way round it would be in neither.
	if err := f.scan(ctx, s, true); err != nil {
		return nil, err
	}
	if err := s.read(ctx, f.byWords); err != nil {
		return nil, err
	}
	if q.joined || f.literals == 0 && len(f.found) < min(fewHits, limit) {
		if err := f.scan(ctx, s, false); err != nil {
			return nil, err
		}
	}
	return f.best(limit), nil
}

// spot is one field of one part, or one compartment.
type spot struct {
	ordinal     compartments.Ordinal
	compartment compartments.CompartmentID
	part        int
	field       compartments.Field
}

// ranked is a hit with what decides its place.
type ranked struct {
	compartments.Hit
	grade int
	score int
}

// finder gathers the hits of one search.
type finder struct {
	query
	session  int64
	found    map[spot]ranked
	literals int // hits that have the string itself
}

// add keeps the better of two hits in the same field.
func (f *finder) add(at spot, h ranked) {
	old, known := f.found[at]
	if known && (old.grade > h.grade || (old.grade == h.grade && old.score >= h.score)) {
		return
	}
	if h.grade >= gradePhrase && (!known || old.grade < gradePhrase) {
		f.literals++
	}
	f.found[at] = h
}

// best sorts the hits.
func (f *finder) best(limit int) []compartments.Hit {
	all := make([]ranked, 0, len(f.found))
	for _, h := range f.found {
		all = append(all, h)
	}
	slices.SortFunc(all, func(a, b ranked) int {
		return cmp.Or(
			cmp.Compare(b.grade, a.grade), cmp.Compare(b.score, a.score),
			cmp.Compare(b.Ordinal, a.Ordinal), cmp.Compare(b.Compartment, a.Compartment),
			cmp.Compare(a.Part, b.Part), cmp.Compare(a.Field, b.Field), cmp.Compare(a.Offset, b.Offset),
		)
	})
	hits := make([]compartments.Hit, min(limit, len(all)))
	for i := range hits {
		hits[i] = all[i].Hit
	}
	return hits
}

// score grows with the count of a match and falls with the length of its text,
// as BM25 has it: 1000 times count·2.2 ÷ (count + 1.2·(0.25 + 0.75·length÷2048)).
func score(count, length int) int {
	return 2200 * count * 1000 / (count*1000 + 300 + 900*length/2048)
}

// byWords asks the word index: first for the words side by side, the last one
// perhaps only begun, then, if that finds little, for all of them anywhere.
func (f *finder) byWords(r *reading) error {
	if len(f.words) == 0 {
		return nil
	}
	asked := []string{f.phrase()}
	if len(f.words) > 1 {
		asked = append(asked, f.all())
	}
	before := f.literals
	for i, expression := range asked {
		if i > 0 && f.literals-before >= fewHits {
			break
		}
		if err := f.messageRows(r, expression); err != nil {
			return err
		}
		if err := f.compartmentRows(r, expression); err != nil {
			return err
		}
	}
	return nil
}

func (f *finder) messageRows(r *reading, expression string) error {
	first, last := sessionRows(f.session)
	rows, err := r.c.keys(r.ctx, `SELECT rowid FROM message_words WHERE message_words MATCH ? AND rowid BETWEEN ? AND ?
		ORDER BY rowid DESC LIMIT ?`, expression, first, last, candidates)
	if err != nil {
		return err
	}
	for len(rows) > 0 {
		ordinal := rows[0] >> passageBits & lastOrdinal
		n := 1
		for n < len(rows) && rows[n]>>passageBits&lastOrdinal == ordinal {
			n++
		}
		if err := f.message(r, compartments.Ordinal(ordinal), rows[:n]); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// message looks at the passages of one message that the index named. One that
// waits is left to the scan: the index knows an older text of it.
func (f *finder) message(r *reading, ordinal compartments.Ordinal, rows []int64) error {
	var b blob
	found, err := r.c.row(r.ctx, `SELECT b.size, b.form, b.bytes FROM messages m JOIN blobs b ON b.key = m.document
		WHERE m.session = ?1 AND m.ordinal = ?2
		AND NOT EXISTS (SELECT 1 FROM waiting w WHERE w.session = ?1 AND w.ordinal = ?2 AND w.compartment = 0)`,
		[]any{f.session, int64(ordinal)}, &b.size, &b.form, &b.bytes)
	if err != nil || !found {
		return err
	}
	content, err := r.content(b, false)
	if unreadable(err) {
		return nil
	}
	if err != nil {
		return err
	}
	m, err := compartments.DecodeMessage(content)
	if err != nil {
		return nil // there is nothing in it to find
	}
	fields := searchables(&m)
	passages := passagesOf(fields)
	for _, row := range rows {
		n := int(row & (1<<passageBits - 1))
		if n >= len(passages) {
			continue
		}
		p := passages[n]
		found := f.find(p.text, fold(p.text), true)
		if found.grade == gradeNone {
			// The index sees through accents and the case of any script. All that
			// is known then is the passage.
			found = match{grade: gradeWords, count: 1}
		}
		i := slices.IndexFunc(fields, func(s searchable) bool { return s.part == p.part && s.field == p.field })
		found.at += p.from
		f.addMessage(ordinal, &fields[i], found)
	}
	return nil
}

func (f *finder) addMessage(ordinal compartments.Ordinal, field *searchable, m match) {
	f.add(spot{ordinal: ordinal, part: field.part, field: field.field}, ranked{
		Hit: compartments.Hit{Ordinal: ordinal, Part: field.part, Field: field.field,
			Offset: field.offset(m.at), Excerpt: excerpt(field.text, m.at, m.size)},
		grade: m.grade, score: score(m.count, len(field.text)),
	})
}

func (f *finder) compartmentRows(r *reading, expression string) error {
	first, last := sessionRows(f.session)
	rows, err := r.c.keys(r.ctx, `SELECT rowid FROM compartment_words WHERE compartment_words MATCH ? AND rowid BETWEEN ? AND ?
		ORDER BY rowid DESC LIMIT ?`, expression, first, last, candidates)
	if err != nil {
		return err
	}
	for _, row := range rows {
		var record []byte
		id := row - first
		found, err := r.c.row(r.ctx, `SELECT b.bytes FROM compartments c JOIN blobs b ON b.key = c.document
			WHERE c.session = ? AND c.id = ? AND c.served = 1`, []any{f.session, id}, &record)
		if err != nil {
			return err
		}
		if found {
			if err := f.compartment(compartments.CompartmentID(id), record, true); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *finder) compartment(id compartments.CompartmentID, record []byte, words bool) error {
	var c compartments.Compartment
	if err := decodeCompartment(record, &c); err != nil {
		return err
	}
	text := compartmentText(&c)
	m := f.find(text, fold(text), words)
	shown, at := text, m.at
	if m.grade == gradeNone {
		// The title is no field that an offset could point into.
		if m = f.find(c.Title, fold(c.Title), words); m.grade == gradeNone {
			return nil
		}
		shown, at = c.Title, m.at
		m.at = 0
	}
	f.add(spot{compartment: id, part: -1, field: compartments.FieldText}, ranked{
		Hit: compartments.Hit{Compartment: id, Part: -1, Field: compartments.FieldText, Offset: m.at,
			Excerpt: excerpt(shown, at, m.size)},
		grade: m.grade, score: score(m.count, len(text)),
	})
	return nil
}

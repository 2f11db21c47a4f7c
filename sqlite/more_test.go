package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ctxplugin/compartments"
	"ctxplugin/sqlite"
)

func TestLoad_UnknownIsNil(t *testing.T) {
	s := newStore(t)
	ctx := context.Background()
	if st, err := s.Load(ctx, "none"); st != nil || err != nil {
		t.Errorf("load: %v, %v", st, err)
	}
	if ledger, err := s.Ledger(ctx, "none"); ledger != nil || err != nil {
		t.Errorf("ledger of an unknown session: %v, %v", ledger, err)
	}
	if folds, err := s.Folds(ctx, "none"); folds != nil || err != nil {
		t.Errorf("folds: %v, %v", folds, err)
	}
	if list, err := s.Copies(ctx, "none", compartments.Hash{}); list != nil || err != nil {
		t.Errorf("copies: %v, %v", list, err)
	}
	if list, err := s.Sessions(ctx); list != nil || err != nil {
		t.Errorf("sessions: %v, %v", list, err)
	}
	if err := s.Forget(ctx, "none"); err != nil {
		t.Errorf("forget: %v", err)
	}
	_, err := s.Raw(ctx, "none", ordinals(1))
	wantCode(t, err, compartments.CodeUnknownSession)
}

func TestRaw_AbsentOrdinal(t *testing.T) {
	s := newStore(t)
	store(t, s, "ses", user("m1", "hello"))
	for _, o := range []compartments.Ordinal{0, 2, -1, 1 << 40} {
		_, err := s.Raw(context.Background(), "ses", []compartments.Ordinal{1, o})
		wantCode(t, err, compartments.CodeNotFound)
	}
	if got := raw(t, s, "ses", 1, 1); len(got) != 2 || got[0] != got[1] {
		t.Errorf("twice: %q", got)
	}
	if got := raw(t, s, "ses"); len(got) != 0 {
		t.Errorf("none: %q", got)
	}
}

func TestRaw_LongRange(t *testing.T) {
	s := newStore(t)
	var all []string
	for i := range 700 {
		all = append(all, tool(fmt.Sprint("m", i), "bash", `{}`, scrambled(i, 1000+i*5)))
	}
	store(t, s, "ses", all...)
	if got := raw(t, s, "ses", ordinals(700)...); !slices.Equal(got, all) {
		t.Error("messages differ")
	}
}

// TestCommit_FaultLeavesEverything: whatever a batch brings, a failure right
// before the commit leaves the old state, and the same batch goes in later.
func TestCommit_FaultLeavesEverything(t *testing.T) {
	var fault error
	s := open(t, t.TempDir()+"/ctx.db", sqlite.Options{FailCommit: func() error { return fault }})
	store(t, s, "ses", user("m1", "hello"))
	commit(t, s, &compartments.Batch{Session: "ses", Version: 1, ListFrom: -1, PlanID: "old", Plan: []byte(`{"old":1}`)})
	next := &compartments.Batch{Session: "ses", Version: 2, ListFrom: 1, List: ordinals(2)[1:],
		Entries:      []compartments.EntryWrite{write(t, 1, user("m1", "edited")), write(t, 2, user("m2", strings.Repeat("new ", 999)))},
		Compartments: []compartments.Compartment{{ID: 1, First: 1, Last: 1, Members: ordinals(1)}},
		Fold:         &compartments.Fold{Number: 1, PlanID: "new"}, PlanID: "new", Plan: []byte(`{"new":1}`), State: []byte("new")}
	fault = errors.New("injected")
	_, err := s.Commit(context.Background(), next)
	wantCode(t, err, compartments.CodeStorage)
	if !errors.Is(err, fault) {
		t.Errorf("error: %v", err)
	}
	st := load(t, s, "ses")
	if st.Version != 2 || string(st.Plan) != `{"old":1}` || len(st.Entries) != 1 || st.State != nil || st.Folds != 0 || len(st.Compartments) != 0 {
		t.Errorf("stored: %+v", st)
	}
	if got := raw(t, s, "ses", 1)[0]; got != user("m1", "hello") {
		t.Errorf("message 1: %s", got)
	}
	fault = nil
	if v := commit(t, s, next); v != 3 {
		t.Errorf("version %d", v)
	}
}

func TestCommit_RefusesContradictions(t *testing.T) {
	s := newStore(t)
	store(t, s, "ses", user("m1", "hello"))
	for name, b := range map[string]*compartments.Batch{
		"no session":                {ListFrom: -1},
		"ordinal 0":                 {Session: "ses", Version: 1, ListFrom: -1, Entries: []compartments.EntryWrite{{Raw: []byte("{}")}}},
		"ordinal too large":         {Session: "ses", Version: 1, ListFrom: -1, Entries: []compartments.EntryWrite{{Entry: compartments.Entry{Ordinal: 1 << 22}, Raw: []byte("{}")}}},
		"no JSON, no message":       {Session: "ses", Version: 1, ListFrom: -1, Entries: []compartments.EntryWrite{{Entry: compartments.Entry{Ordinal: 2}}}},
		"list behind its end":       {Session: "ses", Version: 1, ListFrom: 2},
		"list of absent messages":   {Session: "ses", Version: 1, ListFrom: 1, List: []compartments.Ordinal{2}},
		"list of ordinal 0":         {Session: "ses", Version: 1, ListFrom: 1, List: []compartments.Ordinal{0}},
		"compartment without an ID": {Session: "ses", Version: 1, ListFrom: -1, Compartments: []compartments.Compartment{{}}},
		"fold 0":                    {Session: "ses", Version: 1, ListFrom: -1, Fold: &compartments.Fold{}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.Commit(context.Background(), b)
			wantCode(t, err, compartments.CodeBadInput)
		})
	}
	for _, version := range []int64{0, 2, -1} {
		_, err := s.Commit(context.Background(), &compartments.Batch{Session: "ses", Version: version, ListFrom: -1})
		wantCode(t, err, compartments.CodeBusy)
	}
	_, err := s.Commit(context.Background(), &compartments.Batch{Session: "new", Version: 1, ListFrom: -1})
	wantCode(t, err, compartments.CodeBusy)
	if st := load(t, s, "ses"); st.Version != 1 || len(st.List) != 1 {
		t.Errorf("stored: %+v", st)
	}
}

func TestFolds_TextsOfTheLast20(t *testing.T) {
	s := newStore(t)
	store(t, s, "ses", user("m1", "hello"))
	pair := func(n int) compartments.PairLayout {
		return compartments.PairLayout{Text: fmt.Sprint("pair ", n, strings.Repeat(" <text>", 400)), Tokens: n,
			Items: []compartments.Item{{Compartments: []compartments.CompartmentID{compartments.CompartmentID(n)}, Tier: compartments.TierFull, Tokens: n}}}
	}
	var layout []compartments.PairLayout
	for n := 1; n <= 25; n++ {
		layout = append(layout, pair(n))
		plan := compartments.Plan{Through: "m1"}
		for _, p := range layout {
			plan.Head = append(plan.Head, compartments.Pair{Text: p.Text})
		}
		id, encoded, err := plan.Encode()
		if err != nil {
			t.Fatal(err)
		}
		commit(t, s, &compartments.Batch{Session: "ses", Version: int64(n), ListFrom: -1, PlanID: id, Plan: encoded,
			Fold: &compartments.Fold{Number: n, Reason: compartments.ReasonPays, PlanID: id, Layout: layout, Inputs: compartments.FoldInputs{Window: n},
				Decisions: []compartments.Decision{{Compartment: compartments.CompartmentID(n), To: compartments.TierFull, Reason: compartments.ReasonNew}}}})
	}
	ledger, err := s.Ledger(context.Background(), "ses")
	if err != nil {
		t.Fatal(err)
	}
	folds, err := s.Folds(context.Background(), "ses")
	if err != nil {
		t.Fatal(err)
	}
	for i := range folds {
		if want := folds[i].Summary(); !reflect.DeepEqual(ledger[i], want) {
			t.Errorf("ledger: %+v, want %+v", ledger[i], want)
		}
	}
	// the ledger needs neither texts nor decisions
	db, err := sql.Open("sqlite", "file:"+s.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, query := range []string{`DELETE FROM decisions`, `UPDATE folds SET texts = 999999 WHERE texts IS NOT NULL`} {
		if _, err := db.Exec(query); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Folds(context.Background(), "ses"); err == nil {
		t.Error("folds without their texts were read")
	}
	if again, err := s.Ledger(context.Background(), "ses"); err != nil || !reflect.DeepEqual(again, ledger) {
		t.Errorf("the ledger needs texts: %v", err)
	}
	if len(folds) != 25 || len(ledger) != 25 {
		t.Fatalf("%d folds", len(folds))
	}
	for i, f := range folds {
		if f.Number != i+1 || f.Inputs.Window != i+1 || len(f.Layout) != i+1 || len(f.Decisions) != 1 || f.Layout[i].Items[0].Tokens != i+1 {
			t.Errorf("fold %d: %+v", i+1, f)
		}
		if kept := f.Layout[i].Text == pair(i+1).Text; kept != (f.Number > 5) {
			t.Errorf("fold %d: text kept: %v", f.Number, kept)
		}
	}
	if n := count(t, s, `SELECT count(*) FROM plans`); n != 21 {
		t.Errorf("%d plans", n)
	}
	// Append folds share the texts of their pairs, and plans share them too.
	if n := count(t, s, `SELECT count(*) FROM blobs WHERE shared = 1`); n > 30 {
		t.Errorf("%d payloads", n)
	}
}

func TestPlan_OfALateFold(t *testing.T) {
	s := newStore(t)
	for n := 1; n <= 22; n++ {
		commit(t, s, &compartments.Batch{Session: "ses", Version: int64(n - 1), ListFrom: -1, PlanID: fmt.Sprint(n), Plan: []byte(fmt.Sprintf(`{"n":%d}`, n)),
			Fold: &compartments.Fold{Number: n, PlanID: fmt.Sprint(n)}})
	}
	commit(t, s, &compartments.Batch{Session: "ses", Version: 22, ListFrom: -1, PlanID: "stub", Plan: []byte(`{"stub":1}`)})
	commit(t, s, &compartments.Batch{Session: "ses", Version: 23, ListFrom: -1, PlanID: "last", Plan: []byte(`{"last":1}`)})
	for id, want := range map[string]string{"1": "", "2": `{"n":2}`, "22": `{"n":22}`, "stub": "", "last": `{"last":1}`} {
		plan, err := s.Plan(context.Background(), "ses", id)
		if string(plan) != want {
			t.Errorf("plan %s: %q, %v", id, plan, err)
		}
		if want == "" {
			wantCode(t, err, compartments.CodeNotFound)
		}
	}
	if n := count(t, s, `SELECT count(*) FROM blobs`); n != 42 {
		t.Errorf("%d blobs, want 22 plans and 20 layouts", n)
	}
}

// The plan that the oldest kept fold took the place of is kept with it: taking that
// fold back needs it. That of the fold before it is kept in any case.
func TestPlan_ReplacedByAKeptFold(t *testing.T) {
	for name, reopened := range map[string]int{"one process": 0, "a process that made none of them": 1, "one that made some": 12} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "ctx.db")
			s := open(t, path, sqlite.Options{})
			for n := 1; n <= 22; n++ {
				commit(t, s, &compartments.Batch{Session: "ses", Version: int64(2*n - 2), ListFrom: -1, PlanID: fmt.Sprintf("fold-%d", n), Plan: []byte(fmt.Sprintf(`{"fold":%d}`, n)),
					Fold: &compartments.Fold{Number: n, PlanID: fmt.Sprintf("fold-%d", n), Inputs: compartments.FoldInputs{Replaces: fmt.Sprintf("stub-%d", n-1)}}})
				if n == reopened || reopened == 1 {
					if err := s.Close(); err != nil {
						t.Fatal(err)
					}
					s = open(t, path, sqlite.Options{})
				}
				commit(t, s, &compartments.Batch{Session: "ses", Version: int64(2*n - 1), ListFrom: -1, PlanID: fmt.Sprintf("stub-%d", n), Plan: []byte(fmt.Sprintf(`{"stub":%d}`, n))})
			}
			for id, kept := range map[string]bool{"fold-1": false, "stub-1": false, "stub-2": true, "fold-2": true, "stub-21": true, "stub-22": true} {
				if _, err := s.Plan(context.Background(), "ses", id); (err == nil) != kept {
					t.Errorf("plan %s: %v", id, err)
				}
			}
		})
	}
}

// TestRaw_ChecksItsBytes: bytes that changed on the disk are an error, never a
// message.
func TestRaw_ChecksItsBytes(t *testing.T) {
	for name, change := range map[string]string{
		"document":        `UPDATE blobs SET bytes = CAST(replace(CAST(bytes AS TEXT), 'hello', 'hullo') AS BLOB) WHERE shared = 0`,
		"payload":         `UPDATE blobs SET bytes = zeroblob(length(bytes)), form = 0 WHERE shared = 1`,
		"missing payload": `DELETE FROM blobs WHERE shared = 1`,
		"form":            `UPDATE blobs SET form = 3`,
		"record":          `UPDATE blobs SET bytes = x'ffffffffffffffff7f' WHERE shared = 0`,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "ctx.db")
			s := open(t, path, sqlite.Options{})
			store(t, s, "ses", tool("m1", "bash", `{}`, scrambled(1, 3000)), user("m2", "hello"))
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			sqlOn(t, path, change)
			s = open(t, path, sqlite.Options{})
			_, err := s.Raw(context.Background(), "ses", ordinals(2))
			wantCode(t, err, compartments.CodeStorage)
			search(t, s, "ses", "absent") // and the rest goes on
			index(t, s)
		})
	}
}

// TestStore_ManyGoroutines: sessions are written, read, indexed and forgotten
// at once, and the store is closed under them.
func TestStore_ManyGoroutines(t *testing.T) {
	s := newStore(t)
	ctx := context.Background()
	var group sync.WaitGroup
	for g := range 6 {
		id := compartments.SessionID(fmt.Sprint("ses", g))
		group.Go(func() {
			for v := range int64(20) {
				b := &compartments.Batch{Session: id, Version: v, ListFrom: int(v), List: []compartments.Ordinal{compartments.Ordinal(v + 1)},
					Entries: []compartments.EntryWrite{write(t, int(v+1), user(fmt.Sprint(v), fmt.Sprint(id, " ", v, strings.Repeat(" word", 300))))}}
				if _, err := s.Commit(ctx, b); err != nil {
					t.Error(err)
					return
				}
				if v%4 == int64(g%4) {
					if _, err := s.Index(ctx, 3); err != nil {
						t.Error(err)
					}
				}
				st, err := s.Load(ctx, id)
				if err != nil || st.Version != v+1 {
					t.Errorf("load: %v", err)
					return
				}
				if _, err := s.Raw(ctx, id, st.List); err != nil {
					t.Error(err)
				}
				if hits, err := s.Search(ctx, id, fmt.Sprint(id, " ", v), 5); err != nil || len(hits) == 0 {
					t.Errorf("search: %v, %v", hits, err)
				}
			}
			if err := s.Forget(ctx, id); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for range 4 {
		group.Go(func() {
			for {
				if _, err := s.Sessions(ctx); err != nil {
					if compartments.CodeOf(err) != compartments.CodeStorage {
						t.Error(err)
					}
					return
				}
			}
		})
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	group.Wait()
}

func TestCopies_NewestFirst(t *testing.T) {
	now := int64(1000)
	s := open(t, t.TempDir()+"/ctx.db", sqlite.Options{Now: func() time.Time { now++; return clock(now)() }})
	first := user("m1", "where it begins")
	store(t, s, "a", first, user("m2", "x"))
	store(t, s, "b", strings.Replace(first, "m1", "other-id", 1))
	store(t, s, "c", user("m1", "something else"))
	// d's list begins with a later message, after the host compacted.
	commit(t, s, &compartments.Batch{Session: "d", Entries: []compartments.EntryWrite{write(t, 1, user("m1", "y")), write(t, 2, first)}, List: []compartments.Ordinal{2}})
	commit(t, s, &compartments.Batch{Session: "a", Version: 1, ListFrom: -1, State: []byte("later")})
	m, err := compartments.DecodeMessage([]byte(first))
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.Copies(context.Background(), "b", m.ContentHash())
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(list) != "[a d]" {
		t.Errorf("copies of b: %v", list)
	}
}

func TestSessions(t *testing.T) {
	now := int64(0)
	s := open(t, t.TempDir()+"/ctx.db", sqlite.Options{Now: func() time.Time { now += 10; return clock(now)() }})
	one, two := user("m1", "hello"), user("m2", "hello again")
	store(t, s, "a", one, two)
	commit(t, s, &compartments.Batch{Session: "b", Parent: "a", Entries: []compartments.EntryWrite{write(t, 1, one)}, List: ordinals(1),
		Compartments: []compartments.Compartment{{ID: 1}, {ID: 2}}, Retired: []compartments.CompartmentID{1}, Fold: &compartments.Fold{Number: 1}})
	list, err := s.Sessions(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 2 || list[0].Session != "b" || list[1].Session != "a" {
		t.Fatalf("sessions: %+v", list)
	}
	want := sqlite.Listing{Session: "b", Parent: "a", Messages: 1, Compartments: 1, Folds: 1, Changed: list[0].Changed, Bytes: int64(len(one))}
	if list[0] != want || list[0].Changed <= list[1].Changed || list[1].Bytes != int64(len(one)+len(two)) {
		t.Errorf("sessions: %+v", list)
	}
}

func TestList_FollowsTheHost(t *testing.T) {
	s := newStore(t)
	var all []string
	for i := range 12 {
		all = append(all, user(fmt.Sprint("m", i), "x"))
	}
	v := store(t, s, "ses", all...)
	for _, test := range []struct {
		from int
		end  []compartments.Ordinal
		want string
	}{
		{12, nil, "[1 2 3 4 5 6 7 8 9 10 11 12]"},
		{5, nil, "[1 2 3 4 5]"},                                            // reverted
		{5, []compartments.Ordinal{6, 7}, "[1 2 3 4 5 6 7]"},               // and undone
		{0, []compartments.Ordinal{9, 3, 4, 5, 12, 11}, "[9 3 4 5 12 11]"}, // hidden by a compaction, odd order
		{3, []compartments.Ordinal{5, 6, 7, 8}, "[9 3 4 5 6 7 8]"},
		{1, []compartments.Ordinal{10}, "[9 10]"},
		{2, []compartments.Ordinal{11, 12}, "[9 10 11 12]"},
		{0, nil, "[]"},
	} {
		v = commit(t, s, &compartments.Batch{Session: "ses", Version: v, ListFrom: test.from, List: test.end})
		if got := fmt.Sprint(load(t, s, "ses").List); got != test.want {
			t.Errorf("from %d %v: got %s, want %s", test.from, test.end, got, test.want)
		}
	}
	if st := load(t, s, "ses"); len(st.Entries) != 12 {
		t.Errorf("%d entries", len(st.Entries))
	}
}

package sqlite

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"ctxplugin/compartments"
)

// TestDiskFull: a batch that no longer fits changes nothing; a smaller one, and
// all reading, goes on.
func TestDiskFull(t *testing.T) {
	ctx := context.Background()
	s, err := Open(ctx, filepath.Join(t.TempDir(), "ctx.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	batch := func(version int64, size int) *compartments.Batch {
		o := compartments.Ordinal(version + 1)
		text := make([]string, size/40)
		for i := range text {
			text[i] = fmt.Sprintf("%x", (uint64(i)+uint64(version)<<32)*0x9e3779b97f4a7c15)
		}
		return &compartments.Batch{Session: "ses", Version: version, ListFrom: int(version), List: []compartments.Ordinal{o}, PlanID: fmt.Sprint(version), Plan: []byte(fmt.Sprint(version)),
			Entries: []compartments.EntryWrite{{Entry: compartments.Entry{Ordinal: o, ID: "m"}, Raw: []byte(`{"parts":[{"text":"` + strings.Join(text, " ") + `"}]}`)}}}
	}
	if _, err := s.Commit(ctx, batch(0, 1000)); err != nil {
		t.Fatal(err)
	}
	limit := func(pages int) {
		if err := s.upkeep(ctx, func(ctx context.Context, c *conn) error {
			var n int
			_, err := c.row(ctx, fmt.Sprintf(`PRAGMA max_page_count = %d`, pages), nil, &n)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	var pages int
	if err := s.read(ctx, func(r *reading) error {
		_, err := r.c.row(r.ctx, `PRAGMA page_count`, nil, &pages)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	limit(pages + 4)
	_, err = s.Commit(ctx, batch(1, 2_000_000))
	if compartments.CodeOf(err) != compartments.CodeStorage || !strings.Contains(err.Error(), "full") {
		t.Fatalf("error: %v", err)
	}
	st, err := s.Load(ctx, "ses")
	if err != nil || st.Version != 1 || string(st.Plan) != "0" || len(st.Entries) != 1 {
		t.Fatalf("stored: %+v, %v", st, err)
	}
	if _, err := s.Commit(ctx, batch(1, 1000)); err != nil {
		t.Errorf("a small batch: %v", err)
	}
	limit(1 << 30)
	if _, err := s.Commit(ctx, batch(2, 2_000_000)); err != nil {
		t.Errorf("with room again: %v", err)
	}
}

// TestMigrations_SetTheirVersion: the newest file and the constant agree, so
// that a database is never migrated twice nor refused wrongly.
func TestMigrations_SetTheirVersion(t *testing.T) {
	files, err := migrations.ReadDir("migrations")
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range files {
		if !strings.HasPrefix(f.Name(), fmt.Sprintf("%05d_", i+1)) {
			t.Errorf("%s is number %d", f.Name(), i+1)
		}
		text, err := migrations.ReadFile("migrations/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), fmt.Sprintf("\nPRAGMA user_version = %d;\n", i+1)) {
			t.Errorf("%s does not set user_version", f.Name())
		}
	}
	if len(files) != schemaVersion {
		t.Errorf("%d files, schema version %d", len(files), schemaVersion)
	}
	s, err := Open(context.Background(), filepath.Join(t.TempDir(), "ctx.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var version, migrated int
	if err := s.read(context.Background(), func(r *reading) error {
		if _, err := r.c.row(r.ctx, `PRAGMA user_version`, nil, &version); err != nil {
			return err
		}
		_, err := r.c.row(r.ctx, `SELECT max(version_id) FROM goose_db_version`, nil, &migrated)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if version != schemaVersion || migrated != schemaVersion {
		t.Errorf("user_version %d, migrated to %d", version, migrated)
	}
}

// TestClose_WithATransactionOpen: a transaction that is still being taken back keeps
// no log from being found whole by the next to open it, and is no fault of the end.
func TestClose_WithATransactionOpen(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "ctx.db")
	s, err := Open(ctx, path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Commit(ctx, &compartments.Batch{Session: "ses", ListFrom: -1}); err != nil {
		t.Fatal(err)
	}
	w := <-s.turn
	var n int
	if err := w.exec(ctx, `BEGIN IMMEDIATE`); err != nil {
		t.Fatal(err)
	}
	if _, err := w.row(ctx, `SELECT count(*) FROM sessions`, nil, &n); err != nil {
		t.Fatal(err)
	}
	s.turn <- w
	if err := s.Close(); err != nil {
		t.Errorf("the end fails: %v", err)
	}
	if s, err = Open(ctx, path, Options{}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if stored, err := s.Load(ctx, "ses"); err != nil || stored == nil {
		t.Errorf("%v, %v", stored, err)
	}
}

package sqlite

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ctxplugin/compartments"
)

// TestOpen_WithoutSharedMemory: on a file system without it no write-ahead log
// works. The store says so and serves.
func TestOpen_WithoutSharedMemory(t *testing.T) {
	ctx := context.Background()
	s := &Store{opts: Options{BusyTimeout: time.Second, Now: time.Now}, vfs: "unix-dotfile"}
	if err := s.locate(filepath.Join(t.TempDir(), "ctx.db")); err != nil {
		t.Fatal(err)
	}
	if err := s.open(ctx); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if notes := s.Notes(); s.wal || len(notes) != 1 || !strings.Contains(notes[0], "rollback journal") {
		t.Errorf("notes: %q", notes)
	}
	b := &compartments.Batch{Session: "ses", Entries: []compartments.EntryWrite{{Entry: compartments.Entry{Ordinal: 1}, Raw: []byte(`{}`)}}}
	if _, err := s.Commit(ctx, b); err != nil {
		t.Fatal(err)
	}
	if st, err := s.Load(ctx, "ses"); err != nil || st == nil {
		t.Errorf("load: %v, %v", st, err)
	}
}

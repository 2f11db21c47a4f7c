package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestWait_ThreeTriesWithinTwoSeconds: a host waits 2 s for an answer, and a
// session calls three times before it gives up on a lock.
func TestWait_ThreeTriesWithinTwoSeconds(t *testing.T) {
	for _, tc := range []struct{ set, want time.Duration }{{0, callTimeout}, {70 * time.Millisecond, 70 * time.Millisecond}} {
		ctx := context.Background()
		s, err := Open(ctx, filepath.Join(t.TempDir(), "ctx.db"), Options{BusyTimeout: tc.set})
		if err != nil {
			t.Fatal(err)
		}
		reader, err := connect(ctx, s.readDB)
		if err != nil {
			t.Fatal(err)
		}
		writer := <-s.turn
		for name, c := range map[string]*conn{"writer": writer, "reader": reader} {
			var ms int64
			if _, err := c.row(ctx, `PRAGMA busy_timeout`, nil, &ms); err != nil || ms != tc.want.Milliseconds() || 3*ms > 2000 {
				t.Errorf("%s waits %d ms, want %v; %v", name, ms, tc.want, err)
			}
		}
		s.turn <- writer
		reader.close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestOpen_HearsOfTheEnd: opening a locked database ends with its context, however
// long it may wait.
func TestOpen_HearsOfTheEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ctx.db")
	first, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, q := range []string{"PRAGMA locking_mode = EXCLUSIVE", "BEGIN EXCLUSIVE"} {
		if _, err := db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	opened := make(chan error, 1)
	go func() {
		s, err := Open(ctx, path, Options{BusyTimeout: time.Hour})
		if err == nil {
			err = errors.Join(errors.New("it was opened"), s.Close())
		}
		opened <- err
	}()
	time.Sleep(20 * time.Millisecond) // most likely it waits by now; the end is heard of before too
	cancel()
	select {
	case err := <-opened:
		if err == nil || strings.Contains(err.Error(), "it was opened") {
			t.Errorf("%v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it waits on")
	}
}

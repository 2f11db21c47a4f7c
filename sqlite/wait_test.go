package sqlite

import (
	"context"
	"path/filepath"
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

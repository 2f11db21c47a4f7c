package main

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ctxplugin/compartments"
	"ctxplugin/rpc"
	"ctxplugin/session"
)

// A database that is being opened when the program ends is given up: none stands
// in for it, and the next program opens it.
func TestService_CloseGivesUpOpening(t *testing.T) {
	c := defaults(folders{data: t.TempDir()})
	c.Database = filepath.Join(t.TempDir(), "ctx.db")
	s := newService(c, slog.New(slog.DiscardHandler), nil)
	s.temporary = true
	s.end() // as Close does, before it waits for the opening
	if _, err := s.Sync(t.Context(), emptySync()); compartments.CodeOf(err) != compartments.CodeBusy {
		t.Errorf("a request got %v", err)
	}
	if s.now != nil || len(s.told) > 0 {
		t.Errorf("another database stands in; the user was told %q", s.told)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	next := quietService(c)
	if _, err := next.Sync(t.Context(), emptySync()); err != nil {
		t.Errorf("the next program: %v", err)
	}
	if err := next.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A disk that is not done when the time to end is over fails nothing: what was
// answered is in the write-ahead log.
func TestService_CloseLeavesASlowDisk(t *testing.T) {
	c := defaults(folders{data: t.TempDir()})
	c.Database = filepath.Join(t.TempDir(), "ctx.db")
	s := quietService(c)
	var log strings.Builder
	s.log = slog.New(slog.NewTextHandler(&log, nil))
	busy, free, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	s.options.FailCommit = func() error {
		close(busy)
		<-free
		return nil
	}
	sync := emptySync()
	sync.Messages, _ = messages(1)
	go func() {
		defer close(ended)
		_, _ = s.Sync(context.Background(), sync)
	}()
	select {
	case <-busy:
	case <-ended:
		t.Fatal("nothing was committed")
	}
	over, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	if err := s.Close(over); err != nil {
		t.Error(err)
	}
	if !strings.Contains(log.String(), "the write-ahead log stays until the database is opened again") {
		t.Errorf("the log says %s", log.String())
	}
	close(free)
	<-ended
}

func emptySync() session.SyncRequest {
	rev := compartments.EmptyRevision().String()
	return session.SyncRequest{Session: "ses_1", Base: rev, Check: rev}
}

// A notice that is given when the program ends reaches the host, however late the
// goroutine that tells it begins, and the end does not wait for ever.
func TestService_CloseTellsWhatIsLeft(t *testing.T) {
	for range 300 {
		s := newService(defaults(folders{data: t.TempDir()}), slog.New(slog.DiscardHandler), rpc.NewHost())
		s.mu.Lock()
		s.tell("warning", "nearly over")
		s.mu.Unlock()
		closed := make(chan error, 1)
		go func() { closed <- s.Close(context.Background()) }()
		select {
		case err := <-closed:
			if err != nil {
				t.Fatal(err)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("the end waits for a notice that nobody tells")
		}
	}
}

package main

import (
	"log/slog"
	"path/filepath"
	"testing"

	"ctxplugin/compartments"
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

func emptySync() session.SyncRequest {
	rev := compartments.EmptyRevision().String()
	return session.SyncRequest{Session: "ses_1", Base: rev, Check: rev}
}

package main

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ctxplugin/compartments"
	"ctxplugin/historian/draft"
	"ctxplugin/sqlite"
)

// TestReported_Once: what somebody has to act on is told once for each model and
// cause, whether it is the call that failed or the rest that follows from it, and
// anew once the model has written.
func TestReported_Once(t *testing.T) {
	c := defaults(folders{data: t.TempDir()})
	c.Models = []modelChoice{{Backend: backendOpenAI, Model: "a"}, {Backend: backendHost}}
	s := newService(c, slog.New(slog.DiscardHandler), nil)
	told := func(state draft.State, want int) {
		t.Helper()
		before := len(s.told)
		for range 3 {
			s.reported("ses", state)
		}
		if n := len(s.told) - before; n != want {
			t.Errorf("%+v was told %d times: %q", state, n, s.told)
		}
	}
	auth := draft.State{Model: "openai/a", Verdict: compartments.CallAuth, Text: "openai/a does not accept the key"}
	rest := draft.State{Model: "openai/a", Verdict: compartments.CallHeld, Cause: compartments.CallAuth, Text: "a (openai) rests until 12:00 UTC after auth"}
	told(auth, 1)
	told(rest, 0)
	told(draft.State{Model: "host", Verdict: compartments.CallUnknownModel, Text: "no such model"}, 1)
	told(draft.State{Model: "openai/a", Verdict: compartments.CallHeld, Cause: compartments.CallServer, Text: "a (openai) rests until 12:05 UTC"}, 1)
	told(draft.State{Model: "openai/a", Verdict: compartments.CallServer, Text: "it failed"}, 0)
	told(draft.State{Model: "openai/a", Verdict: compartments.CallCap, Text: "10 of 20 tokens"}, 1)
	told(draft.State{Model: "host", Verdict: compartments.CallCap, Text: "11 of 20 tokens"}, 0)
	told(draft.State{Model: "openai/a", Verdict: compartments.CallGood}, 0)
	rest.Text = "a (openai) rests until 15:00 UTC after auth"
	told(rest, 1)
	told(draft.State{Model: "host", Verdict: compartments.CallUnknownModel, Text: "no such model at all"}, 0)
	if !slices.ContainsFunc(s.toldOf, func(t toldOf) bool { return t.model == "host" }) {
		t.Error("a good reply of one model forgets what was told of another")
	}
}

// TestHistorianLine_Unrecorded: what came of a call that could not be recorded is not
// taken for the end of its process, which is this one.
func TestHistorianLine_Unrecorded(t *testing.T) {
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "a.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	c := defaults(folders{data: t.TempDir()})
	c.Models = []modelChoice{{Backend: backendOpenAI, Model: "a"}}
	s := newService(c, slog.New(slog.DiscardHandler), nil)
	call := compartments.Call{Backend: backendOpenAI, Model: "a", First: 1, Last: 9, Try: 1, At: 1_750_000_000_000, Usage: compartments.Usage{Input: 10}}
	admit := func(compartments.Breaker, compartments.Spent) compartments.CallHold { return compartments.CallHold{} }
	if _, err := store.AdmitCall(t.Context(), &call, 0, admit); err != nil {
		t.Fatal(err)
	}
	b := &backing{store: store}
	for _, text := range []string{"its process ended before the reply", "the ledger of calls cannot be written: the disk is full; built-in meanwhile"} {
		if line := s.historianLine(context.Background(), b, ""); !strings.Contains(line, text) || strings.Contains(line, "ended") != strings.Contains(text, "ended") {
			t.Errorf("%q, want %q", line, text)
		}
		s.reported("", draft.State{Model: "openai/a", Verdict: compartments.CallHeld, Text: "the ledger of calls cannot be written: the disk is full"})
	}
}

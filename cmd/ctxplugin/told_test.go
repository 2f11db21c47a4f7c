package main

import (
	"log/slog"
	"slices"
	"testing"

	"ctxplugin/compartments"
	"ctxplugin/historian/draft"
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

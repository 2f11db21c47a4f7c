package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// session writes an export with turns of some steps each, every step with a call
// and its output; one output is far larger than the others.
func session(t testing.TB, turns, steps int) []byte {
	t.Helper()
	type dict = map[string]any
	var messages []dict
	at := int64(1_700_000_000_000)
	add := func(role string, parts ...dict) {
		id := fmt.Sprintf("msg_%04d", len(messages)+1)
		at += 20_000
		messages = append(messages, dict{"info": dict{"id": id, "sessionID": "ses_fox", "role": role, "time": dict{"created": at},
			"providerID": "prov", "modelID": "model-1", "agent": "build"}, "parts": parts})
	}
	for turn := range turns {
		add("user", dict{"type": "text", "text": fmt.Sprintf("Please look at widget%04d <b>& say\nwhat's wrong — ünïcode 😀.", turn)})
		for step := range steps {
			size := 60 + 40*((turn+step)%5)
			if turn == turns/2 && step == 1 {
				size = 3000
			}
			output := strings.Repeat(fmt.Sprintf("line of file%02d_%02d.txt\n", turn, step), size)
			add("assistant", dict{"type": "text", "text": fmt.Sprintf("I read component%04d next.", turn*steps+step)},
				dict{"type": "tool", "tool": "read", "callID": fmt.Sprintf("call_%d_%d", turn, step), "state": dict{"status": "completed",
					"input": dict{"path": fmt.Sprintf("src/file%02d_%02d.txt", turn, step), "note": "two\nlines"}, "output": output}},
				dict{"type": "tool", "tool": "bash", "callID": "x", "state": dict{"status": "error", "input": dict{}, "error": "no such file"}})
		}
		add("assistant", dict{"type": "text", "text": fmt.Sprintf("Turn %d is done.", turn)})
	}
	b, err := json.MarshalIndent(dict{"info": dict{"id": "ses_fox", "title": "Look at widgets"}, "messages": messages}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func write(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// against replays the test session against a fake with a fault.
func against(t *testing.T, fault string, data []byte) (out jsonReport, exit int, err error) {
	t.Helper()
	f := newFake(fault)
	var stdout bytes.Buffer
	exit, err = RunReplay(context.Background(), ReplayOptions{Files: []string{write(t, "fox.json", data)}, Window: 24_000, Output: 2_000,
		Prefix: 2_000, JSON: true, ShowHistory: true, start: f.launch}, &stdout, &bytes.Buffer{})
	if err == nil {
		if err := json.Unmarshal(stdout.Bytes(), &out); err != nil {
			t.Fatal(err)
		}
	}
	return out, exit, err
}

type jsonReport struct {
	Sessions []struct {
		Requests int
		Folds    []fold
		Stubs    int
		Ways     []struct {
			Name       string
			TokensSent int
			CacheRead  int
			OverWindow int
			CostMicro  int
			NewPrefix  int `json:"prefixChanges"`
		}
		Irreducible []irreducible
		Held        map[string]int
		Breaches    []breach
		History     []string
	}
}

func TestPromisesHold(t *testing.T) {
	out, exit, err := against(t, "", session(t, 12, 4))
	if err != nil || exit != exitHeld {
		t.Fatalf("exit %d, %v, %+v", exit, err, out)
	}
	s := out.Sessions[0]
	if s.Requests != 60 || len(s.Folds) < 5 || len(s.Breaches) != 0 || len(s.Irreducible) != 0 {
		t.Errorf("%d requests, %d folds, breaches %v, irreducible %v", s.Requests, len(s.Folds), s.Breaches, s.Irreducible)
	}
	for _, p := range promises {
		if s.Held[p] == 0 {
			t.Errorf("%q was never checked", p)
		}
	}
	if s.Ways[0].OverWindow != 0 || s.Ways[1].OverWindow == 0 {
		t.Errorf("over the window: ctxplugin %d times, everything %d times", s.Ways[0].OverWindow, s.Ways[1].OverWindow)
	}
	if s.Ways[0].NewPrefix != len(s.Folds) {
		t.Errorf("%d new prefixes with %d folds", s.Ways[0].NewPrefix, len(s.Folds))
	}
	if len(s.History) == 0 || !strings.HasPrefix(s.History[0], "History up to") {
		t.Errorf("history is %q", s.History)
	}
}

// Every promise can be broken, and the place is named.
func TestBreaches(t *testing.T) {
	data := session(t, 12, 4)
	for _, c := range []struct{ fault, promise, what string }{
		{"over the window", promiseFits, "do not fit"},
		{"a byte changes between folds", promiseStable, "without a fold"},
		{"an old output becomes a stub", promiseStable, "sent before and became a stub"},
		{"the plan is void", promiseShape, "not in the list"},
		{"blank pair", promiseShape, "blank"},
		{"everything of a message is dropped", promiseShape, "nothing of it is left"},
		{"newest user message lost", promiseUser, "is not in the request"},
		{"newest user message lost", promiseShape, "starts with an assistant message"},
		{"the user is edited", promiseUser, "not sent as the user wrote it"},
		{"an empty output", promiseCalls, "leaves nothing"},
		{"the newest reply is edited", promiseNewest, "is edited"},
		{"a fold without a reason", promiseFold, "no reason"},
		{"a fold that is not counted", promiseFold, "does not say that it folded"},
		{"a fold that touches an older pair", promiseAppend, "pair 1 changed"},
		{"a fold that says it freed more", promiseFold, "tokens, the request has"},
		{"a fold that says there was more", promiseFold, "without it, it would have"},
		{"answers out of order", promiseOrder, "before the sync"},
		{"amnesia", promiseRevision, "another list"},
		{"half amnesia", promiseRevision, "another list"},
		{"another plan after a kill", promiseRestart, "after a kill it is"},
		{"a message is altered", promiseRaw, "is not what was sent"},
		{"a message is lost", promiseRaw, "of 72 messages came back"},
		{"a page of a part is altered", promiseRaw, "do not join"},
		{"a page is altered", promisePages, "are changed"},
		{"pages never end", promisePages, "does not come to an end"},
		{"a page has a gap", promisePages, "came after byte"},
		{"the rest is not named", promisePages, "bytes came"},
		{"a field is not shown", promisePages, "does not show"},
		{"nothing is found", promiseFound, "does not find"},
	} {
		t.Run(c.fault, func(t *testing.T) {
			t.Parallel()
			out, exit, err := against(t, c.fault, data)
			if err != nil {
				t.Fatal(err)
			}
			if exit != exitBroken {
				t.Errorf("exit %d", exit)
			}
			for _, b := range out.Sessions[0].Breaches {
				if b.Promise == c.promise && strings.Contains(b.What, c.what) {
					return
				}
			}
			t.Errorf("no breach of %q with %q in %v", c.promise, c.what, firstOfEach(out.Sessions[0].Breaches))
		})
	}
}

func TestFailures(t *testing.T) {
	for _, c := range []struct{ fault, what string }{
		{"another revision", "cannot go on"},
		{"dies", "closed the connection"},
	} {
		_, exit, err := against(t, c.fault, session(t, 12, 4))
		if err == nil || exit != exitBroken || !strings.Contains(err.Error(), c.what) {
			t.Errorf("%s: exit %d, %v", c.fault, exit, err)
		}
	}
}

func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	exit, err := RunReplay(ctx, ReplayOptions{Files: []string{write(t, "a.json", session(t, 1, 1))}, start: newFake("").launch}, &bytes.Buffer{}, &bytes.Buffer{})
	if exit != exitBroken || err == nil || err.Error() != "interrupted" {
		t.Errorf("exit %d, %v", exit, err)
	}
}

package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ctxplugin/compartments"
)

// wire is a conversation with the program over its stdin and stdout.
type wire struct {
	t    *testing.T
	call func(line string) string
	id   int
}

func (w *wire) ask(method, params string, into any) {
	w.t.Helper()
	w.id++
	answer := w.call(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, w.id, method, params))
	var got struct {
		Result json.RawMessage
		Error  json.RawMessage
	}
	if err := json.Unmarshal([]byte(answer), &got); err != nil || got.Error != nil {
		w.t.Fatalf("%s: %s", method, answer)
	}
	if into != nil {
		if err := json.Unmarshal(got.Result, into); err != nil {
			w.t.Fatalf("%s: %s: %v", method, answer, err)
		}
	}
}

func (w *wire) transform(rev, applied string, now int64) (id string, plan compartments.Plan) {
	w.t.Helper()
	var got struct {
		PlanID string
		Plan   *compartments.Plan
	}
	w.ask("session/transform", fmt.Sprintf(`{"sessionID":"ses_long","rev":%q,"applied":%q,"agent":"build","model":{"id":"tiny","provider":"example","context":8000,"output":1000,
"prices":{"input":5000000,"output":25000000,"cacheRead":500000,"cacheWrite":6250000,"ttlMs":300000,"kind":"marks"}},"fixedBytes":2000,"now":%d}`, rev, applied, now), &got)
	if got.Plan != nil {
		plan = *got.Plan
	}
	return got.PlanID, plan
}

// Over the wire, in another process after each step: messages of class pin stay
// in the request whole, with the user message of their turn; words stand in the
// record; both end.
func TestServe_Pins(t *testing.T) {
	db := t.TempDir() + "/ctx.db"
	var w *wire
	restart := func() {
		cmd, in, out := child(t, "--db", db)
		w = &wire{t: t, call: func(line string) string { return ask(t, in, out, strings.ReplaceAll(line, "\n", "")) }}
		w.ask("initialize", `{"protocolVersion":1,"capabilities":{}}`, nil)
		t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	}
	restart()
	messages := long()
	list := make([]string, len(messages))
	for i, m := range messages {
		list[i] = string(m)
	}
	empty := compartments.EmptyRevision().String()
	var synced struct{ Rev string }
	w.ask("session/sync", fmt.Sprintf(`{"sessionID":"ses_long","base":%q,"keep":0,"check":%q,"messages":[%s],"more":false}`, empty, empty, strings.Join(list, ",")), &synced)
	const quote = "a second reader would double the memory"
	w.ask("session/pin", `{"sessionID":"ses_long","first":4,"last":4}`, nil)
	w.ask("session/pin", `{"sessionID":"ses_long","message":3,"quote":"`+quote+`"}`, nil)
	restart()
	id, plan := w.transform(synced.Rev, "", 1750000020000)
	if plan.Through == "" || !slices.Contains(plan.Keep, "msg_001") || !slices.Contains(plan.Keep, "msg_004") || slices.Contains(plan.Keep, "msg_003") {
		t.Fatalf("through %q, kept %q", plan.Through, plan.Keep)
	}
	if len(plan.Head) == 0 || !strings.Contains(plan.Head[0].Text, "\n  pinned from 3: "+quote+"\n") || !strings.Contains(plan.Head[0].Text, "[4-4 raw]") {
		t.Fatalf("the head is %+v", plan.Head)
	}
	w.ask("session/unpin", `{"sessionID":"ses_long","pin":1}`, nil)
	w.ask("session/unpin", `{"sessionID":"ses_long","pin":2}`, nil)
	if again, _ := w.transform(synced.Rev, id, 1750000021000); again != id {
		t.Fatal("the end of a pin changed the plan at once")
	}
	restart()
	w.ask("session/fold", `{"sessionID":"ses_long"}`, nil)
	more := `{"id":"msg_009","role":"assistant","time":1750000030000,"finish":"stop","parts":[{"type":"text","text":"It is printed by main."}]},
{"id":"msg_010","role":"user","time":1750000031000,"parts":[{"type":"text","text":"thanks"}]}`
	w.ask("session/sync", fmt.Sprintf(`{"sessionID":"ses_long","base":%q,"keep":8,"check":%q,"messages":[%s],"more":false}`, synced.Rev, synced.Rev, more), &synced)
	_, plan = w.transform(synced.Rev, id, 1750009999000)
	if len(plan.Head) == 0 || strings.Contains(plan.Head[0].Text, "pinned from") || slices.Contains(plan.Keep, "msg_004") {
		t.Fatalf("kept %q, the head is %+v", plan.Keep, plan.Head)
	}
}

// A part and a compartment that do not exist are refused, and are not taken for
// flags that are not there.
func TestPlaces_ThatNameNothing(t *testing.T) {
	db := stored(t, "schema-2.db.gz")
	for _, command := range []string{"pin", "expand"} {
		for _, args := range [][]string{{"1", "--part=-1"}, {"1", "--part=-5"}, {"--compartment=0"}, {"--compartment=-3"}, {"1", "--compartment=0"}} {
			ctxplugin(t, exitUsage, append([]string{command, "ses_stored", "--db", db}, args...)...)
		}
	}
	if said := ctxplugin(t, exitOK, "pins", "ses_stored", "--db", db, "--json", "--all"); strings.Contains(said, `"user"`) {
		t.Errorf("a refusal pinned: %s", said)
	}
	ctxplugin(t, exitOK, "expand", "ses_stored", "--db", db, "1", "--part=0")
	ctxplugin(t, exitOK, "expand", "ses_stored", "--db", db, "--compartment=1")
}

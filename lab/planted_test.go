package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"ctxplugin/tokens"
)

// What the first turns of a long session say, and its last request must still
// show.
const (
	plantedPin        = "Amounts are integers in cents at every border of the ledger."
	plantedIdentifier = "tn-7f3a9c41-eu"
	plantedRejected   = "pgx v5"
	plantedCause      = "because it needs Go 1.21 and the build image has Go 1.19.4"
)

// planted is a session of that many turns about a small service. Its first turns
// state what must last; nothing behind them names it again.
func planted(t *testing.T, turns int) *recording {
	t.Helper()
	var messages []map[string]any
	now := int64(1_750_000_000_000)
	add := func(role string, parts ...map[string]any) {
		now += 20_000
		info := map[string]any{"id": fmt.Sprintf("msg_%05d", len(messages)+1), "role": role, "time": map[string]any{"created": now}}
		if role == "assistant" {
			info["providerID"], info["modelID"], info["mode"], info["finish"] = "p", "m", "build", "stop"
		}
		messages = append(messages, map[string]any{"info": info, "parts": parts})
	}
	text := func(s string) map[string]any { return map[string]any{"type": "text", "text": s} }
	call := func(tool string, input map[string]any, output string) map[string]any {
		return map[string]any{"type": "tool", "tool": tool, "callID": fmt.Sprintf("call_%d", len(messages)),
			"state": map[string]any{"status": "completed", "input": input, "output": output}}
	}
	add("user", text("We build a ledger service for the shop. "+plantedPin+" Start with the schema of the entries table."))
	add("assistant", text("I write the schema first."), call("write", map[string]any{"filePath": "db/schema.sql", "content": "create table entries (id bigint primary key, cents bigint not null);\n"}, "wrote db/schema.sql"))
	add("assistant", text("The schema is in `db/schema.sql`: one table, `entries`, with the amount as `cents bigint`."))
	add("user", text("Good. The tenant id is `"+plantedIdentifier+"`, the config loader reads it at start."))
	add("assistant", call("edit", map[string]any{"filePath": "config/load.go", "oldString": "Tenant string", "newString": "Tenant string // required"}, "edited config/load.go"))
	add("assistant", text("`config/load.go` reads the tenant now and refuses to start without it."))
	add("user", text("Which database driver do we take?"))
	add("assistant", text("I try the newer driver."), call("bash", map[string]any{"command": "go build ./..."}, "go: module github.com/jackc/pgx/v5 requires go >= 1.21\n(exit 1)"))
	add("assistant", text("I rejected "+plantedRejected+" "+plantedCause+". The ledger uses `lib/pq` 1.10.2 instead."))
	areas := []string{"invoice", "refund", "export", "import", "report", "webhook", "session", "mailer", "search", "billing", "audit", "quota"}
	verbs := []string{"list", "sort", "page", "filter", "count", "retry", "cache", "format", "parse", "store"}
	for i := 4; i <= turns; i++ {
		area, verb := areas[i%len(areas)], verbs[i/len(areas)%len(verbs)]
		file := fmt.Sprintf("%s/%s_%d.go", area, verb, i)
		add("user", text(fmt.Sprintf("Now the %s step of the %s part, number %d: it should take its rows in order and tell how many it saw.", verb, area, i)))
		add("assistant", text(fmt.Sprintf("I read `%s` to see how %s works there.", file, verb)),
			call("read", map[string]any{"filePath": file}, strings.Repeat(fmt.Sprintf("func %s%d(rows []Row) int { return len(rows) } // %s\n", verb, i, area), 12)))
		add("assistant", text(fmt.Sprintf("`%s` takes its rows in order now and returns %d of them; `%s_%d_test.go` covers it.", file, 100+i, verb, i)))
	}
	data, err := json.Marshal(map[string]any{"info": map[string]any{"id": "ses_planted", "title": "ledger"}, "messages": messages})
	if err != nil {
		t.Fatal(err)
	}
	rec, err := parseRecording("planted.json", data)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// TestPlanted_LastsThrough400Turns: in a small window the last request of a long
// session still shows what its first turns pinned, stated exactly and rejected,
// with the cause.
func TestPlanted_LastsThrough400Turns(t *testing.T) {
	start := built(t)
	o := ReplayOptions{Window: 16_000, Prefix: 4_000, Output: 2_000}
	set, err := o.settings()
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	rec := planted(t, 400)
	v, render := newVerdicts(), newRenderer(tokens.New())
	r := &replay{set: set, rec: rec, start: start, dir: t.TempDir(), render: render, check: newChecker(v, rec, render, set.window),
		warned: map[string]bool{}, shown: map[int]bool{}, result: &result{rec: rec, verdicts: v}}
	if err := r.connect(ctx); err != nil {
		t.Fatal(err)
	}
	defer func() { r.proc.kill() }()
	r.play = newPlay(rec, r.client)
	var last *request
	steps := cut(rec)
	for n := range steps {
		s := &steps[n]
		r.check.step = n + 1
		if err := r.announce(ctx, s.view); err != nil {
			t.Fatal(r.explain(err))
		}
		if n == 1 {
			if _, err := r.client.call(ctx, "session/pin", fmt.Appendf(nil, `{"sessionID":"ses_planted","message":1,"quote":%q,"now":%d}`, plantedPin, s.now)); err != nil {
				t.Fatal(err)
			}
		}
		answer, err := r.again(ctx, s, r.applied)
		if err != nil {
			t.Fatal(r.explain(err))
		}
		if last, _, err = r.adopt(ctx, s, answer); err != nil {
			t.Fatal(err)
		}
	}
	for _, b := range v.breaches {
		t.Error(b)
	}
	if err := r.shutdown(ctx); err != nil {
		t.Fatal(err)
	}
	var history strings.Builder
	for i := range last.messages[:last.head] {
		history.WriteString(last.messages[i].text)
	}
	if len(r.result.folds) < 10 || last.tokens() > set.window.usable {
		t.Errorf("%d folds, %d tokens in the last request", len(r.result.folds), last.tokens())
	}
	for _, want := range []string{plantedPin, plantedIdentifier, plantedRejected, plantedCause} {
		if !strings.Contains(history.String(), want) {
			t.Errorf("the last request lacks %q", want)
		}
	}
	if t.Failed() || testing.Verbose() {
		t.Logf("%d folds\n%s", len(r.result.folds), history.String())
	}
}

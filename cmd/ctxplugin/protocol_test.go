package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"

	"ctxplugin/compartments"
	"ctxplugin/rpc"
	"ctxplugin/session"
)

const protocolDoc = "../../docs/protocol.md"

// shown is the program as docs/protocol.md shows it: the real one, except that at
// the end of a turn it asks the host's model, as a historian with a model does.
type shown struct{ *service }

func (s shown) Event(ctx context.Context, e session.Event) error {
	if e.Type == "idle" {
		_, err := s.host.Generate(ctx, rpc.GenerateRequest{Purpose: "historian", Session: "ses_4c2e", System: "You are the historian.",
			Prompt: "[1] U: count the rejected rows", MaxTokens: 4000, Temperature: 25})
		if err != nil {
			return err
		}
		return s.host.Notify(ctx, "info", "The history was folded.")
	}
	return s.service.Event(ctx, e)
}

// long is a session that is larger than the window the document shows it in.
func long() (messages [][]byte) {
	add := func(role string, parts ...map[string]any) {
		n := len(messages) + 1
		m := map[string]any{"id": fmt.Sprintf("msg_%03d", n), "role": role, "time": 1750000000000 + 1000*n, "parts": parts}
		if role == "assistant" {
			m["finish"] = "stop"
		}
		raw, err := json.Marshal(m)
		if err != nil {
			panic(err)
		}
		messages = append(messages, raw)
	}
	text := func(s string) map[string]any { return map[string]any{"type": "text", "text": s} }
	run := func(command string, exit int, output string) map[string]any {
		return map[string]any{"type": "tool", "tool": "bash", "callID": fmt.Sprintf("call_%d", len(messages)),
			"state": map[string]any{"status": "completed", "input": map[string]any{"command": command}, "output": output, "metadata": map[string]any{"exit": exit}}}
	}
	listing := func(word string) string {
		var b strings.Builder
		for i := range 150 {
			fmt.Fprintf(&b, "%s/%s_%03d.csv: %d rows read, %d kept\n", word, word, i, 400+i, 390+i)
		}
		return b.String()
	}
	add("user", text("make the importer skip rows without an id. never drop them silently, count them"))
	add("assistant", text("I will look at how the importer reads its rows."), run("go test ./importer", 1, "--- FAIL: TestRow\npanic: index out of range [3] (row.go:88)\n"+listing("january")))
	add("assistant", text("`csv.Reader` reuses its slice, so the buffered rows were overwritten. I copy the row instead of setting `ReuseRecord`, because a second reader would double the memory."), run("go test ./importer", 0, "ok  \timporter\t0.41s\n"+listing("february")))
	add("assistant", text("Done. Rows without `record_id` go to `rejects.csv`; the summary prints `skipped=14`. Not run against the large file yet."))
	add("user", text("now run it against the large file"))
	add("assistant", run("make bench", 2, "open testdata/large.csv: no such file\n"+listing("march")))
	add("assistant", text("The large file is not in the repository. Should the exit code be 3 when rows were skipped?"))
	add("user", text("yes, 3. and tell me where the summary is printed"))
	return messages
}

// TestProtocolDoc holds the conversation that docs/protocol.md shows, all of it on
// one connection: lines that begin with > are sent, those with < are expected.
// With -update they are rewritten. The session ses_long was synced before.
func TestProtocolDoc(t *testing.T) {
	doc, err := os.ReadFile(protocolDoc)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	host := rpc.NewHost()
	s := newService(defaults(folders{data: t.TempDir()}), log, host)
	empty := compartments.EmptyRevision().String()
	if _, err := s.Sync(context.Background(), session.SyncRequest{Session: "ses_long", Base: empty, Check: empty, Messages: long()}); err != nil {
		t.Fatal(err)
	}
	inR, in := io.Pipe()
	outR, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := rpc.Serve(context.Background(), rpc.Config{In: inR, Out: out, Sessions: shown{s}, Host: host, Name: "ctxplugin", Version: "1.2.3", Log: log})
		out.Close()
		done <- err
	}()
	answers := bufio.NewReaderSize(outR, 1<<20)
	lines := strings.SplitAfter(string(doc), "\n")
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "> "):
			if _, err := io.WriteString(in, line[2:]); err != nil {
				t.Fatal(err)
			}
		case strings.HasPrefix(line, "< "):
			got, err := answers.ReadString('\n')
			if err != nil {
				t.Fatalf("%s:%d: the program says nothing: %v", protocolDoc, i+1, err)
			}
			if *update {
				lines[i] = "< " + got
			} else if line[2:] != got {
				t.Errorf("%s:%d shows\n%sthe program says\n%s(run this test with -update)", protocolDoc, i+1, line[2:], got)
			}
		}
	}
	in.Close()
	if rest, _ := io.ReadAll(answers); len(rest) > 0 {
		t.Errorf("the program says more: %s", rest)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if *update {
		if err := os.WriteFile(protocolDoc, []byte(strings.Join(lines, "")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

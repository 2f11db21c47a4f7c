package sqlite_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ctxplugin/compartments"
	"ctxplugin/session"
	"ctxplugin/sqlite"
)

var _ session.Store = (*sqlite.Store)(nil)

// TestVersion: what a commit answers is what another process is told.
func TestVersion(t *testing.T) {
	s := newStore(t)
	if v, err := s.Version(context.Background(), "ses"); err != nil || v != 0 {
		t.Fatalf("of a session that is not stored: %d, %v", v, err)
	}
	want := store(t, s, "ses", user("m1", "hello"))
	if v, err := s.Version(context.Background(), "ses"); err != nil || v != want || v == 0 {
		t.Fatalf("%d, %v; the commit answered %d", v, err, want)
	}
}

// open opens the database of a test, and closes it with the test.
func open(t testing.TB, path string, opts sqlite.Options) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(context.Background(), path, opts)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func newStore(t testing.TB) *sqlite.Store {
	t.Helper()
	return open(t, filepath.Join(t.TempDir(), "ctx.db"), sqlite.Options{})
}

func commit(t testing.TB, s *sqlite.Store, b *compartments.Batch) int64 {
	t.Helper()
	v, err := s.Commit(context.Background(), b)
	if err != nil {
		t.Fatalf("commit: %v", err)
	}
	return v
}

func load(t testing.TB, s *sqlite.Store, id compartments.SessionID) *compartments.Stored {
	t.Helper()
	st, err := s.Load(context.Background(), id)
	if err != nil {
		t.Fatalf("load: %v", err)
	}
	if st == nil {
		t.Fatalf("session %s is not stored", id)
	}
	return st
}

func raw(t testing.TB, s *sqlite.Store, id compartments.SessionID, ordinals ...compartments.Ordinal) []string {
	t.Helper()
	list, err := s.Raw(context.Background(), id, ordinals)
	if err != nil {
		t.Fatalf("raw: %v", err)
	}
	texts := make([]string, len(list))
	for i := range list {
		texts[i] = string(list[i])
	}
	return texts
}

func wantCode(t testing.TB, err error, code compartments.Code) {
	t.Helper()
	if err == nil || compartments.CodeOf(err) != code {
		t.Fatalf("got error %v (code %s), want code %s", err, compartments.CodeOf(err), code)
	}
}

// write makes the entry of a message from its JSON, as a session would.
func write(t testing.TB, ordinal int, raw string) compartments.EntryWrite {
	t.Helper()
	m, err := compartments.DecodeMessage([]byte(raw))
	if err != nil {
		t.Fatalf("decode: %v", err)
	}
	e := compartments.Entry{Ordinal: compartments.Ordinal(ordinal), ID: m.ID, Role: m.Role, Time: m.Time,
		Hash: m.ContentHash(), Real: m.RealUser(), Usage: m.Usage}
	for i := range m.Parts {
		p := &m.Parts[i]
		e.Sizes = append(e.Sizes, compartments.Size{Kind: p.Kind, Status: p.Status, Tokens: len(p.Text+p.Output) / 4,
			Input: len(p.Input) / 4, Own: p.OwnTool()})
	}
	return compartments.EntryWrite{Entry: e, Raw: []byte(raw)}
}

// user and tool write messages of the shape that a host sends.
func user(id, text string) string {
	return fmt.Sprintf(`{"id":%q,"role":"user","time":1700000000000,"parts":[{"type":"text","text":%s}]}`, id, quoted(text))
}

func tool(id, name, input, output string) string {
	return fmt.Sprintf(`{"id":%q,"role":"assistant","time":1700000000001,"parts":[{"type":"text","text":"Let me look."},`+
		`{"type":"tool","tool":%q,"callID":"c1","state":{"status":"completed","input":%s,"output":%s,"title":"t"}}]}`, id, name, input, quoted(output))
}

// quoted is JSON.stringify for text without control characters but newlines.
func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\r", `\r`).Replace(text) + `"`
}

func ordinals(n int) []compartments.Ordinal {
	list := make([]compartments.Ordinal, n)
	for i := range list {
		list[i] = compartments.Ordinal(i + 1)
	}
	return list
}

// session1 stores a session of n messages and returns its version.
func store(t testing.TB, s *sqlite.Store, id compartments.SessionID, messages ...string) int64 {
	t.Helper()
	b := &compartments.Batch{Session: id, List: ordinals(len(messages))}
	for i, m := range messages {
		b.Entries = append(b.Entries, write(t, i+1, m))
	}
	return commit(t, s, b)
}

func clock(ms int64) func() time.Time {
	return func() time.Time { return time.UnixMilli(ms) }
}

func TestCommit_LoadsBack(t *testing.T) {
	s := newStore(t)
	first, second := user("m1", "hello"), tool("m2", "bash", `{"command":"ls"}`, strings.Repeat("line of output\n", 200))
	v := store(t, s, "ses", first, second)
	if v != 1 {
		t.Fatalf("version %d", v)
	}
	st := load(t, s, "ses")
	if len(st.Entries) != 2 || st.Entries[1].ID != "m2" || len(st.List) != 2 {
		t.Fatalf("stored: %+v", st)
	}
	if got := raw(t, s, "ses", 2, 1); got[0] != second || got[1] != first {
		t.Fatalf("raw: %q", got)
	}
}

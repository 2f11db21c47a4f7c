package sqlite_test

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"ctxplugin/compartments"
	"ctxplugin/sqlite"
)

// childVariable makes the test binary a process of another session: its value
// is "what path session".
const childVariable = "CTXPLUGIN_SQLITE_CHILD"

// child runs in the other process and returns its exit code.
func child(run string) int {
	fields := strings.Fields(run)
	what, path, id := fields[0], fields[1], compartments.SessionID(fields[2])
	ctx := context.Background()
	s, err := sqlite.Open(ctx, path, sqlite.Options{BusyTimeout: 20 * time.Second})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	batches := 1 << 30
	if what == "write" {
		batches = 60
	}
	version, next := int64(0), 1
	if st, err := s.Load(ctx, id); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	} else if st != nil {
		version, next = st.Version, len(st.Entries)+1
	}
	for range batches {
		if version, err = s.Commit(ctx, childBatch(id, version, next)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		next += childMessages
		fmt.Println(version) // after this line the batch must never be lost
		if version%5 == 0 {
			if _, err := s.Index(ctx, 10); err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 1
			}
		}
	}
	if err := s.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

const childMessages = 3

func childMessage(id compartments.SessionID, ordinal int) string {
	return fmt.Sprintf(`{"id":"m%d","role":"user","parts":[{"type":"text","text":"%s"}]}`, ordinal,
		strings.Repeat(fmt.Sprintf("%s %d ", id, ordinal), 150))
}

func childBatch(id compartments.SessionID, version int64, next int) *compartments.Batch {
	b := &compartments.Batch{Session: id, Version: version, ListFrom: next - 1}
	for o := next; o < next+childMessages; o++ {
		e := compartments.Entry{Ordinal: compartments.Ordinal(o), ID: compartments.MessageID("m" + strconv.Itoa(o)), Role: compartments.RoleUser}
		b.Entries = append(b.Entries, compartments.EntryWrite{Entry: e, Raw: []byte(childMessage(id, o))})
		b.List = append(b.List, compartments.Ordinal(o))
	}
	return b
}

func startChild(t *testing.T, what, path string, id compartments.SessionID) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %s", childVariable, what, path, id))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out)
}

// checkChild compares a child's session with what it must have stored.
func checkChild(t *testing.T, s *sqlite.Store, id compartments.SessionID, acked int64) {
	t.Helper()
	st, err := s.Load(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	if st == nil {
		if acked > 0 {
			t.Fatalf("%d batches were acknowledged and none is there", acked)
		}
		return
	}
	if st.Version < acked {
		t.Fatalf("version %d, but %d was acknowledged", st.Version, acked)
	}
	if n := int(st.Version) * childMessages; len(st.Entries) != n || len(st.List) != n {
		t.Fatalf("version %d has %d entries and a list of %d", st.Version, len(st.Entries), len(st.List))
	}
	for i, text := range raw(t, s, id, st.List...) {
		if text != childMessage(id, i+1) {
			t.Fatalf("message %d: %.80q", i+1, text)
		}
	}
}

func integrity(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, pragma := range []string{"integrity_check", "foreign_key_check"} {
		rows, err := db.Query("PRAGMA " + pragma)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var verdict string
			if err := rows.Scan(&verdict); err != nil || verdict != "ok" {
				t.Errorf("%s: %q, %v", pragma, verdict, err)
			}
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// count runs a query for one number beside the store.
func count(t *testing.T, s *sqlite.Store, query string) int {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+s.Path()+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var n int
	if err := db.QueryRow(query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestKill_LosesNoAcknowledgedBatch kills a process in the middle of its commits
// again and again.
func TestKill_LosesNoAcknowledgedBatch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ctx.db")
	acked := int64(0)
	for round := range 6 {
		cmd, lines := startChild(t, "forever", path, "ses")
		for n := 0; n < 3+7*round && lines.Scan(); n++ {
			v, err := strconv.ParseInt(lines.Text(), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			acked = v
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() { // what it said before it died counts too
			if v, err := strconv.ParseInt(lines.Text(), 10, 64); err == nil {
				acked = v
			}
		}
		_ = cmd.Wait() // killed, as asked
		s := open(t, path, sqlite.Options{})
		if notes := s.Notes(); len(notes) > 0 {
			t.Fatalf("round %d: %v", round, notes)
		}
		checkChild(t, s, "ses", acked)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		integrity(t, path)
	}
}

// TestTwoProcesses_OneDatabase lets two processes make the database and write
// at once, each its own session, while a third reads.
func TestTwoProcesses_OneDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ctx.db")
	first, firstLines := startChild(t, "write", path, "one")
	second, secondLines := startChild(t, "write", path, "two")
	s := open(t, path, sqlite.Options{BusyTimeout: 20 * time.Second})
	for more := true; more; {
		more = firstLines.Scan()
		more = secondLines.Scan() || more
		if _, err := s.Sessions(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	for _, cmd := range []*exec.Cmd{first, second} {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	checkChild(t, s, "one", 60)
	checkChild(t, s, "two", 60)
}

// TestTwoStores_OneSession: what one writes the other must not overwrite.
func TestTwoStores_OneSession(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ctx.db")
	one, two := open(t, path, sqlite.Options{}), open(t, path, sqlite.Options{})
	store(t, one, "ses", user("m1", "hello"))
	st := load(t, two, "ses")
	next := func(text string) *compartments.Batch {
		return &compartments.Batch{Session: "ses", Version: st.Version, ListFrom: 1, List: ordinals(2)[1:],
			Entries: []compartments.EntryWrite{write(t, 2, user("m2", text))}}
	}
	commit(t, one, next("first"))
	_, err := two.Commit(context.Background(), next("second"))
	wantCode(t, err, compartments.CodeBusy)
	if !strings.Contains(err.Error(), "another process changed this session") {
		t.Errorf("text: %v", err)
	}
	if got := raw(t, two, "ses", 2)[0]; got != user("m2", "first") {
		t.Errorf("message 2: %s", got)
	}
}

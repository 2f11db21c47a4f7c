package sqlite_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxplugin/compartments"
	"ctxplugin/sqlite"
)

// grown closes the store and reports how many bytes the database has.
func sizeOf(t *testing.T, s *sqlite.Store) int64 {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(s.Path())
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// TestPayload_StoredOnce: one picture in many messages of two sessions, and
// again with every edit of a message, takes its place once.
func TestPayload_StoredOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ctx.db")
	s := open(t, path, sqlite.Options{})
	picture := scrambled(9, 1<<20)
	message := func(id string, n int) string {
		return fmt.Sprintf(`{"id":"%s%d","role":"user","parts":[{"type":"file","mime":"image/png","url":"data:image/png;base64,%s"},{"type":"text","text":"%d"}]}`, id, n, picture, n)
	}
	var all []string
	for n := range 10 {
		all = append(all, message("a", n))
	}
	store(t, s, "one", all...)
	store(t, s, "two", message("b", 1))
	version := int64(1)
	for n := range 20 {
		all[3] = message("a", 100+n)
		version = commit(t, s, &compartments.Batch{Session: "one", Version: version, ListFrom: -1, Entries: []compartments.EntryWrite{write(t, 4, all[3])}})
	}
	for i, got := range raw(t, s, "one", ordinals(10)...) {
		if got != all[i] {
			t.Fatalf("message %d differs", i+1)
		}
	}
	if size := sizeOf(t, s); size > 1<<20+300_000 {
		t.Errorf("the database has %d bytes", size)
	}
}

// TestEdit_LetsGoOfOldPayloads: what no message says any more is not kept.
func TestEdit_LetsGoOfOldPayloads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ctx.db")
	s := open(t, path, sqlite.Options{})
	for v := range int64(30) {
		commit(t, s, &compartments.Batch{Session: "ses", Version: v, ListFrom: -1, Entries: []compartments.EntryWrite{
			write(t, 1, user("m1", scrambled(int(v), 200_000)))}})
	}
	if got := raw(t, s, "ses", 1)[0]; got != user("m1", scrambled(29, 200_000)) {
		t.Error("the last edit differs")
	}
	if size := sizeOf(t, s); size > 1_000_000 {
		t.Errorf("the database has %d bytes", size)
	}
}

// TestEcho_BytesNotStoredTwice: the result of a tool of ours repeats what a
// message says, as text, as raw JSON, or a page of either.
func TestEcho_BytesNotStoredTwice(t *testing.T) {
	var lines strings.Builder
	for i := 0; lines.Len() < 200<<10; i++ {
		fmt.Fprintf(&lines, "%d\t%q %s\n", i, scrambled(i, 24), scrambled(-i, 30))
	}
	output := lines.String()
	source := tool("m2", "bash", `{"command":"make"}`, output)
	asRaw := "[2] assistant\n" + source + "\nend"
	for _, test := range []struct{ name, input, result string }{
		{"by range, as text", `{"first":2,"last":2}`, "Message 2, part 1:\n" + output + "\n(end)"},
		{"by range, numbers quoted, reversed", `{"first":"3","last":"1"}`, output},
		{"first alone", `{"first":2}`, output},
		{"by message id", `{"message":"m2","part":1}`, output[50_000:150_000]},
		{"by ordinal as message", `{"message":2}`, output},
		{"by compartment", `{"compartment":7}`, output},
		{"as raw JSON", `{"first":2,"last":2}`, asRaw},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "ctx.db")
			s := open(t, path, sqlite.Options{})
			commit(t, s, &compartments.Batch{Session: "ses", List: ordinals(2), Compartments: []compartments.Compartment{{ID: 7, First: 1, Last: 2, Members: ordinals(2)}},
				Entries: []compartments.EntryWrite{write(t, 1, user("m1", "run it")), write(t, 2, source)}})
			before := sizeOf(t, s)
			s = open(t, path, sqlite.Options{})
			call := tool("m3", "ctx_expand", test.input, test.result)
			commit(t, s, &compartments.Batch{Session: "ses", Version: 1, ListFrom: 2, List: []compartments.Ordinal{3}, Entries: []compartments.EntryWrite{write(t, 3, call)}})
			if got := raw(t, s, "ses", 3)[0]; got != call {
				t.Fatal("the result differs")
			}
			if grown := sizeOf(t, s) - before; grown > 24_000 {
				t.Errorf("the database grew by %d bytes", grown)
			}
		})
	}
}

// TestEcho_OutlivesItsSource: the message that an echo was made of is edited,
// and the echo is expanded again.
func TestEcho_OutlivesItsSource(t *testing.T) {
	s := newStore(t)
	output := strings.Repeat(scrambled(1, 50)+"\n", 20) + scrambled(2, 100_000)
	echo := tool("m2", "ctx_expand", `{"first":1}`, output)
	again := tool("m3", "ctx_expand", `{"first":1,"last":2}`, output+"\n"+output)
	store(t, s, "ses", tool("m1", "bash", `{}`, output), echo, again)
	commit(t, s, &compartments.Batch{Session: "ses", Version: 1, ListFrom: -1, Entries: []compartments.EntryWrite{
		write(t, 1, tool("m1", "bash", `{}`, "something else"))}})
	if got := raw(t, s, "ses", 2, 3); got[0] != echo || got[1] != again {
		t.Error("an echo differs")
	}
	commit(t, s, &compartments.Batch{Session: "ses", Version: 2, ListFrom: -1, Entries: []compartments.EntryWrite{
		write(t, 2, user("m2", "x")), write(t, 3, user("m3", "x"))}})
	if n := count(t, s, `SELECT count(*) FROM blobs WHERE held = 0`); n != 0 {
		t.Errorf("%d payloads are left that nothing needs", n)
	}
}

// TestEcho_OfNothing: calls of our own that name nothing, or nothing that is
// there, are stored like any other.
func TestEcho_OfNothing(t *testing.T) {
	s := newStore(t)
	result := strings.Repeat("result ", 1000)
	var all []string
	for i, input := range []string{`{}`, `{"first":99}`, `{"message":"none"}`, `{"compartment":5}`, `[]`, `"x"`, `{"first":{"a":1}}`, `{"first":-4}`, `{"query":"x"}`} {
		all = append(all, tool(fmt.Sprint("m", i), "ctx_expand", input, result+fmt.Sprint(i)))
	}
	store(t, s, "ses", all...)
	for i, got := range raw(t, s, "ses", ordinals(len(all))...) {
		if got != all[i] {
			t.Errorf("call %d differs", i)
		}
	}
}

// TestForget_LeavesNoBytes: two sessions written in turn, searched and edited;
// after one is forgotten nothing of it is in any file, and all of the other is.
func TestForget_LeavesNoBytes(t *testing.T) {
	for _, journal := range []bool{false, true} {
		t.Run(fmt.Sprint("rollback journal ", journal), func(t *testing.T) {
			ctx := context.Background()
			folder := t.TempDir()
			s := open(t, filepath.Join(folder, "ctx.db"), sqlite.Options{RollbackJournal: journal})
			shared := "sharedpayload " + scrambled(3, 5000)
			text := func(word string, n int) string {
				return fmt.Sprintf("%s%d %s", word, n, strings.Repeat(fmt.Sprintf("%s text %d ", word, n), n%200))
			}
			for n := range 150 {
				for _, id := range []string{"secretive", "harmless"} {
					b := &compartments.Batch{Session: compartments.SessionID(id), Version: int64(n), ListFrom: n, List: []compartments.Ordinal{compartments.Ordinal(n + 1)},
						State:   []byte(id + " state"),
						Entries: []compartments.EntryWrite{write(t, n+1, user(fmt.Sprint(id, "message", n), text(id, n)))}}
					if n%10 == 1 {
						b.Entries = append(b.Entries, write(t, n, tool(fmt.Sprint(id, "edited", n), "bash", `{"command":"`+id+`command"}`, text(id, 777)+shared)))
					}
					if n%5 == 0 {
						b.Compartments = []compartments.Compartment{{ID: compartments.CompartmentID(n + 1), First: 1, Last: 1, Title: id + " title", Members: ordinals(1),
							Tiers: map[compartments.Tier]compartments.Rendition{compartments.TierFull: {Text: text(id, n), Tokens: 5}}}}
						b.Fold = &compartments.Fold{Number: n/5 + 1, PlanID: fmt.Sprint(id, n), Layout: []compartments.PairLayout{{Text: text(id, n)}},
							Decisions: []compartments.Decision{{Compartment: 1, Reason: compartments.Reason(id)}}}
						b.PlanID, b.Plan = fmt.Sprint(id, n), []byte(`{"head":"`+text(id, n)+`"}`)
					}
					commit(t, s, b)
				}
				if n%20 == 0 {
					if _, err := s.Index(ctx, 30); err != nil {
						t.Fatal(err)
					}
				}
			}
			if all := contents(t, folder); !bytes.Contains(all, []byte("secretive")) {
				t.Fatal("nothing to forget")
			}
			for range 2 {
				if err := s.Forget(ctx, "secretive"); err != nil {
					t.Fatal(err)
				}
			}
			if n := bytes.Count(contents(t, folder), []byte("secretive")); n > 0 {
				t.Errorf("%d traces are left", n)
			}
			if st, err := s.Load(ctx, "secretive"); st != nil || err != nil {
				t.Errorf("load: %v, %v", st, err)
			}
			if hits, err := s.Search(ctx, "harmless", "harmless7", 10); err != nil || len(hits) == 0 {
				t.Errorf("search: %v, %v", hits, err)
			}
			if got := raw(t, s, "harmless", 150)[0]; got != user("harmlessmessage149", text("harmless", 149)) {
				t.Errorf("message 150 of the other: %.80s", got)
			}
			if got := raw(t, s, "harmless", 141)[0]; !strings.Contains(got, shared) {
				t.Error("a shared payload went with the forgotten session")
			}
			for _, table := range []string{"messages", "lists", "compartments", "plans", "folds", "decisions", "waiting"} {
				if n := count(t, s, `SELECT count(*) FROM `+table+` WHERE session NOT IN (SELECT key FROM sessions)`); n > 0 {
					t.Errorf("%d rows are left in %s", n, table)
				}
			}
			if n := count(t, s, `SELECT count(*) FROM blobs WHERE held = 0 AND key NOT IN (SELECT used FROM uses)`); n > 0 {
				t.Errorf("%d payloads are left that nothing needs", n)
			}
			if err := s.Forget(ctx, "harmless"); err != nil {
				t.Fatal(err)
			}
			for _, table := range []string{"sessions", "blobs", "uses", "message_words_docsize", "compartment_words_docsize"} {
				if n := count(t, s, `SELECT count(*) FROM `+table); n > 0 {
					t.Errorf("%d rows are left in %s", n, table)
				}
			}
		})
	}
}

// contents is every file of a folder, one after the other, in lower case.
func contents(t *testing.T, folder string) []byte {
	t.Helper()
	var all []byte
	for _, name := range names(t, folder) {
		all = append(all, readFile(t, filepath.Join(folder, name))...)
	}
	return bytes.ToLower(all)
}

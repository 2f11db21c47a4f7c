package expand

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxplugin/compartments"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// part and message are what tests write messages with: the JSON of the wire.
type jsonPart = map[string]any

type fakeStore struct {
	raw      [][]byte
	hits     []compartments.Hit // returned by Search, whatever is asked
	err      error
	searched []string
	read     int // messages
}

func (f *fakeStore) Raw(_ context.Context, _ compartments.SessionID, ordinals []compartments.Ordinal) ([][]byte, error) {
	if f.err != nil {
		return nil, f.err
	}
	var out [][]byte
	for _, o := range ordinals {
		if o < 1 || int(o) > len(f.raw) {
			return nil, compartments.Errorf(compartments.CodeNotFound, "no message %d", o)
		}
		out = append(out, f.raw[o-1])
	}
	f.read += len(out)
	return out, nil
}

func (f *fakeStore) Search(_ context.Context, _ compartments.SessionID, query string, limit int) ([]compartments.Hit, error) {
	if f.err != nil {
		return nil, f.err
	}
	f.searched = append(f.searched, query)
	return f.hits[:min(limit, len(f.hits))], nil
}

// world is a session for a test.
type world struct {
	t     testing.TB
	store *fakeStore
	view  *View
}

func newWorld(t testing.TB) *world {
	return &world{t: t, store: &fakeStore{}, view: &View{Session: "s"}}
}

// add stores a message and puts it at the end of the list.
func (w *world) add(role compartments.Role, parts ...jsonPart) compartments.Ordinal {
	w.t.Helper()
	o := compartments.Ordinal(len(w.store.raw) + 1)
	if parts == nil {
		parts = []jsonPart{}
	}
	raw, err := json.Marshal(map[string]any{
		"id": fmt.Sprintf("msg_%d", o), "role": role, "time": 1_768_407_000_000 + int64(o)*60_000, "parts": parts,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return w.addRaw(raw)
}

func (w *world) addRaw(raw []byte) compartments.Ordinal {
	w.t.Helper()
	m, err := compartments.DecodeMessage(raw)
	if err != nil {
		w.t.Fatal(err)
	}
	o := compartments.Ordinal(len(w.store.raw) + 1)
	e := compartments.Entry{Ordinal: o, ID: m.ID, Role: m.Role, Time: m.Time, Sizes: make([]compartments.Size, len(m.Parts))}
	for i, print := range m.Print().Parts {
		e.Sizes[i].Units = print.Units
	}
	w.store.raw = append(w.store.raw, raw)
	w.view.Entries = append(w.view.Entries, e)
	w.view.List = append(w.view.List, o)
	return o
}

// fold folds all messages up to an ordinal away, except those kept.
func (w *world) fold(through compartments.Ordinal, keep ...compartments.Ordinal) {
	w.view.Plan.Through = w.view.Entries[through-1].ID
	for _, o := range keep {
		w.view.Plan.Keep = append(w.view.Plan.Keep, w.view.Entries[o-1].ID)
	}
}

func (w *world) compartment(id compartments.CompartmentID, title string, members ...compartments.Ordinal) {
	w.view.Compartments = append(w.view.Compartments, compartments.Compartment{
		ID: id, First: members[0], Last: members[len(members)-1], Members: members, Title: title,
	})
}

func (w *world) stub(o compartments.Ordinal, part int, field compartments.Field) {
	w.view.Plan.Edits = append(w.view.Plan.Edits, compartments.Edit{MessageID: w.view.Entries[o-1].ID, Part: part, Field: field, Value: "stub"})
}

func (w *world) withdraw(ordinals ...compartments.Ordinal) {
	gone := map[compartments.Ordinal]bool{}
	for _, o := range ordinals {
		gone[o] = true
	}
	var list []compartments.Ordinal
	for _, o := range w.view.List {
		if !gone[o] {
			list = append(list, o)
		}
	}
	w.view.List = list
}

func (w *world) call(tool, arguments string, room int) Result {
	w.t.Helper()
	r, err := New(w.store, countBytes).Call(context.Background(), w.view, tool, []byte(arguments), room)
	if err != nil {
		w.t.Fatalf("%s(%s): %v", tool, arguments, err)
	}
	return r
}

// countBytes is a count that is never above that of a tokenizer by much: three
// bytes and a half a token.
func countBytes(s string) int { return (len(s)*2 + 6) / 7 }

func text(s string) jsonPart { return jsonPart{"type": "text", "text": s} }

func tool(name string, input any, output string) jsonPart {
	return jsonPart{"type": "tool", "tool": name, "callID": "c", "state": map[string]any{"status": "completed", "input": input, "output": output}}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (run with -update to accept it):\n%s", path, firstDifference(string(want), got))
	}
}

func firstDifference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d\nwant %q\ngot  %q", i+1, a[i], b[i])
		}
	}
	return fmt.Sprintf("want %d lines, got %d", len(a), len(b))
}

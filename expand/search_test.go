package expand

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"ctxplugin/compartments"
)

func TestSearch_Shown(t *testing.T) {
	log := strings.Repeat("all is well\n", 200) + "npm ERR! ERESOLVE could not resolve\n" + strings.Repeat("and so on\n", 200)
	at := strings.Index(log, "ERESOLVE")
	script := "set -e\necho \"start\"\n" + strings.Repeat("# é\n", 300) + "grep ERESOLVE log"
	session := func(t *testing.T) *world {
		w := newWorld(t)
		w.add("user", text("Why does the install fail?"))
		w.add("assistant", tool("bash", map[string]any{"command": "npm install"}, log), text("It is ERESOLVE."))
		w.add("assistant", tool("write", map[string]any{"content": script, "filePath": "a.sh"}, "ok"))
		w.add("assistant", tool("ctx_expand", map[string]any{"message": 2}, "ERESOLVE"))
		w.add("assistant", text("ERESOLVE again"))
		w.add("user", text("no more ERESOLVE, please"))
		w.add("assistant", tool("bash", map[string]any{"command": "true"}, log))
		w.fold(5)
		w.stub(7, 0, compartments.FieldOutput)
		w.compartment(7, "Install", 1, 2)
		w.compartment(8, "More", 3, 4)
		return w
	}
	raw := func(w *world, o compartments.Ordinal, part int) string {
		m, err := compartments.DecodeMessage(w.store.raw[o-1])
		if err != nil {
			t.Fatal(err)
		}
		return m.Parts[part].Input
	}
	hits := func(w *world) []compartments.Hit {
		input := raw(w, 3, 0)
		return []compartments.Hit{
			{Ordinal: 2, Part: 0, Field: compartments.FieldOutput, Offset: at, Excerpt: "npm ERR! ERESOLVE could\nnot resolve"},
			{Ordinal: 2, Part: 0, Field: compartments.FieldOutput, Offset: at + 8, Excerpt: "the same field again"},
			{Compartment: 7, Part: -1, Excerpt: "ERESOLVE killed it: \"peer\""},
			{Ordinal: 3, Part: 0, Field: compartments.FieldInput, Offset: strings.Index(input, "ERESOLVE"), Excerpt: "grep ERESOLVE log"},
			{Ordinal: 4, Part: 0, Field: compartments.FieldOutput, Excerpt: "our own"},
			{Ordinal: 6, Part: 0, Field: compartments.FieldText, Offset: 8},
			{Ordinal: 7, Part: 0, Field: compartments.FieldOutput, Offset: at, Excerpt: "npm ERR! ERESOLVE"},
			{Ordinal: 99, Part: 0, Field: compartments.FieldText},
			{Ordinal: 2, Part: 17, Field: compartments.FieldText},
			{Compartment: 99, Part: -1},
			{Ordinal: 5, Part: 0, Field: compartments.FieldText, Excerpt: "ERESOLVE again"},
		}
	}
	for _, c := range []struct {
		name      string
		change    func(*world)
		arguments string
		room      int
	}{
		{"hits", nil, `{"query": "ERESOLVE", "limit": 20}`, 40_000},
		{"limit", nil, `{"query": "ERESOLVE", "limit": "2"}`, 40_000},
		{"small-room", nil, `{"query": "ERESOLVE"}`, 1_400},
		{"no-room", nil, `{"query": "ERESOLVE"}`, 300},
		{"withdrawn", func(w *world) { w.withdraw(2) }, `{"query": "ERESOLVE", "limit": 1}`, 40_000},
		{"compartment-in-view", func(w *world) { w.view.Plan = compartments.Plan{} }, `{"query": "ERESOLVE", "limit": 2}`, 40_000},
		{"nothing", func(w *world) { w.store.hits = nil }, `{"query": "peer dependency ERESOLVE"}`, 40_000},
		{"nothing-path", func(w *world) { w.store.hits = nil }, `{"query": "src/authentication.ts"}`, 40_000},
		{"nothing-word", func(w *world) { w.store.hits = nil }, `{"query": "configuration"}`, 40_000},
		{"nothing-short", func(w *world) { w.store.hits = nil }, `{"query": "npm"}`, 40_000},
		{"missing", nil, `{}`, 40_000},
		{"empty", nil, `{"query": " "}`, 40_000},
		{"number", nil, `{"query": 401, "limit": 1}`, 40_000},
		{"list", nil, `{"query": ["a"]}`, 40_000},
		{"limit-zero", nil, `{"query": "a", "limit": 0}`, 40_000},
		{"placeholder", nil, `{"query": "[...]"}`, 40_000},
		{"unknown", nil, `{"q": "a"}`, 40_000},
		{"unreadable", func(w *world) { w.store.err = compartments.Errorf(compartments.CodeBadInput, "an unclosed quote") }, `{"query": "\"a"}`, 40_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := session(t)
			w.store.hits = hits(w)
			if c.change != nil {
				c.change(w)
			}
			r := w.call(ToolSearch, c.arguments, c.room)
			if n := countBytes(r.Text); n > max(c.room/roomShare, 300) {
				t.Errorf("%d tokens in a room of %d", n, c.room)
			}
			golden(t, "search-"+c.name, fmt.Sprintf("%s(%s) in a room of %d, error %t\n\n%s", ToolSearch, c.arguments, c.room, r.IsError, r.Text))
		})
	}
}

// TestSearch_CallsShowTheMatch makes the calls that hits name.
func TestSearch_CallsShowTheMatch(t *testing.T) {
	for _, before := range []string{"", "one line\n", strings.Repeat("x", 5_000), strings.Repeat("kurz\r\n", 3_000), strings.Repeat("👩🏽‍💻", 900), strings.Repeat("\t\"\\u00e9\"\\\\", 800)} {
		w := newWorld(t)
		field := before + "NEEDLE and what follows"
		w.add("assistant", text(field), tool("bash", map[string]any{"a": "é", "script": field}, field))
		w.add("user", text("on"))
		w.fold(1)
		m, err := compartments.DecodeMessage(w.store.raw[0])
		if err != nil {
			t.Fatal(err)
		}
		w.store.hits = []compartments.Hit{
			{Ordinal: 1, Part: 0, Field: compartments.FieldText, Offset: len(before)},
			{Ordinal: 1, Part: 1, Field: compartments.FieldInput, Offset: strings.Index(m.Parts[1].Input, "NEEDLE")},
			{Ordinal: 1, Part: 1, Field: compartments.FieldOutput, Offset: len(before)},
		}
		found := w.call(ToolSearch, `{"query": "NEEDLE"}`, 40_000).Text
		calls := 0
		for line := range strings.Lines(found) {
			call := strings.TrimSpace(line)
			if !strings.HasPrefix(call, ToolExpand+"(") {
				continue
			}
			calls++
			page := w.call(ToolExpand, strings.TrimSuffix(strings.TrimPrefix(call, ToolExpand+"("), ")"), 4_000).Text
			bodies, _, err := ReadPage(page)
			if err != nil || !strings.Contains(bodies[0].Text, "NEEDLE and") {
				t.Errorf("%s (%v) shows\n%s", call, err, page)
			}
		}
		if calls != len(w.store.hits) {
			t.Errorf("%d calls in\n%s", calls, found)
		}
	}
}

func TestCall_StoreFaults(t *testing.T) {
	for _, err := range []error{compartments.Errorf(compartments.CodeStorage, "the disk is gone"), context.Canceled} {
		w := investigation(t)
		w.store.err = err
		for _, c := range [][2]string{{ToolExpand, `{"first": 1, "last": 2}`}, {ToolExpand, `{"message": 1, "part": 0}`}, {ToolSearch, `{"query": "a"}`}} {
			r, got := New(w.store, countBytes).Call(t.Context(), w.view, c[0], []byte(c[1]), 40_000)
			if !errors.Is(got, err) || r != (Result{}) {
				t.Errorf("%s%s: %v, %v", c[0], c[1], got, r)
			}
		}
	}
}

// TestCall_MissingOriginals asks for messages whose text is gone from the store.
func TestCall_MissingOriginals(t *testing.T) {
	w := investigation(t)
	w.store.raw = w.store.raw[:2]
	for _, arguments := range []string{`{"first": 1, "last": 4}`, `{"message": 4, "part": 0}`} {
		if r := w.call(ToolExpand, arguments, 40_000); !r.IsError || !strings.Contains(r.Text, "missing in the store") {
			t.Errorf("%s: %+v", arguments, r)
		}
	}
}

// TestCall_BytesThatAreNoUTF8 opens what the store holds byte for byte, although
// it is no valid UTF-8.
func TestCall_BytesThatAreNoUTF8(t *testing.T) {
	w := newWorld(t)
	w.addRaw([]byte("{\"id\":\"m\",\"role\":\"assistant\",\"parts\":[{\"type\":\"tool\",\"tool\":\"ba\xffsh\",\"state\":{\"status\":\"completed\"," +
		"\"input\":{\"a\xfe\":\"b\xc3\"},\"output\":\"\xed\xa0\x80 \\ud800 \x80\x80\x80\x80\x80\"}},{\"type\":\"tool\",\"tool\":\"x\",\"state\":{\"input\":\"\xff\xff\"}}]}"))
	w.add("user", text("on"))
	w.fold(1)
	r := w.call(ToolExpand, `{"first": 1, "last": 1}`, 40_000)
	bodies, _, err := ReadPage(r.Text)
	if err != nil || !utf8.ValidString(r.Text) || len(bodies) != 3 {
		t.Fatalf("%v, %q", err, r.Text)
	}
	if got, want := bodies[1].Text, "\uFFFD\uFFFD\uFFFD \uFFFD \uFFFD\uFFFD\uFFFD\uFFFD\uFFFD"; got != want {
		t.Errorf("the output is %q, want %q", got, want)
	}
	for limit := 1; limit < 200; limit += 13 {
		var joined strings.Builder
		for offset := 0; ; {
			r, err := New(w.store, countBytes).Stored(t.Context(), w.view, Request{Message: "m", Part: 0, Offset: offset, Limit: limit})
			if err != nil {
				t.Fatal(err)
			}
			joined.WriteString(r.Text)
			if offset = r.Next; offset == 0 {
				break
			}
		}
		if !strings.Contains(string(w.store.raw[0]), joined.String()) || !strings.HasSuffix(joined.String(), "}}") {
			t.Errorf("limit %d: %q", limit, joined.String())
		}
	}
}

func TestCall_UnknownTool(t *testing.T) {
	if r := investigation(t).call("ctx_fold", `{}`, 40_000); !r.IsError || r.Text != `There is no tool "ctx_fold"; there are ctx_expand, ctx_search, ctx_pin and ctx_unpin.` {
		t.Errorf("%+v", r)
	}
}

func TestCall_EmptySession(t *testing.T) {
	w := newWorld(t)
	if r := w.call(ToolExpand, `{"first": 1, "last": 2}`, 40_000); !r.IsError || !strings.Contains(r.Text, "no stored message") {
		t.Errorf("%+v", r)
	}
	if r := w.call(ToolSearch, `{"query": "a"}`, 40_000); r.IsError || !strings.Contains(r.Text, "Nothing found") {
		t.Errorf("%+v", r)
	}
}

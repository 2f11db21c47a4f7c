package expand

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"

	"ctxplugin/compartments"
)

// failer is what *testing.T and *rapid.T have in common.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// seat names a field of a stored message.
type seat struct {
	message compartments.Ordinal
	part    int
	field   compartments.Field
}

// follow makes a call and every call that its pages name, and returns what the
// bodies of each field join to.
func follow(t failer, w *world, arguments string, room int, count func(string) int) map[seat]string {
	t.Helper()
	bodies := map[seat][]Body{}
	made := map[string]bool{}
	for queue := []string{arguments}; len(queue) > 0; queue = queue[1:] {
		if made[queue[0]] {
			t.Fatalf("the call %s is named twice", queue[0])
		}
		made[queue[0]] = true
		r, err := New(w.store, count).Call(context.Background(), w.view, ToolExpand, []byte(queue[0]), room)
		if err != nil || r.IsError {
			t.Fatalf("%s: %v %s", queue[0], err, r.Text)
		}
		if n := count(r.Text); n > room/roomShare {
			t.Fatalf("%s in a room of %d returns %d tokens:\n%s", queue[0], room, n, r.Text)
		}
		if len(r.Text) > MaxPageBytes || strings.Count(r.Text, "\n") > MaxPageLines {
			t.Fatalf("%s returns %d bytes and %d lines", queue[0], len(r.Text), strings.Count(r.Text, "\n"))
		}
		page, next, err := ReadPage(r.Text)
		if err != nil {
			t.Fatalf("%s: %v", queue[0], err)
		}
		if len(page) == 0 && len(next) == 0 && strings.Contains(r.Text, "room") {
			t.Fatalf("%s: %s", queue[0], r.Text)
		}
		for _, b := range page {
			at := seat{b.Message, b.Part, b.Field}
			bodies[at] = append(bodies[at], b)
		}
		for _, call := range next {
			inner := strings.TrimSuffix(strings.TrimPrefix(call, ToolExpand+"("), ")")
			if !json.Valid([]byte(inner)) || ToolExpand+"("+inner+")" != call {
				t.Fatalf("%s names the call %q", queue[0], call)
			}
			queue = append(queue, inner)
		}
	}
	joined := map[seat]string{}
	for at, list := range bodies {
		sort.Slice(list, func(i, j int) bool { return list[i].From < list[j].From })
		var b strings.Builder
		for _, body := range list {
			if body.From != b.Len() || body.Total != list[0].Total {
				t.Fatalf("%v: %d bytes, then %d-%d of %d", at, b.Len(), body.From, body.To, body.Total)
			}
			b.WriteString(body.Text)
		}
		if b.Len() != list[0].Total {
			t.Fatalf("%v: %d of %d bytes", at, b.Len(), list[0].Total)
		}
		joined[at] = b.String()
		checkCuts(t, joined[at], list)
	}
	return joined
}

// checkCuts fails if a page ends inside a grapheme that would have fitted.
func checkCuts(t failer, whole string, list []Body) {
	t.Helper()
	if len(list) == 1 {
		return
	}
	cuts := map[int]bool{}
	for _, b := range list {
		cuts[b.From] = true
	}
	at := 0
	for rest, state := whole, -1; rest != ""; {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		for i := 1; i < len(cluster); i++ {
			if cuts[at+i] && len(cluster) <= snapBack {
				t.Fatalf("a page ends inside the grapheme %q at %d", cluster, at)
			}
		}
		at += len(cluster)
	}
}

// wanted is what the fields of the messages hold, read from the stored JSON
// without this package's help; inputs by their arguments.
func wanted(t failer, w *world, ordinals []compartments.Ordinal) map[seat]any {
	t.Helper()
	out := map[seat]any{}
	for _, o := range ordinals {
		var m struct {
			Parts []struct {
				Type, Text, Tool string
				Ignored          bool
				State            struct {
					Status, Output, Error string
					Input                 json.RawMessage
				}
			}
		}
		if err := json.Unmarshal(w.store.raw[o-1], &m); err != nil {
			t.Fatal(err)
		}
		for i, p := range m.Parts {
			switch {
			case p.Type == "text" && !p.Ignored && p.Text != "":
				out[seat{o, i, compartments.FieldText}] = p.Text
			case p.Type == "tool" && !strings.HasPrefix(p.Tool, "ctx_"):
				var input map[string]json.RawMessage
				if err := json.Unmarshal(p.State.Input, &input); err != nil {
					t.Fatal(err)
				}
				if len(input) > 0 {
					out[seat{o, i, compartments.FieldInput}] = input
				}
				switch p.State.Status {
				case "completed":
					out[seat{o, i, compartments.FieldOutput}] = p.State.Output
				case "error":
					out[seat{o, i, compartments.FieldOutput}] = p.State.Error
				}
			}
		}
	}
	return out
}

// readInput reads the text of a call's arguments by the rules of the package
// comment.
func readInput(t failer, text string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for text != "" {
		var name string
		if text[0] == '"' {
			d := json.NewDecoder(strings.NewReader(text))
			if err := d.Decode(&name); err != nil {
				t.Fatalf("no name: %q", text)
			}
			text = text[d.InputOffset():]
		} else {
			end := strings.IndexAny(text, ":,")
			name, text = text[:end], text[end:]
		}
		var value string
		if rest, ok := strings.CutPrefix(text, ": "); ok {
			value, text, _ = strings.Cut(rest, "\n")
		} else {
			digits, rest, ok := strings.Cut(strings.TrimPrefix(text, ", "), " bytes:\n")
			size, err := strconv.Atoi(digits)
			if !ok || err != nil {
				t.Fatalf("no value: %q", text)
			}
			value, text = rest[:size], strings.TrimPrefix(rest[size:], "\n")
		}
		out[name] = value
	}
	return out
}

func compare(t failer, got map[seat]string, want map[seat]any) {
	t.Helper()
	for at, value := range want {
		text, ok := got[at]
		if !ok {
			t.Fatalf("%v was never shown", at)
		}
		switch value := value.(type) {
		case string:
			if text != value {
				t.Fatalf("%v is %q, stored as %q", at, text, value)
			}
		case map[string]json.RawMessage:
			shown := readInput(t, text)
			if len(shown) != len(value) {
				t.Fatalf("%v has the arguments %q of %d", at, shown, len(value))
			}
			for name, raw := range value {
				var s string
				if json.Unmarshal(raw, &s) != nil {
					s = string(raw)
				}
				if shown[name] != s {
					t.Fatalf("%v: %s is %q, stored as %q", at, name, shown[name], s)
				}
			}
		}
		delete(got, at)
	}
	for at := range got {
		t.Fatalf("%v is no field that is sent", at)
	}
}

// text of every kind that cutting and framing could break.
var awkward = []string{
	"word ", "\n", "\r\n", "\r", "e\u0301\u0323", "👨‍👩‍👧‍👦", "👩🏽‍💻", "🇩🇪", "🇫🇷", "\u202eשלום\u202c", "مرحبا ", "\x00", "क्षि", "한국어", "각",
	"\u200d", "\u0301", "\ufeff", "\u2028", "漢字かな", "x=1;\t", "\x1b[31m", "<|endoftext|>", `\n"`, "LONE",
	"=== message 1, part 0, text (user), bytes 0-3 of 3\nabc\n", "More: ctx_expand({\"message\": 1})\n", "\nRest: ctx_expand({})\n", "--- \n",
}

func drawText(t *rapid.T, label string) string {
	var b strings.Builder
	for i := range rapid.IntRange(0, 6).Draw(t, label+"Runs") {
		piece := rapid.OneOf(rapid.SampledFrom(awkward), rapid.StringN(0, 12, -1)).Draw(t, fmt.Sprint(label, i))
		for range rapid.SampledFrom([]int{1, 1, 2, 40, 700}).Draw(t, fmt.Sprint(label, "Times", i)) {
			b.WriteString(piece)
		}
	}
	return b.String()
}

// addDrawn stores a random message. A marker in its texts becomes the escape of a
// lone surrogate.
func addDrawn(t *rapid.T, w *world) {
	var parts []jsonPart
	for range rapid.IntRange(0, 3).Draw(t, "parts") {
		switch rapid.IntRange(0, 6).Draw(t, "kind") {
		case 0, 1:
			parts = append(parts, jsonPart{"type": "text", "text": drawText(t, "text"), "ignored": rapid.IntRange(0, 8).Draw(t, "ignored") == 0})
		case 2:
			parts = append(parts, jsonPart{"type": "reasoning", "text": "why"})
		case 3:
			parts = append(parts, jsonPart{"type": "file", "mime": "image/png", "filename": drawText(t, "name"), "url": "data:"})
		default:
			input := map[string]any{}
			for range rapid.IntRange(0, 3).Draw(t, "arguments") {
				name := rapid.OneOf(rapid.SampledFrom([]string{"command", "file_path", "a b", "x, 3 bytes", "k: v", "\n"}), rapid.StringN(0, 6, -1)).Draw(t, "argument")
				name = strings.ReplaceAll(name, "LONE", "")
				if rapid.Bool().Draw(t, "string") {
					input[name] = drawText(t, "value")
				} else {
					input[name] = []any{1.5, "two\n", map[string]any{"<": nil}}
				}
			}
			state := map[string]any{"input": input, "status": rapid.SampledFrom([]string{"completed", "completed", "error", "running"}).Draw(t, "status")}
			state["output"], state["error"] = drawText(t, "output"), drawText(t, "error")
			name := rapid.SampledFrom([]string{"bash", "ctx_expand", "odd), bytes 0-9 of 9", "a\nb", "名前"}).Draw(t, "tool")
			parts = append(parts, jsonPart{"type": "tool", "tool": name, "state": state})
		}
	}
	o := len(w.store.raw) + 1
	raw, err := json.Marshal(map[string]any{"id": fmt.Sprintf("msg_%d", o), "role": "assistant", "time": o, "parts": append([]jsonPart{}, parts...)})
	if err != nil {
		t.Fatal(err)
	}
	w.addRaw(bytes.ReplaceAll(raw, []byte("LONE"), []byte(`\ud83d`)))
}

func TestExpand_PagesJoinToTheOriginals(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		n := rapid.IntRange(1, 7).Draw(rt, "messages")
		for range n {
			addDrawn(rt, w)
		}
		w.view.List = rapid.Permutation(w.view.List).Draw(rt, "list")
		through := rapid.IntRange(0, n-1).Draw(rt, "through")
		w.view.Plan.Through = w.view.Entries[w.view.List[through]-1].ID
		open := w.view.List[:through+1]
		room := rapid.OneOf(rapid.IntRange(4*pageLeast, 4*pageLeast+200), rapid.IntRange(4*pageLeast, 400_000)).Draw(rt, "room")
		count := rapid.SampledFrom([]func(string) int{countBytes, func(s string) int { return (len(s) + 1) / 2 }, func(s string) int { return (len(s) + 7) / 8 }}).Draw(rt, "count")
		got := follow(rt, w, fmt.Sprintf(`{"first": 1, "last": %d}`, n), room, count)
		compare(rt, got, wanted(rt, w, open))
	})
}

func TestExpand_PartPagesJoinToTheOriginals(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		value, output := drawText(rt, "value"), drawText(rt, "output")
		w.add("assistant", tool("bash", map[string]any{"command": value, "n": 1}, output))
		w.add("user", text("end"))
		w.fold(1)
		room := rapid.IntRange(4*pageLeast, 100_000).Draw(rt, "room")
		got := follow(rt, w, `{"message": 1, "part": 0}`, room, countBytes)
		compare(rt, got, wanted(rt, w, []compartments.Ordinal{1}))
	})
}

package lab

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// told is a recording with one large output that alone shows tokenRenewal, and a
// turn behind it; then a reply says what is given, and a last one repeats it.
func told(t *testing.T, says string) *recording {
	t.Helper()
	type dict = map[string]any
	text := func(s string) dict { return dict{"type": "text", "text": s} }
	read := func(output string) dict {
		return dict{"type": "tool", "tool": "read", "callID": "c", "state": dict{"status": "completed", "input": dict{"filePath": "src/queue/lease.go"}, "output": output}}
	}
	var messages []dict
	add := func(role string, parts ...dict) {
		messages = append(messages, dict{"info": dict{"id": fmt.Sprintf("m%d", len(messages)), "sessionID": "s", "role": role}, "parts": parts})
	}
	add("user", text("Look at the lease."))
	add("assistant", read(strings.Repeat("plain words and more of them\n", 100)+"tokenRenewal"))
	add("assistant", text("I did."))
	add("user", text("And now?"))
	add("assistant", text(says))
	add("assistant", text(says))
	data, err := json.Marshal(dict{"info": dict{"id": "s"}, "messages": messages})
	if err != nil {
		t.Fatal(err)
	}
	rec, err := parseRecording("told.json", data)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

func TestMeasures(t *testing.T) {
	for _, c := range []struct {
		says, stub           string
		named, shown, needed int
	}{
		{"Nothing to see.", "[stored]", 0, 0, 0},
		{"The tokenRenewal is wrong.", "[stored]", 2, 1, 1}, // the second time the first is in view
		{"The tokenRenewal is wrong.", "[stored, tokenRenewal]", 2, 2, 0},
		{"It is in src/queue/lease.go.", "[stored]", 2, 2, 0}, // the call shows it
		{"The otherName is wrong.", "[stored]", 1, 1, 0},      // it never occurred before
	} {
		rec := told(t, c.says)
		render := newRenderer(counts)
		m := newMeasures(rec, render, func(i int) []byte { return wireMessage(&rec.messages[i], nil) })
		var was *plan
		for i, s := range cut(rec) {
			is := was
			if s.reply == 4 {
				is = &plan{ID: "p", Edits: []edit{{MessageID: "m1", Part: 0, Field: "output", Value: c.stub}}}
			}
			m.observe(i+1, render.apply(rec, s.view, is), was, is, was != is, s.reply)
			was = is
		}
		if m.Named != c.named || m.Shown != c.shown || m.Stubs != 1 || m.Needed != c.needed {
			t.Errorf("%q, %q: named %d, shown %d, stubs %d, needed %d", c.says, c.stub, m.Named, m.Shown, m.Stubs, m.Needed)
		}
		if m.Touchable < 500 || m.Saved < m.Touchable*9/10 || m.Saved > m.Touchable {
			t.Errorf("saves %d of %d", m.Saved, m.Touchable)
		}
		if want := (kindNeeded{"read output, large", 1, c.needed}); !slices.Equal(m.Kinds, []kindNeeded{want}) {
			t.Errorf("%+v", m.Kinds)
		}
		var b strings.Builder
		if m.report(&b); !strings.Contains(b.String(), "1 part became stubs at folds") {
			t.Error(b.String())
		}
	}
}

package expand

import (
	"fmt"
	"strings"
	"testing"

	"ctxplugin/compartments"
)

// investigation is a session with what pages have to deal with: 1-9 folded away,
// 10-12 in view, of which 11 has a stub.
func investigation(t testing.TB) *world {
	w := newWorld(t)
	w.add("user", text("The login test fails since the update.\nFind out why, do not downgrade Node."))
	w.add("assistant", jsonPart{"type": "step-start"}, jsonPart{"type": "reasoning", "text": "think"},
		text("I run the test first."),
		tool("bash", map[string]any{"command": "npm test -- login", "timeout": 60000}, "> test\nFAIL test/login.test.ts\n  expected 200, got 401\n"))
	failed := tool("bash", map[string]any{"command": "npm ls jose"}, "")
	failed["state"] = map[string]any{"status": "error", "input": map[string]any{"command": "npm ls jose"}, "error": "ERESOLVE could not resolve: peer jose@\"^4\""}
	w.add("assistant", failed)
	long := strings.Repeat("line of a long log that repeats itself\r\n", 400)
	exit := tool("bash", map[string]any{"command": "npm install jose@5", "description": "Install"}, long)
	exit["state"].(map[string]any)["metadata"] = map[string]any{"exit": 1}
	w.add("assistant", exit, text("jose 5 is out: it needs Node 22."))
	w.add("assistant", tool("edit", map[string]any{"filePath": "src/auth.ts", "oldString": "a\nb", "newString": "c\n\"d\"\t<e>"}, "ok"))
	w.add("user", text("ok"), jsonPart{"type": "file", "mime": "image/png", "filename": "shot.png", "url": "data:image/png;base64,AAAA"},
		jsonPart{"type": "text", "text": "hidden", "ignored": true}, jsonPart{"type": "text", "text": "Called the Read tool", "synthetic": true})
	w.add("assistant", tool("ctx_expand", map[string]any{"first": "1", "last": 2}, "Messages 1-2 as stored"))
	w.add("assistant", jsonPart{"type": "tool", "tool": "task", "state": map[string]any{"status": "running", "input": map[string]any{"prompt": "look"}}})
	w.add("assistant")
	w.add("user", text("Now write the changelog."))
	w.add("assistant", text("Here it is."), tool("read", map[string]any{"filePath": "CHANGELOG.md"}, "# Changes\n- fixed\n"))
	w.add("assistant", text("Done."))
	w.fold(9)
	w.stub(11, 1, compartments.FieldOutput)
	w.compartment(1, "Login test", 1, 2, 3, 4)
	w.compartment(2, "Auth edit", 5, 6, 7, 8, 9)
	return w
}

func TestExpand_Shown(t *testing.T) {
	reverted := func(w *world) { w.withdraw(3, 4); w.view.Compartments = w.view.Compartments[1:] }
	kept := func(w *world) { w.view.Plan.Keep = append(w.view.Plan.Keep, "msg_1") }
	void := func(w *world) { w.view.Plan.Through = "msg_gone" }
	fresh := func(w *world) { w.view.Plan = compartments.Plan{}; w.view.Compartments = nil }
	hidden := func(w *world) {
		w.view.Hidden, w.view.List = w.view.List[:4], w.view.List[4:]
		w.view.Plan = compartments.Plan{}
	}
	for _, c := range []struct {
		name      string
		change    func(*world)
		arguments string
		room      int
	}{
		{"range", nil, `{"first": 1, "last": 9}`, 40_000},
		{"range-small-room", nil, `{"first": 1, "last": 9}`, 2_000},
		{"range-goes-on", nil, `{"first": 4, "last": 9, "part": 1}`, 4_000},
		{"compartment", nil, `{"compartment": 5}`, 40_000},
		{"compartment-by-member", nil, `{"compartment": 3}`, 40_000},
		{"compartment-by-heading", nil, `{"compartment": "[5-9 compact]"}`, 40_000},
		{"compartment-none-yet", fresh, `{"compartment": 5}`, 40_000},
		{"compartment-absent", nil, `{"compartment": 12}`, 40_000},
		{"reversed", nil, `{"first": "2", "last": "1"}`, 40_000},
		{"reaches-into-view", nil, `{"first": 8, "last": 12}`, 40_000},
		{"reaches-beyond", nil, `{"first": 8, "last": 99}`, 40_000},
		{"kept-in-view", kept, `{"first": 1, "last": 2}`, 40_000},
		{"wholly-in-view", nil, `{"first": 10, "last": 10}`, 40_000},
		{"wholly-in-view-several", fresh, `{"first": 2, "last": 5}`, 40_000},
		{"message-in-view", nil, `{"message": 12}`, 40_000},
		{"void-plan", void, `{"first": 1, "last": 2}`, 40_000},
		{"hidden-by-host", hidden, `{"first": 1, "last": 6}`, 40_000},
		{"withdrawn-range", reverted, `{"first": 2, "last": 5}`, 40_000},
		{"withdrawn-wholly", reverted, `{"first": 3, "last": 4}`, 40_000},
		{"withdrawn-message", reverted, `{"message": 3}`, 40_000},
		{"withdrawn-part", reverted, `{"message": 4, "part": 1}`, 40_000},
		{"message", nil, `{"message": 2}`, 40_000},
		{"message-by-id", nil, `{"message": "msg_2"}`, 40_000},
		{"message-id-absent", nil, `{"message": "msg_77"}`, 40_000},
		{"message-empty", nil, `{"message": 9}`, 40_000},
		{"part", nil, `{"message": 4, "part": 0}`, 6_000},
		{"part-offset", nil, `{"message": 4, "part": 0, "offset": 16000}`, 40_000},
		{"part-input", nil, `{"message": 5, "part": 0, "field": "input"}`, 40_000},
		{"part-small-room", nil, `{"message": 4, "part": 0}`, 1_280},
		{"part-no-room", nil, `{"message": 4, "part": 0, "offset": 800}`, 900},
		{"part-stub-in-view", nil, `{"message": 11, "part": 1}`, 40_000},
		{"part-shown-in-view", nil, `{"message": 11, "part": 0}`, 40_000},
		{"message-with-stub-in-view", nil, `{"message": 11}`, 40_000},
		{"part-reasoning", nil, `{"message": 2, "part": 1}`, 40_000},
		{"part-media", nil, `{"message": 6, "part": 1}`, 40_000},
		{"part-ignored", nil, `{"message": 6, "part": 2}`, 40_000},
		{"part-own-tool", nil, `{"message": 7, "part": 0}`, 40_000},
		{"part-running", nil, `{"message": 8, "part": 0}`, 40_000},
		{"part-absent", nil, `{"message": 2, "part": 9}`, 40_000},
		{"part-field-absent", nil, `{"message": 2, "part": 2, "field": "output"}`, 40_000},
		{"offset-beyond", nil, `{"message": 2, "part": 2, "offset": 500}`, 40_000},
		{"message-absent", nil, `{"message": 13}`, 40_000},
		{"range-absent", nil, `{"first": 20, "last": 30}`, 40_000},
		{"cursor-absent", nil, `{"first": 1, "last": 4, "message": 8}`, 40_000},
		{"arguments-none", nil, ``, 40_000},
		{"arguments-broken", nil, `{"first": `, 40_000},
		{"arguments-unknown", nil, `{"start": 1, "end": 2}`, 40_000},
		{"arguments-placeholder", nil, `{"message": "[...]"}`, 40_000},
		{"arguments-stub", nil, `"[stored output of bash, exit 1, 16000 characters; not shown here. The whole: ctx_expand({\"message\": 4, \"part\": 0})]"`, 40_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := investigation(t)
			if c.change != nil {
				c.change(w)
			}
			r := w.call(ToolExpand, c.arguments, c.room)
			if _, _, err := ReadPage(r.Text); err != nil {
				t.Error(err)
			}
			if n := countBytes(r.Text); n > max(c.room/roomShare, 300) {
				t.Errorf("%d tokens in a room of %d", n, c.room)
			}
			if again := w.call(ToolExpand, c.arguments, c.room); again != r {
				t.Error("the same call twice gives two results")
			}
			golden(t, "expand-"+c.name, fmt.Sprintf("%s(%s) in a room of %d, error %t\n\n%s", ToolExpand, c.arguments, c.room, r.IsError, r.Text))
		})
	}
}

package expand

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"ctxplugin/compartments"
)

func TestReadExpand(t *testing.T) {
	const output = compartments.FieldOutput
	for _, c := range []struct {
		arguments string
		want      asked
		refusal   string // part of it; the arguments are refused if not empty
	}{
		{`{"first": 41, "last": 58}`, asked{first: 41, last: 58, part: -1}, ""},
		{`{"first": "41", "last": " 58 "}`, asked{first: 41, last: 58, part: -1}, ""},
		{`{"first": 41.0, "last": 5.8e1}`, asked{first: 41, last: 58, part: -1}, ""},
		{`{"first": 58, "last": 41}`, asked{first: 58, last: 41, part: -1}, ""},
		{`{"first": "41-58"}`, asked{first: 41, last: 58, part: -1}, ""},
		{`{"first": 41, "last": 58, "message": null, "part": null}`, asked{first: 41, last: 58, part: -1}, ""},
		{`{"first": 41, "last": 58, "part": 3}`, asked{first: 41, last: 58, part: 3}, ""},
		{`{"first": 41, "last": 58, "message": 50, "part": 3}`, asked{first: 41, last: 58, message: 50, part: 3}, ""},
		{`{"compartment": 41}`, asked{first: 41, compartment: true, part: -1}, ""},
		{`{"compartment": "41"}`, asked{first: 41, compartment: true, part: -1}, ""},
		{`{"compartment": "41-58"}`, asked{first: 41, last: 58, compartment: true, part: -1}, ""},
		{`{"compartment": "[41-58 compact]"}`, asked{first: 41, last: 58, compartment: true, part: -1}, ""},
		{`{"compartment": "[41 anchor]"}`, asked{first: 41, last: 41, compartment: true, part: -1}, ""},
		{`{"compartment": "41–58"}`, asked{first: 41, last: 58, compartment: true, part: -1}, ""},
		{`{"message": 57}`, asked{message: 57, part: -1}, ""},
		{`{"message": "#57"}`, asked{message: 57, part: -1}, ""},
		{`{"message": "msg_0a"}`, asked{id: "msg_0a", part: -1}, ""},
		{`{"message": "57-60"}`, asked{first: 57, last: 60, part: -1}, ""},
		{`{"message": 57, "part": "2", "field": "output", "offset": "18211"}`, asked{message: 57, part: 2, field: output, offset: 18211}, ""},
		{`{"message": 57, "part": 0, "offset": 0}`, asked{message: 57}, ""},
		{`"{\"message\": 57}"`, asked{message: 57, part: -1}, ""},
		{`"\"{\\\"message\\\": 57}\""`, asked{message: 57, part: -1}, ""},
		{`{"arguments": {"message": 57}}`, asked{message: 57, part: -1}, ""},
		{`{"input": "{\"message\": 57}"}`, asked{message: 57, part: -1}, ""},
		{`"ctx_expand({\"message\": 57})"`, asked{message: 57, part: -1}, ""},
		{`ctx_expand({"message": 57})`, asked{message: 57, part: -1}, ""},

		{``, asked{}, "nothing is asked for"},
		{`null`, asked{}, "nothing is asked for"},
		{`{}`, asked{}, "nothing is asked for"},
		{`{"first": null}`, asked{}, "nothing is asked for"},
		{`[]`, asked{}, "no JSON object: []"},
		{`[41, 58]`, asked{}, "no JSON object"},
		{`41`, asked{}, "no JSON object: 41"},
		{`"41 to 58"`, asked{}, "no JSON object: 41 to 58"},
		{`{"first": 41, "last"`, asked{}, "no JSON object"},
		{`{"first": 41}`, asked{}, `last is missing; for one message write ctx_expand({"message": 41})`},
		{`{"last": 58}`, asked{}, `first is missing; for one message write ctx_expand({"message": 58})`},
		{`{"first": 0, "last": 5}`, asked{}, "first is 0"},
		{`{"first": 4, "last": -5}`, asked{}, "last is -5"},
		{`{"first": 1.5, "last": 5}`, asked{}, "first is 1.5"},
		{`{"first": "start", "last": 5}`, asked{}, `first is "start"`},
		{`{"first": true, "last": 5}`, asked{}, "first is true"},
		{`{"first": 1e300, "last": 5}`, asked{}, "first is 1e300"},
		{`{"first": [1], "last": 5}`, asked{}, "first is [1]"},
		{`{"first": "1-4", "last": 5}`, asked{}, `first is "1-4"`},
		{`{"first": "1-4", "message": 5}`, asked{}, "not clear"},
		{`{"first": 1, "message": 5}`, asked{}, "not clear"},
		{`{"compartment": 1, "message": 5}`, asked{}, "not clear"},
		{`{"compartment": 1, "first": 5, "last": 6}`, asked{}, "not clear"},
		{`{"first": 1, "last": 5, "offset": 9}`, asked{}, "offset"},
		{`{"first": 1, "last": 5, "field": "text"}`, asked{}, "field"},
		{`{"part": 1}`, asked{}, "the message is missing"},
		{`{"message": 5, "offset": 9}`, asked{}, "part"},
		{`{"message": 5, "field": "input"}`, asked{}, "part"},
		{`{"message": 5, "part": -1}`, asked{}, "part is -1"},
		{`{"message": 5, "part": 1, "offset": -1}`, asked{}, "offset is -1"},
		{`{"message": 5, "part": 1, "field": "drop"}`, asked{}, `field is "drop"`},
		{`{"message": ""}`, asked{}, `message is ""`},
		{`{"message": 0}`, asked{}, "message is 0"},
		{`{"message": {"id": 1}}`, asked{}, "message is"},
		{`{"start": 1, "end": 2}`, asked{}, `no argument "end", "start"`},
		{`{"a": 1, "b": 2, "c": 3, "d": 1, "e": 2, "f": 3}`, asked{}, `and 1 more`},
		{`{"message": "[...]"}`, asked{}, "placeholder"},
		{`{"message": "…"}`, asked{}, "placeholder"},
		{`{"message": "<omitted>"}`, asked{}, "placeholder"},
		{`{"first": "[...]", "last": 3}`, asked{}, "placeholder"},
		{`{"message": 5, "part": "[Old tool result content cleared]"}`, asked{}, "placeholder"},
		{`{"message": 5, "part": 1, "field": "[...]"}`, asked{}, "placeholder"},
		{`"[...]"`, asked{}, "placeholder"},
		{`{"message": "ctx_expand({\"message\": 7, \"part\": 1})"}`, asked{}, `Make the call that it names: ctx_expand({"message": 7, "part": 1})`},
	} {
		got, err := readExpand([]byte(c.arguments))
		var r *refusal
		switch {
		case c.refusal == "" && (err != nil || got != c.want):
			t.Errorf("%s: got %+v, %v; want %+v", c.arguments, got, err, c.want)
		case c.refusal != "" && (!errors.As(err, &r) || !strings.Contains(r.text, c.refusal)):
			t.Errorf("%s: got %+v, %v; want a refusal with %q", c.arguments, got, err, c.refusal)
		}
	}
}

func TestIsPlaceholder(t *testing.T) {
	for s, want := range map[string]bool{
		"[...]": true, " [ … ] ": true, "...": true, "[]": true, "[output truncated]": true, "[stored output of bash, exit 1": true,
		"(first lines ...)": true, "ctx_expand({": true,
		"": false, "[error]": false, "foo(...)": false, "{...props}": false, "a...b": false, "[41-58]": false, "ctx_expand(": false, "...rest": false,
	} {
		if got := isPlaceholder(s); got != want {
			t.Errorf("isPlaceholder(%q) = %t", s, got)
		}
	}
}

func TestCallLine(t *testing.T) {
	long := strings.Repeat("é", 300)
	for _, c := range []struct{ tool, input, want string }{
		{ToolExpand, `{"last":"58","first":41}`, `ctx_expand({"first": 41, "last": 58})`},
		{ToolExpand, `{"offset":18211,"part":2,"message":57.0}`, `ctx_expand({"message": 57, "part": 2, "offset": 18211})`},
		{ToolExpand, `{"message":"msg_1","part":null}`, `ctx_expand({"message": "msg_1"})`},
		{ToolExpand, `{"compartment":"41-58"}`, `ctx_expand({"compartment": "41-58"})`},
		{ToolExpand, `"{\"message\":5}"`, `ctx_expand({"message": 5})`},
		{ToolExpand, `{}`, `ctx_expand()`},
		{ToolExpand, ``, `ctx_expand()`},
		{ToolExpand, `{"message":`, `ctx_expand(…)`},
		{ToolExpand, `{"message":{"a": [1, 2]}}`, `ctx_expand({"message": {"a":[1,2]}})`},
		{ToolSearch, `{"limit":3,"query":"a \"b\"\n<c>"}`, `ctx_search({"query": "a \"b\"\n<c>", "limit": 3})`},
		{ToolSearch, `{"query":"` + long + `"}`, `ctx_search({"query": "` + long[:callValueMost] + `…"})`},
		{"ctx_other\n", `{"z":1,"a":true}`, `ctx_other({"a": true, "z": 1})`},
	} {
		if got := CallLine(c.tool, c.input); got != c.want {
			t.Errorf("CallLine(%q, %q)\ngot  %s\nwant %s", c.tool, c.input, got, c.want)
		}
	}
}

func FuzzCall(f *testing.F) {
	for _, s := range []string{`{"first": 1, "last": 9}`, `{"compartment": "[1-4 full]"}`, `{"message": 4, "part": 0, "offset": 81}`, `"ctx_expand({\"message\": 2})"`,
		`{"query": "a", "limit": "3"}`, `{"arguments": {"message": "msg_2"}}`, `{"message": "[...]"}`, `[1`, `{"first": 1, "last": 9, "message": 4, "part": 1}`} {
		f.Add(s, 5_000)
	}
	w := investigation(f)
	f.Fuzz(func(t *testing.T, arguments string, room int) {
		for _, tool := range []string{ToolExpand, ToolSearch} {
			r, err := New(w.store, countBytes).Call(t.Context(), w.view, tool, []byte(arguments), room)
			switch {
			case err != nil:
				t.Fatalf("%s: %v", tool, err)
			case r.Text == "" || !utf8.ValidString(r.Text) || !strings.HasSuffix(r.Text, "\n"):
				t.Fatalf("%s answers %q", tool, r.Text)
			case r.IsError && len(r.Text) > 1_500:
				t.Fatalf("%s refuses with %d bytes", tool, len(r.Text))
			}
			if _, _, err := ReadPage(r.Text); err != nil && tool == ToolExpand && !r.IsError {
				t.Fatal(err)
			}
			line := CallLine(tool, arguments)
			if strings.ContainsAny(line, "\n\r") || len(line) > callLineMost+200 || !utf8.ValidString(line) {
				t.Fatalf("the call line is %q", line)
			}
			if inner, ok := strings.CutPrefix(line, tool+"({"); ok {
				inner = "{" + strings.TrimSuffix(inner, ")")
				if !json.Valid([]byte(inner)) || CallLine(tool, inner) != line {
					t.Fatalf("the call line %s becomes %s", line, CallLine(tool, inner))
				}
			}
		}
	})
}

func FuzzReadPage(f *testing.F) {
	f.Add("Message 1 as stored\n=== message 1, part 0, text (user), bytes 0-3 of 9\nabc\nMore: x\n")
	f.Add("=== message 1, part 0, input (a), bytes 0-1 of 1), bytes 2-3 of 3\n\n\n")
	f.Fuzz(func(t *testing.T, page string) {
		bodies, _, err := ReadPage(page)
		if err != nil {
			return
		}
		for _, b := range bodies {
			if b.To-b.From != len(b.Text) || b.To > b.Total {
				t.Fatalf("%+v", b)
			}
		}
	})
}

func TestOpened(t *testing.T) {
	for _, c := range []struct {
		in          string
		first, last compartments.Ordinal
	}{
		{`{"first":4,"last":9}`, 4, 9},
		{`{"first":4}`, 0, 0},
		{`{"compartment":4}`, 4, 4},
		{`{"message":7,"part":1}`, 7, 7},
		{`{"first":"4-9"}`, 4, 9},
		{`{"message":"msg_7"}`, 0, 0},
		{`{"query":"x"}`, 0, 0},
		{`nonsense`, 0, 0},
	} {
		if first, last, ok := Opened([]byte(c.in)); first != c.first || last != c.last || ok != (c.first > 0) {
			t.Errorf("%s: %d-%d, %t", c.in, first, last, ok)
		}
	}
}

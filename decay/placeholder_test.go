package decay

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ctxplugin/compartments"
)

func TestOutputStub(t *testing.T) {
	log := strings.Repeat("building the next target\n", 200)
	for _, c := range []struct {
		name     string
		p        compartments.Part
		replaced string
		want     string
	}{
		{"a file", compartments.Part{Tool: "read", Input: `{"filePath":"a/b.go","offset":3,"limit":2}`, Status: compartments.StatusCompleted, Output: "one\ntwo\n"}, "",
			"[stored output of read a/b.go from line 3 to 4, completed, 8 characters in 2 lines; not shown here. The whole: ctx_expand({\"message\": 7, \"part\": 2})]\nIt begins:\none\ntwo\n"},
		{"superseded", compartments.Part{Tool: "read", Input: `{"filePath":"a/b.go"}`, Status: compartments.StatusCompleted, Output: "one\n"},
			Replacement(&Call{}, &Call{Subject: compartments.Subject{Verb: compartments.VerbEdit}}, 31),
			"[stored output of read a/b.go, completed, 4 characters in 1 lines; superseded: the file was edited in message 31. The whole: ctx_expand({\"message\": 7, \"part\": 2})]"},
		{"a failure", compartments.Part{Tool: "bash", Input: `{"command":"make all"}`, Status: compartments.StatusCompleted, HasExit: true, ExitCode: 2, Output: log + "x.c:9: error: no such field\n" + log}, "",
			"[stored output of bash make all, exit 2, 10028 characters in 401 lines; not shown here. The whole: ctx_expand({\"message\": 7, \"part\": 2})]\nIt begins:\n" +
				strings.Repeat("building the next target\n", 14) + "building the next target\nIt failed with:\nx.c:9: error: no such field"},
		{"names", compartments.Part{Tool: "read", Input: `{"filePath":"a/b.go"}`, Status: compartments.StatusCompleted,
			Output: "package b\n" + strings.Repeat("// nothing is named here\n", 30) + "func leaseUntil() { readClock(now) }\n"},
			Replacement(&Call{}, &Call{Subject: compartments.Subject{Verb: compartments.VerbEdit}}, 31),
			"[stored output of read a/b.go, completed, 797 characters in 32 lines; superseded: the file was edited in message 31. The whole: ctx_expand({\"message\": 7, \"part\": 2})]\nNames in it: leaseUntil, readClock"},
	} {
		c.p.Kind = compartments.PartTool
		got := OutputStub(&c.p, 7, 2, 400, 4000, c.replaced)
		if got != c.want && c.name != "a failure" {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if c.name == "a failure" && (!strings.HasSuffix(got, "\nIt failed with:\nx.c:9: error: no such field") || !strings.HasPrefix(got, c.want[:140]) || len(got) > 600) {
			t.Errorf("%s: %q", c.name, got)
		}
		if !regexp.MustCompile(StubPattern).MatchString(got) {
			t.Errorf("%s: StubPattern does not find %q", c.name, got)
		}
	}
}

func TestInputStub(t *testing.T) {
	long := strings.Repeat("x", 901)
	for _, c := range []struct{ input, want string }{
		{`{"filePath":"a.go","content":"` + long + `","n":1.50}`,
			`{"filePath":"a.go","content":"[stored argument of 901 characters; not shown here. The whole: ctx_expand({\"message\": 7, \"part\": 2})]","n":1.50}`},
		{`{"edits":[{"old":"a<b","new":"` + long + `"}],"all":true,"none":null}`,
			`{"edits":[{"old":"a<b","new":"[stored argument of 901 characters; not shown here. The whole: ctx_expand({\"message\": 7, \"part\": 2})]"}],"all":true,"none":null}`},
		{`{"content":"` + long + ` lease_until"}`, `{"content":"[stored argument of 913 characters; not shown here. The whole: ctx_expand({\"message\": 7, \"part\": 2})]\nNames in it: lease_until"}`},
		{`{"content":"short"}`, ""},
		{`["` + long + `"]`, ""},
		{`"` + long + `"`, ""},
		{`{"content":"` + long, ""},
		{``, ""},
	} {
		got, ok := InputStub(&compartments.Part{Kind: compartments.PartTool, Tool: "write", Input: c.input}, 7, 2, 800, 4000, "")
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%.80s: %q", c.input, got)
		}
	}
}

// TestInputStub_KeepsTheRest: whatever the arguments are, what a stub does not
// stand for as a whole is there unchanged, and twice is the same as once.
func TestInputStub_KeepsTheRest(t *testing.T) {
	pattern := regexp.MustCompile(StubPattern)
	var same func(t *rapid.T, was, is any)
	same = func(t *rapid.T, was, is any) {
		switch v := was.(type) {
		case map[string]any:
			w, ok := is.(map[string]any)
			if !ok || len(w) != len(v) {
				t.Fatalf("%v became %v", was, is)
			}
			for k := range v {
				same(t, v[k], w[k])
			}
		case []any:
			w, ok := is.([]any)
			if !ok || len(w) != len(v) {
				t.Fatalf("%v became %v", was, is)
			}
			for i := range v {
				same(t, v[i], w[i])
			}
		case string:
			if s, _ := is.(string); s != v && (len([]rune(v)) <= 150 || !pattern.MatchString(s)) {
				t.Fatalf("%q became %q", v, s)
			}
		default:
			if was != is {
				t.Fatalf("%v became %v", was, is)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringN(140, 400, -1))
		v := map[string]any{}
		for range rapid.IntRange(0, 4).Draw(t, "n") {
			v[rapid.String().Draw(t, "key")] = rapid.OneOf(rapid.Map(text, func(s string) any { return s }), rapid.Just[any](nil), rapid.Just[any](1.5),
				rapid.Map(rapid.SliceOfN(text, 0, 3), func(s []string) any {
					out := []any{}
					for _, one := range s {
						out = append(out, map[string]any{one: one})
					}
					return out
				})).Draw(t, "value")
		}
		input, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		p := &compartments.Part{Kind: compartments.PartTool, Tool: "write", Input: string(input)}
		got, ok := InputStub(p, 7, 2, 150, 4000, "")
		if !ok {
			return
		}
		var was, is any
		if err := json.Unmarshal([]byte(got), &is); err != nil {
			t.Fatalf("%s: %v", got, err)
		}
		_ = json.Unmarshal(input, &was)
		same(t, was, is)
		p.Input = got
		if again, ok := InputStub(p, 7, 2, 150, 4000, ""); ok {
			t.Fatalf("%s became %s", got, again)
		}
	})
}

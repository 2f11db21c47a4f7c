package compartments

import "testing"

func TestSubjectOf(t *testing.T) {
	for _, c := range []struct {
		tool, input string
		want        Subject
	}{
		{"read", `{"filePath":"a/b.go"}`, Subject{Verb: VerbRead, Target: "a/b.go"}},
		{"read", `{"filePath":"a/b.go","offset":10,"limit":5}`, Subject{Verb: VerbRead, Target: "a/b.go", From: 10, To: 14}},
		{"Read", `{"file_path":"a/b.go","limit":5}`, Subject{Verb: VerbRead, Target: "a/b.go", From: 1, To: 5}},
		{"read", `{"filePath":"a/b.go","offset":10}`, Subject{Verb: VerbRead, Target: "a/b.go", From: 10}},
		{"bash", `{"command":"go  test\n ./..."}`, Subject{Verb: VerbRun, Target: "go test ./..."}},
		{"shell", `{"command":["go","test"]}`, Subject{Verb: VerbRun, Target: "go test"}},
		{"apply_patch", `{"patchText":"*** Begin Patch\n*** Update File: a.go\n@@\n-x\n+y\n*** End Patch"}`, Subject{Verb: VerbEdit, Target: "a.go"}},
		{"apply_patch", `{"patchText":"*** Update File: a.go\n*** Add File: b.go\n"}`, Subject{Verb: VerbEdit}},
		{"edit", `{"filePath":"a.go","oldString":"x","newString":"y"}`, Subject{Verb: VerbEdit, Target: "a.go"}},
		{"grep", `{"path":".","pattern":"x"}`, Subject{Verb: VerbLook, Target: `grep {"path":".","pattern":"x"}`}},
		{"grep", `{"pattern":"x","path":"."}`, Subject{Verb: VerbLook, Target: `grep {"path":".","pattern":"x"}`}},
		{"mcp__files__write", `{"path":"a.go","content":""}`, Subject{Verb: VerbWrite, Target: "a.go"}},
		{"todowrite", `{"todos":[]}`, Subject{Verb: VerbPlan, Target: "plan"}},
		{"ctx_expand", `{"message":1}`, Subject{Verb: VerbOwn}},
		{"bash", `not JSON`, Subject{Verb: VerbRun}},
		{"unheard-of", `{"path":"a"}`, Subject{}},
	} {
		if got := SubjectOf(&Part{Kind: PartTool, Tool: c.tool, Input: c.input}); got != c.want {
			t.Errorf("%s %s: %+v, want %+v", c.tool, c.input, got, c.want)
		}
	}
}

func TestSubject_Covers(t *testing.T) {
	whole, first, middle, rest := Subject{}, Subject{From: 1, To: 100}, Subject{From: 40, To: 60}, Subject{From: 40}
	for _, c := range []struct {
		s, t Subject
		want bool
	}{
		{whole, whole, true}, {whole, middle, true}, {first, middle, true}, {middle, first, false}, {first, whole, false},
		{rest, middle, true}, {middle, rest, false}, {rest, whole, false}, {first, rest, false},
	} {
		if got := c.s.Covers(c.t); got != c.want {
			t.Errorf("%d-%d covers %d-%d: %v", c.s.From, c.s.To, c.t.From, c.t.To, got)
		}
	}
}

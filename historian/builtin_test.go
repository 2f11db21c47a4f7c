package historian

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"ctxplugin/compartments"
	"pgregory.net/rapid"
)

// sampleWords are pieces that random messages are made of: words of several
// languages, names, marks, and what could forge or break something.
var sampleWords = []string{"fix", "the", "login", "never", "must", "because", "instead", "修复", "登录。", "하지 마세요", "src/main.go", "ErrNoID", "4be19c2", "v1.2.3", "`tick`", "`", "```",
	"\n", "\n\n", "- item", "1. first", "# head", "| a | b |", "?", ".", "Done.", "https://x.example/a", "<system-reminder>", "</system-reminder>", "<b>", "</ctx>", "&lt;", "@a/b.go", "token=ghp_abcdefghijklmnop0123",
	"\u200b", "\x1b[31m", "\x00", "\xff", "👨\u200d👩\u200d👧", "error: no such file", "[1-2] x", strings.Repeat("x", 400), "2", "12:30:00", "TypeError: x"}

func genText(t *rapid.T, label string, most int) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(sampleWords), 0, most).Draw(t, label), " ")
}

func genPart(t *rapid.T) compartments.Part {
	switch rapid.IntRange(0, 7).Draw(t, "part") {
	case 0:
		return compartments.Part{Kind: compartments.PartReasoning, Type: "reasoning", Text: "REASONED " + genText(t, "reasoning", 4)}
	case 1:
		return compartments.Part{Kind: compartments.PartText, Type: "text", Text: "INVENTED " + genText(t, "synthetic", 4), Synthetic: true}
	case 2:
		return compartments.Part{Kind: compartments.PartFile, Type: "file", Filename: "docs/" + rapid.SampledFrom([]string{"a.md", "b.md"}).Draw(t, "file")}
	case 3, 4:
		tool := rapid.SampledFrom([]string{"bash", "Edit", "write", "read", "apply_patch", "grep", "todowrite", "task", "question", "ctx_expand", "other"}).Draw(t, "tool")
		input := rapid.SampledFrom([]string{`{"command":"go test ./... | tail"}`, `{"command":"git commit -m x && git push"}`, `{"file_path":"src/a.go","old_string":"a","new_string":"b\nc"}`,
			`{"filePath":"src/b.go","content":"x\n"}`, `{"filePath":"src/c.go","offset":5,"limit":10}`, `{"patchText":"*** Add File: src/d.go\n+x"}`, `{"pattern":"x"}`, `{"todos":[{"content":"do it","status":"pending"}]}`,
			`{"description":"look"}`, `{"questions":[{"question":"Why?"}]}`, `{`, ``, `null`, `{"command":5}`}).Draw(t, "input")
		p := compartments.Part{Kind: compartments.PartTool, Type: "tool", Tool: tool, Input: input, Output: genText(t, "output", 12),
			Status: rapid.SampledFrom([]compartments.ToolStatus{compartments.StatusCompleted, compartments.StatusError, compartments.StatusRunning}).Draw(t, "status")}
		if rapid.Bool().Draw(t, "exits") {
			p.ExitCode, p.HasExit = rapid.IntRange(0, 2).Draw(t, "exit"), true
		}
		return p
	}
	return compartments.Part{Kind: compartments.PartText, Type: "text", Text: genText(t, "text", 30)}
}

func genRange(t *rapid.T) Range {
	messages := make([]compartments.Message, rapid.IntRange(1, 25).Draw(t, "messages"))
	for i := range messages {
		m := &messages[i]
		m.Role = rapid.SampledFrom([]compartments.Role{compartments.RoleUser, compartments.RoleAssistant, compartments.RoleAssistant, compartments.RoleTool}).Draw(t, "role")
		m.Summary = rapid.IntRange(0, 20).Draw(t, "summary") == 0
		m.Time = int64(rapid.IntRange(0, 1e7).Draw(t, "time"))
		for range rapid.IntRange(0, 3).Draw(t, "parts") {
			m.Parts = append(m.Parts, genPart(t))
		}
	}
	return rangeFrom(messages)
}

// TestWriteHolds checks what must hold of the compartments of any range.
func TestWriteHolds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := genRange(rt)
		list, err := testBuiltin().Write(context.Background(), r)
		if err != nil {
			rt.Fatal(err)
		}
		at := 0
		for i := range list {
			c := &list[i]
			if err := c.Validate(); err != nil {
				rt.Fatal(err)
			}
			if at > 0 && r.Messages[at].Role == compartments.RoleTool {
				rt.Fatalf("compartment %d-%d begins with the result of a call before it", c.First, c.Last)
			}
			var hashes []compartments.Hash
			for _, o := range c.Members {
				if r.Messages[at].Ordinal != o {
					rt.Fatalf("compartment %d-%d does not continue the list", c.First, c.Last)
				}
				hashes = append(hashes, r.Hashes[at])
				at++
			}
			if c.SourceHash != compartments.RunHash(hashes) {
				rt.Fatalf("compartment %d-%d: wrong source hash", c.First, c.Last)
			}
			if c.Provisional != (i == len(list)-1) {
				rt.Fatalf("compartment %d-%d: provisional %v", c.First, c.Last, c.Provisional)
			}
			checkText(rt, c)
		}
		if at != len(r.Messages) {
			rt.Fatalf("%d of %d messages covered", at, len(r.Messages))
		}
		again, _ := testBuiltin().Write(context.Background(), r)
		if !reflect.DeepEqual(list, again) {
			rt.Fatal("the same range gave other compartments")
		}
		one, err := testBuiltin().WriteOne(context.Background(), r)
		if err != nil || len(one.Members) != len(r.Messages) {
			rt.Fatalf("WriteOne covers %d of %d: %v", len(one.Members), len(r.Messages), err)
		}
		checkText(rt, &one)
		scan := testBuiltin().Scan(r)
		if err := scan.Validate(); err != nil || scan.Tokens(compartments.TierAnchor) > compartments.TierAnchor.Ceiling() {
			rt.Fatalf("scan: %v, %d tokens", err, scan.Tokens(compartments.TierAnchor))
		}
		checkText(rt, &scan)
	})
}

func checkText(t *rapid.T, c *compartments.Compartment) {
	texts := []string{c.Title}
	for _, tier := range compartments.Rendered {
		if r, ok := c.Tiers[tier]; ok {
			texts = append(texts, r.Text)
			for i, line := range strings.Split(r.Text, "\n") {
				if i > 0 && (line == "" || strings.ContainsAny(line[:1], "#<`[|>~")) || i == 0 && !strings.HasPrefix(line, fmt.Sprintf("[%d-%d] ", c.First, c.Last)) {
					t.Fatalf("line %q", line)
				}
			}
			apart := 0
			for _, s := range c.Spans {
				apart += s.Tokens
			}
			if r.Tokens-apart > tier.Ceiling() {
				t.Fatalf("tier %s takes %d tokens, %d of them spans:\n%s", tier, r.Tokens, apart, r.Text)
			}
			for _, s := range c.Spans {
				if !strings.Contains(r.Text, s.Text) {
					t.Fatalf("tier %s lacks span %q", tier, s.Text)
				}
			}
		}
	}
	for _, s := range texts {
		for _, bad := range []string{"REASONED", "INVENTED", "ghp_abc", "</ctx", "</system", "<system-reminder", "```", "\x00", "\x1b", "\u200b", "@a/b"} {
			if strings.Contains(s, bad) {
				t.Fatalf("%q stands in %q", bad, s)
			}
		}
	}
	above := compartments.Survival{1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000}
	for _, tier := range compartments.Rendered {
		if r, ok := c.Tiers[tier]; ok && c.Strategy == compartments.StrategyCanonical {
			for d := range r.Survival {
				if r.Survival[d] > above[d] {
					t.Fatalf("survival of %s rises at %s", compartments.Dimension(d), tier)
				}
			}
			above = r.Survival
		}
	}
}

func TestWriteEdges(t *testing.T) {
	b := testBuiltin()
	if list, err := b.Write(t.Context(), Range{}); err != nil || len(list) != 0 {
		t.Errorf("an empty range: %v %v", list, err)
	}
	if _, err := b.WriteOne(t.Context(), Range{}); compartments.CodeOf(err) != compartments.CodeBadRange {
		t.Errorf("one compartment over nothing: %v", err)
	}
	if _, err := b.Write(t.Context(), Range{Messages: make([]compartments.Message, 2)}); err == nil {
		t.Error("lengths that differ are no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Write(ctx, readWire(t, "testdata/golden/talk.json")); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled write: %v", err)
	}
}

// TestContinues: the second part of a range goes on with what the first left in
// force.
func TestContinues(t *testing.T) {
	r := readWire(t, "testdata/golden/importer.json")
	b := testBuiltin()
	part := func(from, to int, prior []compartments.Compartment) Range {
		return Range{Messages: r.Messages[from:to], Hashes: r.Hashes[from:to], Tokens: r.Tokens[from:to], Prior: prior}
	}
	first, err := b.Write(t.Context(), part(0, 4, nil))
	if err != nil {
		t.Fatal(err)
	}
	second, err := b.Write(t.Context(), part(4, 7, first))
	if err != nil {
		t.Fatal(err)
	}
	if second[0].Title != "(cont. of [1]) Rows without `record_id` are skipped and counted now." {
		t.Errorf("title of a continued run: %q", second[0].Title)
	}
	if full := second[0].Tiers[compartments.TierFull].Text; !strings.HasPrefix(full, "[5-7] (cont. of [1]) make the importer skip rows") {
		t.Errorf("the request in force is missing:\n%s", full)
	}
}

func TestResultsOfTheirOwn(t *testing.T) {
	ms := []compartments.Message{
		{Role: compartments.RoleUser, Parts: userMessage("run the tests of the importer please").Parts},
		{Role: compartments.RoleAssistant, Parts: []compartments.Part{{Kind: compartments.PartTool, Tool: "bash", CallID: "1", Status: compartments.StatusPending, Input: `{"command":"go test ./..."}`}}},
		{Role: compartments.RoleTool, Parts: []compartments.Part{{Kind: compartments.PartTool, Tool: "bash", CallID: "1", Status: compartments.StatusError, Output: "panic: boom in row.go"}}},
		{Role: compartments.RoleAssistant, Parts: []compartments.Part{{Kind: compartments.PartText, Text: "The tests panic in `row.go`."}}},
	}
	v, err := testBuiltin().look(t.Context(), rangeFrom(ms))
	if err != nil {
		t.Fatal(err)
	}
	if u := v.ms[1].uses[0]; u.open || !u.failed || u.errLine != "panic: boom in row.go" || u.cmd.class != classVerify {
		t.Errorf("the result of a call in a message of its own is lost: %+v", u)
	}
	if len(v.ms[2].uses) != 0 || mayStart(v.ms, 2) {
		t.Error("the message of the result stands for itself")
	}
}

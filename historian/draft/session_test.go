package draft

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"ctxplugin/compartments"
	"ctxplugin/historian"
	"ctxplugin/tokens"
)

var counter = tokens.New()

// talk makes messages of a script: "U text", "A text", "$ command => output",
// "! command => output" for one that failed, "E path => new text" for an edit. Calls
// belong to the message of the agent before them.
func talk(lines ...string) historian.Range {
	var ms []compartments.Message
	add := func(role compartments.Role, p compartments.Part) {
		ms = append(ms, compartments.Message{Ordinal: compartments.Ordinal(len(ms) + 1), ID: compartments.MessageID(fmt.Sprintf("m%d", len(ms)+1)), Role: role, Parts: []compartments.Part{p}})
	}
	call := func(tool, input, output string, failed bool) {
		p := compartments.Part{Kind: compartments.PartTool, Type: "tool", Tool: tool, Status: compartments.StatusCompleted, Input: input, Output: output}
		if failed {
			p.HasExit, p.ExitCode = true, 1
		}
		if n := len(ms); n > 0 && ms[n-1].Role == compartments.RoleAssistant {
			ms[n-1].Parts = append(ms[n-1].Parts, p)
			return
		}
		add(compartments.RoleAssistant, p)
	}
	for _, l := range lines {
		kind, rest, _ := strings.Cut(l, " ")
		before, after, _ := strings.Cut(rest, " => ")
		switch kind {
		case "U":
			add(compartments.RoleUser, compartments.Part{Kind: compartments.PartText, Type: "text", Text: rest})
		case "A":
			add(compartments.RoleAssistant, compartments.Part{Kind: compartments.PartText, Type: "text", Text: rest})
		case "$", "!":
			call("bash", fmt.Sprintf(`{"command":%q}`, before), after, kind == "!")
		case "E":
			call("edit", fmt.Sprintf(`{"filePath":%q,"oldString":"x","newString":%q}`, before, after), "ok", false)
		case "R":
			add(compartments.RoleTool, compartments.Part{Kind: compartments.PartTool, Type: "tool", Tool: "bash", Status: compartments.StatusCompleted, Output: rest})
		}
	}
	return rangeOver(ms)
}

func rangeOver(ms []compartments.Message) historian.Range {
	r := historian.Range{Messages: ms, Hashes: make([]compartments.Hash, len(ms)), Tokens: make([]int, len(ms)), Session: "s1"}
	for i := range ms {
		r.Hashes[i] = ms[i].ContentHash()
		r.Tokens[i] = compartments.FrameTokens
		for _, p := range ms[i].Parts {
			r.Tokens[i] += counter.Count(p.Text) + counter.Count(p.Input) + counter.Count(p.Output)
		}
	}
	return r
}

// importer is a session of two objectives.
func importer() historian.Range {
	return talk(
		"U the importer crashes on rows without an id. skip them, but never drop them silently: count them and write them to a file",
		"A I look at the importer first.",
		"$ cat importer/row.go => package importer\n\nfunc readRow(r *csv.Reader) (Row, error) {\n\trec, err := r.Read()\n\treturn Row{ID: rec[0]}, err\n}\n"+strings.Repeat("// more code\n", 60),
		"! go test ./importer => --- FAIL: TestImport (0.00s)\npanic: index out of range [3] with length 3\n\nimporter/row.go:88\nFAIL\n"+strings.Repeat("goroutine 7 [running]:\n", 30),
		"A The buffered rows are overwritten because csv.Reader reuses its slice. I rejected turning ReuseRecord off for everything, because it costs 30% on the large file; copying only the kept rows is enough.",
		"E importer/row.go => rec = append([]string(nil), rec...)\nif rec[0] == \"\" { return Row{}, ErrNoID }",
		"E importer/rejects.go => package importer\n\nvar ErrNoID = errors.New(\"row without an id\")\n\nfunc writeRejects(path string) error { return nil }",
		"$ go test ./importer => ok  \tctxplugin/importer\t0.21s",
		"A Done. Rows without an id go to rejects.csv and the summary prints skipped=14. I have not run it against the large file yet.",
		"U now the release notes: add a line to docs/CHANGELOG.md and commit it. use exactly the version v1.4.2",
		"A I add the line.",
		"E docs/CHANGELOG.md => ## v1.4.2\n- rows without an id are kept in rejects.csv",
		"$ git commit -am \"changelog: v1.4.2\" => [main 4be19c2] changelog: v1.4.2\n 1 file changed, 2 insertions(+)",
		"A Committed as 4be19c2. It is not pushed; should I push main?",
	)
}

// goodReply is what a careful model writes of importer.
const goodReply = `<compartment first="1" last="4" importance="55" types="fix" title="Importer keeps rows without an id instead of crashing">
<full>
Asked: [1] "the importer crashes on rows without an id. skip them, but never drop them silently: count them and write them to a file"
Outcome: [4] rows without an id go to rejects.csv; the summary prints skipped=14
Why: [3] csv.Reader reuses its slice, so buffered rows were overwritten; only the kept rows are copied
Rejected: [3] turning ReuseRecord off for everything, because it costs 30% on the large file
Failed: [2] go test ./importer → panic: index out of range [3] with length 3 (importer/row.go:88), passed at [3]
Changed: importer/row.go returns ErrNoID; importer/rejects.go has writeRejects
Open: [4] not run against the large file yet
</full>
<dense>
Asked: [1] "skip them, but never drop them silently: count them and write them to a file"
Outcome: [4] rows without an id go to rejects.csv, skipped=14
Why: [3] csv.Reader reuses its slice; the kept rows are copied
Rejected: [3] turning ReuseRecord off, because it costs 30% on the large file
Changed: importer/row.go (ErrNoID), importer/rejects.go (writeRejects)
Open: [4] not run against the large file
</dense>
<compact>
Outcome: rows without an id go to rejects.csv (csv.Reader reuses its slice, so kept rows are copied; ReuseRecord off would cost 30%)
Changed: importer/row.go, importer/rejects.go
Open: not run against the large file
</compact>
<anchor>Importer: rows without an id go to rejects.csv; row.go copies kept rows; large file not run</anchor>
<span at="1">never drop them silently: count them and write them to a file</span>
<fact at="3" kind="rejected" quote="it costs 30% on the large file">ReuseRecord stays on: turning it off costs 30% on the large file</fact>
<fact at="4" kind="decision" quote="should I push main">main is to be pushed</fact>
<event at="2" kind="failure">go test ./importer: index out of range</event>
</compartment>
<compartment first="5" last="7" importance="30" types="docs, release" title="Release notes for v1.4.2">
<full>
Asked: [5] "now the release notes: add a line to docs/CHANGELOG.md and commit it. use exactly the version v1.4.2"
Outcome: [6] docs/CHANGELOG.md has v1.4.2: rows without an id are kept in rejects.csv
Git: [6] 4be19c2, not pushed
Open: [7] push main?
</full>
<dense>
Asked: [5] "add a line to docs/CHANGELOG.md and commit it. use exactly the version v1.4.2"
Outcome: [6] docs/CHANGELOG.md has v1.4.2; 4be19c2, not pushed
Open: [7] push main?
</dense>
<compact>
Outcome: docs/CHANGELOG.md has v1.4.2; 4be19c2, not pushed
Open: push main?
</compact>
<anchor>docs/CHANGELOG.md: v1.4.2, 4be19c2, not pushed</anchor>
</compartment>
`

func read(t testing.TB, r historian.Range) *historian.Reading {
	t.Helper()
	x, err := historian.New(counter.Count).Read(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

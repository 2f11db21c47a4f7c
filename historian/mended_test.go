package historian

import (
	"encoding/json"
	"strings"
	"testing"

	"ctxplugin/compartments"
)

func TestCovers(t *testing.T) {
	for _, c := range []struct {
		passed, failed string
		want           bool
	}{
		{"go test ./...", "go test ./importer", true},
		{"go test ./...", "go test -run TestRows ./importer", true},
		{"go test ./...", "go build ./importer", true},
		{"go test ./importer/...", "go test ./importer/csv", true},
		{"go test ./importer", "go test ./...", false},
		{"go test ./store", "go test ./importer", false},
		{"go test -run TestRows ./...", "go test ./importer", false},
		{"go test -run TestRows ./importer", "go test -run TestRows -v ./importer", true},
		{"go test -run TestA ./importer", "go test -run TestB ./importer", false},
		{"go vet ./...", "go test ./importer", false},
		{"go build ./...", "go test ./importer", false},
		{"pytest", "pytest tests/a.py", true},
		{"python -m pytest", "pytest -x tests/a.py::test_one", true},
		{"uv run pytest tests", "python3 -m pytest tests/a.py", true},
		{"pytest tests/a.py", "pytest tests/a.py::test_one", true},
		{"pytest tests/b.py", "pytest tests/a.py", false},
		{"python -m pytest tests/b.py", "python -m pytest tests/a.py", false},
		{"pytest -k fast", "pytest tests/a.py", false},
		{"pytest tests/a", "pytest tests/ab.py", false},
		{"npx vitest run", "npx vitest run src/a.test.ts", true},
		{"npm test", "npm test -- a.test.ts", true},
		{"npm test -- b.test.ts", "npm test -- a.test.ts", false},
		{"npm run test", "npm test", true},
		{"npm run build", "npm test", false},
		{"cargo test", "cargo build", true},
		{"cargo test parses", "cargo test", false},
		{"make test", "make test", true},
		{"make", "make test", false},
		{"cd web && npm test", "cd api && npm test", false},
		{"cd /srv/app/web && npm test", "cd web && npm test", true},
		{"npx tsc --noEmit", "npx tsc --noEmit", true},
		{"ruff check .", "ruff check src/a.py", true},
		{"eslint src", "eslint src/a.ts", true},
		{"scripts/e2e.sh", "scripts/e2e.sh --fast", false},
		{"scripts/e2e.sh", "scripts/e2e.sh", true},
		{"npm install left", "npm install right", false},
	} {
		passed, failed := parseCommand(c.passed), parseCommand(c.failed)
		left, _ := strike(failed.checks(), passed.checks())
		if got := len(left) == 0; got != c.want {
			t.Errorf("%q passed, %q failed before: closed is %v", c.passed, c.failed, got)
		}
	}
}

// shellCall is an agent's message that ran a command, with an output that is long
// enough to leave room for a record.
func shellCall(command, output string, exit int) compartments.Message {
	output = strings.Repeat("one more line of the log\n", 100) + output
	input, _ := json.Marshal(map[string]string{"command": command})
	return compartments.Message{Role: compartments.RoleAssistant, Parts: []compartments.Part{{Kind: compartments.PartTool, Tool: "bash", Status: compartments.StatusCompleted,
		Input: string(input), Output: output, ExitCode: exit, HasExit: true}}}
}

func personSays(text string) compartments.Message { return *userMessage(text) }

func agentText(text string) compartments.Message {
	return compartments.Message{Role: compartments.RoleAssistant, Parts: []compartments.Part{{Kind: compartments.PartText, Type: "text", Text: text}}}
}

// parts writes the messages in runs of the given lengths, one after another, each
// knowing what came before, as a session does.
func parts(t *testing.T, ms []compartments.Message, lengths ...int) []compartments.Compartment {
	t.Helper()
	r := rangeFrom(ms)
	var prior []compartments.Compartment
	at := 0
	for _, n := range lengths {
		c, err := testBuiltin().WriteOne(t.Context(), Range{Messages: r.Messages[at : at+n], Hashes: r.Hashes[at : at+n], Tokens: r.Tokens[at : at+n], Prior: prior})
		if err != nil {
			t.Fatal(err)
		}
		prior = append(prior, c)
		at += n
	}
	return prior
}

// TestPassesNow: what failed in one compartment and passes in a later one, by the
// same command or by one that covers it, is said in the later one.
func TestPassesNow(t *testing.T) {
	ms := []compartments.Message{
		personSays("make the importer skip rows without an id"),
		shellCall("go test ./importer", "--- FAIL: TestRows\nrow_test.go:12: panic: index out of range", 1), // 2
		shellCall("cd web && npm test", "TypeError: x is undefined", 1),
		agentText("The importer panics, and the page too."),
		personSays("go on with the importer then, and leave the page"),
		shellCall("gofmt -l . && go test ./...", "ok  app/importer 0.2s", 0), // 6
		agentText("All tests of the importer pass."),
		personSays("and now the page of the importer please"),
		shellCall("cd web && npm test", "Tests: 12 passed", 0), // 9
		shellCall("go vet ./...", "", 0),
		agentText("The page is right again."),
	}
	list := parts(t, ms, 4, 3, 4)
	full := func(i int) string { return list[i].Tiers[compartments.TierFull].Text }
	if !strings.Contains(full(0), "(not passed here)") || strings.Contains(full(0), "Passes now") {
		t.Errorf("the first run:\n%s", full(0))
	}
	for i, want := range []string{"", "Passes now: [6] go test ./... (failed at [2])", "Passes now: [9] npm test (failed at [3])"} {
		if !strings.Contains(full(i), want) || i > 0 && strings.Count(full(i), "failed at") != 1 {
			t.Errorf("run %d lacks %q:\n%s", i, want, full(i))
		}
	}
	if compact := list[1].Tiers[compartments.TierCompact].Text; !strings.Contains(compact, "Passes now: go test ./... (failed at [2])") {
		t.Errorf("compact:\n%s", compact)
	}
	// In one call the generator knows it as well.
	r := rangeFrom(ms)
	whole, err := testBuiltin().Write(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	all := ""
	for i := range whole {
		all += whole[i].Tiers[compartments.TierFull].Text + "\n"
	}
	if len(whole) == 1 && !strings.Contains(all, "(then passed at [6])") || len(whole) > 1 && !strings.Contains(all, "Passes now: [6]") {
		t.Errorf("in one call, %d compartments:\n%s", len(whole), all)
	}
}

// TestLastOutcomeCounts: inside one compartment, and against an earlier one, what
// ran last decides.
func TestLastOutcomeCounts(t *testing.T) {
	fail := "--- FAIL: TestRows\nrow_test.go:12: index out of range"
	list := parts(t, []compartments.Message{
		personSays("make the importer skip rows without an id"),
		shellCall("go test ./importer", fail, 1), // 2
		personSays("go on with it and tell me when it works"),
		shellCall("go test ./...", "ok", 0), // 4
		shellCall("go test ./importer", fail, 1),
		personSays("go on with it and tell me when it works again"),
		shellCall("go test ./importer", fail, 1), // 7
		shellCall("go test -run TestRows ./importer", "ok", 0),
		shellCall("go test ./importer ./store", "ok", 0), // 9
	}, 2, 3, 4)
	if text := list[1].Tiers[compartments.TierFull].Text; strings.Contains(text, "Passes now") || !strings.Contains(text, "(not passed here)") {
		t.Errorf("it passed and failed again:\n%s", text)
	}
	text := list[2].Tiers[compartments.TierFull].Text
	for _, want := range []string{"(then passed at [9])", "Passes now: [9] go test ./importer ./store (failed at [2], [5])"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestChainPasses: a chain of commands has passed when each of its parts has.
func TestChainPasses(t *testing.T) {
	list := parts(t, []compartments.Message{
		personSays("make the importer skip rows without an id"),
		shellCall("go vet ./importer && go build ./cmd/app", "row.go:3:1: undefined: x", 1),
		personSays("go on with it and tell me when it works"),
		shellCall("go build ./...", "", 0),
		personSays("go on with it and tell me when it works again"),
		shellCall("go vet ./...", "", 0),
	}, 2, 2, 2)
	if text := list[1].Tiers[compartments.TierFull].Text; strings.Contains(text, "Passes now") {
		t.Errorf("half of the chain has passed:\n%s", text)
	}
	if text := list[2].Tiers[compartments.TierFull].Text; !strings.Contains(text, "Passes now: [6] go vet ./... (failed at [2])") {
		t.Errorf("all of the chain has passed:\n%s", text)
	}
}

// TestCure: a failure says after what it passed: what the command that passed brought
// with it, else what was changed last before it passed or failed otherwise.
func TestCure(t *testing.T) {
	edit := func(path string) compartments.Message {
		return toolCall("edit", `{"filePath":"`+path+`","oldString":"a","newString":"b"}`, "done", compartments.StatusCompleted)
	}
	c, err := testBuiltin().WriteOne(t.Context(), rangeFrom([]compartments.Message{
		personSays("bring the relay to the new depot library and make it start"),
		shellCall("pkg add depot#main", "error: depot has a dependency loop", 1),
		shellCall("pkg remove depot && pkg add depot#main", "installed depot", 0),
		shellCall("make start", "error: unknown field hosts in relay.yml", 2),
		edit("conf/relay.yml"),
		shellCall("make start", "error: cannot find module tally in main.go", 2),
		edit("src/main.go"),
		edit("src/main.go"),
		shellCall("make start", "started", 0),
		agentText("The relay starts with the new depot library."),
	}))
	if err != nil {
		t.Fatal(err)
	}
	full := c.Tiers[compartments.TierFull].Text
	for _, want := range []string{"dependency loop (then passed at [3] after pkg remove depot)", "hosts in relay.yml (then passed at [9] after relay.yml)", "tally in main.go (then passed at [9] after main.go)"} {
		if !strings.Contains(full, want) {
			t.Errorf("lacks %q:\n%s", want, full)
		}
	}
}

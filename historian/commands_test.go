package historian

import (
	"strings"
	"testing"

	"ctxplugin/compartments"
)

func TestParseCommand(t *testing.T) {
	for _, c := range []struct {
		in, text string
		class    class
		piped    bool
		writes   string
		removes  string
	}{
		{"cd /app && CI=1 timeout 60 go test ./... 2>&1 | tail -n 5", "go test ./...", classVerify, true, "", ""},
		{"grep -rn pytest src | head", "grep -rn pytest src", classLook, true, "", ""},
		{"python -m pytest -q", "python -m pytest -q", classVerify, false, "", ""},
		{"npm run lint", "npm run lint", classVerify, false, "", ""},
		{"npm install left-pad", "npm install left-pad", classInstall, false, "", ""},
		{"git status", "git status", classLook, false, "", ""},
		{"git add -A && git commit -m 'a; b && c' && git push", "git add -A && git commit -m 'a; b && c' && git push", classGit, false, "", ""},
		{"git log --oneline | head -3; git diff", "git log --oneline && git diff", classLook, true, "", ""},
		{"sed -i 's/a/b/' src/x.go", "sed -i 's/a/b/' src/x.go", classOther, false, "src/x.go", ""},
		{"cat > out.txt <<'EOF'\na && b\nEOF\nmake", "make", classVerify, false, "out.txt", ""},
		{"python3 - <<'PY'\nprint(1)\nPY", "python3 - (script)", classOther, false, "", ""},
		{"echo x >> a.log 2>/dev/null", "echo x", classLook, false, "a.log", ""},
		{"rm -f tmp.txt", "rm -f tmp.txt", classOther, false, "", "tmp.txt"},
		{"./run_tests.sh --fast", "./run_tests.sh --fast", classVerify, false, "", ""},
		{"ls -la; ./deploy.sh", "./deploy.sh", classOther, false, "", ""},
		{"X=$(ls -t a | head -1) && cp $X b.txt", "cp $X b.txt", classOther, false, "b.txt", ""},
		{"", "", classLook, false, "", ""},
	} {
		got := parseCommand(c.in)
		if got.text != c.text || got.class != c.class || got.piped != c.piped || strings.Join(got.writes, " ") != c.writes || strings.Join(got.removes, " ") != c.removes {
			t.Errorf("%q: %q class %d piped %v writes %v removes %v", c.in, got.text, got.class, got.piped, got.writes, got.removes)
		}
	}
}

func FuzzParseCommand(f *testing.F) {
	for _, s := range []string{"a && b", "cat <<EOF\nx\nEOF", "((", "'", "a | b |", "<<", "> x", "X=", "$(", "a\\"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { parseCommand(s) })
}

func shellUse(command, output string, exit int) use {
	p := compartments.Part{Kind: compartments.PartTool, Tool: "bash", Status: compartments.StatusCompleted,
		Input: `{"command":` + quote(command) + `}`, Output: output, ExitCode: exit, HasExit: exit >= 0}
	return readUse(&p)
}

func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		name, command, output string
		exit                  int // -1: none
		failed                bool
		line                  string
	}{
		{"passed", "go test ./...", "ok\tapp 0.1s", 0, false, ""},
		{"words of an error under exit 0", "cat log", "error: old news", 0, false, ""},
		{"exit code hidden by a pipe", "npm run check 2>&1 | tail", "src/a.ts(1,2): error TS2304: Cannot find name 'x'.", 0, true, "src/a.ts(1,2): error TS2304: Cannot find name 'x'."},
		{"nothing found", "grep -n x a.go", "", 1, false, ""},
		{"code in the output", "make", "make: *** [all] Error 2\nCommand exited with code 2", -1, true, "make: *** [all] Error 2"},
		{"wrapper", "ed x", "<returncode>127</returncode>\n<output>\nbash: line 1: ed: command not found\n</output>", -1, true, "bash: line 1: ed: command not found"},
		{"traceback", "python a.py", "Traceback (most recent call last):\n  File \"/x/a.py\", line 3, in f\n    g()\nValueError: no id", 1, true, "ValueError: no id (a.py line 3)"},
		{"rust", "cargo build", "   Compiling a\nerror[E0425]: cannot find value `x`\n  --> src/main.rs:3:5\n", 101, true, "error[E0425]: cannot find value `x` --> src/main.rs:3:5"},
		{"go test", "go test ./a", "--- FAIL: TestA (0.00s)\n    a_test.go:7: got 1, want 2 rows\nFAIL\n", 1, true, "TestA failed: a_test.go:7: got 1, want 2 rows"},
		{"compile error before the verdict", "go test ./a", "# app/a\na/a.go:3:4: undefined: missingThing\nFAIL\tapp/a [build failed]\n", 1, true, "a/a.go:3:4: undefined: missingThing"},
		{"mocha", "npx mocha", "  0 passing\n\n  1) cart: TypeError: callback is not a function\n", 1, true, "1) cart: TypeError: callback is not a function"},
		{"script with a log behind it", "./e2e.sh", "1 jobs are left over\n2031-01-01 10:00 INFO worker finished job=1 error=none\n", 1, true, "1 jobs are left over"},
		{"chinese", "npm start", "启动中\n错误：找不到模块\n", 1, true, "错误：找不到模块"},
		{"no word known", "./x", "foo\nbar\n", 3, true, "bar"},
		{"pytest", "pytest tests/test_tally.py", "____ test_rows ____\n>       assert rows == 3\nE       AssertionError: assert 2 == 3\n\n/x/tests/test_tally.py:65: AssertionError\n" +
			"FAILED tests/test_tally.py::test_rows - Asser...\nFAILED tests/test_tally.py::test_sum\n=== 2 failed, 68 passed, 1 xfailed in 4.74s ===\n", 1, true,
			"2 failed, 68 passed (test_rows, test_sum): AssertionError: assert 2 == 3 /x/tests/test_tally.py:65"},
		{"counts on lines of their own", "bun test", "error: expect(received).toBe(expected)\n(fail) sums rows [0.20ms]\n\n 12 pass\n 1 fail\nRan 13 tests across 2 files. [30.00ms]\n", 1, true,
			"1 failed, 12 passed (sums rows): error: expect(received).toBe(expected)"},
		{"counts without names", "npx jest", "Error: no rows\nTests:       3 failed, 68 passed, 71 total\n", 1, true, "3 failed, 68 passed: Error: no rows"},
		{"a notice that a shell calls an error", "powershell 'x.exe --trust 2>&1'", "Exit code 1\nx.exe : x: inserting trust of 6\nAt line:1 char:5\n+ & x.exe --trust 2>&1\n    + CategoryInfo          : NotSpecified: (x: inserting trust of 6:String) [], RemoteException\n    + FullyQualifiedErrorId : NativeCommandError\n", -1, false, ""},
		{"a complaint that it calls an error", "powershell 'x.exe --import 2>&1'", "Exit code 1\nx.exe : x: no valid data\nAt line:1 char:5\n+ & x.exe --import 2>&1\n    + CategoryInfo          : NotSpecified: (x: no valid data:String) [], RemoteException\n    + FullyQualifiedErrorId : NativeCommandError\n", -1, true, "x.exe : x: no valid data"},
		{"an error of its own", "powershell 'Get-Thing a'", "Exit code 1\nGet-Thing : a : This took\ntoo long\nAt line:1 char:1\n+ Get-Thing a\n    + CategoryInfo          : OperationTimeout: (a:String) [Get-Thing], Win32Exception\n    + FullyQualifiedErrorId : ERROR_TIMEOUT,GetThing\n", -1, true, "Get-Thing : a : This took"},
		{"one word above a tree of causes", "relay start", "Error: settings::read::failed\n\n  × Failed to read conf/relay.yml.\n  ╰─▶   × depots: unknown field `depots`, expected one of `hosts`, `ports`,\n        │ `users`\n", 1, true,
			"Failed to read conf/relay.yml: depots: unknown field `depots`"},
		{"a cause below", "relay start", "Error: cannot start the relay\n\nCaused by:\n    0: cannot read settings\n    1: permission denied (os error 13)\n", 1, true, "Error: cannot start the relay; permission denied (os error 13)"},
		{"the deepest cause", "java -jar x.jar", "Exception in thread \"main\" app.StartException: no start\n\tat app.Main.run(Main.java:9)\nCaused by: app.ReadException: no settings\n\tat app.Read.all(Read.java:3)\nCaused by: java.io.IOException: disk is full\n", 1, true,
			"Exception in thread \"main\" app.StartException: no start; java.io.IOException: disk is full"},
		{"a count of what failed", "pkg install", "pkg 1.2\nFileNotFound: failed linking package tally\nSaved lockfile\n\nFailed to install 1 package\n", 1, true, "FileNotFound: failed linking package tally"},
		{"the exit code of a script", "pkg run start", "error: Cannot find package 'tally' from 'src/a.ts'\n\nerror: script \"start\" exited with code 1\n", 1, true, "error: Cannot find package 'tally' from 'src/a.ts'"},
		{"nothing but a verdict", "pkg run start", "starting\nerror: script \"start\" exited with code 1\n", 1, true, "error: script \"start\" exited with code 1"},
		{"warnings before what was found", "leakscan .", "10:24AM WRN Invalid entry in .leakignore\n10:24AM WRN Invalid entry in .leakignore\nFound: a/key.pem\n", 1, true, "Found: a/key.pem"},
		{"nothing but warnings", "leakscan .", "start\nWARN invalid entry in .leakignore\n", 1, true, "WARN invalid entry in .leakignore"},
		{"a place above a rule", "npm run check", "> biome check --write .\n\nsrc/a.ts:205:2 parse ━━━━━━━━━━━━\n\n  × expected a semicolon, but found none\n\n    204 │ x\n", 1, true, "src/a.ts:205:2 parse: expected a semicolon, but found none"},
		{"a debugger beside it", "npm test", "Debugger attached.\nError in the js-debug bootloader, please report\n(node:389) Warning: one at a time\nthe wax is wet\n", 1, true, "the wax is wet"},
		{"no valid data", "gpg --import", "gpg: no valid data found.\ngpg: Total number processed: 0\n", 2, true, "gpg: no valid data found."},
		{"windows", "dir x", "Exit code 1\r\n\r\nFile Not Found\r\n", -1, true, "File Not Found"},
	} {
		u := shellUse(c.command, c.output, c.exit)
		if u.failed != c.failed || u.errLine != c.line {
			t.Errorf("%s: failed %v, line %q", c.name, u.failed, u.errLine)
		}
	}
}

// TestDoneAllTheSame: what a failed command did behind its complaint is told, and not
// what it did before.
func TestDoneAllTheSame(t *testing.T) {
	for output, want := range map[string]string{
		"x: invalid header: a b\nx: key 7: imported\nx: Total number processed: 1\nx: keys imported: 1\n": "x: keys imported: 1",
		"x: no valid data found\nx: keys imported: 0\n":                                                   "",
		"Saved lockfile\n1 package installed\nerror: no space left\n":                                     "",
		"x: ungültiger Kopf (fehler)\nSchlüssel importiert\n":                                             "Schlüssel importiert",
		"错误：格式\n密钥已导入\n":                                                                                  "密钥已导入",
		"x: invalid header\nnothing was saved, as it does not fit\n":                                      "",
	} {
		if u := shellUse("x --import key", output, 2); !u.failed || u.yet != want {
			t.Errorf("%q: failed %v, yet %q, want %q", output, u.failed, u.yet, want)
		}
	}
	c, err := testBuiltin().WriteOne(t.Context(), rangeFrom([]compartments.Message{
		personSays("import the key of the depot into the ring please"),
		shellCall("x --import key", "x: invalid header: a b\nx: keys imported: 1\n", 2),
		agentText("The key of the depot is in the ring."),
	}))
	if err != nil {
		t.Fatal(err)
	}
	if full := c.Tiers[compartments.TierFull].Text; !strings.Contains(full, "x: invalid header: a b; yet: x: keys imported: 1") || strings.Contains(full, "not passed here") {
		t.Errorf("full:\n%s", full)
	}
}

func TestJudgeOtherTools(t *testing.T) {
	failed := func(tool, input, output string) use {
		return readUse(&compartments.Part{Kind: compartments.PartTool, Tool: tool, Status: compartments.StatusError, Input: input, Output: output})
	}
	if u := failed("edit", `{"filePath":"a.go","oldString":"x","newString":"y"}`, "oldString not found in content"); u.failed || len(u.changes) != 0 {
		t.Errorf("an edit that the agent repairs: %+v", u)
	}
	if u := failed("bash", `{"command":"make"}`, "Tool execution aborted"); u.failed || !u.stopped {
		t.Errorf("an aborted call: %+v", u)
	}
	if u := failed("bash", `{"command":"rm -rf x"}`, "The user rejected permission to use this tool"); u.failed || !u.refused {
		t.Errorf("a refused call: %+v", u)
	}
	process := readUse(&compartments.Part{Kind: compartments.PartTool, Tool: "pty_read", Status: compartments.StatusCompleted, Input: `{"id":"p1"}`,
		Output: "00001| Error: settings::read::failed\n00002| \n00003|   × Failed to read conf/relay.yml.\n00004|   ╰─▶   × depots: unknown field `depots`\n"})
	if !process.failed || process.errLine != "Failed to read conf/relay.yml: depots: unknown field `depots`" {
		t.Errorf("what a process in the background says: %+v", process)
	}
	ok := readUse(&compartments.Part{Kind: compartments.PartTool, Tool: "edit", Status: compartments.StatusCompleted,
		Input: `{"filePath":"a.ts","oldString":"x","newString":"y"}`, Output: "done\n<diagnostics file=\"a.ts\">\nERROR [3:1] Unexpected token\n</diagnostics>"})
	if ok.failed || ok.fault != "ERROR [3:1] Unexpected token" {
		t.Errorf("what a language server says: %+v", ok)
	}
}

func TestToolKinds(t *testing.T) {
	for _, c := range []struct {
		tool, input string
		kind        useKind
	}{
		{"bash", `{"command":"ls"}`, useShell}, {"Bash", `{"command":"ls"}`, useShell}, {"mcp__box__exec", `{"cmd":["bash","-lc","ls"]}`, useShell},
		{"strange", `{"command":"ls"}`, useShell}, {"Edit", `{"file_path":"a","old_string":"b","new_string":"c"}`, useEdit},
		{"replacer", `{"path":"a","oldText":"b","newText":"c"}`, useEdit}, {"write", `{"filePath":"a","content":"b"}`, useWrite},
		{"apply_patch", `{"patchText":"x"}`, usePatch}, {"read", `{"filePath":"a"}`, useRead}, {"grep", `{"pattern":"a"}`, useLook},
		{"todowrite", `{"todos":[]}`, useTodo}, {"task", `{"description":"a"}`, useTask}, {"question", `{}`, useAsk},
		{"ctx_expand", `{"first":1}`, useOwn}, {"thing", `not json`, useOther}, {"thing", ``, useOther}, {"thing", `[1]`, useOther},
	} {
		u := readUse(&compartments.Part{Kind: compartments.PartTool, Tool: c.tool, Input: c.input, Status: compartments.StatusCompleted, Output: "x"})
		if u.kind != c.kind {
			t.Errorf("%s %s: kind %d, want %d", c.tool, c.input, u.kind, c.kind)
		}
	}
}

func TestChanges(t *testing.T) {
	got := patchChanges("*** Begin Patch\n*** Update File: a.go\n-old\n+new\n+more\n*** Add File: b.go\n+x\n*** Delete File: c.go\n*** End Patch")
	if len(got) != 3 || got[0].added != 2 || got[0].removed != 1 || !got[1].created || !got[2].deleted {
		t.Errorf("patch: %+v", got)
	}
	got = patchChanges("--- a/x.go\n+++ b/x.go\n@@ -1 +1 @@\n-a\n+b\n")
	if len(got) != 1 || got[0].path != "x.go" || got[0].added != 1 || got[0].removed != 1 {
		t.Errorf("diff: %+v", got)
	}
	if a, r := lineChange("a\nb\nc\n", "a\nx\ny\nc\n"); a != 2 || r != 1 {
		t.Errorf("lineChange: +%d -%d", a, r)
	}
}

func FuzzReadUse(f *testing.F) {
	f.Add("bash", `{"command":"ls"}`, "out", true)
	f.Add("apply_patch", `{"patchText":"*** Add File: a\n+b"}`, "ERROR", false)
	f.Add("question", `{"questions":[{"question":"a"}]}`, `"a"="b"`, false)
	f.Add("edit", `{"edits":[{"oldText":"a","newText":"b"}],"path":"x"}`, "", false)
	f.Fuzz(func(t *testing.T, tool, input, output string, failed bool) {
		p := compartments.Part{Kind: compartments.PartTool, Tool: tool, Input: input, Output: output, Status: compartments.StatusCompleted}
		if failed {
			p.Status = compartments.StatusError
		}
		readUse(&p)
	})
}

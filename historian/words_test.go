package historian

import (
	"strings"
	"testing"

	"ctxplugin/compartments"
)

func userMessage(parts ...string) *compartments.Message {
	m := &compartments.Message{Role: compartments.RoleUser}
	for _, p := range parts {
		m.Parts = append(m.Parts, compartments.Part{Kind: compartments.PartText, Type: "text", Text: p})
	}
	return m
}

func TestListen(t *testing.T) {
	for _, c := range []struct {
		name, in, own string
		machine       bool
		pasted        int
	}{
		{"words", "fix the login", "fix the login", false, 0},
		{"blank", "  \n ", "", true, 0},
		{"reminder alone", "<system-reminder>\nuse the todo list\n</system-reminder>", "", true, 0},
		{"reminder that names its own tag", "<system-reminder>write </system-reminder> nowhere</system-reminder>", "", true, 0},
		{"reminder and words", "<system-reminder>tea</system-reminder>\nfix it", "fix it", false, 0},
		{"cut reminder", "fix it <system-reminder>tea", "fix it", false, 0},
		{"notification with advice behind it", "<task-notification>x</task-notification>\nRead the output file.", "", true, 0},
		{"command", "<command-message>m</command-message><command-name>/plan</command-name>\n<command-args>the cache</command-args>", "/plan\nthe cache", false, 0},
		{"skill", `<skill name="commit">32 KB of rules</skill>`, "/commit", false, 0},
		{"unknown tag", "<feedback>too slow</feedback>", "too slow", false, 0},
		{"html stays", "make <div>this</div> red", "make <div>this</div> red", false, 0},
		{"interruption", "[Request interrupted by user]", "", true, 0},
		{"task in a block beside its subject", "<issue>\nrows are lost\n</issue>\n\n<instructions>\nDo not change the schema.\n</instructions>", "rows are lost\n\n\n\n\n\nDo not change the schema.", false, 0},
		{"block of the host alone", "<instructions>\nanswer in one line\n</instructions>", "", true, 0},
		{"introduced command", "when all is done give exactly this command:\n\n```sh\nmake seal\n```\nand stop", "when all is done give exactly this command: `make seal`\n\nand stop", false, 0},
		{"introduced complaint", "it says:\n```\nerror: no route\n```", "it says:", false, 1},
		{"fence", "why?\n```\npanic: x\n```", "why?", false, 1},
		{"log", "why?\n2031-01-02T10:00:00Z ERROR no route\n2031-01-02T10:00:01Z INFO bye", "why?", false, 2},
		{"stack", "it broke\n    at run (app.js:3:1)\nmain.go:12:3: undefined: x", "it broke", false, 2},
		{"prompt", "look\n➜ app git:(main) echo $TERM", "look", false, 1},
		{"one digit", "2", "2", false, 0},
		{"long prose", strings.Repeat("a long sentence of plain words ", 40), strings.TrimSpace(strings.Repeat("a long sentence of plain words ", 40)), false, 0},
		{"picture in front", "'/var/folders/aa/bb/Screenshot 2031-01-01 at 10.00.00.png' why is it red?", "why is it red?", false, 0},
	} {
		s := listen(userMessage(c.in), nil)
		if s.own != c.own || s.machine != c.machine || s.pasted != c.pasted {
			t.Errorf("%s: own %q machine %v pasted %d", c.name, s.own, s.machine, s.pasted)
		}
	}
}

func TestListenParts(t *testing.T) {
	m := userMessage("see the file")
	m.Parts = append(m.Parts,
		compartments.Part{Kind: compartments.PartText, Text: "expanded file", Synthetic: true},
		compartments.Part{Kind: compartments.PartText, Text: "hidden", Ignored: true},
		compartments.Part{Kind: compartments.PartFile, Filename: "docs/a.md"})
	if s := listen(m, nil); s.own != "see the file" || len(s.attached) != 1 {
		t.Errorf("own %q attached %v", s.own, s.attached)
	}
	if s := listen(userMessage("$ ls\na.go b.go"), nil); s.own != "" || len(s.ran) != 1 || s.ran[0] != "ls" {
		t.Errorf("a command of the user: %+v", s)
	}
	told := map[string]bool{letters("Option 2: Use the other shell (recommended)", quotedLetters): true}
	if s := listen(userMessage("### Option 2: Use the other shell (recommended)"), told); s.own != "" || s.pasted != 1 {
		t.Errorf("quoted words of the agent count as own: %+v", s)
	}
}

func FuzzListen(f *testing.F) {
	for _, s := range []string{"<a><b>", "<system-reminder>x</system-reminder>", "```\n```", "<x-y>" + strings.Repeat("<x-y>", 50), "$ ls", "\xff<command-name>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := listen(userMessage(s), nil)
		if got.machine && got.own != "" {
			t.Fatalf("%q: machine text with own words %q", s, got.own)
		}
	})
}

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
		loose          bool
	}{
		{"sentences", "One is done. Two follows! Is it? Yes", "One is done.|Two follows!|Is it?|Yes", false},
		{"small letters", "fix it. then push", "fix it. then push", false},
		{"small letters, loose", "fix it. then push", "fix it.|then push", true},
		{"abbreviations", "See e.g. Row and i.e. Column. Next", "See e.g. Row and i.e. Column.|Next", false},
		{"versions", "Use v1.2. It works with 3.4 too", "Use v1.2.|It works with 3.4 too", false},
		{"ticks", "Call `a. B` now. Then", "Call `a. B` now.|Then", false},
		{"wide", "已完成。还没有提交！要推送吗？", "已完成。|还没有提交！|要推送吗？", false},
		{"hangul", "테스트가 통과합니다. 커밋은 하지 않았습니다.", "테스트가 통과합니다.|커밋은 하지 않았습니다.", false},
		{"structure", "# Head\n- one\n  more of one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n---\ntext", "Head|one more of one|two|a | b|1 | 2|text", false},
		{"fence", "before\n```go\nfunc main() {}\na\nb\n```\nafter", "before|after", false},
		{"introduced code", "Run it:\n```\nnpm start\n```", "Run it: `npm start`", false},
		{"decoration", "**Done.** See [the docs](https://x.example/d) ✅", "Done.|See the docs (https://x.example/d)", false},
		{"numbered", "1. first\n2) second", "first|second", false},
	} {
		var got []string
		for _, u := range split(c.in, c.loose) {
			got = append(got, u.text)
		}
		if s := strings.Join(got, "|"); s != c.want {
			t.Errorf("%s: %q, want %q", c.name, s, c.want)
		}
	}
}

func FuzzSplit(f *testing.F) {
	for _, s := range []string{"a. B", "|x|", "- ", "1. ", "[a](b", "```", "#", "。。", "**"} {
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, s string, loose bool) {
		for _, u := range split(s, loose) {
			if u.text == "" || strings.ContainsAny(u.text, "\n\r") {
				t.Fatalf("%q: unit %q", s, u.text)
			}
		}
	})
}

// TestTerminalPaste: what a terminal shows behind a prompt, and a stack trace with the
// source and the fields around its frames, is pasted; what a person says beside it is not.
func TestTerminalPaste(t *testing.T) {
	for in, want := range map[string]string{
		"~/code/seal (main)\n➜  seal git:(main) npx seal -c\nnode:fs:443\n    return binding.read(path);\n           ^\n\nError: ENOENT: no such file, open '/w/seal.json'\n    at readFileSync (node:fs:443:20)\n    at run (/w/src/seal.ts:76:24) {\n  errno: -2,\n  code: 'ENOENT'\n}\n\nNode.js v23.4.0": "",
		"it broke, invalid seals must never explode\n\n➜  seal git:(main) ✗ npx seal -r\nDebugger attached.\nError: Invalid wax: #000cc\n    at hex (/w/src/seal.ts:148:9)\nWaiting for the debugger to disconnect...":                                                                                       "it broke, invalid seals must never explode",
		"first terminal:\n➜  seal echo $TERM\nxterm\n\nsecond terminal:\n➜  seal echo $TERM\nxterm-256color\n\nwhy do they differ?":                                                                                                                                                                          "first terminal:\n\nsecond terminal:\n\nwhy do they differ?",
		"❯ make seal\nno rule to make target\nplease mend that":                       "please mend that",
		"it hangs here\n\n ⠇ Working... (esc to interrupt)\n──────\n│ wax":            "it hangs here",
		"- wax\n  - red\n  - blue\n\nkeep the list indented":                          "- wax\n- red\n- blue\n\nkeep the list indented",
		"the call\n  at noon (see plan: 2)\nmust stay":                                "the call\nmust stay",
		"look in ~/code/seal\nand then make it compile":                               "look in ~/code/seal\nand then make it compile",
		"Error: Invalid wax: #000cc\n\nwhat does that mean for the letters of today?": "Error: Invalid wax: #000cc\n\nwhat does that mean for the letters of today?",
	} {
		var s speech
		s.sort(in, nil)
		if s.own != want {
			t.Errorf("%q: own words %q, want %q", in, s.own, want)
		}
	}
}

package historian

import (
	"slices"
	"strings"
	"testing"

	"ctxplugin/compartments"
)

func toolCall(tool, input, output string, status compartments.ToolStatus) compartments.Message {
	return compartments.Message{Role: compartments.RoleAssistant, Parts: []compartments.Part{{Kind: compartments.PartTool, Tool: tool, Status: status, Input: input, Output: output}}}
}

// TestContinuedTitle: a run that goes on with an earlier request says with which,
// also where it does not mention what the request names.
func TestContinuedTitle(t *testing.T) {
	list := parts(t, []compartments.Message{
		personSays("using docs/external/guide.md and src/first/app.go, add a health check to the service"),
		agentText("I look at the files first."),
		shellCall("op item get \"Key (M)\" --format json", "{}", 0), // 3
		toolCall("webfetch", `{"url":"https://example.com/llms.txt"}`, strings.Repeat("text of a page\n", 40), compartments.StatusCompleted),
	}, 2, 1, 1)
	for i, want := range []string{"", "Ran: op item get \"Key (M)\"", "Ran: webfetch https://example.com/llms.txt"} {
		text := list[i].Tiers[compartments.TierCompact].Text
		if i > 0 && (!strings.Contains(text, "(cont. of [1]) using … and … add a health check to") || !strings.Contains(text, want)) {
			t.Errorf("run %d:\n%s", i, text)
		}
		if strings.Contains(text, "… …") || i > 0 && (strings.Contains(text, "guide.md") || strings.Contains(text, "app.go")) {
			t.Errorf("run %d names what it does not hold:\n%s", i, text)
		}
	}
}

// TestContinuedTitleTellsWhatWasDone: where nothing was said, the title of a run that
// goes on is what failed, changed, ran or was read, not the request once more.
func TestContinuedTitleTellsWhatWasDone(t *testing.T) {
	edit := toolCall("edit", `{"filePath":"/w/src/seal.go","oldString":"a","newString":"b"}`, "edited", compartments.StatusCompleted)
	read := toolCall("read", `{"filePath":"/w/src/seal.go"}`, "text", compartments.StatusCompleted)
	for want, call := range map[string]compartments.Message{
		"make seal → no rule to make target seal": shellCall("make seal", "no rule to make target seal", 2),
		"changed src/seal.go":                     edit,
		"ran ./stamp --all":                       shellCall("./stamp --all", "", 0),
		"read seal.go":                            read,
		"The stamp is wet.":                       agentText("The stamp is wet."),
		"`seal.go` presses twice":                 agentText("## Summary of changes\n\n`seal.go` presses twice"),
	} {
		list := parts(t, []compartments.Message{personSays("seal the letters of this week with the new stamp"), agentText("Let me look."), call}, 2, 1)
		if got := list[1].Title; got != "(cont. of [1]) "+want {
			t.Errorf("title %q, want %q behind the request", got, want)
		}
	}
}

// TestGoesOnWithTheLastRequest: the request that a run goes on with is the last that
// said what is wanted, also where it names a file for the host to show or has few
// words; what only answers or agrees is none.
func TestGoesOnWithTheLastRequest(t *testing.T) {
	for _, c := range []struct{ said, before, want string }{
		{"in @scripts/ - write a script that seals the release", "The release is tagged.", "(cont. of [4]) in … - write a script that seals"},
		{"Add @.tools/skills/ https://example.com/skills for our scripts", "The release is tagged.", "(cont. of [4]) Add"},
		{"Fix the seal-maker", "The release is tagged.", "(cont. of [4]) Fix the seal-maker"},
		{"修复登录页面的翻译", "标签已经打好。", "(cont. of [4]) 修复登录页面的翻译"},
		{"the second", "Shall I use the old key, or the new one?", "(cont. of [1]) the release must be tagged and signed"},
		{"2 please", "There are two ways:\n\n1. Sign with the old key\n2. Sign with the new key", ""},
		{"go on", "The release is tagged.", "(cont. of [1]) the release must be tagged and signed"},
	} {
		ms := []compartments.Message{
			personSays("the release must be tagged and signed before it is sealed"),
			shellCall("git tag v2", "", 0),
			agentText(c.before),
			personSays(c.said), // 4
			shellCall("ls scripts .tools/skills seal-maker", "scripts/", 0),
			shellCall("cat scripts/a.sh", "echo seal", 0), // 6
			agentText("The script has no seal yet."),
		}
		for _, lengths := range [][]int{{3, 2, 2}, {2, 3, 2}} {
			want := c.want
			if want == "" { // what the options were is known where they stand in the same run
				if want = "(cont. of [1])"; lengths[0] == 2 {
					want = "(cont. of [4]) 2 please: Sign with the new key"
				}
			}
			last := parts(t, ms, lengths...)[2]
			if got := last.Tiers[compartments.TierFull].Text; !strings.Contains(got, "] "+want) {
				t.Errorf("%q in runs of %v: %q, want %q", c.said, lengths, got, want)
			}
			if which, _, _ := strings.Cut(want, ")"); last.Title != which+") The script has no seal yet." {
				t.Errorf("%q in runs of %v: title %q says not what was done", c.said, lengths, last.Title)
			}
		}
	}
}

// TestNoNameOfARemainder: what is left of a pattern, a variable or a gap is no
// name.
func TestNoNameOfARemainder(t *testing.T) {
	for in, want := range map[string][]string{
		`ls "$d"/clockface.go`:                      nil,
		`scripts/*.sh.ts and src/**/proto.json`:     {"scripts/", "src/"},
		`${root}/pool.go`:                           nil,
		"`local:///...#default`":                    nil,
		`open "/etc/app/conf.toml" now`:             {"/etc/app/conf.toml"},
		`go test ./internal/...`:                    {"./internal/"},
		`see /api/rows and ./run.sh and .gitignore`: {"/api/rows", "./run.sh", ".gitignore"},
	} {
		var got []string
		scanNames(in, func(n string, _ kind) { got = append(got, n) })
		if !slices.Equal(got, want) {
			t.Errorf("%s: names %q, want %q", in, got, want)
		}
	}
}

func TestBrief(t *testing.T) {
	for in, want := range map[string]string{
		"Done! I've copied the dark theme to `custom.json`.": "I've copied the dark theme to `custom.json`.",
		"Done — the importer streams and counts rows":        "the importer streams and counts rows",
		"完成了。导入页面的翻译已经补全，测试通过":                               "导入页面的翻译已经补全，测试通过",
		"Done.": "Done.",
		"Good rows are stored, bad ones are counted": "Good rows are stored, bad ones are counted",
		"Done-list items are kept in the store file": "Done-list items are kept in the store file",
	} {
		if got := brief(in); got != want {
			t.Errorf("brief(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestLabelOfEveryText: a label that each text of an agent has says nothing, in a
// short run too; a warning does.
func TestLabelOfEveryText(t *testing.T) {
	for in, want := range map[string]string{
		"THOUGHT: The row reader reuses its buffer.": "The row reader reuses its buffer.",
		"WARNING: The row reader reuses its buffer.": "WARNING: The row reader reuses its buffer.",
	} {
		r := rangeFrom([]compartments.Message{personSays("what is wrong with the row reader"), agentText(in), shellCall("go test ./rows", "ok", 0), personSays("mend it please"), agentText(in + " I mend it.")})
		c, err := testBuiltin().WriteOne(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if full := c.Tiers[compartments.TierFull].Text; !strings.Contains(full, "] "+want) {
			t.Errorf("no %q in\n%s", want, full)
		}
	}
}

// TestChoiceIsNoOutcome: what an agent offers to choose from has not happened.
func TestChoiceIsNoOutcome(t *testing.T) {
	r := rangeFrom([]compartments.Message{personSays("rows without an id break the import, what can we do"), shellCall("go test ./importer", "ok", 0),
		agentText("Two ways:\n1. Write the rejects to a file\n2. Stop the import\n\nWhich one?")})
	c, err := testBuiltin().WriteOne(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if full := c.Tiers[compartments.TierFull].Text; strings.Contains(full, "[3] Stop") || strings.Contains(full, "[3] Write") || !strings.Contains(full, "Which one?") {
		t.Errorf("an option counts as outcome:\n%s", full)
	}
}

// TestFailedLine: a call that was stopped is not open, and of an output full of
// secrets the line that says something is kept.
func TestFailedLine(t *testing.T) {
	key := strings.Repeat("aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY ", 3)
	r := rangeFrom([]compartments.Message{
		personSays("import the key and start the server please"),
		toolCall("bash", `{"command":"serve --watch"}`, "Tool execution aborted", compartments.StatusError),
		shellCall("gpg --import key.asc", "gpg: invalid armor header: "+key+"\n"+key+" =error", 2),
		agentText("The key has a broken header."),
	})
	c, err := testBuiltin().WriteOne(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	full := c.Tiers[compartments.TierFull].Text
	if strings.Contains(full, "aborted (") || strings.Contains(full, "aB3d") {
		t.Errorf("full:\n%s", full)
	}
	if got := openLine("Exit code 2\ngpg: invalid armor header: " + key); !strings.HasPrefix(got, "gpg: invalid armor header: [secret]") {
		t.Errorf("line %q", got)
	}
}

// TestHalfDone: a change that was stopped half way, as the last thing of a run, is shown
// at every tier with what had been set before, and one that was gone on from is not.
func TestHalfDone(t *testing.T) {
	stopped := toolCall("bash", `{"command":"ssh depot 'conf delete log && conf commit'"}`, "Exit code 137\n[Request interrupted by user for tool use]", compartments.StatusError)
	ms := []compartments.Message{
		personSays("find out which clients ask the depot so often"),
		shellCall("ssh depot 'conf set log=1 && conf commit'", "restarted", 0),
		shellCall("probe --server depot", "probe: timed out", 1),
		stopped,
	}
	write := func(ms []compartments.Message) compartments.Compartment {
		c, err := testBuiltin().WriteOne(t.Context(), rangeFrom(ms))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := write(ms)
	for _, tier := range []compartments.Tier{compartments.TierFull, compartments.TierDense, compartments.TierCompact} {
		want := "'conf delete log && conf commit' → Request interrupted by user for tool use, may be half done"
		if tier == compartments.TierCompact {
			want = "stopped, maybe half done: conf delete log && conf commit"
		}
		if text := c.Tiers[tier].Text; !strings.Contains(text, want) || !strings.Contains(text, "conf set log=1") {
			t.Errorf("%v:\n%s", tier, text)
		}
	}
	if text := c.Tiers[compartments.TierAnchor].Text; !strings.Contains(text, "maybe half done: conf delete log && conf commit") {
		t.Errorf("the anchor:\n%s", text)
	}
	crowd := ms[:2:2]
	for _, n := range []string{"north", "south", "east", "west", "upper", "lower"} {
		crowd = append(crowd, agentText("The `"+n+"Gate` of the depot is the cause, because `"+n+"Lamp` asks for `"+n+".status` every second."), shellCall("probe --gate "+n, n+".status: refused by "+n+"Gate", 1))
	}
	if text := write(append(crowd, stopped)).Tiers[compartments.TierCompact].Text; !strings.Contains(text, "stopped, maybe half done: conf delete log && conf commit") {
		t.Errorf("among much else:\n%s", text)
	}
	x, err := testBuiltin().Read(t.Context(), rangeFrom(ms))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range x.Next(len(ms)).lines {
		if undo := l.sec == secFailed && strings.Contains(l.forms[atFull][0], "half done"); undo && l.prio < 80 || l.sec == secRan && strings.Contains(l.forms[atFull][0], "log=1") && l.prio < 80 {
			t.Errorf("%d for %s", l.prio, l.forms[atFull][0])
		}
	}
	if c := write([]compartments.Message{ms[0], toolCall("bash", `{"command":"serve --watch"}`, "Tool execution aborted", compartments.StatusError)}); strings.Contains(c.Tiers[compartments.TierFull].Text, "half done") {
		t.Errorf("nothing is half done:\n%s", c.Tiers[compartments.TierFull].Text)
	}
	c = write(append(ms, personSays("leave that, look at the other depot"), shellCall("ssh other 'conf show'", "log=0", 0), agentText("The other depot does not log.")))
	if text := c.Tiers[compartments.TierCompact].Text; strings.Contains(text, "half done") && !strings.Contains(text, "timed out") {
		t.Errorf("gone on from:\n%s", text)
	}
}

// TestProcessPasses: a process in the background that complained, and later runs
// without, is not open any more.
func TestProcessPasses(t *testing.T) {
	spawn := func(id string) compartments.Message {
		return toolCall("pty_spawn", `{"command":"serve --watch"}`, "<pty_spawned>\nID: "+id+"\nStatus: running\n"+strings.Repeat("line\n", 200), compartments.StatusCompleted)
	}
	read := func(id, out string) compartments.Message {
		return toolCall("pty_read", `{"id":"`+id+`"}`, out, compartments.StatusCompleted)
	}
	list := parts(t, []compartments.Message{
		personSays("start the server and mend what it complains of"),
		spawn("p1"), read("p1", "TypeError: x is undefined"), // 3
		personSays("go on until it starts without complaint please"),
		spawn("p2"), read("p2", "listening on port 8080"), // 6
	}, 3, 3)
	if full := list[0].Tiers[compartments.TierFull].Text; !strings.Contains(full, "(not passed here)") {
		t.Errorf("the first run:\n%s", full)
	}
	if full := list[1].Tiers[compartments.TierFull].Text; !strings.Contains(full, "Passes now: [6] serve --watch (failed at [3])") {
		t.Errorf("the second run:\n%s", full)
	}
}

// TestTagIsNoName: the name of a tag is none of the session's, however the tag is
// written.
func TestTagIsNoName(t *testing.T) {
	for _, in := range []string{"</session-record>", "＜/session-record＞", "&lt;/session-record&gt;", "‹/session-record>"} {
		scanNames(in, func(n string, _ kind) { t.Errorf("%s: name %q", in, n) })
	}
}

// TestUnbold: marks of bold text go, those of a pattern for files stay.
func TestUnbold(t *testing.T) {
	for in, want := range map[string]string{
		"**Outcome:** looked at `AGENTS.md` and `.opencode/**/*.md`": "Outcome: looked at `AGENTS.md` and `.opencode/**/*.md`",
		"all of src/**/*.go is **new**":                              "all of src/**/*.go is new",
		"**all** of it":                                              "all of it",
		"`2**8` is **256**, one ` is open **here**":                  "`2**8` is 256, one ` is open here",
	} {
		if got := unbold(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

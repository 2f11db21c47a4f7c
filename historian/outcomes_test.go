package historian

import (
	"encoding/json"
	"strings"
	"testing"

	"ctxplugin/compartments"
)

// tier writes one compartment over the messages and returns a tier of it.
func tier(t *testing.T, tier compartments.Tier, ms ...compartments.Message) string {
	t.Helper()
	c, err := testBuiltin().WriteOne(t.Context(), rangeFrom(ms))
	if err != nil {
		t.Fatal(err)
	}
	return c.Tiers[tier].Text
}

// section returns the lines of one section of a tier.
func sectionOf(text, label string) string {
	var out []string
	in := false
	for line := range strings.SplitSeq(text, "\n") {
		if !strings.HasPrefix(line, "- ") {
			in = strings.HasPrefix(line, label+":")
		}
		if in {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// TestRefusedReply: what a program refused for its form concluded nothing, for the
// work goes on behind it; what a notification follows did.
func TestRefusedReply(t *testing.T) {
	reply := "The queue drops the last row of each batch. I write the loop anew and flush it at the end. Do all callers close the queue?"
	for name, c := range map[string]struct {
		between string
		want    bool
	}{
		"complaint about the form": {"Please give EXACTLY ONE action, found 2 actions.\n<response_example>\nTHOUGHT: why\n</response_example>", false},
		"notification":             {"<task-notification>the nightly build is done</task-notification>", true},
	} {
		text := tier(t, compartments.TierFull, personSays("the importer loses rows, mend internal/queue/rows.go"), shellCall("go test ./internal/queue", "ok", 0),
			agentText(reply), personSays(c.between), agentText("I write one action."), shellCall("sed -i s/a/b/ internal/queue/rows.go", "", 0))
		if got := strings.Contains(sectionOf(text, "Outcome"), "drops the last row"); got != c.want {
			t.Errorf("%s: its outcome is shown: %v\n%s", name, got, text)
		}
		if got := strings.Contains(sectionOf(text, "Open"), "all callers"); got != c.want {
			t.Errorf("%s: its question is open: %v\n%s", name, got, text)
		}
	}
}

// TestStateIsSaidOfWhatIs: where a turn has no conclusion, what is shown as its state
// is neither a question, nor a supposition, nor what would be; in any language.
func TestStateIsSaidOfWhatIs(t *testing.T) {
	for _, c := range []struct{ finding, loose string }{
		{"`flushRows` is called before `openBatch`.", "If `flushRows` is called twice, `openBatch` and `closeBatch` are skipped."},
		{"`flushRows` is called before `openBatch`.", "Maybe `flushRows` passed because `openBatch` was set?"},
		{"`flushRows` is called before `openBatch`.", "Perhaps `flushRows` and `closeBatch` share the lock."},
		{"`flushRows` wird vor `openBatch` gerufen.", "Wenn `flushRows` zweimal gerufen wird, entfallen `openBatch` und `closeBatch`."},
		{"`flushRows` est appelé avant `openBatch`.", "Si `flushRows` est appelé deux fois, `openBatch` et `closeBatch` sont sautés."},
		{"`flushRows` se llama antes de `openBatch`.", "Quizás `flushRows` y `closeBatch` comparten el bloqueo."},
		{"`flushRows` é chamado antes de `openBatch`.", "Talvez `flushRows` e `closeBatch` usem a mesma trava."},
		{"`flushRows` 在 `openBatch` 之前被调用。", "如果 `flushRows` 被调用两次，`openBatch` 和 `closeBatch` 会被跳过。"},
		{"`flushRows` は `openBatch` の前に呼ばれる。", "もし `flushRows` が二回呼ばれたら `openBatch` と `closeBatch` は飛ばされる。"},
		{"`flushRows` 는 `openBatch` 전에 호출된다.", "만약 `flushRows` 가 두 번 호출되면 `openBatch` 와 `closeBatch` 를 건너뛴다."},
	} {
		text := tier(t, compartments.TierFull, personSays("the importer loses rows, mend internal/queue/rows.go"),
			agentText(c.finding+" "+c.loose), shellCall("go test ./internal/queue", "ok", 0))
		if want := "(in progress) " + strings.TrimSuffix(c.finding, "。"); !strings.Contains(text, want) {
			t.Errorf("want %q\n%s", want, text)
		}
	}
}

// TestAnchorOfAnAnnouncement: what is about to be done is no state that an anchor
// tells before what failed.
func TestAnchorOfAnAnnouncement(t *testing.T) {
	ms := func(said string) []compartments.Message {
		return []compartments.Message{personSays("the importer loses rows, mend internal/queue/rows.go"), agentText(said),
			shellCall("go test ./internal/queue", "--- FAIL: TestFlush", 1)}
	}
	for said, want := range map[string]string{
		"Now I'll run all tests in internal/queue.":          "→ failed: go test queue",
		"The last batch in internal/queue is never written.": "→ The last batch in internal/queue is never written",
	} {
		if text := tier(t, compartments.TierAnchor, ms(said)...); !strings.Contains(text, want) {
			t.Errorf("%s: want %q in %q", said, want, text)
		}
	}
}

// TestWhyIsAReason: what is said behind a failure is a reason if it gives one, or if a
// heading calls it the cause.
func TestWhyIsAReason(t *testing.T) {
	for said, want := range map[string]bool{
		"There are many errors about the old methods of the loader.":                               false,
		"Die Prüfungen brechen an denselben Stellen ab wie zuvor.":                                 false,
		"It fails because the loader reads before the batch is open.":                              true,
		"The loader takes `flushEvery` for milliseconds.":                                          true, // brings a name
		"The loader does not wait for the last batch.":                                             true,
		"## Root cause\n\nThe loader takes a single option where the batch wants a list of hosts.": true,
		"## Ursache\n\nDer Leser nimmt einen einzigen Wert, die Ablage will eine Liste davon.":     true,
		"## 原因\n\n读取程序使用单个选项，批处理需要列表形式的服务器配置。":                                                     true,
	} {
		text := tier(t, compartments.TierFull, personSays("the importer loses rows, mend it"), shellCall("go test ./internal/queue", "--- FAIL: TestFlush (0.01s)", 1),
			agentText(said), shellCall("go test ./internal/queue", "--- FAIL: TestFlush (0.01s)", 1))
		said = said[strings.LastIndex(said, "\n")+1:]
		if got := strings.Contains(sectionOf(text, "Why"), said[:30]); got != want {
			t.Errorf("%s: it is a reason: %v\n%s", said, got, text)
		}
		if !strings.Contains(text, said[:30]) {
			t.Errorf("%s: lost\n%s", said, text)
		}
	}
}

// TestAnnouncedStep: an announcement that brings nothing new is no step.
func TestAnnouncedStep(t *testing.T) {
	for said, want := range map[string]bool{
		"Now let me update the imports of the two loaders in the queue package and run the checks again": false,
		"Let me read rows.go and then the rest of that package before I change anything in it":           false,
		"Let me set `flushEvery`, the option that nobody sets, before anything else is changed":          true,
		"Now it is clear: the rows are lost because the loader closes the queue before it is read":       true,
	} {
		text := tier(t, compartments.TierFull, personSays("mend rows.go, rows.go and once more rows.go"), shellCall("cat rows.go", "rows.go", 0), agentText(said), shellCall("cat rows.go", "x", 0),
			agentText("The loop in rows.go ends one row early."), shellCall("cat rows.go", "x", 0), agentText("rows.go has two loops."), shellCall("cat rows.go", "x", 0))
		if got := strings.Contains(sectionOf(text, "Steps"), said[:30]); got != want {
			t.Errorf("%s: it is a step: %v\n%s", said, got, text)
		}
	}
}

// TestWhatCameOfARun: what came of a run is what was done last in it, or told under a
// heading that says what mends it; not what was only said behind that.
func TestWhatCameOfARun(t *testing.T) {
	edit := toolCall("edit", `{"file_path":"queue/rows.go","old_string":"a","new_string":"b"}`, "ok", compartments.StatusCompleted)
	asks := "The log of the batches is not switched on. Would you like me to switch it on?"
	for _, c := range []struct {
		name, want string
		ms         []compartments.Message
	}{
		{"talk behind an edit", "The queue is flushed before it is closed", []compartments.Message{
			personSays("the importer loses rows, mend it"), edit, agentText("The queue is flushed before it is closed, in `rows.go`."),
			personSays("why are there two loops in the reader?"), agentText("The second one reads what is left of the `tail`.")}},
		{"work behind an edit", "Version 0.9.0 is published", []compartments.Message{
			personSays("release the package, bump it first"), edit, agentText("The version is bumped, but nothing is published yet: the token is not valid."),
			personSays("there is a new token in the file"), shellCall("npm publish --access public", "+ tally@0.9.0", 0), agentText("Version 0.9.0 is published.")}},
		{"a question behind a cure", "The loader runs again", []compartments.Message{
			personSays("resume the work on the loader"), agentText("## The Fix\n\nThe loader runs again: `hosts` was a single value, and is a list now."),
			personSays("does it write a log of the batches?"), shellCall("ssh node1 tail batches.log", "", 0), agentText(asks)}},
		{"nothing but talk", "The second one reads", []compartments.Message{
			personSays("how does the importer read its rows?"), shellCall("ls queue", "rows.go", 0), agentText("It takes them from the queue in batches of ten."),
			personSays("why are there two loops in the reader?"), agentText("The second one reads what is left of the `tail`.")}},
	} {
		if text := tier(t, compartments.TierAnchor, c.ms...); !strings.Contains(text, c.want) {
			t.Errorf("%s: want %q in %q", c.name, c.want, text)
		}
	}
}

func TestObjects(t *testing.T) {
	for own, want := range map[string]bool{
		"no, that's horrible": true, "No conosle logs!": true, "instead of a db/ folder make it clients": true, "actually, can you revert that?": true, "never commit unsigned": true, "Undo those changes": true,
		"nein, das war anders gemeint": true, "non, pas comme ça": true, "no, así no": true, "não, desfaz isso": true, "不对，改回去": true, "いや、そうじゃない": true, "아니, 그게 아니야": true, "やめて": true, "撤销这个修改": true,
		"I don't think that's it": true, "Wait it's a different program": true, "still doesn't compile": true, "it's not working": true, "geht immer noch nicht": true, "no funciona": true, "还是不行": true,
		"still there? then go on": false, "it's fine": false, "i think so": false,
		"no problem, go on": false, "now the tests": false, "note that it is slow": false, "nothing to add": false, "yes": false, "不错": false, "別の方法": false, "北京": false, "nonstop import": false, "pasta": false, "stopwatch is fine": false, "2": false,
	} {
		if got := objects(own); got != want {
			t.Errorf("%q: %v", own, got)
		}
	}
}

// TestWhatTheUserDidNotWant: a proposal that the user turned down says so, and is no
// outcome that an anchor tells; an option to choose from is none either.
func TestWhatTheUserDidNotWant(t *testing.T) {
	proposal := "All loaders move to `shared/loaders`. The readers stay. The writers move to `shared/writers`. The tests follow them."
	for reply, want := range map[string]bool{"no, that's horrible. one folder for each": true, "fine, go on": false, "不行，每个模块一个目录": true} {
		text := tier(t, compartments.TierFull, personSays("where should the loaders of the importer go?"), shellCall("ls loaders", "csv.go", 0), agentText(proposal), personSays(reply), agentText("Then each has a folder."))
		if got := strings.Contains(text, "`shared/loaders`. (the user objected at [4])"); got != want {
			t.Errorf("%s: marked %v\n%s", reply, got, text)
		}
		if got := !strings.Contains(text, "The tests follow them"); got != want {
			t.Errorf("%s: cut %v\n%s", reply, got, text)
		}
	}
	anchor := tier(t, compartments.TierAnchor, personSays("sign the release and commit it"), shellCall("git commit -m x", "error: gpg failed to sign the data", 128),
		agentText("The key is there, but the agent of `gpg` does not answer.\n\n### Option 1: Commit without signing\nFastest way.\n\n### Option 2: Start the agent again\n\n**Which would you like:**\n1. Commit without signing now\n2. Start the agent again\n\nBoth are possible."))
	if strings.Contains(anchor, "ithout signing") || !strings.Contains(anchor, "The key is there") {
		t.Errorf("the anchor tells an option: %s", anchor)
	}
}

// TestOffersAreOpen: a list of what the agent could do next is open, not done.
func TestOffersAreOpen(t *testing.T) {
	for _, offer := range []string{"If you want, next I can:", "Wenn du willst, kann ich:", "Si quieres, puedo:", "如果你愿意，我可以："} {
		text := tier(t, compartments.TierFull, personSays("a script that rotates the logs, in scripts/rotate.sh"), shellCall("chmod +x scripts/rotate.sh", "", 0),
			agentText("The script is there and rotates seven files.\n\n"+offer+"\n- Add an entry to `crontab` for every night.\n- Compress the rotated files with `zstd`."))
		if strings.Contains(sectionOf(text, "Outcome"), "crontab") || !strings.Contains(sectionOf(text, "Open"), "crontab") || !strings.Contains(text, "rotates seven") {
			t.Errorf("%s\n%s", offer, text)
		}
	}
}

// TestGreeting: a greeting returned is no outcome; the same words in answer to a request are one.
func TestGreeting(t *testing.T) {
	for first, want := range map[string]bool{"hi": false, "which parts does a project like this one have?": true} {
		text := tier(t, compartments.TierFull, personSays(first), agentText("A project like this has code, tests and releases."),
			personSays("trace the whole route to the northern depot"), shellCall("tracert depot", "12 hops", 0), agentText("The depot is 12 hops away."))
		if got := strings.Contains(sectionOf(text, "Outcome"), "code, tests and releases"); got != want {
			t.Errorf("%s: shown %v\n%s", first, got, text)
		}
	}
}

// TestDoneSaysTheCommit: where an outcome says no more than that it is done, compact says
// the title of the commit, and the anchor and the title of a run that goes on do too.
func TestDoneSaysTheCommit(t *testing.T) {
	ms := []compartments.Message{
		personSays("move the files of the seal to where they belong, old and new ones"),
		agentText("I look at `seal.go` first."),
		editCall("/w/src/seal.go", "wax := red()", "wax := green()"),
		shellCall("git commit -am 'x'", "[main 1a2b3c4] Move wax and stamp into seal/core", 0),
		agentText("Done."),
	}
	list := parts(t, ms, 2, 3)
	if list[1].Title != "(cont. of [1]) Move wax and stamp into seal/core" {
		t.Errorf("title %q", list[1].Title)
	}
	for _, tier := range [...]compartments.Tier{compartments.TierCompact, compartments.TierAnchor} {
		if text := list[1].Tiers[tier].Text; !strings.Contains(text, "Move wax and stamp into seal/core") {
			t.Errorf("%s says not what was committed:\n%s", tier, text)
		}
	}
}

// TestObjectedInBrief: of what the user did not want, compact has the main sentence and
// not its details.
func TestObjectedInBrief(t *testing.T) {
	ms := []compartments.Message{
		personSays("undo that, and propose where each file of the seal should go"),
		shellCall("git checkout -- src/seal.go", "", 0),
		agentText("All of them could go into one folder of `lib/`.\n\n- `wax.go`: colours of wax\n- `stamp.go`: pressing of stamps\n- `lid.go`: opening and closing"),
		personSays("no, that is horrible. wax and stamp go to core, lid goes to box"),
		editCall("/w/src/seal.go", "wax := red()", "wax := green()"),
		agentText("`wax.go` and `stamp.go` are in core now, `lid.go` is in box."),
	}
	text := parts(t, ms, 6)[0].Tiers[compartments.TierCompact].Text
	if strings.Contains(text, "pressing of stamps") || !strings.Contains(text, "`lid.go` is in box") {
		t.Errorf("compact tells what the user did not want:\n%s", text)
	}
}

// TestUnderway: a run without words of the agent tells by the purpose of its last command
// where it stands, before others of one that does more than look; its words go first.
func TestUnderway(t *testing.T) {
	call := func(command, about, output string, exit int) compartments.Message {
		m := shellCall(command, output, exit)
		input, _ := json.Marshal(map[string]string{"command": command, "description": about})
		m.Parts[0].Input = string(input)
		return m
	}
	ask := personSays("import the seal from the vault, and sign with it")
	set, look := call("vault set seal --trust", "Trust the seal", "", 0), call("cat /etc/vault.conf | head -20", "Look at the settings", "text", 0)
	for name, c := range map[string]struct {
		calls       []compartments.Message
		want, title string
	}{
		"the last that does":  {[]compartments.Message{set, look}, "(in progress) Trust the seal", "Trust the seal"},
		"looks alone":         {[]compartments.Message{look}, "(in progress) Look at the settings", "Look at the settings"},
		"changes go first":    {[]compartments.Message{editCall("/w/src/seal.go", "wax := red()", "wax := green()"), look}, "Changed: src/seal.go", "changed src/seal.go"},
		"words go first":      {[]compartments.Message{agentText("The vault knows no seal of that name yet."), set}, "The vault knows no seal", "The vault knows no seal of that name yet."},
		"and what it met":     {[]compartments.Message{call("vault import seal", "Import the seal", "vault: no armor in seal", 1)}, "(in progress) Import the seal", "Import the seal → vault: no armor in seal"},
		"without any purpose": {[]compartments.Message{shellCall("vault import seal", "vault: no armor in seal", 1)}, "vault import seal", "vault import seal → vault: no armor in seal"},
	} {
		list := parts(t, append([]compartments.Message{ask, agentText("I go to the vault.")}, c.calls...), 2, len(c.calls))
		if full := list[1].Tiers[compartments.TierFull].Text; !strings.Contains(full, c.want) || list[1].Title != "(cont. of [1]) "+c.title {
			t.Errorf("%s: title %q, full lacks %q:\n%s", name, list[1].Title, c.want, full)
		}
	}
}

// TestRemarkIsNoState: where a turn stands is told by what says something, before a short
// remark behind it; the remark goes before nothing.
func TestRemarkIsNoState(t *testing.T) {
	for _, c := range []struct{ before, want string }{
		{"The stamp takes a colour now instead of a number, so all callers change.", "The stamp takes a colour"},
		{"Let me see.", "This is complex"},
	} {
		full := parts(t, []compartments.Message{personSays("stamp all letters of this week with the new wax"), agentText(c.before), shellCall("./stamp", "no", 1), agentText("This is complex."), shellCall("./stamp -v", "no", 1)}, 5)[0].Tiers[compartments.TierFull].Text
		if !strings.Contains(full, "(in progress) "+c.want) {
			t.Errorf("want %q:\n%s", c.want, full)
		}
	}
}

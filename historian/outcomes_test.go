package historian

import (
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

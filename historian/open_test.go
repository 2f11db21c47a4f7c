package historian

import (
	"strings"
	"testing"

	"ctxplugin/compartments"
)

// together writes the messages in runs of the given lengths as one range, each run
// with what is behind it in view.
func together(t *testing.T, ms []compartments.Message, lengths ...int) []compartments.Compartment {
	t.Helper()
	r := rangeFrom(ms)
	b := testBuiltin()
	v, err := b.look(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	var out []compartments.Compartment
	var force *request
	for _, n := range lengths {
		v.from, v.to, v.named = v.to, v.to+n, nil
		c, _, _, next := b.write(v, r, force)
		force = next
		out = append(out, c)
	}
	return out
}

func todos(states ...string) compartments.Message {
	var list []string
	for i, s := range states {
		list = append(list, `{"content":"step `+string(rune('A'+i))+` of the move","status":"`+s+`"}`)
	}
	return toolCall("todowrite", `{"todos":[`+strings.Join(list, ",")+`]}`, "ok", compartments.StatusCompleted)
}

// TestOpenThatIsClosed: what was asked is not open where the user has spoken since, a
// to-do list only where no later one was seen, a process only while it runs; and what
// an earlier entry shows as open is closed by a later one.
func TestOpenThatIsClosed(t *testing.T) {
	work := func(n int) compartments.Message { return shellCall("ls /srv/data/"+itoa(n), "a.csv", 0) }
	spawn := toolCall("bash", `{"command":"serve --watch"}`, "Command running in background with ID: job81. Output is being written to /srv/log/job81", compartments.StatusCompleted)
	notice := compartments.Message{Role: compartments.RoleUser, Parts: []compartments.Part{{Kind: compartments.PartText, Synthetic: true,
		Text: "<task-notification>\n<task-id>job80</task-id>\n<status>running</status>\n</task-notification>\n<task-notification>\n<task-id>job81</task-id>\n<status>completed</status>\n</task-notification>"}}}
	peek := toolCall("taskoutput", `{"task_id":"job81"}`, "<status>running</status> job81", compartments.StatusCompleted)
	ended := toolCall("taskoutput", `{"task_id":"job81"}`, "<status>killed</status> job81", compartments.StatusCompleted)
	asks := agentText("The old table is moved to the archive folder. Shall I drop the old table now?")
	for _, c := range []struct {
		name    string
		ms      []compartments.Message
		lengths []int
		write   func(*testing.T, []compartments.Message, ...int) []compartments.Compartment
		tier    compartments.Tier
		want    []string // of each run what it holds, or lacks behind a "-"; "" for anything
	}{
		{"asked last", []compartments.Message{personSays("move the table to the archive"), work(1), asks}, []int{3}, together, compartments.TierFull,
			[]string{"question to the user: Shall I drop the old table now?"}},
		{"answered", []compartments.Message{personSays("move the table to the archive"), work(1), asks, personSays("yes, and then tell the people of the night shift"), work(2)}, []int{3, 2}, together, compartments.TierFull,
			[]string{"-Shall I drop", ""}},
		{"list renewed", []compartments.Message{personSays("move the table to the archive"), todos("in_progress", "pending"), work(1), todos("completed", "in_progress"), work(2)}, []int{3, 2}, together, compartments.TierFull,
			[]string{"to do then: step A of the move (begun); step B of the move (renewed at [4])", "to do: step B of the move (begun) (1 done)"}},
		{"list renewed, compact", []compartments.Message{personSays("move the table to the archive"), todos("in_progress", "pending"), work(1), todos("completed", "in_progress"), work(2)}, []int{3, 2}, together, compartments.TierCompact,
			[]string{"-to do", "to do: step B"}},
		{"list repeated", []compartments.Message{personSays("move the table to the archive"), todos("in_progress", "pending"), work(1), todos("in_progress", "pending"), work(2)}, []int{3, 2}, parts, compartments.TierFull,
			[]string{"to do: step A of the move (begun); step B", "to do, as at [2]: step A of the move (begun) and 1 more"}},
		{"list done", []compartments.Message{personSays("move the table to the archive"), todos("in_progress", "pending"), work(1), todos("completed", "completed"), work(2)}, []int{3, 2}, parts, compartments.TierCompact,
			[]string{"to do: step A", "all 2 to-dos done"}},
		{"list that was never open", []compartments.Message{personSays("move the table to the archive"), work(1), work(3), todos("completed", "completed"), work(2)}, []int{3, 2}, parts, compartments.TierCompact,
			[]string{"", "-to-dos"}},
		{"process ends unseen", []compartments.Message{personSays("serve the archive"), spawn, work(1), work(2), notice, work(3)}, []int{4, 2}, parts, compartments.TierFull,
			[]string{"still running: serve --watch (job81)", "no longer running: job81 (since [2])"}},
		{"process ends, a tool says so", []compartments.Message{personSays("serve the archive"), spawn, work(1), peek, work(2), ended, work(3)}, []int{3, 2, 2}, parts, compartments.TierCompact,
			[]string{"still running: serve --watch (job81)", "-running", "no longer running: job81 (since [2])"}},
		{"process ends in the same run", []compartments.Message{personSays("serve the archive"), spawn, work(1), notice, work(3)}, []int{5}, parts, compartments.TierFull,
			[]string{"-running: "}},
		{"process ends in view", []compartments.Message{personSays("serve the archive"), spawn, work(1), notice, work(3)}, []int{3, 2}, together, compartments.TierFull,
			[]string{"-running: ", "-running: "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i, got := range c.write(t, c.ms, c.lengths...) {
				text := got.Tiers[c.tier].Text
				if lacks, ok := strings.CutPrefix(c.want[i], "-"); strings.Contains(text, lacks) == ok {
					t.Errorf("run %d, want %q:\n%s", i, c.want[i], text)
				}
			}
		})
	}
}

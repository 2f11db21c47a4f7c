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

// TestOffersStayOpen: what the agent could do is open and no outcome, also with a closing
// sentence behind it; a question that the user has answered is neither.
func TestOffersStayOpen(t *testing.T) {
	work := shellCall("./stamp --all", "stamped", 0)
	said := "All letters are stamped with `wax.go` now.\n\n"
	for name, c := range map[string]struct{ text, open, gone string }{
		"closing sentence":  {said + "If you want, I can also:\n- dry the `lid.go` seals\n- count the letters\n\nLet me know how to proceed!", "dry the `lid.go` seals", ""},
		"once it is clear":  {said + "Once you clarify, I can run checks like:\n- dry the `lid.go` seals\n- count the letters", "dry the `lid.go` seals", ""},
		"waits for what is": {said + "Ready for the next batch whenever you are!", "", "next batch"},
	} {
		full := parts(t, []compartments.Message{personSays("stamp all letters of this week with the new wax"), work, agentText(c.text)}, 3)[0].Tiers[compartments.TierFull].Text
		outcome, open, _ := strings.Cut(full, "\nOpen:")
		if strings.Contains(outcome, "lid.go` seals") || !strings.Contains(open, c.open) || c.gone != "" && strings.Contains(outcome, c.gone) {
			t.Errorf("%s: want %q open:\n%s", name, c.open, full)
		}
	}
	ask := agentText("The wax of `wax.go` is soft. What is the symptom? It melts at noon, as the log of the stamp says.")
	for said, kept := range map[string]bool{"the stamp does not hold on the letters at all": false, "1. it slips off the letters all the time": true} {
		full := parts(t, []compartments.Message{personSays("look at the wax of this week, something is off"), work, ask, personSays(said), work}, 5)[0].Tiers[compartments.TierFull].Text
		if strings.Contains(full, "What is the symptom?") != kept {
			t.Errorf("answered by %q: the question stands is %v, want %v:\n%s", said, !kept, kept, full)
		}
	}
	// Machine text between the question and the answer changes nothing.
	r := rangeFrom([]compartments.Message{personSays("stamp all letters of this week with the new wax"), work, agentText("They are stamped. Shall I seal them too?"),
		personSays("[Request interrupted by user]"), personSays("first look at the lid, it is loose"), work, agentText("The lid is shut.")})
	v, err := testBuiltin().look(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	v.to = 3
	if c, _, _, _ := testBuiltin().write(v, r, nil); strings.Contains(c.Tiers[compartments.TierFull].Text, "question to the user") {
		t.Errorf("a question that the user passed over is open:\n%s", c.Tiers[compartments.TierFull].Text)
	}
}

// TestWhatIsAnswered: a short answer goes with the offer whose words it takes up; an
// ordinal or a factor is no number of an option, and a greeting asks nothing.
func TestWhatIsAnswered(t *testing.T) {
	offers := "The letters are sealed.\n\n1. If you want, I can do a second pass over the typos.\n2. If you want this kept, I can prepare a commit."
	for said, want := range map[string]string{
		"2nd pass please": "(answering: If you want, I can do a second pass over the typos.)",
		"2":               "(answering: If you want this kept, I can prepare a commit.)",
		"yes, 2)":         "(answering: If you want this kept, I can prepare a commit.)",
		"2番":              "(answering: If you want this kept, I can prepare a commit.)",
	} {
		full := parts(t, []compartments.Message{personSays("seal the letters of this week with wax"), agentText(offers), personSays(said), shellCall("./seal", "", 0)}, 4)[0].Tiers[compartments.TierFull].Text
		if !strings.Contains(full, want) {
			t.Errorf("%q: want %q:\n%s", said, want, full)
		}
	}
	list := parts(t, []compartments.Message{personSays("hi"), agentText("Hello! What can I do for you today?"), personSays("trace host.example"), shellCall("traceroute host.example", "1 host.example 2 ms", 0), agentText("The route to `host.example` has one hop.")}, 5)
	if list[0].Title != "trace host.example" {
		t.Errorf("a greeting is part of the title: %q", list[0].Title)
	}
}

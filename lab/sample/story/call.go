package story

import (
	"encoding/json"
	"fmt"
	"strings"
)

// call makes the part of one tool call and carries out what it does to the
// project. It returns the files that the call changed.
func (t *teller) call(b *block) (part, []string, error) {
	p := t.part("tool")
	p.Tool, p.CallID = b.name, "toolu_"+t.letters(idLetters, 22)
	state := &toolState{Status: "completed", Input: map[string]any{}, Time: spanTime{Start: t.now}}
	p.State = state
	output, files, err := t.perform(b, state)
	if err != nil {
		return p, nil, err
	}
	if b.output != nil {
		output = strings.Join(b.output, "\n")
	}
	took := int64(b.option("took"))
	if took == 0 {
		took = int64(20 + t.ids.next(400))
	}
	t.now += took
	state.Time.End = t.now
	switch {
	case b.open:
		state.Status, state.Time.End, state.Metadata = "running", 0, nil
	case b.failure != "":
		state.Status, state.Error, state.Title, state.Metadata = "error", b.failure, "", nil
		files = nil
	default:
		state.Output = &output
	}
	return p, files, nil
}

func (t *teller) perform(b *block, state *toolState) (output string, files []string, err error) {
	works := b.failure == "" && !b.open
	rest := strings.TrimSpace(b.text)
	abs := t.project.abs
	body := strings.Join(b.bodies, "\n")
	switch b.name {
	case "read":
		state.Title = rest
		state.Input["filePath"] = abs(rest)
		for _, name := range []string{"offset", "limit"} {
			if n := b.option(name); n > 0 {
				state.Input[name] = n
			}
		}
		if works {
			output, err = t.project.read(rest, b.option("offset"), b.option("limit"))
			state.Metadata = map[string]any{"truncated": b.option("limit") > 0}
		}
	case "write":
		state.Title = rest
		state.Input["filePath"], state.Input["content"] = abs(rest), body+"\n"
		if works {
			t.project.files[rest] = body + "\n"
			output, files = "Wrote file successfully.", []string{abs(rest)}
		}
	case "edit":
		if len(b.bodies) != 2 {
			return "", nil, fmt.Errorf("an edit needs an old and a new block, not %d blocks", len(b.bodies))
		}
		state.Title = rest
		state.Input["filePath"], state.Input["oldString"], state.Input["newString"] = abs(rest), b.bodies[0], b.bodies[1]
		if works {
			err = t.project.edit(rest, b.bodies[0], b.bodies[1])
			output, files = "Edit applied successfully.", []string{abs(rest)}
		}
	case "apply_patch":
		state.Input["patchText"] = body
		if works {
			if output, err = t.project.patch(body); err != nil {
				return "", nil, err
			}
			for _, line := range strings.Split(output, "\n")[1:] {
				files = append(files, abs(line[2:]))
			}
			state.Title = output
		}
	case "grep":
		pattern, include, _ := strings.Cut(rest, " in ")
		state.Title = pattern
		state.Input["pattern"] = pattern
		if include != "" {
			state.Input["include"] = include
		}
		if works {
			output, err = t.project.grep(pattern, include)
		}
	case "glob":
		state.Title = rest
		state.Input["pattern"] = rest
		if works {
			output = t.project.glob(rest)
		}
	case "bash":
		state.Title = b.options["desc"]
		if len(b.bodies) > 0 {
			rest = body
		}
		state.Input["command"], state.Input["description"] = rest, b.options["desc"]
		exit := b.option("exit")
		state.Metadata = map[string]any{"exit": exit, "description": b.options["desc"]}
		if b.options["exit"] == "none" {
			state.Metadata["exit"] = nil
		}
	case "todowrite":
		list, err := todos(b.output)
		if err != nil {
			return "", nil, err
		}
		encoded, err := json.MarshalIndent(list, "", "  ")
		if err != nil {
			return "", nil, err
		}
		b.output = strings.Split(string(encoded), "\n")
		state.Input["todos"] = list
		state.Title = fmt.Sprintf("%d todos", len(list))
	case "task":
		description, agent, _ := strings.Cut(rest, " by ")
		state.Title = description
		state.Input["description"], state.Input["subagent_type"], state.Input["prompt"] = description, agent, body
		if works {
			b.output = append([]string{"task_id: " + t.id("ses") + " (for resuming to continue this task if needed)", "", "<task_result>"}, append(b.output, "</task_result>")...)
		}
	case "question":
		header, asked, _ := strings.Cut(rest, " | ")
		answer := strings.Join(b.output, "\n")
		var options []map[string]string
		for _, line := range strings.Split(body, "\n") {
			label, description, _ := strings.Cut(line, ": ")
			options = append(options, map[string]string{"label": label, "description": description})
		}
		state.Title = "Asked 1 question"
		state.Input["questions"] = []any{map[string]any{"header": header, "question": asked, "options": options}}
		b.output = []string{fmt.Sprintf("User has answered your questions: %q=%q. You can now continue with the user's answers in mind.", asked, answer)}
	case "webfetch":
		state.Title = rest
		state.Input["url"], state.Input["format"] = rest, "markdown"
	default:
		return "", nil, fmt.Errorf("no such tool")
	}
	return output, files, err
}

// todos reads lines like `[x] words`; `~` is in progress, a blank is pending.
func todos(lines []string) ([]any, error) {
	list := []any{}
	for _, line := range lines {
		if len(line) < 3 {
			return nil, fmt.Errorf("%q is no to-do", line)
		}
		status := map[string]string{"[x]": "completed", "[~]": "in_progress", "[-]": "cancelled"}[line[:3]]
		if status == "" {
			status = "pending"
		}
		list = append(list, map[string]any{"content": strings.TrimSpace(line[3:]), "status": status, "priority": "medium"})
	}
	return list, nil
}

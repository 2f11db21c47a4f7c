package historian

import (
	"encoding/json"
	"strings"

	"ctxplugin/compartments"
)

// useKind is what a tool call does, whatever the host calls the tool.
type useKind uint8

const (
	useOther useKind = iota
	useShell
	useEdit
	useWrite
	usePatch
	useRead
	useLook // searching and listing
	useTodo
	useTask // work given to another agent
	useFetch
	useAsk // a question to the user
	useOwn // a tool of ours; never a source
)

// use is one tool call with its result.
type use struct {
	kind    useKind
	name    string // as the host has it
	open    bool   // no result yet
	output  string // untouched
	ending  ending
	failed  bool
	stopped bool // ended by the user or the host, not by a fault
	refused bool // not permitted
	errLine string
	tests   string // those that failed, as errLine names them
	yet     string // what a failed command did all the same
	fault   string // what a language server said of an edited file, though the edit was made

	cmd     command
	path    string
	from    int // first line read, 0 for the whole file
	to      int
	pattern string
	changes []change
	todos   []todo
	pairs   []answer
	task    string // what was delegated
	about   string // what the agent says that a command is for
	result  string // first unit of its result
	hashes  []commit
	process string // id of the running process that it looks at
}

type todo struct {
	text   string
	status string
}

// answer is a question that a tool put to the user, with the reply.
type answer struct{ question, reply string }

// toolKind decides by the name of the tool, then by its arguments.
func toolKind(p *compartments.Part, a *arguments) useKind {
	if p.OwnTool() {
		return useOwn
	}
	switch compartments.VerbOf(p.Tool) {
	case compartments.VerbRun:
		return useShell
	case compartments.VerbEdit:
		return useEdit
	case compartments.VerbPatch:
		return usePatch
	case compartments.VerbWrite:
		return useWrite
	case compartments.VerbRead:
		return useRead
	case compartments.VerbLook:
		return useLook
	case compartments.VerbPlan:
		return useTodo
	case compartments.VerbTask:
		return useTask
	case compartments.VerbFetch:
		return useFetch
	case compartments.VerbAsk:
		return useAsk
	}
	switch {
	case first(a.PatchText) != "":
		return usePatch
	case first(a.OldString, a.OldUnder, a.OldStr, a.OldText) != "":
		return useEdit
	case first(a.Command, a.Cmd) != "":
		return useShell
	case a.file() != "" && first(a.Content, a.FileText) != "":
		return useWrite
	case len(a.Todos) > 0:
		return useTodo
	case len(a.Questions) > 0:
		return useAsk
	case a.file() != "" && strings.Contains(strings.ToLower(p.Tool), "read"):
		return useRead
	}
	return useOther
}

// readUse decodes a tool part.
func readUse(p *compartments.Part) use {
	var a arguments
	if p.Input != "" {
		_ = json.Unmarshal([]byte(p.Input), &a) // what does not parse counts as absent
	}
	u := use{kind: toolKind(p, &a), name: p.Tool, open: p.Status.Open(), output: p.Output}
	switch u.kind {
	case useOwn:
		u.output = ""
		return u
	case useShell:
		text := first(a.Command, a.Cmd, a.Script)
		if a.Args != "" {
			text += " " + string(a.Args)
		}
		u.cmd, u.about = parseCommand(text), fold(first(a.Description))
		if u.cmd.dir == "" {
			u.cmd.dir = first(a.Workdir, a.Cwd)
		}
		for _, path := range u.cmd.writes {
			u.changes = append(u.changes, change{path: path, shell: true})
		}
		if before, after, ok := swapped(text); ok && len(u.changes) == 1 && len(before)+len(after) >= markedBytes {
			c := &u.changes[0]
			c.forth, c.back = mark(c.path, before, after), mark(c.path, after, before)
		}
		if name, script := inline(text); script != "" {
			if c, ok := scriptChange(script); ok {
				u.changes = append(u.changes, c)
				u.cmd.script = name + " script that writes " + lastTwo(c.path)
			}
		}
		for _, path := range u.cmd.removes {
			u.changes = append(u.changes, change{path: path, shell: true, deleted: true})
		}
	case useRead:
		u.path = a.file()
		u.from, u.to = lines(a.Offset, a.Limit)
	case useEdit:
		u.path = a.file()
		u.changes = editChanges(u.path, &a)
	case useWrite:
		u.path = a.file()
		body := first(a.Content, a.FileText)
		u.changes = []change{{path: u.path, added: countLines(body), brought: brought("", body)}}
	case usePatch:
		u.changes = patchChanges(first(a.PatchText, a.Patch, a.Input, a.Command))
		if len(u.changes) > 0 {
			u.path = u.changes[0].path
		}
	case useLook:
		u.pattern, u.path = first(a.Pattern, a.Query), a.file()
	case useFetch:
		u.pattern = first(a.URL, a.Query)
	case useTodo:
		u.todos = readTodos(a.Todos, a.Plan)
	case useTask:
		u.task = first(a.Description, a.Prompt)
	case useAsk:
		u.pairs = questions(a.Questions, string(a.Question))
	default:
		u.path = a.file()
		u.process = first(a.ID, a.BashID, a.TaskID, a.ShellID, a.SessionID)
	}
	if !u.open {
		u.settle(ending{p.Status == compartments.StatusError, p.ExitCode, p.HasExit})
	}
	return u
}

// ending is how a call ended.
type ending struct {
	errored bool
	exit    int
	hasExit bool
}

// settle reads the result: whether it failed, and what an answer or a delegated
// task says.
func (u *use) settle(end ending) {
	u.ending = end
	u.judge(end.errored, end.exit, end.hasExit)
	switch u.kind {
	case useAsk:
		u.answers()
	case useTask:
		u.result = taskResult(u.output)
		u.hashes = commitsIn(u.result + "\n" + head(u.output, 3000))
	case useShell:
		u.hashes = gitOutput(u)
	case useEdit, usePatch, useWrite:
		u.fault = diagnostic(u.output)
		if u.kind != useWrite {
			break
		}
		low := strings.ToLower(head(u.output, 200))
		if strings.Contains(low, "created") || strings.Contains(low, "new file") {
			u.changes[0].created = true
		}
	}
	if u.failed || u.stopped || u.refused {
		if u.kind != useShell {
			u.changes = nil
		}
	}
}

// answers finds the replies in the result of a question tool, which repeats each
// question in front of its reply.
func (u *use) answers() {
	if u.failed || u.stopped {
		return
	}
	out := plain(head(u.output, 8000))
	for i := range u.pairs {
		q := u.pairs[i].question
		at := strings.Index(out, q)
		if at < 0 || q == "" {
			if len(u.pairs) == 1 {
				u.pairs[i].reply = fold(head(out, 300))
			}
			continue
		}
		rest := strings.TrimLeft(out[at+len(q):], "\"':= \n→-")
		if end := strings.Index(rest, "\", \""); end >= 0 {
			rest = rest[:end]
		} else if end := strings.Index(rest, "\". "); end >= 0 {
			rest = rest[:end]
		}
		line, _, _ := strings.Cut(rest, "\n")
		u.pairs[i].reply = fold(strings.Trim(strings.TrimSpace(head(line, 400)), "\"'"))
	}
}

// taskResult is the text that a delegated task returned, without its wrapping.
func taskResult(out string) string {
	out = plain(head(out, 12000))
	if at := strings.Index(out, "<task_result>"); at >= 0 {
		out = out[at+len("<task_result>"):]
	}
	out, _, _ = strings.Cut(out, "</task_result>")
	return strings.TrimSpace(out)
}

package historian

import (
	"encoding/json"
	"slices"
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
	failed  bool
	stopped bool // ended by the user or the host, not by a fault
	refused bool // not permitted
	errLine string
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
	result  string // first unit of its result
	hashes  []commit
	process string // id of the running process that it looks at
}

// change is what one call did to one file.
type change struct {
	path           string
	added, removed int
	created        bool
	deleted        bool
	moved          string
	shell          bool
	brought        []string // symbols in the new text that the old one lacks
}

type todo struct {
	text   string
	status string
}

// answer is a question that a tool put to the user, with the reply.
type answer struct{ question, reply string }

// arguments are the fields that tools of known hosts take; names match without
// case.
type arguments struct {
	Command     loose           `json:"command"`
	Cmd         loose           `json:"cmd"`
	Args        loose           `json:"args"`
	Script      loose           `json:"script"`
	FilePath    loose           `json:"filePath"`
	FileUnder   loose           `json:"file_path"`
	Path        loose           `json:"path"`
	File        loose           `json:"file"`
	OldString   loose           `json:"oldString"`
	OldUnder    loose           `json:"old_string"`
	OldStr      loose           `json:"old_str"`
	OldText     loose           `json:"oldText"`
	NewString   loose           `json:"newString"`
	NewUnder    loose           `json:"new_string"`
	NewStr      loose           `json:"new_str"`
	NewText     loose           `json:"newText"`
	Content     loose           `json:"content"`
	FileText    loose           `json:"file_text"`
	PatchText   loose           `json:"patchText"`
	Patch       loose           `json:"patch"`
	Input       loose           `json:"input"`
	Pattern     loose           `json:"pattern"`
	Query       loose           `json:"query"`
	URL         loose           `json:"url"`
	Description loose           `json:"description"`
	Prompt      loose           `json:"prompt"`
	Offset      json.RawMessage `json:"offset"`
	Limit       json.RawMessage `json:"limit"`
	Edits       json.RawMessage `json:"edits"`
	Todos       json.RawMessage `json:"todos"`
	Plan        json.RawMessage `json:"plan"`
	Questions   json.RawMessage `json:"questions"`
	Question    loose           `json:"question"`
	ID          loose           `json:"id"`
	BashID      loose           `json:"bash_id"`
	TaskID      loose           `json:"task_id"`
	SessionID   loose           `json:"session_id"`
}

// loose is a string field that also takes a list of strings, and takes anything
// else for absent.
type loose string

// UnmarshalJSON never fails.
func (l *loose) UnmarshalJSON(raw []byte) error {
	if len(raw) == 0 {
		return nil
	}
	switch raw[0] {
	case '"':
		var s string
		if json.Unmarshal(raw, &s) == nil {
			*l = loose(s)
		}
	case '[':
		var list []string
		if json.Unmarshal(raw, &list) == nil {
			if len(list) == 3 && (list[1] == "-lc" || list[1] == "-c") {
				list = list[2:]
			}
			*l = loose(strings.Join(list, " "))
		}
	}
	return nil
}

func first(values ...loose) string {
	for _, v := range values {
		if v != "" {
			return string(v)
		}
	}
	return ""
}

func (a *arguments) file() string { return first(a.FilePath, a.FileUnder, a.Path, a.File) }

// toolKind decides by the name of the tool, then by its arguments.
func toolKind(p *compartments.Part, a *arguments) useKind {
	if p.OwnTool() {
		return useOwn
	}
	name := strings.ToLower(p.Tool)
	if at := strings.LastIndex(name, "__"); at >= 0 {
		name = name[at+2:]
	}
	name = strings.ReplaceAll(name, "-", "_")
	switch name {
	case "bash", "shell", "exec", "terminal", "powershell", "pty_spawn", "run", "execute", "exec_command", "shell_command":
		return useShell
	case "edit", "multiedit", "str_replace", "str_replace_editor", "replace", "search_replace", "edit_file", "multi_edit":
		return useEdit
	case "write", "write_file", "create_file", "create":
		return useWrite
	case "patch", "apply_patch":
		return usePatch
	case "read", "view", "read_file", "cat", "open_file", "view_file":
		return useRead
	case "grep", "glob", "list", "ls", "find", "search", "codesearch", "list_dir", "list_directory", "file_search", "lsp":
		return useLook
	case "todowrite", "todoread", "todo", "update_plan", "todo_write":
		return useTodo
	case "task", "agent", "spawn_agent", "delegate", "subagent":
		return useTask
	case "webfetch", "fetch", "websearch", "web_search", "web_fetch":
		return useFetch
	case "question", "askuserquestion", "ask_user", "ask", "ask_user_question", "ask_followup_question":
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
	case a.file() != "" && strings.Contains(name, "read"):
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
		u.cmd = parseCommand(text)
		for _, path := range u.cmd.writes {
			u.changes = append(u.changes, change{path: path, shell: true})
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
		u.process = first(a.ID, a.BashID, a.TaskID, a.SessionID)
	}
	u.settle(p)
	return u
}

// settle reads the result: whether it failed, and what an answer or a delegated
// task says.
func (u *use) settle(p *compartments.Part) {
	if u.open {
		return
	}
	u.judge(p.Status == compartments.StatusError, p.ExitCode, p.HasExit)
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

func lines(offset, limit json.RawMessage) (from, to int) {
	var n float64
	if json.Unmarshal(offset, &n) == nil && n > 0 && n < 1e7 {
		from = int(n)
	}
	n = 0
	if json.Unmarshal(limit, &n) == nil && n > 0 && n < 1e7 {
		to = max(from, 1) + int(n) - 1
		from = max(from, 1)
	}
	return from, to
}

func countLines(s string) int {
	if s == "" {
		return 0
	}
	n := strings.Count(s, "\n")
	if !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}

// lineChange counts the lines between the common head and tail of two texts.
func lineChange(before, after string) (added, removed int) {
	a, b := strings.Split(strings.TrimSuffix(before, "\n"), "\n"), strings.Split(strings.TrimSuffix(after, "\n"), "\n")
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	added, removed = len(b), len(a)
	if after == "" {
		added = 0
	}
	if before == "" {
		removed = 0
	}
	return added, removed
}

// brought lists symbols that an edit adds, at most a few: what the change is
// about, where nobody says it.
func brought(before, after string) []string {
	const most, bytes = 12, 4000
	var out []string
	scanNames(head(after, bytes), func(n string, k kind) {
		if (k == kindSymbol || k == kindEnv) && len(n) <= 40 && len(out) < most && !slices.Contains(out, n) && !strings.Contains(before, n) {
			out = append(out, n)
		}
	})
	return out
}

func editChanges(path string, a *arguments) []change {
	if path == "" {
		return nil
	}
	c := change{path: path}
	c.brought = brought(first(a.OldString, a.OldUnder, a.OldStr, a.OldText), first(a.NewString, a.NewUnder, a.NewStr, a.NewText))
	c.added, c.removed = lineChange(first(a.OldString, a.OldUnder, a.OldStr, a.OldText), first(a.NewString, a.NewUnder, a.NewStr, a.NewText))
	var edits []struct {
		OldString loose `json:"oldString"`
		OldUnder  loose `json:"old_string"`
		OldText   loose `json:"oldText"`
		NewString loose `json:"newString"`
		NewUnder  loose `json:"new_string"`
		NewText   loose `json:"newText"`
	}
	if json.Unmarshal(a.Edits, &edits) == nil {
		for _, e := range edits {
			added, removed := lineChange(first(e.OldString, e.OldUnder, e.OldText), first(e.NewString, e.NewUnder, e.NewText))
			c.added += added
			c.removed += removed
			c.brought = append(c.brought, brought(first(e.OldString, e.OldUnder, e.OldText), first(e.NewString, e.NewUnder, e.NewText))...)
		}
	}
	if text := first(a.FileText); text != "" && c.added == 0 {
		c.added = countLines(text)
	}
	return []change{c}
}

// patchChanges reads the file headers and counts of a patch, in the form with
// *** headers or as a unified diff.
func patchChanges(text string) []change {
	var out []change
	add := func(c change) { out = append(out, c) }
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		switch {
		case strings.HasPrefix(line, "*** Update File: "):
			add(change{path: strings.TrimSpace(line[17:])})
		case strings.HasPrefix(line, "*** Add File: "):
			add(change{path: strings.TrimSpace(line[14:]), created: true})
		case strings.HasPrefix(line, "*** Delete File: "):
			add(change{path: strings.TrimSpace(line[17:]), deleted: true})
		case strings.HasPrefix(line, "*** Move to: ") && len(out) > 0:
			out[len(out)-1].moved = strings.TrimSpace(line[13:])
		case strings.HasPrefix(line, "+++ "):
			path, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line[4:]), "b/"), "\t")
			if path != "/dev/null" && path != "" {
				add(change{path: path})
			}
		case strings.HasPrefix(line, "--- "):
		case len(out) > 0 && strings.HasPrefix(line, "+"):
			c := &out[len(out)-1]
			c.added++
			if len(c.brought) < 12 {
				c.brought = append(c.brought, brought("", line)...)
			}
		case len(out) > 0 && strings.HasPrefix(line, "-"):
			out[len(out)-1].removed++
		}
	}
	return out
}

func readTodos(raws ...json.RawMessage) []todo {
	for _, raw := range raws {
		var list []struct {
			Content string `json:"content"`
			Step    string `json:"step"`
			Text    string `json:"text"`
			Status  string `json:"status"`
		}
		if len(raw) == 0 || json.Unmarshal(raw, &list) != nil {
			continue
		}
		var out []todo
		for _, t := range list {
			text := t.Content
			if text == "" {
				text = t.Step + t.Text
			}
			if text != "" {
				out = append(out, todo{text, t.Status})
			}
		}
		return out
	}
	return nil
}

func questions(raw json.RawMessage, single string) []answer {
	var list []struct {
		Header   string `json:"header"`
		Question string `json:"question"`
	}
	var out []answer
	if json.Unmarshal(raw, &list) == nil {
		for _, q := range list {
			if q.Question == "" {
				q.Question = q.Header
			}
			out = append(out, answer{question: q.Question})
		}
	}
	if len(out) == 0 && single != "" {
		out = []answer{{question: single}}
	}
	return out
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

package compartments

import (
	"encoding/json"
	"strings"
)

// Verb is what a tool call does, whatever the host calls the tool.
type Verb uint8

// The verbs. VerbOther is a call that no other can take the place of.
const (
	VerbOther Verb = iota
	VerbRead
	VerbWrite
	VerbEdit
	VerbRun   // a command
	VerbLook  // searching and listing
	VerbFetch // from a network
	VerbPlan  // a to-do list
	VerbSkill // instructions that the agent loaded
	VerbOwn   // a tool of ours
	VerbPatch // an edit that may be of several files
	VerbTask  // work given to another agent
	VerbAsk   // a question to the user
)

var verbNames = [...]string{"other", "read", "write", "edit", "run", "look", "fetch", "plan", "skill", "own", "patch", "task", "ask"}

func (v Verb) String() string {
	if int(v) < len(verbNames) {
		return verbNames[v]
	}
	return "other"
}

// Subject says what a call is about, as far as a later call can take its place.
// It is a pure function of the stored part.
type Subject struct {
	Verb   Verb
	Target string // a path, a command, or the arguments of a search; empty if unknown
	From   int    // first line of a file read; 0 for the whole file
	To     int    // last line; 0 for the end
}

// Covers reports whether what s read contains what t read of the same file.
func (s Subject) Covers(t Subject) bool {
	if s.From <= 1 && s.To == 0 {
		return true
	}
	return t.To > 0 && s.From <= max(t.From, 1) && (s.To == 0 || s.To >= t.To)
}

// subjectArguments are the arguments that tell what a call is about. Their names
// match without case.
type subjectArguments struct {
	FilePath  json.RawMessage `json:"filePath"`
	FileUnder json.RawMessage `json:"file_path"`
	Path      json.RawMessage `json:"path"`
	File      json.RawMessage `json:"file"`
	Command   json.RawMessage `json:"command"`
	Cmd       json.RawMessage `json:"cmd"`
	Script    json.RawMessage `json:"script"`
	URL       json.RawMessage `json:"url"`
	Query     json.RawMessage `json:"query"`
	PatchText json.RawMessage `json:"patchText"`
	Patch     json.RawMessage `json:"patch"`
	Input     json.RawMessage `json:"input"`
	Offset    json.RawMessage `json:"offset"`
	Limit     json.RawMessage `json:"limit"`
}

// SubjectOf reads what a tool part is about. A part that is no call, or whose
// arguments do not tell, has VerbOther or no target.
func SubjectOf(p *Part) Subject {
	if p.Kind != PartTool {
		return Subject{}
	}
	if p.OwnTool() {
		return Subject{Verb: VerbOwn}
	}
	s := Subject{Verb: VerbOf(p.Tool)}
	if s.Verb == VerbPatch { // what replaces it is the same
		s.Verb = VerbEdit
	}
	var a subjectArguments
	if json.Unmarshal([]byte(p.Input), &a) != nil {
		return s
	}
	switch s.Verb {
	case VerbRead:
		s.Target = words(a.FilePath, a.FileUnder, a.Path, a.File)
		from, limit := lineOf(a.Offset), lineOf(a.Limit)
		if s.From = from; limit > 0 {
			s.From = max(from, 1)
			s.To = s.From + limit - 1
		}
	case VerbWrite:
		s.Target = words(a.FilePath, a.FileUnder, a.Path, a.File)
	case VerbEdit:
		if s.Target = words(a.FilePath, a.FileUnder, a.Path, a.File); s.Target == "" {
			s.Target = patched(words(a.PatchText, a.Patch, a.Input, a.Command))
		}
	case VerbRun:
		s.Target = strings.Join(strings.Fields(words(a.Command, a.Cmd, a.Script)), " ")
	case VerbLook:
		s.Target = p.Tool + " " + canonical(p.Input)
	case VerbFetch:
		s.Target = words(a.URL, a.Query)
	case VerbPlan:
		s.Target = "plan"
	}
	return s
}

// VerbOf tells by its name what a tool does.
func VerbOf(tool string) Verb {
	name := strings.ToLower(tool)
	if at := strings.LastIndex(name, "__"); at >= 0 {
		name = name[at+2:]
	}
	switch strings.ReplaceAll(name, "-", "_") {
	case "bash", "shell", "exec", "terminal", "powershell", "pty_spawn", "run", "execute", "exec_command", "shell_command":
		return VerbRun
	case "edit", "multiedit", "str_replace", "str_replace_editor", "replace", "search_replace", "edit_file", "multi_edit":
		return VerbEdit
	case "patch", "apply_patch":
		return VerbPatch
	case "write", "write_file", "create_file", "create":
		return VerbWrite
	case "read", "view", "read_file", "cat", "open_file", "view_file":
		return VerbRead
	case "grep", "glob", "list", "ls", "find", "search", "codesearch", "list_dir", "list_directory", "file_search", "lsp":
		return VerbLook
	case "todowrite", "todoread", "todo", "update_plan", "todo_write":
		return VerbPlan
	case "task", "agent", "spawn_agent", "delegate", "subagent":
		return VerbTask
	case "webfetch", "fetch", "websearch", "web_search", "web_fetch":
		return VerbFetch
	case "question", "askuserquestion", "ask_user", "ask", "ask_user_question", "ask_followup_question":
		return VerbAsk
	case "skill":
		return VerbSkill
	}
	return VerbOther
}

// words is the first of the values that is a string, or a list of strings.
func words(values ...json.RawMessage) string {
	for _, raw := range values {
		if len(raw) == 0 {
			continue
		}
		var s string
		if raw[0] == '"' && json.Unmarshal(raw, &s) == nil && s != "" {
			return s
		}
		var list []string
		if raw[0] == '[' && json.Unmarshal(raw, &list) == nil && len(list) > 0 {
			return strings.Join(list, " ")
		}
	}
	return ""
}

// linesMost is the largest line number that is believed.
const linesMost = 10_000_000

// lineOf is a line number, or 0.
func lineOf(raw json.RawMessage) int {
	var n float64
	if json.Unmarshal(raw, &n) != nil || n < 0 || n > linesMost {
		return 0
	}
	return int(n)
}

// patched is the one file that a patch changes; empty if there are several.
func patched(patch string) string {
	path := ""
	for line := range strings.Lines(patch) {
		for _, mark := range [...]string{"*** Update File: ", "*** Add File: ", "*** Delete File: ", "+++ b/"} {
			rest, ok := strings.CutPrefix(line, mark)
			if rest = strings.TrimSpace(rest); !ok || rest == "" {
				continue
			}
			if path != "" && path != rest {
				return ""
			}
			path = rest
		}
	}
	return path
}

// canonical is a JSON text with its keys in order.
func canonical(input string) string {
	var v any
	if json.Unmarshal([]byte(input), &v) != nil {
		return input
	}
	b, err := json.Marshal(v)
	if err != nil {
		return input
	}
	return string(b)
}

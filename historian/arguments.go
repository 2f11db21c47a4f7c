package historian

import (
	"encoding/json"
	"strings"
)

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
	ShellID     loose           `json:"shell_id"`
	SessionID   loose           `json:"session_id"`
	Workdir     loose           `json:"workdir"`
	Cwd         loose           `json:"cwd"`
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

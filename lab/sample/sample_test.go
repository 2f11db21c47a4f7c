package sample

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"ctxplugin/lab/sample/story"
	"ctxplugin/tokens"
)

type export struct {
	Messages []struct {
		Info struct {
			Role   string
			Error  json.RawMessage
			Finish string
			Time   struct{ Created, Completed int64 }
			Tokens *struct {
				Input, Output int
				Cache         struct{ Read, Write int }
			}
		}
		Parts []struct {
			Type, Text, Tool string
			Synthetic        bool
			State            *struct {
				Status   string
				Input    json.RawMessage
				Output   string
				Error    string
				Metadata struct{ Exit *int }
			}
		}
	}
}

func read(t *testing.T) export {
	t.Helper()
	var e export
	if err := json.Unmarshal(Session(), &e); err != nil {
		t.Fatal(err)
	}
	return e
}

func TestSampleIsGenerated(t *testing.T) {
	script, err := os.ReadFile("session.story")
	if err != nil {
		t.Fatal(err)
	}
	project, err := os.ReadFile("project.txtar")
	if err != nil {
		t.Fatal(err)
	}
	want, err := story.Tell("session.story", string(script), string(project))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(Session(), want) {
		t.Error("sample.json is not what the script says: run go generate")
	}
}

func TestSampleIsLong(t *testing.T) {
	e := read(t)
	if n := len(e.Messages); n < 180 || n > 260 {
		t.Errorf("%d messages, want 180 to 260", n)
	}
	if n := len(Session()); n > 1_500_000 {
		t.Errorf("%d bytes, want at most 1.5 MB", n)
	}
	count, total, longest := tokens.New(), 0, 0
	for _, m := range e.Messages {
		for _, p := range m.Parts {
			total += count.Count(p.Text)
			if p.State != nil {
				total += count.Count(string(p.State.Input)) + count.Count(p.State.Output) + count.Count(p.State.Error)
				longest = max(longest, len(p.State.Output))
			}
		}
	}
	if total < 150_000 || total > 250_000 {
		t.Errorf("%d tokens, want 150,000 to 250,000", total)
	}
	if longest < 40_000 {
		t.Errorf("the longest output has %d bytes, want 40 KB", longest)
	}
}

// The sample must go on showing what it was written for.
func TestSampleShows(t *testing.T) {
	e := read(t)
	seen := map[string]int{}
	reads := map[string]int{}
	last := int64(0)
	for i, m := range e.Messages {
		if gap := m.Info.Time.Created - last; last > 0 && gap > 8*3600_000 {
			seen["night"]++
		} else if last > 0 && gap > 30*60_000 {
			seen["pause"]++
		}
		if last = m.Info.Time.Created; last < m.Info.Time.Completed {
			last = m.Info.Time.Completed
		}
		if len(m.Info.Error) > 0 {
			seen["aborted"]++
		}
		if m.Info.Role == "assistant" && m.Info.Finish != "" && m.Info.Tokens.Cache.Read+m.Info.Tokens.Cache.Write == 0 {
			t.Errorf("message %d reports no tokens", i)
		}
		calls := 0
		for _, p := range m.Parts {
			seen[p.Type]++
			if p.Synthetic {
				seen["synthetic"]++
			}
			if m.Info.Role == "user" && !p.Synthetic {
				for word, what := range map[string]string{"never": "prohibition", "must": "duty", "翻译": "Chinese", "<system-reminder>": "reminder",
					"WARN ": "pasted log"} {
					if strings.Contains(p.Text, word) {
						seen[what]++
					}
				}
				if len(strings.TrimSpace(p.Text)) == 1 {
					seen["number"]++
				}
			}
			if p.State == nil {
				continue
			}
			calls++
			seen[p.Tool]++
			seen[p.State.Status]++
			if p.State.Metadata.Exit != nil && *p.State.Metadata.Exit != 0 {
				seen["exit"]++
			}
			if p.Tool == "read" {
				reads[string(p.State.Input)]++
			}
		}
		if calls > 1 {
			seen["parallel"]++
		}
	}
	for _, n := range reads {
		seen["repeated"] = max(seen["repeated"], n)
	}
	for what, least := range map[string]int{
		"text": 80, "reasoning": 10, "tool": 200, "file": 3, "step-start": 150, "step-finish": 150, "patch": 30, "synthetic": 4,
		"read": 40, "edit": 50, "write": 8, "apply_patch": 3, "bash": 80, "grep": 3, "glob": 2, "todowrite": 5, "task": 1, "question": 1, "webfetch": 1,
		"completed": 200, "error": 1, "running": 2, "exit": 25, "parallel": 30, "repeated": 8,
		"aborted": 1, "night": 1, "pause": 4, "prohibition": 4, "duty": 4, "number": 1, "Chinese": 1, "reminder": 1, "pasted log": 1,
	} {
		if seen[what] < least {
			t.Errorf("%s occurs %d times, want at least %d", what, seen[what], least)
		}
	}
	if m := e.Messages[len(e.Messages)-1]; m.Info.Role != "assistant" || m.Info.Finish != "" {
		t.Error("the session does not end in the middle of a step")
	}
}

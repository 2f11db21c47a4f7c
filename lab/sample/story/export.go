package story

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// The shapes of an export, field for field as the host writes them.

type exportFile struct {
	Info     sessionInfo     `json:"info"`
	Messages []exportMessage `json:"messages"`
}

type sessionInfo struct {
	ID        string    `json:"id"`
	Title     string    `json:"title"`
	Slug      string    `json:"slug"`
	ProjectID string    `json:"projectID"`
	Directory string    `json:"directory"`
	Version   string    `json:"version"`
	Time      timeRange `json:"time"`
}

type timeRange struct {
	Created   int64 `json:"created"`
	Updated   int64 `json:"updated,omitempty"`
	Completed int64 `json:"completed,omitempty"`
}

type exportMessage struct {
	Info  messageInfo `json:"info"`
	Parts []part      `json:"parts"`
}

type messageInfo struct {
	ID         string         `json:"id"`
	SessionID  string         `json:"sessionID"`
	Role       string         `json:"role"`
	Time       timeRange      `json:"time"`
	Error      map[string]any `json:"error,omitempty"`
	ParentID   string         `json:"parentID,omitempty"`
	ModelID    string         `json:"modelID,omitempty"`
	ProviderID string         `json:"providerID,omitempty"`
	Mode       string         `json:"mode,omitempty"`
	Agent      string         `json:"agent"`
	Model      *modelRef      `json:"model,omitempty"`
	Path       *pathInfo      `json:"path,omitempty"`
	Cost       *int           `json:"cost,omitempty"`
	Tokens     *tokenCounts   `json:"tokens,omitempty"`
	Finish     string         `json:"finish,omitempty"`
}

type modelRef struct {
	ProviderID string `json:"providerID"`
	ModelID    string `json:"modelID"`
}

type pathInfo struct {
	Cwd  string `json:"cwd"`
	Root string `json:"root"`
}

type tokenCounts struct {
	Total     int        `json:"total"`
	Input     int        `json:"input"`
	Output    int        `json:"output"`
	Reasoning int        `json:"reasoning"`
	Cache     cacheCount `json:"cache"`
}

type cacheCount struct {
	Read  int `json:"read"`
	Write int `json:"write"`
}

type part struct {
	ID        string       `json:"id"`
	SessionID string       `json:"sessionID"`
	MessageID string       `json:"messageID"`
	Type      string       `json:"type"`
	Text      string       `json:"text,omitempty"`
	Synthetic bool         `json:"synthetic,omitempty"`
	Time      *spanTime    `json:"time,omitempty"`
	Mime      string       `json:"mime,omitempty"`
	Filename  string       `json:"filename,omitempty"`
	URL       string       `json:"url,omitempty"`
	Tool      string       `json:"tool,omitempty"`
	CallID    string       `json:"callID,omitempty"`
	State     *toolState   `json:"state,omitempty"`
	Reason    string       `json:"reason,omitempty"`
	Snapshot  string       `json:"snapshot,omitempty"`
	Cost      *int         `json:"cost,omitempty"`
	Tokens    *tokenCounts `json:"tokens,omitempty"`
	Hash      string       `json:"hash,omitempty"`
	Files     []string     `json:"files,omitempty"`
}

type spanTime struct {
	Start int64 `json:"start"`
	End   int64 `json:"end,omitempty"`
}

type toolState struct {
	Status   string         `json:"status"`
	Input    map[string]any `json:"input"`
	Output   *string        `json:"output,omitempty"`
	Error    string         `json:"error,omitempty"`
	Title    string         `json:"title,omitempty"`
	Metadata map[string]any `json:"metadata,omitempty"`
	Time     spanTime       `json:"time"`
}

// encode writes the file with one message a line, so that a change of the
// script is a small change of the file.
func (f *exportFile) encode() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(`{"info":`)
	if err := writeJSON(&b, f.Info); err != nil {
		return nil, err
	}
	b.WriteString(`,"messages":[`)
	for i := range f.Messages {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
		if err := writeJSON(&b, f.Messages[i]); err != nil {
			return nil, fmt.Errorf("message %d: %w", i, err)
		}
	}
	b.WriteString("\n]}\n")
	return b.Bytes(), nil
}

func writeJSON(b *bytes.Buffer, v any) error {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1) // the encoder's newline
	return nil
}

package historian_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"ctxplugin/compartments"
	"ctxplugin/historian"
)

// sessions reads each export once. A recorded session that is absent is nil.
type sessions map[string][]compartments.Message

func (s sessions) of(t testing.TB, path string) []compartments.Message {
	t.Helper()
	if ms, ok := s[path]; ok {
		return ms
	}
	ms, err := readExport(path)
	if errors.Is(err, fs.ErrNotExist) && strings.HasPrefix(path, corpusFolder) {
		err = nil
	}
	if err != nil {
		t.Fatal(err)
	}
	s[path] = ms
	return ms
}

// readExport turns {info, messages: [{info, parts}]} into messages as they come
// over the wire.
func readExport(path string) ([]compartments.Message, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var file struct {
		Messages []struct {
			Info struct {
				ID      string          `json:"id"`
				Role    string          `json:"role"`
				Time    json.RawMessage `json:"time"`
				Agent   string          `json:"agent"`
				Model   *model          `json:"model"`
				Summary json.RawMessage `json:"summary"`
				Tokens  json.RawMessage `json:"tokens"`
				Finish  string          `json:"finish"`
				Error   json.RawMessage `json:"error"`
				model
			}
			Parts []json.RawMessage
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	out := make([]compartments.Message, len(file.Messages))
	for i, m := range file.Messages {
		in := &m.Info
		if in.Model == nil {
			in.Model = &in.model
		}
		var created struct{ Created json.Number }
		_ = json.Unmarshal(in.Time, &created) // a message without a time has none
		wire := map[string]any{"id": in.ID, "role": in.Role, "time": created.Created, "parts": m.Parts}
		if in.Model.ProviderID != "" {
			wire["model"] = in.Model.ProviderID + "/" + in.Model.ModelID
		}
		for name, value := range map[string]string{"agent": in.Agent, "finish": in.Finish} {
			if value != "" {
				wire[name] = value
			}
		}
		for name, value := range map[string]json.RawMessage{"tokens": in.Tokens, "error": in.Error} {
			if value != nil {
				wire[name] = value
			}
		}
		if string(in.Summary) == "true" {
			wire["summary"] = true
		}
		if created.Created == "" {
			wire["time"] = 0
		}
		raw, err := json.Marshal(wire)
		if err != nil {
			return nil, err
		}
		if out[i], err = compartments.DecodeMessage(raw); err != nil {
			return nil, fmt.Errorf("%s: message %d: %w", path, i, err)
		}
		out[i].Ordinal = compartments.Ordinal(i + 1)
	}
	return out, nil
}

type model struct {
	ProviderID string `json:"providerID"`
	ModelID    string `json:"modelID"`
}

// rangeOf is what the historian is given for messages.
func rangeOf(ms []compartments.Message) historian.Range {
	r := historian.Range{Messages: ms, Hashes: make([]compartments.Hash, len(ms)), Tokens: make([]int, len(ms))}
	for i := range ms {
		r.Hashes[i] = ms[i].ContentHash()
		r.Tokens[i] = 4
		for _, p := range ms[i].Parts {
			if !p.Ignored && p.Kind != compartments.PartMarker {
				r.Tokens[i] += counter.Count(p.Text) + counter.Count(p.Input) + counter.Count(p.Output)
			}
		}
	}
	return r
}

// rawText is everything that a range says: text, arguments and results of tools,
// and of a message that was broken off the word for it.
func rawText(ms []compartments.Message) string {
	var b strings.Builder
	for _, m := range ms {
		if m.Failed {
			b.WriteString("aborted, stopped\n")
		}
		for _, p := range m.Parts {
			switch p.Kind {
			case compartments.PartText:
				b.WriteString(p.Text)
			case compartments.PartTool:
				for _, s := range stringsOf(p.Input) {
					b.WriteString(s)
					b.WriteByte('\n')
				}
				b.WriteString(p.Output)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// stringsOf lists the strings in a JSON text, without the names of fields.
func stringsOf(raw string) []string {
	var value any
	if json.Unmarshal([]byte(raw), &value) != nil {
		return []string{raw}
	}
	var out []string
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			out = append(out, v)
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for _, name := range sortedKeys(v) {
				walk(v[name])
			}
		}
	}
	walk(value)
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

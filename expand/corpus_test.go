package expand

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"ctxplugin/tokens"
)

// TestExpand_RealSessions opens whole sessions page by page and compares what the
// pages join to with the originals.
func TestExpand_RealSessions(t *testing.T) {
	files, _ := filepath.Glob("../../shared/corpus/*.json")
	if len(files) == 0 {
		t.Skip("no real sessions here")
	}
	count := tokens.New().Count
	for i, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			w := newWorld(t)
			for _, raw := range readSession(t, file) {
				w.addRaw(raw)
			}
			w.add("user", text("on"))
			last := w.view.List[len(w.view.List)-2]
			w.fold(last)
			room := []int{20_000, 100_000}[i%2]
			got := follow(t, w, fmt.Sprintf(`{"first": 1, "last": %d}`, last), room, count)
			compare(t, got, wanted(t, w, w.view.List[:last]))
		})
	}
}

// readSession reads messages as a host sends them: what describes the message
// stands beside its parts.
func readSession(t testing.TB, file string) (out [][]byte) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var session struct {
		Messages []struct {
			Info  map[string]json.RawMessage
			Parts json.RawMessage
		}
	}
	if err := json.Unmarshal(data, &session); err != nil {
		t.Fatal(err)
	}
	for _, m := range session.Messages {
		m.Info["parts"] = m.Parts
		raw, err := json.Marshal(m.Info)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, raw)
	}
	return out
}

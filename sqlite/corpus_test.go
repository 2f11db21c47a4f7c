package sqlite_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"ctxplugin/compartments"
	"ctxplugin/sqlite"
)

// TestCorpus_ReadsBackAndShrinks stores recorded sessions: every message comes
// back byte for byte, and a session takes less room than its JSON.
func TestCorpus_ReadsBackAndShrinks(t *testing.T) {
	files, err := filepath.Glob("../../shared/corpus/*.json")
	if err != nil || len(files) == 0 {
		t.Skip("no corpus here")
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			whole, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var recorded struct{ Messages []json.RawMessage }
			if err := json.Unmarshal(whole, &recorded); err != nil {
				t.Fatal(err)
			}
			s := open(t, filepath.Join(t.TempDir(), "ctx.db"), sqlite.Options{})
			b := &compartments.Batch{Session: "ses", List: ordinals(len(recorded.Messages))}
			total := 0
			for i, raw := range recorded.Messages {
				total += len(raw)
				b.Entries = append(b.Entries, compartments.EntryWrite{Entry: compartments.Entry{Ordinal: compartments.Ordinal(i + 1)}, Raw: raw})
			}
			commit(t, s, b)
			list, err := s.Raw(context.Background(), "ses", b.List)
			if err != nil {
				t.Fatal(err)
			}
			for i := range list {
				if string(list[i]) != string(recorded.Messages[i]) {
					t.Fatalf("message %d differs", i+1)
				}
			}
			size := sizeOf(t, s) - int64(len(emptyStore))
			t.Logf("%d messages, %d KB of JSON, %d KB stored", len(list), total>>10, size>>10)
			if size > int64(total)*3/4 {
				t.Errorf("%d bytes of JSON take %d bytes", total, size)
			}
		})
	}
}

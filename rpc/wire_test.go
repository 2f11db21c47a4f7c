package rpc

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite what the server says in golden files")

// TestWire holds conversations: prose, then client and server blocks by turns.
// The lines of a client block are sent in one go; then the server says its lines.
// A line "@bytes N" of the client is a string of N letters without quotes.
func TestWire(t *testing.T) {
	files, err := filepath.Glob("testdata/wire/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no conversations: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			p := connect(t, newFake(), Limits{Line: 4096})
			for i := range archive.Files {
				f := &archive.Files[i]
				switch f.Name {
				case "client":
					for line := range strings.Lines(string(f.Data)) {
						line = strings.TrimSuffix(line, "\n")
						if n := 0; strings.HasPrefix(line, "@bytes ") {
							if _, err := fmt.Sscanf(line, "@bytes %d", &n); err != nil {
								t.Fatal(err)
							}
							line = strings.Repeat("a", n)
						}
						p.send(line)
					}
				case "server":
					var got strings.Builder
					for range strings.Count(string(f.Data), "\n") {
						got.WriteString(p.receive() + "\n")
					}
					if *update {
						f.Data = []byte(got.String())
					} else if d := cmp.Diff(string(f.Data), got.String()); d != "" {
						t.Errorf("block %d of %s (-want +got):\n%s", i, file, d)
					}
				default:
					t.Fatalf("block %q is neither client nor server", f.Name)
				}
			}
			p.in.Close()
			if rest, err := p.out.ReadString('\n'); err == nil {
				t.Errorf("the server says more: %s", rest)
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

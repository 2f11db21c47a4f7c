package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxplugin/session"
	"ctxplugin/sqlite"
)

// stored unpacks a stored database, brought up to date.
func stored(t *testing.T, name string) (path string) {
	t.Helper()
	packed, err := os.Open(filepath.Join("testdata", "stored", name))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	r, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "stored.db")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.Open(context.Background(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// ctxplugin runs a command and returns what it prints.
func ctxplugin(t *testing.T, want int, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	env := []string{"HOME=" + t.TempDir()}
	if got := run(context.Background(), args, env, strings.NewReader(""), &stdout, &stderr); got != want {
		t.Fatalf("%s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got, want, &stdout, &stderr)
	}
	return stdout.String()
}

// Databases of earlier schemas, and of this one as it first was, open with all
// that is in them: what was recorded by this renderer is made again, the rest is
// counted; both can be explained.
func TestVerify_StoredDatabases(t *testing.T) {
	for name, recorded := range map[string]bool{"schema-1.db.gz": false, "schema-2.db.gz": true} {
		t.Run(name, func(t *testing.T) {
			db := stored(t, name)
			var all []session.Verified
			if err := json.Unmarshal([]byte(ctxplugin(t, exitOK, "verify", "--db", db, "--json")), &all); err != nil {
				t.Fatal(err)
			}
			v := all[0]
			if len(all) != 1 || v.Folds != 2 || v.Plans != 2 || v.Again+v.Older != 2 || len(v.Different) > 0 {
				t.Errorf("%+v", all)
			}
			if !recorded && v.Again > 0 {
				t.Errorf("%d folds were made again that nothing is recorded of", v.Again)
			}
			said := ctxplugin(t, exitOK, "explain", "ses_stored", "--db", db)
			if !strings.Contains(said, "cold") || !strings.Contains(said, "ctx_expand(") {
				t.Errorf("explain says\n%s", said)
			}
			ctxplugin(t, exitOK, "explain", "ses_stored", "--db", db, "--dry-run", "--json")
			var undone session.UndoReply
			if err := json.Unmarshal([]byte(ctxplugin(t, exitOK, "undo", "ses_stored", "--db", db, "--json")), &undone); err != nil {
				t.Fatal(err)
			}
			if !undone.Undone || undone.Fold != 2 {
				t.Errorf("%+v", undone)
			}
			if said := ctxplugin(t, exitOK, "verify", "--db", db); !strings.Contains(said, "1 that take one back") {
				t.Error(said)
			}
			if said := ctxplugin(t, exitOK, "explain", "ses_stored", "--db", db, "--fold", "2"); !strings.Contains(said, "it was taken back") {
				t.Error(said)
			}
		})
	}
}

// What a person reads, over a stored database, so that no historian is in it.
func TestExplain_Text(t *testing.T) {
	db := stored(t, "schema-2.db.gz")
	for name, args := range map[string][]string{"whole": nil, "compartment": {"--compartment", "1"}, "promoted": {"--compartment", "25"}, "fold": {"--fold", "1"}} {
		t.Run(name, func(t *testing.T) {
			got := ctxplugin(t, exitOK, append([]string{"explain", "ses_stored", "--db", db}, args...)...)
			path := filepath.Join("testdata", "explain", name+".golden")
			if *update {
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s is out of date (run with -update if that is meant):\n%s", path, got)
			}
		})
	}
	for _, args := range [][]string{{"--compartment", "9999"}, {"--fold", "99"}, {"--fold", "-1"}} {
		ctxplugin(t, exitUsage, append([]string{"explain", "ses_stored", "--db", db}, args...)...)
	}
}

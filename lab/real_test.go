package lab

import (
	"os"
	"path/filepath"
	"testing"

	"ctxplugin/lab/sample"
)

// The probes of a session are identifiers that stood before and that nothing has
// named for some turns.
func TestScripts_ProbesOfTheSample(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string][]byte{"a.json": sample.Session(), "b.json": []byte("{"), "c.txt": nil} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	scripts, skipped, err := scriptsIn(dir)
	if err != nil || len(scripts) != 1 || len(skipped) != 1 {
		t.Fatalf("%d scripts, left out %v, %v", len(scripts), skipped, err)
	}
	s := scripts[0]
	if len(s.Probes) < 5 || len(s.Wire) != len(s.Messages) {
		t.Fatalf("%d probes, %d messages, %d decoded", len(s.Probes), len(s.Wire), len(s.Messages))
	}
	for _, p := range s.Probes {
		said, answered := spoken(&s.Messages[p.Source])
		if !p.Grade(said + answered).Success {
			t.Errorf("probe %d: message %d does not hold what it asks for", p.ID, p.Source+1)
		}
		if !s.Messages[p.At].RealUser() || p.Source >= p.At {
			t.Errorf("probe %d: said in %d, needed in %d", p.ID, p.Source+1, p.At+1)
		}
		asked, _ := spoken(&s.Messages[p.At])
		if p.Grade(asked).Success {
			t.Errorf("probe %d: the question itself answers it", p.ID)
		}
	}
	if _, _, err := scriptsIn(t.TempDir()); err == nil {
		t.Error("a folder without sessions is no error")
	}
}

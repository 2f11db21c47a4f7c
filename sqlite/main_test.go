package sqlite_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"ctxplugin/sqlite"
)

var (
	benchFolder string // where benchmarks share what is slow to make
	emptyStore  []byte // a new database, copied by tests that need many
)

func TestMain(m *testing.M) {
	if run := os.Getenv(childVariable); run != "" {
		os.Exit(child(run))
	}
	folder, err := os.MkdirTemp("", "ctxplugin-sqlite-")
	if err != nil {
		panic(err)
	}
	benchFolder = folder
	path := filepath.Join(folder, "empty.db")
	s, err := sqlite.Open(context.Background(), path, sqlite.Options{})
	if err != nil {
		panic(err)
	}
	if err := s.Close(); err != nil {
		panic(err)
	}
	if emptyStore, err = os.ReadFile(path); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(folder)
	os.Exit(code)
}

// emptyAt puts a new database at path, faster than Open makes one.
func emptyAt(path string) error { return os.WriteFile(path, emptyStore, 0o600) }

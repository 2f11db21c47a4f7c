package lab

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// build makes the binary once, in a folder that TestMain removes.
var (
	buildDir string
	build    = sync.OnceValues(func() (string, error) {
		if named := os.Getenv("CTXPLUGIN_LAB_PROGRAM"); named != "" {
			return named, nil // .ci/arm64 has the sample played by another build
		}
		path := filepath.Join(buildDir, "ctxplugin")
		out, err := exec.Command("go", "build", "-o", path, "ctxplugin/cmd/ctxplugin").CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("%w: %s", err, out)
		}
		return path, nil
	})
)

func TestMain(m *testing.M) {
	var err error
	if buildDir, err = os.MkdirTemp("", "ctxplugin-lab-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(buildDir)
	os.Exit(code)
}

// built starts the built binary.
func built(t *testing.T, flags ...string) launcher {
	t.Helper()
	if testing.Short() {
		t.Skip("builds the binary")
	}
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return func(ctx context.Context, dir string) (*process, error) {
		return launchProgram(ctx, dir, path, append([]string{"serve", "--db", filepath.Join(dir, "replay.db")}, flags...)...)
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is out of date: %s (run with -update if that is meant)", name, difference(string(got), string(want)))
	}
}

// The built-in sample against the real binary: what it prints and the history that
// the next request would begin with.
func TestSample(t *testing.T) {
	start := built(t)
	o := ReplayOptions{NoTimings: true}
	set, err := o.settings()
	if err != nil {
		t.Fatal(err)
	}
	recordings, err := o.recordings()
	if err != nil {
		t.Fatal(err)
	}
	res, err := replayOne(context.Background(), recordings[0], set, start, newProgress(&bytes.Buffer{}, 0))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range res.verdicts.breaches {
		t.Error(b)
	}
	var report, history, notes bytes.Buffer
	if err := writeReport(&report, []*result{res}, set, o); err != nil {
		t.Fatal(err)
	}
	if err := writeHistory(&history, &notes, []*result{res}); err != nil || notes.Len() > 0 {
		t.Fatal(err, notes.String())
	}
	golden(t, "sample-report.golden", report.Bytes())
	golden(t, "sample-history.golden", history.Bytes())
}

// What the README shows of the sample is what it prints.
func TestSample_READMEIsTrue(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for i, golden := range []string{"sample-report.golden", "sample-history.golden"} {
		printed, err := os.ReadFile(filepath.Join("testdata", golden))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(printed), "\n")
		for n, block := range strings.Split(string(readme), "```text\n")[1:] {
			if n != i {
				continue
			}
			block, _, _ = strings.Cut(block, "```")
			for _, line := range strings.Split(strings.TrimRight(block, "\n"), "\n") {
				if strings.TrimSpace(line) != "…" && !slices.Contains(lines, line) {
					t.Errorf("README shows a line that is not in %s:\n%s", golden, line)
				}
				shown++
			}
		}
	}
	if shown < 20 {
		t.Errorf("README shows %d lines of the sample", shown)
	}
}

// Real sessions against the real binary, where they are there.
func TestCorpus(t *testing.T) {
	start := built(t)
	files, _ := filepath.Glob("../../shared/corpus/*.json")
	if len(files) == 0 {
		t.Skip("the corpus is not here")
	}
	for _, name := range []string{"oc-panda.json", "cc-speak.json"} {
		at := slices.IndexFunc(files, func(f string) bool { return filepath.Base(f) == name })
		if at < 0 {
			continue
		}
		var stdout bytes.Buffer
		exit, err := RunReplay(context.Background(), ReplayOptions{Files: files[at : at+1], start: start}, &stdout, &bytes.Buffer{})
		if exit != exitHeld || err != nil {
			_, rest, _ := strings.Cut(stdout.String(), "largest request")
			t.Errorf("%s: exit %d, %v: %s", name, exit, err, rest)
		}
	}
}

func TestIsolated(t *testing.T) {
	got := isolated([]string{"PATH=/bin", "HOME=/home/a", "XDG_DATA_HOME=/x", "XDG_RUNTIME_DIR=/run", "CTXPLUGIN_DB=/y", "LANG=C"}, "/d")
	want := []string{"HOME=/d", "USERPROFILE=/d", "XDG_DATA_HOME=/d/data", "XDG_CONFIG_HOME=/d/config", "XDG_STATE_HOME=/d/state",
		"XDG_CACHE_HOME=/d/cache", "PATH=/bin", "LANG=C"}
	if !slices.Equal(got, want) {
		t.Error(got)
	}
}

func TestLaunchFails(t *testing.T) {
	if _, err := launchProgram(context.Background(), t.TempDir(), "/nowhere/program"); err == nil {
		t.Error("a program that does not exist was started")
	}
}

func TestLastWords(t *testing.T) {
	w := &lastWords{}
	for range 3000 {
		if _, err := w.Write([]byte("noise\n")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Write([]byte("the cause\n\n")); err != nil {
		t.Fatal(err)
	}
	if got := w.String(); got != "the cause" || w.buf.Len() > 4096 {
		t.Errorf("%q of %d bytes", got, w.buf.Len())
	}
}

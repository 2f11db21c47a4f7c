package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite what is generated or expected: docs/configuration.md, testdata")

// TestMain lets the test binary be the program, for scripts that run it as a
// child.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"ctxplugin": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir+"/home")
			for _, name := range []string{"CONFIG", "DATA", "STATE"} {
				e.Setenv("XDG_"+name+"_HOME", "")
			}
			return os.Mkdir(e.WorkDir+"/home", 0o755)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"converse": converse},
	})
}

// converse runs `ctxplugin serve` with the arguments behind the file, sends the
// lines of the file, each request when the one before was answered, and prints
// all answers. A line that begins with # is a comment.
func converse(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 1 || neg {
		ts.Fatalf("usage: converse FILE [serve flags]")
	}
	self, err := exec.LookPath("ctxplugin")
	ts.Check(err)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, append([]string{"serve"}, args[1:]...)...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = []string{"HOME=" + ts.Getenv("HOME"), "XDG_CONFIG_HOME=" + ts.Getenv("XDG_CONFIG_HOME"),
		"XDG_DATA_HOME=" + ts.Getenv("XDG_DATA_HOME"), "XDG_STATE_HOME=" + ts.Getenv("XDG_STATE_HOME"), "TMPDIR=" + ts.Getenv("TMPDIR")}
	cmd.Stderr = ts.Stderr()
	stdin, err := cmd.StdinPipe()
	ts.Check(err)
	stdout, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	answers := bufio.NewReaderSize(stdout, 1<<20)
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			continue
		}
		_, err := io.WriteString(stdin, line)
		ts.Check(err)
		var request struct{ ID json.RawMessage }
		if json.Unmarshal([]byte(line), &request) != nil || request.ID == nil {
			continue
		}
		for answered := false; !answered; {
			answer, err := answers.ReadString('\n')
			if err != nil {
				ts.Fatalf("after %s the program says nothing: %v", line, err)
			}
			_, err = io.WriteString(ts.Stdout(), answer)
			ts.Check(err)
			var got struct{ ID json.RawMessage }
			answered = json.Unmarshal([]byte(answer), &got) == nil && string(got.ID) == string(request.ID)
		}
	}
	ts.Check(stdin.Close())
	rest, err := io.ReadAll(answers)
	ts.Check(err)
	_, err = ts.Stdout().Write(rest)
	ts.Check(err)
	ts.Check(cmd.Wait())
}

package lab

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// process is one run of what is under test.
type process struct {
	stdin  io.WriteCloser
	stdout io.Reader
	kill   func()       // at once, as by SIGKILL; waits for the end
	wait   func() error // for an orderly end, after stdin was closed
	said   func() string
}

// launcher starts a process that keeps its database in dir.
type launcher func(ctx context.Context, dir string) (*process, error)

// launch runs this very program as `serve`, with home folders of its own, the
// database and the settings of files, if they are named. Models are not asked: a
// replay waits for none, and nothing of a session leaves the machine.
func launch(ctx context.Context, dir, db, config string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	if db == "" {
		db = filepath.Join(dir, "replay.db")
	}
	args := []string{"serve", "--by-rule", "--db", db}
	if config != "" {
		args = append(args, "--config", config)
	}
	return launchProgram(ctx, dir, self, args...)
}

func launchProgram(ctx context.Context, dir, program string, args ...string) (*process, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	cmd.Env = isolated(os.Environ(), dir)
	said := &lastWords{}
	cmd.Stderr = said
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	return &process{stdin: stdin, stdout: stdout, said: said.String,
		kill: func() {
			_ = cmd.Process.Kill() // it may have ended by itself
			_ = cmd.Wait()         // its status says only that it was killed
		},
		wait: func() error {
			timer := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
			defer timer.Stop()
			return cmd.Wait()
		}}, nil
}

// isolated is an environment in which a program finds no folder of the user.
func isolated(env []string, dir string) []string {
	out := []string{"HOME=" + dir, "USERPROFILE=" + dir}
	for _, name := range [...]string{"DATA", "CONFIG", "STATE", "CACHE"} {
		out = append(out, "XDG_"+name+"_HOME="+filepath.Join(dir, strings.ToLower(name)))
	}
	for _, v := range env {
		name, _, _ := strings.Cut(v, "=")
		switch {
		case name == "HOME", name == "USERPROFILE", strings.HasPrefix(name, "XDG_"), strings.HasPrefix(name, "CTXPLUGIN_"):
		default:
			out = append(out, v)
		}
	}
	return out
}

// lastWords keeps the end of what a process says on stderr.
type lastWords struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (w *lastWords) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf.Write(p)
	if over := w.buf.Len() - 4096; over > 0 {
		w.buf.Next(over)
	}
	return len(p), nil
}

func (w *lastWords) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(w.buf.String()), "\n")
	return lines[len(lines)-1]
}

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"ctxplugin/compartments"
	"ctxplugin/expand"
	"ctxplugin/rpc"
	"ctxplugin/session"
)

func TestWatchParent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		var parent atomic.Int64
		parent.Store(42)
		go watchParent(ctx, func() int { return int(parent.Load()) }, time.Second, cancel)
		time.Sleep(time.Hour)
		if ctx.Err() != nil {
			t.Fatal("the parent lives")
		}
		parent.Store(1)
		time.Sleep(time.Second)
		synctest.Wait()
		if ctx.Err() == nil {
			t.Error("the parent's death went unnoticed")
		}
	})
}

// Who was an orphan from the start has no parent to watch.
func TestWatchParent_None(t *testing.T) {
	watchParent(context.Background(), func() int { return 1 }, time.Nanosecond, func() { t.Error("called") })
}

// child starts the program as a host does.
func child(t *testing.T, args ...string) (cmd *exec.Cmd, in io.WriteCloser, out *bufio.Reader) {
	t.Helper()
	self, err := exec.LookPath("ctxplugin")
	if err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command(self, append([]string{"serve"}, args...)...)
	cmd.Env = []string{"HOME=" + t.TempDir()}
	in, err = cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd, in, bufio.NewReader(stdout)
}

func ask(t *testing.T, in io.Writer, out *bufio.Reader, line string) string {
	t.Helper()
	if _, err := io.WriteString(in, line+"\n"); err != nil {
		t.Fatal(err)
	}
	answer, err := out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"capabilities":{}}}`

// Each way in which a host ends, the process ends by itself and cleanly.
func TestServe_Ends(t *testing.T) {
	for name, end := range map[string]func(cmd *exec.Cmd, in io.WriteCloser, out *bufio.Reader){
		"stdin": func(_ *exec.Cmd, in io.WriteCloser, _ *bufio.Reader) { in.Close() },
		"shutdown": func(_ *exec.Cmd, in io.WriteCloser, out *bufio.Reader) {
			ask(t, in, out, `{"jsonrpc":"2.0","id":9,"method":"shutdown"}`)
		},
		"terminate": func(cmd *exec.Cmd, _ io.WriteCloser, _ *bufio.Reader) { _ = cmd.Process.Signal(syscall.SIGTERM) },
		// An interrupt is the host's affair: it is typed at the host's terminal.
		"interrupt, then stdin": func(cmd *exec.Cmd, in io.WriteCloser, out *bufio.Reader) {
			_ = cmd.Process.Signal(os.Interrupt)
			ask(t, in, out, hello)
			in.Close()
		},
	} {
		cmd, in, out := child(t)
		if got := ask(t, in, out, hello); !strings.Contains(got, `"result"`) {
			t.Errorf("%s: %s", name, got)
		}
		ask(t, in, out, `{"jsonrpc":"2.0","id":2,"method":"session/status","params":{"sessionID":"ses_1"}}`)
		end(cmd, in, out)
		if rest, err := io.ReadAll(out); err != nil || len(rest) > 0 {
			t.Errorf("%s: then it said %s, %v", name, rest, err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Until a session is named there is neither database nor folder.
func TestServe_Lazy(t *testing.T) {
	cmd, in, out := child(t)
	ask(t, in, out, hello)
	home := strings.TrimPrefix(cmd.Env[0], "HOME=")
	if _, err := os.Stat(filepath.Join(home, ".local", "share")); !os.IsNotExist(err) {
		t.Errorf("data folder: %v", err)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func quietService(c config) *service {
	return newService(c, slog.New(slog.DiscardHandler), nil)
}

func messages(n int) (raw [][]byte, rev string) {
	r := compartments.EmptyRevision()
	for i := range n {
		m := fmt.Appendf(nil, `{"id":"msg_%d","role":"user","time":%d,"parts":[{"type":"text","text":"row %d"}]}`, i, 1750000000000+i, i)
		decoded, err := compartments.DecodeMessage(m)
		if err != nil {
			panic(err)
		}
		raw, r = append(raw, m), r.Add(decoded.Print())
	}
	return raw, r.String()
}

func syncAll(s rpc.Sessions, n int) (string, error) {
	raw, _ := messages(n)
	empty := compartments.EmptyRevision().String()
	return s.Sync(context.Background(), session.SyncRequest{Session: "ses_1", Base: empty, Check: empty, Messages: raw})
}

// brokenPlace is a service whose database cannot be made until its place is
// cleared.
func brokenPlace(t *testing.T) (s *service, clear func()) {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	place := filepath.Join(t.TempDir(), "place")
	if err := os.WriteFile(place, nil, 0o600); err != nil { // a file where the folder should be
		t.Fatal(err)
	}
	c := defaults(folders{})
	c.Database = filepath.Join(place, "sessions.db")
	s = quietService(c)
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	return s, func() {
		if err := os.Remove(place); err != nil {
			t.Fatal(err)
		}
	}
}

// While the user's database cannot be opened a temporary one stands in; later the
// user's own serves, and the host is asked for the list again.
func TestService_StandIn(t *testing.T) {
	s, clear := brokenPlace(t)
	s.temporary = true
	_, want := messages(3)
	if rev, err := syncAll(s, 3); rev != want || err != nil {
		t.Fatalf("stand-in: %s, %v", rev, err)
	}
	folder := s.now.folder
	if info, err := os.Stat(folder); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("folder of the stand-in: %v, %v", info, err)
	}
	if err := s.Forget(context.Background(), "ses_2"); compartments.CodeOf(err) != compartments.CodeStorage {
		t.Errorf("forget while the user's database cannot be reached: %v", err)
	}
	clear()
	if _, err := s.Status(context.Background(), "ses_1"); err != nil {
		t.Errorf("before it is time to try again: %v", err)
	}
	s.retryAt = time.Time{}
	if _, err := s.Status(context.Background(), "ses_1"); compartments.CodeOf(err) != compartments.CodeUnknownSession {
		t.Errorf("the user's database knows nothing yet: %v", err)
	}
	if rev, err := syncAll(s, 3); rev != want || err != nil {
		t.Errorf("the user's database: %s, %v", rev, err)
	}
	if err := s.Forget(context.Background(), "ses_1"); err != nil {
		t.Error(err)
	}
	if _, err := s.retired[0].sessions.Status(context.Background(), "ses_1"); compartments.CodeOf(err) != compartments.CodeUnknownSession {
		t.Errorf("the stand-in still knows what was forgotten: %v", err)
	}
	if err := s.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		t.Errorf("the stand-in is left behind: %v", err)
	}
	if len(s.told) != 2 {
		t.Errorf("told %q", s.told)
	}
}

// A command that only looks makes nothing up.
func TestService_NoStandInForCommands(t *testing.T) {
	s, _ := brokenPlace(t)
	if _, err := syncAll(s, 3); compartments.CodeOf(err) != compartments.CodeStorage {
		t.Errorf("got %v", err)
	}
}

// A database that stops taking writes is replaced by a temporary one, and the
// host is told to send the list again, in one error that it understands anyway.
func TestService_FailsLater(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s := quietService(defaults(folders{data: t.TempDir()}))
	s.temporary = true
	defer s.Close(context.Background())
	full := false
	s.options.FailCommit = func() error {
		if full {
			return compartments.Errorf(compartments.CodeStorage, "the disk is full")
		}
		return nil
	}
	if _, err := syncAll(s, 2); err != nil {
		t.Fatal(err)
	}
	full = true
	raw, rev := messages(3)
	_, base := messages(2)
	_, err := s.Sync(context.Background(), session.SyncRequest{Session: "ses_1", Base: base, Keep: 2, Check: base, Messages: raw[2:]})
	var e *compartments.Error
	if !errors.As(err, &e) || e.Code != compartments.CodeResync || e.Data["keep"] != 0 || e.Data["check"] != compartments.EmptyRevision().String() {
		t.Fatalf("got %v", err)
	}
	if got, err := syncAll(s, 3); got != rev || err != nil {
		t.Errorf("then: %s, %v", got, err)
	}
	s.retryAt = time.Time{}
	full = false
	if got, err := syncAll(s, 3); got != rev || err != nil || s.now.folder != "" {
		t.Errorf("when there is room again: %s, %v", got, err)
	}
}

func TestService_AfterClose(t *testing.T) {
	c := defaults(folders{data: t.TempDir()})
	s := quietService(c)
	if _, err := syncAll(s, 1); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}
	if _, err := syncAll(s, 1); compartments.CodeOf(err) != compartments.CodeBusy {
		t.Errorf("after close: %v", err)
	}
}

// The settings of the file are those that sessions decide by.
func TestService_Settings(t *testing.T) {
	c := load(t, `{"forceMark": 70, "halfLife": 9}`)
	c.Database = filepath.Join(t.TempDir(), "sessions.db")
	s := quietService(c)
	defer s.Close(context.Background())
	if _, err := syncAll(s, 1); err != nil {
		t.Fatal(err)
	}
	st, err := s.Status(context.Background(), "ses_1")
	if err != nil {
		t.Fatal(err)
	}
	if st.Numbers["forceMark"] != 70 || st.Numbers["halfLife"] != 9 {
		t.Errorf("in force: %v", st.Numbers)
	}
}

func TestService_Tools(t *testing.T) {
	got := quietService(config{}).Tools()
	want := expand.Definitions()
	if len(got) != len(want) || len(got) == 0 {
		t.Fatalf("%d tools, %d definitions", len(got), len(want))
	}
	for i, tool := range got {
		if tool.Name != want[i].Name || !json.Valid(tool.InputSchema) {
			t.Errorf("%+v", tool)
		}
	}
}

func TestLogFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "x.log")
	a, b := &logFile{path: path}, &logFile{path: path}
	if _, err := os.Stat(filepath.Dir(path)); !os.IsNotExist(err) {
		t.Error("the log was opened before its first line")
	}
	line := []byte(strings.Repeat("x", 1<<20-1) + "\n")
	for i := range 11 {
		for _, l := range []*logFile{a, b}[:1+i%2] {
			if n, err := l.Write(line); n != len(line) || err != nil {
				t.Fatal(n, err)
			}
		}
	}
	total := int64(0)
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) != 2 {
		t.Errorf("files %v, %v", files, err)
	}
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			t.Fatal(err)
		}
		total += info.Size()
		if info.Size()%int64(len(line)) != 0 {
			t.Errorf("%s has %d bytes: a torn line", f, info.Size())
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", f, info.Mode())
		}
	}
	if total > 2*logBytes {
		t.Errorf("%d bytes in all", total)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if n, err := a.Write(line); n != len(line) || err != nil {
		t.Errorf("after close: %d, %v", n, err)
	}
	_ = b.Close()
}

// A log that cannot be written stops nothing.
func TestLogFile_NoPlace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	log, closer := openLog(folders{state: file}, "info")
	log.Error("lost")
	if err := closer.Close(); err != nil {
		t.Error(err)
	}
}

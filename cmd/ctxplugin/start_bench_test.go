package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// BenchmarkStart measures from the start of the program to its answer to
// initialize, which the start of a host waits for. It builds the program as it is
// installed, for the test's own binary is larger; what the build takes does not
// count. Beside it stand the processor time of the whole run, its end included,
// which a busy machine stretches less, and the size of the binary.
func BenchmarkStart(b *testing.B) {
	folder := b.TempDir()
	binary := filepath.Join(folder, "ctxplugin.exe") // Windows starts no other name
	build := exec.Command("go", "build", "-o", binary, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("build the program: %v\n%s", err, out)
	}
	info, err := os.Stat(binary)
	if err != nil {
		b.Fatal(err)
	}
	var cpu time.Duration
	runs := 0
	for b.Loop() {
		cmd := exec.Command(binary, "serve")
		cmd.Env = []string{"HOME=" + folder}
		stdin, err := cmd.StdinPipe()
		if err != nil {
			b.Fatal(err)
		}
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			b.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		if _, err := io.WriteString(stdin, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`+"\n"); err != nil {
			b.Fatal(err)
		}
		answer, err := bufio.NewReader(stdout).ReadString('\n')
		b.StopTimer()
		if err != nil || !strings.Contains(answer, `"protocolVersion":1`) {
			b.Fatalf("the answer is %q, %v", answer, err)
		}
		if err := stdin.Close(); err != nil {
			b.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			b.Fatal(err)
		}
		cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		runs++
		b.StartTimer()
	}
	b.ReportMetric(cpu.Seconds()*1000/float64(runs), "ms-cpu")
	b.ReportMetric(float64(info.Size())/1e6, "MB-binary")
}

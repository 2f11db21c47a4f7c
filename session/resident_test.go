package session_test

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"testing"
)

// mostResident is how much memory a process may take with the long session, in
// MB.
const mostResident = 120

// BenchmarkResidentMemory sees a session of 10,000 messages (20 MB) for the
// first time, writes it and goes on with it, in a process of its own.
func BenchmarkResidentMemory(b *testing.B) {
	if runtime.GOOS != "linux" {
		b.Skip("measured in /proc")
	}
	for b.Loop() {
		child := exec.Command(os.Args[0], "-test.run=^TestResidentMemory_Child$", "-test.v")
		child.Env = append(os.Environ(), residentChild+"=1")
		out, err := child.CombinedOutput()
		if err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		lines := regexp.MustCompile(`(\w+): now (\d+) MB, most (\d+) MB`).FindAllSubmatch(out, -1)
		if len(lines) < 4 {
			b.Fatalf("no measures in\n%s", out)
		}
		for _, line := range lines {
			now, _ := strconv.Atoi(string(line[2]))
			b.ReportMetric(float64(now), string(line[1])+"-MB")
		}
		most, _ := strconv.Atoi(string(lines[len(lines)-1][3]))
		b.ReportMetric(float64(most), "most-MB")
		if most > mostResident {
			b.Errorf("the process took up to %d MB", most)
		}
	}
}

const residentChild = "CTX_RESIDENT_CHILD"

func TestResidentMemory_Child(t *testing.T) {
	if os.Getenv(residentChild) == "" {
		t.Skip("run by BenchmarkResidentMemory")
	}
	h := newReal(t)
	say := func(when string) {
		fmt.Printf("%s: now %d MB, most %d MB\n", when, processMB(t, "VmRSS"), processMB(t, "VmHWM"))
	}
	say("start")
	h.sync(longMessages)
	say("synced")
	h.transform()
	say("planned")
	for !h.settle() {
		h.sync(3)
		h.transform()
	}
	say("written")
	for range 100 {
		h.sync(3)
		h.transform()
	}
	h.settle()
	say("later")
}

// processMB is a line of /proc/self/status, in MB.
func processMB(t *testing.T, name string) int {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(name + `:\s+(\d+) kB`).FindSubmatch(b)
	if found == nil {
		t.Fatalf("no %s", name)
	}
	kb, _ := strconv.Atoi(string(found[1]))
	return kb >> 10
}

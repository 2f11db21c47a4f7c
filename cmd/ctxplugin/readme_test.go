package main

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// What the README shows of a console is what these commands print, one after
// another: every line but "…", in its order.
func TestREADME_ConsoleIsTrue(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	self, err := exec.LookPath("ctxplugin")
	if err != nil {
		t.Fatal(err)
	}
	home, dir := t.TempDir(), t.TempDir()
	var printed []string
	commands, compared := 0, 0
	for _, block := range strings.Split(string(readme), "```console\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		for _, line := range strings.Split(strings.TrimSpace(block), "\n") {
			if words, ok := strings.CutPrefix(line, "$ ctxplugin "); ok {
				cmd := exec.Command(self, strings.Fields(words)...)
				cmd.Dir, cmd.Env = dir, []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
				said, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%s: %v\n%s", line, err, said)
				}
				printed = strings.Split(string(said), "\n")
				commands++
				continue
			}
			if line == "…" {
				continue
			}
			at := slices.Index(printed, line)
			if at < 0 {
				t.Errorf("no such line is printed:\n%s\nbut\n%s", line, strings.Join(printed, "\n"))
				continue
			}
			printed = printed[at+1:]
			compared++
		}
	}
	if commands < 4 || compared < 4 {
		t.Errorf("%d commands with %d lines were compared", commands, compared)
	}
}

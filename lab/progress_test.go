package lab

import (
	"bytes"
	"strings"
	"testing"
)

// A bar stands on one line, grows, and is taken away.
func TestProgress_OneLine(t *testing.T) {
	var out bytes.Buffer
	p := &progress{out: &out, steps: 400}
	p.describe("a recording with a name that is longer than a line may be")
	for range 400 {
		p.step()
	}
	p.step() // one more than announced shows no more than a whole bar
	p.finish()
	p.step()
	p.finish()
	lines := strings.Split(out.String(), "\r\x1b[K")
	if len(lines) != 1+101+1 || lines[0] != "" {
		t.Fatalf("%d lines, the first is %q; want one for each hundredth", len(lines)-1, lines[0])
	}
	const name = "a recording with a name that is lon…"
	for at, want := range map[int]string{
		1:              name + "  [" + strings.Repeat(" ", 30) + "]  0 %",
		51:             name + "  [" + strings.Repeat("=", 15) + strings.Repeat(" ", 15) + "]  50 %",
		101:            name + "  [" + strings.Repeat("=", 30) + "]  100 %",
		len(lines) - 1: "",
	} {
		if lines[at] != want {
			t.Errorf("line %d is %q, want %q", at, lines[at], want)
		}
	}
	if strings.Contains(out.String(), "\n") {
		t.Error("the bar ends its line")
	}
}

// Nothing is drawn where nobody looks.
func TestProgress_OnlyOnATerminal(t *testing.T) {
	var out bytes.Buffer
	p := newProgress(&out, 3)
	p.describe("a")
	p.step()
	p.finish()
	if out.Len() != 0 {
		t.Errorf("%q was written", out.String())
	}
}

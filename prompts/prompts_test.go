package prompts_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxplugin/prompts"
	"ctxplugin/tokens"
)

var update = flag.Bool("update", false, "write the golden files")

var sample = prompts.Chunk{First: 33, Last: 41, Prior: "Recorded already, for orientation:\n  [1-32] the importer skips rows\n\n",
	Spans: "33-41: 900 characters", Transcript: "[33] user\n  {{faults}} is text of the transcript\n", Ahead: "\nWhat follows:\n[42] user\n  now the docs\n"}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s differs from what is rendered; if that is meant, count the version up and run with -update", name)
	}
}

// TestHistorian_Version: who changes the files changes the version.
func TestHistorian_Version(t *testing.T) {
	p := prompts.Historian
	golden(t, "version", p.Version+" "+p.Hash+"\n")
}

func TestHistorian_AsRendered(t *testing.T) {
	p := prompts.Historian
	golden(t, "chunk.golden", p.Fill(sample))
	golden(t, "repair.golden", p.Repair(sample, "<compartment {{first}}", "33-41 full: quote: …"))
	for _, text := range []string{p.System, p.Fill(prompts.Chunk{}), p.Repair(prompts.Chunk{}, "", "")} {
		if strings.Contains(text, "{{") {
			t.Errorf("a gap is left open: %q", text[strings.Index(text, "{{"):])
		}
	}
}

// TestHistorian_FixedPart: it is sent with every call, so it is paid for with every
// call.
func TestHistorian_FixedPart(t *testing.T) {
	p := prompts.Historian
	n := tokens.New().Count(p.System)
	t.Logf("fixed part: %d tokens; variable part without a transcript: %d", n, tokens.New().Count(p.Fill(prompts.Chunk{First: 1, Last: 2})))
	if n >= 3000 {
		t.Errorf("the fixed part takes %d tokens, it must stay below 3,000", n)
	}
}

func TestPrompt_Example(t *testing.T) {
	lines := prompts.Historian.Example()
	if len(lines) < 30 {
		t.Fatalf("%d lines: the example was not found", len(lines))
	}
}

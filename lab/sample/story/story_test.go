package story

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

const head = "title: A title\ndirectory: /home/dev/x\nmodel: p/m\nagent: build\nstart: 2031-03-03T08:00:00Z\n"

const archive = "-- a.go --\npackage a\n\nvar One = 1\n-- b/b.go --\npackage b\n"

func TestTell(t *testing.T) {
	data, err := Tell("s", head+`
--- user +0s
please rename One
@file a.go

--- step +2s
? look first
> read a.go
> edit a.go
<<<
var One = 1
>>>
<<<
var Two = 1
>>>
> bash go build
~ exit=1
| broken
> read a.go
% restore a.go

--- step +2s
> read a.go
~ offset=3
> grep One in *.go

--- step +2s aborted
I will
`, archive)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"text":"please rename One"`, `"filename":"a.go"`, `"synthetic":true`, `"type":"reasoning","text":"look first"`,
		`3: var Two = 1`, `(End of file - total 3 lines)`, `"exit":1`, `"output":"broken"`, `<content>3: var One = 1`,
		`Found 1 matches\n/home/dev/x/a.go:\n  Line 3: var One = 1`, `"MessageAbortedError"`, `"files":["/home/dev/x/a.go"]`,
	} {
		if !bytes.Contains(data, []byte(want)) {
			t.Errorf("the export lacks %s", want)
		}
	}
	again, err := Tell("s", head+"--- user +0s\nx\n", "")
	if err != nil || !json.Valid(again) {
		t.Errorf("Tell = %q, %v", again, err)
	}
}

func TestTellRefuses(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{"--- user +0s\nx\n", "header start"},
		{head + "--- robot +0s\n", "neither user nor step"},
		{head + "--- user soon\n", "invalid duration"},
		{head + "--- step +1s\n| output\n", "belongs to no call"},
		{head + "--- step +1s\n> fly a.go\n", "no such tool"},
		{head + "--- step +1s\n> read c.go\n", "c.go does not exist"},
		{head + "--- step +1s\n> edit a.go\n<<<\nvar Three\n>>>\n<<<\n\n>>>\n", "holds the old text 0 times"},
		{head + "--- step +1s\n> edit a.go\n<<<\nvar One\n>>>\n", "an old and a new block"},
		{head + "--- step +1s\n> bash x\n<<<\ny\n", "not closed"},
		{head + "--- step +1s\n>< log 3\n", "belongs to no call"},
		{head + "--- step +1s\n> bash x\n>< nothing 3\n", "no bulk is called"},
		{head + "--- step +1s\n% restore c.go\n", "never committed"},
	} {
		if _, err := Tell("s", c.script, archive); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Tell(%q) = %v, want %q", c.script, err, c.want)
		}
	}
}

func TestPatch(t *testing.T) {
	p, err := newProject("/x", archive)
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.patch("*** Begin Patch\n*** Update File: a.go\n@@\n-var One = 1\n+var One = 2\n*** Add File: c.go\n+package c\n*** Delete File: b/b.go\n*** End Patch")
	if err != nil || out != "Success. Updated the following files:\nM a.go\nA c.go\nD b/b.go" {
		t.Errorf("patch = %q, %v", out, err)
	}
	if p.files["a.go"] != "package a\n\nvar One = 2\n" || p.files["c.go"] != "package c\n" || p.files["b/b.go"] != "" {
		t.Errorf("files are %q", p.files)
	}
}

func FuzzTell(f *testing.F) {
	f.Add(head + "--- user +0s\nwords\n@file a.go\n--- step +1s\n> read a.go\n> todowrite\n| [x] y\n")
	f.Add(head + "--- step +1s\n> apply_patch\n<<<\n*** Begin Patch\n@@\n x\n*** End Patch\n>>>\n")
	f.Fuzz(func(t *testing.T, script string) {
		if data, err := Tell("s", script, archive); err == nil && !json.Valid(data) {
			t.Errorf("Tell(%q) is no JSON", script)
		}
	})
}

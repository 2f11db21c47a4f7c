package lab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParseRecordingRefuses(t *testing.T) {
	good := `{"info":{"role":"user","id":"m1"},"parts":[]}`
	for _, c := range []struct{ name, data, want string }{
		{"empty", " \n", "f.json: the file is empty"},
		{"no JSON", "{\n  \"info\": {},\n  oops\n}", "f.json: line 3, column 3: is no JSON: "},
		{"cut off", `{"messages":[`, "f.json: line 1, column 13: is no JSON: "},
		{"one JSON a line", `{"type":"user"}` + "\n" + `{"type":"x"}`, "f.json: is no `opencode export`: line 2 begins another JSON text"},
		{"rubbish behind it", "{}\noops", "f.json: line 2, column 1: is no JSON: "},
		{"no UTF-8", "{\"info\":\n\"\xff\"}", "f.json: line 2, column 2: is not UTF-8"},
		{"an array", `[1]`, "f.json: is no `opencode export`: it should be {info, messages: [{info, parts}]}"},
		{"another program", `{"conversation":[]}`, "f.json: is no `opencode export`: it has no list called messages"},
		{"flat messages", `{"messages":[{"role":"user","content":"hi"}]}`, "f.json: message 1: is not {info, parts}, as an `opencode export` has it"},
		{"a string for a message", `{"messages":["hi"]}`, "f.json: message 1: is not {info, parts}, as an `opencode export` has it"},
		{"another role", `{"messages":[` + good + `,{"info":{"role":"system"},"parts":[]}]}`, `f.json: message 2: info.role is "system", neither user nor assistant`},
		{"no role", `{"messages":[{"info":{},"parts":[]}]}`, `f.json: message 1: info.role is missing, neither user nor assistant`},
		{"no parts", `{"messages":[{"info":{"role":"user"}}]}`, "f.json: message 1: parts is missing, no array"},
		{"null parts", `{"messages":[{"info":{"role":"user"},"parts":null}]}`, "f.json: message 1: parts is null, no array"},
		{"a part of another kind", `{"messages":[{"info":{"role":"user"},"parts":[{"type":"text"},7]}]}`, "f.json: message 1: part 1 is no object"},
		{"a part without a type", `{"messages":[{"info":{"role":"user"},"parts":[{}]}]}`, "f.json: message 1: part 0 has no type"},
		{"an id twice", `{"messages":[` + good + `,` + good + `]}`, `f.json: message 2: has the id "m1" of message 1`},
		{"nothing to replay", `{"messages":[` + good + `]}`, "f.json: has no reply to a user message, so there is no request to replay"},
		{"only replies that nobody asked for", `{"messages":[{"info":{"role":"assistant"},"parts":[]}]}`, "f.json: has no reply to a user message, so there is no request to replay"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := parseRecording("f.json", []byte(c.data))
			var file *fileError
			if err == nil || !errors.As(err, &file) || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestReadRecordingNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "absent.json")
	if _, err := readRecording(path); err == nil || err.Error() != path+": no such file or directory" {
		t.Error(err)
	}
}

func TestParseRecordingKeepsParts(t *testing.T) {
	data := "\ufeff" + `{"info":{"title":"T"},"messages":[
	 {"info":{"role":"user","sessionID":"ses_1","time":{"created":5}},"parts":[{"b":1, "type":"text","text":"\ud800 <&> \u00e9","a":9007199254740993}]},
	 {"info":{"role":"assistant","providerID":"p","modelID":"m/x","mode":"plan","error":{"name":"MessageAbortedError"},"time":{}},"parts":[
	   {"type":"tool","tool":"read","callID":"c","state":{"status":"odd","input":{"a": 1}}},
	   {"type":"tool","tool":"read","state":{"status":"completed","output":{"k": [1, 2]},"attachments":[{"mime":"image/png","url":"data:xyz"},{"mime":"text/plain"}]}},
	   {"type":"file","mime":"application/x-directory","url":"file:///x"}]}]}`
	r, err := parseRecording("f.json", []byte(data))
	if err != nil {
		t.Fatal(err)
	}
	if r.id != "ses_1" || r.title != "T" || r.messages[0].id != "msg_replay_000001" || r.messages[0].time != 5 {
		t.Errorf("%+v", r)
	}
	if got := string(r.messages[0].parts[0].raw); got != `{"b":1,"type":"text","text":"\ud800 <&> \u00e9","a":9007199254740993}` {
		t.Errorf("part became %s", got)
	}
	m := r.messages[1]
	if m.model != "p/m/x" || m.agent != "plan" || !m.aborted || m.time != 0 {
		t.Errorf("%+v", m)
	}
	if !m.parts[0].state.open() || m.parts[0].state.input != `{"a":1}` {
		t.Errorf("%+v", m.parts[0])
	}
	if m.parts[1].state.output != `{"k":[1,2]}` || len(m.parts[1].media) != 1 || len(m.parts[2].media) != 0 {
		t.Errorf("%+v %+v", m.parts[1], m.parts[2])
	}
	want := `{"id":"msg_replay_000002","role":"assistant","agent":"plan","model":"p/m/x","tokens":{"input":1,"output":2,"reasoning":3,"cache":{"read":4,"write":5}},` +
		`"error":{"name":"MessageAbortedError"},"parts":[`
	if got := string(wireMessage(&m, &usage{1, 2, 3, 4, 5})); !strings.HasPrefix(got, want) {
		t.Errorf("on the wire: %s", got)
	}
}

func FuzzParseRecording(f *testing.F) {
	f.Add([]byte(`{"messages":[{"info":{"role":"assistant","time":{"created":1e300}},"parts":[{"type":"tool","state":7}]}]}`))
	f.Add([]byte(`{"messages":[{"info":{"role":"assistant","id":"\ud800"},"parts":[{"type":"file","mime":"image/png"}]}]}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := parseRecording("f.json", data)
		if err != nil {
			if strings.Contains(fmt.Sprint(err), "\n") {
				t.Errorf("an error of several lines: %q", err)
			}
			return
		}
		render := newRenderer(counts)
		for _, s := range cut(r) {
			render.apply(r, s.view, nil)
		}
		rev := emptyRevision()
		for i := range r.messages {
			rev = rev.add(&r.messages[i])
			if got := wireMessage(&r.messages[i], nil); strings.ContainsAny(string(got), "\n\r") {
				t.Errorf("a message of several lines: %q", got)
			}
		}
	})
}

// Every file of the corpus, where it is there, is a recording.
func TestCorpusParses(t *testing.T) {
	files, _ := filepath.Glob("../../shared/corpus/*.json")
	if len(files) == 0 {
		t.Skip("the corpus is not here")
	}
	for _, file := range files {
		r, err := readRecording(file)
		if err != nil {
			t.Error(err)
			continue
		}
		data, _ := os.ReadFile(file)
		for i := range r.messages {
			for _, p := range r.messages[i].parts {
				if len(p.raw) > len(data) {
					t.Fatal("a part is longer than its file")
				}
			}
		}
	}
}

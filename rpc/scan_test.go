package rpc

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
)

// checkFrame compares cut with encoding/json: the same lines are JSON, and the
// same bytes stand in the same members.
func checkFrame(t *testing.T, line []byte) {
	t.Helper()
	f := cut(line)
	valid := json.Valid(line)
	notJSON := f.fault != nil && f.fault.code == codeParse
	if valid == notJSON && !(f.fault != nil && header(line[space(line, 0):])) && !tooManyMembers(f) {
		t.Fatalf("valid JSON: %t, fault: %v\n%q", valid, f.fault, line)
	}
	var want map[string]json.RawMessage
	if json.Unmarshal(line, &want) != nil || want == nil || f.fault != nil {
		return
	}
	same := func(name string, got []byte) {
		t.Helper()
		if !bytes.Equal(got, want[name]) {
			t.Fatalf("%s is %q, encoding/json has %q\n%q", name, got, want[name], line)
		}
	}
	same("id", f.id)
	if f.call {
		var method string
		if json.Unmarshal(want["method"], &method) != nil || f.method != method {
			t.Fatalf("method %q, encoding/json has %q\n%q", f.method, method, line)
		}
		same("params", f.params.raw)
	} else {
		same("result", f.result)
		if string(want["error"]) != "null" {
			same("error", f.err)
		}
	}
	var members map[string]json.RawMessage
	if len(f.params.members) == 0 || json.Unmarshal(f.params.raw, &members) != nil {
		return
	}
	for name, raw := range members {
		got := f.params.get(name)
		if string(raw) == "null" {
			raw = nil
		}
		if !bytes.Equal(got, raw) {
			t.Fatalf("parameter %q is %q, encoding/json has %q\n%q", name, got, raw, line)
		}
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil || list == nil {
			continue
		}
		cuts := elements(got)
		if len(cuts) != len(list) {
			t.Fatalf("parameter %q has %d elements, encoding/json has %d", name, len(cuts), len(list))
		}
		for i := range list {
			if !bytes.Equal(cuts[i], list[i]) {
				t.Fatalf("element %d of %q is %q, encoding/json has %q", i, name, cuts[i], list[i])
			}
		}
	}
}

func tooManyMembers(f frame) bool {
	return f.fault != nil && strings.Contains(f.fault.text, "more than")
}

var frames = []string{
	`{"jsonrpc":"2.0","id":1,"method":"a/b","params":{"sessionID":"s","list":[1,[2],{"x":[]}, "y" ,null]}}`,
	`{"jsonrpc":"2.0","id":"x","method":"a","params":[1,2]}`,
	`{"id":1,"id":-2.5e+3,"method":"a","method":"b","params":{"a":1},"params":{"b":2,"b":3}}`,
	"{ \"i\\u0064\" :\t7 , \"method\":\"\\ud83d\\ude00\\ud800\" }\r",
	`{"id":1,"result":{"a":[true,false,null]}}`, `{"id":1,"error":{"code":-1}}`, `{"id":1,"result":null,"error":null}`,
	`[]`, `[{}]`, `""`, `0`, `-0.0e-0`, `null`, `{}`, ` `, ``, `{`, `}`, `"`, `"\`, `"\u12`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`,
	`tru`, `nulll`, `01`, `1.`, `1e`, `-`, `+1`, `.5`, `[1,]`, `[,1]`, `{,}`, `{"a":1,}`, `{"a" "b"}`, `[1 2]`, "\"\x00\"", "\"\x7f\x80\xff\"",
	`{"params":{"a":[{"b":"\"]}"}]}}`, "\ufeff{}", `Content-Length: 5`, `{"method":"m","params":null}`, `{"method":"m","params":{"x":null}}`,
}

func TestCut_AgreesWithEncodingJSON(t *testing.T) {
	for _, line := range frames {
		checkFrame(t, []byte(line))
	}
	deep := func(n int) []byte {
		return []byte(`{"params":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}`)
	}
	for _, n := range []int{1, maxDepth - 1, maxDepth, maxDepth + 1, 2 * maxDepth} {
		checkFrame(t, deep(n))
	}
	// Damaged ones: a byte changed, taken out or doubled.
	const noise = "{}[]\",:\\u0e-+. tfn\x00\xff"
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		line := []byte(frames[r.IntN(len(frames))])
		for range 1 + r.IntN(3) {
			if len(line) == 0 {
				break
			}
			i := r.IntN(len(line))
			switch r.IntN(3) {
			case 0:
				line[i] = noise[r.IntN(len(noise))]
			case 1:
				line = append(line[:i:i], line[i+1:]...)
			case 2:
				line = append(line[:i:i], line[i/2:]...)
			}
		}
		checkFrame(t, line)
	}
}

func FuzzCut(f *testing.F) {
	for _, line := range frames {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		checkFrame(t, line)
		cutStart(line)
		if cut := cutStart([]byte(`{"id":12,"x":"` + strings.Repeat("a", len(line)))); string(cut) != "12" {
			t.Errorf("id before the cap: %q", cut)
		}
	})
}

func TestCut_ManyMembers(t *testing.T) {
	line := func(n int) []byte {
		return []byte(`{"id":1,"method":"m","params":{` + strings.TrimSuffix(strings.Repeat(`"a":1,`, n), ",") + `}}`)
	}
	if f := cut(line(maxMembers)); f.fault != nil {
		t.Errorf("at the bound: %v", f.fault)
	}
	if f := cut(line(maxMembers + 1)); f.fault == nil || f.fault.code != codeInvalidRequest || string(f.id) != "1" {
		t.Errorf("over the bound: id %s, %v", f.id, f.fault)
	}
}

func TestCutStart(t *testing.T) {
	for _, tc := range []struct{ start, id string }{
		{`{"jsonrpc":"2.0","id":12,"method":"session/sync","params":{"mess`, `12`},
		{`{"jsonrpc":"2.0","id":"a b","params":[[[`, `"a b"`},
		{`{"id":12`, ``}, // the number may go on
		{`{"id":12 `, `12`},
		{`{"params":{"id":12,"x":"aaaa`, ``},
		{`{"id":{"a":1},"x":"aaa`, ``},
		{`[{"id":1},`, ``},
		{``, ``},
		{`aaaa`, ``},
	} {
		if got := string(cutStart([]byte(tc.start))); got != tc.id {
			t.Errorf("%s: id %q, want %q", tc.start, got, tc.id)
		}
	}
}

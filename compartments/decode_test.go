package compartments_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"ctxplugin/compartments"
)

func TestDecodeMessage(t *testing.T) {
	url := "data:image/png;base64," + strings.Repeat("A", 300)
	for _, c := range []struct {
		name, raw string
		want      compartments.Message
	}{
		{"text and spaces", ` { "id" : "m" , "role":"user", "time": 1.5e3, "parts" : [ {"type":"text","text":"a\"b"} , null , 7 ] , "x": [1,{"y":"]}"}] } `,
			compartments.Message{ID: "m", Role: "user", Time: 1500, Parts: []compartments.Part{{Kind: compartments.PartText, Type: "text", Text: `a"b`}, {}, {}}}},
		{"names count with their case", `{"ID":"m","role":"user","Parts":[{}],"PARTS":7}`, compartments.Message{Role: "user"}},
		{"fields of a surprising type are absent", `{"id":7,"role":"assistant","time":{"created":9},"agent":[],"tokens":{"input":"x","output":3.9,"cache":7},"finish":{},"summary":1,"error":null,` +
			`"parts":[{"type":"text","text":"t","synthetic":"yes","ignored":1}]}`,
			compartments.Message{Role: "assistant", Time: 9, Usage: compartments.Usage{Output: 3}, Parts: []compartments.Part{{Kind: compartments.PartText, Type: "text", Text: "t"}}}},
		{"a call with attachments", `{"role":"assistant","error":{},"parts":[{"type":"tool","tool":"read","callID":"c","state":{"status":"completed","input":{"a": 1},"output":"o","metadata":{"exit":null,"exitCode":2},` +
			`"attachments":[{"mime":"image/png","url":"` + url + `"},{"mime":"text/plain","url":"` + url + `"},{"mime":"image/png","url":"file:///x.png"},{"url":"` + url + `"},{"mime":"image/png","url":"` + url + `"},4]}}]}`,
			compartments.Message{Role: "assistant", Failed: true, Unsent: true, Parts: []compartments.Part{{Kind: compartments.PartTool, Type: "tool", Tool: "read", CallID: "c", Status: compartments.StatusCompleted,
				Input: `{"a": 1}`, Output: "o", ExitCode: 2, HasExit: true, Media: 3, MediaBytes: 3 * len(url), MediaTypes: "image/png, type unknown"}}}},
		{"broken off", `{"role":"assistant","error":{"data":{},"name":"MessageAbortedError"},"parts":[{"type":"step-start"},{"type":"text","text":"t"}]}`,
			compartments.Message{Role: "assistant", Failed: true, Parts: []compartments.Part{{Kind: compartments.PartMarker, Type: "step-start"}, {Kind: compartments.PartText, Type: "text", Text: "t"}}}},
		{"broken off before a word", `{"role":"assistant","error":{"name":"MessageAbortedError"},"parts":[{"type":"step-start"},{"type":"reasoning","text":"t"}]}`,
			compartments.Message{Role: "assistant", Failed: true, Unsent: true, Parts: []compartments.Part{{Kind: compartments.PartMarker, Type: "step-start"}, {Kind: compartments.PartReasoning, Type: "reasoning", Text: "t"}}}},
		{"attachments of a failed call are not sent", `{"role":"assistant","parts":[{"type":"tool","state":{"status":"error","error":"e","output":"o","attachments":[{"mime":"image/png","url":"` + url + `"}]}}]}`,
			compartments.Message{Role: "assistant", Parts: []compartments.Part{{Kind: compartments.PartTool, Type: "tool", Status: compartments.StatusError, Output: "e"}}}},
		{"numbers beyond all bounds", `{"role":"user","time":1e300,"tokens":{"input":-1e300,"output":1e999}}`,
			compartments.Message{Role: "user", Time: 1 << 53, Usage: compartments.Usage{Input: -1 << 53}}},
	} {
		got, err := compartments.DecodeMessage([]byte(c.raw))
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, %v\nwant %+v", c.name, got, err, c.want)
		}
	}
	for raw, why := range map[string]string{
		``: "no JSON object", `[]`: "no JSON object", `null`: "no JSON object", `"x"`: "no JSON object", `{"role":"user"`: "no JSON object", `{"role":"user"} {}`: "no JSON object",
		`{}`: `role ""`, `{"role":"system"}`: `role "system"`, `{"role":"user","parts":{}}`: "no array", `{"role":"user","parts":"x"}`: "no array",
	} {
		if _, err := compartments.DecodeMessage([]byte(raw)); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want %q", raw, err, why)
		}
	}
}

// Two messages that differ in an attachment alone are not copies of each other.
func TestContentHashSeesAttachments(t *testing.T) {
	seen := map[compartments.Hash]string{}
	for _, attachments := range []string{``, `,"attachments":[]`, `,"attachments":[{"mime":"image/png","url":"` + strings.Repeat("A", 300) + `"}]`,
		`,"attachments":[{"mime":"image/png","url":"` + strings.Repeat("A", 301) + `"}]`, `,"attachments":[{"mime":"image/gif","url":"` + strings.Repeat("A", 300) + `"}]`} {
		m, err := compartments.DecodeMessage([]byte(`{"role":"assistant","parts":[{"type":"tool","state":{"status":"completed","output":"o"` + attachments + `}}]}`))
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[m.ContentHash()]; ok && attachments != `,"attachments":[]` {
			t.Errorf("%.60s has the hash of %.60s", attachments, other)
		}
		seen[m.ContentHash()] = attachments
	}
	if len(seen) != 4 {
		t.Errorf("%d hashes, want 4", len(seen))
	}
}

// FuzzDecodeMessage holds the walk over JSON against encoding/json.
func FuzzDecodeMessage(f *testing.F) {
	for _, raw := range []string{`{"role":"user","parts":[{"type":"text","text":"\\\"\ud800"}]}`, `{"role":"assistant","id":"\ud83d\ude00\udc00","parts":[{"type":"tool","state":{"status":"completed","output":{"a":[1,"]"]}}}]}`,
		"{\"role\":\"user\",\"agent\":\"\xff\"}", `{"role":"tool","time":-1e-5,"parts":[]}`, `{"\u0072ole":"user"}`} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := compartments.DecodeMessage(raw)
		var want struct {
			members map[string]json.RawMessage
			parts   []map[string]json.RawMessage
		}
		if json.Unmarshal(raw, &want.members) != nil || want.members == nil {
			if err == nil {
				t.Fatalf("%q was read, but is no object", raw)
			}
			return
		}
		var role, agent string
		_ = json.Unmarshal(want.members["role"], &role)
		_ = json.Unmarshal(want.members["agent"], &agent)
		if role != "user" && role != "assistant" && role != "tool" {
			if err == nil {
				t.Fatalf("%q was read with the role %q", raw, role)
			}
			return
		}
		if err != nil {
			if json.Unmarshal(want.members["parts"], new([]json.RawMessage)) == nil {
				t.Fatalf("%q: %v", raw, err)
			}
			return
		}
		if m.Agent != agent || string(m.Role) != role {
			t.Fatalf("%q: %+v", raw, m)
		}
		var parts []json.RawMessage
		_ = json.Unmarshal(want.members["parts"], &parts)
		if len(parts) != len(m.Parts) {
			t.Fatalf("%q: %d parts, want %d", raw, len(m.Parts), len(parts))
		}
		for i, p := range parts {
			var fields map[string]json.RawMessage
			_ = json.Unmarshal(p, &fields)
			var text string
			_ = json.Unmarshal(fields["text"], &text)
			if m.Parts[i].Text != text {
				t.Fatalf("%q: part %d has the text %q, want %q", raw, i, m.Parts[i].Text, text)
			}
		}
		m.Print()
	})
}

package lab

import (
	"fmt"
	"strings"
	"testing"
)

// show prints a request: the index of each message, and its blocks' tokens.
func show(r *request) string {
	var out []string
	for i := range r.messages {
		m := &r.messages[i]
		if m.index < 0 {
			out = append(out, "head-"+m.role)
		} else {
			out = append(out, fmt.Sprintf("%d:%d", m.index, len(m.blocks)))
		}
	}
	return strings.Join(out, " ")
}

func applied(t *testing.T, rec *recording, p string) *request {
	t.Helper()
	var parsed *plan
	if p != "" {
		var err error
		if parsed, err = parsePlan([]byte(p)); err != nil {
			t.Fatal(err)
		}
	}
	all := make([]int, len(rec.messages))
	for i := range all {
		all[i] = i
	}
	return newRenderer(counts).apply(rec, all, parsed)
}

func TestApply(t *testing.T) {
	rec, err := parseRecording("f.json", []byte(`{"messages":[
	 {"info":{"id":"m0","role":"user"},"parts":[{"type":"text","text":"do"},{"type":"text","text":"x","ignored":true},{"type":"text","text":""},{"type":"file","mime":"image/png"}]},
	 {"info":{"id":"m1","role":"assistant"},"parts":[{"type":"step-start"},{"type":"reasoning","text":"hm"},{"type":"tool","tool":"t","callID":"a","state":{"status":"completed","input":{},"output":"o"}},
	   {"type":"tool","tool":"t","callID":"b","state":{"status":"running"}},{"type":"step-start"},{"type":"text","text":"then"}]},
	 {"info":{"id":"m2","role":"assistant","error":{"name":"APIError"}},"parts":[{"type":"text","text":"half"}]},
	 {"info":{"id":"m3","role":"assistant","error":{"name":"MessageAbortedError"}},"parts":[{"type":"text","text":"half"}]},
	 {"info":{"id":"m4","role":"assistant","error":{"name":"MessageAbortedError"}},"parts":[{"type":"step-start"},{"type":"reasoning","text":"half"}]},
	 {"info":{"id":"m5","role":"user"},"parts":[{"type":"text","text":"go on"}]},
	 {"info":{"id":"m6","role":"assistant"},"parts":[]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, plan, want string }{
		{"no plan", "", "0:2 1:6 3:1 5:1"},
		{"an empty plan", `{"id":"p"}`, "0:2 1:6 3:1 5:1"},
		{"a head", `{"id":"p","head":[{"text":"a"},{"text":"b","cacheMark":true}],"through":"m3"}`, "head-user head-assistant head-user head-assistant 5:1"},
		{"what is kept stays in order", `{"id":"p","head":[{"text":"a"}],"through":"m5","keep":["m5","m0","gone"]}`, "head-user head-assistant 0:2 5:1"},
		{"a void plan", `{"id":"p","head":[{"text":"a"}],"through":"gone","edits":[{"messageID":"m0","part":0,"field":"drop"}]}`, "0:2 1:6 3:1 5:1"},
		{"parts are dropped", `{"id":"p","edits":[{"messageID":"m1","part":2,"field":"drop"},{"messageID":"m5","part":0,"field":"drop"}]}`, "0:2 1:4 3:1"},
		{"absent places are skipped", `{"id":"p","edits":[{"messageID":"m1","part":9,"field":"drop"},{"messageID":"x","part":0,"field":"text","value":"y"}]}`, "0:2 1:6 3:1 5:1"},
	} {
		if got := show(applied(t, rec, c.plan)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	marked := applied(t, rec, `{"id":"p","head":[{"text":"a"},{"text":"b","cacheMark":true}],"through":"m3"}`)
	if marked.marked != 3 || marked.head != 4 {
		t.Errorf("the mark is at %d of a head of %d", marked.marked, marked.head)
	}
	whole, edited := applied(t, rec, ""), applied(t, rec, `{"id":"p","edits":[{"messageID":"m1","part":2,"field":"output","value":"longer by some"}]}`)
	if at := firstDifference(whole, edited); at != 5 || !edited.edited[editKey{"m1", 2, "output"}] {
		t.Errorf("an edited output changes block %d", at)
	}
	if whole.tokens() >= edited.tokens() || firstDifference(whole, applied(t, rec, "")) >= 0 {
		t.Error("tokens or bytes do not follow the edit")
	}
	if rec.messages[1].parts[2].state.output != "o" {
		t.Error("the recording was changed")
	}
}

func TestParsePlanRefuses(t *testing.T) {
	for _, p := range []string{`[]`, `{"head":[]}`, `{"id":"p","edits":[{"field":"title"}]}`, `{"id":"p","head":"x"}`} {
		if _, err := parsePlan([]byte(p)); err == nil {
			t.Errorf("%s was accepted", p)
		}
	}
}

package lab

import (
	"fmt"
	"strings"
	"testing"
)

// list makes a recording from a word for each message: u, a, c (request for a
// summary), s (summary); an @ and a number make a time.
func list(t *testing.T, words string, tail string) *recording {
	t.Helper()
	var messages []string
	for i, w := range strings.Fields(words) {
		kind, at, timed := strings.Cut(w, "@")
		role, info, parts := "assistant", "", `{"type":"text","text":"words"}`
		switch kind {
		case "u":
			role = "user"
		case "c":
			role, parts = "user", `{"type":"compaction"`+tail+`}`
		case "s":
			info = `,"summary":true`
		case "f":
			info = `,"summary":true,"error":{}`
		}
		if timed {
			info += `,"time":{"created":` + at + `}`
		}
		messages = append(messages, fmt.Sprintf(`{"info":{"id":"m%d","role":%q%s},"parts":[%s]}`, i, role, info, parts))
	}
	r, err := parseRecording("f.json", []byte(`{"messages":[`+strings.Join(messages, ",")+`]}`))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestCut(t *testing.T) {
	for _, c := range []struct{ name, words, tail, want string }{
		{"one request before every reply", "u@5 a@7 a u@9 a@8", "", "[0]@7 [0 1]@7 idle [0 1 2 3]@8 idle"},
		{"replies that nobody asked for", "a@3 a u@5 a a", "", "[0 1 2]@5 [0 1 2 3]@5 idle"},
		{"no times", "u a", "", "[0]@0 idle"},
		{"a summary hides what it covers", "u a c s u a", "", "[0]@0 idle [0 1 2]@0 compacting idle [2 3 4]@0 idle"},
		{"but for what the host keeps", "u a u a c s a", `,"tail_start_id":"m2"`,
			"[0]@0 idle [0 1 2]@0 idle [0 1 2 3 4]@0 compacting [4 5 2 3]@0 idle"},
		{"a failed summary hides nothing", "u a c f a", "", "[0]@0 idle [0 1 2]@0 compacting [0 1 2 3]@0 idle"},
		{"an unknown tail keeps nothing", "u a c s a", `,"tail_start_id":"gone"`, "[0]@0 idle [0 1 2]@0 compacting [2 3]@0 idle"},
		{"the newest of several summaries counts", "u a c s a c s a", "", "[0]@0 idle [0 1 2]@0 compacting [2 3]@0 idle [2 3 4 5]@0 compacting [5 6]@0 idle"},
	} {
		var got []string
		for _, s := range cut(list(t, c.words, c.tail)) {
			got = append(got, fmt.Sprintf("%v@%d", s.view, s.now))
			if s.compacting {
				got = append(got, "compacting")
			}
			if s.idleAfter {
				got = append(got, "idle")
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, strings.Join(got, " "), c.want)
		}
	}
}

func TestRealUser(t *testing.T) {
	for parts, want := range map[string]bool{
		`{"type":"text","text":"do it"}`:                                                  true,
		`{"type":"text","text":" \u00a0\n"}`:                                              false,
		`{"type":"text","text":"note","synthetic":true}`:                                  false,
		`{"type":"text","text":"note","ignored":true}`:                                    false,
		`{"type":"file","mime":"image/png"}`:                                              true,
		`{"type":"file","mime":"image/png","synthetic":true}`:                             false,
		`{"type":"text","text":"note","synthetic":true},{"type":"text","text":"and you"}`: true,
		`{"type":"compaction"},{"type":"text","text":"x"}`:                                false,
		``: false,
	} {
		m, _, err := parseMessage([]byte(`{"info":{"role":"user"},"parts":[` + parts + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := realUser(&m); got != want {
			t.Errorf("%s: %t", parts, got)
		}
	}
}

package expand

import (
	"strings"
	"testing"

	"ctxplugin/compartments"
)

func pinnable() *compartments.Message {
	return &compartments.Message{Ordinal: 57, Role: compartments.RoleAssistant, Parts: []compartments.Part{
		{Kind: compartments.PartText, Type: "text", Text: "I run the tests.\nThen I fix the \"row\" reader."},
		{Kind: compartments.PartReasoning, Type: "reasoning", Text: "hm, perhaps"},
		{Kind: compartments.PartTool, Type: "tool", Tool: "bash", Status: compartments.StatusCompleted, Input: `{"command":"go test ./importer -run TestRow"}`, Output: "--- FAIL: TestRow\n\trow.go:88: index out of range [3]\n"},
		{Kind: compartments.PartTool, Type: "tool", Tool: "ctx_expand", Status: compartments.StatusCompleted, Input: `{"message":3}`, Output: "what is stored"},
		{Kind: compartments.PartFile, Type: "file", Filename: "plan.png", Mime: "image/png", URLBytes: 900},
	}}
}

func TestFindWords(t *testing.T) {
	for name, c := range map[string]struct {
		part  int
		field compartments.Field
		quote string
		want  []string // texts of the spans
		says  string   // of the refusal
	}{
		"a quote anywhere":           {-1, "", "row.go:88: index out of range [3]", []string{"row.go:88: index out of range [3]"}, ""},
		"a quote over lines":         {-1, "", "tests.\nThen I", []string{"tests.\nThen I"}, ""},
		"a quote of the arguments":   {2, "", "-run TestRow", []string{"-run TestRow"}, ""},
		"all of a part":              {0, "", "", []string{"I run the tests.\nThen I fix the \"row\" reader."}, ""},
		"the output alone":           {2, compartments.FieldOutput, "", []string{"--- FAIL: TestRow\n\trow.go:88: index out of range [3]\n"}, ""},
		"in another part":            {0, "", "FAIL", nil, "character by character"},
		"in another field":           {2, compartments.FieldInput, "FAIL", nil, "character by character"},
		"other blanks":               {-1, "", "row.go:88:  index out of range", nil, `"quote": "row.go:88: index out of range [3]"`},
		"other case":                 {-1, "", "i run the Tests.", nil, `the nearest line is in part 0, text. Copy it exactly: {"message": 57, "part": 0, "quote": "I run the tests."}`},
		"half of a line, nearly":     {-1, "", "the row reader", nil, "nearest line is in part 0"},
		"nothing like it":            {-1, "", "zebra crossing", nil, "ctx_expand({\"message\": 57})"},
		"reasoning":                  {1, "", "", nil, "reasoning, which is not shown"},
		"what our own tool returned": {3, "", "", nil, "ctx_expand, whose result repeats what is stored"},
		"a picture":                  {4, "", "", nil, "not text"},
		"no such part":               {9, "", "", nil, "no part 9; it has part 0 (text)"},
		"no such field":              {0, compartments.FieldOutput, "", nil, "has no output there"},
		"a stub":                     {-1, "", "[stored output of bash, completed, 60 characters; not shown here.", nil, "text of a stub"},
	} {
		spans, err := FindWords(pinnable(), c.part, c.field, c.quote)
		if c.says != "" {
			if compartments.CodeOf(err) != compartments.CodeNotFound || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v, %v", name, spans, err)
			}
			continue
		}
		if err != nil || len(spans) != len(c.want) {
			t.Errorf("%s: %+v, %v", name, spans, err)
			continue
		}
		for i, s := range spans {
			if s.Text != c.want[i] {
				t.Errorf("%s: %q", name, s.Text)
			}
			for _, p := range partPieces(&pinnable().Parts[s.Part], s.Part) {
				if p.field == s.Field && p.text[s.From:s.To] != s.Text {
					t.Errorf("%s: bytes %d-%d are %q", name, s.From, s.To, p.text[s.From:s.To])
				}
			}
		}
	}
	if spans, err := FindWords(pinnable(), -1, "", ""); err != nil || len(spans) != 3 {
		t.Errorf("the whole message: %+v, %v", spans, err)
	}
}

func TestReadPin(t *testing.T) {
	for raw, want := range map[string]PinAsk{
		`{"message": 57}`: {Message: 57, Part: -1},
		`{"message": "57", "part": "2", "quote": " x\n"}`:    {Message: 57, Part: 2, Quote: " x\n"},
		`{"message": "msg_4", "field": "output", "part": 0}`: {ID: "msg_4", Part: 0, Field: compartments.FieldOutput},
		`{"first": 41, "last": 58}`:                          {First: 41, Last: 58, Part: -1},
		`{"first": "[41-58 compact]"}`:                       {First: 41, Last: 58, Part: -1},
		`{"compartment": 41}`:                                {Compartment: 41, Part: -1},
		`"{\"message\": 57}"`:                                {Message: 57, Part: -1},
		`{"arguments": {"message": 57}}`:                     {Message: 57, Part: -1},
	} {
		if got, refusal := ReadPin([]byte(raw)); refusal != "" || got != want {
			t.Errorf("%s: %+v, %q", raw, got, refusal)
		}
	}
	for _, raw := range []string{``, `null`, `[]`, `{}`, `{"quote": "x"}`, `{"message": 0}`, `{"message": 1.5}`, `{"message": 1, "first": 2, "last": 3}`,
		`{"first": 1, "last": 3, "quote": "x"}`, `{"message": 1, "quote": "  "}`, `{"message": 1, "quote": []}`, `{"message": 1, "offset": 3}`, `{"massage": 1}`,
		`{"first": 1}`, `{"last": 1}`, `{"first": 3, "last": 1}`} {
		if _, refusal := ReadPin([]byte(raw)); !strings.Contains(refusal, "Accepted: {") || strings.Contains(refusal, ToolExpand) {
			t.Errorf("%s: %q", raw, refusal)
		}
	}
	for raw, want := range map[string]string{
		`{"first": 58, "last": 41}`: `first 58 is behind last 41; a range is written {"first": 41, "last": 58}.`,
		`{"first": "58-41"}`:        `first 58 is behind last 41; a range is written {"first": 41, "last": 58}.`,
		`{"first": 58}`:             `last is missing; for one message write ctx_pin({"message": 58}).`,
		`{"last": 58}`:              `first is missing; for one message write ctx_pin({"message": 58}).`,
		`{"massage": 1}`:            `there is no argument "massage".`,
	} {
		if _, refusal := ReadPin([]byte(raw)); refusal != "ctx_pin: "+want+"\n"+pinForm+"\n" {
			t.Errorf("%s: %q", raw, refusal)
		}
	}
	for _, raw := range []string{`{"pin": 3}`, `{"pin": "3"}`, `"{\"pin\": 3}"`} {
		if id, refusal := ReadUnpin([]byte(raw)); id != 3 || refusal != "" {
			t.Errorf("%s: %d, %q", raw, id, refusal)
		}
	}
}

func FuzzReadPin(f *testing.F) {
	f.Add([]byte(`{"message": 57, "part": 2, "quote": "x", "first": "[1-2]"}`))
	f.Add([]byte(`"{\"compartment\": 1e3}"`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		ask, refusal := ReadPin(raw)
		words := ask.Message > 0 || ask.ID != ""
		ranged := ask.First > 0 && ask.Last >= ask.First
		if refusal == "" && words == (ranged || ask.Compartment > 0) {
			t.Errorf("%q asks for %+v", raw, ask)
		}
		if _, err := FindWords(pinnable(), ask.Part, ask.Field, ask.Quote); err != nil && compartments.CodeOf(err) != compartments.CodeNotFound {
			t.Errorf("%q: %v", raw, err)
		}
		_, _ = ReadUnpin(raw)
	})
}

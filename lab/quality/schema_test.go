package quality_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ctxplugin/lab/quality"
)

// kind is as much of a JSON schema as ours uses.
type kind struct {
	Ref        string           `json:"$ref"`
	Type       string           `json:"type"`
	Const      any              `json:"const"`
	Enum       []any            `json:"enum"`
	Required   []string         `json:"required"`
	Properties map[string]*kind `json:"properties"`
	More       json.RawMessage  `json:"additionalProperties"`
	Items      *kind            `json:"items"`
	Defs       map[string]*kind `json:"$defs"`
}

func (k *kind) check(root *kind, at string, v any) error {
	if k.Ref != "" {
		return root.Defs[strings.TrimPrefix(k.Ref, "#/$defs/")].check(root, at, v)
	}
	if k.Const != nil && k.Const != v || k.Enum != nil && !slices.Contains(k.Enum, v) {
		return fmt.Errorf("%s is %v", at, v)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range k.Required {
			if _, ok := v[name]; !ok {
				return fmt.Errorf("%s has no %s", at, name)
			}
		}
		for name, value := range v {
			p := k.Properties[name]
			if p == nil {
				if k.More != nil && string(k.More) != "false" || k.Properties == nil {
					continue
				}
				return fmt.Errorf("%s has %s, which the schema does not know", at, name)
			}
			if err := p.check(root, at+"."+name, value); err != nil {
				return err
			}
		}
	case []any:
		for i, e := range v {
			if err := k.Items.check(root, fmt.Sprintf("%s[%d]", at, i), e); err != nil {
				return err
			}
		}
	}
	return nil
}

func TestRecordsFollowTheSchema(t *testing.T) {
	var root kind
	if err := json.Unmarshal([]byte(quality.RecordSchema()), &root); err != nil {
		t.Fatal(err)
	}
	records := run(t, quality.Options{Seeds: 1, Episodes: 4, Losses: []int{300}, Repeats: 1, Shares: []int{400}})
	var lines bytes.Buffer
	if err := quality.Write(&lines, records); err != nil {
		t.Fatal(err)
	}
	for n, line := range bytes.Split(bytes.TrimSpace(lines.Bytes()), []byte("\n")) {
		var v any
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatal(err)
		}
		if err := root.check(&root, fmt.Sprintf("line %d", n+1), v); err != nil {
			t.Fatal(err)
		}
	}
	if err := root.check(&root, "line", map[string]any{"shown": map[string]any{"form": "round"}}); err == nil {
		t.Error("the check finds no fault with a line that has some")
	}
}

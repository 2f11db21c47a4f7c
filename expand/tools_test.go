package expand

import (
	"encoding/json"
	"slices"
	"testing"

	"ctxplugin/tokens"
)

func TestDefinitions_FitTheirBudget(t *testing.T) {
	const most = 400
	count := tokens.New().Count
	sum := 0
	for _, d := range Definitions() {
		sum += count(d.Name) + count(d.Description) + count(string(d.InputSchema))
	}
	t.Logf("%d tokens", sum)
	if sum >= most {
		t.Errorf("the definitions take %d tokens, %d are allowed", sum, most)
	}
}

func TestDefinitions_NameTheArgumentsThatAreRead(t *testing.T) {
	read := map[string][]string{ToolExpand: expandKeys, ToolSearch: searchKeys}
	for _, d := range Definitions() {
		var schema struct {
			Type       string
			Properties map[string]any
			Required   []string
		}
		if err := json.Unmarshal(d.InputSchema, &schema); err != nil {
			t.Fatalf("%s: %v", d.Name, err)
		}
		var named []string
		for name := range schema.Properties {
			named = append(named, name)
		}
		want := slices.Sorted(slices.Values(read[d.Name]))
		if slices.Sort(named); schema.Type != "object" || !slices.Equal(named, want) {
			t.Errorf("%s: the schema names %q, read are %q", d.Name, named, want)
		}
	}
}

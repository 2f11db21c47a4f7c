package expand

import (
	"encoding/json"
	"slices"
	"testing"

	"ctxplugin/tokens"
)

func TestDefinitions_FitTheirBudget(t *testing.T) {
	count := tokens.New().Count
	most := map[bool]int{false: 400, true: 200} // of those about pins, and of the others
	sum := map[bool]int{}
	for _, d := range Definitions() {
		sum[d.Name == ToolPin || d.Name == ToolUnpin] += count(d.Name) + count(d.Description) + count(string(d.InputSchema))
	}
	t.Logf("%d tokens, and %d about pins", sum[false], sum[true])
	for pins, n := range sum {
		if n >= most[pins] {
			t.Errorf("the definitions take %d tokens, %d are allowed", n, most[pins])
		}
	}
}

func TestDefinitions_NameTheArgumentsThatAreRead(t *testing.T) {
	read := map[string][]string{ToolExpand: expandKeys, ToolSearch: searchKeys, ToolUnpin: {keyPin},
		ToolPin: {keyMessage, keyPart, keyQuote, keyFirst, keyLast}} // and compartment and field, for who tries
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

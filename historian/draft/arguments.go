package draft

import (
	"encoding/json"
	"slices"
	"strings"
)

// stringField is the first of the named fields of a JSON object that holds a
// string, or a list of strings.
func stringField(raw string, names ...string) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(raw), &fields) != nil {
		return ""
	}
	for _, name := range names {
		var one string
		var list []string
		if json.Unmarshal(fields[name], &one) == nil && one != "" {
			return one
		}
		if json.Unmarshal(fields[name], &list) == nil && len(list) > 0 {
			return strings.Join(list, " ")
		}
	}
	return ""
}

// stringsIn lists the strings of a JSON text, in the order of their names.
func stringsIn(raw string) []string {
	var value any
	if json.Unmarshal([]byte(raw), &value) != nil {
		return []string{raw}
	}
	var out []string
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			out = append(out, v)
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			names := make([]string, 0, len(v))
			for name := range v {
				names = append(names, name)
			}
			slices.Sort(names)
			for _, name := range names {
				walk(v[name])
			}
		}
	}
	walk(value)
	return out
}

package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"ctxplugin/compartments"
)

// count is a number that JavaScript may have written with a fraction or an
// exponent. It is rounded, and held inside the range of exact integers there.
type count int64

// UnmarshalJSON implements json.Unmarshaler.
func (c *count) UnmarshalJSON(raw []byte) error {
	if string(raw) == "null" {
		return nil
	}
	var f float64
	if err := json.Unmarshal(raw, &f); err != nil {
		return err // as it is: encoding/json adds the name of the field
	}
	const most = 1<<53 - 1
	*c = count(math.Round(max(-most, min(most, f))))
	return nil
}

// usage is what a provider reported for one request, in tokens.
type usage struct {
	Input     count `json:"input"`
	Output    count `json:"output"`
	Reasoning count `json:"reasoning"`
	Cache     struct {
		Read  count `json:"read"`
		Write count `json:"write"`
	} `json:"cache"`
}

func (u usage) domain() compartments.Usage {
	return compartments.Usage{Input: int(u.Input), Output: int(u.Output), Reasoning: int(u.Reasoning),
		CacheRead: int(u.Cache.Read), CacheWrite: int(u.Cache.Write)}
}

// read decodes parameters by name, case and all; what is absent or null leaves
// its target as it is, and what has no target is ignored.
func (r *request) read(targets map[string]any) error {
	for _, m := range r.params.members {
		target, ok := targets[m.name]
		if !ok || string(m.value) == "null" {
			continue
		}
		if err := json.Unmarshal(m.value, target); err != nil {
			return badInput("%s: %s", r.method, wrongShape(m.name, err))
		}
	}
	return nil
}

func wrongShape(name string, err error) string {
	var t *json.UnmarshalTypeError
	if errors.As(err, &t) {
		if t.Field != "" {
			name += "." + t.Field
		}
		if number, ok := strings.CutPrefix(t.Value, "number "); ok {
			return fmt.Sprintf("%s: the number %s is out of range", name, clip(number, 40))
		}
		return fmt.Sprintf("%s: %s came where %s is expected", name, t.Value, expected(t.Type.Kind().String()))
	}
	return name + ": " + err.Error()
}

func expected(kind string) string {
	switch kind {
	case "int", "int64", "float64":
		return "a number"
	case "string":
		return "a string"
	case "bool":
		return "true or false"
	case "struct", "map":
		return "an object"
	case "slice":
		return "an array"
	}
	return "another type"
}

// argumentsOf returns the arguments of a tool call as one JSON object. Models
// now and then send the object inside a string, and the host passes it on.
func argumentsOf(raw []byte) ([]byte, bool) {
	if raw == nil {
		return []byte("{}"), true
	}
	if raw[0] == '"' {
		raw = bytes.TrimSpace([]byte(unquote(raw)))
		if len(raw) == 0 {
			return []byte("{}"), true
		}
		if !json.Valid(raw) {
			return nil, false
		}
	}
	return raw, raw[0] == '{'
}

// appendJSON appends a JSON string that is valid UTF-8, without HTML escapes.
func appendJSON(b []byte, s string) []byte {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string always has JSON
	return append(b, bytes.TrimSuffix(buf.Bytes(), []byte{'\n'})...)
}

// encode is the JSON of a value of ours.
func encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encode reply: %w", err)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte{'\n'}), nil
}

// places refuses what stands for nothing and would else pass for a parameter that
// is not given, and so for the whole: a part below 0, a compartment below 1, and
// one end of a range.
func (r *request) places(part, compartment count) error {
	first, last := r.params.get("first") != nil, r.params.get("last") != nil
	switch {
	case r.params.get("part") != nil && part < 0:
		return badInput("%s: part is %d; it has to be the place of a part in its message, counted from 0", r.method, part)
	case r.params.get("compartment") != nil && compartment < 1:
		return badInput("%s: compartment is %d; it has to be the number of a message in it, counted from 1", r.method, compartment)
	case first && !last:
		return badInput("%s: last is missing; a range is named with both ends, such as \"first\": 3, \"last\": 5", r.method)
	case last && !first:
		return badInput("%s: first is missing; a range is named with both ends, such as \"first\": 3, \"last\": 5", r.method)
	}
	return nil
}

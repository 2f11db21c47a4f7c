package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agnivade/levenshtein"

	"ctxplugin/compartments"
	"ctxplugin/models"
)

// The backends.
const (
	backendHost      = "host"
	backendAnthropic = "anthropic"
	backendOpenAI    = "openai"
	backendBuiltIn   = "built-in"
)

var backends = []string{backendHost, backendAnthropic, backendOpenAI, backendBuiltIn}

// vendorVariables hold the keys of the vendors' own endpoints. They are sent to no
// other.
var vendorVariables = map[string]string{backendAnthropic: "ANTHROPIC_API_KEY", backendOpenAI: "OPENAI_API_KEY"}

// modelChoice is one model of the setting historian.
type modelChoice struct {
	Backend     string         `json:"backend"`
	Model       string         `json:"model,omitempty"`
	URL         string         `json:"url,omitempty"`
	Key         secret         `json:"key,omitempty"`
	Window      int            `json:"window,omitempty"`
	MaxOutput   int            `json:"maxOutput,omitempty"`
	Temperature *float64       `json:"temperature,omitempty"`
	Timeout     int            `json:"timeout,omitempty"` // seconds
	Tries       int            `json:"tries,omitempty"`
	Price       *priceChoice   `json:"price,omitempty"`
	Options     map[string]any `json:"options,omitempty"`
}

// priceChoice is the price of a model, in units of money per million tokens.
type priceChoice struct {
	Input  float64 `json:"input"`
	Output float64 `json:"output"`
}

// secret shows itself to nobody.
type secret string

const hiddenSecret = "(set)"

func (s secret) String() string { return hiddenSecret }

// GoString implements fmt.GoStringer.
func (s secret) GoString() string { return hiddenSecret }

// MarshalJSON implements json.Marshaler.
func (s secret) MarshalJSON() ([]byte, error) { return json.Marshal(hiddenSecret) }

// setup is a fingerprint of how the model is reached and asked, by which it is known
// whether what failed before is still set so. It has 32 bits: a key, also a poor
// one, cannot be found from it.
func (m *modelChoice) setup() string {
	asked := *m
	asked.Price = nil
	text, err := json.Marshal(struct {
		modelChoice
		Key string `json:"key"`
	}{asked, string(m.Key)})
	if err != nil {
		panic("a choice is plain values: " + err.Error()) // it was read from JSON
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:4])
}

// prices are what the domain counts with.
func (m *modelChoice) prices() compartments.Prices {
	if m.Price == nil {
		return compartments.Prices{Kind: "unknown"}
	}
	in, out := int64(m.Price.Input*1e6), int64(m.Price.Output*1e6)
	return compartments.Prices{Input: in, Output: out, CacheRead: in, CacheWrite: in, Kind: "none"}
}

func (m *modelChoice) timeout() time.Duration { return time.Duration(m.Timeout) * time.Second }

// bare reports whether nothing but the backend is chosen.
func (m *modelChoice) bare() bool {
	text, err := json.Marshal(m)
	return err == nil && string(text) == fmt.Sprintf(`{"backend":%q}`, m.Backend)
}

// showModels is the value of the setting as it would stand in the file, keys apart.
func showModels(list []modelChoice) string {
	switch {
	case len(list) == 0:
		return strconv.Quote(backendBuiltIn)
	case len(list) == 1 && list[0].bare():
		return strconv.Quote(list[0].Backend)
	}
	text, err := json.Marshal(list)
	if err != nil {
		panic("a choice is plain values: " + err.Error()) // it was read from JSON
	}
	return string(text)
}

// setModels takes the value of the setting called name. What is wrong with one model
// leaves that one out; the text says so, one sentence each.
func setModels(name string, list *[]modelChoice, v any, variable func(string) string) (wrong string) {
	entries, isList := v.([]any)
	if !isList {
		entries = []any{v}
	}
	stays := func() string { return showModels(*list) + " stays" }
	if len(entries) == 0 {
		return fmt.Sprintf("%s names no model: write %q for none; %s", name, backendBuiltIn, stays())
	}
	var all []modelChoice
	var faults []string
	for i, entry := range entries {
		place := name
		if isList {
			place = fmt.Sprintf("%s[%d]", name, i)
		}
		m, fault := readModel(place, entry, variable)
		switch {
		case fault != "" && isList:
			faults = append(faults, fault+"; this model is left out")
		case fault != "":
			return fault + "; " + stays()
		case m.Backend == backendBuiltIn && i < len(entries)-1:
			faults = append(faults, fmt.Sprintf("%s: the built-in generator never fails, so what stands behind it is never asked", place))
		}
		if fault == "" && m.Backend == backendBuiltIn {
			break
		}
		if fault == "" {
			all = append(all, m)
		}
	}
	*list = all
	if len(all) == 0 && len(faults) > 0 {
		faults = append(faults, "the built-in generator writes meanwhile")
	}
	return strings.Join(faults, "; ")
}

// readModel reads one entry.
func readModel(place string, v any, variable func(string) string) (m modelChoice, fault string) {
	fields, ok := v.(map[string]any)
	if text, isText := v.(string); isText {
		fields, ok = map[string]any{"backend": text}, true
	}
	if !ok {
		return m, fmt.Sprintf("%s has to be a backend (%s) or an object with one", place, strings.Join(backends, ", "))
	}
	for _, field := range sortedKeys(fields) {
		if fault := m.take(place, field, fields[field]); fault != "" {
			return m, fault
		}
	}
	return m, m.check(place, variable)
}

func sortedKeys(fields map[string]any) []string {
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// modelFields are the members of an entry.
var modelFields = []string{"backend", "model", "url", "key", "window", "maxOutput", "temperature", "timeout", "tries", "price", "options"}

// take sets one member.
func (m *modelChoice) take(place, field string, v any) (fault string) {
	text := func(to *string) string {
		s, ok := v.(string)
		if !ok || s == "" || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' }) {
			return fmt.Sprintf("%s.%s has to be a text", place, field)
		}
		*to = s
		return ""
	}
	whole := func(to *int, least, most int) string {
		n, ok := v.(float64)
		if !ok || n != float64(int(n)) || int(n) < least || int(n) > most {
			return fmt.Sprintf("%s.%s has to be a whole number from %s to %s", place, field, grouped(least), grouped(most))
		}
		*to = int(n)
		return ""
	}
	switch field {
	case "backend":
		return text(&m.Backend)
	case "model":
		return text(&m.Model)
	case "url":
		return text(&m.URL)
	case "key":
		return text((*string)(&m.Key))
	case "window":
		return whole(&m.Window, 4_000, 10_000_000)
	case "maxOutput":
		return whole(&m.MaxOutput, 500, 1_000_000)
	case "timeout":
		return whole(&m.Timeout, 1, 3_600)
	case "tries":
		return whole(&m.Tries, 1, 10)
	case "temperature":
		n, ok := v.(float64)
		if !ok || !(n >= 0 && n <= 2) {
			return fmt.Sprintf("%s.temperature has to be a number from 0 to 2", place)
		}
		m.Temperature = &n
	case "price":
		p, ok := v.(map[string]any)
		in, hasIn := p["input"].(float64)
		out, hasOut := p["output"].(float64)
		if !ok || !hasIn || !hasOut || len(p) != 2 || !(in >= 0 && in <= 1e6) || !(out >= 0 && out <= 1e6) {
			return fmt.Sprintf(`%s.price has to be {"input": N, "output": N}, in units of money per million tokens`, place)
		}
		m.Price = &priceChoice{in, out}
	case "options":
		o, ok := v.(map[string]any)
		if !ok {
			return fmt.Sprintf("%s.options has to be an object", place)
		}
		for _, name := range sortedKeys(o) {
			if slices.Contains(models.Reserved, name) || name == "" {
				return fmt.Sprintf("%s.options.%s cannot be set here", place, name)
			}
		}
		m.Options = o
	default:
		hint, least := "", len(field)/2+1
		for _, known := range modelFields {
			if d := levenshtein.ComputeDistance(strings.ToLower(field), strings.ToLower(known)); d < least {
				hint, least = fmt.Sprintf("; the nearest is %q", known), d
			}
		}
		return fmt.Sprintf("%s.%s is no setting%s", place, field, hint)
	}
	return ""
}

// check makes sure that the entry can be asked at all, and looks keys up.
func (m *modelChoice) check(place string, variable func(string) string) (fault string) {
	switch m.Backend {
	case "":
		return fmt.Sprintf("%s.backend is missing: it has to be one of %s", place, strings.Join(backends, ", "))
	case backendHost, backendBuiltIn:
		for _, set := range []struct {
			field string
			is    bool
		}{{"url", m.URL != ""}, {"key", m.Key != ""}, {"options", m.Options != nil}, {"model", m.Model != "" && m.Backend == backendBuiltIn}} {
			if set.is {
				return fmt.Sprintf("%s.%s means nothing for backend %s", place, set.field, m.Backend)
			}
		}
		if m.Model != "" && !strings.Contains(strings.Trim(m.Model, "/"), "/") {
			return fmt.Sprintf("%s.model %q has to be provider/model, as the host names them", place, m.Model)
		}
		return ""
	case backendAnthropic, backendOpenAI:
	default:
		return fmt.Sprintf("%s.backend %q is none: there are %s", place, m.Backend, strings.Join(backends, ", "))
	}
	if m.Model == "" {
		return fmt.Sprintf("%s.model is missing: name a model of %s", place, m.Backend)
	}
	if m.URL != "" {
		u, err := url.Parse(m.URL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			return fmt.Sprintf("%s.url has to be an address such as http://127.0.0.1:11434/v1, without user and query", place)
		}
	}
	name, named := strings.CutPrefix(string(m.Key), "$")
	if m.Key == "" && m.URL == "" {
		name, named = vendorVariables[m.Backend], true
	}
	if m.Key = secret(strings.TrimSpace(string(m.Key))); !named {
		return ""
	}
	if name = strings.TrimSpace(name); name == "" {
		return fmt.Sprintf("%s.key names no variable: write $NAME", place)
	}
	if m.Key = secret(strings.TrimSpace(variable(name))); m.Key == "" {
		return fmt.Sprintf("%s.key is missing: set it, or the variable %s", place, name)
	}
	return ""
}

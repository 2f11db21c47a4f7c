package main

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ctxplugin/compartments"
	"ctxplugin/decay"
)

// load reads settings from a file with this text.
func load(t *testing.T, text string) config {
	t.Helper()
	home := t.TempDir()
	path := filepath.Join(home, ".config", "ctxplugin", configName)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := (&program{env: environment{"HOME=" + home}}).readConfig()
	if err != nil {
		t.Fatal(err)
	}
	for i := range c.warnings {
		c.warnings[i] = strings.ReplaceAll(c.warnings[i], path, "FILE")
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != text {
		t.Errorf("the file was changed: %q, %v", after, err)
	}
	return c
}

// other is a legal value of a key that is not its default, as it stands in a
// file.
func other(k *key, c *config) string {
	switch {
	case k.number != nil:
		n := *k.number(c)/k.per - 1
		if n < k.least {
			n += 2
		}
		return fmt.Sprint(n)
	case k.word != nil:
		return fmt.Sprintf("%q", k.words[0])
	case k.text != nil:
		return `"/elsewhere/sessions.db"`
	case k.models != nil:
		return `"host"`
	}
	return fmt.Sprint(!*k.flag(c))
}

// Every key changes exactly its own setting, says where it comes from, and refuses
// values of another type.
func TestKeys_EachChangesItsSetting(t *testing.T) {
	base := load(t, "")
	changed := map[string]string{} // by what the settings became, the key
	for i := range keys {
		k := &keys[i]
		value := other(k, &base)
		c := load(t, fmt.Sprintf("{%q: %s}", k.name, value))
		if k.show(&c) != value || k.show(&base) == value {
			t.Errorf("%s: %s gave %s, the default is %s", k.name, value, k.show(&c), k.show(&base))
		}
		if len(c.warnings) > 0 {
			t.Errorf("%s: %v", k.name, c.warnings)
		}
		follows := "" // what has another default with it
		if k.models != nil {
			follows = "writeBehind"
			delete(c.sources, follows)
		}
		if !strings.HasSuffix(c.sources[k.name], configName+":1") || len(c.sources) != 1 {
			t.Errorf("%s comes from %v", k.name, c.sources)
		}
		print := fmt.Sprint(c.Settings, c.LogLevel, c.Notifications, c.Models, c.DayTokens, c.DayCost, strings.HasPrefix(c.Database, "/elsewhere"))
		if twin, ok := changed[print]; ok {
			t.Errorf("%s and %s change the same", k.name, twin)
		}
		changed[print] = k.name
		for j := range keys {
			if o := &keys[j]; o != k && o.name != follows && o.text == nil && o.show(&c) != o.show(&base) {
				t.Errorf("%s changes %s too", k.name, o.name)
			}
		}
		for _, wrong := range []string{"[]", "{}", `"nonsense\u0000"`, "1.5", `"85"`} {
			if k.number == nil && k.flag == nil && wrong == `"85"` && k.text != nil {
				continue // a fine name for a database
			}
			if c := load(t, fmt.Sprintf("{%q: %s}", k.name, wrong)); len(c.warnings) != 1 || k.text == nil && k.show(&c) != k.show(&base) || len(c.sources) != 0 {
				t.Errorf("%s: %s gave %s, %v", k.name, wrong, k.show(&c), c.warnings)
			}
		}
	}
}

// Every number of the policy can be set.
func TestKeys_CoverSettings(t *testing.T) {
	reached := map[*int]bool{}
	var c config
	for i := range keys {
		if k := &keys[i]; k.number != nil {
			reached[k.number(&c)] = true
		}
	}
	for d := range c.Floors {
		if !reached[&c.Floors[d]] {
			t.Errorf("the floor of %s has no key", compartments.Dimension(d))
		}
	}
	v := reflect.ValueOf(&c.Settings).Elem()
	for i := range v.NumField() {
		number, ok := v.Field(i).Addr().Interface().(*int)
		if !ok {
			continue // ForceTier: a way to look, no number
		}
		if !reached[number] {
			t.Errorf("decay.Settings.%s has no key", v.Type().Field(i).Name)
		}
	}
}

func TestKeys_DefaultsAreLegal(t *testing.T) {
	c := defaults(folders{})
	for i := range keys {
		k := &keys[i]
		if k.number == nil {
			continue
		}
		n := *k.number(&c)
		if n%k.per != 0 || n/k.per < k.least || n/k.per > k.most {
			t.Errorf("%s: the default %d is outside %s", k.name, n, k.rangeText())
		}
	}
	if changed := c.settle(); changed != nil || c.Settings != decay.Defaults() {
		t.Errorf("the defaults do not agree with each other: %v", changed)
	}
}

func TestReadConfig_Warnings(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       []string
		check      func(c *config) bool
	}{
		{"empty", "", nil, nil},
		{"blank", " \n\n", nil, nil},
		{"byte order mark and carriage returns", "\ufeff{\r\n\"halfLife\": 7}\r\n", nil, func(c *config) bool { return c.HalfLife == 7 }},
		{"schema", `{"$schema": "x"}`, nil, nil},
		{"below", `{"forceMark": 5, "forceAim": 10}`, []string{"FILE:1: forceMark 5 is below its range, 30 to 95; 30 is used"},
			func(c *config) bool { return c.ForceMark == 300 && c.ForceAim == 100 }},
		{"far above", `{"forceMark": 1e30}`, []string{"FILE:1: forceMark 1000000000000000000000000000000 is above its range, 30 to 95; 95 is used"},
			func(c *config) bool { return c.ForceMark == 950 }},
		{"null", `{"forceMark": null}`, []string{"FILE:1: forceMark has to be a whole number of percent, 30 to 95; 85 stays"}, nil},
		{"a floor", `{"floorRejected": 40}`, nil, func(c *config) bool { return c.Floors[compartments.Rejected] == 400 }},
		{"a floor that forbids every tier", `{"floorRejected": 100}`, []string{"FILE:1: floorRejected 100 is refused: it would forbid every tier but the messages themselves. " +
			"A whole percentage from 0 to 95 is accepted, such as 50; 0 stays"}, func(c *config) bool { return c.Floors == decay.Defaults().Floors }},
		{"a floor below", `{"floorRejected": -1}`, []string{"FILE:1: floorRejected -1 is below its range, 0 to 95; 0 is used"}, nil},
		{"no half-life", `{"halfLife": 0}`, []string{"FILE:1: halfLife 0 is below its range, 1 to 10,000; 1 is used"}, func(c *config) bool { return c.HalfLife == 1 }},
		{"unknown", "{\n\n\"HalfLive\": 1}", []string{`FILE:3: "HalfLive" is no setting; the nearest is "halfLife"`}, nil},
		{"nothing like it", `{"zzz": 1, "": 2}`, []string{`FILE:1: "zzz" is no setting`, `FILE:1: "" is no setting`}, nil},
		{"case", `{"halflife": 1}`, []string{`FILE:1: "halflife" is no setting; the nearest is "halfLife"`},
			func(c *config) bool { return c.HalfLife == decay.Defaults().HalfLife }},
		{"twice", "{\"halfLife\": 3,\n\"halfLife\": 4}", []string{"FILE:2: halfLife stands in line 1 too; this one counts"},
			func(c *config) bool { return c.HalfLife == 4 }},
		{"aim above mark", `{"forceMark": 50}`, []string{"FILE: forceAim 60 is above what forceMark 50 allows; 45 is used"},
			func(c *config) bool { return c.ForceAim == 450 }},
		{"least above most", `{"historyLeast": 50000}`, []string{"FILE: historyLeast 50000 is above what historyMost 40000 allows; 40000 is used"}, nil},
		{"promotion above demotion", `{"demoteTo": 60}`, []string{"FILE: promoteBelow 80 is above what demoteTo 60 allows; 55 is used"},
			func(c *config) bool { return c.PromoteBelow == 550 }},
		{"preview above output", `{"stubOver": 100}`, []string{"FILE: stubPreview 400 is above what stubOver 100 allows; 100 is used"}, nil},
		{"word", `{"logLevel": "loud"}`, []string{`FILE:1: logLevel has to be one of debug, info, warn, error, off; "info" stays`}, nil},
		{"no JSON", "{\n\"halfLife\" 3}", []string{"FILE: line 2, column 12: invalid character '3' after object name; the file is left as it is and the defaults are used"}, nil},
		{"no object", "[1]", []string{"FILE: the file has to be one object in braces; the defaults are used"}, nil},
		{"cut off", `{"halfLife": 3`, []string{"FILE: line 1, column 15: parsing object after value: unexpected EOF; the file is left as it is and the defaults are used"},
			func(c *config) bool { return c.HalfLife == decay.Defaults().HalfLife }},
	} {
		c := load(t, tc.text)
		if !slices.Equal(c.warnings, tc.want) {
			t.Errorf("%s: got %q", tc.name, c.warnings)
		}
		if tc.check != nil && !tc.check(&c) {
			t.Errorf("%s: settings %+v", tc.name, c.Settings)
		}
		if tc.check == nil && tc.want == nil && c.Settings != decay.Defaults() {
			t.Errorf("%s: settings %+v", tc.name, c.Settings)
		}
	}
}

func TestReadConfig_Unreadable(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, ".config", "ctxplugin", configName)
	if err := os.MkdirAll(path, 0o700); err != nil { // a folder in its place
		t.Fatal(err)
	}
	p := &program{env: environment{"HOME=" + home}}
	if c, err := p.readConfig(); err != nil || len(c.warnings) != 1 || !strings.Contains(c.warnings[0], path) {
		t.Errorf("a folder: %v, %v", c.warnings, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, make([]byte, configBytes+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := p.readConfig(); err != nil || len(c.warnings) != 1 || !strings.Contains(c.warnings[0], "larger than") {
		t.Errorf("a large file: %v, %v", c.warnings, err)
	}
}

func FuzzConfig(f *testing.F) {
	f.Add([]byte(`{"forceMark": 70, "x": [1], "halfLife": -1.5e3, /* c */ "database": "~/a",}`))
	f.Add([]byte(`{"forceMark"`))
	f.Add([]byte("\ufeff{\"\\u0066orceMark\": 1e999}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c := defaults(folders{data: "/data"})
		c.path = "FILE"
		c.apply(text)
		c.settle()
		for i := range keys {
			if k := &keys[i]; k.number != nil {
				// Only settle may leave the range of a key, to hold a stricter bound.
				if n := *k.number(&c) / k.per; n > k.most || n < min(k.least, 25) {
					t.Errorf("%s is %d", k.name, n)
				}
			}
		}
	})
}

const referenceDoc = "../../docs/configuration.md"

// TestReference holds the table of docs/configuration.md against the code.
func TestReference(t *testing.T) {
	doc, err := os.ReadFile(referenceDoc)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, found := strings.Cut(string(doc), " -update -->\n")
	table, foot, closed := strings.Cut(rest, "<!-- end of settings -->")
	if !found || !closed {
		t.Fatalf("%s has no place for the table", referenceDoc)
	}
	if table == reference() {
		return
	}
	if !*update {
		t.Fatalf("%s is not what keys.go says; run this test with -update", referenceDoc)
	}
	if err := os.WriteFile(referenceDoc, []byte(head+" -update -->\n"+reference()+"<!-- end of settings -->"+foot), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestFolders(t *testing.T) {
	for _, tc := range []struct {
		env  environment
		want folders
	}{
		{environment{"HOME=/h"}, folders{"/h/.config/ctxplugin", "/h/.local/share/ctxplugin", "/h/.local/state/ctxplugin", "/h/.config"}},
		{environment{"HOME=/h", "XDG_CONFIG_HOME=/c", "XDG_DATA_HOME=/d", "XDG_STATE_HOME=/s"}, folders{"/c/ctxplugin", "/d/ctxplugin", "/s/ctxplugin", "/c"}},
		{environment{"XDG_CONFIG_HOME=rel", "HOME=rel"}, folders{}},
		{environment{"XDG_STATE_HOME=/s"}, folders{state: "/s/ctxplugin"}},
		{nil, folders{}},
		{environment{"HOME=/old", "HOME=/h", "XDG_CONFIG_HOME="}, folders{"/h/.config/ctxplugin", "/h/.local/share/ctxplugin", "/h/.local/state/ctxplugin", "/h/.config"}},
	} {
		if got := tc.env.folders(); got != tc.want {
			t.Errorf("%v: got %+v", tc.env, got)
		}
	}
}

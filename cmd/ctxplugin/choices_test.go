package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// choose reads a setting historian, with these variables.
func choose(t *testing.T, value string, env ...string) config {
	t.Helper()
	home := t.TempDir()
	path := filepath.Join(home, "settings.jsonc")
	if err := os.WriteFile(path, []byte(`{"historian": `+value+`}`), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := (&program{env: append(environment{"HOME=" + home}, env...), configPath: path}).readConfig()
	if err != nil {
		t.Fatal(err)
	}
	for i := range c.warnings {
		c.warnings[i] = strings.TrimPrefix(c.warnings[i], path+":1: ")
	}
	return c
}

// A wrong choice is one clear line that names the setting, and the built-in
// generator writes.
func TestHistorian_Choices(t *testing.T) {
	const none = "; \"built-in\" stays"
	for value, want := range map[string]struct{ shown, warning string }{
		`"built-in"`:                          {`"built-in"`, ""},
		`"host"`:                              {`"host"`, ""},
		`["host"]`:                            {`"host"`, ""},
		`["built-in"]`:                        {`"built-in"`, ""},
		`[]`:                                  {`"built-in"`, `historian names no model: write "built-in" for none` + none},
		`7`:                                   {`"built-in"`, `historian has to be a backend (host, anthropic, openai, built-in) or an object with one` + none},
		`"openapi"`:                           {`"built-in"`, `historian.backend "openapi" is none: there are host, anthropic, openai, built-in` + none},
		`{}`:                                  {`"built-in"`, `historian.backend is missing: it has to be one of host, anthropic, openai, built-in` + none},
		`{"backend":""}`:                      {`"built-in"`, `historian.backend has to be a text` + none},
		`"anthropic"`:                         {`"built-in"`, `historian.model is missing: name a model of anthropic` + none},
		`{"backend":"anthropic","model":"m"}`: {`"built-in"`, `historian.key is missing: set it, or the variable ANTHROPIC_API_KEY` + none},
		`{"backend":"openai","model":"m","key":"$MY_KEY"}`:                         {`"built-in"`, `historian.key is missing: set it, or the variable MY_KEY` + none},
		`{"backend":"openai","model":"m","url":"ftp://x"}`:                         {`"built-in"`, `historian.url has to be an address such as http://127.0.0.1:11434/v1, without user and query` + none},
		`{"backend":"openai","model":"m","url":"http://u:p@h/v1"}`:                 {`"built-in"`, `historian.url has to be an address such as http://127.0.0.1:11434/v1, without user and query` + none},
		`{"backend":"host","modle":"a/b"}`:                                         {`"built-in"`, `historian.modle is no setting; the nearest is "model"` + none},
		`{"backend":"host","model":"small"}`:                                       {`"built-in"`, `historian.model "small" has to be provider/model, as the host names them` + none},
		`{"backend":"host","url":"http://h"}`:                                      {`"built-in"`, `historian.url means nothing for backend host` + none},
		`{"backend":"host","timeout":0.5}`:                                         {`"built-in"`, `historian.timeout has to be a whole number from 1 to 3,600` + none},
		`{"backend":"host","temperature":"hot"}`:                                   {`"built-in"`, `historian.temperature has to be a number from 0 to 2` + none},
		`{"backend":"host","price":{"input":1}}`:                                   {`"built-in"`, `historian.price has to be {"input": N, "output": N}, in units of money per million tokens` + none},
		`{"backend":"openai","model":"m","url":"http://h","options":{"tools":[]}}`: {`"built-in"`, `historian.options.tools cannot be set here` + none},
		`["nobody", {"backend":"host","model":"a/b/c"}]`:                           {`[{"backend":"host","model":"a/b/c"}]`, `historian[0].backend "nobody" is none: there are host, anthropic, openai, built-in; this model is left out`},
		`{"backend":"openai","model":"m","key":"$"}`:                               {`"built-in"`, `historian.key names no variable: write $NAME` + none},
		`["nobody"]`: {`"built-in"`, `historian[0].backend "nobody" is none: there are host, anthropic, openai, built-in; this model is left out; the built-in generator writes meanwhile`},
		`["host", "built-in", {"backend":"host","model":"a/b"}]`: {`"host"`, `historian[1]: the built-in generator never fails, so what stands behind it is never asked`},
		`{"backend":"openai","model":"m","url":"http://127.0.0.1:1/v1","window":32000,"maxOutput":4000,"timeout":60,"tries":2,"temperature":0.2,"price":{"input":0.5,"output":2},"options":{"reasoning_effort":"low"}}`: {
			`[{"backend":"openai","model":"m","url":"http://127.0.0.1:1/v1","window":32000,"maxOutput":4000,"temperature":0.2,"timeout":60,"tries":2,"price":{"input":0.5,"output":2},"options":{"reasoning_effort":"low"}}]`, ""},
	} {
		c := choose(t, value)
		if got := find("historian").show(&c); got != want.shown {
			t.Errorf("%s: %s", value, got)
		}
		if got := strings.Join(c.warnings, "|"); got != want.warning {
			t.Errorf("%s: %q", value, got)
		}
	}
}

// The key of a vendor goes to the vendor alone, and no key is ever shown.
func TestHistorian_Keys(t *testing.T) {
	const word = "key-that-nobody-may-see"
	env := []string{"OPENAI_API_KEY=" + word, "ANTHROPIC_API_KEY=" + word, "MINE= " + word + " "}
	for value, want := range map[string]string{
		`{"backend":"openai","model":"m"}`:                                            word,
		`{"backend":"anthropic","model":"m"}`:                                         word,
		`{"backend":"openai","model":"m","url":"http://h/v1"}`:                        "",
		`{"backend":"openai","model":"m","url":"http://h/v1","key":"$MINE"}`:          word,
		`{"backend":"openai","model":"m","url":"http://h/v1","key":"` + word + `"}`:   word,
		`{"backend":"openai","model":"m","url":"http://h/v1","key":" ` + word + ` "}`: word,
	} {
		c := choose(t, value, env...)
		if len(c.Models) != 1 || string(c.Models[0].Key) != want || len(c.warnings) > 0 {
			t.Errorf("%s: %v", value, c.warnings)
			continue
		}
		document, err := json.Marshal(c.Models)
		if err != nil {
			t.Fatal(err)
		}
		if said := fmt.Sprintf("%v %+v %#v %s %s", c, c, c.Models, document, find("historian").show(&c)); strings.Contains(said, word) {
			t.Errorf("%s: %s", value, said)
		}
	}
}

// Where models write, more gathers before one is asked, unless the user says how much.
func TestHistorian_GathersMore(t *testing.T) {
	for settings, want := range map[string]int{`{}`: 6_000, `{"historian": "built-in"}`: 6_000, `{"historian": "host"}`: 20_000,
		`{"historian": "host", "writeBehind": 6000}`: 6_000, `{"historian": [{"backend": "host"}], "writeBehind": 20000}`: 20_000} {
		home := t.TempDir()
		configure(t, home, settings)
		c, err := (&program{env: environment{"HOME=" + home}}).readConfig()
		if err != nil || c.Settings.WriteBehind != want {
			t.Errorf("%s: %d, %v", settings, c.Settings.WriteBehind, err)
		}
	}
}

// What a project sets is ignored with a warning that names it, on the settings as
// they are in force when sessions are served.
func TestProject_SetsNothing(t *testing.T) {
	const theirs = `{
		// theirs
		"historian": {"backend": "openai", "model": "theirs", "url": "http://elsewhere/v1", "key": "$HOME"},
		"forceMark": 30, "historianCost": 1000000, "database": "/elsewhere",
	}`
	home, project := t.TempDir(), t.TempDir()
	for _, name := range projectFiles {
		path := filepath.Join(project, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(theirs), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(project)
	h := startProgram(t, home, nil)
	h.initialize(project, `{"historian":"host","forceMark":30,"forceTier":"full","prefer":"cost","ablate":"tiers"}`)
	h.request(1)
	status := h.status()
	if status.Numbers["forceMark"] != 85 || status.Numbers["historianCost"] != 200 || status.Prefer != "balance" || !strings.HasPrefix(status.Historian, "built-in") {
		t.Errorf("%+v", status)
	}
	said := h.notices()
	for _, name := range projectFiles {
		if want := filepath.Join(project, filepath.FromSlash(name)) + " is ignored, with forceMark, historian (backend, model, url, key), historianCost, database: settings are the user's alone"; !slices.Contains(said, want) {
			t.Errorf("no notice %q in %q", want, said)
		}
	}
	for _, args := range [][]string{{"config"}, {"status"}, {"status", "--json"}, {"status", drivenSession}, {"historian"}} {
		out := atHome(t, home, args...)
		for _, name := range projectFiles {
			if want := filepath.Join(project, filepath.FromSlash(name)) + " is ignored, with forceMark, historian (backend, model, url, key)"; !strings.Contains(out, want) {
				t.Errorf("%v does not say %q: %s", args, want, out)
			}
		}
		if strings.Contains(out, "elsewhere") {
			t.Errorf("%v shows what they set: %s", args, out)
		}
	}
	below := filepath.Join(project, "internal", "deep")
	if err := errors.Join(os.MkdirAll(below, 0o700), os.Mkdir(filepath.Join(project, ".git"), 0o700)); err != nil {
		t.Fatal(err)
	}
	t.Chdir(below)
	if out := atHome(t, home, "config"); strings.Count(out, "is ignored") != len(projectFiles) {
		t.Errorf("from below: %s", out)
	}
	if want := "the host's options for this plugin set forceMark, prefer, historian, which is ignored: settings are the user's alone"; !slices.Contains(said, want) {
		t.Errorf("no notice %q in %q", want, said)
	}
}

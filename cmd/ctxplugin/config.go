package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"
	"github.com/tailscale/hujson"
)

// configName is the user's file in the configuration folder.
const configName = "config.jsonc"

// configBytes is the most of a configuration file that is read.
const configBytes = 1 << 20

// readConfig reads the settings: defaults, then the user's file. It never fails:
// what is wrong with the file is a warning, and the rest of it counts. Only a file
// that was named by a flag has to be there.
func (p *program) readConfig() (config, error) {
	f := p.env.folders()
	c := defaults(f)
	c.variable = p.env.get
	c.path = p.configPath
	if c.path == "" {
		c.path = within(f.config, configName)
	}
	if c.path == "" {
		return c, nil
	}
	text, err := readBounded(c.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && p.configPath == "":
		return c, nil
	case err != nil && p.configPath != "":
		return c, usage("read the settings: %w", err)
	case err != nil:
		c.warn("%v; the defaults are used", err)
		return c, nil
	}
	c.apply(text)
	c.Database = resolve(c.Database, filepath.Dir(c.path), p.env.get("HOME"))
	if p.byRule {
		c.Models = nil
	}
	for _, changed := range c.settle() {
		c.warn("%s: %s", c.path, changed)
	}
	return c, nil
}

func readBounded(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, configBytes+1))
	if err == nil && len(text) > configBytes {
		err = fmt.Errorf("%s is larger than %d bytes", path, configBytes)
	}
	return text, err
}

// apply takes what a file says over what is there.
func (c *config) apply(text []byte) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if len(bytes.TrimSpace(text)) == 0 {
		return
	}
	v, err := hujson.Parse(text)
	if err != nil {
		c.warn("%s: %s; the file is left as it is and the defaults are used", c.path, strings.TrimPrefix(err.Error(), "hujson: "))
		return
	}
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		c.warn("%s: the file has to be one object in braces; the defaults are used", c.path)
		return
	}
	seen := map[string]int{} // by key, the line where it stands
	for i := range object.Members {
		m := &object.Members[i]
		line := 1 + bytes.Count(text[:m.Name.StartOffset], []byte{'\n'})
		name := m.Name.Value.(hujson.Literal).String()
		if name == "$schema" {
			continue
		}
		k := find(name)
		if k == nil {
			hint := nearest(name)
			if hint != "" {
				hint = fmt.Sprintf("; the nearest is %q", hint)
			}
			c.warn("%s:%d: %q is no setting%s", c.path, line, name, hint)
			continue
		}
		if first, twice := seen[name]; twice {
			c.warn("%s:%d: %s stands in line %d too; this one counts", c.path, line, name, first)
		}
		seen[name] = line
		value := m.Value.Clone()
		value.Standardize()
		var decoded any
		if err := json.Unmarshal(bytes.TrimSpace(value.Pack()), &decoded); err != nil {
			c.warn("%s:%d: %s: %v; %s stays", c.path, line, name, err, k.show(c))
			continue
		}
		before := k.show(c)
		wrong := k.set(c, decoded)
		if wrong != "" {
			c.warn("%s:%d: %s", c.path, line, wrong)
		}
		if wrong == "" || k.show(c) != before {
			c.sources[name] = fmt.Sprintf("%s:%d", c.path, line)
		}
	}
}

func (c *config) warn(format string, args ...any) {
	c.warnings = append(c.warnings, fmt.Sprintf(format, args...))
}

func find(name string) *key {
	for i := range keys {
		if keys[i].name == name {
			return &keys[i]
		}
	}
	return nil
}

// nearest is the setting whose name is least unlike name, the earlier of several;
// empty if more than half of name would have to change.
func nearest(name string) string {
	best, least := "", -1
	for i := range keys {
		if d := levenshtein.ComputeDistance(strings.ToLower(name), strings.ToLower(keys[i].name)); least < 0 || d < least {
			best, least = keys[i].name, d
		}
	}
	if 2*least > utf8.RuneCountInString(name) {
		return ""
	}
	return best
}

// resolve makes a path of the file absolute.
func resolve(path, dir, home string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && home != "" {
		return filepath.Join(home, rest)
	}
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// settingsCommand prints the settings in force.
type settingsCommand struct {
	JSON bool `help:"Print one JSON document."`
}

// Run implements the command.
func (s *settingsCommand) Run(p *program) error {
	c, err := p.readConfig()
	if err != nil {
		return err
	}
	type line struct {
		Value  json.RawMessage `json:"value"`
		Unit   string          `json:"unit,omitempty"`
		Source string          `json:"source"`
	}
	lines := make([]line, len(keys))
	wide := 0
	for i := range keys {
		k := &keys[i]
		source := c.sources[k.name]
		if source == "" {
			source = "default"
		}
		lines[i] = line{json.RawMessage(k.show(&c)), k.unit, source}
		wide = max(wide, len(k.name))
	}
	var out bytes.Buffer
	if s.JSON {
		out.WriteString("{\n")
		for i := range keys {
			raw, err := json.Marshal(lines[i])
			if err != nil {
				return fmt.Errorf("print %s: %w", keys[i].name, err)
			}
			comma := ","
			if i == len(keys)-1 {
				comma = ""
			}
			fmt.Fprintf(&out, "  %q: %s%s\n", keys[i].name, raw, comma)
		}
		out.WriteString("}\n")
	} else {
		fmt.Fprintf(&out, "# %s\n", c.path)
		for i, l := range lines {
			value := strings.TrimSpace(string(l.Value) + " " + l.Unit)
			fmt.Fprintf(&out, "%-*s  %-20s  (%s)\n", wide, keys[i].name, value, l.Source)
		}
	}
	for _, w := range append(c.warnings, c.projectHere()...) {
		fmt.Fprintf(p.stderr, "ctxplugin: %s\n", w)
	}
	_, err = p.stdout.Write(out.Bytes())
	return err
}

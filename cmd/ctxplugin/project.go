package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// projectFiles are where a project might hope to change settings. None is read for
// its values: whoever clones a repository would take its endpoints, models and
// thresholds with it.
var projectFiles = []string{"ctxplugin.jsonc", "ctxplugin.json", ".ctxplugin.jsonc", ".ctxplugin.json", ".ctxplugin/config.jsonc", ".ctxplugin/config.json",
	".config/ctxplugin/config.jsonc", ".opencode/ctxplugin.jsonc", ".opencode/ctxplugin.json"}

// projectWarnings names what a project sets that is ignored: in files of its own, and
// in the options that a host passes on, which its project's configuration may hold.
func (s *service) projectWarnings() (warnings []string) {
	if s.host == nil {
		return nil
	}
	hello, ok := s.host.Hello()
	if !ok {
		return nil
	}
	if filepath.IsAbs(hello.Directory) {
		warnings = ignoredFiles(hello.Directory, s.config.path)
	}
	if names := settingsIn(hello.Options); names != "" && hello.Host != replayHost {
		warnings = append(warnings, "the host's options for this plugin set "+names+", which is ignored: settings are the user's alone")
	}
	return warnings
}

// ignoredFiles names the files of a project's folder that would set something, own
// apart.
func ignoredFiles(folder, own string) (warnings []string) {
	for _, name := range projectFiles {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if path == own {
			continue // the home folder is the project
		}
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if text, err := readBounded(path); err == nil {
			warnings = append(warnings, fmt.Sprintf("%s is ignored%s: settings are the user's alone", path, named(text)))
		}
	}
	return warnings
}

// projectHere looks at the project of the working folder as a host would that is
// started there: in that folder, and in those above it up to the root of a
// repository.
func (c *config) projectHere() (warnings []string) {
	folder, err := os.Getwd()
	if err != nil {
		return nil
	}
	warnings = ignoredFiles(folder, c.path)
	all := warnings
	for {
		if _, err := os.Stat(filepath.Join(folder, ".git")); err == nil {
			return all
		}
		parent := filepath.Dir(folder)
		if parent == folder {
			return warnings // no repository: what is above is not the project's
		}
		folder = parent
		all = append(all[:len(all):len(all)], ignoredFiles(folder, c.path)...)
	}
}

// named says which settings a file sets.
func named(text []byte) string {
	plain, err := hujson.Standardize(bytes.TrimPrefix(text, []byte("\ufeff")))
	if err != nil {
		return ""
	}
	if names := settingsIn(plain); names != "" {
		return ", with " + names
	}
	return ""
}

// settingsIn lists the settings that an object has members for, and of the models
// what is set of them.
func settingsIn(object []byte) string {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return ""
	}
	var names []string
	for i := range keys {
		value, ok := members[keys[i].name]
		if !ok {
			continue
		}
		name := keys[i].name
		if keys[i].models != nil {
			name += membersOf(value)
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// membersOf names the members of a model, or of a list of models, in brackets.
func membersOf(value json.RawMessage) string {
	var list []map[string]json.RawMessage
	if json.Unmarshal(value, &list) != nil {
		list = make([]map[string]json.RawMessage, 1)
		if json.Unmarshal(value, &list[0]) != nil {
			return ""
		}
	}
	var names []string
	for _, field := range modelFields {
		if slices.ContainsFunc(list, func(m map[string]json.RawMessage) bool { return m[field] != nil }) {
			names = append(names, field)
		}
	}
	if names == nil {
		return ""
	}
	return " (" + strings.Join(names, ", ") + ")"
}

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
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
		for _, name := range projectFiles {
			path := filepath.Join(hello.Directory, filepath.FromSlash(name))
			if path == s.config.path {
				continue // the home folder is the project
			}
			if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
				continue
			}
			if text, err := readBounded(path); err == nil {
				warnings = append(warnings, fmt.Sprintf("%s is ignored%s: settings are the user's alone", path, named(text)))
			}
		}
	}
	if names := settingsIn(hello.Options); names != "" {
		warnings = append(warnings, "the host's options for this plugin set "+names+", which is ignored: settings are the user's alone")
	}
	return warnings
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

// settingsIn lists the settings that an object has members for.
func settingsIn(object []byte) string {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return ""
	}
	var names []string
	for i := range keys {
		if _, ok := members[keys[i].name]; ok {
			names = append(names, keys[i].name)
		}
	}
	return strings.Join(names, ", ")
}

package main

import (
	"path/filepath"
	"runtime"
)

// folders are where the program keeps things, after the XDG base directory
// rules, on every system: the hosts that it works for do so too. A path is empty
// if the user has no home.
type folders struct {
	config string // settings, written by the user alone
	data   string // the database
	state  string // the log
	hosts  string // the configuration folder that hosts have theirs in
}

func (e environment) folders() folders {
	home := e.get("HOME")
	if home == "" && runtime.GOOS == "windows" {
		home = e.get("USERPROFILE")
	}
	base := func(variable string, below ...string) string {
		// A relative path in these variables is to be ignored, says the standard.
		if dir := e.get(variable); filepath.IsAbs(dir) {
			return dir
		}
		if !filepath.IsAbs(home) {
			return ""
		}
		return filepath.Join(append([]string{home}, below...)...)
	}
	own := func(dir string) string {
		if dir == "" {
			return ""
		}
		return filepath.Join(dir, "ctxplugin")
	}
	config := base("XDG_CONFIG_HOME", ".config")
	return folders{
		config: own(config), data: own(base("XDG_DATA_HOME", ".local", "share")), state: own(base("XDG_STATE_HOME", ".local", "state")),
		hosts: config,
	}
}

// within is a file in a folder that may be unknown.
func within(dir, name string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, name)
}

package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is set by the linker in a release.
var version = ""

// versionName is the version, or for other builds the commit.
func versionName() string {
	if version != "" {
		return version
	}
	name := "dev"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return name
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= 12:
			name += "-" + s.Value[:12]
		case s.Key == "vcs.modified" && s.Value == "true":
			name += "-changed"
		}
	}
	return name
}

// versionLine is the version with what the program was built for and by.
func versionLine() string {
	return fmt.Sprintf("ctxplugin %s (%s/%s, %s)", versionName(), runtime.GOOS, runtime.GOARCH, runtime.Version())
}

// versionCommand prints the version.
type versionCommand struct{}

// Run implements the command.
func (versionCommand) Run(p *program) error {
	_, err := fmt.Fprintln(p.stdout, versionLine())
	return err
}

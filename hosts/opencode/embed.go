// Package opencode carries the OpenCode shim inside the binary, so that one file
// is all there is to install. The shim is JavaScript and lives in plugin/; this
// package holds no logic and imports nothing of ours.
package opencode

import "embed"

// Plugin is the folder that OpenCode loads plugins from, as the shim fills it:
// plugin/ctxplugin.js, which the host loads, and plugin/ctxplugin/ with the
// modules that it imports and the host does not load by itself.
//
//go:embed plugin/ctxplugin.js plugin/ctxplugin/*.js
var Plugin embed.FS

// Entry is the file in Plugin that the host loads, and Modules the folder beside it.
const (
	Entry   = "plugin/ctxplugin.js"
	Modules = "plugin/ctxplugin"
)

// BinaryLine is the line of Entry that names the binary; an installer replaces
// the empty string in it by the path as a JSON string.
const BinaryLine = `const binary = "";`

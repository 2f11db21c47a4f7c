package historian

import (
	"strings"
	"unicode/utf8"
)

// nameKind judges one run of name characters.
func nameKind(w string) kind {
	n := len(w)
	if n < 3 || n > 200 || strings.Contains(w, "...") && !strings.HasSuffix(w, "/...") {
		return kindNone // with a gap in it
	}
	if strings.Contains(w, "://") {
		if n > 120 || n-strings.Index(w, "://") < 7 {
			return kindNone
		}
		return kindURL
	}
	var lower, upper, digit, under, slash, dot, colon, dash, humps, other int
	for i := 0; i < n; i++ {
		switch c := w[i]; {
		case c >= 'a' && c <= 'z':
			lower++
		case c >= 'A' && c <= 'Z':
			upper++
			if i > 0 && w[i-1] >= 'a' && w[i-1] <= 'z' {
				humps++
			}
		case c >= '0' && c <= '9':
			digit++
		case c == '_':
			under++
		case c == '/' || c == '\\':
			slash++
		case c == '.':
			dot++
		case c == ':':
			colon++
		case c == '-':
			dash++
		case c >= 0x80:
			other++
		default:
			other += 2
		}
	}
	letters := lower + upper
	switch {
	case w[0] == '.' && w[1] != '/' && w[1] != '.' && slash == 0 && !fileLike(w), w == "a-zA-Z", strings.HasPrefix(w, "a-z"):
		return kindNone
	case w[0] == '#' && (n == 4 || n == 7 || n == 9) && letters <= n-1 && hexColour(w[1:]):
		return kindNumber
	case w[0] == '$', strings.Contains(w, "..") && w[0] != '.', strings.HasPrefix(w, "0x"):
		return kindNone
	case slash > 0:
		return pathKind(w, lower+upper, digit, under, humps)
	case letters == 0:
		return figureKind(w, digit, dot, colon)
	case colon > 0:
		at := strings.LastIndexByte(w, ':')
		if at > 2 && n-at > 2 && n-at < 7 && allDigits(w[at+1:]) && (strings.Contains(w[:at], ".") || w[:at] == "localhost") {
			if fileLike(w[:at]) {
				return kindPath
			}
			return kindPort
		}
		if strings.Contains(w, "::") && letters > 3 {
			return kindSymbol
		}
		if at == strings.IndexByte(w, ':') && at > 0 && nameKind(w[:at]) == kindPath {
			return kindPath
		}
		if letters > 4 && dash+under+dot > 0 || letters > 6 && colon == 1 && at > 1 && n-at > 3 && upper == 0 && under+digit == 0 && other == 0 {
			return kindSymbol // task names such as core:start
		}
		return kindNone
	case w[0] == '-':
		if lower > 1 {
			return kindFlag
		}
		return kindNone
	case under > 0 && letters >= 3 && strings.Trim(w, "_") != "":
		if lower == 0 {
			return kindEnv
		}
		return kindSymbol
	case dot > 0:
		if fileLike(w) {
			return kindPath
		}
		if digit > 0 && versionLike(w) {
			return kindVersion
		}
		if letters < 4 || strings.Contains(w, "..") || dot > 5 || !dotted(w) {
			return kindNone
		}
		return kindSymbol
	case digit > 0 && upper == 0 && n >= 7 && n <= 40 && hexOnly(w):
		return kindCommit
	case digit > 0 && lower == 0 && upper > 0 && upper <= 8 && digit >= 2 && other == 0 && dash == 0:
		return kindCode
	case digit > 0 && n <= 8 && unitLike(w):
		return kindNumber
	case humps > 0 && n >= 12 && random(w):
		return kindNone
	case humps > 0 && n >= 5 && other < 2:
		if w == "GitHub" || w == "JavaScript" || w == "TypeScript" || w == "OpenCode" || w == "OpenAI" {
			return kindNone
		}
		return kindSymbol
	case dash > 0 && digit > 0 && letters >= 3:
		return kindSymbol
	case lower == 0 && upper >= 5 && w[0] == 'E' && other == 0 && dash == 0 && errnoLike(w):
		return kindCode
	}
	return kindNone
}

// random reports a run whose letters change case as in encoded bytes, not as in
// words.
func random(w string) bool {
	changes := 0
	for i := 1; i < len(w); i++ {
		a, b := w[i-1], w[i]
		if (a >= 'a' && a <= 'z') != (b >= 'a' && b <= 'z') {
			changes++
		}
	}
	return 5*changes >= 2*len(w)
}

// figureKind judges runs without letters.
func figureKind(w string, digits, dots, colons int) kind {
	switch {
	case w[0] == '#' && digits >= 1 && digits == len(w)-1:
		return kindIssue
	case dots == 3 && colons <= 1 && digits >= 4:
		return kindPort // an address
	case dots == 2 && digits == len(w)-2:
		return kindVersion
	}
	return kindNone
}

func pathKind(w string, letters, digits, under, humps int) kind {
	if letters < 2 || strings.Contains(w, "//") {
		return kindNone
	}
	trimmed := strings.TrimRight(w, "/\\")
	base := baseName(trimmed)
	if strings.Contains(w, `\`) && !fileLike(base) && w[1] != ':' && w[0] != '.' && w[0] != '~' {
		return kindNone // an escape, not a folder
	}
	slashes := strings.Count(trimmed, "/") + strings.Count(trimmed, `\`)
	switch {
	case strings.HasPrefix(w, "s/") && !fileLike(base), allDigits(w[:strings.IndexAny(w+"/", `/\`)]) && w[0] != '/',
		w[0] == '/' && slashes == 1 && strings.Contains(w, ".") && !fileLike(base):
		return kindNone // out of a substitution or a fraction
	case slashes == 0:
		if len(w) == len(trimmed) || letters < 3 {
			return kindNone
		}
		return kindPath // a folder written with its slash
	case fileLike(base), w[0] == '/' && slashes > 1, w[0] == '~' || w[0] == '.' || w[0] == '$':
		return kindPath
	case len(w) > 2 && w[1] == ':':
		if base == "Program" || base == "Documents" {
			return kindNone // cut at a blank
		}
		return kindPath
	case w[0] == '/' && letters > 2 && len(w) <= 40:
		return kindPath
	case digits+under+humps > 0 || strings.Contains(w, "-"), slashes >= 2 && len(w) != len(trimmed), slashes >= 3:
		return kindPath
	}
	return kindNone
}

// fileLike reports whether w reads as a file name with an extension.
func fileLike(w string) bool {
	at := strings.LastIndexByte(w, '.')
	if at <= 0 || at == len(w)-1 {
		if at != 0 || len(w) < 4 || !lowerOnly(w[1:]) {
			return false
		}
		for _, end := range [...]string{"rc", "ignore", "env", "config", "attributes", "modules", "profile"} {
			if strings.HasSuffix(w, end) {
				return true // a dot file, not an extension or a member alone
			}
		}
		return false
	}
	ext := w[at+1:]
	if len(ext) > 10 || ext[0] >= '0' && ext[0] <= '9' && ext != "7z" {
		return false
	}
	_, known := extensions[strings.ToLower(ext)]
	return known
}

// extensions of files that agents work on; anything else with a dot is judged as
// a dotted symbol, which is an identifier too.
var extensions = func() map[string]struct{} {
	m := map[string]struct{}{}
	for _, e := range strings.Fields(`go mod sum c h cc cpp cxx hpp hh m mm rs py pyi pyx rb php pl pm java kt kts scala
 clj cs fs vb swift dart lua r jl ex exs erl hs ml nim zig v sol js mjs cjs jsx ts mts cts tsx vue svelte astro html htm css scss
 sass less md mdx rst txt adoc tex org json jsonl json5 jsonc yaml yml toml ini cfg conf env lock xml svg csv tsv sql db sqlite
 proto graphql gql sh bash zsh fish ps1 bat cmd mk cmake gradle properties dockerfile tf hcl nix patch diff log pdf png jpg jpeg
 gif webp ico wasm so dll dylib exe zip tar gz tgz zst 7z whl jar plist service output ipynb snap golden tmpl tpl j2 hbs ejs pem crt key
 xlsx docx pptx mp3 mp4 wav ttf woff woff2 bin dat out app dmg icns xcodeproj entitlements pbxproj storyboard`) {
		m[e] = struct{}{}
	}
	return m
}()

func dotted(w string) bool {
	for part := range strings.SplitSeq(w, ".") {
		if part == "" {
			return false
		}
	}
	first, _, _ := strings.Cut(w, ".")
	return len(first) > 1 && first != "www"
}

func versionLike(w string) bool {
	w = strings.TrimPrefix(w, "v")
	return w != "" && w[0] >= '0' && w[0] <= '9' && strings.IndexByte(w, '.') > 0
}

func unitLike(w string) bool {
	i := 0
	for i < len(w) && (w[i] >= '0' && w[i] <= '9' || w[i] == '.' || w[i] == ',') {
		i++
	}
	switch strings.ToLower(w[i:]) {
	case "ms", "s", "kb", "mb", "gb", "min", "h", "px", "hz", "khz", "%", "kib", "mib", "gib", "tb":
		return i > 0
	}
	return false
}

func errnoLike(w string) bool {
	switch w {
	case "ENOENT", "EACCES", "EPERM", "EEXIST", "EADDRINUSE", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "EPIPE",
		"ENOTFOUND", "EISDIR", "ENOTDIR", "EINVAL", "ENOSPC", "EAGAIN", "EBUSY", "ENOMEM", "EMFILE", "EXDEV", "EROFS":
		return true
	}
	return false
}

func hexOnly(w string) bool {
	letter := false
	for i := 0; i < len(w); i++ {
		switch c := w[i]; {
		case c >= 'a' && c <= 'f':
			letter = true
		case c >= '0' && c <= '9':
		default:
			return false
		}
	}
	return letter
}

func hexColour(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i] | 0x20
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

func allDigits(w string) bool {
	for i := 0; i < len(w); i++ {
		if w[i] < '0' || w[i] > '9' {
			return false
		}
	}
	return w != ""
}

func lowerOnly(w string) bool {
	for i := 0; i < len(w); i++ {
		if (w[i] < 'a' || w[i] > 'z') && w[i] != '-' {
			return false
		}
	}
	return w != ""
}

// dullName reports names that say nothing about a session.
func dullName(w string) bool {
	switch w {
	case "/dev/null", "dev/null", "node_modules", "node_modules/", "console.log", "node.js", "Node.js", "e.g", "i.e", "README",
		"/tmp", "~/", "./", "../", "/bin/bash", "/usr/bin/env", "bin/bash", "usr/bin/env", "/bin/sh", "process.env", "--help", "--version",
		"/usr/bin", "/usr/local", "true/false", "stdout/stderr", "--name-only", "--oneline", "--porcelain", "--stat":
		return true
	}
	return !utf8.ValidString(w)
}

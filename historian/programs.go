package historian

import "strings"

var lookPrograms = map[string]bool{"ls": true, "cat": true, "head": true, "tail": true, "grep": true, "rg": true, "egrep": true, "find": true, "fd": true, "sed": true, "awk": true, "wc": true, "pwd": true, "which": true, "where": true,
	"tree": true, "stat": true, "file": true, "du": true, "df": true, "env": true, "printenv": true, "date": true, "jq": true, "less": true, "more": true, "diff": true, "cmp": true, "ps": true, "pgrep": true, "whoami": true, "uname": true, "id": true, "hostname": true,
	"sort": true, "uniq": true, "cut": true, "nl": true, "od": true, "xxd": true, "strings": true, "type": true, "man": true, "echo": true, "printf": true, "test": true, "[": true, "basename": true, "dirname": true, "realpath": true, "readlink": true, "lsof": true,
	"get-content": true, "get-childitem": true, "select-string": true, "get-process": true, "get-command": true, "dir": true, "gci": true, "tasklist": true, "sha256sum": true, "md5sum": true, "column": true, "for": true, "while": true, "if": true}

var installWords = map[string]bool{"install": true, "add": true, "i": true, "ci": true, "get": true, "update": true, "upgrade": true, "remove": true, "uninstall": true, "sync": true}

// classify decides what a simple command is for.
func classify(name string, words []string) class {
	second := ""
	for _, w := range words[1:] {
		if !strings.HasPrefix(w, "-") {
			second = strings.ToLower(strings.Trim(w, `'"`))
			break
		}
	}
	switch name {
	case "git":
		return gitClass(words)
	case "gh", "glab":
		if len(words) > 2 {
			switch words[2] {
			case "create", "merge", "close", "edit", "comment", "reopen", "review":
				return classGit
			}
		}
		return classLook
	case "sed", "perl":
		for _, w := range words[1:] {
			if strings.HasPrefix(w, "-i") || w == "-pi" || strings.HasPrefix(w, "-pi") {
				return classOther
			}
		}
		if name == "sed" {
			return classLook
		}
	case "npm", "pnpm", "yarn", "bun", "pip", "pip3", "uv", "cargo", "go", "apt", "apt-get", "brew", "gem", "bundle", "poetry", "conda", "composer", "dnf", "pacman", "apk", "proto", "winget", "choco", "scoop", "nix", "mise", "asdf":
		if installWords[second] {
			return classInstall
		}
	}
	if lookPrograms[name] {
		return classLook
	}
	if verifies(name, words) {
		return classVerify
	}
	return classOther
}

var verifyPrograms = map[string]bool{"pytest": true, "tox": true, "jest": true, "vitest": true, "mocha": true, "tsc": true, "tsgo": true, "eslint": true, "biome": true, "ruff": true, "mypy": true, "pyright": true, "flake8": true, "black": true, "prettier": true,
	"make": true, "cmake": true, "ctest": true, "ninja": true, "gradle": true, "gradlew": true, "mvn": true, "mvnw": true, "xcodebuild": true, "rspec": true, "phpunit": true, "gofmt": true, "golangci-lint": true, "staticcheck": true, "shellcheck": true, "clang-tidy": true, "bazel": true,
	"swiftc": true, "gcc": true, "g++": true, "clang": true, "rustc": true, "javac": true, "playwright": true, "nox": true, "deno": true, "zig": true, "svelte-check": true, "vue-tsc": true}

// verifies reports whether a command tests, builds or checks. Only the first
// words count: grep for "test" is not a test run.
func verifies(name string, words []string) bool {
	if verifyPrograms[name] || checkWord(name) {
		return true
	}
	seen := 0
	for _, w := range words[1:] {
		if strings.HasPrefix(w, "-") {
			if w == "-m" || w == "--test" || w == "--noEmit" {
				seen--
			}
			if w == "--test" {
				return true
			}
			continue
		}
		if seen++; seen > 2 {
			break
		}
		switch name {
		case "ssh", "scp", "curl", "wget", "mkdir", "touch", "rm", "cp", "mv", "chmod", "docker", "kill", "open", "code", "powershell", "pwsh", "cmd", "cygpath", "xargs", "ping", "tracert", "traceroute", "nslookup", "start", "taskkill", "pkill", "killall", "ln":
			return false
		}
		w = strings.ToLower(strings.Trim(w, `'"`))
		if checkWord(baseName(w)) || verifyPrograms[w] {
			return true
		}
	}
	return false
}

// checkWord reports whether one part of a word names a check.
func checkWord(w string) bool {
	for _, p := range strings.FieldsFunc(w, func(r rune) bool { return r == '-' || r == '_' || r == ':' || r == '.' }) {
		switch p {
		case "test", "tests", "check", "checks", "lint", "build", "typecheck", "vet", "verify", "clippy", "compile", "tsc", "fmt", "format", "e2e", "spec", "bench", "validate":
			return true
		}
	}
	return false
}

func verbOf(words []string) string {
	n := min(len(words), 3)
	return strings.Join(words[:n], " ")
}

// altering are words with which commands change what is there, also on other machines.
var altering = map[string]bool{"set": true, "unset": true, "add": true, "delete": true, "del": true, "remove": true, "rm": true, "mv": true, "cp": true, "mkdir": true, "ln": true, "chmod": true, "chown": true,
	"commit": true, "push": true, "reset": true, "restore": true, "restart": true, "reload": true, "enable": true, "disable": true, "apply": true, "deploy": true, "destroy": true, "migrate": true, "rollback": true,
	"install": true, "uninstall": true, "update": true, "upgrade": true, "create": true, "drop": true, "import": true, "publish": true, "rebase": true, "merge": true, "move-item": true, "set-item": true, "remove-item": true}

// alters reports whether a command changes what would be half done if it stopped.
func (c *command) alters() bool {
	if c.class == classLook || c.class == classVerify {
		return false
	}
	if c.class != classOther || len(c.writes)+len(c.removes) > 0 {
		return true
	}
	for _, w := range strings.FieldsFunc(strings.ToLower(c.text), func(r rune) bool { return r == ' ' || r == '\'' || r == '"' || r == ';' || r == '&' || r == '/' }) {
		if altering[w] {
			return true
		}
	}
	return false
}

func pager(name string, words []string) bool {
	switch name {
	case "head", "tail", "less", "more", "cat", "sort", "uniq", "wc", "grep", "rg", "egrep", "awk", "sed", "cut", "tr", "jq", "select-object", "out-string", "select-string", "findstr", "column", "xargs", "tee":
		return name != "tee" || len(words) < 2
	}
	return false
}

func programName(w string) string {
	w = strings.Trim(w, `'"`)
	return strings.TrimSuffix(strings.ToLower(baseName(w)), ".exe")
}

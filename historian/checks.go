package historian

import "strings"

// check is a command that may fail now and pass later, read far enough to tell
// whether another run says anything about it.
type check struct {
	text   string   // as it was parsed from
	dir    string   // where it ran, if the command line says so
	tool   string   // program and task, without what only starts it: "go test", "pytest"
	scope  []string // files, packages or targets; none: all that the tool finds
	filter string   // the option that selects single tests
	strict bool     // only the very same arguments compare
	class  class
}

// runners start a program that they do not stand for.
var runners = map[string]int{"npx": 1, "bunx": 1, "pnpx": 1, "uvx": 1, "npm exec": 2, "pnpm exec": 2, "pnpm dlx": 2, "yarn exec": 2, "yarn dlx": 2, "uv run": 2,
	"poetry run": 2, "pipenv run": 2, "pdm run": 2, "hatch run": 2, "bundle exec": 2, "mise exec": 2, "python -m": 2, "python3 -m": 2, "py -m": 2}

// valued are options whose value is the next word.
var valued = map[string]bool{"-run": true, "-bench": true, "-timeout": true, "-tags": true, "-o": true, "-count": true, "-C": true, "-k": true, "-m": true, "-t": true, "-n": true, "-c": true,
	"-p": true, "--package": true, "--filter": true, "--project": true, "--tests": true, "--config": true, "--testNamePattern": true, "--test-name-pattern": true, "--maxfail": true, "--timeout": true}

// selecting are options that make a run one of single tests.
var selecting = map[string]bool{"-run": true, "--run": true, "-k": true, "-m": true, "-t": true, "--filter": true, "--tests": true, "--grep": true, "-g": true,
	"--testNamePattern": true, "--test-name-pattern": true, "-bench": true, "--only": true, "-Dtest": true, "--lf": true, "--last-failed": true}

// implied are the tools whose passing says that another one passes as well.
var implied = map[string][]string{
	"go test": {"go build"}, "cargo test": {"cargo build", "cargo check"}, "cargo build": {"cargo check"}, "cargo clippy": {"cargo check"},
	"swift test": {"swift build"}, "dotnet test": {"dotnet build"},
	"mvn verify": {"mvn test", "mvn compile", "mvn package"}, "mvn install": {"mvn test", "mvn compile", "mvn package", "mvn verify"}, "mvn package": {"mvn test", "mvn compile"}, "mvn test": {"mvn compile"},
}

// checkOf reads one simple command; dir is where it runs, "" if unknown.
func checkOf(text, dir string) check {
	words := shellWords(text)
	c := check{text: text, dir: strings.Trim(dir, `"'`)}
	if len(words) > 0 {
		c.class = classify(programName(words[0]), words)
	}
	for len(words) > 1 {
		n := runners[programName(words[0])]
		if n == 0 && len(words) > 2 {
			n = runners[programName(words[0])+" "+words[1]]
		}
		if n == 0 {
			break
		}
		words = words[n:]
		for len(words) > 1 && (words[0] == "-y" || words[0] == "--yes" || words[0] == "--") {
			words = words[1:]
		}
	}
	if len(words) == 0 {
		c.strict, c.tool = true, text
		return c
	}
	name := programName(words[0])
	args := words[1:]
	task := func() string { // takes the task word off the arguments
		for i, a := range args {
			if !strings.HasPrefix(a, "-") {
				args = append(args[:i:i], args[i+1:]...)
				return strings.ToLower(a)
			}
		}
		return ""
	}
	switch {
	case classify(name, words) != classVerify:
		c.strict, c.tool = true, text
		return c
	case name == "npm" || name == "pnpm" || name == "yarn" || name == "bun":
		t := task()
		if t == "run" || t == "run-script" {
			c.tool = "script " + task()
		} else if name == "bun" {
			c.tool = "bun " + t
		} else {
			c.tool = "script " + t
		}
	case name == "go" || name == "cargo" || name == "swift" || name == "dotnet" || name == "deno" || name == "zig" || name == "ruff" || name == "biome" || name == "mvn" || name == "bazel":
		c.tool = name + " " + task()
	case name == "mvnw":
		c.tool = "mvn " + task()
	case name == "vitest" || name == "playwright" || name == "jest":
		c.tool = name
		if len(args) > 0 && (args[0] == "run" || args[0] == "test") {
			args = args[1:]
		}
	case verifyPrograms[name] && name != "make" && name != "cmake" && name != "gradle" && name != "gradlew" && name != "gcc" && name != "clang":
		c.tool = name
	case name == "make" || name == "gradle" || name == "gradlew":
		c.tool = strings.TrimSuffix(name, "w")
		for _, a := range args {
			if !strings.HasPrefix(a, "-") {
				c.tool += " " + strings.TrimPrefix(strings.ToLower(a), ":")
			}
		}
		return c
	default: // a script of the project: its arguments may mean anything
		c.strict, c.tool = true, strings.Join(words, " ")
		return c
	}
	c.arguments(args)
	return c
}

// arguments sorts the words behind the tool into scope and filter.
func (c *check) arguments(args []string) {
	for i := 0; i < len(args); i++ {
		a := strings.Trim(args[i], `"'`)
		if a == "" || a == "--" || a == "." && c.tool != "go test" && c.tool != "go build" && c.tool != "go vet" {
			continue
		}
		if a[0] != '-' {
			if strings.HasPrefix(c.tool, "cargo ") {
				c.filter += " " + a
			} else {
				c.scope = append(c.scope, strings.TrimPrefix(a, "./"))
			}
			continue
		}
		key, value, joined := strings.Cut(a, "=")
		if !joined && valued[key] && i+1 < len(args) {
			i++
			value = strings.Trim(args[i], `"'`)
		}
		switch {
		case selecting[key] && !(key == "-run" && value == "^$"):
			c.filter += " " + key + "=" + value
		case key == "-p" || key == "--package" || key == "--project" || key == "--workspace":
			c.scope = append(c.scope, value)
		}
	}
	if len(c.scope) == 0 && strings.HasPrefix(c.tool, "go ") {
		c.scope = []string{"."}
	}
}

// covers reports whether a passed run of c says that e would pass: the same
// tool, or one that includes it, over at least the same ground.
func (c *check) covers(e *check) bool {
	if c.strict || e.strict {
		return c.text == e.text && sameDir(c.dir, e.dir)
	}
	same := c.tool == e.tool
	for _, t := range implied[c.tool] {
		same = same || t == e.tool
	}
	if !same || c.filter != "" && c.filter != e.filter || !sameDir(c.dir, e.dir) {
		return false
	}
	if len(c.scope) == 0 {
		return true
	}
	if len(e.scope) == 0 {
		return false
	}
	for _, want := range e.scope {
		held := false
		for _, has := range c.scope {
			held = held || inside(want, has)
		}
		if !held {
			return false
		}
	}
	return true
}

// inside reports whether one argument lies inside another: the same, a file of
// the folder, a test of the file, a package below "...".
func inside(inner, outer string) bool {
	if inner == outer || outer == "..." {
		return true
	}
	if root, ok := strings.CutSuffix(outer, "/..."); ok {
		inner = strings.TrimSuffix(inner, "/...")
		return inner == root || strings.HasPrefix(inner, root+"/")
	}
	outer = strings.TrimSuffix(outer, "/")
	if rest, ok := strings.CutPrefix(inner, outer); ok {
		return rest == "" || rest[0] == '/' && !strings.HasSuffix(inner, "...") || strings.HasPrefix(rest, "::")
	}
	return false
}

// sameDir reports whether two runs may have been in one place; unknown is taken
// for the same.
func sameDir(a, b string) bool {
	if a == "" || b == "" || a == b {
		return true
	}
	a, b = strings.TrimSuffix(a, "/"), strings.TrimSuffix(b, "/")
	return strings.HasSuffix(a, "/"+b) || strings.HasSuffix(b, "/"+a)
}

// tests reports whether a command runs tests, not only a build or a lint.
func (c *check) tests() bool {
	switch c.tool {
	case "pytest", "jest", "vitest", "mocha", "tox", "nox", "rspec", "phpunit", "playwright", "ctest":
		return true
	}
	return strings.Contains(c.tool, "test") || strings.Contains(c.tool, "spec")
}

// checks lists what a command line runs besides looking.
func (c *command) checks() []check {
	out := make([]check, 0, len(c.pieces))
	for _, p := range c.pieces {
		out = append(out, checkOf(p, c.dir))
	}
	return out
}

// Package ctxplugin_test holds the rules of the tree: who may import whom, what
// is used in one place only, and how files and folders are named. A rule is
// changed here first, with its reason, and never to make a build pass.
package ctxplugin_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "ctxplugin/"

// layers is the permitted import graph of our own packages, from the centre
// outwards. A folder stands for itself and all below it. Test files are free.
var layers = []struct {
	folder string
	may    string // folders of ours that it may import
	why    string
}{
	{"compartments", "",
		"the domain is what all others speak in, so it knows none of them"},
	{"tokens", "",
		"it counts text; what a message weighs is decided where messages are known"},
	{"decay", "compartments tokens",
		"the decision is a pure function: a store, a session or a wire in it could not be replayed"},
	{"prompts", "",
		"they are words: what is asked with them is decided where sources are known"},
	{"historian", "compartments tokens prompts",
		"what it writes depends on its source and its model alone, not on how compartments are chosen or stored"},
	{"models", "compartments historian",
		"an adapter: it makes a request for the interface that the historian declares, and judges no text"},
	{"expand", "compartments tokens",
		"it gives back what is stored, as it is stored, from whatever implements its Source"},
	{"session", "compartments tokens decay historian expand",
		"it orders the steps and reaches store, models and host through interfaces that it declares"},
	{"sqlite", "compartments",
		"an adapter: it stores the domain and knows no one who asks it"},
	{"rpc", "compartments session",
		"an adapter: it translates the wire into calls of a session and decides nothing"},
	{"hosts/opencode", "",
		"a shim translates; its Go file embeds it, so no rule can be put there"},
	{"lab/fixtures", "compartments",
		"it makes what others are measured on, so it must not depend on any of them"},
	{"lab/quality", "compartments tokens decay historian lab/fixtures",
		"what tiers hold is measured without a session, a store or a wire between"},
	{"lab", "compartments tokens decay historian expand session sqlite rpc hosts/opencode lab/fixtures lab/quality",
		"it measures everything but the wiring, which it runs as a binary"},
	{"cmd", "compartments tokens decay historian models expand session sqlite rpc hosts/opencode lab lab/fixtures lab/quality",
		"the wiring knows all, and all is wired here only"},
}

// reserved are imports that belong to some folders only.
var reserved = []struct {
	path    string // with all below it
	folders string
	why     string
}{
	{"database/sql", "sqlite", "all queries stand beside the schema they are about"},
	{"modernc.org", "sqlite", "the driver can be replaced in one folder"},
	{"github.com/pressly/goose", "sqlite", "migrations are the store's own"},
	{"github.com/sourcegraph/jsonrpc2", "rpc", "the library's stream rewrites bytes; only the stream of ours may feed it"},
	{"github.com/pkoukk/tiktoken-go", "tokens", "it is quadratic on long runs and would fetch ranks over the network"},
	{"github.com/rs/zerolog", "cmd", "packages return errors; what is logged and where is the program's business"},
	{"github.com/anthropics/anthropic-sdk-go", "models", "keys and endpoints are handed in; nothing else may know how they are used"},
	{"github.com/openai/openai-go", "models", "keys and endpoints are handed in; nothing else may know how they are used"},
	{"github.com/go-analyze/charts", "lab", "drawings are for reports of experiments; nothing that a host starts draws"},
	{"github.com/alecthomas/kong", "cmd", "flags end where the program begins"},
}

// forbidden are imports that some folders never use.
var forbidden = []struct {
	path    string
	folders string
	why     string
}{
	{"math/rand", "compartments tokens decay prompts historian expand session", "the same state has to give the same bytes"},
	{"os", "compartments decay prompts historian expand session", "files and the environment are read by the adapters and handed in"},
	{"net", "compartments tokens decay historian expand session sqlite rpc", "nothing but a model's client talks to a network"},
	{"net/http", "compartments tokens decay historian expand session sqlite rpc", "nothing but a model's client talks to a network"},
}

// clockless are the folders below the adapters: time is an argument there.
const clockless = "compartments tokens decay prompts historian expand session"

// Names that say nothing about what is inside.
var vague = strings.Fields("util utils common helper helpers manager base core misc shared lib stuff")

// fileLines is how long a file of code may be.
const fileLines = 700

// source is one Go file.
type source struct {
	path   string // with slashes, from the root
	folder string // listed in layers; empty for the root
	test   bool
	file   *ast.File
}

// tree returns the Go files of the module, and all other paths beside them.
func tree(t *testing.T) (sources []source, paths []string) {
	t.Helper()
	fset := token.NewFileSet()
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if d.IsDir() && name != "." {
			if base := d.Name(); base == "node_modules" || base == "testdata" || base == "bin" || strings.HasPrefix(base, ".") {
				return fs.SkipDir
			}
		}
		if name == "." {
			return nil
		}
		paths = append(paths, name)
		if d.IsDir() || path.Ext(name) != ".go" {
			return nil
		}
		file, err := parser.ParseFile(fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		sources = append(sources, source{name, folderOf(path.Dir(name)), strings.HasSuffix(name, "_test.go"), file})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return sources, paths
}

// folderOf returns the listed folder that a folder belongs to, or "".
func folderOf(dir string) string {
	for _, l := range layers {
		if within(dir, l.folder) {
			return l.folder
		}
	}
	return ""
}

func within(name, above string) bool { return name == above || strings.HasPrefix(name, above+"/") }

func imports(s source) []string {
	var out []string
	for _, spec := range s.file.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err == nil {
			out = append(out, name)
		}
	}
	return out
}

func TestLayout_Imports(t *testing.T) {
	sources, _ := tree(t)
	for _, s := range sources {
		if s.test {
			continue
		}
		if s.folder == "" {
			t.Errorf("%s belongs to no layer: list its folder, with what it may import and why", s.path)
			continue
		}
		i := slices.IndexFunc(layers, func(l struct{ folder, may, why string }) bool { return l.folder == s.folder })
		for _, name := range imports(s) {
			ours, ok := strings.CutPrefix(name, module)
			if !ok || folderOf(ours) == s.folder {
				continue
			}
			if !slices.Contains(strings.Fields(layers[i].may), folderOf(ours)) {
				t.Errorf("%s imports %s, but %s may not: %s", s.path, ours, s.folder, layers[i].why)
			}
		}
	}
}

func TestLayout_ReservedAndForbiddenImports(t *testing.T) {
	sources, _ := tree(t)
	for _, s := range sources {
		for _, name := range imports(s) {
			for _, r := range reserved {
				if within(name, r.path) && !s.test && !slices.Contains(strings.Fields(r.folders), s.folder) {
					t.Errorf("%s imports %s, which belongs to %s: %s", s.path, name, r.folders, r.why)
				}
			}
			for _, f := range forbidden {
				// math/rand/v2 and os/exec are the same thing again, net/url is not
				same := name == f.path || (f.path != "net" && within(name, f.path))
				if same && !s.test && slices.Contains(strings.Fields(f.folders), s.folder) {
					t.Errorf("%s imports %s: %s", s.path, name, f.why)
				}
			}
		}
	}
}

// TestLayout_NothingListedVanished keeps the rules from becoming empty: a ban on
// what does not exist any more forbids nothing.
func TestLayout_NothingListedVanished(t *testing.T) {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	listed := strings.Fields(clockless)
	for _, l := range layers {
		if info, err := os.Stat(l.folder); err != nil || !info.IsDir() {
			t.Errorf("the layer %s is no folder any more", l.folder)
		}
		listed = append(listed, strings.Fields(l.may)...)
	}
	for _, r := range reserved {
		if strings.Contains(r.path, ".") && !bytes.Contains(mod, []byte(r.path)) {
			t.Errorf("%s is reserved for %s, but no module of this name is required", r.path, r.folders)
		}
		listed = append(listed, strings.Fields(r.folders)...)
	}
	for _, f := range forbidden {
		listed = append(listed, strings.Fields(f.folders)...)
	}
	for _, folder := range listed {
		if folderOf(folder) != folder {
			t.Errorf("a rule names %s, which is no layer", folder)
		}
	}
}

func TestLayout_NoClockBelowTheAdapters(t *testing.T) {
	sources, _ := tree(t)
	for _, s := range sources {
		if s.test || !slices.Contains(strings.Fields(clockless), s.folder) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			from, ok := sel.X.(*ast.Ident)
			if ok && from.Name == "time" && slices.Contains([]string{"Now", "Since", "Until", "Local"}, sel.Sel.Name) {
				t.Errorf("%s uses time.%s: in %s time is an argument, so that a replay decides the same", s.path, sel.Sel.Name, s.folder)
			}
			return true
		})
	}
}

func TestLayout_EveryPackageSaysWhatItOwns(t *testing.T) {
	sources, _ := tree(t)
	docs := map[string]string{}
	for _, s := range sources {
		if dir := path.Dir(s.path); !s.test {
			docs[dir] += s.file.Doc.Text()
		}
	}
	for dir, doc := range docs {
		name := path.Base(dir)
		if !strings.HasPrefix(doc, "Package "+name+" ") && !strings.HasPrefix(doc, "Command "+name+" ") {
			t.Errorf("%s: the package comment has to begin with \"Package %s\" or \"Command %s\", once; it is %q", dir, name, name, firstWords(doc))
		}
	}
}

func firstWords(doc string) string {
	words := strings.Fields(doc)
	return strings.Join(words[:min(len(words), 6)], " ")
}

func TestLayout_HostsHoldOneGoFile(t *testing.T) {
	sources, _ := tree(t)
	count := map[string]int{}
	for _, s := range sources {
		if strings.HasPrefix(s.path, "hosts/") && !s.test {
			count[path.Dir(s.path)]++
		}
	}
	for dir, n := range count {
		if n != 1 {
			t.Errorf("%s holds %d Go files; it embeds the shim and does nothing else", dir, n)
		}
	}
}

func TestLayout_NamesAndSizes(t *testing.T) {
	_, paths := tree(t)
	for _, name := range paths {
		stem, _, _ := strings.Cut(path.Base(name), ".")
		words := strings.FieldsFunc(strings.ToLower(stem), func(r rune) bool { return r == '_' || r == '-' })
		for _, word := range words {
			if slices.Contains(vague, word) {
				t.Errorf("%s: the name %q says nothing about what is inside", name, word)
			}
		}
		if !isCode(name) {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if lines := bytes.Count(text, []byte("\n")); lines > fileLines {
			t.Error(fmt.Sprint(name, " has ", lines, " lines, ", fileLines, " are allowed: it holds more than one subject"))
		}
	}
}

// isCode reports whether a file is code that is no test.
func isCode(name string) bool {
	stem, _, _ := strings.Cut(path.Base(name), ".")
	switch path.Ext(name) {
	case ".go":
		return !strings.HasSuffix(stem, "_test")
	case ".js", ".mjs", ".ts", ".tsx":
		return !strings.Contains(name, ".test.") && !strings.Contains(name, "/test/") && !strings.Contains(name, "/e2e/")
	}
	return false
}

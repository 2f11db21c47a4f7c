package lab

import (
	"encoding/json"
	"path"
	"strings"
)

// leastName is how many characters an identifier has at least.
const leastName = 6

// identifiers calls add with every identifier in a text: paths and names of
// files, names in camelCase or with underscores, hashes, error codes. Ordinary
// words are none, nor is what is common to all sessions. Of a
// path the last two parts count, which is how people and tiers call a file.
func identifiers(text string, add func(string)) {
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !pathRune(r) }) {
		w = strings.Trim(w, ".-/$")
		if len(w) < leastName || len(w) > 200 {
			continue
		}
		if strings.Contains(w, "/") {
			if near := twoParts(w); near != "" {
				add(near)
			}
			continue
		}
		if common[w] {
			continue
		}
		if fileName(w) {
			add(w)
			continue
		}
		for _, n := range strings.FieldsFunc(w, func(r rune) bool { return r == '.' || r == '-' || r == '$' }) {
			if len(n) >= leastName && (compound(n) || hashLike(n) || codeLike(n)) && !common[n] {
				add(n)
			}
		}
	}
}

// shownIdentifiers are the identifiers that a reader of a text finds in it: a path
// shows the name of its file too.
func shownIdentifiers(text string, add func(string)) {
	identifiers(text, func(id string) {
		add(id)
		if base := path.Base(id); base != id && len(base) >= leastName {
			add(base)
		}
	})
}

func pathRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.' || r == '/' || r == '-' || r == '$'
}

// common are names that are written like code and say nothing of a session: those
// of products, of styles of writing, of languages and their libraries, of files
// that every project has. A model knows them without reading any.
var common = func() map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(`
		JavaScript TypeScript GitHub GitLab OpenCode OpenAI ChatGPT PostgreSQL GraphQL WebSocket NodeJS Node.js DevOps YouTube OpenAPI CommonJS
		camelCase PascalCase snake_case UPPER_SNAKE_CASE in_progress
		startsWith endsWith indexOf lastIndexOf toString toLowerCase toUpperCase toISOString toFixed padStart padEnd replaceAll localeCompare charCodeAt charAt codePointAt
		forEach findIndex flatMap hasOwnProperty fromEntries isArray parseInt parseFloat ReadonlyArray ArrayBuffer Uint8Array WeakMap PromiseLike
		setTimeout setInterval setImmediate clearTimeout clearInterval queueMicrotask nextTick
		addEventListener removeEventListener querySelector querySelectorAll getElementById createElement innerHTML textContent preventDefault getAttribute setAttribute
		useState useEffect useMemo useCallback useRef useContext
		readFile writeFile readFileSync writeFileSync appendFileSync existsSync mkdirSync rmSync statSync readdirSync unlinkSync fileURLToPath pathToFileURL child_process
		TypeError SyntaxError ReferenceError RangeError ValueError KeyError AttributeError ImportError RuntimeError ModuleNotFoundError AssertionError
		is_dir is_file read_text write_text startswith endswith setup_method
		fileURLWithPath localizedDescription NSString NSObject
		node_modules package.json tsconfig.json package-lock.json README.md AGENTS.md CLAUDE.md .gitignore index.ts index.js`) {
		out[w] = true
	}
	return out
}()

// twoParts is the end of a path, its file and the folder of that; empty if the
// word is no path: "read/write" and "and/or" are none.
func twoParts(w string) string {
	parts := strings.FieldsFunc(w, func(r rune) bool { return r == '/' })
	if len(parts) < 2 {
		return ""
	}
	last := parts[len(parts)-1]
	if !fileName(last) && len(parts) < 4 {
		return ""
	}
	near := parts[len(parts)-2] + "/" + last
	if len(near) < leastName {
		return ""
	}
	return near
}

// fileName reports whether a word ends as names of files do.
func fileName(w string) bool {
	ext := path.Ext(w)
	if len(ext) < 2 || len(ext) > 6 || len(ext) == len(w) {
		return false
	}
	return extensions[ext[1:]]
}

var extensions = func() map[string]bool {
	out := map[string]bool{}
	for _, e := range strings.Fields("go mod sum js jsx ts tsx mjs cjs json jsonc jsonl yaml yml toml md mdx txt py pyi rs lock cc cpp hpp java kt swift rb php sh bash " +
		"zsh fish sql css scss html svelte vue xml svg png jpg env cfg ini conf proto graphql lua zig nix tf ex exs astro ipynb csv tsv diff patch db sqlite golden") {
		out[e] = true
	}
	return out
}()

// compound reports whether a word is several, joined as code does.
func compound(n string) bool {
	under, hump, letters := false, false, 0
	for i := 0; i < len(n); i++ {
		c := n[i]
		switch {
		case c >= 'a' && c <= 'z':
			letters++
		case c >= 'A' && c <= 'Z':
			letters++
			hump = hump || i > 0 && n[i-1] >= 'a' && n[i-1] <= 'z'
		case c == '_':
			under = under || i > 0 && i < len(n)-1 && n[i-1] != '_'
		}
	}
	return letters >= 4 && (under || hump)
}

// hashLike reports whether a word is a hash: at least seven hex digits, both
// letters and numbers among them.
func hashLike(n string) bool {
	digits, letters := 0, 0
	for i := 0; i < len(n); i++ {
		switch c := n[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'a' && c <= 'f':
			letters++
		default:
			return false
		}
	}
	return digits+letters >= 7 && digits >= 2 && letters >= 2
}

// codeLike reports whether a word is a code of an error: TS2345, ENOENT.
func codeLike(n string) bool {
	at := strings.IndexFunc(n, func(r rune) bool { return r < 'A' || r > 'Z' })
	switch {
	case at < 0:
		return systemErrors[n]
	case at < 1 || len(n)-at < 3:
		return false
	}
	return strings.IndexFunc(n[at:], func(r rune) bool { return r < '0' || r > '9' }) < 0
}

var systemErrors = map[string]bool{"ENOENT": true, "EACCES": true, "EEXIST": true, "ENOTDIR": true, "EISDIR": true, "EINVAL": true, "ENOSPC": true, "EMFILE": true,
	"ECONNREFUSED": true, "ECONNRESET": true, "ETIMEDOUT": true, "EADDRINUSE": true, "ENOTEMPTY": true, "ENOTFOUND": true}

// argumentTexts are the strings among a call's arguments; the names of arguments
// are the tool's and not the model's.
func argumentTexts(input string) []string {
	var v any
	if json.Unmarshal([]byte(input), &v) != nil {
		return []string{input}
	}
	var out []string
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			out = append(out, v)
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			for _, x := range v { // their order does not matter: they become a set
				walk(x)
			}
		}
	}
	walk(v)
	return out
}

package historian

import (
	"slices"
	"strings"
)

// interpreters run a script that stands in the command itself.
var interpreters = map[string]bool{"python": true, "python3": true, "py": true, "node": true, "bun": true, "deno": true, "ruby": true, "perl": true, "php": true}

// inline is a script that a command holds, with the name of what runs it.
func inline(s string) (name, script string) {
	s = head(s, 2*commandBytes)
	for _, p := range splitShell(s) {
		words := stripPrefix(shellWords(p.text))
		if len(words) == 0 || !interpreters[programName(words[0])] {
			continue
		}
		for i, w := range words[:len(words)-1] {
			if w == "-c" || w == "-e" || w == "--eval" || w == "-r" {
				return programName(words[0]), strings.Trim(words[i+1], `'"`)
			}
		}
		at := strings.Index(p.text, "<<")
		if at < 0 || strings.HasPrefix(p.text[at:], "<<<") {
			continue
		}
		tag, _, _ := strings.Cut(strings.TrimLeft(p.text[at+2:], "-~ "), " ")
		if tag = strings.Trim(tag, `'"`); tag == "" {
			continue
		}
		_, body, _ := strings.Cut(s[strings.Index(s, p.text)+at:], "\n")
		body, _, _ = strings.Cut(body, "\n"+tag)
		return programName(words[0]), body
	}
	return "", ""
}

// literal is a text between quotes in a script, and what stands around it.
type literal struct{ before, text, behind string }

// literals are the texts between quotes of a script.
func literals(script string) []literal {
	var out []literal
	from := 0
	for i := 0; i < len(script); i++ {
		q := script[i]
		if q == '#' && (i == 0 || script[i-1] == ' ' || script[i-1] == '\n') { // a comment may hold an apostrophe
			if end := strings.IndexByte(script[i:], '\n'); end >= 0 {
				i += end
				continue
			}
			break
		}
		if q != '"' && q != '\'' && q != '`' {
			continue
		}
		mark := string(q)
		if strings.HasPrefix(script[i:], strings.Repeat(mark, 3)) {
			mark = strings.Repeat(mark, 3)
		}
		end := i + len(mark)
		for end < len(script) && !strings.HasPrefix(script[end:], mark) {
			if script[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(script) {
			break
		}
		rest := script[end+len(mark):]
		out = append(out, literal{strings.TrimSpace(script[from:i]), script[i+len(mark) : end], rest[:min(len(rest), 12)]})
		i = end + len(mark) - 1
		from = i + 1
	}
	return out
}

// scriptChange is what an inline script does to a file: which one, and the symbols
// that its texts bring in. What it looks for and its own code bring nothing.
func scriptChange(script string) (change, bool) {
	writes := false
	for _, w := range [...]string{"write", `"w"`, `'w'`, `"a"`, `'a'`} {
		writes = writes || strings.Contains(script, w)
	}
	if !writes {
		return change{}, false
	}
	c := change{shell: true}
	old, added := "", ""
	var code []string
	for line := range strings.SplitSeq(script, "\n") {
		if t := strings.TrimSpace(line); !strings.HasPrefix(t, "#") && !strings.HasPrefix(t, "//") { // a remark says what is coming
			code = append(code, line)
		}
	}
	script = strings.Join(code, "\n")
	rest := script
	for _, l := range literals(script) {
		rest = strings.Replace(rest, l.text, "", 1)
		mode := strings.TrimLeft(l.behind, " ,")
		switch {
		case fileLike(baseName(l.text)) && !strings.ContainsAny(l.text, " \n(") && (hasAnySuffix(l.before, "open(", "Path(", "FileSync(", "File(", "File.write(", "=") || strings.HasPrefix(mode, `"w`) || strings.HasPrefix(mode, "'w")):
			if c.path == "" || strings.HasPrefix(mode, `"w`) || strings.HasPrefix(mode, "'w") {
				c.path = l.text
			}
		case strings.HasPrefix(strings.TrimLeft(l.behind, " )"), "in "), hasAnySuffix(l.before, "replace(", "sub(", "index(", "find(", "split(", "indexOf(", "includes(", "startswith(", "==", " in"):
			old += l.text + "\n"
		default:
			added += l.text + "\n"
		}
	}
	if c.path == "" {
		return change{}, false
	}
	c.brought = slices.DeleteFunc(brought(old+rest, strings.ReplaceAll(added, `\n`, "\n")), fileLike)
	return c, true
}

func hasAnySuffix(s string, suffixes ...string) bool {
	for _, x := range suffixes {
		if strings.HasSuffix(s, x) {
			return true
		}
	}
	return false
}

// swapped are the two texts of a sed command that replaces one by the other in a file;
// ok is false for any other command.
func swapped(command string) (before, after string, ok bool) {
	for _, p := range splitShell(head(command, commandBytes)) {
		words := stripPrefix(shellWords(p.text))
		if len(words) < 3 || programName(words[0]) != "sed" || classify("sed", words) != classOther {
			continue
		}
		script := ""
		for _, w := range words[1 : len(words)-1] {
			w = strings.Trim(w, `'"`)
			if len(w) > 4 && w[0] == 's' && (w[1] < '0' || w[1] > '9' && w[1] < 'A' || w[1] == '|') {
				if ok || script != "" {
					return "", "", false // several
				}
				script = w
			}
		}
		if script == "" {
			continue
		}
		sign := script[1:2]
		fields := strings.Split(script[2:], sign)
		if len(fields) != 3 || ok {
			return "", "", false
		}
		before, after, ok = fields[0], fields[1], true
	}
	return before, after, ok
}

package historian

import "strings"

// class is what a shell command is for.
type class uint8

const (
	classLook class = iota // reads only
	classOther
	classInstall
	classVerify // test, build, lint, type check
	classGit    // changes the repository or its remote
)

// command is a shell command, read just far enough to name and class it.
type command struct {
	text    string   // for display: without cd, environment, redirections, pager pipes
	pieces  []string // its parts that do something, as shown
	main    string   // the part that decides
	verb    string   // the part that decides: what must pass later for it to count as passed
	class   class
	piped   bool   // a pipe hides the exit code
	dir     string // where it changes to first
	git     []string
	writes  []string // files written by redirection, tee, sed -i and the like
	removes []string
	script  string // what stands for it where it is a script that writes a file
}

// longest command that is looked at, in bytes.
const commandBytes = 4000

// parseCommand reads a command line. Here-documents count by the files they
// name, not by their text.
func parseCommand(s string) command {
	s = strings.TrimSpace(plain(head(s, commandBytes)))
	var c command
	pieces := splitShell(s)
	var shown []string
	best := -1
	script := "" // an interpreter that reads a here-document
	for i, p := range pieces {
		words := shellWords(p.text)
		words = c.redirections(words)
		words = stripPrefix(words)
		if len(words) == 0 {
			continue
		}
		name := programName(words[0])
		if (name == "cd" || name == "pushd") && len(words) > 1 && c.dir == "" {
			c.dir = words[1]
		}
		if name == "cd" || name == "set" || name == "export" || name == "source" || name == "echo" && len(pieces) > 1 || name == "sleep" && len(pieces) > 1 || name == "true" || name == "pushd" {
			continue
		}
		if p.piped && pager(name, words) {
			if best >= 0 {
				c.piped = true
			}
			continue
		}
		k := classify(name, words)
		if p.piped && k == classLook {
			c.piped = true
			continue
		}
		c.files(name, words)
		if k == classGit {
			c.git = append(c.git, strings.Join(words, " "))
		}
		text := strings.Join(words, " ")
		if len(words) == 2 && words[1] == "-" {
			script = text
			if k > c.class || best < 0 {
				best, c.class, c.verb = i, k, text
			}
			continue
		}
		if i > 0 && p.piped && len(shown) > 0 {
			shown[len(shown)-1] += " | " + text
		} else {
			shown = append(shown, text)
		}
		if k > classLook {
			c.pieces = append(c.pieces, text)
		}
		if best < 0 || k > c.class {
			best, c.class, c.verb, c.main = i, k, verbOf(words), text
		}
	}
	if len(shown) == 0 && script != "" {
		c.text = script + " (script)"
		return c
	}
	if len(shown) == 0 {
		c.text, c.verb = fold(s), fold(s)
		return c
	}
	// A chain of looks is noise around the one piece that does something.
	if c.class > classLook && len(shown) > 1 {
		var kept []string
		for _, t := range shown {
			w := shellWords(t)
			if classify(programName(w[0]), w) > classLook {
				kept = append(kept, t)
			}
		}
		shown = kept
	}
	c.text = strings.Join(shown, " && ")
	return c
}

type piece struct {
	text  string
	piped bool // reads from a pipe
}

// splitShell cuts at && || ; | and line ends outside quotes, and drops the body
// of here-documents.
func splitShell(s string) []piece {
	var out []piece
	start := 0
	piped := false
	quote := byte(0)
	depth := 0
	emit := func(end int, nextPiped bool) {
		if t := strings.TrimSpace(s[start:end]); t != "" && t[0] != '#' {
			out = append(out, piece{t, piped})
		}
		piped = nextPiped
	}
	heredoc := ""
	for i := 0; i < len(s); i++ {
		c := s[i]
		if quote != 0 {
			if c == '\\' && quote == '"' {
				i++
			} else if c == quote {
				quote = 0
			}
			continue
		}
		switch c {
		case '\\':
			i++
		case '\'', '"', '`':
			quote = c
		case '(':
			depth++
		case ')':
			depth--
		case '<':
			if strings.HasPrefix(s[i:], "<<<") {
				i += 2
			} else if strings.HasPrefix(s[i:], "<<") {
				word := strings.TrimLeft(s[i+2:], "-~ ")
				word, _, _ = strings.Cut(word, "\n")
				if f := strings.Fields(word); len(f) > 0 {
					heredoc = strings.Trim(f[0], `'"`)
				}
				i++
			}
		case '\n', ';', '|', '&':
			if depth > 0 {
				continue
			}
			if c == '&' && (i+1 >= len(s) || s[i+1] != '&') {
				if i > 0 && s[i-1] == '>' || i+1 < len(s) && (s[i+1] == '>' || s[i+1] >= '0' && s[i+1] <= '9') {
					continue
				}
			}
			emit(i, c == '|' && (i+1 >= len(s) || s[i+1] != '|'))
			if i+1 < len(s) && s[i+1] == c {
				i++
			}
			start = i + 1
			if c == '\n' && heredoc != "" {
				end := strings.Index(s[start:], "\n"+heredoc)
				if strings.HasPrefix(s[start:], heredoc) {
					end = -1
					start += len(heredoc)
				}
				if end < 0 && start < len(s) && !strings.HasPrefix(s[start:], "\n") {
					return out
				}
				if end >= 0 {
					start += end + 1 + len(heredoc)
				}
				i = start - 1
				heredoc = ""
			}
		}
	}
	if start < len(s) {
		emit(len(s), false)
	}
	return out
}

// shellWords splits at blanks outside quotes; quotes stay.
func shellWords(s string) []string {
	var out []string
	start, depth := -1, 0
	quote := byte(0)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quote != 0:
			if c == '\\' && quote == '"' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
			if start < 0 {
				start = i
			}
		case c == '(' && i > 0 && s[i-1] == '$' || c == '(' && depth > 0:
			depth++
		case c == ')' && depth > 0:
			depth--
		case depth > 0:
		case c == ' ' || c == '\t' || c == '\n':
			if start >= 0 {
				out = append(out, s[start:i])
				start = -1
			}
		default:
			if start < 0 {
				start = i
			}
		}
	}
	if start >= 0 {
		out = append(out, s[start:])
	}
	return out
}

// redirections takes redirections off the words and keeps the files written.
func (c *command) redirections(words []string) []string {
	out := words[:0:0]
	for i := 0; i < len(words); i++ {
		w := words[i]
		at := strings.IndexByte(w, '>')
		if w[0] == '"' || w[0] == '\'' || at < 0 {
			if strings.HasPrefix(w, "<<") {
				if w == "<<" || w == "<<-" {
					i++
				}
				continue
			}
			out = append(out, w)
			continue
		}
		if at > 0 && !allDigits(strings.TrimSuffix(w[:at], "&")) && w[:at] != "&" {
			if strings.ContainsAny(w[:at], "-=") {
				out = append(out, w)
				continue
			}
			out = append(out, w[:at])
		}
		target := strings.TrimLeft(w[at:], ">|")
		if strings.HasPrefix(target, "&") {
			continue
		}
		if target == "" && i+1 < len(words) {
			i++
			target = words[i]
		}
		c.write(target)
	}
	return out
}

func (c *command) write(path string) {
	path = strings.Trim(path, `'"`)
	if path == "" || strings.HasPrefix(path, "/dev/") || strings.HasPrefix(path, "&") || strings.ContainsAny(path, "$*(){}`") || strings.EqualFold(path, "$null") || strings.EqualFold(path, "nul") {
		return
	}
	c.writes = append(c.writes, path)
}

// stripPrefix takes off what only sets the stage for a program.
func stripPrefix(words []string) []string {
	for len(words) > 0 {
		w := words[0]
		eq := strings.IndexByte(w, '=')
		switch {
		case eq > 0 && w[0] != '-' && !strings.ContainsAny(w[:eq], "/\"'("):
			words = words[1:]
		case w == "sudo" || w == "env" || w == "time" || w == "nohup" || w == "exec" || w == "command" || w == "then" || w == "do" || w == "!" || w == "(" || w == "{":
			words = words[1:]
		case w == "timeout" && len(words) > 2:
			words = words[2:]
		case w == "fi" || w == "done" || w == "}" || w == ")" || w == "else":
			words = words[1:]
		case strings.HasPrefix(w, "(") && len(w) > 1:
			words = append([]string{w[1:]}, words[1:]...)
		default:
			return words
		}
	}
	return nil
}

// files notes what a command writes or removes besides redirections.
func (c *command) files(name string, words []string) {
	switch name {
	case "tee":
		for _, w := range words[1:] {
			if !strings.HasPrefix(w, "-") {
				c.write(w)
			}
		}
	case "sed", "perl":
		if classify(name, words) == classOther && len(words) > 2 {
			last := strings.Trim(words[len(words)-1], `'"`)
			if fileLike(baseName(last)) {
				c.write(last)
			}
		}
	case "rm", "remove-item":
		for _, w := range words[1:] {
			w = strings.Trim(w, `'"`)
			if !strings.HasPrefix(w, "-") && !strings.ContainsAny(w, "$*(){}`") && w != "" {
				c.removes = append(c.removes, w)
			}
		}
	case "set-content", "out-file", "add-content":
		for i := 1; i < len(words); i++ {
			w := strings.ToLower(words[i])
			if (w == "-path" || w == "-filepath" || w == "-literalpath") && i+1 < len(words) {
				c.write(words[i+1])
			} else if i == 1 && !strings.HasPrefix(w, "-") {
				c.write(words[i])
			}
		}
	case "cp", "mv":
		if len(words) >= 3 {
			last := words[len(words)-1]
			if fileLike(baseName(strings.Trim(last, `'"`))) {
				c.write(last)
			}
		}
	}
}

package story

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// project is the files that the tools of a script look at.
type project struct {
	root      string
	files     map[string]string
	committed map[string]string
}

// newProject unpacks an archive: each file begins with a line `-- name --`. A
// line `@bulk name n` in a file stands for n generated lines.
func newProject(root, archive string) (*project, error) {
	p := &project{root: root, files: map[string]string{}}
	var name string
	var lines []string
	keep := func() {
		if name != "" {
			p.files[name] = strings.Trim(strings.Join(lines, "\n"), "\n") + "\n"
		}
		lines = nil
	}
	for _, line := range strings.Split(archive, "\n") {
		if rest, ok := strings.CutPrefix(line, "-- "); ok && strings.HasSuffix(rest, " --") {
			keep()
			name = strings.TrimSuffix(rest, " --")
			continue
		}
		if rest, ok := strings.CutPrefix(line, "@bulk "); ok {
			generated, err := newBulk(name).lines(rest)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			lines = append(lines, generated...)
			continue
		}
		lines = append(lines, line)
	}
	keep()
	p.commit()
	return p, nil
}

func (p *project) commit() {
	p.committed = make(map[string]string, len(p.files))
	for name, contents := range p.files {
		p.committed[name] = contents
	}
}

// command carries out a `%` line.
func (p *project) command(line string) error {
	verb, name, _ := strings.Cut(line, " ")
	switch verb {
	case "commit":
		p.commit()
	case "restore":
		old, ok := p.committed[name]
		if !ok {
			return fmt.Errorf("%s was never committed", name)
		}
		p.files[name] = old
	case "replace":
		name, rest, _ := strings.Cut(name, " ")
		old, new, ok := strings.Cut(rest, " => ")
		if !ok || !strings.Contains(p.files[name], old) {
			return fmt.Errorf("%s does not hold %q", name, old)
		}
		p.files[name] = strings.ReplaceAll(p.files[name], old, new)
	case "remove":
		if _, ok := p.files[name]; !ok {
			return fmt.Errorf("%s does not exist", name)
		}
		delete(p.files, name)
	default:
		return fmt.Errorf("unknown command %q", verb)
	}
	return nil
}

func (p *project) names() []string {
	names := make([]string, 0, len(p.files))
	for name := range p.files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (p *project) abs(name string) string { return path.Join(p.root, name) }

// read is what the read tool returns: numbered lines with a note at the end.
func (p *project) read(name string, offset, limit int) (string, error) {
	contents, ok := p.files[name]
	if !ok {
		return p.list(name)
	}
	lines := strings.Split(strings.TrimSuffix(contents, "\n"), "\n")
	offset = max(offset, 1)
	if limit <= 0 {
		limit = 2000
	}
	last := min(offset-1+limit, len(lines))
	if offset > len(lines) {
		return "", fmt.Errorf("%s has %d lines", name, len(lines))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<path>%s</path>\n<type>file</type>\n<content>", p.abs(name))
	for i := offset; i <= last; i++ {
		fmt.Fprintf(&b, "%d: %s\n", i, lines[i-1])
	}
	if last < len(lines) {
		fmt.Fprintf(&b, "\n(File has more lines. Use 'offset' parameter to read beyond line %d)\n</content>", last)
	} else {
		fmt.Fprintf(&b, "\n(End of file - total %d lines)\n</content>", len(lines))
	}
	return b.String(), nil
}

func (p *project) list(folder string) (string, error) {
	prefix := strings.TrimSuffix(folder, "/") + "/"
	var entries []string
	for _, name := range p.names() {
		rest, ok := strings.CutPrefix(name, prefix)
		if !ok {
			continue
		}
		if sub, _, ok := strings.Cut(rest, "/"); ok {
			rest = sub + "/"
		}
		if !slices.Contains(entries, rest) {
			entries = append(entries, rest)
		}
	}
	if entries == nil {
		return "", fmt.Errorf("%s does not exist", folder)
	}
	return fmt.Sprintf("<path>%s</path>\n<type>directory</type>\n<entries>\n%s\n\n(%d entries)\n</entries>",
		p.abs(strings.TrimSuffix(folder, "/"))+"/", strings.Join(entries, "\n"), len(entries)), nil
}

// edit replaces the one place where old stands.
func (p *project) edit(name, old, new string) error {
	contents, ok := p.files[name]
	if !ok {
		return fmt.Errorf("%s does not exist", name)
	}
	if n := strings.Count(contents, old); n != 1 {
		return fmt.Errorf("%s holds the old text %d times:\n%s", name, n, old)
	}
	p.files[name] = strings.Replace(contents, old, new, 1)
	return nil
}

func (p *project) grep(pattern, include string) (string, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	found := 0
	for _, name := range p.names() {
		if include != "" {
			if ok, _ := path.Match(include, path.Base(name)); !ok {
				continue
			}
		}
		headed := false
		for i, line := range strings.Split(p.files[name], "\n") {
			if !re.MatchString(line) {
				continue
			}
			if found++; found > 100 {
				continue
			}
			if !headed {
				fmt.Fprintf(&b, "\n%s:\n", p.abs(name))
				headed = true
			}
			fmt.Fprintf(&b, "  Line %d: %s\n", i+1, line)
		}
	}
	switch {
	case found == 0:
		return "No files found", nil
	case found > 100:
		return fmt.Sprintf("Found %d matches (showing first 100)\n%s", found, strings.TrimPrefix(b.String(), "\n")), nil
	}
	return fmt.Sprintf("Found %d matches\n%s", found, strings.TrimPrefix(b.String(), "\n")), nil
}

// glob knows `dir/**/*.ext`, `**/*.ext` and what path.Match knows.
func (p *project) glob(pattern string) string {
	var found []string
	for _, name := range p.names() {
		ok, _ := path.Match(pattern, name)
		if folder, base, deep := strings.Cut(pattern, "**/"); deep && strings.HasPrefix(name, folder) {
			ok, _ = path.Match(base, path.Base(name))
		}
		if ok {
			found = append(found, p.abs(name))
		}
	}
	if found == nil {
		return "No files found"
	}
	return strings.Join(found, "\n")
}

// patch applies a patch of the apply_patch tool and says which files it
// touched.
func (p *project) patch(text string) (string, error) {
	var done []string
	var name string
	var hunk []string
	apply := func() error {
		if len(hunk) == 0 {
			return nil
		}
		var old, new []string
		for _, line := range hunk {
			if line == "" {
				line = " "
			}
			switch line[0] {
			case '-':
				old = append(old, line[1:])
			case '+':
				new = append(new, line[1:])
			default:
				old, new = append(old, line[1:]), append(new, line[1:])
			}
		}
		hunk = nil
		return p.edit(name, strings.Join(old, "\n"), strings.Join(new, "\n"))
	}
	for _, line := range strings.Split(text, "\n") {
		switch verb, rest, _ := strings.Cut(line, ": "); {
		case line == "*** Begin Patch":
			continue
		case line == "*** End Patch", verb == "*** Update File", verb == "*** Add File", verb == "*** Delete File":
			if err := apply(); err != nil {
				return "", err
			}
			name = rest
			switch verb {
			case "*** Update File":
				done = append(done, "M "+name)
			case "*** Add File":
				done = append(done, "A "+name)
				p.files[name] = ""
			case "*** Delete File":
				done = append(done, "D "+name)
				delete(p.files, name)
			}
		case strings.HasPrefix(line, "@@"):
			if err := apply(); err != nil {
				return "", err
			}
		case len(done) > 0 && done[len(done)-1] == "A "+name:
			p.files[name] += strings.TrimPrefix(line, "+") + "\n"
		default:
			hunk = append(hunk, line)
		}
	}
	if done == nil {
		return "", fmt.Errorf("the patch names no file")
	}
	return "Success. Updated the following files:\n" + strings.Join(done, "\n"), nil
}

package historian

import (
	"slices"
	"strings"

	"ctxplugin/compartments"
)

// file is what happened to one file in a run.
type file struct {
	path           string
	shown          string // last two parts
	ord            compartments.Ordinal
	edits          int
	added, removed int
	created        bool
	deleted        bool
	shell          bool // only shell commands wrote it
	moved          string
	brought        []string // symbols that the changes added
}

// reading is a file that was read and not changed.
type reading struct {
	path, shown string
	times       int
	from, to    int
	whole       bool
}

// collectFiles gathers changes and reads by file.
func (r *record) collectFiles(v *view) {
	ms := v.run()
	index := map[string]int{}
	read := map[string]int{}
	key := func(p string) string { return strings.ReplaceAll(strings.TrimPrefix(p, "./"), `\`, "/") }
	find := func(p string) (int, bool) { // absolute and relative spellings of one file
		k := key(p)
		if i, ok := index[k]; ok {
			return i, true
		}
		for i := range r.files {
			f := key(r.files[i].path)
			if strings.HasSuffix(f, "/"+k) || strings.HasSuffix(k, "/"+f) {
				return i, true
			}
		}
		return 0, false
	}
	for i := range ms {
		for j := range ms[i].uses {
			u := &ms[i].uses[j]
			for _, c := range u.changes {
				if c.path == "" || len(c.path) > 300 || safe(lastTwo(c.path)) != lastTwo(c.path) {
					continue
				}
				at, ok := find(c.path)
				if c.deleted && !ok && c.shell {
					if !fileLike(baseName(c.path)) {
						continue
					}
				}
				if !ok {
					at = len(r.files)
					index[key(c.path)] = at
					r.files = append(r.files, file{path: c.path, shown: lastTwo(c.path), ord: ms[i].ord, shell: true})
				}
				f := &r.files[at]
				f.deleted = c.deleted
				if !c.deleted {
					f.edits++
				}
				f.added += c.added
				f.removed += c.removed
				f.created = f.created || c.created
				f.shell = f.shell && c.shell
				for _, n := range c.brought {
					if !slices.Contains(f.brought, n) && len(f.brought) < 24 && safe(n) == n {
						f.brought = append(f.brought, n)
					}
				}
				if c.moved != "" {
					f.moved = lastTwo(c.moved)
				}
			}
			if u.kind == useRead && u.path != "" && !u.failed && !u.stopped && safe(lastTwo(u.path)) == lastTwo(u.path) {
				k := key(u.path)
				at, ok := read[k]
				if !ok {
					at = len(r.reads)
					read[k] = at
					r.reads = append(r.reads, reading{path: u.path, shown: lastTwo(u.path), from: u.from, to: u.to, whole: u.from == 0})
				}
				d := &r.reads[at]
				d.times++
				d.whole = d.whole || u.from == 0
				d.from, d.to = min(d.from, u.from), max(d.to, u.to)
			}
		}
	}
	r.reads = slices.DeleteFunc(r.reads, func(d reading) bool { _, changed := find(d.path); return changed })
	slices.SortStableFunc(r.reads, func(a, b reading) int { return b.times - a.times })
	spoken := v.spoken()
	for i := range r.files {
		// Symbols that somebody also spoke of come first.
		f := &r.files[i]
		slices.SortStableFunc(f.brought, func(a, b string) int { return spoken[b] - spoken[a] })
	}
	slices.SortStableFunc(r.files, func(a, b file) int { return b.weight() - a.weight() })
}

// weight orders changed files: those that were worked on most come first.
func (f *file) weight() int {
	w := 20*min(f.edits, 20) + min(f.added+f.removed, 200)
	if f.shell {
		w -= 10
	}
	if f.deleted || strings.HasPrefix(f.path, "/tmp/") {
		w -= 200
	}
	return w
}

// long is the entry at full.
func (f *file) long() string {
	s := f.shown
	if f.edits > 1 {
		s += " ×" + itoa(f.edits)
	}
	if f.added+f.removed > 0 {
		s += " +" + itoa(f.added) + "/-" + itoa(f.removed)
	}
	switch {
	case f.deleted && f.edits > 0:
		s += " (written, then removed)"
	case f.deleted:
		s += " (removed)"
	case f.moved != "":
		s += " (now " + f.moved + ")"
	case f.created:
		s += " (new)"
	}
	if !f.deleted && len(f.brought) > 0 {
		s += ": " + strings.Join(f.brought[:min(3, len(f.brought))], ", ")
	}
	return s
}

// short is the entry at dense.
func (f *file) short() string {
	switch {
	case f.deleted:
		return f.shown + " (removed)"
	case f.created:
		return f.shown + " (new)"
	}
	return f.shown
}

func (d *reading) long() string {
	s := d.shown
	if !d.whole && d.to > 0 {
		s += " " + itoa(max(d.from, 1)) + "-" + itoa(d.to)
	}
	if d.times > 1 {
		s += " ×" + itoa(d.times)
	}
	return s
}

// ran is one distinct command with its runs.
type ran struct {
	ord    compartments.Ordinal // of the last run
	text   string
	class  class
	runs   int
	failed int
	last   string // what the last run said
	lastOK bool
	like   int  // runs of the same program that passed and are not listed
	edits  bool // it writes files
}

// collectRan gathers commands that verify, install or otherwise do something.
func (r *record) collectRan(ms []message) {
	index := map[string]int{}
	for i := range ms {
		for j := range ms[i].uses {
			u := &ms[i].uses[j]
			if u.kind != useShell || u.open || u.stopped || u.refused || u.cmd.class == classLook || u.cmd.class == classGit {
				continue
			}
			text := nearPaths(safe(u.cmd.text))
			at, ok := index[text]
			if !ok {
				at = len(r.ran)
				index[text] = at
				r.ran = append(r.ran, ran{text: text, class: u.cmd.class})
			}
			c := &r.ran[at]
			c.ord = ms[i].ord
			c.edits = c.edits || len(u.cmd.writes) > 0
			c.runs++
			c.lastOK = !u.failed
			if u.failed {
				c.failed++
				c.last = ""
				continue
			}
			c.last = ""
			if u.cmd.class == classVerify {
				c.last = shorten(safe(summaryLine(u.output)), 120)
			}
		}
	}
}

// gitFact is one commit, push, link or undo.
type gitFact struct {
	ord compartments.Ordinal
	commit
}

func (r *record) collectGit(ms []message) {
	seen := map[string]bool{}
	for i := range ms {
		for j := range ms[i].uses {
			for _, c := range ms[i].uses[j].hashes {
				c.text = safe(c.text)
				k := c.hash + "\x00" + c.text
				if c.hash != "" {
					k = c.hash
				}
				if !seen[k] && (c.text != "" || c.hash != "") {
					seen[k] = true
					r.git = append(r.git, gitFact{ms[i].ord, c})
				}
			}
		}
	}
}

// failure is one kind of failure with its count.
type failure struct {
	ord    compartments.Ordinal // of the first
	last   compartments.Ordinal
	what   string
	line   string
	count  int
	others int // of them from another command
	class  class
	passed compartments.Ordinal // where the same thing passed later, or 0
	shell  bool
	denied bool
	fault  string // the file that a language server complained of
	key    string
	main   string // the part of the command that decides
	verb   string
}

// collectFailures gathers failed calls, equal ones once, and sees whether the
// same command passes later in the run.
func (r *record) collectFailures(ms []message) {
	index := map[string]int{}
	processes := map[string]string{} // commands in the background by id
	for i := range ms {
		for j := range ms[i].uses {
			u := &ms[i].uses[j]
			if u.kind == useShell && !u.failed {
				if id := processID(u.output); id != "" {
					processes[id] = u.cmd.text
				}
			}
			if u.kind == useShell && !u.failed && !u.open && !u.stopped && !u.refused {
				for k := range r.failures {
					f := &r.failures[k]
					if f.shell && f.passed == 0 && (f.key == u.cmd.text || f.class >= classInstall && (f.verb == u.cmd.verb || f.main != "" && slices.Contains(u.cmd.pieces, f.main))) {
						f.passed = ms[i].ord
					}
				}
			}
			for k := range r.failures {
				// An edit without complaint about a file settles the complaint before it.
				if f := &r.failures[k]; f.fault != "" && f.passed == 0 && u.fault == "" && !u.failed && len(u.changes) > 0 && lastTwo(u.changes[0].path) == f.fault {
					f.passed = ms[i].ord
				}
			}
			if u.stopped && !(i+1 == len(ms) || ms[i+1].who != agent) {
				continue
			}
			if !u.failed && !u.refused && !u.stopped && u.fault == "" {
				continue
			}
			f := failure{ord: ms[i].ord, last: ms[i].ord, line: shorten(nearPaths(safe(u.errLine)), 220), count: 1, shell: u.kind == useShell, denied: u.refused, class: classLook}
			if f.line == "" && u.errLine != "" {
				f.line = head(safe(u.errLine), 120)
			}
			switch {
			case u.fault != "":
				f.line, f.fault, f.class = shorten(safe(u.fault), 220), lastTwo(u.path), classVerify
				f.what = safe(strings.ToLower(u.name) + " " + f.fault)
			case u.kind == useShell:
				f.what, f.class, f.key, f.main, f.verb = nearPaths(safe(u.cmd.text)), u.cmd.class, u.cmd.text, u.cmd.main, u.cmd.verb
			case u.process != "":
				f.what, f.class = nearPaths(safe(processes[u.process])), classOther
				if f.what == "" {
					f.what = safe(u.name + " " + u.process)
				}
			case u.path != "":
				f.what = safe(strings.ToLower(u.name) + " " + lastTwo(u.path))
			case u.pattern != "":
				f.what = safe(strings.ToLower(u.name) + " " + u.pattern)
			default:
				f.what = safe(u.name)
			}
			if f.denied {
				f.what = "refused: " + f.what
			}
			k := f.what + "\x00" + digitless(f.line)
			at, ok := index[k]
			if !ok && len(f.line) > 40 {
				// The same complaint from another command is the same trouble.
				k = "\x00" + letters(tailOf(digitless(f.line), 60), 60)
				if f.class > classOther {
					k += "\x00" + f.verb
				}
				at, ok = index[k]
			}
			if ok {
				o := &r.failures[at]
				o.count++
				o.last = ms[i].ord
				o.passed = 0
				if o.what != f.what {
					o.others++
				}
				continue
			}
			index[k] = len(r.failures)
			r.failures = append(r.failures, f)
		}
	}
}

// digitless folds numbers, so that lines which differ in a count or a time are
// one.
func digitless(s string) string {
	b := []byte(s)
	out := b[:0]
	for _, c := range b {
		if c >= '0' && c <= '9' {
			if len(out) > 0 && out[len(out)-1] == '#' {
				continue
			}
			c = '#'
		}
		out = append(out, c)
	}
	return string(out)
}

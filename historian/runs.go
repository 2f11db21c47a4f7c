package historian

import (
	"slices"
	"strings"

	"ctxplugin/compartments"
)

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

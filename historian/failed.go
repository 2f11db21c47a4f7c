package historian

import (
	"slices"
	"strings"

	"ctxplugin/compartments"
)

// failure is one kind of failure with its count.
type failure struct {
	ord     compartments.Ordinal // of the first
	last    compartments.Ordinal
	what    string
	line    string
	tests   string // that failed
	count   int
	others  int // of them from another command
	class   class
	passed  compartments.Ordinal // where the same thing passed later, or 0
	cure    string               // what was changed last before it passed, or before it failed otherwise
	over    bool                 // it failed otherwise since: what is changed now cures something else
	waits   []check              // what has not passed since; none if nothing tells
	shell   bool
	denied  bool
	fault   string // the file that a language server complained of
	key     string
	main    string // the part of the command that failed
	verb    string
	about   string // what the command was for, in the agent's words
	half    bool   // stopped at the end of the run, in what changes something
	yet     bool   // did something all the same, as its line says
	halted  bool   // ended by the user or the host, which says nothing of the work
	process string // id of the process in the background that it is about
}

// collectFailures gathers failed calls, equal ones once, and sees what passes
// later in the run: of them, and of what earlier runs left open.
func (r *record) collectFailures(v *view) {
	ms := v.run()
	index := map[string]int{}
	processes := map[string]string{} // commands in the background by id
	for i := range ms {
		for j := range ms[i].uses {
			u := &ms[i].uses[j]
			running := false // nothing is known of how it ends
			if u.kind == useShell && !u.failed {
				if id := processID(u.output); id != "" {
					processes[id], running = u.cmd.text, true
				}
			}
			if u.kind == useShell && !u.open && !u.stopped && !u.refused {
				if u.failed {
					v.reopen(failing(u))
				} else if !running && len(r.failures)+len(v.open) > 0 {
					r.settle(v, u, ms[i].ord)
				}
			}
			if u.process != "" && !u.failed && strings.TrimSpace(u.output) != "" {
				r.settleProcess(v, processes[u.process], u.process, ms[i].ord)
			}
			r.cure(u)
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
			f := failure{ord: ms[i].ord, last: ms[i].ord, line: shorten(nearPaths(safe(u.errLine)), 220), tests: u.tests, count: 1, shell: u.kind == useShell, denied: u.refused, halted: u.stopped, class: classLook}
			if f.line == "" && u.errLine != "" {
				f.line = head(safe(u.errLine), 120)
			}
			if strings.Contains(f.line, masked) && width(strings.ReplaceAll(f.line, masked, "")) < 16 {
				f.line = shorten(nearPaths(openLine(u.output)), 220)
			}
			if f.halted && u.kind == useShell && u.cmd.alters() {
				f.line, f.half = shorten(strings.Trim(f.line, "[]"), 60)+", may be half done", !slices.ContainsFunc(ms[i+1:], func(m message) bool { return m.who == agent })
			}
			if done := shorten(nearPaths(safe(u.yet)), 80); done != "" {
				f.yet = true
				f.line = shorten(f.line, 130) + "; yet: " + done
			}
			switch {
			case u.fault != "":
				f.line, f.fault, f.class = shorten(safe(u.fault), 220), lastTwo(u.path), classVerify
				f.what = safe(strings.ToLower(u.name) + " " + f.fault)
			case u.kind == useShell:
				f.about = safe(u.about)
				f.what, f.class, f.key, f.main, f.verb = nearPaths(safe(u.cmd.text)), u.cmd.class, u.cmd.text, u.cmd.main, u.cmd.verb
				if f.waits = failing(u); len(f.waits) > 0 {
					f.main = f.waits[0].text
				}
			case u.process != "":
				f.what, f.class, f.process = nearPaths(safe(processes[u.process])), classOther, u.process
				if c := parseCommand(processes[u.process]); f.what != "" {
					f.waits = c.checks()
					v.reopen(f.waits)
				} else {
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
				k = "\x00" + u.tests + "\x00" + letters(tailOf(digitless(f.line), 60), 60)
				if f.class > classOther {
					k += "\x00" + f.verb
				}
				at, ok = index[k]
			}
			if ok {
				o := &r.failures[at]
				o.count++
				o.last = ms[i].ord
				o.passed, o.waits, o.cure, o.over = 0, f.waits, "", false
				if o.what != f.what {
					o.others++
				}
				continue
			}
			for k := range r.failures {
				if o := &r.failures[k]; f.what == o.what && o.passed == 0 {
					o.over = o.cure != ""
				}
			}
			index[k] = len(r.failures)
			r.failures = append(r.failures, f)
		}
	}
	r.carry(v)
}

// cure notes what a call changed, for the failures that wait for it.
func (r *record) cure(u *use) {
	if u.failed || u.open || u.stopped || u.refused {
		return
	}
	what := ""
	switch {
	case u.kind == useShell && (len(u.changes) > 0 || u.cmd.class == classInstall):
		what = nearPaths(safe(u.cmd.text))
	case len(u.changes) > 0:
		what = safe(baseName(u.changes[len(u.changes)-1].path))
	}
	for k := range r.failures {
		if f := &r.failures[k]; what != "" && f.passed == 0 && !f.over {
			f.cure = what
		}
	}
}

// passes notes where a failure passed, and what the command that did brought with it.
func (f *failure) passes(ord compartments.Ordinal, by *command) {
	f.passed = ord
	if f.over {
		return
	}
	var extra []string
	for _, p := range by.pieces {
		words := shellWords(p)
		if classify(programName(words[0]), words) != classVerify && words[0] != "git" && !strings.Contains(f.key, p) {
			extra = append(extra, p)
		}
	}
	if len(extra) > 0 {
		f.cure = nearPaths(safe(strings.Join(extra, " && ")))
	}
}

// openLine is the first line of an output that says something besides secrets.
func openLine(out string) string {
	n := 0
	for line := range strings.SplitSeq(strip(plain(head(out, 6000))), "\n") {
		if n++; n > 60 {
			break
		}
		t := safe(head(line, 400))
		if !boiler(t) && width(strings.ReplaceAll(t, masked, "")) >= 16 {
			return t
		}
	}
	return ""
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

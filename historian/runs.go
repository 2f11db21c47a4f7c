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
	about  string // what the agent says that it is for
	class  class
	runs   int
	failed int
	last   string // what the last run said
	lastOK bool
	like   int  // runs of the same program that passed and are not listed
	edits  bool // it writes files
	left   bool // the state in which a stopped command found things
}

// collectRan gathers commands that verify, install or otherwise do something.
func (r *record) collectRan(ms []message) {
	index := map[string]int{}
	for i := range ms {
		for j := range ms[i].uses {
			u := &ms[i].uses[j]
			r.look(u, ms[i].ord)
			if u.kind != useShell || u.open || u.stopped || u.refused || u.cmd.class == classLook || u.cmd.class == classGit {
				continue
			}
			text := nearPaths(safe(u.cmd.text))
			if u.cmd.script != "" && u.cmd.class == classOther { // what it brought stands with the file
				text = safe(u.cmd.script)
			}
			at, ok := index[text]
			if !ok {
				at = len(r.ran)
				index[text] = at
				r.ran = append(r.ran, ran{text: text, class: u.cmd.class})
			}
			c := &r.ran[at]
			c.ord, c.about = ms[i].ord, safe(u.about)
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
	r.leave()
}

// underway tells where a run without words of the agent stands: by what it said that its
// last command is for, before others one that does more than look.
func (r *record) underway(ms []message) {
	if len(r.outcomes)+len(r.steps) > 0 || r.state != nil {
		return
	}
	for i := range ms {
		for j := range ms[i].uses {
			u := &ms[i].uses[j]
			if u.kind != useShell || u.about == "" || u.cmd.class == classLook && (len(r.files) > 0 || r.state != nil && r.state.score > 0) {
				continue // what was changed says more than what was looked at behind it
			}
			if text := fact(u.about); text != "" {
				r.state = &said{ord: ms[i].ord, text: text, score: int(u.cmd.class)}
			}
		}
	}
}

// leave marks the last command of the same program that did something before one was
// stopped half way: what it set may still be so.
func (r *record) leave() {
	for i := range r.failures {
		f := &r.failures[i]
		if !f.half {
			continue
		}
		program, _, _ := strings.Cut(f.what, " ")
		last := -1
		for k := range r.ran {
			if c := &r.ran[k]; c.lastOK && c.class > classLook && c.ord < f.ord && strings.HasPrefix(c.text, program+" ") && (last < 0 || c.ord >= r.ran[last].ord) {
				last = k
			}
		}
		if last >= 0 {
			r.ran[last].left = true
		}
	}
}

// look notes the first few things that were looked at, for a run that holds
// nothing else.
func (r *record) look(u *use, ord compartments.Ordinal) {
	if u.kind == useShell && u.cmd.class == classLook && u.about != "" && !u.failed {
		r.sought = safe(u.about)
	}
	if len(r.looked) == 3 || u.failed {
		return
	}
	text := ""
	switch {
	case u.kind == useShell && u.cmd.class == classLook:
		text = nearPaths(safe(u.cmd.text))
	case u.kind == useLook || u.kind == useFetch:
		text = safe(strings.ToLower(u.name) + " " + u.pattern)
	case u.kind == useOther && u.name != "":
		text = safe(strings.ToLower(u.name) + " " + u.process)
	}
	if text = shorten(strings.TrimSpace(text), 120); text != "" && !slices.ContainsFunc(r.looked, func(s said) bool { return s.text == text }) {
		r.looked = append(r.looked, said{ord: ord, text: text})
	}
}

// onlyRan reports whether commands are all that a record has of work.
func (r *record) onlyRan() bool {
	return len(r.outcomes)+len(r.why)+len(r.steps)+len(r.failures)+len(r.mended)+len(r.files)+len(r.reads)+len(r.git) == 0 && r.state == nil
}

// bare reports whether a record has nothing but what was looked at.
func (r *record) bare() bool {
	return len(r.asks)+len(r.outcomes)+len(r.why)+len(r.steps)+len(r.failures)+len(r.mended)+len(r.files)+len(r.reads)+len(r.ran)+len(r.git)+len(r.answered)+len(r.handed)+len(r.running) == 0 && r.state == nil
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

package historian

import (
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

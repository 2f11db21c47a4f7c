package historian

import (
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"ctxplugin/compartments"
)

// takeback is what a command takes back of what was changed and not committed.
type takeback struct {
	all    bool
	paths  []string
	stash  bool // kept aside
	popped bool // brings back what was kept aside
}

// takesBack reads what the git commands of a call throw away or bring back.
func (u *use) takesBack() (t takeback) {
	if u.kind != useShell || u.failed || u.open || u.stopped || u.refused || strings.Contains(u.output, "No local changes to save") {
		return t
	}
	for _, g := range u.cmd.git {
		words := strings.Fields(g)
		i := gitVerb(words)
		if i >= len(words) {
			continue
		}
		verb, rest := words[i], words[i+1:]
		has := func(flags ...string) bool {
			return slices.ContainsFunc(rest, func(w string) bool { return slices.Contains(flags, w) })
		}
		var paths []string
		for k, w := range rest {
			if w == "--" {
				paths = rest[k+1:]
				break
			}
			if !strings.HasPrefix(w, "-") && (k == 0 || rest[k-1] != "-s" && rest[k-1] != "--source" && rest[k-1] != "-m") {
				paths = append(paths, w)
			}
		}
		switch {
		case verb == "reset" && has("--hard"):
			t = takeback{all: true}
		case verb == "stash" && (len(rest) == 0 || rest[0] == "push" || rest[0] == "save" || strings.HasPrefix(rest[0], "-")):
			t = takeback{all: true, stash: true}
			if at := slices.Index(rest, "--"); at >= 0 {
				t = takeback{paths: rest[at+1:], stash: true}
			}
		case verb == "stash" && (rest[0] == "pop" || rest[0] == "apply"):
			if t.stash {
				t = takeback{}
			} else {
				t.popped = true
			}
		case verb == "checkout" && !has("-b", "-B", "--orphan", "-t", "--track"), verb == "restore" && (!has("--staged", "-S") || has("--worktree", "-W")):
			if verb == "checkout" && len(paths) == 1 && !has("--") && !strings.Contains(u.output, "Updated ") && paths[0] != "." && !strings.HasSuffix(paths[0], "/") && !fileLike(baseName(paths[0])) {
				continue // a branch
			}
			for _, p := range paths {
				if p = strings.Trim(p, `'"`); p == "." || p == ":/" || p == "*" {
					t.all = true
				} else {
					t.paths = append(t.paths, p)
				}
			}
		}
	}
	return t
}

// names reports whether a path is one of those that are taken back, or lies in one.
func (t *takeback) names(path string) bool {
	path = strings.ReplaceAll(path, `\`, "/")
	return slices.ContainsFunc(t.paths, func(p string) bool {
		p = strings.TrimSuffix(strings.TrimPrefix(strings.ReplaceAll(p, `\`, "/"), "./"), "/")
		return p == path || strings.HasSuffix(path, "/"+p) || strings.HasSuffix(p, "/"+path) || strings.HasPrefix(path, p+"/") || strings.Contains(path, "/"+p+"/")
	})
}

// takeBack marks the files whose changes a call takes back, in this run and before it.
func (r *record) takeBack(v *view, u *use, ord compartments.Ordinal) {
	if slices.ContainsFunc(u.hashes, func(c commit) bool { return c.event == "commit" }) && u.kind == useShell {
		for i := range r.files {
			f := &r.files[i]
			f.kept = f.kept || f.loose > 0
			f.loose, f.forth = 0, nil
		}
		v.committed = true
	}
	t := u.takesBack()
	if t.popped {
		for i := range r.files {
			if f := &r.files[i]; f.stashed && !f.again {
				f.undone, f.stashed, f.loose = 0, false, f.edits
			}
		}
		for _, b := range r.takenBack {
			if b.stash {
				r.gone = slices.DeleteFunc(r.gone, func(e compartments.Event) bool { return e.Ordinal == b.ord })
			}
		}
		r.takenBack = slices.DeleteFunc(r.takenBack, func(b takenBack) bool { return b.stash })
	}
	if !t.all && len(t.paths) == 0 {
		return
	}
	for i := range r.files {
		f := &r.files[i]
		// What git does not know it does not take back.
		if f.loose > 0 && (t.names(f.path) || t.all && !f.created && !f.shell && !strings.HasPrefix(f.path, "/tmp/")) {
			f.undone, f.stashed, f.again, f.deleted, f.loose, f.forth = ord, t.stash, false, false, 0, nil
		}
	}
	if !v.committed {
		r.takeBackEarlier(v, &t, ord)
	}
}

// takenBack is what earlier runs changed and this one took back.
type takenBack struct {
	ord   compartments.Ordinal
	files []string // as far as the run names them
	since []compartments.Ordinal
	stash bool // kept aside
}

// takeBackEarlier notes which changes of earlier runs a call takes back: those behind the
// last commit.
func (r *record) takeBackEarlier(v *view, t *takeback, ord compartments.Ordinal) {
	back := takenBack{ord: ord, stash: t.stash}
	gone := map[string]bool{}
	for i := len(v.earlier) - 1; i >= 0 && i >= len(v.earlier)-priorTold; i-- {
		c := &v.earlier[i]
		var committed compartments.Ordinal
		for _, e := range c.Events {
			if e.Kind == eventCommit {
				committed = e.Ordinal
			}
		}
		all := false
		for _, e := range c.Events {
			if e.Kind == eventTakenBack && e.Ordinal > committed {
				gone[e.Text], all = true, all || e.Text == everything
			}
		}
		if all {
			break
		}
		for _, f := range c.Facts {
			shown, ok := strings.CutPrefix(f.Text, factChanged)
			if f.Kind != factFile || !ok || f.Ordinal <= committed || gone[shown] || strings.HasPrefix(shown, "tmp/") || !t.all && !t.names(shown) {
				continue
			}
			gone[shown] = true
			if v.native(shown) == shown {
				back.files = append(back.files, shown)
			}
			back.since = append(back.since, f.Ordinal)
		}
		if committed != 0 {
			break
		}
	}
	slices.Sort(back.since)
	back.since = slices.Compact(back.since)
	if len(back.since) > 0 {
		r.takenBack = append(r.takenBack, back)
	}
	if t.all {
		r.gone = append(r.gone, compartments.Event{Ordinal: ord, Kind: eventTakenBack, Text: everything})
	}
	for _, f := range back.files {
		r.gone = append(r.gone, compartments.Event{Ordinal: ord, Kind: eventTakenBack, Text: f})
	}
}

// everything stands in an event for all that was not committed.
const everything = "*"

// mark tells a replacement of one text by another in a file from others.
func mark(path, before, after string) uint64 {
	h := fnv.New64a()
	for _, s := range [...]string{baseName(path), before, after} {
		_, _ = h.Write([]byte(s))
		_, _ = h.Write([]byte{0})
	}
	return h.Sum64()
}

// putBack counts a change, or strikes an earlier one of this run that it is the inverse
// of, and notes the one of an earlier run.
func (f *file) putBack(v *view, c *change, ord compartments.Ordinal) {
	if at := slices.Index(f.forth, c.back); c.back != 0 && at >= 0 {
		f.forth = slices.Delete(f.forth, at, at+1)
		if f.loose--; f.loose == 0 {
			f.undone, f.again = ord, false
		}
		return
	}
	f.loose++
	f.again = f.again || f.undone != 0
	if c.forth == 0 {
		return
	}
	f.forth = append(f.forth, c.forth)
	if old, ok := v.edited()[c.back]; ok && !slices.Contains(f.restores, old) {
		f.restores = append(f.restores, old)
	}
}

// edited are the replacements of earlier runs that nothing has put back, by their marks.
func (v *view) edited() map[uint64]compartments.Ordinal {
	if v.edits == nil {
		v.edits = map[uint64]compartments.Ordinal{}
		for i := max(0, len(v.earlier)-priorTold); i < len(v.earlier); i++ {
			for _, e := range v.earlier[i].Events {
				if e.Kind != eventEdit {
					continue
				}
				if n, err := strconv.ParseUint(e.Text, 16, 64); err == nil {
					v.edits[n] = e.Ordinal
				}
			}
		}
	}
	return v.edits
}

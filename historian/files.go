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

	loose    int                    // changes that are neither committed nor taken back
	kept     bool                   // some were committed
	undone   compartments.Ordinal   // where those that were not were taken back; 0 if nowhere
	stashed  bool                   // and kept aside
	again    bool                   // it was changed behind that
	restores []compartments.Ordinal // edits of earlier runs that were put back
	forth    []uint64               // marks of the replacements that stand
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
						r.removeUnder(key(c.path))
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
				if c.deleted {
					f.forth = nil
				} else {
					f.putBack(v, &c, ms[i].ord)
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
			r.takeBack(v, u, ms[i].ord)
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

// removeUnder marks the changed files of a folder that was removed.
func (r *record) removeUnder(folder string) {
	folder = strings.Trim(folder, "/")
	for i := range r.files {
		f := &r.files[i]
		if p := strings.ReplaceAll(f.path, `\`, "/"); strings.HasPrefix(p, folder+"/") || strings.Contains(p, "/"+folder+"/") {
			f.deleted, f.forth = true, nil
		}
	}
}

// weight orders changed files: those that were worked on most come first.
func (f *file) weight() int {
	w := 20*min(f.edits, 20) + min(f.added+f.removed, 200)
	if f.shell {
		w -= 10
	}
	if f.deleted || f.gone() || strings.HasPrefix(f.path, "/tmp/") {
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
	case f.undone != 0 && f.again:
		s += " (undone at [" + itoa(int(f.undone)) + "], then changed again)"
	case f.undone != 0 && f.kept:
		s += " (what was not committed undone at [" + itoa(int(f.undone)) + "])"
	case f.undone != 0:
		s += " (undone at [" + itoa(int(f.undone)) + "])"
	case f.created:
		s += " (new)"
	}
	if len(f.restores) > 0 && !f.deleted && !f.gone() {
		s += " (puts back what [" + itoa(int(f.restores[0])) + "]" + others(len(f.restores)-1, "") + " changed)"
	}
	if !f.deleted && !f.gone() && len(f.brought) > 0 {
		s += ": " + strings.Join(f.brought[:min(3, len(f.brought))], ", ")
	}
	return s
}

// short is the entry at dense.
func (f *file) short() string {
	switch {
	case f.deleted:
		return f.shown + " (removed)"
	case f.gone():
		return f.shown + " (undone)"
	case f.created:
		return f.shown + " (new)"
	case len(f.restores) > 0:
		return f.shown + " (puts back [" + itoa(int(f.restores[0])) + "])"
	}
	return f.shown
}

// bare is the entry at compact.
func (f *file) bare() string {
	switch {
	case f.deleted && f.edits == 0: // what came and went has little to say here
		return baseName(f.shown) + " (removed)"
	case f.gone():
		return baseName(f.shown) + " (undone)"
	}
	return baseName(f.shown)
}

// gone reports a file of whose changes nothing is left.
func (f *file) gone() bool { return f.undone != 0 && !f.again && !f.kept }

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

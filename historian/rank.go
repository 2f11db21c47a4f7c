package historian

import (
	"slices"
	"strings"
)

// commonFolder is in how many searches a folder stands that all work is in.
const commonFolder = 3

// mostNames is how many names of a run are kept, best first.
const mostNames = 40

// rankNames orders the names of a run by how likely they are to be named again:
// by where they stood, in how many messages, and what they look like.
func (r *record) rankNames(v *view) {
	type tally struct {
		weight   int32
		messages int32
		visible  bool
		order    int
	}
	sum := map[int32]*tally{}
	var ids []int32
	for i := v.from; i < v.to; i++ {
		for _, m := range v.ms[i].names {
			t := sum[m.id]
			if t == nil {
				t = &tally{order: len(ids)}
				sum[m.id] = t
				ids = append(ids, m.id)
			}
			t.weight = max(t.weight, m.weight) + m.weight/8
			t.messages++
			t.visible = t.visible || m.visible
		}
	}
	listed := map[string]bool{}
	for i := range r.files {
		listed[strings.ToLower(baseName(r.files[i].path))] = true
	}
	type ranked struct {
		id    int32
		score int32
	}
	var all []ranked
	for _, id := range ids {
		n, t := &v.lex.list[id], sum[id]
		if !t.visible || n.searched >= commonFolder {
			continue
		}
		r.allNames++
		if n.first >= v.from && !n.known {
			r.newNames++
			if n.kind == kindPath {
				r.newPaths++
			}
		}
		s := t.weight + 2*min(5, t.messages)
		switch n.kind {
		case kindNumber:
			s -= 3
		case kindVersion, kindURL:
			s -= 2
		case kindPort, kindCommit:
			s += 2
		case kindWord:
			s -= 4
		case kindFlag:
			if t.weight <= int32(fromCommand) {
				continue
			}
			s -= 6
		}
		if len(n.text) > 60 {
			s -= 4
		}
		if t.weight < int32(fromNarration) { // in what a tool complained of alone
			s -= 6
		}
		all = append(all, ranked{id, s})
	}
	slices.SortStableFunc(all, func(a, b ranked) int { return int(b.score - a.score) })
	for _, a := range all {
		if len(r.names) == mostNames {
			break
		}
		text := v.lex.list[a.id].text
		if r.redundant(text, listed) || v.lex.list[a.id].kind == kindCommit && r.committed(text) {
			continue
		}
		r.names = append(r.names, text)
		call := text
		if fileLike(text) {
			call = baseName(text)
		}
		r.calls = append(r.calls, call)
		r.worth = append(r.worth, v.worth(a.id, len(r.names)))
	}
}

// worth is what a name adds to a line that is the first to show it: most of all a
// name that came up in the run.
func (v *view) worth(id int32, place int) int {
	n := &v.lex.list[id]
	w := 20
	switch n.kind {
	case kindNumber, kindVersion, kindURL, kindFlag, kindWord:
		w = 10
	case kindPath:
		w = 10
	}
	if n.first < v.from || n.known {
		w /= 2
	}
	if place > 16 {
		w /= 2
	}
	return w
}

// redundant reports names that a kept one already says: the folder of a listed
// file, the tail of a listed file's name, a longer spelling of the same.
func (r *record) redundant(text string, listed map[string]bool) bool {
	low := strings.ToLower(text)
	base := baseName(low)
	if listed[base] && base != low {
		return false
	}
	for f := range listed {
		if f != base && strings.HasSuffix(f, "."+low) || strings.TrimSuffix(f, "."+ext(f)) == low {
			return true
		}
	}
	for _, n := range r.names {
		if strings.EqualFold(n, text) || strings.HasPrefix(n, text+"/") || fileLike(n) && baseName(n) == text || fileLike(text) && baseName(text) == n {
			return true
		}
	}
	return false
}

// committed reports whether a hash is one of a commit that the record lists.
func (r *record) committed(hash string) bool {
	for i := range r.git {
		if g := r.git[i].hash; g != "" && (strings.HasPrefix(hash, g) || strings.HasPrefix(g, hash)) {
			return true
		}
	}
	return false
}

func ext(f string) string {
	if i := strings.LastIndexByte(f, '.'); i >= 0 {
		return f[i+1:]
	}
	return ""
}

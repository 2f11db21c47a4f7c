package historian

import "strings"

// importance says how long full detail is needed, 1..100: mostly by the names
// and files that the run brought in, because those are named again.
func (r *record) importance() int {
	n := 6
	n += min(18, 6*r.marks)
	causes := 0
	for _, w := range r.why {
		if w.cause {
			causes++
		}
	}
	n += min(9, 3*causes)
	n += min(10, 2*len(r.files))
	edits := 0
	for i := range r.files {
		edits += r.files[i].edits
	}
	n += min(5, edits)
	passed, open := 0, 0
	for _, f := range r.failures {
		if f.passed != 0 {
			passed++
		} else if f.class > classLook {
			open++
		}
	}
	n += min(6, 3*passed) + min(6, 2*open)
	n += min(4, 2*len(r.git))
	n += min(24, 3*r.newPaths)
	n += min(20, r.newNames/2)
	n += min(10, r.allNames/8)
	if r.question != nil {
		n += 2
	}
	if r.plan != nil && len(r.plan.left) > 0 && r.renewed == 0 {
		n += 2
	}
	return max(1, min(100, n))
}

// types names the kinds of work in the run, at most three, the main one first.
func (r *record) types() []string {
	var out []string
	add := func(t string) {
		if len(out) < 3 {
			out = append(out, t)
		}
	}
	docs, tests, created := 0, 0, 0
	for i := range r.files {
		f := &r.files[i]
		low := strings.ToLower(f.path)
		switch {
		case strings.HasSuffix(low, ".md") || strings.HasSuffix(low, ".rst") || strings.HasSuffix(low, ".txt"):
			docs++
		case strings.Contains(low, "test") || strings.Contains(low, "spec"):
			tests++
		}
		if f.created {
			created++
		}
	}
	passed, open := 0, 0
	for _, f := range r.failures {
		if f.passed != 0 {
			passed++
		} else if f.class >= classOther {
			open++
		}
	}
	edited := len(r.files)
	switch {
	case edited == 0:
	case docs == edited:
		add("docs")
	case tests == edited:
		add("test")
	case passed > 0 || open > 0 && created == 0:
		add("fix")
	case 2*created >= edited:
		add("feature")
	default:
		add("change")
	}
	for _, g := range r.git {
		if g.event == "commit" || g.event == "push" || g.event == "link" {
			add("release")
			break
		}
	}
	if edited == 0 {
		other := 0
		for i := range r.ran {
			if r.ran[i].class != classVerify {
				other++
			}
		}
		switch {
		case other > 0:
			add("ops")
		case len(r.ran) > 0:
			add("test")
		case len(r.reads) > 0:
			add("explore")
		case len(r.outcomes) > 0 && len(r.asks) > 1:
			add("design")
		case len(r.outcomes) > 0:
			add("question")
		}
	}
	if open > 0 {
		add("failing")
	}
	if len(r.handed) > 0 {
		add("delegated")
	}
	if len(out) == 0 {
		add("talk")
	}
	return out
}

package historian

import (
	"slices"
	"strings"
)

// collectTalk takes answers given through question tools, and delegated work.
func (r *record) collectTalk(ms []message) {
	for i := range ms {
		for j := range ms[i].uses {
			u := &ms[i].uses[j]
			switch u.kind {
			case useAsk:
				for _, p := range u.pairs {
					if p.reply == "" {
						continue
					}
					q, a := shorten(safe(p.question), 160), shorten(safe(p.reply), 160)
					r.answered = append(r.answered, said{ord: ms[i].ord, text: q + " → \"" + a + "\""})
				}
			case useTask:
				if u.stopped || u.refused {
					continue
				}
				text := shorten(safe(u.task), 120)
				if o, ok := conclude(nil, split(u.result, false), ms[i].ord, 4); ok {
					text += " → " + shorten(o.main, 200)
					for _, m := range append(o.caveats, o.more...) {
						text += " " + shorten(m.text, 120)
					}
				} else if u.failed {
					text += " → failed: " + shorten(safe(u.errLine), 120)
				}
				r.handed = append(r.handed, said{ord: ms[i].ord, text: text})
			}
		}
	}
}

// collectOpen takes what is still to be done at the end of the run.
func (r *record) collectOpen(v *view) {
	ms := v.run()
	r.collectPlan(v)
	r.collectProcesses(v)
	if n := len(ms); n > 0 {
		for j := range ms[n-1].uses {
			if u := &ms[n-1].uses[j]; u.open && u.kind != useOwn && u.kind != useShell && (u.kind != useTodo || len(u.todos) == 0) {
				what := u.cmd.text
				if what == "" {
					what = u.name + " " + lastTwo(u.path)
				}
				r.running = append(r.running, said{ord: ms[n-1].ord, text: shorten(safe(what), 100) + " (no result yet)"})
			}
		}
	}
	if v.to < len(v.ms) && v.ms[v.to].who != agent {
		r.stopped = v.ms[v.to].speech.interrupted
	}
	q := openQuestion(ms)
	if q == nil {
		return
	}
	if v.reply(v.to-1) != nil { // who was asked has spoken, and what came of it stands there
		for i := range r.outcomes {
			r.outcomes[i].drop(q)
		}
		return
	}
	r.question = q
}

// drop takes a sentence off what an outcome says beside its main one.
func (o *outcome) drop(q *said) {
	same := func(s said) bool { return s.ord == q.ord && s.text == q.text }
	o.more, o.caveats = slices.DeleteFunc(o.more, same), slices.DeleteFunc(o.caveats, same)
}

// openQuestion is what the agent asked or offered last, where nobody spoke behind it.
func openQuestion(ms []message) *said {
	for i := len(ms) - 1; i >= 0; i-- {
		if ms[i].who == person {
			if i == len(ms)-1 || len(ms[i].units) > 0 {
				return nil
			}
		}
		if ms[i].who != agent || !ms[i].final {
			continue
		}
		units := ms[i].units
		if at := offered(units); at < len(units) {
			text, _ := joinBullets(units, at)
			if text = fact(text); text != "" {
				return &said{ord: ms[i].ord, text: text}
			}
		}
		for j := len(units) - 1; j >= 0; j-- {
			if question(units[j].text) || j == len(units)-1 && offers(units[j].text) {
				if text := fact(units[j].text); text != "" {
					return &said{ord: ms[i].ord, text: text}
				}
				return nil
			}
		}
		return nil
	}
	return nil
}

// processID finds the id under which a host reports a process that still runs.
func processID(out string) string {
	top := head(out, 600)
	low := strings.ToLower(top)
	if !strings.Contains(low, "running") {
		return ""
	}
	at := strings.Index(low, "id: ")
	if at < 0 {
		return ""
	}
	f := strings.Fields(top[at+4:])
	if len(f) == 0 || len(f[0]) > 40 {
		return ""
	}
	return strings.Trim(f[0], ".,;`'\"")
}

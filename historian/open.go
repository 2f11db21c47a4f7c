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
	processes := map[string]int{}
	for i := range ms {
		for j := range ms[i].uses {
			u := &ms[i].uses[j]
			switch {
			case u.kind == useTodo && len(u.todos) > 0:
				r.todoLeft = r.todoLeft[:0]
				done := 0
				for _, t := range u.todos {
					switch t.status {
					case "completed", "done", "cancelled":
						done++
						continue
					}
					text := shorten(safe(t.text), 100)
					if t.status == "in_progress" {
						text += " (begun)"
					}
					r.todoLeft = append(r.todoLeft, text)
				}
				r.todo = &said{ord: ms[i].ord, score: done}
			case u.kind == useShell && !u.failed:
				if id := processID(u.output); id != "" {
					if len(r.running) < 4 {
						processes[id] = len(r.running)
						r.running = append(r.running, said{ord: ms[i].ord, text: shorten(safe(u.cmd.text), 80) + " (" + safe(id) + ")"})
					}
				}
			case u.kind == useOther && len(processes) > 0:
				low := strings.ToLower(head(u.output, 300))
				if strings.Contains(low, "exited") || strings.Contains(low, "killed") || strings.Contains(low, "<status>completed") || strings.Contains(low, "terminated") {
					for id, k := range processes {
						if strings.Contains(u.output, id) {
							r.running[k].text = ""
						}
					}
				}
			case u.open && u.kind != useOwn && i == len(ms)-1:
				what := u.cmd.text
				if what == "" {
					what = u.name + " " + lastTwo(u.path)
				}
				r.running = append(r.running, said{ord: ms[i].ord, text: shorten(safe(what), 100) + " (no result yet)"})
			}
		}
	}
	r.running = slices.DeleteFunc(r.running, func(s said) bool { return s.text == "" })
	if v.to < len(v.ms) && v.ms[v.to].who != agent {
		r.stopped = v.ms[v.to].speech.interrupted
	}
	for i := len(ms) - 1; i >= 0; i-- {
		if ms[i].who == person {
			if i == len(ms)-1 || len(ms[i].units) > 0 {
				break
			}
		}
		if ms[i].who != agent || !ms[i].final {
			continue
		}
		units := ms[i].units
		for j := len(units) - 1; j >= 0; j-- {
			if question(units[j].text) || j == len(units)-1 && hasAny(strings.ToLower(units[j].text), offers) {
				if text := fact(units[j].text); text != "" {
					r.question = &said{ord: ms[i].ord, text: text}
				}
				break
			}
		}
		break
	}
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

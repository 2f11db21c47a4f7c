package historian

import (
	"slices"
	"strings"

	"ctxplugin/compartments"
)

// process is a command that a host runs in the background.
type process struct {
	ord   compartments.Ordinal // the message that started it
	id    string
	text  string               // as it may be shown; unknown of what an earlier run started
	shown bool                 // an entry says that it runs
	ended compartments.Ordinal // the message that shows its end
}

// processesMost is how many running processes are carried from run to run.
const processesMost = 40

// collectProcesses takes what runs in the background at the end of the run, and what
// of earlier runs has ended in it.
//
// What is seen to end behind the run is not shown as running: it was not for long,
// and nobody could take that back later.
func (r *record) collectProcesses(v *view) {
	all := v.running
	for i := v.from; i < len(v.ms); i++ {
		m := &v.ms[i]
		for j := range m.uses {
			u := &m.uses[j]
			if id := processID(u.output); i < v.to && u.kind == useShell && !u.failed && id != "" && safe(id) == id {
				all = append(all[:len(all):len(all)], process{ord: m.ord, id: id, text: shorten(safe(u.cmd.text), 80) + " (" + id + ")"})
			}
		}
		for k := range all {
			p := &all[k]
			if p.ended != 0 || !m.ends(p.id) {
				continue
			}
			if p.ended = m.ord; i < v.to && p.shown {
				r.ended = append(r.ended, *p)
			}
		}
	}
	v.running = nil
	for _, p := range all {
		seen := p.ended != 0 && p.ended <= r.last
		if p.ended == 0 && p.ord >= r.first && len(r.running) < 4 {
			p.shown = true
			r.running = append(r.running, said{ord: p.ord, text: p.text})
			r.started = append(r.started, p)
		}
		if p.ended = 0; !seen {
			v.running = append(v.running, p)
		}
	}
	v.running = v.running[max(0, len(v.running)-processesMost):]
}

// ends reports whether a message shows that a process is over: by what a tool says of
// it, or the host's own notification.
func (m *message) ends(id string) bool {
	if slices.Contains(m.speech.ended, id) {
		return true
	}
	for j := range m.uses {
		u := &m.uses[j]
		if u.kind != useOther || u.process != "" && u.process != id || !strings.Contains(u.output, id) && u.process != id {
			continue
		}
		low := strings.ToLower(head(u.output, 300))
		for _, word := range [...]string{"exited", "killed", "terminated", "<status>completed", "<status>failed", "<status>stopped"} {
			if strings.Contains(low, word) {
				return true
			}
		}
	}
	return false
}

// notified lists the processes that notifications of a host say are over.
func notified(text string) []string {
	var out []string
	for {
		_, rest, ok := strings.Cut(text, "<task-id>")
		if !ok {
			return out
		}
		id, rest, ok := strings.Cut(rest, "</task-id>")
		if !ok || len(id) > 40 {
			return out
		}
		about, _, _ := strings.Cut(rest, "<task-id>")
		if _, status, ok := strings.Cut(about, "<status>"); ok && !strings.HasPrefix(status, "running") {
			out = append(out, strings.TrimSpace(id))
		}
		text = rest
	}
}

// runningBefore is what earlier compartments left running, by their events.
func runningBefore(prior []compartments.Compartment) []process {
	var out []process
	for i := range prior {
		for _, e := range prior[i].Events {
			switch e.Kind {
			case eventRunning:
				out = append(out, process{ord: e.Ordinal, id: e.Text, shown: true})
			case eventEnded:
				if ord, id, ok := closing(e.Text); ok {
					out = slices.DeleteFunc(out, func(p process) bool { return p.ord == ord && p.id == id })
				}
			}
		}
	}
	return out[max(0, len(out)-processesMost):]
}

// plan is a to-do list as one call left it.
type plan struct {
	ord  compartments.Ordinal
	left []string
	done int
}

// planOf reads the last to-do list of a message.
func planOf(m *message) (p plan, ok bool) {
	for j := range m.uses {
		u := &m.uses[j]
		if u.kind != useTodo || len(u.todos) == 0 {
			continue
		}
		p, ok = plan{ord: m.ord}, true
		for _, t := range u.todos {
			switch t.status {
			case "completed", "done", "cancelled":
				p.done++
				continue
			}
			text := shorten(safe(t.text), 100)
			if t.status == "in_progress" {
				text += " (begun)"
			}
			p.left = append(p.left, text)
		}
	}
	return p, ok
}

// mark is the text of the event of a to-do list, by which it is known again.
func (p *plan) mark() string {
	return itoa(len(p.left)) + " left, " + itoa(p.done) + " done: " + head(strings.Join(p.left, "; "), pendingBytes)
}

// planBefore is the mark of the last to-do list of the earlier compartments, and the
// message that it stood in.
func planBefore(prior []compartments.Compartment) (ord compartments.Ordinal, mark string) {
	for i := len(prior) - 1; i >= 0; i-- {
		for k := len(prior[i].Events) - 1; k >= 0; k-- {
			if e := &prior[i].Events[k]; e.Kind == eventPlan {
				return e.Ordinal, e.Text
			}
		}
	}
	return 0, ""
}

// collectPlan takes the to-do list as the run leaves it, with what is known of it
// before and behind the run.
func (r *record) collectPlan(v *view) {
	before, mark := v.planned, v.plan
	for i := v.from; i < v.to; i++ {
		if p, ok := planOf(&v.ms[i]); ok {
			r.plan = &p
		}
	}
	if r.plan == nil {
		return
	}
	v.planned, v.plan = r.plan.ord, r.plan.mark()
	if v.plan == mark {
		r.asBefore = before
	}
	r.planEnds = len(r.plan.left) == 0 && mark != "" && !strings.HasPrefix(mark, "0 left")
	for i := v.to; i < len(v.ms); i++ {
		if p, ok := planOf(&v.ms[i]); ok {
			r.renewed = p.ord
			break
		}
	}
}

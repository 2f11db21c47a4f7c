package historian

import (
	"slices"
	"strings"

	"ctxplugin/compartments"
)

// pending is a failure that a run left open, as later runs know of it.
type pending struct {
	ord    compartments.Ordinal // the message that failed last
	text   string               // its command, short enough to be parsed again
	checks []check
	waits  []check
	passed compartments.Ordinal
	by     string // the command that passed
}

// mending is a command that passes now, with what it closes of earlier runs.
type mending struct {
	ord   compartments.Ordinal
	text  string
	fails []compartments.Ordinal
}

// Bounds of what is carried from run to run: failures, and bytes of a command.
const (
	pendingMost  = 40
	pendingBytes = 400
)

// failing lists the parts of a failed command that may be at fault: those that
// decide what the command is for, and of these the tests if a test failed.
func failing(u *use) []check {
	all := u.cmd.checks()
	if len(all) < 2 {
		return all
	}
	var out, tests []check
	for _, c := range all {
		if c.class == u.cmd.class {
			out = append(out, c)
			if c.tests() {
				tests = append(tests, c)
			}
		}
	}
	if len(tests) > 0 && (u.tests != "" || strings.Contains(u.errLine, "_test.") || strings.HasPrefix(u.errLine, "panic: ")) {
		return tests
	}
	return out
}

// settle strikes what a passed command covers off all open failures.
func (r *record) settle(v *view, u *use, ord compartments.Ordinal) {
	var passed []check
	read := false
	for k := range r.failures {
		f := &r.failures[k]
		if !f.shell || f.passed != 0 {
			continue
		}
		if f.key == u.cmd.text && len(f.waits) == 0 {
			f.passes(ord, &u.cmd)
			continue
		}
		if !read {
			passed, read = u.cmd.checks(), true
		}
		if len(f.waits) > 0 {
			if f.waits, _ = strike(f.waits, passed); len(f.waits) == 0 {
				f.passes(ord, &u.cmd)
			}
		}
	}
	if len(v.open) > 0 {
		if !read {
			passed = u.cmd.checks()
		}
		v.settle(passed, ord)
	}
}

// settle strikes what has passed off what earlier runs left open.
func (v *view) settle(passed []check, ord compartments.Ordinal) {
	for k := range v.open {
		p := &v.open[k]
		if p.passed != 0 {
			continue
		}
		left, by := strike(p.waits, passed)
		if len(left) < len(p.waits) && !strings.Contains(p.by, by) {
			p.by = strings.TrimPrefix(p.by+" && "+by, " && ")
		}
		if p.waits = left; len(left) == 0 {
			p.passed = ord
		}
	}
}

// strike returns what is left of waits when passed has passed, and what covered
// the others. It does not change waits.
func strike(waits, passed []check) (left []check, by string) {
	for i := range waits {
		covered := false
		for j := range passed {
			if passed[j].covers(&waits[i]) {
				covered = true
				if !strings.Contains(by, passed[j].text) {
					by = strings.TrimPrefix(by+" && "+passed[j].text, " && ")
				}
				break
			}
		}
		if !covered {
			left = append(left, waits[i])
		}
	}
	return left, by
}

// reopen takes back what passed in this run and now fails again.
func (v *view) reopen(failed []check) {
	for k := range v.open {
		p := &v.open[k]
		if p.passed == 0 {
			continue
		}
		for i := range p.checks {
			for j := range failed {
				if p.checks[i].covers(&failed[j]) { // a wider run may fail elsewhere
					p.passed, p.waits, p.by = 0, p.checks, ""
				}
			}
		}
	}
}

// settleProcess closes what a process in the background failed with, when a later
// one of the same command runs without complaint.
func (r *record) settleProcess(v *view, command, id string, ord compartments.Ordinal) {
	if command == "" {
		return
	}
	c := parseCommand(command)
	passed := c.checks()
	for k := range r.failures {
		if f := &r.failures[k]; f.process != "" && f.process != id && f.passed == 0 && len(f.waits) > 0 {
			if f.waits, _ = strike(f.waits, passed); len(f.waits) == 0 {
				f.passed = ord
			}
		}
	}
	v.settle(passed, ord)
}

// carry gathers what of earlier runs passes now, and hands on what is open.
func (r *record) carry(v *view) {
	open := make([]pending, 0, len(v.open))
	for _, p := range v.open {
		if p.passed == 0 {
			if text := pendingText(p.waits); len(p.waits) < len(p.checks) && text != "" { // part of it has passed
				r.closed = append(r.closed, p)
				p = newPending(p.ord, text)
				r.left = append(r.left, p)
			}
			open = append(open, p)
			continue
		}
		r.closed = append(r.closed, p)
		at := slices.IndexFunc(r.mended, func(m mending) bool { return m.ord == p.passed && m.text == p.by })
		if at < 0 {
			at = len(r.mended)
			r.mended = append(r.mended, mending{ord: p.passed, text: p.by})
		}
		if m := &r.mended[at]; !slices.Contains(m.fails, p.ord) {
			m.fails = append(m.fails, p.ord)
		}
	}
	for i := range r.failures {
		f := &r.failures[i]
		if f.passed != 0 || f.denied || f.halted || len(f.waits) == 0 {
			continue
		}
		if text := pendingText(f.waits); text != "" {
			p := newPending(f.last, text)
			r.left = append(r.left, p)
			open = append(open, p)
		}
	}
	v.open = open[max(0, len(open)-pendingMost):]
}

// pendingText writes checks as a command line.
func pendingText(checks []check) string {
	var parts []string
	if d := checks[0].dir; d != "" {
		parts = append(parts, "cd "+d)
	}
	for i := range checks {
		parts = append(parts, checks[i].text)
	}
	text := strings.Join(parts, " && ")
	if len(text) > pendingBytes || safe(text) != text {
		return "" // too long to be typed again, or nothing that may be kept
	}
	return text
}

// newPending reads a command line that pendingText wrote.
func newPending(ord compartments.Ordinal, text string) pending {
	c := parseCommand(text)
	p := pending{ord: ord, text: text, checks: c.checks()}
	p.waits = p.checks
	return p
}

// openBefore is what earlier compartments left open, by their events.
func openBefore(prior []compartments.Compartment) []pending {
	type key struct {
		ord  compartments.Ordinal
		text string
	}
	var keys []key
	closed := map[key]bool{}
	for i := range prior {
		for _, e := range prior[i].Events {
			switch e.Kind {
			case eventOpen:
				keys = append(keys, key{e.Ordinal, e.Text})
			case eventClosed:
				if ord, text, ok := closing(e.Text); ok {
					closed[key{ord, text}] = true
				}
			}
		}
	}
	keys = slices.DeleteFunc(keys, func(k key) bool { return closed[k] })
	var out []pending
	for _, k := range keys[max(0, len(keys)-pendingMost):] {
		if p := newPending(k.ord, k.text); len(p.waits) > 0 {
			out = append(out, p)
		}
	}
	return out
}

// closing reads the text of an event that closes a failure: "[12] go test ./x".
func closing(s string) (ord compartments.Ordinal, text string, ok bool) {
	s, ok = strings.CutPrefix(s, "[")
	number, text, found := strings.Cut(s, "] ")
	if !ok || !found || len(number) > 9 || !allDigits(number) {
		return 0, "", false
	}
	for i := range len(number) {
		ord = ord*10 + compartments.Ordinal(number[i]-'0')
	}
	return ord, text, true
}

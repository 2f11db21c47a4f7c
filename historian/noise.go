package historian

import "strings"

// What is taken for noise: a complaint in the outputs of that many different commands
// that succeeded; and how much of an output is looked at, in bytes from its start and its end.
const (
	noiseCommands = 2
	noiseHead     = 4000
	noiseTail     = 1500
)

// noiseKey is a line without its numbers, by which it is known again.
func noiseKey(t string) string {
	words := strings.Fields(t)
	for i, w := range words {
		if hasDigit(w) {
			words[i] = "#"
		}
	}
	return strings.Join(words, " ")
}

// noiseLines calls seen for the lines of both ends of an output.
func noiseLines(out string, seen func(t string)) {
	part := head(out, noiseHead)
	if len(out) > noiseHead+noiseTail {
		part += "\n" + tailOf(out, noiseTail)
	} else if len(out) > noiseHead {
		part = out
	}
	for line := range strings.SplitSeq(plain(part), "\n") {
		if t := strings.TrimSpace(line); len(t) > 8 && len(t) < 300 {
			seen(t)
		}
	}
}

// unnoise judges failed commands anew without the complaints that commands make
// which succeed: those come from where they run, not from what they do.
func unnoise(ms []message) {
	type sighting struct {
		first string // the command that had it first
		more  int    // different ones behind it
	}
	seen := map[string]*sighting{}
	each := func(f func(u *use)) {
		for i := range ms {
			for j := range ms[i].uses {
				if u := &ms[i].uses[j]; u.kind == useShell && !u.open && !u.stopped && !u.refused && u.output != "" {
					f(u)
				}
			}
		}
	}
	each(func(u *use) {
		if u.failed {
			noiseLines(u.output, func(t string) {
				seen[noiseKey(t)] = &sighting{}
			})
		}
	})
	if len(seen) == 0 {
		return
	}
	found := false
	each(func(u *use) {
		if u.failed || u.cmd.class == classLook || u.cmd.piped || strings.Contains(u.cmd.text, "|") {
			return // what it prints may be of another time, or of another command
		}
		noiseLines(u.output, func(t string) {
			s := seen[noiseKey(t)]
			switch {
			case s == nil:
			case s.first == "":
				s.first = u.cmd.text
			case s.first != u.cmd.text:
				s.more++
				found = found || s.more+1 >= noiseCommands
			}
		})
	})
	if !found {
		return
	}
	each(func(u *use) {
		if !u.failed {
			return
		}
		var kept []string
		wrong := false // the line that was taken is one of those that go
		out := head(u.output, 60000)
		for line := range strings.SplitSeq(out, "\n") {
			t := strings.TrimSpace(plain(line))
			if s := seen[noiseKey(t)]; s == nil || s.more+1 < noiseCommands {
				kept = append(kept, line)
			} else {
				wrong = wrong || complains(t) && strings.Contains(u.errLine, head(t, 40))
			}
		}
		if rest := strings.Join(kept, "\n"); wrong {
			whole := u.output
			u.output, u.failed, u.errLine, u.tests, u.yet = rest, false, "", "", ""
			u.judge(u.ending.errored, u.ending.exit, u.ending.hasExit)
			u.output = whole
		}
	})
}

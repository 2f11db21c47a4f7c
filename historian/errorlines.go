package historian

import "strings"

// strip takes off the wrapping that hosts put around an output.
func strip(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	inside := 0
	for line := range strings.SplitSeq(s, "\n") {
		t := strings.TrimSpace(line)
		if strings.HasPrefix(t, "<system-reminder>") {
			inside++
		}
		if inside > 0 {
			if strings.Contains(t, "</system-reminder>") {
				inside--
			}
			continue
		}
		low := strings.ToLower(head(t, 60))
		switch {
		case strings.HasPrefix(low, "exit code ") && len(t) < 20, strings.HasPrefix(low, "command exited with code"), strings.HasPrefix(low, "wall time"), strings.HasPrefix(low, "hint:"):
			continue
		case strings.HasPrefix(t, "<") && strings.HasSuffix(t, ">") && len(t) < 60 && tagOnly(t):
			continue
		}
		b.WriteString(line)
		b.WriteByte('\n')
	}
	return b.String()
}

// tagOnly reports a line of nothing but a tag, or a tag pair around a number.
func tagOnly(t string) bool {
	name := tagAt(strings.Replace(t, "</", "<", 1))
	return name != "" && !strings.ContainsAny(strings.TrimPrefix(strings.TrimSuffix(t, "</"+name+">"), "<"+name+">"), " ")
}

// errorLine picks the line of a failed output that says what was wrong, without a
// list of what would have been right: that names what the work is not about.
func errorLine(body string) string {
	line, _ := failedLine(body)
	return line
}

// failedLine is an error line with the tests that failed, as it names them.
func failedLine(body string) (line, tests string) {
	line, tests = pickError(body)
	if at := strings.Index(line, ", expected one of "); at > 0 && strings.Count(line[at:], "`,") > 1 {
		line = line[:at]
	}
	return line, tests
}

func pickError(body string) (line, which string) {
	var last, weak, vague, mild, lastPlace, exception string
	var strong, second, spot, usage, quiet string
	root, caused := "", false // what an error names as its cause; the line before only heads it
	var tests []string
	var score tally
	follow := ""
	traceback := false
	category, said, ruled := "", "", ""
	prev := ""
	n := 0
	for line := range strings.SplitSeq(body, "\n") {
		if len(line) > 2000 {
			line = head(line, 2000)
		}
		t := strings.TrimSpace(line)
		if t == "" || boiler(t) {
			continue
		}
		if n++; n > 3000 {
			break
		}
		if strings.HasSuffix(t, "━━") { // a place and a rule that head what was wrong
			ruled = strings.TrimRight(t, " ━")
			continue
		}
		if ruled != "" {
			if t, ruled = ruled+": "+strings.TrimLeft(t, "×✖! "), ""; strong == "" {
				strong = t
			}
		}
		if strings.HasPrefix(t, "+ CategoryInfo") && category == "" {
			category = prev // the message above the quoted command
			if said != "" { // a long one is wrapped, and says what it is about first
				category = said
			}
		}
		if said == "" && strings.Contains(head(t, 80), " : ") && t[0] != '+' {
			said = t
		}
		if strings.HasPrefix(t, "Traceback (most recent") {
			traceback = true
		} else if traceback {
			if strings.HasPrefix(t, `File "`) {
				lastPlace = t
			} else if line[0] != ' ' && line[0] != '\t' {
				exception = t
				traceback = false
			}
		}
		if cause, heads := causeOf(t); heads || cause != "" {
			caused = cause == ""
			if cause != "" {
				root = cause
			}
			if parent := strings.TrimRight(unrooted(prev), ".:"); treed(t) && parent != "" && len(parent) < 80 {
				root = parent + ": " + cause
			}
			if root != "" {
				prev = t
				continue
			}
		} else if caused {
			if deeper := strings.TrimLeft(t, "0123456789"); len(deeper) < len(t) && strings.HasPrefix(deeper, ": ") { // a chain, deepest last
				root = deeper[2:]
				continue
			} else if caused = false; root == "" {
				root = t
				continue
			}
		}
		if score.count(t) {
			prev, last = t, t
			continue
		}
		if strong != "" && follow == "" && strings.HasSuffix(strong, ":") && prev == strong {
			follow = t // it heads what was wrong
		}
		if strong != "" && follow == "" && (strings.HasPrefix(t, "--> ") || inFile(t) && !strings.Contains(t, " +0x")) {
			follow = t
		}
		switch {
		case strong == "" && strongError(t):
			strong = t
		case second == "" && strong != "" && !verdict(strong) && strongError(t) && !verdict(t) && letters(t, 60) != letters(strong, 60):
			second = t
		case verdict(strong) && strongError(t) && !verdict(t):
			strong, follow = t, "" // what went wrong says more than that it did
		}
		if spot == "" && inFile(t) && len(t) > 24 && !strings.Contains(t, " +0x") {
			spot = t
		}
		if weak == "" && !chatter(t) && hasAny(strings.ToLower(head(t, 300)), weakErrors) {
			if warns(t) {
				if mild == "" {
					mild = t
				}
			} else if !bare(t) {
				weak = t
			} else if vague == "" {
				vague = t
			}
		}
		if t[0] != '+' && !strings.HasPrefix(t, "At line:") && !strings.HasPrefix(t, "At char:") {
			prev = t
		}
		if usage == "" && strings.HasPrefix(strings.ToLower(t), "usage") {
			usage = t
		}
		if test := failedTest(t); test != "" && len(tests) < 4 {
			tests = append(tests, test)
		}
		if quiet == "" && !chatter(t) {
			quiet = t // a log follows what the script itself says
		}
		last = t
	}
	switch {
	case verdict(strong) && root != "":
		strong, root, follow = root, "", ""
	case verdict(strong) && spot != "":
		strong, follow = spot, ""
	case bare(strong) && weak != "":
		strong, follow = weak, ""
	}
	if weak == "" {
		weak = vague
	}
	if weak == "" && (warns(last) || chatter(last)) { // nothing but warnings
		weak = mild
	}
	if root != "" && root != strong {
		second, follow = root, ""
	}
	which = testList(tests)
	// How many failed and which ones goes first: what each of them said is cut.
	named, room := score.String(), 170
	if named != "" && which != "" {
		named += " (" + which + "): "
	} else if named == "" && which != "" && (len(tests) > 1 || !strings.Contains(strong, which+":")) {
		named = which + " failed: "
	} else if named != "" {
		named += ": "
	}
	if named != "" {
		room = max(110, 205-len(named))
	}
	strong = strings.TrimSpace(strings.TrimPrefix(strong, "E   "))
	switch {
	case exception != "":
		if place := tracePlace(lastPlace); place != "" {
			return exception + " (" + place + ")", which
		}
		return exception, which
	case category != "":
		return category, which
	case strong != "":
		if at := strings.LastIndex(follow, ": "); at > 0 && strings.HasPrefix(strong, follow[at+2:]) {
			follow = follow[:at] // the kind of the error stands there already
		}
		if follow != "" && !strings.Contains(strong, follow) {
			return named + shorten(strong, room) + " " + follow, which
		}
		if second != "" && len(strong) < 150 {
			return named + strong + "; " + shorten(second, 110), which
		}
		return named + shorten(strong, room), which
	case weak != "" && second != "":
		return named + shorten(weak, 100) + "; " + shorten(second, 110), which
	case weak != "":
		return named + shorten(weak, room), which
	case usage != "":
		return usage, which
	case chatter(last) && quiet != "":
		return quiet, which
	}
	return last, which
}

// anyError reports whether an output holds a line that reads as an error.
func anyError(body string) bool {
	for line := range strings.SplitSeq(head(body, 8000), "\n") {
		t := strings.TrimSpace(line)
		if t == "" {
			continue
		}
		if low := strings.ToLower(head(t, 300)); strongError(t) || strings.Contains(low, "no such file") || strings.Contains(low, ": not found") || strings.HasSuffix(low, "not found") || strings.Contains(low, "denied") || strings.Contains(low, "fatal:") {
			return true
		}
	}
	return false
}

// tracePlace turns `File "/a/b.py", line 3, in f` into "b.py line 3".
func tracePlace(t string) string {
	rest, ok := strings.CutPrefix(t, `File "`)
	if !ok {
		return ""
	}
	path, rest, ok := strings.Cut(rest, `", line `)
	if !ok {
		return ""
	}
	n := 0
	for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
		n++
	}
	return baseName(path) + " line " + rest[:n]
}

// causeOf returns what a line names as the cause of the error above it, and
// whether it only heads the line that does.
func causeOf(t string) (cause string, heads bool) {
	if treed(t) {
		return unrooted(t), false
	}
	low := strings.ToLower(head(t, 20))
	for _, p := range [...]string{"caused by:", "* what went wrong:"} {
		if strings.HasPrefix(low, p) {
			cause = strings.TrimSpace(t[len(p):])
			return cause, cause == ""
		}
	}
	return "", false
}

// strongLine is the first line with a strong mark, of an output whose exit code
// says nothing, and what was wrong where that line says only that something was.
func strongLine(out string) string {
	for line := range strings.SplitSeq(out, "\n") {
		t := strings.TrimSpace(head(line, 2000))
		if t != "" && !boiler(t) && strongError(t) {
			if bare(t) {
				return errorLine(out)
			}
			return t
		}
	}
	return ""
}

// strongError reports a line in one of the fixed forms in which tools report
// errors.
func strongError(t string) bool {
	if len(t) < 5 {
		return false
	}
	low := strings.ToLower(head(t, 160))
	for _, p := range [...]string{"error:", "error[", "fatal:", "panic:", "error ts", "err!", "npm err", "failed ", "permission denied", "--- fail", "e   ", "uncaught ", "unhandled ", "segmentation fault", "assertionerror", "fail\t", "fail:", "✗ ", "× ", "error occurred"} {
		if strings.HasPrefix(low, p) {
			return !strings.HasPrefix(low, "failed 0") && !strings.HasPrefix(low, "error: 0")
		}
	}
	if strings.Contains(low, "): error ") || strings.Contains(low, ": error: ") || strings.Contains(low, ": fatal error") || strings.Contains(low, " - error ts") || strings.Contains(low, "error ts") {
		return true
	}
	if strings.Contains(t, "ERR_") || strings.Contains(t, "FAILED ") {
		return true
	}
	// XError: or XException: with a name in front.
	at := strings.IndexByte(t, ':')
	if at > 4 && at < 80 && !strings.Contains(t[:at], " ") {
		if name := t[:at]; strings.HasSuffix(name, "Error") || strings.HasSuffix(name, "Exception") {
			return true
		}
	}
	if at := strings.Index(t, "Error: "); at > 0 && t[at-1] >= 'a' && t[at-1] <= 'z' {
		return true // TypeError: and its like, behind the name of a test
	}
	return strings.Contains(low, " failed,") || strings.HasSuffix(low, "command not found")
}

// boiler reports lines that frame an output and say nothing.
func boiler(t string) bool {
	if strings.Trim(t, "=-_*#~^|+─━┌┐└┘├┤│╭╮╰╯ .:>") == "" {
		return true
	}
	switch {
	case strings.HasPrefix(t, "-----"), strings.HasPrefix(t, "npm error") && !strings.Contains(t, "ERESOLVE") && !strings.Contains(t, "Missing script") && !strings.Contains(t, "peer "), strings.HasPrefix(t, "fatal: Could not read from remote"), strings.HasPrefix(t, "and the repository exists"), strings.HasPrefix(t, "npm ERR! code"),
		strings.HasPrefix(t, "> ") && strings.Count(t, " ") < 12, strings.HasPrefix(t, "$ "), strings.HasPrefix(t, "npm error A complete log"), strings.HasPrefix(t, "npm error Lifecycle"),
		strings.HasPrefix(t, "Error in the js-debug bootloader"), strings.HasPrefix(t, "Debugger attached"), strings.HasPrefix(t, "Waiting for the debugger"), strings.HasPrefix(t, "(node:") && strings.Contains(t, "Warning: "), strings.HasPrefix(t, "(Use `node --trace"),
		strings.HasPrefix(t, "npm warn"), strings.HasPrefix(t, "Node.js v"), strings.HasPrefix(t, "Bun v"), strings.HasPrefix(t, "at ") && strings.Contains(t, ":"):
		return true
	case strings.HasPrefix(t, "===") && strings.HasSuffix(t, "==="):
		return !strings.Contains(t, "fail") && !strings.Contains(t, "error")
	}
	return false
}

// summaryLine is the last line of a passed check that counts something, without
// its timing.
func summaryLine(out string) string {
	tail := strip(plain(tailOf(out, 4000)))
	best := ""
	for line := range strings.SplitSeq(tail, "\n") {
		t := strings.Trim(strings.TrimSpace(head(line, 400)), "= ")
		if t == "" || boiler(t) || len(t) > 160 {
			continue
		}
		low := strings.ToLower(t)
		if hasDigit(t) && hasAny(low, []string{"pass", "ok", "fail", "error", "warning", "test", "checked", "compiled", "built", "success", "finished"}) || strings.HasPrefix(low, "ok") || strings.Contains(low, "success") || strings.Contains(low, "no issues") {
			best = t
		}
	}
	for _, mark := range [...]string{" in ", " (", " Time:"} {
		if at := strings.LastIndex(best, mark); at > 3 && at > len(best)-24 && hasDigit(best[at:]) {
			best = best[:at]
		}
	}
	return strings.TrimRight(best, " .")
}

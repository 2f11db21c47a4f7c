package historian

import (
	"strings"
)

// judge decides whether a call failed and keeps the line that says why. A line
// that merely looks like an error under exit code 0 is no failure, unless a pipe
// hid the exit code of a check.
func (u *use) judge(errored bool, exit int, hasExit bool) {
	failed := errored
	if hasExit {
		failed = failed || exit != 0
	} else if code, ok := exitNote(u.output); ok {
		exit, hasExit = code, true
		failed = failed || code != 0
	}
	out := u.output
	if !failed && u.process != "" {
		// What a process in the background says; its exit code is not that of the call.
		if line := strongLine(numberless(plain(tailOf(out, 8000)))); line != "" {
			u.failed, u.errLine = true, line
		}
		return
	}
	if !failed {
		if u.kind == useShell && u.cmd.piped && u.cmd.class >= classInstall {
			if line := strongLine(plain(tailOf(out, 6000))); line != "" {
				u.failed, u.errLine = true, line
			}
		}
		return
	}
	body := strip(plain(head(out, 60000)))
	low := strings.ToLower(head(strings.TrimSpace(body), 400))
	switch {
	case strings.Contains(low, "aborted") && len(body) < 200, strings.Contains(low, "interrupted by user"), strings.Contains(low, "doesn't want to proceed"):
		u.stopped = true
		u.errLine = errorLine(body)
		return
	case strings.Contains(low, "permission") && (strings.Contains(low, "rejected") || strings.Contains(low, "denied by") || strings.Contains(low, "not allowed to")),
		strings.Contains(low, "user rejected"), strings.Contains(low, "blocked by hook"), strings.Contains(low, "hook blocked"):
		u.refused = true
		u.errLine = errorLine(body)
		return
	}
	switch u.kind {
	case useShell:
		if u.cmd.class <= classOther && strings.TrimSpace(body) == "" && (exit == 1 || !hasExit) {
			return // nothing found is an answer
		}
		if u.cmd.class == classLook && !anyError(body) {
			return // one look of several found nothing
		}
	case useEdit, usePatch, useWrite, useRead:
		if repairs(low) {
			u.changes = nil
			return // the agent repairs these by itself
		}
	case useLook, useFetch:
	}
	u.failed = true
	u.errLine = errorLine(body)
	if u.errLine == "" && hasExit {
		u.errLine = "exit code " + itoa(exit)
	}
}

// numberless takes line numbers such as "00012| " off an output.
func numberless(s string) string {
	if !strings.Contains(s, "| ") {
		return s
	}
	var b strings.Builder
	for line := range strings.SplitSeq(s, "\n") {
		if at := strings.IndexByte(line, '|'); at > 0 && at < 8 && allDigits(strings.TrimSpace(line[:at])) {
			line = line[at+1:]
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// diagnostic is the first error that a language server reported behind an edit.
func diagnostic(out string) string {
	at := strings.Index(out, "<diagnostics")
	if at < 0 {
		return ""
	}
	rest := out[at:]
	if at = strings.Index(rest, "\nERROR "); at < 0 {
		return ""
	}
	line, _, _ := strings.Cut(rest[at+1:], "\n")
	return fold(plain(head(line, 400)))
}

// repairs reports failures of file tools that say nothing about the work.
func repairs(low string) bool {
	return hasAny(low, []string{"could not find the exact text", "not found in file", "oldstring not found", "old_string not found", "string to replace not found",
		"has not been read", "must read", "read it first", "modified since", "found multiple", "multiple matches", "multiple times", "old text must match",
		"identical", "failed to find expected lines", "no changes", "exceeds maximum", "beyond end of file"})
}

func itoa(n int) string {
	if n < 0 {
		return "-" + itoa(-n)
	}
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}

// exitNote finds the exit code that some hosts write into the output.
func exitNote(out string) (code int, ok bool) {
	for i, part := range [...]string{head(out, 400), tailOf(out, 400)} {
		low := strings.ToLower(part)
		for _, mark := range [...]string{"exited with code ", "exit code ", "exit code: ", "<returncode>", "process exited with code "} {
			at := strings.LastIndex(low, mark)
			if i == 0 {
				at = strings.Index(low, mark)
			}
			if at < 0 || !lineStart(low, at, mark) {
				continue
			}
			rest := low[at+len(mark):]
			n, digits := 0, 0
			for digits < len(rest) && digits < 4 && rest[digits] >= '0' && rest[digits] <= '9' {
				n = n*10 + int(rest[digits]-'0')
				digits++
			}
			if digits > 0 && (digits == len(rest) || rest[digits] < 'a' || rest[digits] > 'z') {
				return n, true
			}
		}
	}
	return 0, false
}

// lineStart reports whether a mark stands at the start of its line, where hosts
// write it, and not in the middle of what a program said.
func lineStart(low string, at int, mark string) bool {
	before := low[strings.LastIndexByte(low[:at], '\n')+1 : at]
	switch strings.TrimSpace(before) {
	case "", "command", "process", "(", "[":
		return true
	}
	return mark == "<returncode>"
}

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

// errorLine picks the line of a failed output that says what was wrong.
func errorLine(body string) string {
	var last, weak, lastPlace, exception string
	var strong, second, spot, usage, quiet string
	var tests []string
	follow := ""
	traceback := false
	category := ""
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
		if strings.HasPrefix(t, "+ CategoryInfo") && category == "" {
			category = prev // the message above the quoted command
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
			weak = t
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
	if verdict(strong) && spot != "" {
		strong, follow = spot, ""
	}
	named := ""
	if len(tests) > 0 {
		named = " (failed: " + strings.Join(tests[:min(3, len(tests))], ", ")
		if len(tests) > 3 {
			named += ", …"
		}
		named += ")"
	}
	switch {
	case exception != "":
		if place := tracePlace(lastPlace); place != "" {
			return exception + " (" + place + ")"
		}
		return exception
	case category != "":
		return category
	case strong != "":
		if follow != "" && !strings.Contains(strong, follow) {
			return shorten(strong, 170) + " " + follow + named
		}
		if second != "" && len(strong) < 150 {
			return strong + "; " + shorten(second, 110) + named
		}
		return shorten(strong, 170) + named
	case weak != "":
		return shorten(weak, 170) + named
	case usage != "":
		return usage
	case chatter(last) && quiet != "":
		return quiet
	}
	return last
}

// failedTest returns the name of the test that a line reports as failed.
func failedTest(t string) string {
	rest := ""
	switch {
	case strings.HasPrefix(t, "FAILED "):
		rest, _, _ = strings.Cut(t[7:], " - ")
		if at := strings.LastIndex(rest, "::"); at >= 0 {
			rest = rest[at+2:]
		}
	case strings.HasPrefix(t, "--- FAIL: "):
		rest, _, _ = strings.Cut(t[10:], " ")
	case strings.HasPrefix(t, "(fail) "):
		rest, _, _ = strings.Cut(t[7:], " [")
	case strings.HasPrefix(t, "test ") && strings.HasSuffix(t, " ... FAILED"):
		rest = strings.TrimSuffix(t[5:], " ... FAILED")
	}
	if rest == "" && len(t) > 4 && t[0] >= '1' && t[0] <= '9' && (t[1] == ')' || t[2] == ')') && strings.Contains(t, "Error") {
		rest = strings.TrimLeft(t, "0123456789) ") // numbered, as mocha does
		rest, _, _ = strings.Cut(rest, ":")
	}
	if len(rest) > 80 {
		return ""
	}
	return strings.TrimSpace(rest)
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

// chatter reports log lines below the level of a warning.
func chatter(t string) bool {
	top := head(t, 60)
	return strings.Contains(top, " DEBUG ") || strings.Contains(top, " INFO ") || strings.Contains(top, "level=debug") || strings.Contains(top, "level=info") || strings.Contains(top, "[debug]") || strings.Contains(top, "[info]")
}

// verdict reports a line that says only that something failed.
func verdict(t string) bool {
	return strings.HasPrefix(t, "FAIL") || strings.HasPrefix(t, "--- FAIL") || strings.HasPrefix(t, "(fail)") || strings.HasPrefix(t, "npm error code") || strings.HasPrefix(t, "✗") || strings.HasPrefix(t, "×")
}

// strongLine is the first line with a strong mark, of an output whose exit code
// says nothing.
func strongLine(out string) string {
	for line := range strings.SplitSeq(out, "\n") {
		t := strings.TrimSpace(head(line, 2000))
		if t != "" && !boiler(t) && strongError(t) {
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

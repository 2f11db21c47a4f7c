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
		if noticed(body) {
			return
		}
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
	u.errLine, u.tests = failedLine(body)
	if u.errLine == "" && hasExit {
		u.errLine = "exit code " + itoa(exit)
	}
	if u.kind == useShell && u.cmd.class != classVerify {
		u.yet = doneBehind(body)
	}
}

// noticed reports an output in which a shell calls an error what is only a notice: one
// of Windows does so with whatever a program writes beside its output.
func noticed(body string) bool {
	const mark = "+ FullyQualifiedErrorId : "
	if !strings.Contains(body, mark+"NativeCommandError") {
		return false
	}
	for line := range strings.SplitSeq(body, "\n") {
		t := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(t, mark):
			if !strings.HasPrefix(t, mark+"NativeCommandError") {
				return false
			}
		case strings.HasPrefix(t, "+"), strings.HasPrefix(t, "At line:"), strings.HasPrefix(t, "At char:"):
		case complains(t):
			return false
		}
	}
	return true
}

// complains reports a line that says that something is wrong or missing.
func complains(t string) bool {
	low := " " + strings.ToLower(head(t, 300))
	return strongError(t) || hasAny(low, weakErrors) || hasAny(low, []string{" no ", " not ", "n't "})
}

// doneBehind is the last line behind all complaints of a failed command that says that
// something was done all the same; "" if none does.
func doneBehind(body string) string {
	done := ""
	for line := range strings.SplitSeq(tailOf(body, 2000), "\n") {
		t := strings.TrimSpace(head(line, 400))
		low := strings.ToLower(t)
		switch {
		case t == "" || boiler(t) || strings.HasPrefix(t, "+") || strings.HasPrefix(t, "At line:"):
		case strongError(t) || hasAny(low, weakErrors):
			done = ""
		case len(t) <= 120 && hasAny(low, doneWords) && !strings.HasSuffix(low, " 0") && !hasAny(" "+low, []string{" no ", " not ", "n't ", " 0 ", "nothing"}):
			done = t
		}
	}
	return done
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

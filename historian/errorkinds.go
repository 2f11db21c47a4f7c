package historian

import (
	"slices"
	"strings"
)

// chatter reports log lines below the level of a warning.
func chatter(t string) bool {
	top := head(t, 60)
	return strings.Contains(top, " DEBUG ") || strings.Contains(top, " INFO ") || strings.Contains(top, "level=debug") || strings.Contains(top, "level=info") || strings.Contains(top, "[debug]") || strings.Contains(top, "[info]")
}

// warns reports a log line of the level of a warning, which ends no command.
func warns(t string) bool {
	top := strings.ToLower(head(t, 60))
	for _, level := range [...]string{"wrn", "warn", "warning", "[warn]", "[warning]", "warning:", "warn:"} {
		for i, w := range strings.Fields(top) {
			if i < 4 && (w == level || strings.HasSuffix(w, ".go:"+level)) {
				return !strings.Contains(top, "error")
			}
		}
	}
	return strings.Contains(top, "level=warn")
}

// verdict reports a line that says only that something failed.
func verdict(t string) bool {
	return strings.HasPrefix(t, "FAIL") || strings.HasPrefix(t, "--- FAIL") || strings.HasPrefix(t, "(fail)") || strings.HasPrefix(t, "npm error code") || strings.HasPrefix(t, "✗") || strings.HasPrefix(t, "×") || bare(t)
}

// bare reports a line that says that something failed and not what was wrong: an
// error of one word, the exit code of a program that another one started, how many
// things failed.
func bare(t string) bool {
	if len(t) > 160 {
		return false
	}
	low := strings.TrimRight(strings.ToLower(t), ".! )")
	for _, p := range [...]string{"error:", "fatal:"} {
		if rest, ok := strings.CutPrefix(low, p); ok {
			low = strings.TrimSpace(rest)
			if !strings.Contains(low, " ") {
				return true
			}
		}
	}
	words := strings.Fields(low)
	if n := len(words); n > 2 && allDigits(words[n-1]) && (strings.Contains(low, "exited with") || strings.Contains(low, "exit code") || strings.Contains(low, "exit status")) {
		return true
	}
	if strings.HasPrefix(low, "failed to ") {
		return len(words) <= 3 || len(words) <= 6 && slices.ContainsFunc(words, allDigits)
	}
	return false
}

// roots are the marks with which a tree of errors leads to the cause of one.
const roots = "╰└├─│╴▶→↳× "

// treed reports a line that hangs below another in a tree of errors.
func treed(t string) bool {
	return strings.HasPrefix(t, "╰─") || strings.HasPrefix(t, "└─") || strings.HasPrefix(t, "↳")
}

// unrooted takes the marks of a tree off a line.
func unrooted(t string) string { return strings.TrimLeft(t, roots) }

package historian

import "strings"

// testList names the first of the tests that failed.
func testList(tests []string) string {
	const most = 130
	list := ""
	for i, t := range tests {
		if i == 3 || i > 0 && len(list)+len(t) > most {
			return list + ", …"
		}
		list = strings.TrimPrefix(list+", "+t, ", ")
	}
	return list
}

// tally is how a run of tests ended, as its summary counts.
type tally struct{ failed, passed int }

// count reads a line such as "3 failed, 68 passed" or "1 fail", and reports whether
// it is one.
func (t *tally) count(line string) bool {
	if len(line) > 120 || !hasDigit(line) {
		return false
	}
	words := strings.FieldsFunc(line, func(r rune) bool {
		return r == ' ' || r == ',' || r == '|' || r == ';' || r == '(' || r == ')' || r == '='
	})
	var now tally
	lone := len(words) == 2
	for i := 0; i+1 < len(words); i++ {
		if len(words[i]) > 6 || !allDigits(words[i]) {
			continue
		}
		n := 0
		for _, c := range words[i] {
			n = 10*n + int(c-'0')
		}
		switch words[i+1] {
		case "failed", "fail", "failing", "failures", "failure":
			now.failed = n
		case "passed", "pass", "passing":
			now.passed = n
		}
	}
	switch {
	case now.failed > 0 && now.passed > 0, now.failed > 0 && !lone:
		*t = now
	case now.failed > 0:
		t.failed = now.failed
	case now.passed > 0 && lone:
		t.passed = now.passed
	default:
		return false
	}
	return true
}

// String is "" where no test failed.
func (t *tally) String() string {
	if t.failed == 0 {
		return ""
	}
	s := itoa(t.failed) + " failed"
	if t.passed > 0 {
		s += ", " + itoa(t.passed) + " passed"
	}
	return s
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

package historian

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// pastedLine reports a line that a person did not type: time stamps, frames of a
// stack, places in files, lines with few letters, and very long ones.
func pastedLine(line string, alone bool) bool {
	t := strings.TrimSpace(line)
	if len(t) > 600 && t[0] < utf8.RuneSelf && strings.Count(t, " ")*12 < len(t) {
		return true
	}
	if alone {
		return false
	}
	if prompted(t) || framed(t) || len(t) >= 10 && stamped(t) {
		return true
	}
	if r, _ := utf8.DecodeRuneInString(t); inFile(t) || r >= 0x2500 && r <= 0x257f || r >= 0x2800 && r <= 0x28ff { // frames and spinners of a screen
		return true
	}
	if len(t) < 24 {
		return false
	}
	letter, all := 0, 0
	for _, r := range t {
		if r == ' ' {
			continue
		}
		all++
		if unicode.IsLetter(r) {
			letter++
		}
	}
	return letter*10 < all*6
}

// prompted reports a line that begins with the prompt of a shell.
func prompted(t string) bool {
	for _, prompt := range [...]string{"➜ ", "❯ ", "$ ", "% ", "PS C:\\", ">>> "} {
		if strings.HasPrefix(t, prompt) {
			return true
		}
	}
	return t == "➜" || t == "❯"
}

// typed is what was typed behind a prompt.
func typed(t string) string {
	for _, sign := range [...]string{"➜ ", "❯ ", "✗ ", "✘ "} {
		if at := strings.LastIndex(t, sign); at >= 0 {
			t = strings.TrimSpace(t[at+len(sign):])
		}
	}
	if folder, rest, ok := strings.Cut(t, " git:("); ok && !strings.Contains(folder, " ") {
		_, t, _ = strings.Cut(rest, ")")
	}
	if t = strings.TrimSpace(t); t == "" || t[0] == '$' {
		return t
	}
	return "$ " + t
}

// banner reports a line that a runtime prints around a crash.
func banner(t string) bool {
	return starts(t, []string{"Node.js v", "Waiting for the debugger", "Debugger attached", "Bun v", "npm ERR! ", "npm error "})
}

// framed reports a frame of a stack.
func framed(t string) bool {
	return strings.HasPrefix(t, "at ") && strings.Contains(t, "(") && strings.Contains(t, ":") || strings.HasPrefix(t, `File "`) && strings.Contains(t, ", line ")
}

// remark reports a line right below what a command printed that a person added: words
// that no program prints, in small letters and without a number.
func remark(t string) bool {
	r, _ := utf8.DecodeRuneInString(t)
	return question(t) || wide(r) || unicode.IsLower(r) && strings.Count(t, " ") > 0 && !hasDigit(t) && !strings.Contains(t, ":") && !strings.Contains(t, "/")
}

// traces marks the lines of a stack trace around its frames: the quoted source, the
// complaint, and the fields of the error.
func traces(lines []string) map[int]bool {
	out := map[int]bool{}
	trace := func(i int) bool {
		t := strings.TrimSpace(lines[i])
		if t == "" {
			return i > 0 && i+1 < len(lines) && out[i-1] != out[i+1] // the gap between source and complaint
		}
		return lines[i][0] == ' ' || lines[i][0] == '\t' || strongError(t) || t == "}" || t == "{" || strings.HasPrefix(t, "node:") || strings.HasPrefix(t, "Traceback ") || inFile(t)
	}
	for i, l := range lines {
		if !framed(strings.TrimSpace(l)) {
			continue
		}
		for k := i - 1; k >= 0 && !out[k] && (trace(k) || strings.TrimSpace(lines[k]) == "" && k > 0 && lines[k-1] != "" && lines[k-1][0] == ' '); k-- {
			out[k] = true
		}
		for k := i + 1; k < len(lines) && !out[k] && strings.TrimSpace(lines[k]) != "" && trace(k); k++ {
			out[k] = true
		}
	}
	return out
}

// stamped reports a line that begins with a date or a time of day.
func stamped(t string) bool {
	t = strings.TrimLeft(t, "[(")
	digits := 0
	for digits < len(t) && t[digits] >= '0' && t[digits] <= '9' {
		digits++
	}
	if digits == 4 && len(t) > 9 && (t[4] == '-' || t[4] == '/') && t[5] >= '0' && t[5] <= '9' {
		return true
	}
	return digits == 2 && len(t) > 7 && t[2] == ':' && t[5] == ':'
}

// inFile reports a line that begins with a place in a file.
func inFile(t string) bool {
	word, _, _ := strings.Cut(t, " ")
	path, rest, ok := strings.Cut(word, ":")
	return ok && len(rest) > 0 && rest[0] >= '0' && rest[0] <= '9' && fileLike(path)
}

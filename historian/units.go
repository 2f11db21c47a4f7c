package historian

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// unitKind says where a unit of prose stood.
type unitKind uint8

const (
	unitProse unitKind = iota
	unitHeading
	unitBullet
	unitRow
	unitHeader // the first row of a table
)

// unit is one sentence, heading, bullet or table row, on one line.
type unit struct {
	text  string
	kind  unitKind
	fresh bool // begins a paragraph
	num   int  // of a numbered item
	bold  bool // the writer stressed a part of it
}

// longest unit that is looked at, in bytes; agents have produced single lines of
// hundreds of kilobytes.
const unitBytes = 2000

// split cuts prose into units. Fenced code is skipped. When loose, a sentence
// may begin with a small letter, as people type them.
func split(text string, loose bool) []unit {
	var units []unit
	var para []string
	fenced := false
	table := false
	var code []string // the fence so far, if an introduction waits for it
	flush := func() {
		if len(para) == 0 {
			return
		}
		joined := fold(strings.Join(para, " "))
		para = para[:0]
		for i, s := range sentences(joined, loose) {
			bold := strings.Contains(s, "**")
			if s = clean(s); s != "" {
				units = append(units, unit{text: s, kind: unitProse, fresh: i == 0, bold: bold})
			}
		}
	}
	one := func(s string, k unitKind) {
		flush()
		if s = clean(fold(s)); s != "" {
			units = append(units, unit{text: s, kind: k, fresh: true})
		}
	}
	bullet := false
	for line := range strings.SplitSeq(text, "\n") {
		if len(line) > unitBytes {
			line = head(line, unitBytes)
		}
		t := strings.TrimSpace(line)
		if strings.HasPrefix(t, "```") || strings.HasPrefix(t, "~~~") {
			flush()
			// An introduction without what it introduces says nothing, so one line or
			// two of code stay with it.
			if fenced && len(code) > 0 && len(code) < 3 && len(units) > 0 && strings.HasSuffix(units[len(units)-1].text, ":") {
				units[len(units)-1].text += " `" + fold(strings.Join(code, "; ")) + "`"
			}
			fenced = !fenced
			bullet, table = false, false
			code = code[:0]
			continue
		}
		if fenced {
			if t != "" && len(code) < 3 && len(t) < 120 && !strings.Contains(t, "`") {
				code = append(code, t)
			}
			continue
		}
		for strings.HasPrefix(t, ">") {
			t = strings.TrimSpace(t[1:])
		}
		switch {
		case t == "":
			flush()
			bullet, table = false, false
		case t[0] == '#' && isHeading(t):
			one(strings.TrimSpace(strings.TrimLeft(t, "#")), unitHeading)
			bullet = false
		case t[0] == '|' && strings.Count(t, "|") > 1:
			flush()
			if row := tableRow(t); row != "" {
				k := unitRow
				if !table {
					k = unitHeader
				}
				one(row, k)
			}
			table, bullet = true, false
		case ruler(t):
			flush()
			bullet = false
		case bulletLen(t) > 0:
			one(strings.TrimPrefix(strings.TrimPrefix(t[bulletLen(t):], "[ ] "), "[x] "), unitBullet)
			if n := len(units); n > 0 && t[0] >= '0' && t[0] <= '9' {
				for i := 0; t[i] >= '0' && t[i] <= '9'; i++ {
					units[n-1].num = units[n-1].num*10 + int(t[i]-'0')
				}
			}
			bullet = true
		case len(t) < 90 && strings.HasPrefix(t, "**") && strings.HasSuffix(strings.TrimRight(t, ":"), "**") && strings.Count(t, "**") == 2:
			one(t, unitHeading)
			bullet = false
		case bullet && (line[0] == ' ' || line[0] == '\t') && len(units) > 0 && len(units[len(units)-1].text) < 300:
			last := &units[len(units)-1]
			last.text += " " + clean(fold(t))
		default:
			bullet, table = false, false
			para = append(para, t)
		}
	}
	flush()
	return units
}

func isHeading(t string) bool {
	n := 0
	for n < len(t) && t[n] == '#' {
		n++
	}
	return n <= 6 && n < len(t) && t[n] == ' '
}

func ruler(t string) bool {
	return len(t) >= 3 && strings.Trim(t, "-=*_─━ ") == ""
}

// bulletLen is the length of a bullet mark with its blank, 0 if there is none.
func bulletLen(t string) int {
	if len(t) > 2 && (t[0] == '-' || t[0] == '*' || t[0] == '+') && t[1] == ' ' {
		return 2
	}
	for _, mark := range [...]string{"• ", "✅ ", "❌ ", "✓ ", "✗ ", "→ ", "· "} {
		if strings.HasPrefix(t, mark) && mark != "✅ " && mark != "❌ " {
			return len(mark)
		}
	}
	n := 0
	for n < len(t) && n < 3 && t[n] >= '0' && t[n] <= '9' {
		n++
	}
	if n > 0 && n+1 < len(t) && (t[n] == '.' || t[n] == ')') && t[n+1] == ' ' {
		return n + 2
	}
	return 0
}

func tableRow(t string) string {
	var cells []string
	rule := true
	for cell := range strings.SplitSeq(strings.Trim(t, "| "), "|") {
		cell = strings.TrimSpace(cell)
		if cell == "" {
			continue
		}
		rule = rule && strings.Trim(cell, "-: ") == ""
		cells = append(cells, cell)
	}
	if rule {
		return ""
	}
	return strings.Join(cells, " | ")
}

// sentences cuts one paragraph on one line.
func sentences(s string, loose bool) []string {
	var out []string
	start, ticks := 0, 0
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '`':
			ticks++
		case ticks%2 == 1 && strings.IndexByte(s[i:], '`') >= 0:
		case r == '。' || r == '！' || r == '？' || r == '｡':
			out = append(out, s[start:i+n])
			start = i + n
		case r == '.' || r == '!' || r == '?' || r == '…':
			end := i + n
			for end < len(s) && s[end] == '*' { // the end of a stressed sentence
				end++
			}
			if end == len(s) || s[end] != ' ' {
				break
			}
			next, _ := utf8.DecodeRuneInString(s[end+1:])
			if opensSentence(next, loose) && !abbreviation(s[start:i], r) {
				out = append(out, s[start:end])
				start = end + 1
			}
		}
		i += n
	}
	return append(out, s[start:])
}

func opensSentence(r rune, loose bool) bool {
	switch {
	case unicode.IsUpper(r), unicode.IsDigit(r), wide(r):
		return true
	case r == '"', r == '\'', r == '`', r == '“', r == '「', r == '(', r == '*', r == '[':
		return true
	case r >= 0x2600 && r <= 0x27bf, r >= 0x1f300:
		return true
	}
	return loose && unicode.IsLetter(r)
}

// abbreviation reports whether the dot belongs to the word before it.
func abbreviation(before string, mark rune) bool {
	if mark != '.' {
		return false
	}
	word := before[strings.LastIndexByte(before, ' ')+1:]
	word = strings.TrimLeft(word, "(\"'")
	if utf8.RuneCountInString(word) == 1 && !unicode.IsDigit(rune(word[0])) && word[0] < utf8.RuneSelf {
		return true
	}
	if allDigits(word) && len(word) < 3 && strings.TrimSpace(before) == word {
		return true // the number of a list item
	}
	switch strings.ToLower(word) {
	case "e.g", "i.e", "etc", "vs", "cf", "approx", "mr", "mrs", "dr", "st", "fig", "z.b", "bzw", "ca", "usw", "p.ej", "incl", "resp":
		return true
	}
	return false
}

// clean takes Markdown decoration off one unit.
func clean(s string) string {
	s = strings.TrimSpace(s)
	if strings.Contains(s, "**") {
		s = unbold(s)
	}
	if strings.Contains(s, "](") {
		s = unlink(s)
	}
	return strings.TrimSpace(strings.TrimFunc(s, ornament))
}

// unbold takes the marks of bold text off, and leaves those of a pattern for files: in
// backticks, and beside a slash.
func unbold(s string) string {
	if strings.Count(s, "`") < 2 && !strings.Contains(s, "/**") && !strings.Contains(s, "**/") {
		return strings.ReplaceAll(s, "**", "")
	}
	var b strings.Builder
	code := false
	for i := 0; i < len(s); i++ {
		if s[i] == '`' {
			code = !code && strings.IndexByte(s[i+1:], '`') >= 0
		}
		bold := s[i] == '*' && i+1 < len(s) && s[i+1] == '*'
		if bold && !code && !(i > 0 && s[i-1] == '/') && !(i+2 < len(s) && s[i+2] == '/') {
			i++
			continue
		}
		b.WriteByte(s[i])
		if bold {
			b.WriteByte(s[i+1])
			i++
		}
	}
	return b.String()
}

// ornament reports pictures around a text that say nothing; crosses and warning
// signs do.
func ornament(r rune) bool {
	switch r {
	case '❌', '✗', '✘', '⚠', '🚫', '⛔':
		return false
	}
	return r == ' ' || r == 0xfe0f || r >= 0x2600 && r <= 0x27bf || r >= 0x1f300 && r <= 0x1faff
}

// unlink turns [text](address) into text (address), and into the text alone
// when the address says the same.
func unlink(s string) string {
	var b strings.Builder
	for {
		mid := strings.Index(s, "](")
		if mid < 0 {
			break
		}
		open := strings.LastIndexByte(s[:mid], '[')
		end := strings.IndexByte(s[mid:], ')')
		if open < 0 || end < 0 {
			b.WriteString(s[:mid+2])
			s = s[mid+2:]
			continue
		}
		text, address := s[open+1:mid], s[mid+2:mid+end]
		b.WriteString(strings.TrimSuffix(s[:open], "!"))
		b.WriteString(text)
		if strings.Trim(text, "`") != address && address != "" {
			b.WriteString(" (" + address + ")")
		}
		s = s[mid+end+1:]
	}
	b.WriteString(s)
	return b.String()
}

// label returns the upper-case label with which some agents begin every text
// ("THOUGHT:"), or "".
func label(s string) string {
	at := strings.IndexByte(s, ':')
	if at < 3 || at > 24 {
		return ""
	}
	for i := 0; i < at; i++ {
		if (s[i] < 'A' || s[i] > 'Z') && s[i] != ' ' {
			return ""
		}
	}
	return s[:at+1]
}

// question reports whether a unit asks something.
func question(s string) bool {
	s = strings.TrimRight(s, " \"'`)”」")
	return strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？") || strings.HasSuffix(s, "까") || strings.HasSuffix(s, "까.") || strings.HasSuffix(s, "吗") || strings.HasSuffix(s, "吗。")
}

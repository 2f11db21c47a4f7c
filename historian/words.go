package historian

import (
	"strings"

	"ctxplugin/compartments"
)

// speech is what a user message holds: a person's own words, apart from what
// was pasted and from what a machine wrote.
type speech struct {
	own         string   // the person's words, line by line
	pasted      int      // lines
	pasteHead   string   // the line of the paste that says most
	pasteNext   string   // the next best
	attached    []string // files
	ran         []string // commands that the user ran
	interrupted bool     // says that the turn before was stopped
	machine     bool     // holds no person's words at all
	harness     bool     // a program wrote it that shows the agent how to answer
	ended       []string // processes that the host says are over
	verbatim    []string // commands that are to be given just so
}

// listen reads the parts of a user message.
//
// told holds the beginnings of what the agent wrote before: a line that repeats
// one is a quotation, not a person's own words.
func listen(m *compartments.Message, told map[string]bool) speech {
	var s speech
	s.machine = true
	var texts []string
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Kind == compartments.PartText && strings.Contains(head(p.Text, 200), "<task-notification>") {
			s.ended = append(s.ended, notified(p.Text)...)
		}
		if p.Synthetic || p.Ignored {
			if p.Kind == compartments.PartText && strings.HasPrefix(p.Text, "[Request interrupted") {
				s.interrupted = true
			}
			continue
		}
		switch p.Kind {
		case compartments.PartText:
			if t := s.person(plain(p.Text)); t != "" {
				texts = append(texts, t)
			}
		case compartments.PartFile:
			if p.Filename != "" {
				s.attached = append(s.attached, p.Filename)
			}
			s.machine = false
		}
	}
	s.sort(strings.Join(texts, "\n"), told)
	if s.own != "" || s.pasted > 0 || len(s.ran) > 0 {
		s.machine = false
	}
	return s
}

// person removes what a machine wrote from one text part.
func (s *speech) person(text string) string {
	t := strings.TrimSpace(text)
	if t == "" {
		return ""
	}
	if name := tagAt(t); name != "" {
		if name == "task-notification" || name == "subagent_notification" {
			return ""
		}
		if machineTag(name) && strings.HasSuffix(t, "</"+name+">") {
			return ""
		}
	}
	if strings.IndexByte(t, '<') >= 0 {
		for _, tag := range [...]string{"<response_example>", "<example_response>", "<format_example>"} {
			s.harness = s.harness || strings.Contains(t, tag)
		}
		t = unwrap(t, 0)
	}
	var out []string
	for line := range strings.SplitSeq(t, "\n") {
		l := strings.TrimSpace(line)
		if strings.HasPrefix(l, "[") && strings.HasSuffix(l, "]") && bracketNote(l) {
			s.interrupted = s.interrupted || strings.HasPrefix(l, "[Request interrupted")
			continue
		}
		out = append(out, line)
	}
	return strings.TrimSpace(strings.Join(out, "\n"))
}

func bracketNote(l string) bool {
	for _, p := range [...]string{"[Request interrupted", "[Image", "[Compacted", "[Pasted", "[Attached", "[Context", "[User ", "[Tool", "[System"} {
		if strings.HasPrefix(l, p) {
			return true
		}
	}
	return false
}

// tagAt returns the name of the tag with which s begins, or "".
func tagAt(s string) string {
	if len(s) < 3 || s[0] != '<' {
		return ""
	}
	i := 1
	for i < len(s) && i < 60 && (classes[s[i]]&classWord != 0 || s[i] == '-' || s[i] == '_') {
		i++
	}
	if i == 1 || i == len(s) || (s[i] != '>' && s[i] != ' ' && s[i] != '\n') {
		return ""
	}
	return s[1:i]
}

// taskTag heads what a host tells the agent where the text is nothing else. Beside
// other text it is how people, and the programs that ask in their place, set a task.
const taskTag = "instructions"

// machineTag reports tags whose content no person wrote.
func machineTag(name string) bool {
	switch name {
	case "system-reminder", "task-notification", "subagent_notification", "command-message", "environment_context", "turn_aborted",
		"user_instructions", "bash-stdout", "bash-stderr", "local-command-caveat", "collaboration_mode", taskTag, "response_example",
		"user-prompt-submit-hook", "environment_details", "INSTRUCTIONS", "permissions", "file_content", "skills_instructions", "good-to-know", "important",
		"system_information", "example_response":
		return true
	}
	return strings.HasPrefix(name, "ide_") || strings.HasPrefix(name, "local-command-") || strings.HasPrefix(name, "ctx") ||
		strings.HasSuffix(name, "_instructions") || strings.HasSuffix(name, "-instructions") || strings.HasSuffix(name, "-hook") ||
		strings.HasSuffix(name, "-reminder") || strings.HasSuffix(name, "_reminder") || strings.HasSuffix(name, "_example")
}

var htmlTags = map[string]bool{"a": true, "b": true, "i": true, "p": true, "br": true, "div": true, "span": true, "ul": true, "ol": true, "li": true,
	"h1": true, "h2": true, "h3": true, "h4": true, "table": true, "tr": true, "td": true, "th": true, "img": true, "input": true, "button": true, "form": true,
	"html": true, "head": true, "body": true, "script": true, "style": true, "link": true, "meta": true, "svg": true, "path": true, "label": true, "select": true,
	"option": true, "section": true, "header": true, "footer": true, "nav": true, "main": true, "code": true, "pre": true, "template": true, "video": true, "canvas": true,
	"textarea": true, "strong": true, "em": true, "details": true, "summary": true, "title": true, "iframe": true, "article": true, "aside": true}

// unwrap removes closed machine blocks, turns commands and skills into their
// names, and takes other unknown tags off their text.
func unwrap(t string, depth int) string {
	const deepest, most = 6, 200 // nested and looked for; what is beyond stays as it is
	if depth == deepest {
		return t
	}
	var b strings.Builder
	open := map[string]bool{} // tags that are never closed
	looked := 0
	for i := 0; i < len(t); {
		at := strings.IndexByte(t[i:], '<')
		if at < 0 {
			b.WriteString(t[i:])
			break
		}
		at += i
		b.WriteString(t[i:at])
		name := tagAt(t[at:])
		gt := strings.IndexByte(head(t[at:], 400), '>')
		if looked++; name == "" || gt < 0 || looked > most || open[name] || htmlTags[strings.ToLower(name)] {
			b.WriteByte('<')
			i = at + 1
			continue
		}
		inner := at + gt + 1
		closing := "</" + name + ">"
		end := strings.Index(t[inner:], closing)
		if end < 0 {
			if machineTag(name) && name != taskTag { // cut off: machine to its end
				return b.String()
			}
			open[name] = true
			b.WriteByte('<')
			i = at + 1
			continue
		}
		body := t[inner : inner+end]
		switch {
		case machineTag(name) && name != taskTag:
		case name == "command-name" || name == "command-args":
			b.WriteString(strings.TrimSpace(body) + " ")
		case name == "skill" || name == "skill_content":
			b.WriteString("/" + attribute(t[at:inner], "name") + " ")
		default:
			b.WriteString("\n" + unwrap(body, depth+1) + "\n")
		}
		i = inner + end + len(closing)
	}
	return b.String()
}

func attribute(tag, name string) string {
	at := strings.Index(tag, name+`="`)
	if at < 0 {
		return "skill"
	}
	rest := tag[at+len(name)+2:]
	if end := strings.IndexByte(rest, '"'); end >= 0 {
		return rest[:end]
	}
	return "skill"
}

// sort divides a person's message into own words and pastes, line by line.
func (s *speech) sort(text string, told map[string]bool) {
	if text == "" {
		return
	}
	lines := strings.Split(text, "\n")
	if cmd, ok := ranCommand(lines); ok {
		s.ran = append(s.ran, cmd)
		return
	}
	var own []string
	fenced := false
	best := 0
	closes := 0
	for _, l := range lines {
		if strings.HasPrefix(strings.TrimSpace(l), "```") {
			closes++
		}
	}
	traced := traces(lines)
	shell := false // behind a prompt: what the command printed
	for i, l := range lines {
		t := strings.TrimSpace(l)
		last := i+1 == len(lines) || strings.TrimSpace(lines[i+1]) == ""
		switch {
		case t == "":
			shell = false
		case len(lines) > 1 && (prompted(t) || !last && (t[0] == '~' || t[0] == '/') && prompted(strings.TrimSpace(lines[i+1]))):
			shell = true // some prompts say the folder on a line of its own
		case last && remark(t):
			shell = false
		}
		if strings.HasPrefix(t, "```") && closes > 1 {
			fenced = !fenced
			continue
		}
		if fenced && s.introduced(own, lines, i) {
			continue
		}
		if t == "" {
			own = append(own, "")
			continue
		}
		if !fenced && !shell && !traced[i] && !(len(traced) > 0 && banner(t)) && !quotes(t, told) && !pastedLine(l, len(lines) == 1) {
			own = append(own, t)
			continue
		}
		s.pasted++
		score := 1
		low := strings.ToLower(head(t, 300))
		if strongError(t) {
			score = 4
		} else if hasAny(low, weakErrors) {
			score = 3
		}
		if prompted(t) {
			t = typed(t)
		}
		if score > best {
			if best > 1 {
				s.pasteNext = s.pasteHead
			}
			best, s.pasteHead = score, t
		} else if score > 2 && s.pasteNext == "" {
			s.pasteNext = t
		}
	}
	s.own = strings.TrimSpace(strings.Join(own, "\n"))
	s.unpath()
}

// introduced adds a line that stands in a fence alone to the words that introduce it,
// of which it is the point: what is to be run or written. A complaint is a paste.
func (s *speech) introduced(own, lines []string, at int) bool {
	const longest = 160
	t := strings.TrimSpace(lines[at])
	fence := func(i int) bool { return i < len(lines) && strings.HasPrefix(strings.TrimSpace(lines[i]), "```") }
	if t == "" || len(t) > longest || strings.Contains(t, "`") || !fence(at-1) || !fence(at+1) || strongError(t) || hasAny(strings.ToLower(t), weakErrors) {
		return false
	}
	k := len(own) - 1
	for k >= 0 && own[k] == "" {
		k--
	}
	if k < 0 || !strings.HasSuffix(own[k], ":") && !strings.HasSuffix(own[k], "：") {
		return false
	}
	if hasWord(strings.ToLower(own[k]), exactWords) {
		s.verbatim = append(s.verbatim, t)
	}
	own[k] += " `" + t + "`"
	return true
}

// unpath takes a leading picture or long path off the words, as people drop one
// in front of what they ask.
func (s *speech) unpath() {
	t := s.own
	if t == "" {
		return
	}
	end := strings.IndexByte(t, ' ')
	if t[0] == '\'' || t[0] == '"' {
		if end = strings.IndexByte(t[1:], t[0]); end >= 0 {
			end += 2
		}
	}
	if end < 40 || end >= len(t) || strings.Count(t[:end], "/") < 3 || strings.Contains(t[:end], "\n") {
		return
	}
	path := strings.Trim(t[:end], "'\"")
	if !fileLike(baseName(path)) || strings.Contains(path, "://") {
		return
	}
	s.attached = append(s.attached, path)
	s.own = strings.TrimSpace(t[end:])
}

// A line counts as quoted from the agent from this width, by so many letters.
const (
	quotedWidth   = 24
	quotedLetters = 40
)

func quotes(t string, told map[string]bool) bool {
	if len(told) == 0 || width(t) < quotedWidth {
		return false
	}
	t = clean(strings.TrimLeft(t, "#> "))
	return told[letters(t[bulletLen(t):], quotedLetters)]
}

// ranCommand recognises a message that shows a command the user ran.
func ranCommand(lines []string) (string, bool) {
	first := strings.TrimSpace(lines[0])
	if strings.HasPrefix(first, "$ ") && len(first) > 3 {
		return first[2:], true
	}
	if strings.HasPrefix(first, "Ran `") && strings.HasSuffix(first, "`") && len(lines) > 1 {
		return first[5 : len(first)-1], true
	}
	return "", false
}

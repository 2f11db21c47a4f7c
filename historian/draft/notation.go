package draft

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ctxplugin/historian"
)

// The notation of a chunk. What begins in the first column is ours; everything
// that the transcript says stands behind a margin, or on a line of its own behind a
// mark, one line each. So no text of it can begin a message, a call or a result.
//
//	[33] user
//	  fix the importer, rows without an id crash it
//	[34]
//	  I look at the reader first.
//	* read importer/row.go:1-80
//	= 80 lines; names: csv.Reader, ErrNoID
//	* shell go test ./importer
//	! exit 1, 41 lines: panic: index out of range [3] (row.go:88)
const (
	margin     = "  "
	markCall   = "* "
	markResult = "= "
	markFailed = "! "
	markNote   = "~ " // what we say about the transcript
)

// detail says how much of each thing is shown, in characters and counts.
type detail struct {
	person, agent  int // of the words of one message
	code           int // lines of one fence
	call           int // of a call's arguments
	body           int // of what an edit brings
	result, failed int // of a result
	names          int // of identifiers that stand in what is left out
	task           int
	todos          int
}

// details are the levels: the second and third are for a message that is too large
// at the first.
var details = [...]detail{
	{person: 6000, agent: 3200, code: 14, call: 360, body: 260, result: 260, failed: 420, names: 22, task: 1200, todos: 8},
	{person: 2400, agent: 1200, code: 4, call: 200, body: 100, result: 100, failed: 240, names: 10, task: 500, todos: 4},
	{person: 900, agent: 400, code: 1, call: 100, body: 0, result: 0, failed: 160, names: 4, task: 160, todos: 2},
}

// namesRead is how many bytes of a text are read for identifiers.
const namesRead = 3000

// scribe writes messages in the notation. It knows which names it wrote, for a
// name that stands once is not listed again.
type scribe struct {
	x    *historian.Reading
	seen map[string]bool
	todo string // the list that was shown last
	root string // folder that is left out of paths in calls, with its slash; "" for none
}

func newScribe(x *historian.Reading) *scribe {
	return &scribe{x: x, seen: map[string]bool{}, root: rootOf(x)}
}

// rootOf is the folder below which most files are that calls name by their whole
// path, with its slash; "" if there is none, or it is too short to be worth a word.
func rootOf(x *historian.Reading) string {
	const most, least = 400, 6 // paths that are looked at, and that make a root
	var paths []string
	for i := 0; i < len(x.Range().Messages) && len(paths) < most; i++ {
		for _, c := range x.Calls(i) {
			for _, p := range append([]string{c.Path}, pathsOf(c.Changes)...) {
				if strings.HasPrefix(p, "/") {
					paths = append(paths, p)
				}
			}
		}
	}
	root := ""
	for len(paths) >= least {
		counts, next := map[string]int{}, ""
		for _, p := range paths {
			if rest, ok := strings.CutPrefix(p, root); ok {
				if at := strings.IndexByte(rest[min(1, len(rest)):], '/'); at >= 0 {
					folder := root + rest[:at+2]
					counts[folder]++
					if counts[folder] > counts[next] || counts[folder] == counts[next] && folder < next {
						next = folder
					}
				}
			}
		}
		if 5*counts[next] < 4*len(paths) {
			break
		}
		root = next
	}
	if strings.Count(root, "/") < 3 || historian.Safe(root) != root {
		return ""
	}
	return root
}

func pathsOf(changes []historian.Change) []string {
	out := make([]string, len(changes))
	for i := range changes {
		out[i] = changes[i].Path
	}
	return out
}

// entry is one message in the notation.
type entry struct {
	text      string // "" for a message that says nothing
	narrative bool   // has words of a person or the agent
}

// write writes the message at a place, at a level of detail.
func (s *scribe) write(place, level int) entry {
	d := &details[min(level, len(details)-1)]
	m := &s.x.Range().Messages[place]
	var lines []string
	narrative := false
	role := ""
	switch s.x.Voice(place) {
	case historian.VoicePerson:
		role = " user"
		said := s.person(place, d)
		narrative = len(said) > 0
		lines = append(lines, said...)
	case historian.VoiceAgent:
		if said := s.prose(s.x.Words(place), d.agent, d); len(said) > 0 {
			narrative = true
			lines = append(lines, said...)
		}
		for _, c := range s.x.Calls(place) {
			lines = append(lines, s.call(&c, d)...)
		}
		if s.x.Interrupted(place) {
			lines = append(lines, markNote+"broken off")
		}
	}
	if len(lines) == 0 {
		return entry{}
	}
	head := fmt.Sprintf("[%d]%s\n", m.Ordinal, role)
	return entry{head + strings.Join(lines, "\n") + "\n", narrative}
}

// person writes what a person said: all of it where it is short; else the words
// that were typed, and of what was pasted its beginning.
func (s *scribe) person(place int, d *detail) []string {
	all := s.x.Words(place)
	text := all
	if len(all) > d.person/3 {
		if own := s.x.Own(place); own != "" {
			text = own
		}
	}
	lines := s.prose(text, d.person, d)
	if len(text) < len(all) {
		pasted := without(historian.Lines(all), lines)
		shown := pasted[:min(len(pasted), d.code)]
		lines = append(lines, fmt.Sprintf("%spasted, %d lines:", markNote, len(pasted)))
		lines = append(lines, s.indent(clip(shown, d.person/4))...)
		if more := s.fresh(strings.Join(pasted[len(shown):], "\n"), d.names); more != "" {
			lines = append(lines, markNote+"further on: "+more)
		}
	}
	for _, f := range s.x.Attached(place) {
		if f = historian.Safe(f); f != "" {
			lines = append(lines, s.note(markNote+"attached "+f))
		}
	}
	if s.x.Interrupted(place) {
		lines = append(lines, markNote+"stopped the turn before")
	}
	return lines
}

// without lists the lines of all that are not in shown.
func without(all, shown []string) []string {
	has := map[string]bool{}
	for _, l := range shown {
		has[strings.TrimSpace(l)] = true
	}
	var out []string
	for _, l := range all {
		if !has[strings.TrimSpace(l)] {
			out = append(out, l)
		}
	}
	return out
}

// prose writes a text of at most so many characters: its beginning and its end,
// fenced code shortened.
func (s *scribe) prose(text string, most int, d *detail) []string {
	if text == "" {
		return nil
	}
	var lines, left []string
	for i, block := range strings.Split(strings.ReplaceAll(text, "~~~", "```"), "```") {
		block := historian.Lines(block)
		if i%2 == 0 || len(block) <= d.code+2 {
			lines = append(lines, block...)
			continue
		}
		lines = append(lines, block[:d.code]...)
		lines = append(lines, fmt.Sprintf("(%d more lines of code)", len(block)-d.code))
		left = append(left, block[d.code:]...)
	}
	shown, out := lines, []string{}
	if size(lines) > most {
		head := clip(lines, most*3/5)
		tail := clipEnd(lines[len(head):], most*2/5)
		between := lines[len(head) : len(lines)-len(tail)]
		left = append(left, between...)
		if len(between) > 0 {
			head = append(slices.Clone(head), fmt.Sprintf("(%d lines, %d characters left out)", len(between), size(between)))
		}
		shown = append(slices.Clone(head), tail...)
	}
	out = append(out, s.indent(shown)...)
	if more := s.fresh(strings.Join(left, "\n"), d.names); more != "" {
		out = append(out, markNote+"in what is left out: "+more)
	}
	return out
}

func size(lines []string) int {
	n := 0
	for _, l := range lines {
		n += len(l) + 1
	}
	return n
}

// clip takes the first lines of a text up to so many characters; the first one is
// cut at a blank.
func clip(lines []string, most int) []string {
	n := 0
	for i, l := range lines {
		if n += len(l) + 1; n > most {
			if i > 0 {
				return lines[:i]
			}
			if short := historian.Shorten(l, most); short != "" {
				return []string{short}
			}
			return []string{fmt.Sprintf("(one line of %d characters)", len(l))}
		}
	}
	return lines
}

func clipEnd(lines []string, most int) []string {
	n := 0
	for i := len(lines) - 1; i >= 0; i-- {
		if n += len(lines[i]) + 1; n > most {
			return lines[i+1:]
		}
	}
	return lines
}

// indent puts the margin before lines of the transcript.
func (s *scribe) indent(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = s.note(margin + untagged(l))
	}
	return out
}

// note remembers the names of a line that is written.
func (s *scribe) note(line string) string {
	historian.EachName(line, func(name, key string) {
		s.seen[strings.ToLower(name)] = true
		s.seen[strings.ToLower(key)] = true
		s.seen[strings.ToLower(base(key))] = true
	})
	return line
}

func base(p string) string { return p[strings.LastIndexAny(p, `/\`)+1:] }

// fresh lists the names of a text that were not written yet, at most so many, and
// counts them as written.
func (s *scribe) fresh(text string, most int) string {
	var out []string
	historian.EachName(head(text, namesRead), func(name, key string) {
		low := strings.ToLower(key)
		if len(out) >= most || len(key) > 90 || s.seen[low] || s.seen[strings.ToLower(base(key))] && len(base(key)) > 3 {
			return
		}
		if shown := untagged(historian.Safe(key)); shown == key {
			s.seen[low] = true
			s.seen[strings.ToLower(base(key))] = true
			out = append(out, key)
		}
	})
	return strings.Join(out, ", ")
}

// untagged takes the sign off what could be read as a tag of the reply.
func untagged(line string) string {
	if !strings.Contains(line, "<") {
		return line
	}
	var b strings.Builder
	for i := 0; i < len(line); i++ {
		if line[i] == '<' && ownTag(line[i+1:]) {
			b.WriteString("‹")
			continue
		}
		b.WriteByte(line[i])
	}
	return b.String()
}

// ownTag reports whether what follows an angle bracket is a tag of the reply,
// opened or closed.
func ownTag(s string) bool {
	s = strings.TrimLeft(s, "/ ")
	for _, tag := range replyTags {
		if len(s) >= len(tag) && strings.EqualFold(s[:len(tag)], tag) {
			return true
		}
	}
	return false
}

// call writes a call and its result.
func (s *scribe) call(c *historian.Call, d *detail) []string {
	if c.Kind == "own" {
		return nil
	}
	if c.Kind == "todo" {
		return s.todos(c, d)
	}
	asked := s.asked(c, d)
	if s.root != "" {
		asked = strings.ReplaceAll(asked, s.root, "")
	}
	lines := []string{s.note(markCall + untagged(asked))}
	if body := s.brought(c, d); body != "" {
		lines = append(lines, body)
	}
	return append(lines, s.came(c, d)...)
}

// asked is what a call was to do, on one line.
func (s *scribe) asked(c *historian.Call, d *detail) string {
	brief := func(text string) string { return short(historian.Safe(text), d.call) }
	switch c.Kind {
	case "shell":
		full := stringField(c.Input, "command", "cmd", "script")
		if full != "" && len(full) <= d.call {
			return "shell " + historian.Safe(full)
		}
		text := "shell " + brief(c.Command)
		if more := s.fresh(full, d.names/2); more != "" {
			text += " (names: " + more + ")"
		}
		return text
	case "read":
		text := "read " + historian.Safe(c.Path)
		if c.From > 0 && c.To > 0 {
			text += fmt.Sprintf(":%d-%d", c.From, c.To)
		} else if c.From > 0 {
			text += fmt.Sprintf(":%d-", c.From)
		}
		return text
	case "edit", "write", "patch":
		return c.Kind + " " + changed(c)
	case "look":
		text := brief(c.Tool + " " + c.Pattern)
		if c.Path != "" {
			text += " in " + historian.Safe(c.Path)
		}
		return text
	case "fetch":
		return "fetch " + brief(c.Pattern)
	case "task":
		whole := stringField(c.Input, "prompt")
		return "task " + short(historian.Safe(c.Task+" "+whole), d.task)
	case "ask":
		var parts []string
		for _, a := range c.Answers {
			parts = append(parts, brief(a.Question))
		}
		return "asked the user: " + strings.Join(parts, " / ")
	}
	return historian.Safe(c.Tool) + " " + short(historian.Safe(strings.Join(stringsIn(c.Input), " ")), d.call)
}

// short cuts a line, and says that it did where there is no place to cut.
func short(text string, most int) string {
	text = strings.TrimSpace(text)
	if t := historian.Shorten(text, most); t != "" || text == "" {
		return t
	}
	return fmt.Sprintf("(%d characters)", len(text))
}

func changed(c *historian.Call) string {
	var parts []string
	for _, g := range c.Changes[:min(len(c.Changes), 12)] {
		p := historian.Safe(g.Path)
		switch {
		case g.Deleted:
			p += " (removed)"
		case g.Moved != "":
			p += " (moved to " + historian.Safe(g.Moved) + ")"
		case g.Created:
			p += fmt.Sprintf(" (new, +%d)", g.Added)
		default:
			p += fmt.Sprintf(" (+%d/-%d)", g.Added, g.Removed)
		}
		parts = append(parts, p)
	}
	if len(parts) == 0 {
		return historian.Safe(c.Path)
	}
	return strings.Join(parts, ", ")
}

// brought shows what an edit brings: its first lines, and the names in the rest.
func (s *scribe) brought(c *historian.Call, d *detail) string {
	if c.Kind != "edit" && c.Kind != "write" && c.Kind != "patch" {
		return ""
	}
	old := stringField(c.Input, "oldString", "old_string", "old_str", "oldText")
	text := stringField(c.Input, "newString", "new_string", "new_str", "newText", "content", "file_text", "patchText", "patch", "input")
	came, gone := historian.Lines(head(text, 4000)), historian.Lines(head(old, 4000))
	if c.Kind == "patch" {
		came, gone = patched(came)
	} else {
		came, gone = differing(came, gone), differing(gone, came)
	}
	line := ""
	if d.body > 0 && len(came) > 0 {
		line = s.note(margin + "with: " + untagged(short(strings.Join(trimmed(came), " ¦ "), d.body)))
	}
	if names := s.fresh(strings.Join(came, "\n")+"\n"+strings.Join(gone, "\n"), d.names/2); names != "" {
		if line == "" {
			line = margin + "with:"
		}
		line += " (names: " + names + ")"
	}
	return line
}

// patched are the lines that a patch adds and takes away.
func patched(lines []string) (came, gone []string) {
	for _, l := range lines {
		t := strings.TrimSpace(l)
		switch {
		case strings.HasPrefix(t, "+++"), strings.HasPrefix(t, "---"), len(t) < 2:
		case t[0] == '+':
			came = append(came, t[1:])
		case t[0] == '-':
			gone = append(gone, t[1:])
		}
	}
	return came, gone
}

func trimmed(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = strings.TrimSpace(l)
	}
	return out
}

// differing lists the lines of a that b lacks.
func differing(a, b []string) []string {
	has := map[string]bool{}
	for _, l := range b {
		has[strings.TrimSpace(l)] = true
	}
	var out []string
	for _, l := range a {
		if !has[strings.TrimSpace(l)] {
			out = append(out, l)
		}
	}
	return out
}

// came is how a call ended and what its result says.
func (s *scribe) came(c *historian.Call, d *detail) []string {
	switch {
	case c.Open:
		return []string{markResult + "no result"}
	case c.Refused:
		return []string{s.note(markFailed + "not permitted: " + untagged(short(historian.Safe(head(c.Output, 600)), d.failed)))}
	case c.Stopped:
		return []string{markFailed + "stopped by the user"}
	case c.Kind == "ask":
		var parts []string
		for _, a := range c.Answers {
			if a.Reply != "" {
				parts = append(parts, `"`+historian.Safe(a.Reply)+`"`)
			}
		}
		return []string{s.note(markResult + "the user answered: " + untagged(strings.Join(parts, " / ")))}
	case c.Kind == "task" && !c.Failed:
		return append([]string{markResult + "its report:"}, s.prose(c.Result, d.task, d)...)
	}
	lines := strings.Count(strings.TrimRight(c.Output, "\n"), "\n") + 1
	if strings.TrimSpace(c.Output) == "" {
		lines = 0
	}
	mark, text := markResult, ""
	if c.Failed {
		mark = markFailed
		if c.HasExit && c.Exit != 0 {
			text = fmt.Sprintf("exit %d, ", c.Exit)
		}
	}
	text += fmt.Sprintf("%d lines", lines)
	if lines == 1 {
		text = strings.TrimSuffix(text, "s")
	}
	said := ""
	switch {
	case c.Failed:
		said = untagged(short(historian.Safe(c.Error), d.failed))
	case c.Fault != "":
		said = "language server: " + untagged(short(historian.Safe(c.Fault), d.failed))
	case c.Summary != "":
		said = untagged(short(historian.Safe(c.Summary), d.result))
	case c.Kind == "shell" && d.result > 0:
		said = untagged(short(historian.Safe(strings.Join(clip(distinct(historian.Lines(head(c.Output, 4000))), d.result), " ¦ ")), d.result+40))
	case c.Kind == "other" && d.result > 0:
		said = untagged(short(historian.Safe(head(c.Output, 4000)), d.result))
	}
	if said != "" {
		text += ": " + said
		s.note(said)
	}
	if c.Kind != "edit" && c.Kind != "write" {
		if names := s.fresh(c.Output, d.names); names != "" {
			text += "; names: " + names
		}
	}
	return []string{mark + text}
}

// distinct drops lines that were there before.
func distinct(lines []string) []string {
	seen := map[string]bool{}
	out := lines[:0:0]
	for _, l := range lines {
		if k := strings.TrimSpace(l); !seen[k] {
			seen[k] = true
			out = append(out, k)
		}
	}
	return out
}

// todos shows a list of things to do when it changed, what is left of it first.
func (s *scribe) todos(c *historian.Call, d *detail) []string {
	var left []string
	done := 0
	for _, t := range c.Todos {
		switch t.Status {
		case "completed", "done", "cancelled":
			done++
		default:
			left = append(left, short(historian.Safe(t.Text), 100))
		}
	}
	text := fmt.Sprintf("to do (%d done): %s", done, strings.Join(left[:min(len(left), d.todos)], "; "))
	if len(left) > d.todos {
		text += fmt.Sprintf(" and %d more", len(left)-d.todos)
	}
	if len(c.Todos) == 0 || text == s.todo {
		return nil
	}
	s.todo = text
	return []string{s.note(markCall + untagged(text))}
}

// stringField is the first of the named fields of a JSON object that holds a
// string, or a list of strings.
func stringField(raw string, names ...string) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(raw), &fields) != nil {
		return ""
	}
	for _, name := range names {
		var one string
		var list []string
		if json.Unmarshal(fields[name], &one) == nil && one != "" {
			return one
		}
		if json.Unmarshal(fields[name], &list) == nil && len(list) > 0 {
			return strings.Join(list, " ")
		}
	}
	return ""
}

// stringsIn lists the strings of a JSON text, in the order of their names.
func stringsIn(raw string) []string {
	var value any
	if json.Unmarshal([]byte(raw), &value) != nil {
		return []string{raw}
	}
	var out []string
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			out = append(out, v)
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			names := make([]string, 0, len(v))
			for name := range v {
				names = append(names, name)
			}
			slices.Sort(names)
			for _, name := range names {
				walk(v[name])
			}
		}
	}
	walk(value)
	return out
}

// head is the beginning of a text, up to a blank where one is near: half a secret
// is not known for one.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[:n]
	if at := strings.LastIndexAny(s, " \t\r\n"); at > n-400 && at > 0 {
		s = s[:at]
	}
	return strings.ToValidUTF8(s, "")
}

// replyTags are the tags of a reply.
var replyTags = [...]string{"compartment", "full", "dense", "compact", "anchor", "span", "fact", "event", "transcript"}

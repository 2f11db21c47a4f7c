package story

import (
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"ctxplugin/tokens"
)

// Tell returns the export of a script. The archive holds the project's files at
// the beginning, each after a line `-- name --`; it may be empty.
func Tell(name, source, archive string) ([]byte, error) {
	s, err := parse(name, source)
	if err != nil {
		return nil, err
	}
	start, err := time.Parse(time.RFC3339, s.header["start"])
	if err != nil {
		return nil, fmt.Errorf("%s: header start: %w", name, err)
	}
	p, err := newProject(s.header["directory"], archive)
	if err != nil {
		return nil, err
	}
	t := &teller{script: s, project: p, now: start.UnixMilli(), ids: newBulk("ids of " + name), context: systemTokens, counter: tokens.New()}
	provider, model, _ := strings.Cut(s.header["model"], "/")
	t.model = modelRef{ProviderID: provider, ModelID: model}
	t.file.Info = sessionInfo{ID: t.id("ses"), Title: s.header["title"], Slug: s.header["slug"], ProjectID: t.hash("project"),
		Directory: p.root, Version: "1.18.33", Time: timeRange{Created: t.now}}
	for i := range s.turns {
		if err := t.tell(&s.turns[i]); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, s.turns[i].line, err)
		}
	}
	t.file.Info.Time.Updated = t.now
	return t.file.encode()
}

// teller turns one turn after the other into messages.
type teller struct {
	script  *script
	project *project
	model   modelRef
	file    exportFile
	now     int64 // Unix ms
	ids     *bulk
	parent  string // id of the last user message
	context int    // tokens of the next request
	cached  int    // tokens of the last request
	cacheAt int64
	message string // id of the message being told
	counter *tokens.Counter
}

const (
	systemTokens = 14200 // of the host's system text and tool definitions
	hexDigits    = "0123456789abcdef"
	idLetters    = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	cacheLivesMs = 5 * 60 * 1000
)

func (t *teller) id(prefix string) string {
	return prefix + "_" + t.letters(hexDigits, 12) + t.letters(idLetters, 14)
}

func (t *teller) letters(from string, n int) string {
	out := make([]byte, n)
	for i := range out {
		out[i] = from[t.ids.next(len(from))]
	}
	return string(out)
}

// hash is 40 hex digits that stand for a snapshot.
func (t *teller) hash(of string) string {
	h := fnv.New64a()
	h.Write([]byte(of))
	b := &bulk{state: h.Sum64()}
	out := make([]byte, 40)
	for i := range out {
		out[i] = hexDigits[b.next(16)]
	}
	return string(out)
}

func (t *teller) part(kind string) part {
	return part{ID: t.id("prt"), SessionID: t.file.Info.ID, MessageID: t.message, Type: kind}
}

func (t *teller) tell(u *turn) error {
	t.now += u.after.Milliseconds()
	t.message = t.id("msg")
	if u.user {
		return t.user(u)
	}
	return t.step(u)
}

func (t *teller) user(u *turn) error {
	t.parent = t.message
	m := exportMessage{Info: messageInfo{ID: t.message, SessionID: t.file.Info.ID, Role: "user", Time: timeRange{Created: t.now},
		Agent: t.script.header["agent"], Model: &t.model}}
	var added []part
	synthetic := func(text string) {
		p := t.part("text")
		p.Text, p.Synthetic = text, true
		added = append(added, p)
		t.context += t.estimate(text)
	}
	for i := range u.blocks {
		b := &u.blocks[i]
		switch b.kind {
		case blockText:
			p := t.part("text")
			p.Text = b.text
			m.Parts = append(m.Parts, p)
			t.context += t.estimate(b.text)
		case blockMention:
			p := t.part("file")
			p.Filename, p.Mime = b.text, "text/plain"
			if strings.HasSuffix(b.text, "/") {
				p.Mime = "application/x-directory"
			}
			p.URL = "file://" + t.project.abs(b.text)
			m.Parts = append(m.Parts, p)
			contents, err := t.project.read(b.text, 0, 0)
			if err != nil {
				return err
			}
			synthetic(fmt.Sprintf(`Called the Read tool with the following input: {"filePath":%q}`, t.project.abs(b.text)))
			synthetic(contents)
		case blockSynthetic:
			synthetic(strings.Join(append([]string{b.text}, b.bodies...), "\n"))
		case blockProject:
			if err := t.project.command(b.text); err != nil {
				return err
			}
		default:
			return fmt.Errorf("line %d does not belong in a user message", b.line)
		}
	}
	m.Parts = append(m.Parts, added...)
	t.file.Messages = append(t.file.Messages, m)
	return nil
}

func (t *teller) step(u *turn) error {
	cost := 0
	created := t.now
	m := exportMessage{Info: messageInfo{ID: t.message, SessionID: t.file.Info.ID, Role: "assistant", Time: timeRange{Created: created},
		ParentID: t.parent, ModelID: t.model.ModelID, ProviderID: t.model.ProviderID, Mode: t.script.header["agent"], Agent: t.script.header["agent"],
		Path: &pathInfo{Cwd: t.project.root, Root: t.project.root}, Cost: &cost}}
	counts := t.request()
	before := t.hash(t.project.state())
	first := t.part("step-start")
	first.Snapshot = before
	m.Parts = append(m.Parts, first)
	var touched []string
	calls, ended := 0, true
	for i := range u.blocks {
		b := &u.blocks[i]
		switch b.kind {
		case blockText, blockReasoning:
			p := t.part("text")
			if b.kind == blockReasoning {
				p.Type = "reasoning"
				counts.Reasoning += t.estimate(b.text)
			}
			p.Text = b.text
			started := t.now
			t.now += int64(400 + 18*t.estimate(b.text))
			p.Time = &spanTime{Start: started, End: t.now}
			m.Parts = append(m.Parts, p)
			counts.Output += t.estimate(b.text)
		case blockCall:
			p, files, err := t.call(b)
			if err != nil {
				return fmt.Errorf("line %d: %s: %w", b.line, b.name, err)
			}
			m.Parts = append(m.Parts, p)
			touched = append(touched, files...)
			calls++
			ended = ended && !b.open
			counts.Output += t.estimate(fmt.Sprint(p.State.Input))
		case blockProject:
			if err := t.project.command(b.text); err != nil {
				return err
			}
		default:
			return fmt.Errorf("line %d does not belong in a step", b.line)
		}
	}
	counts.Total = counts.Input + counts.Output + counts.Cache.Read + counts.Cache.Write
	for i := range m.Parts {
		t.context += t.sent(&m.Parts[i])
	}
	m.Info.Tokens = &tokenCounts{}
	switch {
	case u.aborted:
		m.Info.Error = map[string]any{"name": "MessageAbortedError", "data": map[string]any{"message": "The operation was aborted."}}
		m.Info.Time.Completed = t.now
	case ended:
		m.Info.Finish = "stop"
		if calls > 0 {
			m.Info.Finish = "tool-calls"
		}
		m.Info.Tokens = counts
		m.Info.Time.Completed = t.now
		last := t.part("step-finish")
		last.Reason, last.Snapshot, last.Cost, last.Tokens = m.Info.Finish, t.hash(t.project.state()), &cost, counts
		m.Parts = append(m.Parts, last)
		if len(touched) > 0 {
			p := t.part("patch")
			p.Hash, p.Files = before, touched
			m.Parts = append(m.Parts, p)
		}
	}
	t.file.Messages = append(t.file.Messages, m)
	return nil
}

// request counts what the step's request weighs: what the last request held is
// read from the cache while that lives.
func (t *teller) request() *tokenCounts {
	c := &tokenCounts{Input: 3 + t.ids.next(6)}
	if t.cached > 0 && t.now-t.cacheAt < cacheLivesMs {
		c.Cache.Read = t.cached
	}
	c.Cache.Write = t.context - c.Cache.Read
	t.cached, t.cacheAt = t.context, t.now
	return c
}

func (p *project) state() string {
	var b strings.Builder
	for _, name := range p.names() {
		b.WriteString(name)
		b.WriteString(p.files[name])
	}
	return b.String()
}

func (t *teller) sent(p *part) int {
	if p.State == nil {
		return t.estimate(p.Text)
	}
	n := t.estimate(fmt.Sprint(p.State.Input)) + t.estimate(p.State.Error)
	if p.State.Output != nil {
		n += t.estimate(*p.State.Output)
	}
	return n
}

// estimate is how many tokens a provider might report for a text: its tokenizer
// is not ours, so a little more than ours counts.
func (t *teller) estimate(text string) int { return t.counter.Count(text) * 27 / 25 }

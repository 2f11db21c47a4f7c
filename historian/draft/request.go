package draft

import (
	"fmt"
	"strings"

	"ctxplugin/compartments"
	"ctxplugin/historian"
	"ctxplugin/prompts"
)

// Bounds of what a request says besides the transcript.
const (
	priorTitles = 4
	aheadTokens = 200
)

// words is what a request says of a chunk.
func (j *job) words(c *chunk) prompts.Chunk {
	ms := j.x.Range().Messages
	p := prompts.Chunk{First: int64(ms[c.from].Ordinal), Last: int64(ms[c.to-1].Ordinal), Transcript: c.text}
	p.Prior, p.Spans, p.Ahead = j.prior(), j.spans(c), j.ahead(c)
	return p
}

// prior says what is recorded already: titles alone, for no tier is ever written
// from another one.
func (j *job) prior() string {
	var titles []string
	prior := j.x.Range().Prior
	for i := range prior {
		c := &prior[i]
		titles = append(titles, fmt.Sprintf("[%d-%d] %s", c.First, c.Last, c.Title))
	}
	titles = append(titles, j.titles...)
	titles = titles[max(0, len(titles)-priorTitles):]
	var b strings.Builder
	if ord, force := j.x.Force(); ord != 0 && len(j.titles) == 0 {
		titles = append(titles, fmt.Sprintf("The request in force: [%d] \"%s\"", ord, force))
	}
	for _, t := range titles {
		b.WriteString(margin + untagged(short(historian.Safe(t), 160)) + "\n")
	}
	text := ""
	if b.Len() > 0 {
		text = "Recorded already, for orientation; nothing of it is to be written again:\n" + b.String() + "\n"
	}
	if root := j.reader.root(); root != "" {
		text += "Paths of calls are below " + root + " unless they begin with a slash.\n\n"
	}
	return text
}

// charactersPerToken is how many characters a token has in a tier: few, for names
// take many tokens.
const charactersPerToken = 3

// spans suggests compartments, with the room of each.
func (j *job) spans(c *chunk) string {
	ms := j.x.Range().Messages
	var lines []string
	for i, from := range c.starts {
		to := c.to
		if i+1 < len(c.starts) {
			to = c.starts[i+1]
		}
		raw, calls := 0, 0
		for k := from; k < to; k++ {
			raw += j.x.Range().Tokens[k]
			calls += len(j.x.Calls(k))
		}
		room := ceilings(raw, calls == 0)[compartments.TierFull] * charactersPerToken
		lines = append(lines, fmt.Sprintf("%d-%d: %d characters", ms[from].Ordinal, ms[to-1].Ordinal, max(100, room/50*50)))
	}
	return strings.Join(lines, "\n")
}

// ahead shows how it went on behind a chunk, so that its last compartment is not
// written blind.
func (j *job) ahead(c *chunk) string {
	s := j.reader.anew()
	var b strings.Builder
	for i := c.to; i < len(j.x.Range().Messages); i++ {
		e := s.write(i, len(details)-1)
		if j.w.cfg.Count(b.String()+e.text) > aheadTokens {
			break
		}
		b.WriteString(e.text)
	}
	if b.Len() == 0 {
		return ""
	}
	return "\nWhat follows, only to see how it went on; it is not to be covered:\n" + b.String()
}

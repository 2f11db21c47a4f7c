package lab

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"
)

// frameTokens is what the role and the delimiters of a message cost.
const frameTokens = 4

// callTokens is what the frame of a call and that of its result cost, each.
const callTokens = 6

// mediaTokens is what a picture or a document is taken to cost.
const mediaTokens = 1600

// Texts that the host puts in place of parts that no provider takes.
const (
	askedForSummary = "What did we do so far?"
	interrupted     = "[Tool execution was interrupted]"
)

// digest stands for the bytes of a block.
type digest [16]byte

// block is the smallest unit of a request: one text, reasoning, call, result
// or picture.
type block struct {
	sum    digest
	bytes  int
	tokens int
	model  bool // written by the model: text, reasoning or a call in a reply
	result bool // of a call
	open   bool // of a call that runs
}

// sent is one message of a request.
type sent struct {
	index  int // into the recording; negative for the head
	role   string
	text   string // of the head
	blocks []block
}

func (s *sent) tokens() int {
	n := 0
	for _, b := range s.blocks {
		n += b.tokens
	}
	if n > 0 {
		n += frameTokens
	}
	return n
}

// request is what goes to the provider behind system text and tools.
type request struct {
	messages []sent // those with at least one block
	head     int    // how many of them are the head
	marked   int    // index of the head's message with the cache mark; -1 for none
	void     bool   // the plan did not fit the list and nothing was applied
	edited   map[editKey]bool
}

func (r *request) tokens() int {
	n := 0
	for i := range r.messages {
		n += r.messages[i].tokens()
	}
	return n
}

// sums lists the digests of all blocks in order, each behind its message's
// role, so that equal lists are equal bytes.
func (r *request) sums() []digest {
	var out []digest
	for i := range r.messages {
		for _, b := range r.messages[i].blocks {
			out = append(out, b.sum)
		}
	}
	return out
}

// counter counts tokens.
type counter interface{ Count(string) int }

// blocksOf renders a message as the host sends it.
type renderer struct {
	count counter
	plain map[*message][]block
}

func newRenderer(c counter) *renderer {
	return &renderer{count: c, plain: map[*message][]block{}}
}

// unedited renders a message without edits, once.
func (r *renderer) unedited(m *message) []block {
	blocks, ok := r.plain[m]
	if !ok {
		blocks = r.render(m, m.parts)
		r.plain[m] = blocks
	}
	return blocks
}

// render gives the blocks of a message whose parts may have been edited. Calls
// stand where the model made them; their results follow at the end of the
// model's step.
func (r *renderer) render(m *message, parts []part) []block {
	if m.role == "user" {
		return r.renderUser(parts)
	}
	if m.failure != nil && !(m.aborted && hasContent(parts)) {
		return nil
	}
	var blocks, results []block
	for i := range parts {
		p := &parts[i]
		switch p.kind {
		case "step-start":
			blocks, results = append(blocks, results...), nil
		case "text", "reasoning":
			if p.text != "" {
				b := r.block("assistant", p.kind, p.text)
				b.model = true
				blocks = append(blocks, b)
			}
		case "tool":
			call := r.block("assistant", "call "+p.tool+" "+p.callID, p.state.input)
			call.model, call.open = true, p.state.open()
			call.tokens += r.count.Count(p.tool) + callTokens
			blocks = append(blocks, call)
			results = append(results, r.result(p))
			for _, a := range p.media {
				results = append(results, r.picture("tool", a))
			}
		}
	}
	return append(blocks, results...)
}

func (r *renderer) renderUser(parts []part) []block {
	var blocks []block
	for i := range parts {
		p := &parts[i]
		switch p.kind {
		case "text":
			if !p.ignored && p.text != "" {
				blocks = append(blocks, r.block("user", "text", p.text))
			}
		case "compaction":
			blocks = append(blocks, r.block("user", "text", askedForSummary))
		case "file":
			for _, a := range p.media {
				blocks = append(blocks, r.picture("user", a))
			}
		}
	}
	return blocks
}

func (r *renderer) result(p *part) block {
	content := p.state.output
	if p.state.open() {
		content = interrupted
	}
	b := r.block("tool", "result "+p.callID+" "+p.state.status, content)
	b.result, b.open = true, p.state.open()
	b.tokens += callTokens
	return b
}

func (r *renderer) picture(role string, a media) block {
	b := r.block(role, "media "+a.mime, strings.Repeat("x", min(a.size, 1)))
	b.bytes, b.tokens = a.size, mediaTokens
	return b
}

func (r *renderer) block(role, what, content string) block {
	h := sha256.New()
	for _, s := range [...]string{role, what, content} {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(s)))
		h.Write(n[:])
		h.Write([]byte(s))
	}
	b := block{bytes: len(content), tokens: r.count.Count(content)}
	copy(b.sum[:], h.Sum(nil))
	return b
}

// hasContent reports whether an aborted reply got far enough to be sent.
func hasContent(parts []part) bool {
	for i := range parts {
		if k := parts[i].kind; k != "step-start" && k != "reasoning" {
			return true
		}
	}
	return false
}

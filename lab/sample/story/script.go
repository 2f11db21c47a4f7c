package story

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// script is a parsed script.
type script struct {
	header map[string]string
	turns  []turn
}

// turn is one message of a script.
type turn struct {
	line    int
	user    bool
	after   time.Duration
	aborted bool
	blocks  []block
}

type blockKind int

const (
	blockText blockKind = iota
	blockReasoning
	blockCall
	blockMention
	blockSynthetic
	blockProject
)

// block is one thing within a message, in the order written.
type block struct {
	line    int
	kind    blockKind
	text    string // text, reasoning, synthetic text; arguments of a call or project command
	name    string // of a tool
	options map[string]string
	output  []string
	bodies  []string
	failure string
	open    bool // the call never ended
}

func (b *block) option(name string) int {
	n, _ := strconv.Atoi(b.options[name])
	return n
}

// parse reads a script. Errors name the line.
func parse(name, source string) (*script, error) {
	s := &script{header: map[string]string{}}
	p := &parser{script: s, bulk: newBulk(name)}
	for i, line := range strings.Split(strings.TrimRight(source, "\n"), "\n") {
		p.line = i + 1
		if err := p.take(line); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, i+1, err)
		}
	}
	if p.body != nil {
		return nil, fmt.Errorf("%s: a <<< block is not closed", name)
	}
	p.flush()
	return s, nil
}

type parser struct {
	script *script
	bulk   *bulk
	line   int
	text   []string // of the text block being read
	kind   blockKind
	body   []string // of a <<< block being read; nil outside
}

func (p *parser) take(line string) error {
	if p.body != nil {
		if line == ">>>" {
			call := p.last()
			call.bodies = append(call.bodies, strings.Join(p.body, "\n"))
			p.body = nil
			return nil
		}
		p.body = append(p.body, line)
		return nil
	}
	if rest, ok := strings.CutPrefix(line, "--- "); ok {
		p.flush()
		return p.message(rest)
	}
	if len(p.script.turns) == 0 {
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			return nil
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return fmt.Errorf("%q is no header line", line)
		}
		p.script.header[strings.TrimSpace(name)] = strings.TrimSpace(value)
		return nil
	}
	return p.within(line)
}

func (p *parser) message(rest string) error {
	words := strings.Fields(rest)
	t := turn{line: p.line}
	if len(words) < 2 {
		return fmt.Errorf("a message needs who and when")
	}
	switch words[0] {
	case "user":
		t.user = true
	case "step":
	default:
		return fmt.Errorf("%q is neither user nor step", words[0])
	}
	d, err := time.ParseDuration(strings.TrimPrefix(words[1], "+"))
	if err != nil {
		return err
	}
	t.after = d
	for _, w := range words[2:] {
		if w != "aborted" {
			return fmt.Errorf("unknown word %q", w)
		}
		t.aborted = true
	}
	p.script.turns = append(p.script.turns, t)
	return nil
}

func (p *parser) within(line string) error {
	mark, rest, _ := strings.Cut(line, " ")
	call := p.last()
	switch mark {
	case ">":
		p.flush()
		name, arguments, _ := strings.Cut(rest, " ")
		p.add(block{kind: blockCall, name: name, text: arguments})
		return nil
	case "%":
		p.flush()
		p.add(block{kind: blockProject, text: rest})
		return nil
	case "@file":
		p.flush()
		p.add(block{kind: blockMention, text: rest})
		return nil
	case "@synthetic":
		p.flush()
		p.add(block{kind: blockSynthetic, text: rest})
		return nil
	case "@bulk":
		lines, err := p.bulk.lines(rest)
		if err != nil {
			return err
		}
		p.text = append(p.text, lines...)
		return nil
	case "?":
		if p.kind != blockReasoning {
			p.flush()
			p.kind = blockReasoning
		}
		p.text = append(p.text, rest)
		return nil
	case "|", "><", "~", "!", "!running", "<<<":
		if call == nil || len(p.text) > 0 {
			return fmt.Errorf("%q belongs to no call", line)
		}
		return p.detail(call, mark, rest)
	}
	if p.kind == blockReasoning {
		p.flush()
	}
	if call != nil && len(p.text) == 0 && strings.TrimSpace(line) == "" {
		return nil
	}
	p.text = append(p.text, strings.TrimPrefix(line, `\`))
	return nil
}

func (p *parser) detail(call *block, mark, rest string) error {
	switch mark {
	case "|":
		call.output = append(call.output, rest)
	case "><":
		lines, err := p.bulk.lines(rest)
		if err != nil {
			return err
		}
		call.output = append(call.output, lines...)
	case "~":
		name, value, ok := strings.Cut(rest, "=")
		if !ok {
			return fmt.Errorf("%q is no option", rest)
		}
		if call.options == nil {
			call.options = map[string]string{}
		}
		call.options[name] = value
	case "!":
		call.failure = rest
	case "!running":
		call.open = true
	case "<<<":
		p.body = []string{}
	}
	return nil
}

// last is the call or synthetic text that details belong to, nil if there is
// none.
func (p *parser) last() *block {
	if len(p.script.turns) == 0 {
		return nil
	}
	t := &p.script.turns[len(p.script.turns)-1]
	if len(t.blocks) == 0 {
		return nil
	}
	b := &t.blocks[len(t.blocks)-1]
	if b.kind != blockCall && b.kind != blockSynthetic {
		return nil
	}
	return b
}

func (p *parser) add(b block) {
	b.line = p.line
	t := &p.script.turns[len(p.script.turns)-1]
	t.blocks = append(t.blocks, b)
}

func (p *parser) flush() {
	text := strings.Trim(strings.Join(p.text, "\n"), "\n")
	if text != "" {
		p.add(block{kind: p.kind, text: text})
	}
	p.text, p.kind = nil, blockText
}

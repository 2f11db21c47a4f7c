package trajectory

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"

	"ctxplugin/compartments"
	"ctxplugin/lab/provider"
	"ctxplugin/tokens"
)

// Frame is what one request is made of.
type Frame struct {
	Head  []string                 // texts of its pairs
	From  int                      // place of the first message that stays with all behind it
	Keep  []int                    // places before it that stay too, in list order
	Edits map[int]map[field]string // by place
	plan  *compartments.Plan       // that the edits are from
	To    int                      // place behind the last message

	tiers map[compartments.CompartmentID]compartments.Tier // in the head
}

// field is a field of a part that a plan replaces.
type field struct {
	part int
	name compartments.Field
}

// weights are the sizes of the parts of a script, in tokens.
type weights struct {
	count *tokens.Counter
	parts [][]weight      // by message and part
	whole []int           // by message, as it would be sent
	plain []messageBlocks // by message without edits, once asked for

	// What was worked out before.
	heads    map[string]counted
	edited   map[editedMessage]int
	blocksOf map[editedMessage]messageBlocks
}

// counted is a text with its tokens and its name.
type counted struct {
	tokens int
	sum    [16]byte
}

// editedMessage is a message under the edits of a plan.
type editedMessage struct {
	plan    *compartments.Plan
	message int
}

type weight struct{ text, input, output, frame int }

// What the frames of a call and its result cost, and a picture, as the program
// counts them, in tokens.
const (
	callTokens  = 12
	mediaTokens = 1600
)

func weigh(s *Script, count *tokens.Counter) weights {
	w := weights{count: count, parts: make([][]weight, len(s.Messages)), whole: make([]int, len(s.Messages)), plain: make([]messageBlocks, len(s.Messages)),
		heads: map[string]counted{}, edited: map[editedMessage]int{}, blocksOf: map[editedMessage]messageBlocks{}}
	for i := range s.Messages {
		m := &s.Messages[i]
		w.parts[i] = make([]weight, len(m.Parts))
		for j := range m.Parts {
			p := &m.Parts[j]
			if silent(p) {
				continue
			}
			at := weight{text: count.Count(p.Text), input: count.Count(p.Input), output: count.Count(p.Output)}
			switch {
			case p.Kind == compartments.PartTool:
				at.frame = count.Count(p.Tool) + callTokens + p.Media*mediaTokens
			case p.Kind == compartments.PartFile && compartments.SentAsMedia(p.Mime, p.URLBytes):
				at.frame = mediaTokens
			}
			w.parts[i][j] = at
			w.whole[i] += at.text + at.input + at.output + at.frame
		}
		if w.whole[i] > 0 {
			w.whole[i] += compartments.FrameTokens
		}
	}
	return w
}

// silent reports whether a part is never sent.
func silent(p *compartments.Part) bool {
	return p.Ignored || p.Kind == compartments.PartMarker
}

// pairFrame is what a pair of the head takes besides its text, in tokens.
const pairFrame = 2*compartments.FrameTokens + 3

// headTokens is what the head takes, in tokens.
func (p *Played) headTokens(f *Frame) int {
	n := 0
	for _, text := range f.Head {
		n += p.headText(text).tokens + pairFrame
	}
	return n
}

// headText is the text of a pair, counted and named once.
func (p *Played) headText(text string) counted {
	c, ok := p.heads[text]
	if !ok {
		c = counted{p.count.Count(text), sum("head", text)}
		p.heads[text] = c
	}
	return c
}

// messageTokens is what one message takes under a frame, in tokens.
func (p *Played) messageTokens(f *Frame, i int) int {
	n := p.whole[i]
	if len(f.Edits[i]) == 0 {
		return n
	}
	key := editedMessage{f.plan, i}
	if known, ok := p.edited[key]; ok {
		return known
	}
	defer func() { p.edited[key] = n }()
	for at, value := range f.Edits[i] {
		w := p.parts[i][at.part]
		was := w.output
		switch at.name {
		case compartments.FieldText:
			was = w.text
		case compartments.FieldInput:
			was = w.input
		}
		n += p.count.Count(value) - was
	}
	return n
}

// stays are the places of the messages that a frame sends.
func (f *Frame) stays(visit func(i int)) {
	for _, i := range f.Keep {
		visit(i)
	}
	for i := f.From; i < f.To; i++ {
		visit(i)
	}
}

// size is all of a frame, in tokens of messages.
func (p *Played) size(f *Frame) int {
	n := p.headTokens(f)
	f.stays(func(i int) { n += p.messageTokens(f, i) })
	return n
}

// shows is everything that a model would read of the session.
func (p *Played) shows(f *Frame) string {
	var b strings.Builder
	for _, text := range f.Head {
		b.WriteString(text)
		b.WriteString("\n\n")
	}
	f.stays(func(i int) {
		p.eachText(f, i, func(_ string, text string) {
			b.WriteString(text)
			b.WriteByte('\n')
		})
		b.WriteByte('\n')
	})
	return b.String()
}

// eachText visits what is sent of a message, with what it is.
func (p *Played) eachText(f *Frame, i int, visit func(what, text string)) {
	m := &p.Script.Messages[i]
	for j := range m.Parts {
		part := &m.Parts[j]
		if silent(part) {
			continue
		}
		for _, at := range [...]struct {
			name compartments.Field
			text string
		}{{compartments.FieldText, part.Text}, {compartments.FieldInput, part.Input}, {compartments.FieldOutput, part.Output}} {
			text := at.text
			if value, ok := f.Edits[i][field{j, at.name}]; ok {
				text = value
			}
			if text != "" {
				visit(string(m.Role)+" "+string(at.name), text)
			}
		}
	}
}

// blocks lays a frame out as a provider sees it: system text and tools first, then
// the head, then messages. Marks sit behind the first, on the newest pair and on
// the last two of the provider's messages, where hosts put them.
func (p *Played) blocks(f *Frame) []provider.Block {
	out := []provider.Block{{Sum: [16]byte{'s', 'y', 's'}, Tokens: p.Setup.Prefix, Mark: true}}
	for i, text := range f.Head {
		c := p.headText(text)
		out = append(out, provider.Block{Sum: c.sum, Tokens: c.tokens + compartments.FrameTokens},
			provider.Block{Sum: [16]byte{'a', 'c', 'k'}, Tokens: pairFrame - compartments.FrameTokens, Mark: i == len(f.Head)-1})
	}
	var ends []int // last block of each of the provider's messages
	f.stays(func(i int) {
		b := p.messageBlocks(f, i)
		if b.said > 0 && b.said < len(b.all) {
			ends = append(ends, len(out)+b.said-1)
		}
		out = append(out, b.all...)
		ends = append(ends, len(out)-1)
	})
	for _, at := range ends[max(0, len(ends)-2):] {
		out[at].Mark = true
	}
	return out
}

// messageBlocks are the blocks of one message: what was said, then results.
type messageBlocks struct {
	all  []provider.Block
	said int // how many are not results
}

func (p *Played) messageBlocks(f *Frame, i int) messageBlocks {
	plain := len(f.Edits[i]) == 0
	key := editedMessage{f.plan, i}
	if plain && p.plain[i].all != nil {
		return p.plain[i]
	} else if known, ok := p.blocksOf[key]; !plain && ok {
		return known
	}
	var said, results []provider.Block
	p.eachText(f, i, func(what, text string) {
		b := provider.Block{Sum: sum(what, text), Tokens: p.count.Count(text)}
		if strings.HasSuffix(what, string(compartments.FieldOutput)) {
			results = append(results, b)
		} else {
			said = append(said, b)
		}
	})
	out := messageBlocks{slices.Concat(said, results), len(said)}
	if len(out.all) > 0 {
		last := len(out.all) - 1
		out.all[last].Tokens += p.messageTokens(f, i) - sumOf(out.all)
	}
	if plain {
		p.plain[i] = out
	} else {
		p.blocksOf[key] = out
	}
	return out
}

// sumOf is what blocks weigh together, in tokens.
func sumOf(blocks []provider.Block) int {
	n := 0
	for i := range blocks {
		n += blocks[i].Tokens
	}
	return n
}

// sum names a text.
func sum(what, text string) (out [16]byte) {
	h := sha256.New()
	for _, s := range [...]string{what, text} {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(s)))
		h.Write(n[:])
		h.Write([]byte(s))
	}
	copy(out[:], h.Sum(nil))
	return out
}

// startsWith reports whether a request begins with all of the one before.
func startsWith(now, before []provider.Block) bool {
	if len(now) < len(before) {
		return false
	}
	for i := range before {
		if now[i].Sum != before[i].Sum {
			return false
		}
	}
	return true
}

// output is what a reply takes, in tokens.
func (p *Played) output(reply int) int {
	n := 0
	for _, at := range p.parts[reply] {
		n += at.text + at.input
	}
	return n
}

// frames are ours at every request.
func (p *Played) frames() []Frame {
	out := make([]Frame, len(p.steps))
	place := make(map[compartments.MessageID]int, len(p.Script.Messages))
	for i := range p.Script.Messages {
		place[p.Script.Messages[i].ID] = i
	}
	for n := range p.steps {
		st := &p.steps[n]
		f := Frame{To: st.reply, plan: st.plan}
		if n > 0 && st.plan == p.steps[n-1].plan { // as before
			f = out[n-1]
			f.To = st.reply
		} else if st.plan != nil {
			for _, pair := range st.plan.Head {
				f.Head = append(f.Head, pair.Text)
			}
			if st.plan.Through != "" {
				f.From = place[st.plan.Through] + 1
			}
			for _, id := range st.plan.Keep {
				if i := place[id]; i < f.From {
					f.Keep = append(f.Keep, i)
				}
			}
			slices.Sort(f.Keep)
			for _, e := range st.plan.Edits {
				if f.Edits == nil {
					f.Edits = map[int]map[field]string{}
				}
				at := place[e.MessageID]
				if f.Edits[at] == nil {
					f.Edits[at] = map[field]string{}
				}
				f.Edits[at][field{e.Part, e.Field}] = e.Value
			}
		}
		if st.fold >= 0 {
			f.tiers = tiersOf(p.folds[st.fold].Layout)
		}
		out[n] = f
	}
	return out
}

func tiersOf(layout []compartments.PairLayout) map[compartments.CompartmentID]compartments.Tier {
	out := map[compartments.CompartmentID]compartments.Tier{}
	for i := range layout {
		for _, item := range layout[i].Items {
			for _, id := range item.Compartments {
				out[id] = item.Tier
			}
		}
	}
	return out
}

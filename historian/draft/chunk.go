package draft

import (
	"fmt"
	"slices"
	"strings"

	"ctxplugin/compartments"
	"ctxplugin/historian"
)

// chunk is a run of messages that is sent in one request.
type chunk struct {
	from, to int // places
	text     string
	tokens   int
	entries  []entry // of each message
	starts   []int   // places at which the built-in generator would begin
}

// The numbers of a chunk's size.
const (
	replyEach  = 500 // tokens of a reply for each compartment, and
	replyShare = 10  // one for so many raw tokens
	overhang   = 4   // a chunk goes on by a quarter at most, to end with an objective
	spanLimit  = 4   // one group of messages takes a quarter of a chunk at most
)

// Chunk is what one request says of a run of messages.
type Chunk struct {
	From, To int    // places, half open
	Text     string // in the notation
	Tokens   int    // of Text
}

// Chunks shows how a reading is cut and written for requests of about input tokens
// each, whose replies may take about reply tokens.
func Chunks(x *historian.Reading, count func(string) int, input, reply int) []Chunk {
	r := newReader(x, count)
	var out []Chunk
	for _, c := range r.chunks(0, len(x.Range().Messages), limits{input, reply}) {
		out = append(out, Chunk{c.from, c.to, c.text, c.tokens})
	}
	return out
}

// limits are what one request may take.
type limits struct {
	input int // tokens of a chunk, at least; it ends where one objective or group ends behind that
	reply int // tokens of the reply that it is expected to need, at most about
}

// reader cuts the messages of a reading into chunks.
type reader struct {
	x      *historian.Reading
	count  func(string) int
	scribe *scribe // that wrote nothing, for all that a scribe finds out beforehand
}

func newReader(x *historian.Reading, count func(string) int) *reader {
	return &reader{x, count, newScribe(x)}
}

// root is the folder that is left out of paths.
func (r *reader) root() string { return r.scribe.root }

// anew returns a scribe that wrote nothing yet.
func (r *reader) anew() *scribe {
	return &scribe{x: r.x, seen: map[string]bool{}, root: r.scribe.root}
}

// legal reports whether a compartment may begin at a place.
func legal(x *historian.Reading, place int) bool {
	if place == 0 {
		return true
	}
	ms := x.Range().Messages
	if place >= len(ms) {
		return place == len(ms)
	}
	if ms[place].Role == compartments.RoleTool || !x.MayStart(place) {
		return false
	}
	before := &ms[place-1]
	return ms[place].Role != compartments.RoleUser || before.Role != compartments.RoleUser || before.RealUser() || compaction(before)
}

func compaction(m *compartments.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p compartments.Part) bool { return p.Kind == compartments.PartCompaction })
}

// chunks cuts the places [from, to) into chunks. Each but the last takes as much
// as the limits say, so that B tokens take at most ceil(B/C) of them, and ends
// where an objective ends if one does soon behind that, else with a group of calls.
func (r *reader) chunks(from, to int, l limits) []chunk {
	var out []chunk
	for from < to {
		c := r.next(from, to, l)
		out = append(out, c)
		from = c.to
	}
	return out
}

// group is a run of messages that cannot be parted.
type group struct {
	from, to int
	entries  []entry
	tokens   int
	reply    int // what its share of the reply takes, in tokens of input
}

func (r *reader) next(from, to int, l limits) chunk {
	s := r.anew()
	var groups []group
	var sum group // of what is in the chunk
	load := func(g group) int { return max(sum.tokens+g.tokens, sum.reply+g.reply) }
	end, best := -1, 0
	for at := from; at < to; {
		g := r.group(s, at, to, l)
		if end >= 0 && load(g) > l.input+l.input/overhang {
			break
		}
		groups = append(groups, g)
		sum.tokens, sum.reply = sum.tokens+g.tokens, sum.reply+g.reply
		at = g.to
		if load(group{}) < l.input {
			continue
		}
		if end < 0 {
			end, best = at, len(groups)
		}
		if slices.Contains(r.x.Starts(), at) {
			end, best = at, len(groups)
			break
		}
	}
	// what is left is not worth a request of its own, or there is no more of it
	if end < 0 || groups[len(groups)-1].to == to && load(group{}) <= l.input+l.input/overhang {
		end, best = groups[len(groups)-1].to, len(groups)
	}
	c := chunk{from: from, to: end}
	var b strings.Builder
	for _, g := range groups[:best] {
		for _, e := range g.entries {
			b.WriteString(e.text)
			c.entries = append(c.entries, e)
		}
	}
	c.text = b.String()
	c.tokens = r.count(c.text)
	c.starts = within(r.x.Starts(), from, end)
	return c
}

// within lists the places of starts in [from, to), with from.
func within(starts []int, from, to int) []int {
	out := []int{from}
	for _, s := range starts {
		if s > from && s < to {
			out = append(out, s)
		}
	}
	return out
}

// group writes the messages from a place up to the next legal one.
func (r *reader) group(s *scribe, from, to int, l limits) group {
	g := group{from: from, to: from + 1}
	for g.to < to && !legal(r.x, g.to) {
		g.to++
	}
	limit := max(200, l.input/spanLimit)
	for level := range details {
		seen := s.seen
		s.seen = clone(seen)
		g.entries, g.tokens = nil, 0
		for i := g.from; i < g.to; i++ {
			e := s.write(i, level)
			g.entries = append(g.entries, e)
			g.tokens += r.count(e.text)
		}
		if g.tokens <= limit {
			break
		}
		if level+1 < len(details) {
			s.seen = seen
		}
	}
	if g.tokens > limit {
		r.squeeze(&g, limit)
	}
	raw, begins := 0, 0
	for i := g.from; i < g.to; i++ {
		raw += r.x.Range().Tokens[i]
		if slices.Contains(r.x.Starts(), i) {
			begins++
		}
	}
	reply := begins*replyEach + raw/replyShare
	g.reply = min(reply*l.input/max(1, l.reply), l.input/spanLimit)
	return g
}

func clone(m map[string]bool) map[string]bool {
	out := make(map[string]bool, len(m))
	for k := range m {
		out[k] = true
	}
	return out
}

// squeeze keeps the first and the last lines of each message of a group that is
// too large at every level of detail.
func (r *reader) squeeze(g *group, limit int) {
	each := max(40, limit/len(g.entries))
	g.tokens = 0
	for i := range g.entries {
		e := &g.entries[i]
		lines := strings.Split(strings.TrimSuffix(e.text, "\n"), "\n")
		if n := r.count(e.text); n > each && len(lines) > 3 {
			keep := max(1, len(lines)*each/n/2)
			keep = min(keep, (len(lines)-2)/2)
			left := len(lines) - 1 - 2*keep
			short := append(slices.Clone(lines[:1+keep]), fmt.Sprintf("%s%d lines left out", markNote, left))
			e.text = strings.Join(append(short, lines[len(lines)-keep:]...), "\n") + "\n"
		}
		g.tokens += r.count(e.text)
	}
}

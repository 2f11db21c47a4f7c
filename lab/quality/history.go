package quality

import (
	"context"
	"fmt"
	"strings"

	"ctxplugin/compartments"
	"ctxplugin/historian"
	"ctxplugin/lab/fixtures"
)

// history is a generated session with its compartments.
type history struct {
	session *fixtures.Session
	texts   []string // of each message, as a model reads it
	weights []int    // tokens of each message
	cs      []compartments.Compartment
	items   [][]*fixtures.Item  // of each compartment
	needed  map[int]bool        // items that a probe asks for
	words   map[string]struct{} // names and numbers that the messages hold
}

func write(ctx context.Context, s *fixtures.Session, count func(string) int) (*history, error) {
	h := &history{session: s, weights: s.Weigh(count), needed: map[int]bool{}, words: map[string]struct{}{}}
	r := historian.Range{Messages: s.Messages, Hashes: s.Hashes(), Tokens: h.weights}
	cs, err := historian.New(count).Write(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("session %d of bank %v: %w", s.Options.Seed, s.Options.Bank, err)
	}
	for i := range cs {
		cs[i].ID = compartments.CompartmentID(i + 1)
	}
	h.cs = cs
	for i := range s.Messages {
		text := fixtures.Read(&s.Messages[i])
		h.texts = append(h.texts, text)
		eachName(text, func(w string) {
			for h.words[w] = struct{}{}; ; h.words[w] = struct{}{} {
				i := strings.IndexByte(w, '/') // the end of a path is as good
				if i < 0 {
					return
				}
				w = w[i+1:]
			}
		})
	}
	h.items = make([][]*fixtures.Item, len(cs))
	at := 0
	for i := range s.Items {
		it := &s.Items[i]
		for at = 0; cs[at].Last < it.Ordinal; at++ {
		}
		h.items[at] = append(h.items[at], it)
	}
	for _, p := range s.Probes {
		h.needed[p.Item] = true
	}
	return h, nil
}

// raw is the text of a compartment's messages.
func (h *history) raw(c *compartments.Compartment) string {
	return strings.Join(h.texts[c.First-1:c.Last], "\n")
}

// due are the probes that come behind a compartment, of items in it or before it.
func (h *history) due(last compartments.Ordinal) []fixtures.Probe {
	var out []fixtures.Probe
	for _, p := range h.session.Probes {
		if p.Ordinal > last && h.session.Items[p.Item].Ordinal <= last {
			out = append(out, p)
		}
	}
	return out
}

// unsupported are the names and numbers of a text that no message holds.
func (h *history) unsupported(text string) []string {
	var out []string
	eachName(text, func(w string) {
		if _, ok := h.words[w]; !ok {
			out = append(out, w)
		}
	})
	return out
}

// eachName calls visit for each word that is a name or a number: one with a digit,
// an underscore, a dot, a slash or a capital letter inside. Numbers of two digits
// and counts of changed lines are left out, for records count.
func eachName(text string, visit func(string)) {
	start := -1
	for i := 0; i <= len(text); i++ {
		if i < len(text) && nameByte(text[i]) {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 {
			w := strings.Trim(text[start:i], "./-:+")
			if namelike(w) && !(start > 0 && text[start-1] == '[') {
				visit(w)
			}
			start = -1
		}
	}
}

func nameByte(c byte) bool {
	return c == '_' || c == '.' || c == '/' || c == '-' || c == '+' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func namelike(w string) bool {
	digits, letters, inner, signs := 0, 0, 0, 0
	for i := range len(w) {
		switch c := w[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'A' && c <= 'Z':
			letters++
			if i > 0 {
				inner++
			}
		case c >= 'a' && c <= 'z':
			letters++
		default:
			signs++
			if c == '_' || c == '.' || c == '/' {
				inner++
			}
		}
	}
	if letters == 0 {
		return digits > 2 && signs == 0
	}
	return len(w) > 3 && (inner > 0 || digits > 0)
}

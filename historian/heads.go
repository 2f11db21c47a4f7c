package historian

import (
	"context"
	"strings"

	"ctxplugin/compartments"
)

// Heads writes compartments whose tiers are no more than the beginning of their
// messages, each as long as its ceiling allows. It is what the tiers of the
// built-in generator are measured against. Where compartments end, what they are
// called and what they are worth stays as the generator says.
type Heads struct{ *Builtin }

// Write covers a range as Builtin.Write does.
func (h Heads) Write(ctx context.Context, r Range) ([]compartments.Compartment, error) {
	out, err := h.Builtin.Write(ctx, r)
	at := 0
	for i := range out {
		n := len(out[i].Members)
		h.behead(&out[i], r.Messages[at:at+n])
		at += n
	}
	return out, err
}

// Scan makes a compartment with an anchor alone, as Builtin.Scan does.
func (h Heads) Scan(r Range) compartments.Compartment {
	c := h.Builtin.Scan(r)
	h.behead(&c, r.Messages)
	return c
}

// behead puts the head of the messages in the place of a compartment's tiers.
func (h Heads) behead(c *compartments.Compartment, messages []compartments.Message) {
	text := plainText(messages, headBytes)
	full := ceilings(c.RawTokens, false)[atFull]
	c.Spans = nil
	for _, t := range compartments.Rendered {
		r, ok := c.Tiers[t]
		if !ok {
			continue
		}
		r.Text = h.first(text, min(full, t.Ceiling()))
		r.Tokens = h.Count(r.Text)
		c.Tiers[t] = r
	}
}

// headBytes is more than the tokens of any ceiling take.
const headBytes = 16 << 10

// plainText is what messages say, in their order, up to about that many bytes.
func plainText(messages []compartments.Message, most int) string {
	var b strings.Builder
	say := func(who, text string) {
		if text != "" && b.Len() < most {
			b.WriteString(who + ": " + head(text, most) + "\n")
		}
	}
	for i := range messages {
		m := &messages[i]
		for j := range m.Parts {
			p := &m.Parts[j]
			switch {
			case p.OwnTool() || p.Ignored || m.Summary:
			case p.Kind == compartments.PartText:
				say(string(m.Role), p.Text)
			case p.Kind == compartments.PartTool:
				say(p.Tool, p.Input)
				say("result", p.Output)
			}
		}
	}
	return strings.TrimSpace(safe(b.String()))
}

// first is the longest beginning of a text, cut at a character, that takes at
// most that many tokens.
func (h Heads) first(text string, tokens int) string {
	low, high := 0, len(text)
	for low < high { // a longer beginning takes no fewer tokens, but for a few at its end
		middle := low + (high-low+1)/2
		if h.Count(head(text, middle)) <= tokens {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return strings.TrimSpace(head(text, low))
}

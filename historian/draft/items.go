package draft

import (
	"regexp"
	"slices"
	"strings"

	"ctxplugin/compartments"
	"ctxplugin/historian"
)

// Bounds of what comes with one compartment.
const (
	spansMost  = 3   // exact spans of a draft, those that the built-in generator finds apart
	spanWidest = 200 // characters
	itemsMost  = 20  // facts, and events
	itemWidest = 300
	quoteLeast = 8 // letters of a fact's anchor
)

// spans takes exact spans over as they stand in their messages.
func (v *validator) spans(p *piece, d *draft, src *source) []compartments.ExactSpan {
	var out []compartments.ExactSpan
	for _, it := range d.spans {
		text := strings.Trim(strings.TrimSpace(it.text), `"“”`)
		if historian.Width(text) < quoteLeast {
			continue
		}
		place, ok := v.member(it.at, src)
		exact := ""
		if ok {
			exact = exactly(&v.x.Range().Messages[place], text)
		}
		switch {
		case exact == "":
			v.fault(FaultSpan, p, compartments.TierNone, "the span %q does not stand in message %s word for word", clipped(text), it.at)
		case len(out) == spansMost, len(exact) > 3*spanWidest, historian.Safe(exact) != exact, tagged(exact), untagged(exact) != exact:
			// nothing false about it, but it may not stand at every tier
		default:
			out = append(out, compartments.ExactSpan{Ordinal: v.x.Range().Messages[place].Ordinal, Text: exact})
		}
	}
	return out
}

// member is the place of a message of the run.
func (v *validator) member(at string, src *source) (place int, ok bool) {
	o, ok := ordinal(at)
	if !ok {
		return 0, false
	}
	place, ok = src.members[o]
	return place, ok
}

// exactly is the part of a message that a text repeats word for word, white space
// apart, as it stands there on one line; "" if there is none.
func exactly(m *compartments.Message, text string) string {
	words := strings.Fields(text)
	for i := range words {
		words[i] = regexp.QuoteMeta(words[i])
	}
	form, err := regexp.Compile(strings.Join(words, `\s+`))
	if err != nil || len(words) == 0 {
		return ""
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Synthetic || p.Ignored || p.OwnTool() || p.Kind == compartments.PartReasoning {
			continue
		}
		for _, field := range [...]string{p.Text, p.Output, strings.Join(stringsIn(p.Input), "\n")} {
			if s := form.FindString(field); s != "" {
				return strings.Join(strings.Fields(s), " ")
			}
		}
	}
	return ""
}

var factKinds = [...]string{"decision", "rejected", "constraint", "config", "command", "file"}

// facts takes over the facts that a message proves.
func (v *validator) facts(p *piece, d *draft, src *source) []compartments.Fact {
	var out []compartments.Fact
	for _, it := range d.facts {
		kind := strings.ToLower(it.kind)
		text := strings.Join(v.linesOf(p, it.text), " ")
		place, ok := v.member(it.at, src)
		anchor := ""
		if ok && historian.Width(it.quote) >= quoteLeast {
			anchor = exactly(&v.x.Range().Messages[place], strings.Trim(it.quote, `"“”`))
		}
		why := ""
		switch {
		case !ok:
			why = "names no message of this compartment"
		case !slices.Contains(factKinds[:], kind):
			why = "is of no known kind"
		case anchor == "":
			why = "has no quote that stands in its message"
		case historian.Width(text) < quoteLeast || len(text) > 3*itemWidest:
			why = "says nothing, or too much"
		case asks(text) || asks(sentenceOf(&v.x.Range().Messages[place], anchor)):
			why = "comes from a question or a supposition"
		case !v.clean(text, src):
			why = "says what the messages do not"
		case historian.Safe(anchor) != anchor:
			why = "holds a secret, or what could be taken for a tag"
		case len(out) == itemsMost:
			why = "is one too many"
		}
		if why != "" {
			v.dropped = append(v.dropped, Fault{Code: DroppedFact, Text: "a fact at " + it.at + " " + why})
			continue
		}
		out = append(out, compartments.Fact{Ordinal: v.x.Range().Messages[place].Ordinal, Kind: kind, Text: text, Anchor: anchor})
	}
	return out
}

var eventKinds = [...]string{"failure", "passed", "undo", "question"}

// events takes over the events that name a message of the run and nothing that the
// run does not.
func (v *validator) events(p *piece, d *draft, src *source) []compartments.Event {
	var out []compartments.Event
	for _, it := range d.events {
		kind := strings.ToLower(it.kind)
		text := strings.Join(v.linesOf(p, it.text), " ")
		place, ok := v.member(it.at, src)
		if !ok || !slices.Contains(eventKinds[:], kind) || historian.Width(text) < 4 || len(text) > 3*itemWidest || !v.clean(text, src) || len(out) == itemsMost ||
			kind == "passed" && src.proofs == claimNone {
			v.dropped = append(v.dropped, Fault{Code: DroppedEvent, Text: "an event at " + it.at})
			continue
		}
		out = append(out, compartments.Event{Ordinal: v.x.Range().Messages[place].Ordinal, Kind: kind, Text: text})
	}
	return out
}

// clean reports whether a text keeps the rules of a line of a tier.
func (v *validator) clean(text string, src *source) bool {
	before := v.faults
	v.faults = nil
	v.line(nil, compartments.TierNone, text, "", src)
	ok := len(v.faults) == 0
	v.faults = before
	return ok
}

var supposes = pattern(`(?i)\b(?:what if|if we|if you|suppose|supposing|imagine|let's say|hypothetically|could we|should we|shall we|would it|can we|do you want|would you|might|maybe|perhaps|vielleicht|wenn wir|peut-être|si on|quizás|tal vez|talvez|возможно|может быть)\b|如果|假如|是否|也许|もし|かもしれ|만약|아마`)

// asks reports whether a text is a question or a supposition.
func asks(text string) bool {
	t := strings.TrimRight(strings.TrimSpace(text), "\"'”)*_` ")
	return strings.HasSuffix(t, "?") || strings.HasSuffix(t, "？") || supposes().MatchString(text)
}

// sentenceOf is the sentence of a message's prose in which an anchor stands; of
// results and arguments nothing, for they assert what they say.
func sentenceOf(m *compartments.Message, anchor string) string {
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Kind != compartments.PartText {
			continue
		}
		text := strings.Join(strings.Fields(p.Text), " ")
		at := strings.Index(text, anchor)
		if at < 0 {
			continue
		}
		from, to := 0, len(text)
		for _, mark := range sentenceEnds {
			if n := strings.LastIndex(text[:at], mark); n >= 0 {
				from = max(from, n+len(mark))
			}
			if n := strings.Index(text[at+len(anchor):], mark); n >= 0 {
				to = min(to, at+len(anchor)+n+len(mark))
			}
		}
		return text[from:to]
	}
	return ""
}

var sentenceEnds = [...]string{". ", "! ", "? ", "。", "！", "？", "; "}

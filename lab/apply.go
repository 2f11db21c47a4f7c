package lab

import (
	"encoding/json"
	"fmt"
	"slices"
)

// plan is the mutations in force as docs/protocol.md describes them.
type plan struct {
	ID      string   `json:"id"`
	Head    []pair   `json:"head"`
	Through string   `json:"through"`
	Keep    []string `json:"keep"`
	Edits   []edit   `json:"edits"`

	raw []byte // as it came
}

type pair struct {
	Text      string `json:"text"`
	CacheMark bool   `json:"cacheMark"`
}

type edit struct {
	MessageID string `json:"messageID"`
	Part      int    `json:"part"`
	Field     string `json:"field"`
	Value     string `json:"value"`
}

// editKey is what an edit changes.
type editKey struct {
	message string
	part    int
	field   string
}

func (e edit) key() editKey { return editKey{e.MessageID, e.Part, e.Field} }

// answer is the short constant text of a head pair's assistant message.
const answer = "Noted."

func parsePlan(raw []byte) (*plan, error) {
	p := &plan{raw: slices.Clone(raw)}
	if err := json.Unmarshal(raw, p); err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	if p.ID == "" {
		return nil, fmt.Errorf("plan has no id")
	}
	for i, e := range p.Edits {
		switch e.Field {
		case "output", "input", "text", "drop":
		default:
			return nil, fmt.Errorf("plan %s: edit %d changes the field %q", p.ID, i, e.Field)
		}
	}
	return p, nil
}

// apply makes the request out of a view: messages up to and with through are
// dropped except those in keep, the head stands before what stays, edits
// replace fields of parts that stay. A nil plan changes nothing.
func (r *renderer) apply(rec *recording, list []int, p *plan) *request {
	out := &request{marked: -1, edited: map[editKey]bool{}}
	from, keep := 0, map[string]bool{}
	var edits map[string][]edit
	if p != nil {
		if p.Through != "" {
			at := slices.IndexFunc(list, func(i int) bool { return rec.messages[i].id == p.Through })
			if at < 0 {
				out.void = true
				p = &plan{}
			}
			from = at + 1
		}
		for _, id := range p.Keep {
			keep[id] = true
		}
		for i, h := range p.Head {
			if h.CacheMark {
				out.marked = 2*i + 1
			}
			out.messages = append(out.messages,
				sent{index: -1, role: "user", text: h.Text, blocks: []block{r.block("user", "text", h.Text)}},
				sent{index: -1, role: "assistant", text: answer, blocks: []block{r.block("assistant", "text", answer)}})
		}
		out.head = len(out.messages)
		edits = map[string][]edit{}
		for _, e := range p.Edits {
			edits[e.MessageID] = append(edits[e.MessageID], e)
		}
	}
	for place, i := range list {
		m := &rec.messages[i]
		if place < from && !keep[m.id] {
			continue
		}
		blocks := r.unedited(m)
		if es := edits[m.id]; len(es) > 0 {
			blocks = r.render(m, editParts(m, es, out.edited))
		}
		if len(blocks) > 0 {
			out.messages = append(out.messages, sent{index: i, role: m.role, blocks: blocks})
		}
	}
	return out
}

// editParts gives a message's parts with edits applied, and notes in done which
// of them found their part.
func editParts(m *message, edits []edit, done map[editKey]bool) []part {
	parts := slices.Clone(m.parts)
	dropped := map[int]bool{}
	for _, e := range edits {
		if e.Part < 0 || e.Part >= len(parts) {
			continue
		}
		done[e.key()] = true
		p := &parts[e.Part]
		switch e.Field {
		case "text":
			p.text = e.Value
		case "output":
			p.state.output = e.Value
			p.media = nil
		case "input":
			p.state.input = e.Value
		case "drop":
			dropped[e.Part] = true
		}
	}
	left := parts[:0]
	for i := range parts {
		if !dropped[i] {
			left = append(left, parts[i])
		}
	}
	return left
}

package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
)

// rawPage is how many bytes of messages the replay asks for at a time.
const rawPage = 256 << 10

type expanded struct {
	Messages []struct {
		Ordinal   int    `json:"ordinal"`
		ID        string `json:"id"`
		Withdrawn bool   `json:"withdrawn"`
		Raw       string `json:"raw"`
	} `json:"messages"`
	Text  string `json:"text"`
	Next  *next  `json:"next"`
	Total int    `json:"total"`
}

// next is where the following page starts. It is read as a number too.
type next struct {
	Offset int `json:"offset"`
}

func (n *next) UnmarshalJSON(raw []byte) error {
	if json.Unmarshal(raw, &n.Offset) == nil {
		return nil
	}
	type plain next
	return json.Unmarshal(raw, (*plain)(n))
}

func (p *play) expand(ctx context.Context, rest string) (*expanded, error) {
	reply, err := p.client.call(ctx, "session/expand", fmt.Appendf(nil, `{"sessionID":%s,%s}`, quote(p.rec.id), rest))
	if err != nil {
		return nil, err
	}
	var e expanded
	if err := json.Unmarshal(reply, &e); err != nil {
		return nil, fmt.Errorf("session/expand: %w", err)
	}
	return &e, nil
}

// checkRaw takes every message back out of the store and compares it with what
// was sent, byte for byte. order lists the messages by the time they were first
// shown: the order of their ordinals.
func checkRaw(ctx context.Context, v *verdicts, p *play, order []int) error {
	got := 0
	for offset := 0; ; {
		page, err := p.expand(ctx, fmt.Sprintf(`"first":1,"last":%d,"offset":%d,"limit":%d`, len(order), offset, rawPage))
		if err != nil {
			return err
		}
		for _, m := range page.Messages {
			if got >= len(order) {
				v.check(promiseRaw, false, "there are more messages than were sent: %q", m.ID)
				return nil
			}
			want := &p.rec.messages[order[got]]
			got++
			v.check(promiseRaw, m.Ordinal == got && m.ID == want.id, "ordinal %d is %q, expected %d, %q", m.Ordinal, m.ID, got, want.id)
			v.check(promiseRaw, m.Raw == string(p.raw(order[got-1])), "message %d (%s) is not what was sent: %s", got, m.ID,
				difference(m.Raw, string(p.raw(order[got-1]))))
		}
		if page.Next == nil || page.Next.Offset <= offset || len(page.Messages) == 0 {
			break
		}
		offset = page.Next.Offset
	}
	v.check(promiseRaw, got == len(order), "%d of %d messages came back", got, len(order))
	return checkParts(ctx, v, p, order)
}

// checkParts pages through the raw JSON of a sample of parts.
func checkParts(ctx context.Context, v *verdicts, p *play, order []int) error {
	for _, at := range spread(len(order), 12) {
		m := &p.rec.messages[order[at]]
		if len(m.parts) == 0 {
			continue
		}
		part := largest(m)
		want := m.parts[part].raw
		limit := max(64, len(want)/3)
		var joined bytes.Buffer
		for {
			page, err := p.expand(ctx, fmt.Sprintf(`"message":%s,"part":%d,"offset":%d,"limit":%d`, m.quoted, part, joined.Len(), limit))
			if err != nil {
				return err
			}
			joined.WriteString(page.Text)
			if page.Next == nil || page.Next.Offset == 0 {
				break
			}
			if page.Next.Offset != joined.Len() {
				v.check(promiseRaw, false, "part %d of %s: a page ends at byte %d, the next starts at %d", part, m.id, joined.Len(), page.Next.Offset)
				return nil
			}
		}
		v.check(promiseRaw, joined.String() == string(want), "the pages of part %d of %s do not join to it: %s", part, m.id,
			difference(joined.String(), string(want)))
	}
	return nil
}

func largest(m *message) int {
	at := 0
	for i := range m.parts {
		if len(m.parts[i].raw) > len(m.parts[at].raw) {
			at = i
		}
	}
	return at
}

// spread picks at most count of n places, evenly spread.
func spread(n, count int) []int {
	count = min(n, count)
	places := make([]int, count)
	for i := range places {
		places[i] = i * n / count
	}
	return places
}

// difference says where two texts part.
func difference(got, want string) string {
	n := 0
	for n < len(got) && n < len(want) && got[n] == want[n] {
		n++
	}
	return fmt.Sprintf("byte %d of %d (got %d bytes)", n, len(want), len(got))
}

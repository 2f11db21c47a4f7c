package expand

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"ctxplugin/compartments"
)

func TestStored_Whole(t *testing.T) {
	w := investigation(t)
	w.withdraw(3)
	ordinals := func(r Reply) (out []compartments.Ordinal) {
		for _, m := range r.Messages {
			out = append(out, m.Ordinal)
			if string(m.Raw) != string(w.store.raw[m.Ordinal-1]) || m.ID != w.view.Entries[m.Ordinal-1].ID || m.Withdrawn != (m.Ordinal == 3) {
				t.Errorf("message %d: %+v", m.Ordinal, m)
			}
		}
		return out
	}
	for _, c := range []struct {
		name    string
		request Request
		want    int // messages
		first   compartments.Ordinal
		next    int
		total   int
		code    compartments.Code
	}{
		{"range", Request{First: 2, Last: 5, Part: -1}, 4, 2, 0, 4, ""},
		{"reversed", Request{First: 5, Last: 2, Part: -1}, 4, 2, 0, 4, ""},
		{"in view too", Request{First: 9, Last: 12, Part: -1}, 4, 9, 0, 4, ""},
		{"limit", Request{First: 1, Last: 4, Part: -1, Limit: len(w.store.raw[0]) + len(w.store.raw[1])}, 2, 1, 2, 4, ""},
		{"next", Request{First: 1, Last: 4, Part: -1, Offset: 2, Limit: 1}, 1, 3, 3, 4, ""},
		{"least", Request{First: 1, Last: 4, Part: -1, Limit: 1}, 1, 1, 1, 4, ""},
		{"compartment", Request{Compartment: 2, Part: -1}, 5, 5, 0, 5, ""},
		{"message", Request{Message: "msg_4", Part: -1}, 1, 4, 0, 1, ""},
		{"message by ordinal", Request{Message: "4", Part: -1}, 1, 4, 0, 1, ""},
		{"nothing", Request{Part: -1}, 0, 0, 0, 0, compartments.CodeBadInput},
		{"two ways", Request{First: 1, Last: 2, Message: "msg_1", Part: -1}, 0, 0, 0, 0, compartments.CodeBadInput},
		{"negative offset", Request{First: 1, Last: 2, Part: -1, Offset: -1}, 0, 0, 0, 0, compartments.CodeBadInput},
		{"range of a part", Request{First: 1, Last: 2, Part: 0}, 0, 0, 0, 0, compartments.CodeBadInput},
		{"beyond", Request{First: 1, Last: 13, Part: -1}, 0, 0, 0, 0, compartments.CodeBadRange},
		{"last missing", Request{First: 1, Part: -1}, 0, 0, 0, 0, compartments.CodeBadRange},
		{"offset beyond", Request{First: 1, Last: 2, Part: -1, Offset: 2}, 0, 0, 0, 0, compartments.CodeBadRange},
		{"no compartment", Request{Compartment: 9, Part: -1}, 0, 0, 0, 0, compartments.CodeNotFound},
		{"no message", Request{Message: "msg_99", Part: -1}, 0, 0, 0, 0, compartments.CodeNotFound},
		{"no part", Request{Message: "msg_1", Part: 1}, 0, 0, 0, 0, compartments.CodeNotFound},
		{"part offset beyond", Request{Message: "msg_1", Part: 0, Offset: 1 << 20}, 0, 0, 0, 0, compartments.CodeBadRange},
	} {
		got, err := New(w.store, countBytes).Stored(t.Context(), w.view, c.request)
		if c.code != "" {
			if err == nil || compartments.CodeOf(err) != c.code {
				t.Errorf("%s: %v, want code %s", c.name, err, c.code)
			}
			continue
		}
		list := ordinals(got)
		if err != nil || len(list) != c.want || list[0] != c.first || got.Next != c.next || got.Total != c.total {
			t.Errorf("%s: %v of %d, next %d, %v", c.name, list, got.Total, got.Next, err)
		}
	}
}

func TestStored_PartPagesJoinToTheStoredJSON(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		addDrawn(rt, w)
		var m struct{ Parts []json.RawMessage }
		if err := json.Unmarshal(w.store.raw[0], &m); err != nil {
			rt.Fatal(err)
		}
		least := rapid.IntRange(1, 2_000).Draw(rt, "limit")
		for i, raw := range m.Parts {
			limit := max(least, len(raw)/50) // each page reads the message anew
			all := borders(string(raw))
			var b strings.Builder
			for offset := 0; ; {
				r, err := New(w.store, countBytes).Stored(t.Context(), w.view, Request{Message: "1", Part: i, Offset: offset, Limit: limit})
				if err != nil || r.Offset != offset || r.Total != len(raw) || !utf8.ValidString(r.Text) {
					rt.Fatalf("part %d at %d: %v, %+v", i, offset, err, r)
				}
				b.WriteString(r.Text)
				if r.Next == 0 {
					break
				}
				if r.Next != offset+len(r.Text) || len(r.Text) > max(limit, leastBody+utf8.UTFMax) {
					rt.Fatalf("part %d: next %d after %d-%d, limit %d", i, r.Next, offset, offset+len(r.Text), limit)
				}
				offset = r.Next
				if before := offset; !all[offset] {
					for !all[before] {
						before--
					}
					if offset-before <= snapBack {
						rt.Fatalf("part %d: a page ends at %d, inside a grapheme", i, offset)
					}
				}
			}
			if b.String() != string(raw) {
				rt.Fatalf("part %d: got %q, want %q", i, b.String(), raw)
			}
		}
	})
}

package quality

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ctxplugin/compartments"
	"ctxplugin/lab/fixtures"
)

// ReadRecorded reads a recorded session, as `opencode export` writes it.
func ReadRecorded(name string, data []byte) (Recorded, error) {
	messages, err := fixtures.ReadExport(data)
	if err != nil {
		return Recorded{}, fmt.Errorf("%s: %w", name, err)
	}
	return Recorded{Name: name, Messages: messages}, nil
}

// recorded asks a recorded session for the names that come again in it: those that
// people, agent or arguments speak of before a moment, and again behind it. What
// tools put out is not counted, for nobody chose to name it.
func (r *runner) recorded(ctx context.Context, number int, in *Recorded) error {
	s := fixtures.Session{Messages: in.Messages}
	h, err := write(ctx, &s, r.count)
	if err != nil {
		return fmt.Errorf("%s: %w", in.Name, err)
	}
	if len(h.cs) < 4 {
		return nil // nothing old enough to fade
	}
	sum := 0
	for _, n := range h.weights {
		sum += n
	}
	r.records = append(r.records, Record{Session: &SessionRecord{Seed: uint64(number), Source: in.Name, Messages: len(s.Messages), Tokens: sum}})
	spoken := make([][]string, len(s.Messages))
	for i := range s.Messages {
		spoken[i] = spokenNames(&s.Messages[i])
	}
	for _, at := range h.moments() {
		last := int(h.cs[at-1].Last)
		later := map[string]bool{}
		for _, names := range spoken[last:] {
			for _, n := range names {
				later[n] = true
			}
		}
		asked := map[string]bool{}
		for _, names := range spoken[:last] {
			for _, n := range names {
				if later[n] {
					asked[n] = true
				}
			}
		}
		names := make([]string, 0, len(asked))
		for n := range asked {
			names = append(names, n)
		}
		slices.Sort(names)
		ask := func(rec ShownRecord, sh shown) {
			rec.Seed, rec.Source, rec.Tokens, rec.Tiers, rec.Asked = uint64(number), in.Name, sh.tokens, named(sh.tiers), len(names)
			there := map[string]bool{}
			eachName(sh.text, func(w string) { there[base(w)] = true })
			for _, n := range names {
				if there[n] {
					rec.Found++
				}
			}
			r.records = append(r.records, Record{Shown: &rec})
		}
		for _, share := range r.o.Shares {
			rec := ShownRecord{Condition: Condition{Name: canonical}, Share: share, Budget: h.budget(at, share), Upto: at}
			r.forms(h, rec, h.cs, ask)
			rec.Condition, rec.Form, rec.Level = Condition{Name: "raw"}, FormRaw, ""
			ask(rec, h.truncated(h.cs[at-1].Last, rec.Budget))
		}
	}
	return nil
}

// base is the last element of a path.
func base(w string) string { return w[strings.LastIndexByte(w, '/')+1:] }

// spokenNames are the names in the words of a message and in the arguments of its
// calls, each once, paths by their last element.
func spokenNames(m *compartments.Message) []string {
	var out []string
	seen := map[string]bool{}
	add := func(text string) {
		eachName(text, func(w string) {
			if w = base(w); len(w) > 3 && !seen[w] {
				seen[w] = true
				out = append(out, w)
			}
		})
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		switch {
		case p.Kind == compartments.PartText && !p.Synthetic && !p.Ignored:
			add(p.Text)
		case p.Kind == compartments.PartTool && !p.OwnTool():
			var value any
			if json.Unmarshal([]byte(p.Input), &value) == nil {
				eachString(value, add)
			}
		}
	}
	return out
}

// eachString visits the strings of a JSON value, without the names of members, in a
// fixed order.
func eachString(value any, visit func(string)) {
	switch v := value.(type) {
	case string:
		visit(v)
	case []any:
		for _, e := range v {
			eachString(e, visit)
		}
	case map[string]any:
		names := make([]string, 0, len(v))
		for n := range v {
			names = append(names, n)
		}
		slices.Sort(names)
		for _, n := range names {
			eachString(v[n], visit)
		}
	}
}

package sqlite_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"ctxplugin/compartments"
	"ctxplugin/sqlite"
)

// model is what a store must say of one session.
type model struct {
	stored  *compartments.Stored
	entries map[compartments.Ordinal]compartments.Entry
	raw     map[compartments.Ordinal][]byte
	served  map[compartments.CompartmentID]compartments.Compartment
	pins    map[compartments.PinID]compartments.Pin
	folds   []compartments.Fold
}

func newModel(id compartments.SessionID) *model {
	return &model{stored: &compartments.Stored{Session: id}, entries: map[compartments.Ordinal]compartments.Entry{},
		raw: map[compartments.Ordinal][]byte{}, served: map[compartments.CompartmentID]compartments.Compartment{},
		pins: map[compartments.PinID]compartments.Pin{}}
}

func (m *model) apply(b *compartments.Batch) {
	st := m.stored
	st.Version++
	if b.Parent != "" {
		st.Parent = b.Parent
	}
	for _, e := range b.Entries {
		m.entries[e.Entry.Ordinal] = e.Entry
		if e.Raw != nil {
			m.raw[e.Entry.Ordinal] = e.Raw
		}
	}
	if b.ListFrom >= 0 {
		st.List = append(slices.Clone(st.List[:b.ListFrom]), b.List...)
	}
	for _, c := range b.Compartments {
		m.served[c.ID] = c
	}
	for _, id := range b.Retired {
		delete(m.served, id)
	}
	for _, p := range b.Pins {
		m.pins[p.ID] = p
	}
	if b.Plan != nil {
		st.PlanID, st.Plan = b.PlanID, b.Plan
	}
	if b.State != nil {
		st.State = b.State
	}
	if b.Fold != nil {
		st.Folds = b.Fold.Number
		m.folds = append(m.folds, *b.Fold)
		for i := range m.folds {
			if m.folds[i].Number <= b.Fold.Number-20 {
				m.folds[i].Layout = slices.Clone(m.folds[i].Layout)
				for k := range m.folds[i].Layout {
					m.folds[i].Layout[k].Text = ""
				}
			}
		}
	}
	st.Entries = sorted(m.entries)
	st.Compartments = sorted(m.served)
	st.Pins = sorted(m.pins)
}

func sorted[K compartments.Ordinal | compartments.CompartmentID | compartments.PinID, V any](of map[K]V) []V {
	var list []V
	for _, key := range slices.Sorted(maps.Keys(of)) {
		list = append(list, of[key])
	}
	return list
}

// TestStore_AgreesWithModel runs random batches over two sessions, reopening
// now and then, and compares everything that can be read.
func TestStore_AgreesWithModel(t *testing.T) {
	folder, run := t.TempDir(), 0
	rapid.Check(t, func(rt *rapid.T) {
		run++
		path := filepath.Join(folder, fmt.Sprintf("%d.db", run))
		if err := emptyAt(path); err != nil {
			rt.Fatal(err)
		}
		ctx := context.Background()
		s, err := sqlite.Open(ctx, path, sqlite.Options{RollbackJournal: rapid.IntRange(0, 9).Draw(rt, "journal") == 0})
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		models := map[compartments.SessionID]*model{"one": newModel("one"), "two\x00é": newModel("two\x00é")}
		ids := []compartments.SessionID{"one", "two\x00é"}
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			id := rapid.SampledFrom(ids).Draw(rt, "session")
			m := models[id]
			switch rapid.IntRange(0, 9).Draw(rt, "what") {
			case 0:
				if err := s.Close(); err != nil {
					rt.Fatal(err)
				}
				if s, err = sqlite.Open(ctx, path, sqlite.Options{}); err != nil {
					rt.Fatal(err)
				}
			case 1:
				if _, err := s.Index(ctx, rapid.IntRange(0, 9).Draw(rt, "limit")); err != nil {
					rt.Fatal(err)
				}
			case 2:
				if err := s.Forget(ctx, id); err != nil {
					rt.Fatal(err)
				}
				models[id] = newModel(id)
			default:
				b := drawBatch(rt, m)
				for range rapid.IntRange(1, 2).Draw(rt, "times") { // storing it twice is the same as once
					if v, err := s.Commit(ctx, b); err != nil || v != b.Version+1 {
						rt.Fatalf("commit: version %d, %v", v, err)
					}
				}
				m.apply(b)
			}
			for _, id := range ids {
				compare(rt, s, models[id])
			}
		}
	})
}

func compare(rt *rapid.T, s *sqlite.Store, m *model) {
	ctx := context.Background()
	id := m.stored.Session
	got, err := s.Load(ctx, id)
	if err != nil {
		rt.Fatal(err)
	}
	if m.stored.Version == 0 {
		if got != nil {
			rt.Fatalf("session %q was never stored: %+v", id, got)
		}
		return
	}
	if diff := cmp.Diff(m.stored, got, cmpopts.EquateEmpty()); diff != "" {
		rt.Fatalf("session %q:\n%s", id, diff)
	}
	wanted := slices.Sorted(maps.Keys(m.raw))
	slices.Reverse(wanted)
	list, err := s.Raw(ctx, id, wanted)
	if err != nil {
		rt.Fatal(err)
	}
	for i, o := range wanted {
		if !bytes.Equal(list[i], m.raw[o]) {
			rt.Fatalf("message %d: got %q, want %q", o, list[i], m.raw[o])
		}
	}
	folds, err := s.Folds(ctx, id)
	if err != nil {
		rt.Fatal(err)
	}
	if diff := cmp.Diff(m.folds, folds, cmpopts.EquateEmpty()); diff != "" {
		rt.Fatalf("folds of %q:\n%s", id, diff)
	}
	ledger, err := s.Ledger(ctx, id)
	if err != nil {
		rt.Fatal(err)
	}
	var sums []compartments.FoldSummary
	for i := range m.folds {
		sums = append(sums, m.folds[i].Summary())
	}
	if diff := cmp.Diff(sums, ledger, cmpopts.EquateEmpty()); diff != "" {
		rt.Fatalf("ledger of %q:\n%s", id, diff)
	}
}

func drawBatch(rt *rapid.T, m *model) *compartments.Batch {
	st := m.stored
	b := &compartments.Batch{Session: st.Session, Version: st.Version, ListFrom: -1}
	if rapid.Bool().Draw(rt, "parent") {
		b.Parent = "parent"
	}
	top := compartments.Ordinal(len(m.entries))
	for range rapid.IntRange(0, 3).Draw(rt, "new") {
		top++
		b.Entries = append(b.Entries, compartments.EntryWrite{Entry: drawEntry(rt, top), Raw: drawJSON(rt)})
	}
	if len(m.entries) > 0 && rapid.Bool().Draw(rt, "edit") {
		o := compartments.Ordinal(rapid.IntRange(1, len(m.entries)).Draw(rt, "edited"))
		e := compartments.EntryWrite{Entry: drawEntry(rt, o)}
		switch rapid.IntRange(0, 2).Draw(rt, "raw") {
		case 0:
			e.Raw = drawJSON(rt)
		case 1:
			e.Raw = m.raw[o]
		}
		b.Entries = append(b.Entries, e)
	}
	if top > 0 && rapid.Bool().Draw(rt, "list") {
		b.ListFrom = rapid.IntRange(0, len(st.List)).Draw(rt, "from")
		for range rapid.IntRange(0, 4).Draw(rt, "runs") {
			first := rapid.IntRange(1, int(top)).Draw(rt, "first")
			for o := first; o <= min(int(top), first+rapid.IntRange(0, 5).Draw(rt, "length")); o++ {
				b.List = append(b.List, compartments.Ordinal(o))
			}
		}
	}
	for range rapid.IntRange(0, 2).Draw(rt, "compartments") {
		b.Compartments = append(b.Compartments, drawCompartment(rt))
	}
	if rapid.IntRange(0, 4).Draw(rt, "retire") == 0 {
		b.Retired = append(b.Retired, compartments.CompartmentID(rapid.IntRange(1, 5).Draw(rt, "retired")))
	}
	for range rapid.IntRange(0, 2).Draw(rt, "pins") {
		b.Pins = append(b.Pins, drawPin(rt))
	}
	if rapid.Bool().Draw(rt, "state") {
		b.State = drawBytes(rt)
	}
	if rapid.Bool().Draw(rt, "plan") {
		b.PlanID, b.Plan = rapid.StringMatching(`[a-f]{1,2}`).Draw(rt, "plan id"), append([]byte("{"), drawJSON(rt)...)
	}
	if rapid.Bool().Draw(rt, "fold") {
		b.Fold = drawFold(rt, st.Folds+1)
	}
	return b
}

func drawEntry(rt *rapid.T, o compartments.Ordinal) compartments.Entry {
	n := func() int { return rapid.IntRange(-1, 1<<40).Draw(rt, "n") }
	e := compartments.Entry{Ordinal: o, ID: compartments.MessageID(rapid.StringN(0, 12, 40).Draw(rt, "id")),
		Role: compartments.Role(rapid.SampledFrom([]string{"user", "assistant", "tool", "", "system"}).Draw(rt, "role")),
		Time: rapid.Int64().Draw(rt, "time"), Real: rapid.Bool().Draw(rt, "real"), Compact: rapid.Bool().Draw(rt, "compact"),
		Summary: rapid.Bool().Draw(rt, "summary"), Failed: rapid.Bool().Draw(rt, "failed"), Finished: rapid.Bool().Draw(rt, "finished"), Unnamed: rapid.Bool().Draw(rt, "unnamed"),
		Usage: compartments.Usage{Input: n(), Output: n(), Reasoning: n(), CacheRead: n(), CacheWrite: n()}}
	copy(e.Hash[:], drawBytes(rt))
	for range rapid.IntRange(0, 4).Draw(rt, "parts") {
		e.Sizes = append(e.Sizes, compartments.Size{Kind: compartments.PartKind(rapid.Byte().Draw(rt, "kind")),
			Status: compartments.ToolStatus(rapid.Byte().Draw(rt, "status")), Units: rapid.Uint32().Draw(rt, "units"),
			Tokens: n(), Input: rapid.SampledFrom([]int{0, 7}).Draw(rt, "input"), Own: rapid.Bool().Draw(rt, "own"), Silent: rapid.Bool().Draw(rt, "silent"),
			Media: rapid.SampledFrom([]int{0, 3}).Draw(rt, "media")})
		if rapid.Bool().Draw(rt, "preview") {
			e.Sizes[len(e.Sizes)-1].Preview = &compartments.Preview{Result: rapid.Bool().Draw(rt, "result"), Tool: drawText(rt), State: drawText(rt), Media: n(), Runes: n(), Begin: drawText(rt)}
		}
	}
	return e
}

func drawBytes(rt *rapid.T) []byte {
	b := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(rt, "bytes")
	if b == nil {
		b = []byte{}
	}
	return b
}

func drawText(rt *rapid.T) string { return rapid.StringN(0, 20, 60).Draw(rt, "text") }

func drawSurvival(rt *rapid.T) (s compartments.Survival) {
	for d := range s {
		s[d] = rapid.Uint16().Draw(rt, "survival")
	}
	return s
}

func drawCompartment(rt *rapid.T) compartments.Compartment {
	first := compartments.Ordinal(rapid.IntRange(1, 1<<20).Draw(rt, "first"))
	c := compartments.Compartment{ID: compartments.CompartmentID(rapid.IntRange(1, 5).Draw(rt, "id")), First: first,
		Last: compartments.Ordinal(rapid.IntRange(1, 1<<20).Draw(rt, "last")), Title: drawText(rt),
		Importance: rapid.IntRange(-1, 200).Draw(rt, "importance"), Retention: compartments.Retention(rapid.IntRange(0, 2).Draw(rt, "retention")),
		Floor:     compartments.Floor{Tier: compartments.Tier(rapid.IntRange(0, 7).Draw(rt, "floor")), Survival: drawSurvival(rt)},
		RawTokens: rapid.IntRange(0, 1<<30).Draw(rt, "raw tokens"), Strategy: compartments.Strategy(drawText(rt)),
		Generator: drawText(rt), Prompt: drawText(rt), Provisional: rapid.Bool().Draw(rt, "provisional")}
	copy(c.SourceHash[:], drawBytes(rt))
	for range rapid.IntRange(0, 5).Draw(rt, "members") {
		c.Members = append(c.Members, compartments.Ordinal(rapid.IntRange(1, 1<<20).Draw(rt, "member")))
	}
	for range rapid.IntRange(0, 3).Draw(rt, "lists") {
		c.Types = append(c.Types, drawText(rt))
		c.Names = append(c.Names, drawText(rt))
		c.Spans = append(c.Spans, compartments.ExactSpan{Ordinal: first, Text: drawText(rt), Tokens: 3})
		c.Facts = append(c.Facts, compartments.Fact{Ordinal: first, Kind: drawText(rt), Text: drawText(rt), Anchor: drawText(rt)})
		c.Events = append(c.Events, compartments.Event{Ordinal: first, Kind: drawText(rt), Text: drawText(rt)})
	}
	for _, tier := range compartments.Rendered {
		if rapid.Bool().Draw(rt, "tier") {
			if c.Tiers == nil {
				c.Tiers = map[compartments.Tier]compartments.Rendition{}
			}
			c.Tiers[tier] = compartments.Rendition{Text: drawText(rt), Tokens: rapid.IntRange(0, 9999).Draw(rt, "tokens"), Survival: drawSurvival(rt)}
		}
	}
	return c
}

func drawPin(rt *rapid.T) compartments.Pin {
	p := compartments.Pin{ID: compartments.PinID(rapid.IntRange(1, 4).Draw(rt, "pin")), By: compartments.ByModel, At: rapid.Int64().Draw(rt, "at"),
		Ended: rapid.Bool().Draw(rt, "ended"), Lost: rapid.Bool().Draw(rt, "lost")}
	if rapid.Bool().Draw(rt, "class") {
		p.First, p.Last, p.Class = 3, 9, compartments.Retention(rapid.IntRange(0, 2).Draw(rt, "class"))
		return p
	}
	p.Ordinal, p.Part, p.Quote = 7, rapid.IntRange(-1, 3).Draw(rt, "part"), strings.ToValidUTF8(drawText(rt), "?")
	p.Spans = []compartments.PinSpan{{Part: 2, Field: compartments.FieldOutput, From: 4, To: 9, Text: p.Quote}}
	return p
}

func drawFold(rt *rapid.T, number int) *compartments.Fold {
	f := &compartments.Fold{Number: number, At: rapid.Int64().Draw(rt, "at"), Reason: compartments.ReasonCold,
		Divergence: rapid.IntRange(0, 3).Draw(rt, "divergence"), FirstMoved: 3, Through: 9, PlanID: rapid.StringMatching(`[a-f]{1,2}`).Draw(rt, "fold plan"),
		Inputs: compartments.FoldInputs{Window: 200_000, IdleMs: rapid.Int64().Draw(rt, "idle"), Prices: compartments.Prices{Kind: "marks", Input: 3}}}
	copy(f.InputsHash[:], drawBytes(rt))
	for i := range rapid.IntRange(0, 3).Draw(rt, "pairs") {
		f.Layout = append(f.Layout, compartments.PairLayout{Tokens: i, Text: drawText(rt),
			Items: []compartments.Item{{Compartments: []compartments.CompartmentID{6, 7}, Tier: compartments.TierIndex, Tokens: 9, Pins: []compartments.PinID{2}}}})
		f.Decisions = append(f.Decisions, compartments.Decision{Compartment: compartments.CompartmentID(i), From: compartments.TierRaw,
			To: compartments.TierFull, Highest: compartments.TierRaw, Lowest: compartments.TierAnchor, Reason: compartments.ReasonNew})
	}
	return f
}

// drawJSON writes a message as odd as JSON allows: blanks anywhere, keys twice,
// every kind of escape, lone surrogates, long strings, and now and then bytes
// that are no JSON at all.
func drawJSON(rt *rapid.T) []byte {
	if rapid.IntRange(0, 9).Draw(rt, "no JSON") == 0 {
		return drawBytes(rt)
	}
	blank := func() string {
		return rapid.SampledFrom([]string{"", "", " ", "\n\t", "\r\n  "}).Draw(rt, "blank")
	}
	str := func() string {
		piece := rapid.SampledFrom([]string{"a", "word ", `\n`, `\"`, `\\`, `\/`, `\u0000`, `\ud800`, `\udc00\ud800`, `\u00e9`, `\ud83d\ude00`, "é", "漢字", "\u2028", "😀", "\xff", `\u001b[0m`}).Draw(rt, "piece")
		other := rapid.SampledFrom([]string{"", "b", `\t`, `\\`}).Draw(rt, "other")
		n := rapid.SampledFrom([]int{0, 1, 3, 400, 700, 2000}).Draw(rt, "repeat")
		return `"` + string(bytes.Repeat([]byte(piece+other), n)) + `"`
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `%s{%s"id"%s:%s"m%d",%s"role":"assistant","role":"user",`, blank(), blank(), blank(), blank(), rapid.IntRange(0, 99).Draw(rt, "id"), blank())
	fmt.Fprintf(&b, `"parts"%s:%s[%s`, blank(), blank(), blank())
	for i := range rapid.IntRange(0, 3).Draw(rt, "parts") {
		if i > 0 {
			b.WriteString(blank() + "," + blank())
		}
		if rapid.Bool().Draw(rt, "text") {
			fmt.Fprintf(&b, `{"type":"text","text"%s:%s,"odd":[1.0,1e3,-0,%s{"deep":%s}]}`, blank(), str(), blank(), str())
			continue
		}
		fmt.Fprintf(&b, `{"type":"tool","tool":"%s","state":{"output":%s,"status":"completed",%s"input":{"first":%d,"x":%s},"metadata":{"output":%s}}}`,
			rapid.SampledFrom([]string{"bash", "ctx_expand"}).Draw(rt, "tool"), str(), blank(), rapid.IntRange(0, 3).Draw(rt, "source"), str(), str())
	}
	b.WriteString(blank() + "]" + blank() + "}" + blank())
	return b.Bytes()
}

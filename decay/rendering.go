package decay

import (
	"slices"
	"strings"

	"ctxplugin/compartments"
)

// Rendering remembers the entries of the pair that was rendered last: a fold changes
// few of them, and what the others are made of lies all over the memory. The zero value
// is empty. It may be used by one fold at a time.
type Rendering struct {
	entries map[*compartments.Compartment]entry // by the first compartment of each
}

// entry is an entry as it was rendered. A compartment never changes, so that one which
// is the same gives the same bytes.
type entry struct {
	tier compartments.Tier
	of   []*compartments.Compartment
	bare []compartments.CompartmentID
	text string
}

// is reports whether an entry is that of the same compartments.
func (e *entry) is(item *compartments.Item, of []*compartments.Compartment) bool {
	return e.tier == item.Tier && slices.Equal(e.of, of) && slices.Equal(e.bare, item.Bare)
}

// Pair is RenderPair, and writes an entry that the last pair had as it stood there. An
// entry with pins is not remembered.
func (r *Rendering) Pair(items []compartments.Item, first bool, lookup Lookup, pins PinLookup) string {
	if r == nil {
		text := render(items, first, lookup, func(b *strings.Builder, item *compartments.Item) { renderEntry(b, item, lookup, pins) })
		return strings.TrimRight(text, "\n")
	}
	n := 0
	for i := range items {
		n += len(items[i].Compartments)
	}
	all := make([]*compartments.Compartment, 0, n)
	type place struct{ members, from, to int } // of an entry: how many, and its bytes
	places := make([]place, 0, len(items))
	text := render(items, first, lookup, func(b *strings.Builder, item *compartments.Item) {
		members, from := len(all), b.Len()
		for _, id := range item.Compartments {
			if c := lookup(id); c != nil {
				all = append(all, c)
			}
		}
		of := all[members:]
		known, ok := entry{}, false
		if len(of) > 0 && len(of) == len(item.Compartments) && len(item.Pins) == 0 {
			known, ok = r.entries[of[0]]
		}
		if ok && known.is(item, of) {
			b.WriteString(known.text)
		} else {
			renderEntry(b, item, lookup, pins)
		}
		places = append(places, place{len(of), from, b.Len()})
	})
	r.entries = make(map[*compartments.Compartment]entry, len(items))
	for i, p := range places {
		of := all[:p.members:p.members]
		all = all[p.members:]
		if item := &items[i]; len(of) > 0 && len(of) == len(item.Compartments) && len(item.Pins) == 0 {
			r.entries[of[0]] = entry{item.Tier, of, item.Bare, text[p.from:p.to]}
		}
	}
	return strings.TrimRight(text, "\n")
}

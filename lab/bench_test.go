package lab

import (
	"testing"

	"ctxplugin/lab/provider"
)

// BenchmarkPass is the work of the replay itself at one step of a session of 520
// messages: apply, charge, compare with the request before.
func BenchmarkPass(b *testing.B) {
	rec, err := parseRecording("f.json", session(b, 40, 11))
	if err != nil {
		b.Fatal(err)
	}
	o := ReplayOptions{}
	set, err := o.settings()
	if err != nil {
		b.Fatal(err)
	}
	render, cache := newRenderer(counts), provider.NewCache(set.prices)
	list := view(rec, len(rec.messages)-1)
	p := &plan{ID: "p", Head: []pair{{Text: "history"}}, Through: rec.messages[100].id, Keep: []string{rec.messages[507].id}}
	before := render.apply(rec, list, p)
	for b.Loop() {
		req := render.apply(rec, list, p)
		if firstDifference(before, req) >= 0 {
			b.Fatal("the same plan gave other bytes")
		}
		cache.Bill(req.charge(8000, 0, 100))
	}
}

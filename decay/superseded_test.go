package decay

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ctxplugin/compartments"
)

func calls(list ...Call) []Call { return list }

func on(v compartments.Verb, target string) Call {
	return Call{Subject: compartments.Subject{Verb: v, Target: target}}
}

func ranged(from, to int, c Call) Call {
	c.Subject.From, c.Subject.To = from, to
	return c
}

func wrong(c Call) Call {
	c.Failed = true
	return c
}

func TestSuperseded(t *testing.T) {
	const read, write, edit, run = compartments.VerbRead, compartments.VerbWrite, compartments.VerbEdit, compartments.VerbRun
	const look, plan = compartments.VerbLook, compartments.VerbPlan
	for _, c := range []struct {
		name string
		in   []Call
		want []int
	}{
		{"read again", calls(on(read, "a"), on(read, "b"), on(read, "./a")), []int{2, -1, -1}},
		{"read again in part", calls(on(read, "a"), ranged(1, 50, on(read, "a"))), []int{-1, -1}},
		{"part read again as a whole", calls(ranged(1, 50, on(read, "a")), on(read, "a")), []int{1, -1}},
		{"part read again in a larger part", calls(ranged(10, 20, on(read, "a")), ranged(1, 50, on(read, "a"))), []int{1, -1}},
		{"part and another part", calls(ranged(1, 50, on(read, "a")), ranged(51, 99, on(read, "a"))), []int{-1, -1}},
		{"read three times", calls(on(read, "a"), on(read, "a"), on(read, "a")), []int{2, 2, -1}},
		{"read, then edited", calls(on(read, "a"), on(edit, "a")), []int{1, -1}},
		{"read, then an edit that failed", calls(on(read, "a"), wrong(on(edit, "a"))), []int{-1, -1}},
		{"written twice", calls(on(write, "a"), on(write, "a")), []int{1, -1}},
		{"written, then read", calls(on(write, "a"), on(read, "a")), []int{1, -1}},
		{"written, then read in part", calls(on(write, "a"), ranged(1, 9, on(read, "a"))), []int{-1, -1}},
		{"edited twice", calls(on(edit, "a"), on(edit, "a")), []int{-1, -1}},
		{"edit redone", calls(wrong(on(edit, "a")), on(edit, "a")), []int{1, -1}},
		{"failed read redone", calls(wrong(on(read, "a")), ranged(5, 9, on(read, "a"))), []int{1, -1}},
		{"command run again", calls(on(run, "make"), on(run, "make test"), wrong(on(run, "make"))), []int{2, -1, -1}},
		{"search again", calls(on(look, "x"), on(look, "x")), []int{1, -1}},
		{"search again in vain", calls(on(look, "x"), wrong(on(look, "x"))), []int{-1, -1}},
		{"list replaced", calls(on(plan, "plan"), on(plan, "plan"), on(plan, "plan")), []int{2, 2, -1}},
		{"no target", calls(on(read, ""), on(read, "")), []int{-1, -1}},
	} {
		if got := Superseded(c.in); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	open := on(run, "make")
	open.Open = true
	if got := Superseded(calls(on(run, "make"), open)); !slices.Equal(got, []int{-1, -1}) {
		t.Errorf("a call without a result took the place of one: %v", got)
	}
}

// TestSuperseded_PointsForward: what took the place of a call is later, has a
// result, and what is the last of its kind is never superseded.
func TestSuperseded_PointsForward(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Call {
			c := on(compartments.Verb(rapid.IntRange(0, 9).Draw(t, "verb")), rapid.SampledFrom([]string{"", "a", "b", "./a"}).Draw(t, "target"))
			c.Subject.From, c.Subject.To = rapid.IntRange(0, 3).Draw(t, "from"), rapid.IntRange(0, 3).Draw(t, "to")
			c.Failed, c.Open = rapid.Bool().Draw(t, "failed"), rapid.IntRange(0, 5).Draw(t, "open") == 0
			return c
		}), 0, 30).Draw(t, "calls")
		for i, j := range Superseded(in) {
			if j >= 0 && (j <= i || in[j].Open) {
				t.Fatalf("call %d of %+v is superseded by %d", i, in, j)
			}
		}
	})
}

func TestThin(t *testing.T) {
	s := Defaults()
	s.StubShare = 200
	all := calls(on(compartments.VerbRead, "a"), on(compartments.VerbRun, "b"), on(compartments.VerbPlan, "plan"), on(compartments.VerbSkill, ""), on(compartments.VerbOwn, ""))
	open := on(compartments.VerbRun, "c")
	open.Open = true
	all = append(all, open)
	edit := on(compartments.VerbEdit, "d")
	all = append(all, on(compartments.VerbRead, "d"), edit)
	by := []int{1, -1, -1, -1, -1, -1, 7, -1} // the reads are superseded, one by an edit
	old := Bulk{Chars: 2001, Turns: 6, Behind: 1}
	for _, c := range []struct {
		name string
		b    func(*Bulk)
		want bool
	}{
		{"old and large", func(b *Bulk) { b.Call = 1 }, true},
		{"not large", func(b *Bulk) { b.Call, b.Chars = 1, 2000 }, false},
		{"in the newest turns and tokens", func(b *Bulk) { b.Call, b.Turns, b.Behind = 1, 5, 1999 }, false},
		{"in the newest turns, behind many tokens", func(b *Bulk) { b.Call, b.Turns, b.Behind = 1, 0, 2000 }, true},
		{"in the newest answer", func(b *Bulk) { b.Newest = true }, false},
		{"superseded in the newest turns", func(b *Bulk) { b.Turns, b.Chars = 0, 801 }, true},
		{"superseded and small", func(b *Bulk) { b.Chars = 800 }, false},
		{"the list in force", func(b *Bulk) { b.Call = 2 }, false},
		{"instructions", func(b *Bulk) { b.Call = 3 }, false},
		{"what we returned", func(b *Bulk) { b.Call, b.Chars = 4, 801 }, true},
		{"read before an edit, in the newest turns", func(b *Bulk) { b.Call, b.Turns, b.Behind, b.Chars = 6, 5, 1999, 5000 }, false},
		{"read before an edit, behind many tokens", func(b *Bulk) { b.Call, b.Turns, b.Behind, b.Chars = 6, 5, 2000, 801 }, true},
		{"arguments of an edit", func(b *Bulk) { b.Call, b.Field, b.Chars = 7, compartments.FieldInput, 5000 }, false},
		{"what an edit returned", func(b *Bulk) { b.Call, b.Field, b.Chars = 7, compartments.FieldOutput, 5000 }, true},
		{"without a result", func(b *Bulk) { b.Call = 5 }, false},
	} {
		b := old
		c.b(&b)
		if got := len(Thin([]Bulk{b}, all, by, 10_000, s)) == 1; got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

package trajectory

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"testing"

	"ctxplugin/compartments"
	"ctxplugin/lab/fixtures"
	"ctxplugin/tokens"
)

// played is a short session under ours, in a window that it does not fit.
func played(t *testing.T, set func(*Setup)) *Played {
	t.Helper()
	made, err := fixtures.New(fixtures.Options{Seed: 7, Bank: fixtures.Tuned, Episodes: 8})
	if err != nil {
		t.Fatal(err)
	}
	s := Standard()
	s.Window = 22_000
	if set != nil {
		set(&s)
	}
	p, err := Play(context.Background(), FromFixture(&made), s, tokens.NewCached(tokens.NewCache(1<<14)))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The frames are what the program would send: they weigh what its own statistics say.
func TestPlay_FramesWeighWhatTheProgramCounts(t *testing.T) {
	p := played(t, nil)
	frames := p.frames()
	if len(p.folds) < 3 {
		t.Fatalf("%d folds are too few for a test", len(p.folds))
	}
	for n := range frames {
		got, want := p.size(&frames[n]), p.steps[n].stats.Messages
		if got != want {
			t.Errorf("request %d weighs %d, the program says %d", n, got, want)
		}
	}
}

// At the moments of ours every policy sends the same messages behind its head, and
// no head is over the budget.
func TestAtOurs_OnlyTheHeadDiffers(t *testing.T) {
	p := played(t, nil)
	ours := p.frames()
	bare := func(f Frame) int {
		f.Head = nil
		return p.size(&f)
	}
	for _, policy := range Policies() {
		if policy == (everything{}) {
			continue
		}
		name := policy.Name()
		frames := p.AtOurs(policy)
		for n := range frames {
			if name != HardTruncation && bare(frames[n]) != bare(ours[n]) {
				t.Errorf("%s: request %d has %d tokens behind its head, ours %d", name, n, bare(frames[n]), bare(ours[n]))
			}
			if k := p.steps[n].fold; k >= 0 && p.headTokens(&frames[n]) > p.folds[k].Inputs.Recording.Budget {
				t.Errorf("%s: request %d has a head of %d tokens, the budget is %d", name, n, p.headTokens(&frames[n]), p.folds[k].Inputs.Recording.Budget)
			}
		}
	}
}

// An oracle that may show everything answers as much as anybody can, and one with
// less room never answers more.
func TestOracle_IsAheadOfAll(t *testing.T) {
	p := played(t, nil)
	right := func(turns []Turn) (n int) {
		for i := range turns {
			for _, a := range turns[i].Asked {
				if a.Grade.Success {
					n++
				}
			}
		}
		return n
	}
	best := right(p.Observe(p.AtOurs(oracleSchedule{}), Run{Schedule: Same}))
	if best == 0 {
		t.Fatal("the oracle answers nothing")
	}
	for _, policy := range Policies() {
		if policy == (everything{}) || policy == (oracleSchedule{}) {
			continue
		}
		if n := right(p.Observe(p.AtOurs(policy), Run{Schedule: Same})); n > best {
			t.Errorf("%s answers %d, the oracle %d", policy.Name(), n, best)
		}
	}
	full := p.Observe(p.AtOurs(everything{}), Run{Schedule: Same})
	if n := right(full); n < best {
		t.Errorf("the full history answers %d, the oracle %d", n, best)
	}
}

// In a window for the same mean size a policy of its own is about as large as ours.
func TestMatched_HasTheSameMeanSize(t *testing.T) {
	p := played(t, nil)
	mean := p.mean(p.frames())
	for _, policy := range scheduled() {
		frames, usable := p.Matched(policy, mean)
		got := p.mean(frames)
		if off := 100 * (got - mean) / mean; off < -8 || off > 8 {
			t.Errorf("%s: %d tokens in a window of %d, ours %d", policy().Name(), got, usable, mean)
		}
	}
}

func TestPlay_WithoutATierNoneIsShownAtIt(t *testing.T) {
	p := played(t, func(s *Setup) { s.Without = compartments.TierCompact })
	for i := range p.served {
		if p.served[i].Has(compartments.TierCompact) {
			t.Fatalf("compartment %d has the tier", p.served[i].ID)
		}
	}
	for _, f := range p.frames() {
		for id, tier := range f.tiers {
			if tier == compartments.TierCompact {
				t.Fatalf("compartment %d is shown at it", id)
			}
		}
	}
}

// A study gives the same bytes however many jobs run at once, and its records come
// back as they were written.
func TestStudy_SameBytesAndReadBack(t *testing.T) {
	plan := Quick()
	plan.Bank, plan.Seeds, plan.Episodes, plan.Windows, plan.Setup.Window = fixtures.Tuned, 2, 6, nil, 20_000
	plan.Priced, plan.Removed, plan.Repeats = 0, 1, 2
	var first []byte
	for _, workers := range []int{1, 2} {
		plan.Workers = workers
		records, err := Study(context.Background(), plan, func(int, int) {})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := Write(&b, records); err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = bytes.Clone(b.Bytes())
		} else if !bytes.Equal(first, b.Bytes()) {
			t.Error("two workers write other records than one")
		}
		again, err := Read(&b)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(again, records) {
			t.Error("the records that come back are others")
		}
	}
}

// The schema names the members that records have, and no others.
func TestSchema_NamesTheMembersOfRecords(t *testing.T) {
	var schema struct {
		Properties map[string]struct {
			Properties map[string]any
			Required   []string
		}
	}
	if err := json.Unmarshal(Schema, &schema); err != nil {
		t.Fatal(err)
	}
	for name, of := range map[string]reflect.Type{"turn": reflect.TypeFor[Turn](), "fold": reflect.TypeFor[Fold](),
		"representation": reflect.TypeFor[Representation](), "bill": reflect.TypeFor[Bill]()} {
		members := map[string]bool{}
		for _, f := range reflect.VisibleFields(of) {
			if f.Anonymous {
				continue
			}
			tag, _, _ := bytes.Cut([]byte(f.Tag.Get("json")), []byte(","))
			members[string(tag)] = true
			if _, ok := schema.Properties[name].Properties[string(tag)]; !ok {
				t.Errorf("%s: the schema lacks %s", name, tag)
			}
		}
		for member := range schema.Properties[name].Properties {
			if !members[member] {
				t.Errorf("%s: records have no %s", name, member)
			}
		}
	}
}

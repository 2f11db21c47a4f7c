package lab

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"ctxplugin/decay"
)

func TestOptionsRefuse(t *testing.T) {
	for _, c := range []struct {
		o    ReplayOptions
		want string
	}{
		{ReplayOptions{Window: -1}, "window: -1 is no number of tokens"},
		{ReplayOptions{Window: 10_000, Prefix: 9000}, "a window of 10000 tokens has no room left behind a prefix of 9000 and 2500 for the reply"},
		{ReplayOptions{Window: 7999}, "window: 7999 is too small, the minimum is 8,000 tokens"},
		{ReplayOptions{Tier: "raw"}, `tier: "raw" is none of full, dense, compact, anchor`},
		{ReplayOptions{Kind: "free"}, `kind: "free" is none of marks, automatic, none`},
		{ReplayOptions{Prices: &Prices{Input: 1, Read: -1}}, "price of read: -1 is not between 0 and 1,000,000"},
		{ReplayOptions{Files: []string{"/nowhere/x.json"}}, "/nowhere/x.json: no such file or directory"},
	} {
		exit, err := RunReplay(context.Background(), c.o, &bytes.Buffer{}, &bytes.Buffer{})
		if exit != exitInput || err == nil || err.Error() != c.want {
			t.Errorf("exit %d, %v, want %s", exit, err, c.want)
		}
	}
}

func TestSettings(t *testing.T) {
	o := ReplayOptions{Window: 20_000}
	s, err := o.settings()
	if err != nil {
		t.Fatal(err)
	}
	if w := s.window; w.prefix != 5000 || w.output != 8192 || w.reserve != 5000 || w.usable != 10_000 {
		t.Errorf("%+v", w)
	}
	if p := s.prices; p.Input != 3_000_000 || p.CacheRead != 300_000 || p.CacheWrite != 3_750_000 || p.TTLMs != 300_000 || p.Kind != "marks" {
		t.Errorf("%+v", p)
	}
	o = ReplayOptions{Kind: "automatic", Prices: &Prices{Input: 0.1, Read: 0.025, Write: 7}}
	if s, err = o.settings(); err != nil || s.prices.CacheWrite != 100_000 || s.prices.CacheRead != 25_000 {
		t.Errorf("%+v, %v", s, err)
	}
	o = ReplayOptions{Window: 8000, Prices: &Prices{}}
	if s, err = o.settings(); err != nil || s.prices.Input != 0 || s.prices.CacheRead != 0 || s.prices.Output != 0 {
		t.Errorf("a free model: %+v, %v", s, err)
	}
	o = ReplayOptions{Tier: "dense"}
	if s, err = o.settings(); err != nil || !strings.Contains(string(s.initialize("/a\"b")), `"project":{"directory":"/a\"b"},"capabilities":{"notify":true},"options":{"forceTier":"dense"}}`) {
		t.Errorf("%s, %v", s.initialize("/a\"b"), err)
	}
}

func TestSettings_Ablate(t *testing.T) {
	o := ReplayOptions{Ablate: "stubs,hull"}
	s, err := o.settings()
	if err != nil || !strings.Contains(string(s.initialize("/a")), `"options":{"ablate":"hull,stubs"}}`) {
		t.Errorf("%s, %v", s.initialize("/a"), err)
	}
	o.Ablate = "hull,hul"
	if _, err = o.settings(); err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), `"hul" is no mechanism; there are tiers, hull,`) {
		t.Errorf("%v", err)
	}
}

func TestReport(t *testing.T) {
	o := ReplayOptions{}
	set, err := o.settings()
	if err != nil {
		t.Fatal(err)
	}
	r := &result{rec: &recording{name: "x.json", title: "A <title>\nof two lines " + strings.Repeat("and more ", 20), messages: make([]message, 1200)},
		requests: 1100, compactions: 1, stubs: 2, verdicts: newVerdicts(), baselines: baselines(set.window, set.prices), peak: 41_000,
		warnings: []string{"warning: something\nodd", "info: " + strings.TrimSpace(strings.Repeat("much more than a line ", 12))}}
	for i := range 100 {
		r.latency = append(r.latency, time.Duration(i+1)*time.Millisecond)
	}
	r.folds = []fold{{Number: 1, Step: 9, Reason: "forced", Pairs: 1, Before: 40_000, After: 9000, History: 800, Tiers: map[string]int{"anchor": 2, "full": 1}},
		{Number: 2, Step: 19, Reason: "pays", Divergence: 1, Pairs: 2, Before: 20_000, After: 9900, History: 1800, Tiers: map[string]int{"index": 1}},
		{Number: 3, Step: 29, Reason: "pays", Divergence: 1, Pairs: 3, Before: 20_000, After: 9900, History: 1800}}
	r.bill.add(decay.Bill{Read: 900_000, Write: 90_000, Fresh: 10_000, Output: 1000}, set.prices)
	for i := range 7 {
		r.irreducible = append(r.irreducible, irreducible{Step: i + 1, Tokens: 50_000, Named: "message 1 (user)"})
		r.verdicts.step = i
		r.verdicts.check(promiseFits, i > 4, "too much, by %d", i)
	}
	var b bytes.Buffer
	if err := writeReport(&b, []*result{r}, set, o); err != nil {
		t.Fatal(err)
	}
	golden(t, "report.golden", b.Bytes())
	for _, line := range strings.Split(b.String(), "\n") {
		if n := len([]rune(line)); n > 100 {
			t.Errorf("a line of %d columns: %s", n, line)
		}
	}
}

func TestHistoryOfNothing(t *testing.T) {
	var out, notes bytes.Buffer
	r := &result{rec: &recording{name: "x.json"}, verdicts: newVerdicts()}
	if err := writeHistory(&out, &notes, []*result{r}); err != nil || out.Len() > 0 {
		t.Errorf("%q, %v", &out, err)
	}
	if got := notes.String(); got != "x.json: nothing was folded, so the next request has no history\n" {
		t.Error(got)
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567", -123: "-123"} {
		if got := thousands(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
	for micro, want := range map[int64]string{0: "0.0000", 1_234_567: "1.2346", 49: "0.0000", 50: "0.0001", 999_950: "1.0000"} {
		if got := money(micro, 4); got != want {
			t.Errorf("%d: %s", micro, got)
		}
	}
	if clip("a  b\nc", 9) != "a b c" || clip("界界界界", 3) != "界界…" {
		t.Error("clip")
	}
}

// A request that cannot be made smaller is told apart from one that history makes
// too large, but it must be named.
func TestIrreducible(t *testing.T) {
	data := session(t, 3, 2)
	huge := bytes.Replace(data, []byte("widget0002"), []byte("widget0002 "+strings.Repeat("many words ", 12_000)), 1)
	out, exit, err := against(t, "", huge)
	if err != nil || exit != exitHeld || len(out.Sessions[0].Irreducible) == 0 || out.Sessions[0].Irreducible[0].Named == "" {
		t.Errorf("exit %d, %v, %+v", exit, err, out)
	}
	out, exit, err = against(t, "silent about what is irreducible", huge)
	if err != nil || exit != exitBroken || !strings.Contains(out.Sessions[0].Breaches[0].What, "does not say so") {
		t.Errorf("exit %d, %v, %+v", exit, err, out)
	}
}

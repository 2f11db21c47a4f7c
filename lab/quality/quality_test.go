package quality_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"ctxplugin/compartments"
	"ctxplugin/lab/fixtures"
	"ctxplugin/lab/quality"
)

func run(t testing.TB, o quality.Options) []quality.Record {
	t.Helper()
	records, err := quality.Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return records
}

var small = quality.Options{Seeds: 2, Episodes: 6, Losses: []int{0, 400}, Repeats: 2, Shares: []int{200, 500}}

func TestRun(t *testing.T) {
	first := run(t, small)
	var a bytes.Buffer
	if err := quality.Write(&a, first); err != nil {
		t.Fatal(err)
	}
	t.Run("the same options give the same bytes", func(t *testing.T) {
		var b bytes.Buffer
		if err := quality.Write(&b, run(t, small)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a.Bytes(), b.Bytes()) {
			t.Error("two runs differ")
		}
	})
	summary := quality.Summarise(first)
	t.Run("every number follows from the lines", func(t *testing.T) {
		again, err := quality.Read(bytes.NewReader(a.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(quality.Summarise(again), summary) {
			t.Error("the summary of the lines is another one")
		}
	})
	t.Run("what is shown holds the budget", func(t *testing.T) {
		shown := 0
		for _, r := range first {
			if s := r.Shown; s != nil {
				shown++
				if s.Floor != "" {
					continue // it may not hold
				}
				if s.Tokens > s.Budget && (s.Form == quality.FormFlat || s.Form == quality.FormRaw || s.Form == quality.FormTwo) {
					t.Errorf("%v %s %s of %d: %d tokens of %d", s.Condition, s.Form, s.Level, s.Seed, s.Tokens, s.Budget)
				}
				if s.Tokens > s.Budget*21/20+20 { // the selection counts entries apart from each other
					t.Errorf("%v %s of %d: %d tokens of %d", s.Condition, s.Form, s.Seed, s.Tokens, s.Budget)
				}
			}
		}
		if shown == 0 {
			t.Error("nothing was shown")
		}
	})
	t.Run("a better writer is never worse", func(t *testing.T) {
		kept := map[string]int{}
		for _, r := range summary.Tiers {
			if r.Bank == fixtures.Held && r.Tier == compartments.TierDense {
				kept[r.Condition.String()] = r.Needed.Share
			}
		}
		if !(kept["oracle"] >= kept["grounded 0%"] && kept["grounded 0%"] > kept["grounded 40%"] && kept["grounded 40%"] > kept["cascaded 40%"]) {
			t.Errorf("needed items kept at dense: %v", kept)
		}
	})
	t.Run("cascades lose nothing that comes back", func(t *testing.T) {
		for _, r := range summary.Tiers {
			if r.Condition.Name == "cascaded" && r.Regained > 5 {
				t.Errorf("%v %v: %d of 1000 items come back", r.Condition, r.Tier, r.Regained)
			}
			if r.Condition.Name == "oracle" && (r.Misread > 0 || r.Added > 0) {
				t.Errorf("the oracle misreads %d and adds %d at %v", r.Misread, r.Added, r.Tier)
			}
		}
	})
	t.Run("without a dimension its own probes fail", func(t *testing.T) {
		if len(summary.Ablation) == 0 || len(summary.Floors) == 0 {
			t.Fatal("nothing was taken out")
		}
		for _, r := range summary.Ablation {
			most := -500
			switch { // some of so few were not shown before either
			case r.Own.Of < 4:
				most = 0
			case r.Own.Of < 10:
				most = -1
			}
			if r.Condition.Name == "oracle" && r.Own.Of > 0 && r.Own.Share > most {
				t.Errorf("without %v its own probes change by %v of %d", r.Dimension, r.Own, r.Own.Of)
			}
		}
	})
	t.Run("tables", func(t *testing.T) {
		text := quality.Markdown(summary.Tables())
		for _, want := range []string{"canonical", "oracle", "cascaded 40%", "flat", "Without one dimension"} {
			if !strings.Contains(text, want) {
				t.Errorf("the tables do not speak of %s", want)
			}
		}
	})
}

func TestReadRefusesDamage(t *testing.T) {
	for line, why := range map[string]string{
		`{}`:                            "0 members",
		`{"run":{"schema":"x"}}`:        "schema",
		`{"shown":{"answers":[[1,2]]}}`: "five numbers",
		`{"shown":{"answers":[[7,1000,1000,1000,0]]}}`: "does not have",
		`{"representation":{"tier":"thick"}}`:          "thick",
		`{`:                                            "record 1",
	} {
		if _, err := quality.Read(strings.NewReader(line)); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want %q", line, err, why)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"run":{"schema":"ctxplugin.lab.quality/1","options":{}}}`))
	f.Add([]byte(`{"session":{"bank":"held","seed":1,"items":[{"id":0,"dimension":"trap"}],"probes":[{"item":0}]}}` + "\n" + `{"shown":{"bank":"held","form":"tiers","answers":[[0,1000,1000,1000,0]]}}`))
	f.Add([]byte(`{"representation":{"tier":"full","items":[]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		records, err := quality.Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		s := quality.Summarise(records)
		_ = quality.Markdown(s.Tables())
	})
}

func TestBootstrap(t *testing.T) {
	for _, c := range []struct {
		name  string
		seeds []quality.Tally
		want  quality.Estimate
	}{
		{"nothing", nil, quality.Estimate{}},
		{"all the same", []quality.Tally{{Found: 1, Asked: 2}, {Found: 2, Asked: 4}}, quality.Estimate{Share: 500, Low: 500, High: 500, Of: 6}},
		{"none or all", []quality.Tally{{Found: 0, Asked: 5}, {Found: 5, Asked: 5}}, quality.Estimate{Share: 500, Low: 0, High: 1000, Of: 10}},
	} {
		if got := quality.Bootstrap(c.seeds); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
	up, down := []quality.Tally{{Found: 3, Asked: 4}, {Found: 4, Asked: 4}}, []quality.Tally{{Found: 1, Asked: 4}, {Found: 2, Asked: 4}}
	if got := quality.Paired(up, down); got.Share != 500 || got.Low != 500 || got.High != 500 {
		t.Errorf("paired: %+v, want 500 throughout", got)
	}
}

// TestRecorded asks the sample, and with -short nothing else.
func TestRecorded(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "sample", "sample.json"))
	if err != nil {
		t.Fatal(err)
	}
	in, err := quality.ReadRecorded("sample", data)
	if err != nil {
		t.Fatal(err)
	}
	records := run(t, quality.Options{Seeds: 1, Episodes: 3, Losses: []int{0}, Repeats: 1, Shares: []int{500}, Recorded: []quality.Recorded{in}})
	asked := 0
	for _, r := range records {
		if s := r.Shown; s != nil && s.Source != "" {
			asked += s.Asked
			if s.Found > s.Asked {
				t.Errorf("%+v finds more than it is asked for", s)
			}
			line, err := json.Marshal(s)
			if err != nil || bytes.Contains(line, []byte("importer")) {
				t.Errorf("a record of a recorded session says what is in it: %s", line)
			}
		}
	}
	if asked == 0 {
		t.Error("the sample was asked nothing")
	}
	if _, err := quality.ReadRecorded("x", []byte("[]")); err == nil || !strings.Contains(err.Error(), "x: ") {
		t.Errorf("a list is read as a session: %v", err)
	}
}

func BenchmarkRun(b *testing.B) {
	for b.Loop() {
		run(b, quality.Options{Seeds: 1})
	}
}

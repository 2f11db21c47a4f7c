package quality_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"ctxplugin/historian"
	"ctxplugin/lab/quality"
)

// first is a model that answers with the first lines of what it reads, and fails
// after so many calls.
type first struct {
	calls, fail int
	cascaded    bool // it was given what it wrote before
}

func (m *first) Generate(_ context.Context, r historian.Request) (historian.Reply, error) {
	m.calls++
	if m.fail > 0 && m.calls >= m.fail {
		return historian.Reply{}, errors.New("no more")
	}
	m.cascaded = m.cascaded || strings.Contains(r.Prompt, "as I read it")
	_, text, _ := strings.Cut(r.Prompt, "\n\n")
	lines := strings.Split(text, "\n")
	var b strings.Builder
	for i, l := range lines[:min(len(lines), 12)] {
		fmt.Fprintf(&b, "- [%d] as I read it: %s\n", i+1, l)
	}
	return historian.Reply{Text: b.String(), Finish: historian.FinishStop}, nil
}

func TestModel(t *testing.T) {
	o := quality.Options{Seeds: 1, Episodes: 3, Losses: []int{0}, Repeats: 1, Shares: []int{400}}
	good := &first{}
	o.Model = good
	rows := map[string]bool{}
	records := run(t, o)
	for _, r := range quality.Summarise(records).Tiers {
		if strings.HasPrefix(r.Condition.Name, "model-") {
			rows[r.Condition.Name] = true
			if r.Tier.String() == "full" && r.Cost == 0 {
				t.Errorf("%v cost nothing", r.Condition)
			}
		}
	}
	if !rows["model-grounded"] || !rows["model-cascaded"] || !good.cascaded {
		t.Errorf("conditions %v, cascaded %v", rows, good.cascaded)
	}
	for _, why := range records[0].Run.Skipped {
		if strings.Contains(why, "model") {
			t.Errorf("left out though a model is there: %s", why)
		}
	}
	o.Model = &first{fail: 3}
	if skipped := run(t, o)[0].Run.Skipped; len(skipped) == 0 || !strings.Contains(strings.Join(skipped, " "), "no more") {
		t.Errorf("a model that fails leaves no note: %v", skipped)
	}
}

package report

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"ctxplugin/lab/fixtures"
	"ctxplugin/lab/trajectory"
	"ctxplugin/lab/verdict"
)

func input(t *testing.T) Input {
	t.Helper()
	plan := trajectory.Quick()
	plan.Bank, plan.Seeds, plan.Episodes, plan.Windows, plan.Setup.Window = fixtures.Tuned, 1, 5, nil, 18_000
	plan.Priced, plan.Removed, plan.Repeats = 1, 0, 2
	records, err := trajectory.Study(context.Background(), plan, func(int, int) {})
	if err != nil {
		t.Fatal(err)
	}
	return Input{Title: "A <title>", Setting: []string{"One & only."}, Sums: verdict.Add(records)}
}

// The page stands alone: it names no address that a browser would fetch, its
// drawings follow the colours of the page, and all claims are on it.
func TestPage_StandsAlone(t *testing.T) {
	in := input(t)
	var b, again strings.Builder
	if err := Page(&b, in); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	fetched := regexp.MustCompile(`(?i)(src|href|@import|url\()\s*=?\s*["']?[^"'#\s>]`)
	if m := fetched.FindString(page); m != "" {
		t.Errorf("the page fetches something: %q", m)
	}
	if strings.Contains(page, "<script") || strings.Contains(page, "A <title>") {
		t.Error("the page holds a script, or a text as markup")
	}
	if left := regexp.MustCompile(`rgba?\(1,`).FindString(page); left != "" {
		t.Error("a drawing has a colour of its own")
	}
	if wide, narrow := strings.Count(page, `<svg class="wide"`), strings.Count(page, `<svg class="narrow"`); wide < 5 || wide != narrow {
		t.Errorf("%d wide and %d narrow drawings", wide, narrow)
	}
	for _, r := range verdict.Rules() {
		if !strings.Contains(page, escape(r.Claim)) || !strings.Contains(page, escape(r.Refuted)) {
			t.Errorf("the page lacks the rule %s", r.Name)
		}
	}
	if !strings.Contains(page, "--sessions DIR") {
		t.Error("the page does not say that real sessions are left out")
	}
	if err := Page(&again, in); err != nil || again.String() != page {
		t.Errorf("the same input gives another page (%v)", err)
	}
}

func TestSummary_NamesEveryVerdict(t *testing.T) {
	var b strings.Builder
	if err := Summary(&b, input(t)); err != nil {
		t.Fatal(err)
	}
	for _, r := range verdict.Rules() {
		if !strings.Contains(b.String(), r.Claim) {
			t.Errorf("it lacks %s", r.Name)
		}
	}
}

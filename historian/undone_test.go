package historian

import (
	"encoding/json"
	"strings"
	"testing"

	"ctxplugin/compartments"
)

func editCall(path, before, after string) compartments.Message {
	input, _ := json.Marshal(map[string]string{"filePath": path, "oldString": before, "newString": after})
	return toolCall("edit", string(input), strings.Repeat("the file as it stands now\n", 60)+"edited", compartments.StatusCompleted)
}

// TestUndone: a file whose changes were taken back says so at every tier, whatever took
// them back; what was committed, kept or brought back is none.
func TestUndone(t *testing.T) {
	quick := editCall("/w/src/seal.go", "wax := red()", "wax := quickRed()")
	slow := editCall("/w/src/seal.go", "wax := quickRed()", "wax := red()")
	other := editCall("/w/src/seal.go", "lid := open()", "lid := shut()")
	commit := shellCall("git commit -am 'quick wax'", "[main 1a2b3c4] quick wax", 0)
	for name, c := range map[string]struct {
		calls []compartments.Message
		want  string // at full
		brief string // at dense and compact
	}{
		"by path":        {[]compartments.Message{quick, shellCall("git checkout -- src/seal.go", "", 0)}, "src/seal.go +1/-1 (undone at [3])", "seal.go (undone)"},
		"restored":       {[]compartments.Message{quick, shellCall("git restore src/seal.go && go vet ./...", "", 0)}, "src/seal.go +1/-1 (undone at [3])", "seal.go (undone)"},
		"a folder":       {[]compartments.Message{quick, shellCall("git checkout HEAD -- src/", "", 0)}, "src/seal.go +1/-1 (undone at [3])", "seal.go (undone)"},
		"all":            {[]compartments.Message{quick, shellCall("git checkout .", "", 0)}, "src/seal.go +1/-1 (undone at [3])", "seal.go (undone)"},
		"reset":          {[]compartments.Message{quick, shellCall("git reset --hard", "HEAD is now at 1a2b3c4 wax", 0)}, "src/seal.go +1/-1 (undone at [3])", "seal.go (undone)"},
		"kept aside":     {[]compartments.Message{quick, shellCall("git stash", "Saved working directory", 0)}, "src/seal.go +1/-1 (undone at [3])", "seal.go (undone)"},
		"inverse":        {[]compartments.Message{quick, slow}, "src/seal.go ×2 +2/-2 (undone at [3])", "seal.go (undone)"},
		"inverse by sed": {[]compartments.Message{shellCall("sed -i 's/red()/quickRed()/' src/seal.go", "", 0), shellCall("cd /w && sed -i 's|quickRed()|red()|' src/seal.go", "", 0)}, "src/seal.go ×2 (undone at [3])", "seal.go (undone)"},
		"another by sed": {[]compartments.Message{shellCall("sed -i 's/red()/quickRed()/' src/seal.go", "", 0), shellCall("sed -i 's/quickRed()/green()/' src/seal.go", "", 0)}, "src/seal.go ×2", ""},
		"changed again":  {[]compartments.Message{quick, shellCall("git checkout -- src/seal.go", "", 0), other}, "src/seal.go ×2 +2/-2 (undone at [3], then changed again)", ""},
		"half inverse":   {[]compartments.Message{quick, other, slow}, "src/seal.go ×3 +3/-3:", ""},
		"back from side": {[]compartments.Message{quick, shellCall("git stash", "Saved working directory", 0), shellCall("git stash pop", "", 0)}, "src/seal.go +1/-1:", ""},
		"aside and back": {[]compartments.Message{quick, shellCall("git stash && go test ./... ; git stash pop", "ok", 0)}, "src/seal.go +1/-1:", ""},
		"committed":      {[]compartments.Message{quick, commit, shellCall("git checkout .", "", 0)}, "src/seal.go +1/-1:", ""},
		"partly":         {[]compartments.Message{quick, commit, other, shellCall("git checkout .", "", 0)}, "src/seal.go ×2 +2/-2 (what was not committed undone at [5])", ""},
		"unstaged":       {[]compartments.Message{quick, shellCall("git restore --staged src/seal.go", "", 0)}, "src/seal.go +1/-1:", ""},
		"failed":         {[]compartments.Message{quick, shellCall("git checkout -- src/seal.go", "error: pathspec", 1)}, "src/seal.go +1/-1:", ""},
		"a branch":       {[]compartments.Message{quick, shellCall("git checkout -b src/seal.go", "", 0)}, "src/seal.go +1/-1:", ""},
		"of that name":   {[]compartments.Message{editCall("/w/bin/seal", "wax := red()", "wax := quickRed()"), shellCall("git checkout seal", "Switched to branch 'seal'", 0)}, "bin/seal +1/-1:", ""},
		"its folder":     {[]compartments.Message{quick, shellCall("git checkout src", "Updated 1 path from the index", 0)}, "src/seal.go +1/-1 (undone at [3])", "seal.go (undone)"},
		"another file":   {[]compartments.Message{quick, shellCall("git checkout -- src/wax.go", "", 0)}, "src/seal.go +1/-1:", ""},
		"folder removed": {[]compartments.Message{quick, shellCall("rm -rf /w/src", "", 0)}, "src/seal.go +1/-1 (written, then removed)", ""},
		"file removed":   {[]compartments.Message{shellCall("rm /w/src/seal.go", "", 0)}, "src/seal.go (removed)", "seal.go (removed)"},
	} {
		ms := append([]compartments.Message{personSays("seal the letters of this week quicker, with the new wax")}, c.calls...)
		tiers := parts(t, append(ms, agentText("That is how `quickRed` stands.")), len(ms)+1)[0].Tiers
		if full := tiers[compartments.TierFull].Text; !strings.Contains(full, c.want) {
			t.Errorf("%s: full lacks %q:\n%s", name, c.want, full)
		}
		for _, tier := range [...]compartments.Tier{compartments.TierDense, compartments.TierCompact} {
			if text := tiers[tier].Text; !strings.Contains(text, c.brief) || c.brief == "" && strings.Contains(text, "(undone)") {
				t.Errorf("%s: %s lacks %q:\n%s", name, tier, c.brief, text)
			}
		}
	}
}

// TestUndoneLater: what a run takes back of an earlier one, whose tiers are written, it
// says itself.
func TestUndoneLater(t *testing.T) {
	quick := editCall("/w/src/seal.go", "wax := red()", "wax := quickRed()")
	ask := personSays("seal the letters of this week quicker, with the new wax")
	no := personSays("that wax does not hold, undo what you did to the seal")
	for name, c := range map[string]struct {
		first, second []compartments.Message
		want, not     string
	}{
		"by path":   {[]compartments.Message{ask, quick}, []compartments.Message{no, shellCall("git checkout -- src/seal.go", "", 0)}, "undone: src/seal.go, changed at [2]", ""},
		"all":       {[]compartments.Message{ask, quick}, []compartments.Message{no, shellCall("git reset --hard", "", 0)}, "undone: what was not committed, changed at [2]", ""},
		"inverse":   {[]compartments.Message{ask, quick}, []compartments.Message{no, editCall("/w/src/seal.go", "wax := quickRed()", "wax := red()")}, "src/seal.go +1/-1 (puts back what [2] changed)", ""},
		"committed": {[]compartments.Message{ask, quick, shellCall("git commit -am wax", "[main 1a2b3c4] wax", 0)}, []compartments.Message{no, shellCall("git checkout .", "", 0)}, "", "undone:"},
		"aside":     {[]compartments.Message{ask, quick}, []compartments.Message{no, shellCall("git stash", "Saved working directory", 0)}, "undone: what was not committed, changed at [2]", ""},
		"and back":  {[]compartments.Message{ask, quick}, []compartments.Message{no, shellCall("git stash", "Saved working directory", 0), shellCall("go test ./...", "ok", 0), shellCall("git stash pop", "", 0)}, "", "undone:"},
		"twice":     {[]compartments.Message{ask, quick, shellCall("git checkout .", "", 0)}, []compartments.Message{no, shellCall("git checkout .", "", 0)}, "", "undone:"},
	} {
		full := parts(t, append(c.first, c.second...), len(c.first), len(c.second))[1].Tiers[compartments.TierFull].Text
		if !strings.Contains(full, c.want) || c.not != "" && strings.Contains(full, c.not) {
			t.Errorf("%s: want %q, not %q:\n%s", name, c.want, c.not, full)
		}
	}
	three := parts(t, []compartments.Message{ask, quick, no, shellCall("git checkout .", "", 0), personSays("and again from the start, once more please"), shellCall("git checkout .", "", 0)}, 2, 2, 2)
	if full := three[2].Tiers[compartments.TierFull].Text; strings.Contains(full, "undone:") {
		t.Errorf("what was taken back is taken back once more:\n%s", full)
	}
}

package historian

import (
	"strings"
	"testing"

	"ctxplugin/compartments"
)

// tier writes one compartment over the messages and returns a tier of it.
func tier(t *testing.T, tier compartments.Tier, ms ...compartments.Message) string {
	t.Helper()
	c, err := testBuiltin().WriteOne(t.Context(), rangeFrom(ms))
	if err != nil {
		t.Fatal(err)
	}
	return c.Tiers[tier].Text
}

// section returns the lines of one section of a tier.
func sectionOf(text, label string) string {
	var out []string
	in := false
	for line := range strings.SplitSeq(text, "\n") {
		if !strings.HasPrefix(line, "- ") {
			in = strings.HasPrefix(line, label+":")
		}
		if in {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// TestRefusedReply: what a program refused for its form concluded nothing, for the
// work goes on behind it; what a notification follows did.
func TestRefusedReply(t *testing.T) {
	reply := "The queue drops the last row of each batch. I write the loop anew and flush it at the end. Do all callers close the queue?"
	for name, c := range map[string]struct {
		between string
		want    bool
	}{
		"complaint about the form": {"Please give EXACTLY ONE action, found 2 actions.\n<response_example>\nTHOUGHT: why\n</response_example>", false},
		"notification":             {"<task-notification>the nightly build is done</task-notification>", true},
	} {
		text := tier(t, compartments.TierFull, personSays("the importer loses rows, mend internal/queue/rows.go"), shellCall("go test ./internal/queue", "ok", 0),
			agentText(reply), personSays(c.between), agentText("I write one action."), shellCall("sed -i s/a/b/ internal/queue/rows.go", "", 0))
		if got := strings.Contains(sectionOf(text, "Outcome"), "drops the last row"); got != c.want {
			t.Errorf("%s: its outcome is shown: %v\n%s", name, got, text)
		}
		if got := strings.Contains(sectionOf(text, "Open"), "all callers"); got != c.want {
			t.Errorf("%s: its question is open: %v\n%s", name, got, text)
		}
	}
}

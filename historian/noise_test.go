package historian

import (
	"testing"

	"ctxplugin/compartments"
)

// TestNoise: what commands complain of that succeed is not what another one failed
// with; what one of them says, or prints of a file, or a pipe hides, may well be.
func TestNoise(t *testing.T) {
	said := func(n string) string {
		return "0 [main] depot (" + n + ") copy failed, 0x8" + n + " done\n/etc/profile: fork: retry: try again\n"
	}
	for name, c := range map[string]struct {
		before []compartments.Message
		failed bool
		line   string
	}{
		"never seen":       {nil, true, "0 [main] depot (9) copy failed, 0x89 done"},
		"seen once":        {[]compartments.Message{shellCall("depot start", said("1")+"started", 0), shellCall("depot start", said("2")+"started", 0)}, true, "0 [main] depot (9) copy failed, 0x89 done"},
		"seen in files":    {[]compartments.Message{shellCall("cat a.log", said("1"), 0), shellCall("cat b.log", said("2"), 0)}, true, "0 [main] depot (9) copy failed, 0x89 done"},
		"seen behind pipe": {[]compartments.Message{shellCall("depot start | tail", said("1"), 0), shellCall("depot stop | tail", said("2"), 0)}, true, "0 [main] depot (9) copy failed, 0x89 done"},
		"seen everywhere":  {[]compartments.Message{shellCall("depot start", said("1")+"started", 0), shellCall("depot list", said("2")+"a b", 0)}, true, "no such depot: tally"},
	} {
		ms := append(c.before, shellCall("depot open tally", said("9")+"no such depot: tally", 2))
		v, err := testBuiltin().look(t.Context(), rangeFrom(ms))
		if err != nil {
			t.Fatal(err)
		}
		if u := v.ms[len(ms)-1].uses[0]; u.failed != c.failed || u.errLine != c.line {
			t.Errorf("%s: failed %v, line %q", name, u.failed, u.errLine)
		}
	}
	ms := []compartments.Message{shellCall("depot start", said("1"), 0), shellCall("depot list", said("2"), 0), shellCall("depot find tally", "Exit code 1\n"+said("3"), 1)}
	v, err := testBuiltin().look(t.Context(), rangeFrom(ms))
	if err != nil {
		t.Fatal(err)
	}
	if u := v.ms[2].uses[0]; u.failed {
		t.Errorf("a search that finds nothing: %+v", u.errLine)
	}
}

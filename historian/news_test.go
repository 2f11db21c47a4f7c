package historian

import "testing"

// TestNews: a name that came up in the run and is hardly said again counts, the
// subject of every sentence does not.
func TestNews(t *testing.T) {
	units := func(texts ...string) []unit {
		var out []unit
		for _, s := range texts {
			out = append(out, unit{text: s})
		}
		return out
	}
	v := &view{ms: []message{
		{who: person, units: units("make `mergeRows` keep its order")},
		{who: agent, units: units("`mergeRows` is called twice", "`mergeRows` sorts", "`mergeRows` and `rowLimit4` differ", "`mergeRows` is done")},
	}, to: 2, lex: &lexicon{ids: map[string]int32{}}}
	for i, n := range []string{"mergeRows", "rowLimit4", "oldName7"} {
		v.lex.ids[n] = int32(i)
		v.lex.list = append(v.lex.list, name{text: n, kind: kindSymbol, known: n == "oldName7"})
	}
	v.tell()
	for text, want := range map[string]int{
		"`mergeRows` is done":             0,
		"`mergeRows` needs `rowLimit4`":   2,
		"`oldName7` is gone":              1,
		"`rowLimit4`, again `rowLimit4`":  4,
		"nothing is named, `strangeName`": 0,
	} {
		if _, got := v.names(text); got != want {
			t.Errorf("news of %q = %d, want %d", text, got, want)
		}
	}
}

func TestNumbered(t *testing.T) {
	for text, want := range map[string]bool{
		"Option 2: rebase": true, "Step 1. Close it": true, "Phase 3) later": true,
		"Added 3 files": false, "2 of 3: done": false, "Port 8080 is taken": false, "v1 2": false, "": false,
	} {
		if got := numbered(text); got != want {
			t.Errorf("numbered(%q) = %v", text, got)
		}
	}
}

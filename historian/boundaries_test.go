package historian

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ctxplugin/compartments"
)

// work is a turn of a person and an agent that edits files in a folder, about
// size effective tokens.
func work(ms []compartments.Message, minute int64, request, folder string, size int) []compartments.Message {
	at := minute * 60_000
	ms = append(ms, compartments.Message{Role: compartments.RoleUser, Time: at, Parts: userMessage(request).Parts})
	for n := 0; size > 0; n++ {
		out := min(size, 1200)
		size -= out
		ms = append(ms, compartments.Message{Role: compartments.RoleAssistant, Time: at + int64(n), Parts: []compartments.Part{
			{Kind: compartments.PartTool, Tool: "edit", Status: compartments.StatusCompleted, Input: fmt.Sprintf(`{"filePath":"%s/file%d.go","oldString":"a","newString":"b"}`, folder, n), Output: strings.Repeat("word ", out*100/27/5)},
			{Kind: compartments.PartText, Text: fmt.Sprintf("Changed %s/file%d.go.", folder, n)},
		}})
	}
	return ms
}

func cutsOf(t *testing.T, ms []compartments.Message) []int {
	t.Helper()
	v, err := testBuiltin().look(t.Context(), rangeFrom(ms))
	if err != nil {
		t.Fatal(err)
	}
	return cut(v.ms, v.lex.list)
}

func TestCut(t *testing.T) {
	var two []compartments.Message
	two = work(two, 0, "make the importer skip rows without an id and count them", "importer", 4000)
	second := len(two)
	two = work(two, 30, "the settings page must show the version of the server", "web/settings", 4000)
	if got := cutsOf(t, two); !slices.Equal(got, []int{0, second}) {
		t.Errorf("two objectives: %v, want a cut at %d", got, second)
	}

	same := work(nil, 0, "make the importer skip rows without an id and count them", "importer", 2000)
	same = append(same, compartments.Message{Role: compartments.RoleUser, Time: 1000, Parts: userMessage("ok").Parts})
	same = append(same, compartments.Message{Role: compartments.RoleAssistant, Time: 1001, Parts: []compartments.Part{{Kind: compartments.PartText, Text: "Fine."}}})
	if got := cutsOf(t, same); !slices.Equal(got, []int{0}) {
		t.Errorf("a short answer cuts: %v", got)
	}

	long := work(nil, 0, "convert all of the handlers to promises, one by one", "handlers", 40_000)
	got := cutsOf(t, long)
	if len(got) < 4 {
		t.Errorf("a long turn is not split: %v", got)
	}

	machineFirst := work(nil, 0, "make the importer skip rows without an id and count them", "importer", 4000)
	at := len(machineFirst)
	machineFirst = append(machineFirst, compartments.Message{Role: compartments.RoleUser, Time: 1, Parts: userMessage("<system-reminder>x</system-reminder>").Parts})
	machineFirst = work(machineFirst, 30, "the settings page must show the version of the server", "web/settings", 4000)
	if got := cutsOf(t, machineFirst); !slices.Contains(got, at) || slices.Contains(got, at+1) {
		t.Errorf("machine text is parted from the user's message behind it: %v", got)
	}
}

func TestCutSizes(t *testing.T) {
	var ms []compartments.Message
	for i := range 12 {
		ms = work(ms, int64(i*20), fmt.Sprintf("please work on part number %d of the system and test it", i), fmt.Sprintf("part%d", i), 300+900*i)
	}
	v, err := testBuiltin().look(t.Context(), rangeFrom(ms))
	if err != nil {
		t.Fatal(err)
	}
	begins := cut(v.ms, v.lex.list)
	for i, from := range begins {
		to := len(ms)
		if i+1 < len(begins) {
			to = begins[i+1]
		}
		size := 0
		for _, m := range v.ms[from:to] {
			size += m.tokens
		}
		if size > largest || size < smallest {
			t.Errorf("run %d..%d has %d effective tokens", from, to, size)
		}
	}
}

package historian

import (
	"strings"
	"testing"

	"ctxplugin/compartments"
)

// TestItemsFirst: where room is short, what is said once goes before sentences about
// the subject of every other one, in any language and without a word that tells it.
func TestItemsFirst(t *testing.T) {
	for name, item := range map[string]string{
		"english":  "`shard_window_3` swallows the time-out in race mode.",
		"chinese":  "`shard_window_3` 在 race 模式下吞掉超时。",
		"finnish":  "`shard_window_3` nielee aikakatkaisun.",
		"decision": "We take `shard_window_3`: each call copies all of `batch_plan_4`.",
	} {
		t.Run(name, func(t *testing.T) {
			say := func(text string, n int) compartments.Message {
				parts := []compartments.Part{{Kind: compartments.PartText, Text: text}}
				if n > 0 {
					parts = append(parts, compartments.Part{Kind: compartments.PartTool, Tool: "read", CallID: itoa(n), Status: compartments.StatusCompleted,
						Input: `{"filePath":"/p/src/merge_rows.go"}`, Output: strings.Repeat("func mergeRows(a, b []Row) []Row {\n", 30)})
				}
				return compartments.Message{Role: compartments.RoleAssistant, Parts: parts}
			}
			ms := []compartments.Message{
				{Role: compartments.RoleUser, Parts: userMessage("let `mergeRows` in src/merge_rows.go keep the order of its rows").Parts},
				say("I look at how `mergeRows` in src/merge_rows.go orders its rows before anything is changed there.", 1),
				say("The rows of `mergeRows` are sorted by the callers of src/merge_rows.go and by nobody else.", 2),
				say("So `mergeRows` gets the rows as they are, and src/merge_rows.go has a loop for that already. "+item, 3),
				say("Once more through `mergeRows`, for the loop of src/merge_rows.go is easily broken by its callers.", 4),
				say("`mergeRows` in src/merge_rows.go keeps the order of its rows. The callers of `mergeRows` are as before. All rows of src/merge_rows.go are compared.", 0),
			}
			c, err := testBuiltin().WriteOne(t.Context(), rangeFrom(ms))
			if err != nil {
				t.Fatal(err)
			}
			if text := c.Tiers[compartments.TierCompact].Text; !strings.Contains(text, strings.TrimRight(item, ".")) {
				t.Errorf("compact lacks %q:\n%s", item, text)
			}
		})
	}
}

func TestBeyond(t *testing.T) {
	for _, c := range []struct{ text, title, want string }{
		{"add a command that looks at the tree and makes commits of it", "add a command that looks at …", "… the tree and makes commits of it"},
		{"just use the logger such as logger.info", "Undo the changes. just use the logger such as …", "… logger.info"},
		{"please add a command that looks at the tree", "add a command that …", "… looks at the tree"},
		{"keep the order", "keep the order", "keep the order"},
		{"another thing", "add a command that …", "another thing"},
	} {
		if got := beyond(c.text, c.title); got != c.want {
			t.Errorf("beyond(%q, %q) = %q, want %q", c.text, c.title, got, c.want)
		}
	}
}

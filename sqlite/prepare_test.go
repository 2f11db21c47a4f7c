package sqlite_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"ctxplugin/compartments"
	"ctxplugin/sqlite"
)

// TestCommit_ManyAtOnce: what is prepared on all processors takes the same bytes
// as message by message, strings that come twice and our own tools' results
// included, and reads back.
func TestCommit_ManyAtOnce(t *testing.T) {
	var all []string
	for n := range 300 {
		id := fmt.Sprintf("m%d", n)
		output := strings.Repeat(fmt.Sprintf("line %d of the output\n", n%100), 90) + scrambled(n%100, 700)
		switch n % 3 {
		case 0:
			two := `"},{"type":"text","text":"`
			all = append(all, strings.ReplaceAll(user(id, output+"@"+scrambled(n, 1200)), "@", two))
		case 1:
			all = append(all, tool(id, "bash", `{"command":"make"}`, output))
		default:
			all = append(all, tool(id, "ctx_expand", fmt.Sprintf(`{"first":%d}`, n), strings.Join(all[n-1:n], "")))
		}
	}
	sizes := map[string]int64{}
	for name, step := range map[string]int{"one by one": 1, "at once": len(all)} {
		s := open(t, filepath.Join(t.TempDir(), "ctx.db"), sqlite.Options{})
		version := int64(0)
		for at := 0; at < len(all); at += step {
			b := &compartments.Batch{Session: "ses", Version: version, ListFrom: -1}
			for i := at; i < at+step; i++ {
				b.Entries = append(b.Entries, write(t, i+1, all[i]))
			}
			version = commit(t, s, b)
		}
		for i, got := range raw(t, s, "ses", ordinals(len(all))...) {
			if got != all[i] {
				t.Fatalf("%s: message %d differs", name, i+1)
			}
		}
		sizes[name] = sizeOf(t, s)
	}
	if one, many := sizes["one by one"], sizes["at once"]; many > one+one/8 {
		t.Errorf("the database has %d bytes, and %d when they come one by one", many, one)
	}
}

package historian

import (
	"slices"
	"strings"
	"testing"

	"ctxplugin/compartments"
)

// TestScriptChange: a script in a command that writes a file is shown by the file and
// what it brings there, not by its own code nor by what it looks for.
func TestScriptChange(t *testing.T) {
	for name, c := range map[string]struct {
		command, path string
		brought       []string
	}{
		"lines put in": {"python3 -c '\nimport sys\nlines = sys.stdin.readlines()\nfor i, line in enumerate(lines):\n    if \"old_row = read_row(f)\" in line:\n        insert_at = i\nindent = \" \" * 4\n" +
			"lines[insert_at:insert_at] = [\n    indent + \"if not old_row:\\n\",\n    indent + \"    new_row = depot.make_row(\\n\"]\nwith open(\"src/tally.py\", \"w\") as f:\n    f.writelines(lines)\n' < src/tally.py",
			"src/tally.py", []string{"new_row", "depot.make_row"}},
		"replaced, in a here-document": {"python3 - <<'EOF'\n# don't read it twice\np = 'src/tally.py'\ns = open(p).read()\ns = s.replace('old_rows = 3', 'max_rows = read_limit()')\nopen(p, 'w').write(s)\nEOF", "src/tally.py", []string{"max_rows", "read_limit"}},
		"another language":             {`node -e "const fs = require('fs'); fs.writeFileSync('src/tally.js', 'export const maxRows = 3')"`, "src/tally.js", []string{"maxRows"}},
		"only reads":                   {`python3 -c 'print(open("src/tally.py").read())'`, "", nil},
		"no script":                    {"go run ./cmd/tally -c 'x'", "", nil},
	} {
		_, script := inline(c.command)
		got, ok := scriptChange(script)
		if ok != (c.path != "") || got.path != c.path || !slices.Equal(got.brought, c.brought) {
			t.Errorf("%s: %v %q brings %q", name, ok, got.path, got.brought)
		}
	}
	ms := []compartments.Message{
		personSays("the tally must make its own rows where none come in"),
		shellCall("python3 -c '\nimport sys\nlines = sys.stdin.readlines()\nwith open(\"src/tally.py\", \"w\") as f:\n    f.write(\"new_row = depot.make_row()\")\n'", "", 0),
		agentText("It makes its own rows now."),
	}
	c, err := testBuiltin().WriteOne(t.Context(), rangeFrom(ms))
	if err != nil {
		t.Fatal(err)
	}
	if full := c.Tiers[compartments.TierFull].Text; !strings.Contains(full, "Changed: src/tally.py") || !strings.Contains(full, "depot.make_row") || strings.Contains(full, "import sys") {
		t.Errorf("full:\n%s", full)
	}
}

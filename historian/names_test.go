package historian

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestScanNames(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"see src/main.go and docs/format.md.", "src/main.go docs/format.md"},
		{"修改src/main.go文件", "src/main.go"},
		{"docs/größe.md fehlt", "docs/größe.md"},
		{"call getUserName() or get_user_name", "getUserName get_user_name"},
		{"IMPORT_STRICT=1 sets ErrNoID", "IMPORT_STRICT ErrNoID"},
		{"commit 4be19c2 fixes #214", "4be19c2 #214"},
		{"decade 2030 and 1234567", ""},
		{"v1.4.2 on localhost:8080, 127.0.0.1:5432", "v1.4.2 localhost:8080 127.0.0.1:5432"},
		{"https://example.com/a?b=1 works", "https://example.com/a"},
		{"and/or read/write e.g. built-in", ""},
		{"error TS2345 and ENOENT", "TS2345 ENOENT"},
		{"the `index` of `a b` and `x`", "index"},
		{`C:\Users\dev\rebase.ps1 and tasks\b1.output`, `C:\Users\dev\rebase.ps1 tasks\b1.output`},
		{`\x1b[31m and \n\t`, ""},
		{"0x0..0x800 $_.Name http:// a-zA-Z", ""},
		{"<system-reminder> ‹history/x>", ""},
		{"key ZX0XoZnJPNhbaKFPpKy", ""},
		{"s/foo.Bar/foo.Baz/ 500/batchSize", ""},
		{"colour #6c6c6c and #fff", "#6c6c6c #fff"},
		{"--no-verify is a flag", "--no-verify"},
		{"a.b.c... .. .", "a.b.c"},
	} {
		var got []string
		scanNames(c.in, func(n string, _ kind) { got = append(got, n) })
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%q: %q, want %q", c.in, s, c.want)
		}
	}
}

func FuzzScanNames(f *testing.F) {
	for _, s := range []string{"src/main.go `x y`", "修改src/main.go文件", "\xff\xfe a/b.go", "`````", "::://@#", "é/é.go"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		scanNames(s, func(n string, k kind) {
			if n == "" || !strings.Contains(s, n) || k == kindNone {
				t.Fatalf("name %q of %q", n, s)
			}
			if utf8.ValidString(s) && !utf8.ValidString(n) {
				t.Fatalf("name %q cuts a character of %q", n, s)
			}
		})
	})
}

func TestPaths(t *testing.T) {
	for in, want := range map[string]string{
		"/a/b/c/d.go": "c/d.go", "d.go": "d.go", "c/d.go": "c/d.go", "/d.go": "/d.go", `C:\a\b\c.txt`: `b\c.txt`, "a/b/": "a/b", "": "",
	} {
		if got := lastTwo(in); got != want {
			t.Errorf("lastTwo(%q) = %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{
		"rm /home/dev/code/app/src/modes/row.go":                  "rm modes/row.go",
		"cat /etc/hosts":                                          "cat /etc/hosts",
		"see https://example.com/aaaaaaaa/bbbbbbbbb/ccccccc/d.go": "see https://example.com/aaaaaaaa/bbbbbbbbb/ccccccc/d.go",
		"cp: /opt/lib/node_modules/@a/b/dist/dark.json: gone":     "cp: dist/dark.json: gone",
	} {
		if got := nearPaths(in); got != want {
			t.Errorf("nearPaths(%q) = %q, want %q", in, got, want)
		}
	}
}

package historian

import (
	"regexp"
	"slices"
	"strings"

	"ctxplugin/compartments"
)

// unescape turns what JSON escapes most into what it stands for, so that no name
// begins with the letter of an escape.
var unescape = strings.NewReplacer(`\n`, " ", `\t`, " ", `\r`, " ", `\"`, " ", `\\`, `\`)

// jsonKey is the name of an argument, which says nothing of its value.
var jsonKey = regexp.MustCompile(`"[A-Za-z_]+"\s*:`)

// NamesIn lists the identifiers of a text by which an earlier compartment can be
// known again, each once, in order of the alphabet: files, symbols, hashes and
// their like, no figures and no plain words. Only the first bytes of a long text are
// read. escaped says that the text is raw JSON.
func NamesIn(text string, escaped bool) []string {
	text = head(text, namesBytes)
	if escaped {
		text = unescape.Replace(jsonKey.ReplaceAllString(text, " "))
	}
	var out []string
	scanNames(text, func(n string, k kind) {
		switch k {
		case kindNumber, kindWord, kindFlag, kindVersion:
			return
		}
		if key := nameKey(n, k); !dullName(key) {
			out = append(out, strings.Clone(key))
		}
	})
	slices.Sort(out)
	return slices.Compact(out)
}

// KnownBy lists the identifiers by which a compartment is known, each once, in order
// of the alphabet: its names, and those in its exact spans and in the anchors of its
// facts. A file is known by its bare name too.
func KnownBy(c *compartments.Compartment) []string {
	out := slices.Clone(c.Names)
	for i := range c.Spans {
		out = append(out, NamesIn(c.Spans[i].Text, false)...)
	}
	for i := range c.Facts {
		out = append(out, NamesIn(c.Facts[i].Anchor, false)...)
	}
	for _, n := range out {
		if base := baseName(n); base != n && fileLike(base) {
			out = append(out, base)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

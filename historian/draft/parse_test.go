package draft

import (
	"strings"
	"testing"

	"ctxplugin/compartments"
)

// show writes drafts so that they can be compared.
func show(list []draft) string {
	var b strings.Builder
	for _, d := range list {
		b.WriteString(d.first + "-" + d.last + " " + d.importance + " (" + d.types + ") " + d.title)
		for _, t := range compartments.Rendered {
			if text, ok := d.tiers[t]; ok {
				b.WriteString("|" + t.String() + ":" + text)
			}
		}
		for _, it := range d.spans {
			b.WriteString("|span " + it.at + ":" + it.text)
		}
		for _, it := range d.facts {
			b.WriteString("|fact " + it.at + " " + it.kind + " '" + it.quote + "':" + it.text)
		}
		for _, it := range d.events {
			b.WriteString("|event " + it.at + " " + it.kind + ":" + it.text)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestParse(t *testing.T) {
	const plain = `<compartment first="5" last="8" importance="40" types="fix" title="t"><full>f</full><dense>d</dense><compact>c</compact><anchor>a</anchor></compartment>`
	const want = "5-8 40 (fix) t|full:f|dense:d|compact:c|anchor:a\n"
	for _, c := range []struct{ name, in, want string }{
		{"plain", plain, want},
		{"fenced and chatty", "Sure! Here are the compartments:\n```xml\n" + plain + "\n```\nLet me know if you need more.", want},
		{"reasoning in front", "<think>5-8 looks like <full>one</full></think>\n" + plain, want},
		{"attributes in another order", `<compartment title="t" types='fix' last=8 importance = "40" first="5"><full>f</full><dense>d</dense><compact>c</compact><anchor>a</anchor></compartment>`, want},
		{"typographic quotes", strings.NewReplacer(`="`, `=“`, `" `, `” `, `">`, `”>`).Replace(plain), want},
		{"wrong closing tags", strings.NewReplacer("</full>", "</dense>", "</compact>", "</anchor>").Replace(plain), want},
		{"missing closing tags", strings.NewReplacer("</full>", "", "</dense>", "", "</compact>", "", "</anchor>", "").Replace(plain), want},
		{"no closing tag at all", strings.TrimSuffix(plain, "</compartment>"), want},
		{"cut off in the anchor", strings.TrimSuffix(plain, "a</anchor></compartment>"), "5-8 40 (fix) t|full:f|dense:d|compact:c|anchor:\n"},
		{"blanks in tags", strings.NewReplacer("</full>", "</ full >", "<dense>", "<dense >", "</dense>", "< /dense>").Replace(plain), want},
		{"upper case", strings.ReplaceAll(strings.ReplaceAll(plain, "full>", "FULL>"), "compartment", "Compartment"), want},
		{"a bracket and quotes in a title", `<compartment first="5" last="8" title="make "a > b" hold, p -> q" importance="40"><full>f</full></compartment>`, "5-8 40 () make \"a > b\" hold, p -> q|full:f\n"},
		{"entities once", `<compartment first="5" last="8" title="a &amp;lt; b"><full>x &lt;y&gt; &amp;lt; &#60;&#x3e; &copy &nope;</full></compartment>`, "5-8  () a &lt; b|full:x <y> &lt; <> &copy &nope;\n"},
		{"tags of others are text", `<compartment first="1" last="2"><full>List<String> and <div> and <fullness></full></compartment>`, "1-2  () |full:List<String> and <div> and <fullness>\n"},
		{"a tier twice", `<compartment first="1" last="2"><full>f</full><full>g</full></compartment>`, "1-2  () |full:f\n"},
		{"empty tiers", `<compartment first="1" last="2"><full/><dense /><compact></compact></compartment>`, "1-2  () |compact:\n"},
		{"two without an end between", `<compartment first="1" last="2"><full>f<compartment first="3" last="4"><full>g`, "1-2  () |full:f\n3-4  () |full:g\n"},
		{"items", `<compartment first="1" last="2"><span at="1">s</span><fact at="2" kind="decision" quote="a "b" > c">t</fact><event at=2 kind=failure>e</event></compartment>`,
			"1-2  () |span 1:s|fact 2 decision 'a \"b\" > c':t|event 2 failure:e\n"},
		{"a refusal", "I'm sorry, but I can't help with that.", ""},
		{"nothing", "", ""},
		{"an open bracket", "<", ""},
		{"a tag that never ends", `<compartment first="1`, "1-  () \n"},
	} {
		if got := show(parse(c.in)); got != c.want {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.want)
		}
	}
}

package draft

import (
	"slices"
	"strconv"
	"strings"

	"ctxplugin/compartments"
	"ctxplugin/historian"
)

// unpassed is a check that failed in a run and passed nowhere behind it, by how a draft
// would name it.
type unpassed struct {
	at      compartments.Ordinal
	command string          // folded
	tests   map[string]bool // names of what failed, in small letters
}

// unpassedOf lists the checks of the places [from, to) that failed and passed nowhere
// behind that, also not in the words of a person or the agent.
func unpassedOf(x *historian.Reading, from, to int) []unpassed {
	ms := x.Range().Messages
	var out []unpassed
	for _, f := range x.Unpassed(from, len(ms)) {
		if f.Place >= to {
			continue
		}
		u := unpassed{at: ms[f.Place].Ordinal, command: folded(f.Command), tests: map[string]bool{}}
		for line := range strings.Lines(f.Error + "\n" + head(f.Output, 20_000)) {
			if low := strings.ToLower(line); !strings.Contains(low, "fail") && !strings.Contains(low, "error") && !strings.ContainsAny(low, "✗✘×") && !placeForm().MatchString(low) {
				continue
			}
			historian.EachName(line, func(name, key string) {
				for piece := range strings.SplitSeq(strings.ToLower(key), ":") { // tests/a.py::test_one, a_test.go:14
					if strings.Contains(piece, "test") || strings.Contains(piece, "spec") {
						u.tests[piece] = true
					}
				}
			})
		}
		if !u.saidToPass(x, f.Place+1) {
			out = append(out, u)
		}
	}
	return out
}

// saidToPass reports whether a person or the agent says from a place on that the check
// passes, or that all does.
func (u *unpassed) saidToPass(x *historian.Reading, from int) bool {
	for i := from; i < len(x.Range().Messages); i++ {
		if voice := x.Voice(i); voice != historian.VoicePerson && voice != historian.VoiceAgent {
			continue
		}
		words := x.Words(i)
		if stated(words)&claimTests != 0 {
			return true
		}
		for _, sentence := range sentences(strings.ToLower(strings.ReplaceAll(words, "’", "'"))) {
			if !asks(sentence) && slices.ContainsFunc(clauseForm().Split(sentence, -1), func(c string) bool { return u.named(c) && saysPass(c) }) {
				return true
			}
		}
	}
	return false
}

// Forms of what a line says of a check. passWord is held against one clause.
var (
	passWord   = pattern(`\b(?:pass(?:es|ed|ing)?|green|succeed(?:s|ed)?|success(?:ful)?|ok|0 (?:failures|failed|errors)|bestanden|bestehen|besteht|erfolgreich|grün|réussit?|passent?|pasan?|exitos[oa]|passou|passam)\b|прош[её]?л|проход|успешн|通过|成功|合格|통과|성공`)
	allForm    = pattern(`\b(?:all|everything|every|whole|full|entire|alle[sn]?|tous|toutes|tout|tod[oa]s|tutti)\b|все |всё|所有|全部|全て|すべて|모든|모두`)
	clauseForm = pattern(`[;。；]|, | but | while | aber | mais | pero `)
	placeForm  = pattern(`(?:test|spec)[\w.-]*:\d`)
	passedAt   = pattern(`(?i)pass(?:es|ed)?(?: now| again)? at \[(\d+)\]`)
)

// outcomes checks what a line, in small letters, says of checks against how these ended.
func (v *validator) outcomes(p *piece, t compartments.Tier, line, low string, src *source) {
	for _, m := range passedAt().FindAllStringSubmatch(line, -1) {
		// What failed may be an edit.
		edit := !slices.ContainsFunc(src.unpassed, func(u unpassed) bool { return u.named(low) })
		if n, _ := strconv.ParseInt(m[1], 10, 63); !v.passesAt(compartments.Ordinal(n), edit) {
			v.fault(FaultOrdinal, p, t, "[%d] shows nothing that passes", n)
		}
	}
	bare := passedAt().ReplaceAllString(low, "")
	for i := range src.unpassed {
		u := &src.unpassed[i]
		if claims(bare)&claimTests != 0 && allForm().MatchString(bare) {
			v.fault(FaultContradicts, p, t, "%q says that everything passes, and at [%d] something failed that passes nowhere later", clipped(line), u.at)
			return
		}
		for _, clause := range clauseForm().Split(bare, -1) {
			if u.named(clause) && saysPass(clause) && !v.showsPass(line, u) {
				v.fault(FaultContradicts, p, t, "%q: that failed last, at [%d]", clipped(line), u.at)
				return
			}
		}
	}
}

// showsPass reports whether the message that a line names has the very check, passing: it
// failed again later.
func (v *validator) showsPass(line string, u *unpassed) bool {
	m := leadCitation().FindStringSubmatch(line)
	if m == nil {
		return false
	}
	n, _ := strconv.ParseInt(m[1], 10, 63)
	for i := range v.x.Range().Messages {
		if v.x.Range().Messages[i].Ordinal == compartments.Ordinal(n) {
			return slices.ContainsFunc(v.x.Calls(i), func(c historian.Call) bool { return !c.Failed && !c.Open && folded(c.Command) == u.command })
		}
	}
	return false
}

// named reports whether a clause names the check, or a test that failed in it.
func (u *unpassed) named(clause string) bool {
	clause = folded(clause)
	if hasWhole(clause, u.command) {
		return true
	}
	for name := range u.tests {
		if hasWhole(clause, name) {
			return true
		}
	}
	return false
}

// hasWhole reports whether a text has a name that does not go on in it: more of a path,
// or one of the tests in a file, is something else.
func hasWhole(text, name string) bool {
	for at := 0; name != ""; {
		n := strings.Index(text[at:], name)
		if n < 0 {
			return false
		}
		begin, end := at+n, at+n+len(name)
		if (begin == 0 || !inName(text[begin-1])) && (end == len(text) || !inName(text[end]) && text[end] != ':' && text[end] != '/' || strings.HasPrefix(text[end:], ": ")) {
			return true
		}
		at = begin + 1
	}
	return false
}

func inName(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '_' || c >= 0x80
}

// saysPass reports whether a clause says that something passes, and nothing bad.
func saysPass(clause string) bool {
	if endsBadly(clause) && !strings.Contains(clause, "0 fail") && !strings.Contains(clause, "0 error") {
		return false
	}
	for _, at := range passWord().FindAllStringIndex(clause, -1) {
		if before := clause[:at[0]]; !notForm().MatchString(before) && !hopedForm().MatchString(before) && !deniedForm().MatchString(clause[at[0]:at[1]]) {
			return true
		}
	}
	return false
}

// passesAt reports whether a message of the range has an outcome that passes, of an
// edit too if that may be meant.
func (v *validator) passesAt(o compartments.Ordinal, edit bool) bool {
	ms := v.x.Range().Messages
	for i := range ms {
		if ms[i].Ordinal == o {
			return proofs(v.x, i, i+1)&claimTests != 0 || slices.ContainsFunc(v.x.Calls(i), func(c historian.Call) bool {
				return !c.Open && !c.Failed && !c.Stopped && !c.Refused && (c.Kind == "shell" || c.Kind == "other" || c.Kind == "task" || edit && (c.Kind == "edit" || c.Kind == "write" || c.Kind == "patch"))
			})
		}
	}
	return false
}

// Forms of what changes files, and of what says so.
var (
	readerForm = pattern(`^(?:sudo |timeout \S+ )?(?:cat|nl|head|tail|less|grep|egrep|rg|ag|ls|find|fd|wc|tree|file|stat|pwd|which|echo|du|diff|jq|awk|cut|sort|uniq|sed -n)\b`)
	writerForm = pattern(`>|-i\b|\btee\b|-delete|-exec|-w\b|--write|--fix|-u\b|-update|fmt\b|generate|\bmv\b|\bcp\b|\brm\b`)
	changeForm = pattern(`(?i)chang|edit|generat|produc|modif|updat|rewr|delet|remov|renam|creat|\badd|writ|wrote|fix|\bmov|replac|refactor|implement|extend|revert|restor|commit|touched|änder|lösch|erstell|umbenan|schreib|geschrieb|ajout|supprim|cré|écri|cambi|añad|elimin|crea|escri|alter|remov|измен|удал|созда|добав|改|删|刪|增|加|创建|新建|写|変更|削除|追加|作成|修正|변경|수정|삭제|추가`)
	unchanged  = pattern(`(?i)\b(?:not|never|nothing|without|no|untouched|unchanged|nicht|kein|keine|ohne|pas|sans|sin|não|sem|не)\b|n't\b|n’t\b|未|没|不|ない|せず|않`)
	myself     = pattern(`(?i)\b(?:i|we|ich|wir|j'ai|nous|yo|he|hemos|eu|я|мы)\b|我|私|僕|제가|내가`)
	fileForm   = pattern(`^[\w@+~][\w./@+~-]*\.[A-Za-z]\w{0,6}$`)
	// manifests are written by tools whose command does not name them.
	manifests = pattern(`(?:^|/)(?:go\.(?:mod|sum|work)|package(?:-lock)?\.json|[\w.-]*lock[\w.-]*|cargo\.toml|pyproject\.toml|requirements[\w.-]*\.txt|gemfile|composer\.json)$`)
)

// touchedOf is what names the files that a run changed: the calls that do, commands
// that are more than a look, what these print, and who says so.
func touchedOf(x *historian.Reading, from, to int) (text string, odd bool) {
	var b strings.Builder
	for i := from; i < to; i++ {
		if voice := x.Voice(i); voice == historian.VoicePerson || voice == historian.VoiceAgent {
			for _, sentence := range sentences(x.Words(i)) {
				// What a person asks for is not done yet.
				if changeForm().MatchString(sentence) && !unchanged().MatchString(sentence) && (voice == historian.VoiceAgent || myself().MatchString(sentence)) {
					b.WriteString(sentence + "\n")
				}
			}
		}
		for _, c := range x.Calls(i) {
			switch c.Kind {
			case "read", "look", "todo", "own":
			case "shell":
				full := stringField(c.Input, "command", "cmd", "script") + "\n" + c.Command
				switch writes := writerForm().MatchString(full); {
				case !writes && (c.Verifies || onlyLooks(c.Command)):
				case c.Verifies:
					b.WriteString(full + "\n")
				default:
					odd = true
					b.WriteString(full + "\n" + head(c.Output, 20_000) + "\n")
				}
			case "edit", "write", "patch":
				b.WriteString(c.Path + "\n" + c.Input + "\n")
				for _, g := range c.Changes {
					b.WriteString(g.Path + "\n" + g.Moved + "\n")
				}
			default:
				odd = true
				b.WriteString(c.Input + "\n" + head(c.Output, 20_000) + "\n" + head(c.Result, 20_000) + "\n")
			}
		}
	}
	return folded(b.String()), odd
}

// onlyLooks reports whether all parts of a command only look.
func onlyLooks(command string) bool {
	for _, part := range partForm().Split(command, -1) {
		if part = strings.TrimSpace(part); part != "" && !strings.HasPrefix(part, "cd ") && !readerForm().MatchString(part) {
			return false
		}
	}
	return true
}

var partForm = pattern(`&&|\|\||[|;\n]`)

// sentences divides a text.
func sentences(text string) []string { return sentenceForm().Split(text, -1) }

var changedForm = pattern("(?i)([\\w@+~][\\w./@+~-]*\\.[a-z]\\w{0,6})`?,?(?: (?:was|were|is|are|has been|have been|got|now|wurde|wurden|ist|a été|fue))*" +
	` (?:changed|edited|modified|updated|rewritten|deleted|renamed|geändert|gelöscht|umbenannt|überarbeitet|modifié|supprimé|modificado|eliminado|изменен|изменён|удален|удалён|已修改|被修改|已更新|已删除)(?:\W|$)`)

// changes checks that the files of which a line says that they were changed are named
// by something that changed files.
func (v *validator) changes(p *piece, t compartments.Tier, line, label string, src *source) {
	var files []string
	if label == "changed" {
		_, rest, _ := strings.Cut(line, ":")
		if labelOf(line) != "changed" {
			rest = line
		}
		rest, _, _ = strings.Cut(rest, " · ") // another section
		for segment := range strings.SplitSeq(citation().ReplaceAllString(unquoted(rest), " "), ";") {
			list, _, _ := strings.Cut(strings.TrimSpace(segment), ": ")
			for _, f := range andForm().Split(list, -1) {
				if words := strings.Fields(strings.Trim(f, "`- ")); len(words) > 0 {
					files = append(files, strings.Trim(words[0], "`:,"))
				}
			}
		}
	} else if label != "open" && label != "asked" && label != "rejected" {
		for _, m := range changedForm().FindAllStringSubmatch(unquoted(line), -1) {
			files = append(files, m[1])
		}
	}
	for _, f := range files {
		low := folded(f)
		if !fileForm().MatchString(f) || !holds(src.text, f, "") || strings.Contains(src.touched, base(low)) || src.odd && manifests().MatchString(low) {
			continue
		}
		v.fault(FaultUnproven, p, t, "%q says that %s was changed, and nothing in the messages did", clipped(line), f)
	}
}

var andForm = pattern(`,| and | und | et | y | и |、`)

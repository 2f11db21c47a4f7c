package historian

import (
	"slices"
	"strings"

	"ctxplugin/compartments"
)

func (r *record) failureLines(add func(line)) {
	var later [classGit + 1]int // failures of the class behind this one
	for i := len(r.failures) - 1; i >= 0; i-- {
		f := r.failures[i]
		open := f.passed == 0
		prio := 66
		if open {
			prio = 86
			switch {
			case f.class == classLook && f.shell:
				prio -= 35
			case f.class == classLook:
				prio -= 45
			case f.class == classOther:
				prio -= 12
			}
		}
		if f.denied {
			prio = 72
		}
		if f.halted {
			if prio = 60; f.half { // the state that it left is the first thing to look at
				prio = 86
			}
		}
		// The newest of a kind tell the state, the older ones the way.
		prio -= min(24, 4*max(0, later[f.class]-1))
		later[f.class]++
		count := ""
		if f.count > 1 {
			count = " ×" + itoa(f.count)
			if f.others > 0 {
				count += " (other commands too)"
			}
		}
		state, brief, mark := "(not passed here)", "(open here)", ""
		switch {
		case !open:
			state = "(then passed at [" + itoa(int(f.passed)) + "]"
			brief, mark = "(passed later", "(passed later)"
			if cure := shorten(f.cure, 60); cure != "" {
				state += " after " + cure
			}
			if cure := shorten(f.cure, 30); cure != "" {
				brief += ", after " + cure
			}
			state, brief = state+")", brief+")"
		case f.denied, f.halted, f.yet, f.class == classLook:
			state, brief = "", ""
		}
		text := func(what, line int, tail string) string {
			s := f.what
			if what < 100 && f.main != "" { // the part that decides stands for the rest
				s = nearPaths(safe(f.main))
			}
			if what < 0 { // base names only
				s, what = baseNames(s), -what
			}
			if what > 0 {
				if s = shorten(s, what); s == "" {
					s = shorten(f.verb, what)
				}
			}
			if l := shorten(f.line, line); l != "" {
				s += " → " + l
			}
			return strings.TrimSpace(s + count + " " + tail)
		}
		compact := []string{text(-48, 90, mark), text(-30, 60, mark)}
		if f.half { // what was begun, in full: half of it may be there
			compact = []string{halfDone + told(f.what, 110), halfDone + told(f.what, 70)}
		}
		if f.tests != "" { // which ones is what the work goes on with
			compact = slices.Insert(compact, 0, text(-40, min(150, 34+extent(f.tests)), mark))
		}
		if !open {
			compact = []string{text(-30, 60, mark)}
		}
		add(line{sec: secFailed, prio: prio, must: f.half, ord: f.ord, dim: compartments.Failures, probe: f.line, forms: [levels][]string{
			{text(150, 220, state), text(100, 160, state), text(60, 100, state)},
			{text(80, 140, brief), text(50, 90, brief)},
			compact,
		}})
	}
}

// halfDone begins what compact says of a change that was stopped.
const halfDone = "stopped, maybe half done: "

// told is a command in so much room, without the shell on another machine that it is
// given to.
func told(what string, room int) string {
	if _, script, ok := strings.Cut(what, " '"); ok && strings.HasPrefix(what, "ssh ") {
		what = strings.TrimSuffix(script, "'")
	} else if _, script, ok := strings.Cut(what, ` "`); ok && strings.HasPrefix(what, "ssh ") {
		what = strings.TrimSuffix(script, `"`)
	}
	return shorten(what, room)
}

// mendedLines says what passes now that an earlier entry shows as failing: that
// entry was written before and cannot say it.
func (r *record) mendedLines(add func(line)) {
	for _, m := range r.mended {
		list := func(n int) string {
			var fails []string
			for _, o := range m.fails[max(0, len(m.fails)-n):] {
				fails = append(fails, "["+itoa(int(o))+"]")
			}
			return " (failed at " + strings.Join(fails, ", ") + others(len(m.fails)-n, "") + ")"
		}
		what := nearPaths(safe(m.text))
		text := func(limit, n int) string {
			if s := shorten(what, limit); s != "" {
				return s + list(n)
			}
			return ""
		}
		add(line{sec: secMended, prio: 88, ord: m.ord, dim: compartments.Failures, probe: what, forms: [levels][]string{
			nonEmpty(text(120, 8), text(60, 4)), nonEmpty(text(70, 6), text(40, 3)), nonEmpty(text(48, 3), text(30, 2))}})
	}
}

func (r *record) fileLines(add func(line)) {
	if len(r.files) > 0 {
		full := func(n int) string {
			var parts []string
			for i := range r.files[:min(n, len(r.files))] {
				parts = append(parts, r.files[i].long())
			}
			return strings.Join(parts, "; ") + others(len(r.files)-n, " files")
		}
		dense := func(n int) string {
			var parts []string
			for i := range r.files[:min(n, len(r.files))] {
				parts = append(parts, r.files[i].short())
			}
			return strings.Join(parts, ", ") + others(len(r.files)-n, "")
		}
		compact := func(n int) string {
			var parts []string
			for i := range r.files[:min(n, len(r.files))] {
				parts = append(parts, r.files[i].bare())
			}
			return strings.Join(parts, ", ") + others(len(r.files)-n, "")
		}
		add(line{sec: secChanged, prio: 90, dim: compartments.Location, forms: [levels][]string{
			series(len(r.files), full, 20, 10, 5), series(len(r.files), dense, 10, 6, 4, 2), series(len(r.files), compact, 5, 3, 1)}})
	}
	for _, b := range r.takenBack {
		text := func(places int) string {
			what := "what was not committed"
			if len(b.files) > 0 {
				var files []string
				for _, f := range b.files[:min(3, len(b.files))] {
					if places == 1 {
						f = baseName(f)
					}
					files = append(files, f)
				}
				what = strings.Join(files, ", ") + others(len(b.files)-3, " files")
			}
			var since []string
			for _, o := range b.since[max(0, len(b.since)-places):] {
				since = append(since, "["+itoa(int(o))+"]")
			}
			return "undone: " + what + ", changed at " + strings.Join(since, ", ") + others(len(b.since)-places, "")
		}
		add(line{sec: secChanged, prio: 90, ord: b.ord, closes: true, dim: compartments.Location, forms: [levels][]string{{text(6)}, {text(3)}, {text(1)}}})
	}
	if len(r.reads) > 0 {
		full := func(n int) string {
			var parts []string
			for i := range r.reads[:min(n, len(r.reads))] {
				parts = append(parts, r.reads[i].long())
			}
			return strings.Join(parts, ", ") + others(len(r.reads)-n, "")
		}
		short := func(n int) string {
			var parts []string
			for i := range r.reads[:min(n, len(r.reads))] {
				parts = append(parts, baseName(r.reads[i].shown))
			}
			return strings.Join(parts, ", ") + others(len(r.reads)-n, "")
		}
		l := line{sec: secRead, prio: 44, dim: compartments.Location, forms: [levels][]string{series(len(r.reads), full, 12, 6, 3), series(len(r.reads), full, 5, 3), nil}}
		if len(r.files) == 0 {
			l.prio = 64
			l.forms[atDense] = series(len(r.reads), full, 8, 5, 3)
			l.forms[atCompact] = series(len(r.reads), short, 4, 2)
		}
		add(l)
	}
}

// series is a list at falling lengths, without repeats.
func series(n int, list func(int) string, limits ...int) []string {
	var out []string
	for i, m := range limits {
		if i > 0 && limits[i-1] > n && m >= n {
			continue
		}
		if s := list(m); len(out) == 0 || out[len(out)-1] != s {
			out = append(out, s)
		}
	}
	return out
}

func others(n int, what string) string {
	if n <= 0 {
		return ""
	}
	return " and " + itoa(n) + " more" + what
}

func (r *record) ranLines(add func(line)) {
	if r.bare() {
		for _, l := range r.looked {
			forms := sizes(l.text, 120, 70, 40)
			add(line{sec: secRan, prio: 46, ord: l.ord, dim: compartments.Narrative, forms: [levels][]string{forms, sizes(l.text, 80, 40), sizes(l.text, 40)}})
		}
		return
	}
	shown, newest := 0, -1 // the check that ran last tells the state
	for i := range r.ran {
		if c := &r.ran[i]; c.class == classVerify && c.lastOK && (newest < 0 || c.ord >= r.ran[newest].ord) {
			newest = i
		}
	}
	var index []int
	for i := range r.ran {
		c := &r.ran[i]
		if c.runs == c.failed { // its failure line says all
			continue
		}
		if c.class == classVerify && c.lastOK && c.failed == 0 && i != newest && r.sameProgram(i, newest) {
			r.ran[newest].like += c.runs // one line says enough for a series
			continue
		}
		if shown++; shown > 14 && !c.left {
			continue
		}
		index = append(index, i)
	}
	for _, i := range index {
		c := &r.ran[i]
		prio := 52
		if i == newest {
			prio = 74
		}
		switch c.class {
		case classInstall:
			prio = 48
		case classOther:
			prio = 46 - min(10, i)
			if c.edits { // what was changed stands nowhere else
				prio = 57 - min(10, i)
			}
		}
		if c.left {
			prio = 84
		}
		text := func(limit int, tail bool) string {
			s := shorten(c.text, limit)
			if s == "" {
				return ""
			}
			if c.runs > 1 {
				s += " ×" + itoa(c.runs)
				if c.failed > 0 {
					s += " (" + itoa(c.failed) + " failed)"
				}
			}
			if !tail {
				return s
			}
			switch {
			case !c.lastOK:
				s += " → failed last"
			case c.last != "":
				s += " → " + c.last
			case c.class == classVerify:
				s += " → passed"
			}
			if c.like > 0 {
				s += " (and " + itoa(c.like) + " more like it passed)"
			}
			return s
		}
		forms := [levels][]string{nonEmpty(text(140, true), text(90, true), text(60, false)), nil, nil}
		if c.class == classVerify {
			forms[atDense] = nonEmpty(text(70, true), text(50, true))
			forms[atCompact] = nonEmpty(c.brief(40))
		} else if c.class == classOther {
			forms[atDense] = nonEmpty(text(80, false))
			switch {
			case c.left:
				forms[atCompact] = nonEmpty(text(80, false), text(48, false))
			case r.onlyRan():
				forms[atCompact] = nonEmpty(text(48, false))
			}
		}
		add(line{sec: secRan, prio: prio, ord: c.ord, dim: compartments.Narrative, forms: forms})
	}
}

// brief is a check in a few words: how it ended, with a count if that is short, and
// without what its command says already.
func (c *ran) brief(limit int) string {
	s := shorten(c.text, limit)
	switch {
	case s == "":
		return ""
	case !c.lastOK:
		return s + " → failed last"
	case c.last != "" && extent(c.last) <= 16 && hasDigit(c.last):
		return s + " → " + c.last
	}
	return s + " → passed"
}

// sameProgram reports whether two commands differ in their arguments only.
func (r *record) sameProgram(i, j int) bool {
	if j < 0 {
		return false
	}
	a, b := strings.Fields(r.ran[i].text), strings.Fields(r.ran[j].text)
	return len(a) > 2 && len(b) > 2 && len(a) == len(b) && a[0] == b[0] && a[1] == b[1]
}

func nonEmpty(forms ...string) []string {
	return slices.Compact(slices.DeleteFunc(forms, func(s string) bool { return s == "" }))
}

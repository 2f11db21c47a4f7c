package historian

import (
	"fmt"
	"strings"

	"ctxplugin/compartments"
)

// Scan makes a compartment that has an anchor alone, without reading any
// output: for the first sight of a session that is too long to be written at
// once. The range must not be empty.
func (b *Builtin) Scan(r Range) compartments.Compartment {
	c := frame(r, 0, len(r.Messages))
	c.Strategy, c.Generator, c.Provisional = compartments.StrategyScan, Generator, true
	c.Importance, c.Types = 20, []string{"scanned"}
	title := ""
	var asked []request // the first and the last that says what is wanted
	calls, failed, people := 0, 0, 0
	var files []string
	seen := map[string]bool{}
	note := func(p string) {
		shown := lastTwo(p)
		if p == "" || len(p) > 200 || seen[shown] || safe(shown) != shown {
			return
		}
		seen[shown] = true
		files = append(files, shown)
	}
	var changed, read []string
	for i := range r.Messages {
		m := &r.Messages[i]
		if m.Summary {
			continue
		}
		if m.RealUser() {
			s := listen(m, nil)
			if !s.machine {
				people++
				t := titleOf(split(head(s.own, 2000), true))
				switch {
				case t == "":
				case width(title) < 12:
					title, asked = t, []request{{ord: m.Ordinal, title: t}}
				case width(s.own) >= 24: // fewer words may only answer
					asked = append(asked[:1], request{ord: m.Ordinal, title: t})
				}
			}
		}
		for j := range m.Parts {
			p := &m.Parts[j]
			if p.Kind != compartments.PartTool || p.OwnTool() {
				continue
			}
			calls++
			if p.Status == compartments.StatusError {
				failed++
			}
			path, edits := scanPath(p)
			if edits {
				changed = append(changed, path)
			} else {
				read = append(read, path)
			}
		}
	}
	for _, p := range changed {
		note(p)
	}
	for _, p := range read {
		note(p)
	}
	if title == "" {
		if force := inForce(r.Prior); force != nil {
			title = "(cont. of [" + itoa(int(force.ord)) + "]) " + shorten(force.title, 60)
		}
	} else {
		for _, a := range asked {
			c.Facts = append(c.Facts, compartments.Fact{Ordinal: a.ord, Kind: factRequest, Text: a.title, Anchor: words(a.title)})
		}
		c.Facts = ground(c.Facts, r.Messages)
	}
	if title == "" {
		title = "No words of the user"
	}
	c.Title = title
	c.Names = files[:min(len(files), 12)]
	counts := fmt.Sprintf("%d messages, %d of the user, %d calls", len(r.Messages), people, calls)
	if failed > 0 {
		counts += fmt.Sprintf(", %d failed", failed)
	}
	bare := fmt.Sprintf("[%d-%d] %s", c.First, c.Last, counts)
	text := bare
	for _, limit := range [...]int{64, 48, 32, 16} {
		t := shorten(title, limit)
		if t == "" {
			continue
		}
		if titled := fmt.Sprintf("[%d-%d] %s (%s)", c.First, c.Last, t, counts); b.Count(titled) <= compartments.TierAnchor.Ceiling() {
			text = titled
			break
		}
	}
	for _, f := range files {
		next := strings.TrimSuffix(text, ")") + "; " + baseName(f) + ")"
		if strings.Contains(text, baseName(f)) || !strings.HasSuffix(text, ")") || b.Count(next) > compartments.TierAnchor.Ceiling() {
			continue
		}
		text = next
	}
	var kept compartments.Survival
	kept[compartments.Location], kept[compartments.Narrative], kept[compartments.Constraints] = 200, 200, 200
	c.Tiers = map[compartments.Tier]compartments.Rendition{compartments.TierAnchor: {Text: text, Tokens: b.Count(text), Survival: kept}}
	return c
}

// scanPath finds the path argument of a call in the first bytes of its input.
func scanPath(p *compartments.Part) (path string, edits bool) {
	in := head(p.Input, 600)
	for _, key := range [...]string{`"filePath":`, `"file_path":`, `"path":`} {
		at := strings.Index(in, key)
		if at < 0 {
			continue
		}
		rest := strings.TrimLeft(in[at+len(key):], " ")
		if !strings.HasPrefix(rest, `"`) {
			continue
		}
		end := strings.IndexByte(rest[1:], '"')
		if end < 0 || strings.Contains(rest[:end+1], `\`) {
			continue
		}
		path = rest[1 : end+1]
		break
	}
	if path == "" {
		if at := strings.Index(in, " File: "); at >= 0 {
			rest := in[at+7:]
			if end := strings.Index(rest, `\n`); end > 0 {
				return strings.TrimRight(rest[:end], `\r`), true
			}
		}
		return "", false
	}
	name := strings.ToLower(p.Tool)
	return path, strings.Contains(name, "edit") || strings.Contains(name, "write") || strings.Contains(name, "patch") || strings.Contains(name, "replace")
}

package historian_test

import (
	"regexp"
	"strings"

	"ctxplugin/compartments"
)

// Identifiers are extracted here by other means than in the package: what is
// measured must not be what measures.

// kindOf are the forms of identifiers. What an earlier form takes, a later one
// does not see.
var kindOf = []struct {
	name string
	form *regexp.Regexp
}{
	{"url", regexp.MustCompile(`https?://[\w.\-]+(?::\d+)?(?:/[\w.\-/%~]*[\w/])?`)},
	{"path", regexp.MustCompile(`(?:[A-Za-z]:[\\/]|~?/|\.{1,2}/)?(?:[\w.@\-]+[\\/])*[\w.@\-]*\.(?:go|ts|tsx|js|mjs|jsx|vue|py|rs|sql|json|jsonc|ya?ml|toml|md|txt|csv|proto|swift|plist|sh|ps1|html|css|lock|cfg|ini|log|mod|sum|xlsx|asc|app|exe)\b`)},
	{"version", regexp.MustCompile(`\bv?\d+\.\d+\.\d+(?:[\-+][\w.]+)?\b`)},
	{"error", regexp.MustCompile(`\b(?:TS\d{4}|E\d{3,4}|E[A-Z]{3,}[A-Z_]*|0[xX][0-9a-fA-F]{6,8}|ERR_[A-Z_]+|SQLSTATE [0-9A-Z]{5}|GH\d{3}|[A-Z]\w*(?:Error|Exception)|DependencyLoop)\b`)},
	{"env", regexp.MustCompile(`\b[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+\b`)},
	{"hash", regexp.MustCompile(`\b[0-9a-f]{7,40}\b`)},
	{"measure", regexp.MustCompile(`\b\d[\d,]*(?:\.\d+)?\s?(?:ms|s|sec|seconds|min|minutes|h|KB|kB|MB|GB|MiB|GiB|%|px)(?:\b|$|\s)`)},
	{"port", regexp.MustCompile(`(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\bport[ =:]+|--port[ =]|:)(\d{4,5})\b`)},
	{"symbol", regexp.MustCompile("`([A-Za-z_][\\w.]*(?:\\(\\))?)`|\\b([a-z]+(?:[A-Z][a-z0-9]+)+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+|_?[a-z]+(?:_[a-z0-9]+)+)\\b")},
}

var (
	onlyDigits  = regexp.MustCompile(`^[0-9.,]+$`)
	onlyLetters = regexp.MustCompile(`^[a-f]+$`)
	controls    = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07`)
)

// named lists the identifiers of a text: kind and spelling. A path counts by its
// last element.
func named(text string, symbols bool) map[string]string {
	found := map[string]string{}
	for _, k := range kindOf {
		if k.name == "symbol" && !symbols {
			continue
		}
		text = k.form.ReplaceAllStringFunc(text, func(match string) string {
			name := match
			if groups := k.form.FindStringSubmatch(match); len(groups) > 1 {
				for _, g := range groups[1:] {
					if g != "" {
						name = g
					}
				}
			}
			name = strings.TrimSpace(name)
			switch k.name {
			case "path":
				name = name[strings.LastIndexAny(name, `/\`)+1:]
			case "hash":
				if onlyDigits.MatchString(name) || onlyLetters.MatchString(name) {
					return match
				}
				name = name[:7]
			}
			if len(name) < 2 || len(name) > 80 {
				return match
			}
			found[strings.ToLower(name)] = k.name
			return " "
		})
	}
	return found
}

// sourceNames are the identifiers that a message brings: of what was said and
// called, of errors, and of the first part of other results (no symbols there).
func sourceNames(m *compartments.Message, into map[string]string) {
	add := func(names map[string]string) {
		for name, kind := range names {
			into[name] = kind
		}
	}
	add(spokenNames(m))
	for _, p := range m.Parts {
		if p.Kind != compartments.PartTool || p.OwnTool() {
			continue
		}
		failed := p.Status == compartments.StatusError || p.HasExit && p.ExitCode != 0
		add(named(clean(p.Output, 3000), failed))
	}
}

// spokenNames are the identifiers that a message names itself: in its text and in
// short arguments of calls. Results and long arguments do not count.
func spokenNames(m *compartments.Message) map[string]string {
	found := map[string]string{}
	if m.Role == compartments.RoleUser && !m.RealUser() {
		return found
	}
	for _, p := range m.Parts {
		var texts []string
		switch {
		case p.Kind == compartments.PartText && !p.Synthetic && !p.Ignored:
			texts = []string{clean(withoutBlocks(p.Text), 8000)}
		case p.Kind == compartments.PartTool && !p.OwnTool():
			for _, s := range stringsOf(p.Input) {
				if len(s) <= 300 {
					texts = append(texts, s)
				}
			}
		}
		for _, text := range texts {
			for name, kind := range named(text, true) {
				found[name] = kind
			}
		}
	}
	return found
}

func clean(text string, limit int) string {
	if len(text) > limit {
		text = text[:limit]
	}
	return controls.ReplaceAllString(text, "")
}

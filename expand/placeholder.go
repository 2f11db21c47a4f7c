package expand

import "strings"

// isPlaceholder reports whether a text is one of the placeholders that stand for
// something left out, ours or another program's, and so means nothing as a value.
func isPlaceholder(s string) bool {
	s = strings.TrimSpace(s)
	for _, start := range [...]string{"[stored output of ", ToolExpand + "({", ToolSearch + "({"} {
		if strings.HasPrefix(s, start) {
			return true
		}
	}
	inner := s
	for _, pair := range [...]string{"[]", "<>", "()", "{}"} {
		if len(s) >= 2 && s[0] == pair[0] && s[len(s)-1] == pair[1] {
			inner = strings.TrimSpace(s[1 : len(s)-1])
			break
		}
	}
	switch {
	case inner == "" && s != "":
		return true
	case strings.Trim(inner, ".…") == "" && inner != "":
		return true
	case inner == s:
		return false
	}
	low := strings.ToLower(inner)
	for _, word := range [...]string{"truncated", "omitted", "cleared", "evicted", "compacted", "elided", "redacted", "not shown"} {
		if strings.Contains(low, word) {
			return true
		}
	}
	return strings.HasSuffix(inner, "...") || strings.HasSuffix(inner, "…")
}

func placeholderRefusal(s string) error {
	where := ""
	if i := strings.Index(s, ToolExpand+"({"); i >= 0 {
		if n := strings.Index(s[i:], "})"); n >= 0 && n < callLineMost {
			where = " Make the call that it names: " + oneLine(s[i:i+n+2], callLineMost) + "."
		}
	}
	return refuse("%s is a placeholder for something left out, not a value.%s", quote(clip(s, 60)), where)
}

package draft

import (
	"strings"

	"ctxplugin/compartments"
	"ctxplugin/historian"
)

// judge says what is wrong with a reply before its content is looked at: CallGood
// if nothing is.
func judge(r historian.Reply) compartments.CallVerdict {
	text := strings.TrimSpace(unthought(r.Text))
	switch {
	case r.ToolCall || r.Finish == historian.FinishTool:
		return compartments.CallToolCall
	case r.Finish == historian.FinishRefusal:
		return compartments.CallRefusal
	case text == "" && (r.Reasoning || strings.TrimSpace(r.Text) != ""):
		return compartments.CallReasoning
	case r.Finish == historian.FinishLength:
		return compartments.CallCut
	case text == "":
		return compartments.CallEmpty
	}
	return compartments.CallGood
}

// unreadable judges a reply in which no compartment could be read.
func unreadable(text string) compartments.CallVerdict {
	t := strings.TrimSpace(text)
	switch {
	case strings.HasPrefix(t, "<think"): // never closed
		return compartments.CallReasoning
	case declines(t):
		return compartments.CallRefusal
	}
	return compartments.CallInvalid
}

// cost is what a call costs, in micro-units: rounded up, so that many small calls
// do not cost nothing.
func cost(u compartments.Usage, p compartments.Prices) int64 {
	write := p.CacheWrite
	if write == 0 {
		write = p.Input
	}
	read := p.CacheRead
	if read == 0 {
		read = p.Input
	}
	n := int64(u.Input)*p.Input + int64(u.Output+u.Reasoning)*p.Output + int64(u.CacheRead)*read + int64(u.CacheWrite)*write
	return (n + 999_999) / 1_000_000
}

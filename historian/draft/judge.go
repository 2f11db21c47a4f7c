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

// What one call can have taken at most: what says more counts something else.
const (
	usageMost = 20_000_000    // tokens
	costMost  = 1_000_000_000 // micro-units of money
)

// counted is a usage as a backend states it, and nothing if it cannot be true: a day's
// cap is held against the sum.
func counted(u compartments.Usage) compartments.Usage {
	sum := 0
	for _, n := range [...]int{u.Input, u.Output, u.Reasoning, u.CacheRead, u.CacheWrite} {
		if n < 0 || n > usageMost {
			return compartments.Usage{}
		}
		sum += n
	}
	if sum > usageMost {
		return compartments.Usage{}
	}
	return u
}

// charged is a cost as a backend states it, and 0 if it cannot be true.
func charged(micro int64) int64 {
	if micro < 0 || micro > costMost {
		return 0
	}
	return micro
}

// answeredBy is the name of the model that answered, as far as it may be shown.
func answeredBy(name string) string { return strings.TrimSpace(head(historian.Safe(name), 120)) }

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

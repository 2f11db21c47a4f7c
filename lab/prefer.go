package lab

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"ctxplugin/decay"
)

// PreferAll plays every session with each preference.
const PreferAll = "all"

// preferences are what folds may be made for, from most in view to least cost.
var preferences = [...]string{string(decay.PreferView), string(decay.PreferBalance), string(decay.PreferCost)}

// plays are the settings with which every session is played.
func (s *settings) plays() []*settings {
	if s.prefer != PreferAll {
		return []*settings{s}
	}
	var out []*settings
	for _, p := range preferences {
		one := *s
		one.prefer = p
		out = append(out, &one)
	}
	return out
}

// mean is a sum over all requests by request.
func (r *result) mean(sum int64) int64 {
	if r.requests == 0 {
		return 0
	}
	return (sum + int64(r.requests)/2) / int64(r.requests)
}

// writePreferences compares what each preference means, in tokens in view and in
// money.
func writePreferences(w io.Writer, results []*result, set *settings) error {
	var b strings.Builder
	for i := 0; i < len(results); i += len(preferences) {
		if i > 0 {
			b.WriteByte('\n')
		}
		results[i].reportName(&b, set)
		t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprint(t, "\tin view\thistory\tfolds\ttokens sent\tfrom cache\tcost\t\n")
		for _, r := range results[i : i+len(preferences)] {
			fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%s\t%d.%d %%\t%s\t\n", r.prefer, thousands64(r.mean(r.view)), thousands64(r.mean(r.head)), len(r.folds),
				thousands64(r.bill.Tokens), r.bill.readShare()/10, r.bill.readShare()%10, money(r.bill.Cost, 4))
		}
		t.Flush()
		b.WriteString("in view: tokens of messages in a request, history: of them rendered history; means over all requests\n")
		set.reportPrices(&b)
		b.WriteByte('\n')
		for _, r := range results[i : i+len(preferences)] {
			fmt.Fprintf(&b, "%s: ", r.prefer)
			r.reportChecks(&b)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

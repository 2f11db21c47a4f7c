package historian

// Unpassed is a check that failed in a run and did not pass later.
type Unpassed struct {
	Place   int    // of the message in which it failed last
	Command string // as it was parsed
	Error   string // the line that says why
	Output  string
}

// Unpassed lists the checks that failed in the places [from, to) and that nothing
// covers which passed there later: by the rule by which the record says "not passed
// here".
func (x *Reading) Unpassed(from, to int) []Unpassed {
	type failure struct {
		Unpassed
		waits []check
	}
	var open []failure
	for i := from; i < to; i++ {
		uses := x.v.ms[i].uses
		for k := range uses {
			u := &uses[k]
			if u.kind != useShell || u.open || u.stopped || u.refused {
				continue
			}
			passed := []check(nil)
			if !u.failed {
				passed = u.cmd.checks()
			}
			left := open[:0]
			for _, f := range open {
				if f.Command == u.cmd.text {
					continue
				}
				if f.waits, _ = strike(f.waits, passed); len(f.waits) > 0 {
					left = append(left, f)
				}
			}
			if open = left; u.failed && u.cmd.class == classVerify {
				if waits := failing(u); len(waits) > 0 {
					open = append(open, failure{Unpassed{i, u.cmd.text, u.errLine, u.output}, waits})
				}
			}
		}
	}
	out := make([]Unpassed, len(open))
	for i := range open {
		out[i] = open[i].Unpassed
	}
	return out
}

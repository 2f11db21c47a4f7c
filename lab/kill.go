package lab

import (
	"context"
	"fmt"
)

// restart kills the process in the middle of the session and asks a new one, over
// the same database, for the plan of the same list. It asks the old one again
// first: what was written behind its last answer may fold now, which is no fault
// of the new one.
func (r *replay) restart(ctx context.Context, s *step) error {
	t, err := r.again(ctx, s, r.applied)
	if err != nil {
		return err
	}
	if _, _, err := r.adopt(ctx, s, t); err != nil {
		return err
	}
	r.proc.kill()
	<-r.client.done
	if err := r.connect(ctx); err != nil {
		return fmt.Errorf("after a kill: %w", err)
	}
	if err := r.announce(ctx, s.view); err != nil {
		return err
	}
	for _, applied := range []string{r.applied, ""} {
		t, err := r.again(ctx, s, applied)
		if err != nil {
			return err
		}
		r.check.check(promiseRestart, t.planID == r.applied, "the plan was %q, after a kill it is %q (folded: %t, reason %q)",
			r.applied, t.planID, t.stats.Folded, t.stats.Reason)
		if t.plan != nil && r.plan != nil {
			r.check.check(promiseRestart, string(t.plan.raw) == string(r.plan.raw), "the bytes of the plan changed: %s",
				difference(string(t.plan.raw), string(r.plan.raw)))
		}
	}
	return nil
}

// again asks for the plan of a list that was announced before.
func (r *replay) again(ctx context.Context, s *step, applied string) (*transformed, error) {
	reply, err := r.client.call(ctx, "session/transform", r.params(s, applied))
	if err != nil {
		return nil, err
	}
	return parseTransformed(reply)
}

// idle tells the plugin that the turn has ended.
func (r *replay) idle() error {
	return r.client.notify("session/event", fmt.Appendf(nil, `{"sessionID":%s,"type":"idle"}`, quote(r.rec.id)))
}

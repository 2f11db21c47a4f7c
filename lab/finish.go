package lab

import (
	"context"
	"fmt"
)

// finish announces the whole session, takes the history that the next request
// would begin with, and opens everything again.
func (r *replay) finish(ctx context.Context, last *step) error {
	list := view(r.rec, len(r.rec.messages))
	if err := r.announce(ctx, list); err != nil {
		return err
	}
	if r.set.tier != "" {
		if _, err := r.client.call(ctx, "session/fold", fmt.Appendf(nil, `{"sessionID":%s}`, quote(r.rec.id))); err != nil {
			return err
		}
	}
	t, err := r.again(ctx, last, r.applied)
	if err != nil {
		return err
	}
	if t.plan != nil {
		r.plan = t.plan
	}
	if r.plan != nil {
		for _, h := range r.plan.Head {
			r.result.history = append(r.result.history, h.Text)
		}
	}
	if err := checkRaw(ctx, r.result.verdicts, r.play, r.order); err != nil {
		return err
	}
	dropped, stubs := r.outOfView(list)
	if err := checkPages(ctx, r.result.verdicts, r.play, r.order, dropped, stubs); err != nil {
		return err
	}
	return checkSearch(ctx, r.result.verdicts, r.play, r.order)
}

// outOfView says of every ordinal whether the request for a list lacks its
// message, and lists the fields that it shows as stubs.
func (r *replay) outOfView(list []int) (dropped []bool, stubs []field) {
	req := r.render.apply(r.rec, list, r.plan)
	there := map[int]bool{}
	for i := range req.messages {
		there[req.messages[i].index] = true
	}
	for at, i := range r.order {
		dropped = append(dropped, !there[i])
		for part := range r.rec.messages[i].parts {
			for _, name := range []string{"input", "output"} {
				if req.edited[editKey{r.rec.messages[i].id, part, name}] {
					stubs = append(stubs, field{at + 1, part, name})
				}
			}
		}
	}
	return dropped, stubs
}

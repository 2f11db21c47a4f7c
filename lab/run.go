package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"ctxplugin/lab/provider"
	"ctxplugin/tokens"
)

// replay is one session being played.
type replay struct {
	set    *settings
	rec    *recording
	start  launcher
	dir    string
	proc   *process
	client *client

	play   *play
	render *renderer
	check  *checker
	cache  *provider.Cache
	result *result

	plan    *plan    // in force
	applied string   // its id
	before  []digest // of the last request
	warned  map[string]bool
	order   []int // messages by the time they were first shown
	shown   map[int]bool
}

func replayOne(ctx context.Context, rec *recording, set *settings, start launcher, bar *progress) (*result, error) {
	dir, err := os.MkdirTemp("", "ctxplugin-replay-")
	if err != nil {
		return nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	defer os.RemoveAll(dir)
	v := newVerdicts()
	render := newRenderer(tokens.New())
	r := &replay{set: set, rec: rec, start: start, dir: dir, render: render,
		check: newChecker(v, rec, render, set.window), cache: provider.NewCache(set.prices),
		warned: map[string]bool{}, shown: map[int]bool{},
		result: &result{rec: rec, prefer: set.prefer, verdicts: v, baselines: baselines(set.window, set.prices)}}
	if err := r.connect(ctx); err != nil {
		return nil, err
	}
	defer func() { r.proc.kill() }()
	r.play = newPlay(rec, r.client)
	if set.measure {
		r.result.measures = newMeasures(rec, render, r.play.raw)
	}
	if err := r.run(ctx, bar); err != nil {
		return nil, r.explain(err)
	}
	if err := r.shutdown(ctx); err != nil {
		return nil, r.explain(err)
	}
	return r.result, nil
}

// explain adds what the process last said to an error.
func (r *replay) explain(err error) error {
	if said := r.proc.said(); said != "" {
		return fmt.Errorf("%w (it said: %s)", err, said)
	}
	return err
}

func (r *replay) connect(ctx context.Context) error {
	proc, err := r.start(ctx, r.dir)
	if err != nil {
		return err
	}
	r.proc, r.client = proc, newClient(proc.stdout, proc.stdin)
	if r.play != nil {
		r.play.client = r.client
	}
	if _, err := r.client.call(ctx, "initialize", r.set.initialize(r.dir)); err != nil {
		return r.explain(err)
	}
	return nil
}

func (r *replay) shutdown(ctx context.Context) error {
	if _, err := r.client.call(ctx, "shutdown", []byte("{}")); err != nil {
		return err
	}
	if err := r.proc.stdin.Close(); err != nil {
		return fmt.Errorf("close its input: %w", err)
	}
	select {
	case <-r.client.done:
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(patience):
		return errors.New("it does not end after shutdown")
	}
	if err := r.proc.wait(); err != nil {
		return fmt.Errorf("it ended badly: %w", err)
	}
	return nil
}

func (r *replay) run(ctx context.Context, bar *progress) error {
	steps := cut(r.rec)
	middle := len(steps) / 2
	for n := range steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		r.check.step = n + 1
		s := &steps[n]
		if s.compacting {
			r.result.compactions++
			if err := r.announce(ctx, s.view); err != nil {
				return err
			}
		} else if err := r.request(ctx, s); err != nil {
			return err
		}
		if n >= middle && !s.compacting {
			middle = len(steps)
			if err := r.restart(ctx, s); err != nil {
				return err
			}
		}
		if s.idleAfter && !s.compacting {
			if err := r.idle(); err != nil {
				return err
			}
		}
		bar.step()
	}
	r.check.step = 0
	return r.finish(ctx, &steps[len(steps)-1])
}

// announce brings a list over and notes which messages are new.
func (r *replay) announce(ctx context.Context, list []int) error {
	pieces, want, err := r.play.announce(list)
	if err != nil {
		return err
	}
	r.show(list)
	return r.synced(ctx, list, r.play.confirm(ctx, pieces, want))
}

func (r *replay) show(list []int) {
	for _, i := range list {
		if !r.shown[i] {
			r.shown[i] = true
			r.order = append(r.order, i)
		}
	}
}

// synced judges the end of a sync. After a resync it goes on as a host does.
func (r *replay) synced(ctx context.Context, list []int, err error) error {
	var again *resync
	var misnamed *revisionError
	switch {
	case err == nil:
		r.check.check(promiseRevision, true, "")
		return nil
	case errors.As(err, &again):
		r.check.check(promiseRevision, false, "the plugin holds another list than it confirmed: %v", again)
		return r.play.recover(ctx, again, list)
	case errors.As(err, &misnamed):
		r.check.check(promiseRevision, false, "%v", misnamed)
		return fmt.Errorf("cannot go on: %w", misnamed)
	}
	return err
}

// request plays one step: the list is announced and the plan asked for in one
// go, as a host does that knows the revision itself.
func (r *replay) request(ctx context.Context, s *step) error {
	pieces, want, err := r.play.announce(s.view)
	if err != nil {
		return err
	}
	r.show(s.view)
	asked, err := r.client.start("session/transform", r.params(s, r.applied))
	if err != nil {
		return err
	}
	err = r.play.confirm(ctx, pieces, want)
	var again *resync
	if errors.As(err, &again) {
		_, _ = asked.wait(ctx) // it failed for the same reason
		if err := r.synced(ctx, s.view, err); err != nil {
			return err
		}
		if asked, err = r.client.start("session/transform", r.params(s, r.applied)); err != nil {
			return err
		}
	} else if err := r.synced(ctx, s.view, err); err != nil {
		return err
	}
	reply, err := asked.wait(ctx)
	if err != nil {
		return err
	}
	synced := pieces[len(pieces)-1]
	r.check.check(promiseOrder, again != nil || synced.place < asked.place, "the transform was answered before the sync that it was sent after")
	since := asked.sentAt
	if synced.at.After(since) {
		since = synced.at
	}
	r.result.latency = append(r.result.latency, max(0, asked.at.Sub(since)))
	t, err := parseTransformed(reply)
	if err != nil {
		return err
	}
	return r.sent(ctx, s, t)
}

func (r *replay) params(s *step, applied string) []byte {
	m := &r.rec.messages[s.reply]
	return r.set.transformParams(r.rec.id, ask{rev: r.play.revs[len(r.play.held)].String(), applied: applied,
		agent: m.agent, model: m.model, now: s.now})
}

// sent takes an answer, sends the request that results and pays for it.
func (r *replay) sent(ctx context.Context, s *step, t *transformed) error {
	was := r.plan
	req, reduced, err := r.adopt(ctx, s, t)
	if err != nil {
		return err
	}
	if m := r.result.measures; m != nil {
		m.observe(r.check.step, req, was, r.plan, t.stats.Folded, s.reply)
	}
	if !reduced {
		r.result.irreducible = append(r.result.irreducible, irreducible{r.check.step, req.tokens(), t.stats.Irreducible})
	}
	r.result.requests++
	r.result.stubs = t.stats.Stubs
	r.result.peak = max(r.result.peak, req.tokens())
	notices := r.client.heard()
	for _, w := range t.stats.Warnings {
		notices = append(notices, "warning: "+w)
	}
	for _, w := range notices {
		if !r.warned[w] {
			r.warned[w] = true
			r.result.warnings = append(r.result.warnings, w)
		}
	}
	r.pay(s, req)
	return nil
}

// adopt puts the plan of an answer in force and checks the request that results.
// reduced is false if it is too large and could not be made smaller.
func (r *replay) adopt(ctx context.Context, s *step, t *transformed) (req *request, reduced bool, err error) {
	was := r.plan
	switch {
	case t.plan != nil:
		r.plan = t.plan
	case t.planID != r.applied:
		return nil, false, fmt.Errorf("session/transform: the plan %q is in force, but the answer leaves it out", t.planID)
	}
	r.applied = t.planID
	req = r.render.apply(r.rec, s.view, r.plan)
	reduced = !r.check.observe(&pass{view: s.view, plan: r.plan, req: req, answer: t})
	if t.stats.Folded {
		err = r.folded(ctx, s, t, was, req)
	}
	return req, reduced, err
}

func (r *replay) folded(ctx context.Context, s *step, t *transformed, was *plan, req *request) error {
	line, err := r.foldLine(ctx, t.stats.Fold)
	if err != nil {
		return err
	}
	f := fold{Number: t.stats.Fold, Step: r.check.step, Messages: len(s.view), Reason: t.stats.Reason,
		Divergence: r.check.folded(was, r.plan, line), Before: r.render.apply(r.rec, s.view, was).tokens(), After: req.tokens()}
	for i := range req.messages[:req.head] {
		f.History += req.messages[i].tokens()
	}
	f.Pairs = req.head / 2
	if line != nil {
		r.check.weighed(line, f.Before, f.After, len(orEmpty(r.plan).Edits), t.stats.Usable)
		f.Before, f.After, f.Tiers = line.Before, line.After, line.Tiers
	}
	r.result.folds = append(r.result.folds, f)
	return nil
}

// foldLine asks status for a fold; nil if status does not list it.
func (r *replay) foldLine(ctx context.Context, number int) (*foldLine, error) {
	st, err := r.status(ctx)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(st.Folds, func(l foldLine) bool { return l.Number == number })
	if !r.check.check(promiseFold, at >= 0, "status does not know fold %d", number) {
		return nil, nil
	}
	return &st.Folds[at], nil
}

type status struct {
	Folds []foldLine `json:"folds"`
}

func (r *replay) status(ctx context.Context) (*status, error) {
	reply, err := r.client.call(ctx, "session/status", fmt.Appendf(nil, `{"sessionID":%s}`, quote(r.rec.id)))
	if err != nil {
		return nil, err
	}
	var st status
	if err := json.Unmarshal(reply, &st); err != nil {
		return nil, fmt.Errorf("session/status: %w", err)
	}
	return &st, nil
}

// pay charges the request and its baselines, and makes the usage that the
// provider would report with the reply.
func (r *replay) pay(s *step, req *request) {
	reply := &r.rec.messages[s.reply]
	said, thought := 0, 0
	for _, p := range reply.parts {
		switch p.kind {
		case "reasoning":
			thought += r.render.count.Count(p.text)
		case "text":
			said += r.render.count.Count(p.text)
		case "tool":
			said += r.render.count.Count(p.state.input)
		}
	}
	sums := req.sums()
	if !startsWith(sums, r.before) {
		r.result.bill.NewPrefix++
	}
	r.before = sums
	r.result.bill.Requests++
	r.result.view += int64(req.tokens())
	for i := range req.messages[:req.head] {
		r.result.head += int64(req.messages[i].tokens())
	}
	if req.tokens() > r.set.window.usable {
		r.result.bill.OverWindow++
	}
	b := r.cache.Bill(req.charge(r.set.window.prefix, s.now, said+thought))
	r.result.bill.add(b, r.set.prices)
	if reply.failure == nil {
		r.play.usages[s.reply] = &usage{Input: b.Fresh, Output: said, Reasoning: thought, Read: b.Read, Write: b.Write}
	}
	var whole []int
	for i := range r.rec.messages[:s.reply] {
		if m := &r.rec.messages[i]; !m.summary && !isCompaction(m) {
			whole = append(whole, i)
		}
	}
	all := r.render.apply(r.rec, whole, nil)
	for _, b := range r.result.baselines {
		b.send(all, s.now, said+thought)
	}
}

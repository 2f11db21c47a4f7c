package draft

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"ctxplugin/compartments"
	"ctxplugin/historian"
	"ctxplugin/prompts"
)

// ask has one candidate write a chunk: with a bounded number of tries, and one
// repair. Without pieces the verdict says why; with them by says who answered.
func (j *job) ask(ctx context.Context, c *chunk, k, output int) (pieces []piece, by string, verdict compartments.CallVerdict) {
	cand := &j.w.cfg.Candidates[k]
	tries := cand.Tries
	if tries <= 0 {
		tries = triesUnknown
	}
	what := j.words(c)
	prompt := prompts.Historian.Fill(what)
	repair := false
	for try := 1; try <= tries && ctx.Err() == nil; try++ {
		call := compartments.Call{Try: try, Repair: repair}
		res := j.call(ctx, c, k, prompt, output, &call)
		pieces, verdict = res.pieces, res.verdict
		switch {
		case len(pieces) > 0:
			j.bad[k] = 0
			return pieces, res.by, verdict
		case j.over[k]:
			return nil, "", verdict
		case verdict == compartments.CallInvalid && !repair:
			repair = true
			prompt = prompts.Historian.Repair(what, head(res.text, 4*output), told(res.faults))
			try-- // the repair is apart
		case verdict == compartments.CallInvalid:
			try = tries
		case verdict == compartments.CallEmpty || verdict == compartments.CallReasoning:
			tries = min(tries, try+1) // once more
		case verdict.Passing():
			pause := j.pause(try, res.after)
			if pause > pauseMost {
				j.over[k] = true
				return nil, "", verdict
			}
			if try < tries {
				j.doing(fmt.Sprintf("waiting %s to ask %s again", pause.Round(time.Second), cand.title()))
				if j.w.cfg.Clock.Sleep(ctx, pause) != nil {
					return nil, "", compartments.CallCancelled
				}
			}
		default:
			try = tries
		}
	}
	switch {
	case verdict.Lasting():
		j.over[k] = true
	case verdict == compartments.CallCut, verdict == compartments.CallTooLong:
	default:
		if j.bad[k]++; verdict.Passing() || j.bad[k] >= badMost {
			j.over[k] = true
		}
	}
	return nil, "", verdict
}

// pause is how long to wait before the next try.
func (j *job) pause(try int, after time.Duration) time.Duration {
	p := pauseFirst << min(try-1, 10)
	if after > p {
		p = after
	}
	return p + j.w.cfg.Jitter(max(p/2, time.Second))
}

// result is what one call came to.
type result struct {
	pieces  []piece
	verdict compartments.CallVerdict
	faults  []Fault
	text    string
	by      string // who answered
	after   time.Duration
}

// call makes one call, judges it, and records it before anything is done with it.
func (j *job) call(ctx context.Context, c *chunk, k int, prompt string, output int, call *compartments.Call) (res result) {
	w, cand := j.w, &j.w.cfg.Candidates[k]
	r := j.x.Range()
	call.Session, call.First, call.Last = r.Session, r.Messages[c.from].Ordinal, r.Messages[c.to-1].Ordinal
	call.Source = compartments.RunHash(r.Hashes[c.from:c.to])
	call.Backend, call.Model, call.Setup, call.Prompt = cand.Backend, cand.Name, cand.Setup, prompts.Historian.Version
	start := w.cfg.Clock.Now()
	call.At = start.UnixMilli()
	input := w.fixed + w.cfg.Count(prompt)
	call.Usage, call.Estimated = compartments.Usage{Input: input + input*inputMargin/100, Output: output}, true
	call.Cost = cost(call.Usage, cand.Prices)
	hold, err := w.cfg.Journal.Admit(ctx, *call)
	if err != nil || hold.Verdict != "" {
		j.over[k] = true
		if res.verdict = hold.Verdict; err != nil {
			res.verdict, hold.Text = compartments.CallHeld, "the ledger of calls cannot be read: "+err.Error()
		}
		j.held(cand, res.verdict, hold)
		return res
	}
	j.doing(Asking(cand.title(), call.First, call.Last))
	limit := cand.Timeout
	if limit <= 0 {
		limit = timeUnknown
	}
	timed, cancel := context.WithTimeout(ctx, limit)
	reply, err := cand.Model.Generate(timed, historian.Request{Session: r.Session, Purpose: "historian", Model: cand.Name,
		System: prompts.Historian.System, Prompt: prompt, MaxTokens: output, Temperature: cand.Temperature})
	cancel()
	if err != nil {
		res.verdict = historian.VerdictOf(err)
		if ctx.Err() != nil {
			res.verdict = compartments.CallCancelled
		}
		call.Detail = oneLine(err.Error())
		var f *historian.Failure
		if errors.As(err, &f) && f.Text != "" {
			call.Detail = oneLine(f.Text) // the verdict stands beside it
		}
		reserved := call.Usage
		if call.Usage, call.Estimated = (compartments.Usage{}), false; errors.As(err, &f) {
			call.Usage, res.after = counted(f.Usage), f.RetryAfter
		}
		if call.Usage == (compartments.Usage{}) && (res.verdict == compartments.CallTimeout || res.verdict == compartments.CallCancelled) {
			call.Usage, call.Estimated = reserved, true // it may be charged all the same, nobody says with how much
		}
		call.Cost = cost(call.Usage, cand.Prices)
	} else {
		j.settle(c.from, c.to)
		res.text = reply.Text
		answered := answeredBy(reply.Model)
		if res.by = cand.title(); answered != "" {
			res.by = cand.Backend + "/" + answered
		}
		call.Answered = answered
		if call.Usage, call.Estimated = counted(reply.Usage), false; call.Usage == (compartments.Usage{}) {
			call.Usage, call.Estimated = compartments.Usage{Input: input, Output: w.cfg.Count(reply.Text)}, true
		}
		if call.Cost = charged(reply.Cost); call.Cost == 0 {
			call.Cost = cost(call.Usage, cand.Prices)
		}
		var dropped []Fault
		res.pieces, res.faults, dropped, res.verdict = j.read(c, reply)
		call.Faults = append(codesOf(res.faults), codesOf(dropped)...)
		switch {
		case len(res.faults) > 0:
			call.Detail = oneLine(res.faults[0].String())
		case answered != "" && answered != cand.Name:
			call.Detail = oneLine("answered by " + answered)
		}
	}
	call.Verdict = res.verdict
	now := w.cfg.Clock.Now()
	call.Ms = now.Sub(start).Milliseconds()
	if res.after > 0 {
		call.RetryAtMs = now.Add(res.after).UnixMilli()
	}
	j.note(cand, res.verdict, strings.TrimSpace(cand.title()+" "+call.Detail))
	// Also what was given up has to be paid, so the end of ctx does not stop this.
	if err := w.cfg.Journal.Record(context.WithoutCancel(ctx), *call); err != nil {
		for i := range j.over { // nobody would know of further calls
			j.over[i] = true
		}
		j.note(cand, compartments.CallHeld, oneLine("the ledger of calls cannot be written: "+err.Error()))
	}
	return res
}

// read takes a reply apart.
func (j *job) read(c *chunk, reply historian.Reply) (pieces []piece, faults, dropped []Fault, verdict compartments.CallVerdict) {
	if verdict := judge(reply); verdict != compartments.CallGood {
		return nil, nil, nil, verdict
	}
	drafts := parse(reply.Text)
	if len(drafts) == 0 {
		if verdict := unreadable(reply.Text); verdict != compartments.CallInvalid {
			return nil, nil, nil, verdict
		}
	}
	pieces, faults, dropped = newValidator(j.x, c, j.w.cfg.Count).validate(drafts)
	if len(faults) > 0 {
		if whole := j.whole(c, drafts); whole != nil {
			// cut off in its last compartment: those before it stand, the rest is asked for anew
			if p, f, d := newValidator(j.x, whole, j.w.cfg.Count).validate(drafts[:len(drafts)-1]); len(f) == 0 {
				return p, nil, d, compartments.CallGood
			}
		}
		return nil, faults, nil, compartments.CallInvalid
	}
	return pieces, nil, dropped, compartments.CallGood
}

// whole is the part of a chunk before a last compartment that was cut off, nil if
// none was.
func (j *job) whole(c *chunk, drafts []draft) *chunk {
	n := len(drafts)
	if n < 2 || drafts[n-1].closed || drafts[n-1].tiers[compartments.TierAnchor] != "" {
		return nil
	}
	o, ok := ordinal(drafts[n-1].first)
	if !ok {
		return nil
	}
	place, ok := (&validator{x: j.x, c: c}).place(o)
	if !ok || place <= c.from || !legal(j.x, place) {
		return nil
	}
	cut := *c
	cut.to, cut.entries = place, c.entries[:place-c.from]
	return &cut
}

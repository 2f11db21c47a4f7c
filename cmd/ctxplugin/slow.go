package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"ctxplugin/compartments"
	"ctxplugin/historian"
	"ctxplugin/historian/draft"
	"ctxplugin/historian/ledger"
	"ctxplugin/models"
	"ctxplugin/rpc"
	"ctxplugin/session"
	"ctxplugin/sqlite"
)

var (
	_ draft.Journal   = (*ledger.Ledger)(nil)
	_ ledger.Store    = (*sqlite.Store)(nil)
	_ session.Leases  = (*sqlite.Store)(nil)
	_ historian.Model = (*hostModel)(nil)
)

// slowHistorian adds the historian that asks models to what sessions are made of,
// if the user chose any. A temporary database keeps no account of what is spent, so
// models are asked for the user's own alone.
func (s *service) slowHistorian(b *backing, builtin *historian.Builtin, c *session.Config) {
	if len(s.config.Models) == 0 {
		return
	}
	c.SlowStatus = func(ctx context.Context, id compartments.SessionID) string { return s.historianLine(ctx, b, id) }
	if s.host == nil || b.folder != "" {
		return
	}
	candidates := s.candidates(b)
	if len(candidates) == 0 {
		return
	}
	s.holder = fmt.Sprintf("%d.%d", os.Getpid(), time.Now().UnixNano())
	c.Leases, c.Holder = b.store, s.holder
	c.SlowReady = func(ctx context.Context) bool { return s.slowReady(ctx, b.store) }
	c.Slow = draft.New(draft.Config{
		Candidates: candidates, Builtin: builtin, Count: c.Count, Clock: systemClock{}, Jitter: rand.N[time.Duration],
		Journal: &ledger.Ledger{Store: b.store, Limits: s.limits()},
		Report:  s.reported,
	})
}

func (s *service) limits() ledger.Limits {
	return ledger.Limits{Tokens: s.config.DayTokens, Cost: int64(s.config.DayCost) * 10_000}
}

// candidates are the models that can be asked here. s.mu is held.
func (s *service) candidates(b *backing) (out []draft.Candidate) {
	for i := range s.config.Models {
		m := &s.config.Models[i]
		c := draft.Candidate{Backend: m.Backend, Name: m.Model, Setup: m.setup(), Window: m.Window, MaxOutput: m.MaxOutput, Temperature: m.Temperature,
			Prices: m.prices(), Timeout: m.timeout(), Tries: m.Tries}
		endpoint := models.Endpoint{URL: m.URL, Key: string(m.Key), Options: m.Options}
		switch m.Backend {
		case backendHost:
			if !s.lends(b, m) {
				continue
			}
			c.Model = &hostModel{s.host}
		case backendAnthropic:
			c.Model = models.Anthropic(endpoint)
		case backendOpenAI:
			c.Model = models.OpenAI(endpoint)
		}
		out = append(out, c)
	}
	return out
}

// lends reports whether the host lends its models, and notes it for those who look
// from outside. s.mu is held.
func (s *service) lends(b *backing, m *modelChoice) bool {
	hello, ok := s.host.Hello()
	h := compartments.ModelHold{Backend: m.Backend, Model: m.Model, Setup: m.setup(), At: time.Now().UnixMilli()}
	lends := !ok || hello.Generate
	if !lends {
		h.CallHold = compartments.CallHold{Verdict: compartments.CallHeld, Text: strings.TrimSpace(fmt.Sprintf("this host does not lend its models (%s %s)", hello.Host, hello.Version))}
		s.tell("warning", "historian: "+h.Text+"; the built-in generator writes instead")
	}
	ctx, cancel := context.WithTimeout(s.life, noteTime)
	defer cancel()
	if err := b.store.Hold(ctx, &h); err != nil {
		s.log.Warn("note whether the host lends its models", "why", err.Error())
	}
	return lends
}

// noteTime is the most that a first request waits for a note to be stored.
const noteTime = 200 * time.Millisecond

// systemClock is the time of this machine.
type systemClock struct{}

// Now implements draft.Clock.
func (systemClock) Now() time.Time { return time.Now() }

// Sleep implements draft.Clock.
func (systemClock) Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// reported takes what the writer does for a session. What somebody has to act on is
// told once for each model and cause, until the model writes again.
func (s *service) reported(id compartments.SessionID, state draft.State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.states == nil || len(s.states) > statesKept {
		s.states = map[compartments.SessionID]draft.State{}
	}
	s.states[id] = state
	s.log.Debug("historian", "session", string(id), "doing", state.Doing, "model", state.Model, "verdict", string(state.Verdict), "why", state.Text)
	about := toldOf{state.Model, state.Verdict}
	switch {
	case state.Verdict == compartments.CallHeld:
		about.cause = state.Cause
	case state.Verdict == compartments.CallCap:
		about.model = "" // the caps are those of all
	case state.Verdict == compartments.CallGood:
		s.toldOf = slices.DeleteFunc(s.toldOf, func(t toldOf) bool { return t.model == state.Model || t.model == "" })
		return
	case !state.Verdict.Lasting():
		return
	}
	if !slices.Contains(s.toldOf, about) {
		s.toldOf = append(s.toldOf, about)
		instead := "The built-in generator writes meanwhile."
		if len(s.config.Models) > 1 && about.model != "" {
			instead = "The others, or the built-in generator, write meanwhile."
		}
		s.tell("warning", fmt.Sprintf("historian: %s. %s", strings.TrimSuffix(state.Text, "."), instead))
	}
}

// toldOf is what the user was told of a model: why it is not asked.
type toldOf struct {
	model string
	cause compartments.CallVerdict
}

// statesKept is for how many sessions it is remembered what the writer does.
const statesKept = 1000

// name is a choice as lines name it.
func (m *modelChoice) name() string {
	if m.Model == "" {
		return m.Backend
	}
	return m.Backend + "/" + m.Model
}

// hostModel asks the models of the host.
type hostModel struct{ host *rpc.Host }

// Generate implements historian.Model.
func (m *hostModel) Generate(ctx context.Context, r historian.Request) (historian.Reply, error) {
	q := rpc.GenerateRequest{Session: r.Session, Purpose: r.Purpose, System: r.System, Prompt: r.Prompt, Model: r.Model, MaxTokens: r.MaxTokens, Temperature: -1}
	if r.Temperature != nil {
		q.Temperature = int(*r.Temperature*100 + 0.5)
	}
	reply, err := m.host.Generate(ctx, q)
	if err != nil {
		return historian.Reply{}, hostFailure(ctx, err)
	}
	out := historian.Reply{Text: reply.Text, Finish: historian.Finish(reply.Finish), ToolCall: reply.ToolCall, Reasoning: reply.Reasoning,
		Model: reply.Model, Usage: reply.Usage, Cost: reply.Cost}
	switch out.Finish {
	case historian.FinishStop, historian.FinishLength, historian.FinishTool, historian.FinishRefusal:
	default:
		out.Finish = historian.FinishOther
	}
	return out, nil
}

// hostVerdicts are those that a host may state.
var hostVerdicts = []compartments.CallVerdict{compartments.CallTimeout, compartments.CallRateLimit, compartments.CallAuth, compartments.CallUnknownModel,
	compartments.CallTooLong, compartments.CallRequest, compartments.CallNetwork, compartments.CallServer, compartments.CallCancelled}

func hostFailure(ctx context.Context, err error) *historian.Failure {
	f := &historian.Failure{Verdict: compartments.CallServer, Text: historian.Safe(err.Error()), Err: err}
	var said *rpc.HostError
	switch {
	case errors.As(err, &said):
		f.Text = "host: " + historian.Safe(said.Message)
		f.RetryAfter = time.Duration(said.RetryAfterMs) * time.Millisecond
		if v := compartments.CallVerdict(said.Verdict); slices.Contains(hostVerdicts, v) {
			f.Verdict = v
		}
	case errors.Is(err, rpc.ErrNotOffered):
		f.Verdict = compartments.CallRequest
	case errors.Is(err, rpc.ErrHostGone), errors.Is(ctx.Err(), context.Canceled):
		f.Verdict = compartments.CallCancelled
	case ctx.Err() != nil:
		f.Verdict, f.Text = compartments.CallTimeout, "the host did not answer in time"
	}
	return f
}

package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"ctxplugin/compartments"
)

// pieceLimit is the most bytes of messages in one piece of a sync.
const pieceLimit = 8 << 20

// usage is what the simulated provider reports for a reply, in tokens.
type usage struct {
	Input, Output, Reasoning, Read, Write int
}

// play is a recording as the plugin has come to know it.
type play struct {
	rec    *recording
	client *client
	piece  int // most bytes of messages in one piece of a sync, unless it is one message

	wire   [][]byte   // each message as it was first sent; nil before
	usages []*usage   // reported for each reply; nil for none
	held   []int      // the list that the plugin holds
	revs   []revision // of each prefix of held; one longer than it
}

func newPlay(rec *recording, c *client) *play {
	return &play{rec: rec, client: c, piece: pieceLimit, wire: make([][]byte, len(rec.messages)),
		usages: make([]*usage, len(rec.messages)), revs: []revision{emptyRevision()}}
}

// raw is a message as it stands on the wire.
func (p *play) raw(i int) []byte {
	if p.wire[i] == nil {
		p.wire[i] = wireMessage(&p.rec.messages[i], p.usages[i])
	}
	return p.wire[i]
}

func wireMessage(m *message, u *usage) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"id":%s,"role":%q`, m.quoted, m.role)
	if m.time > 0 {
		fmt.Fprintf(&b, `,"time":%d`, m.time)
	}
	if m.agent != "" {
		fmt.Fprintf(&b, `,"agent":%s`, quote(m.agent))
	}
	if m.model != "" {
		fmt.Fprintf(&b, `,"model":%s`, quote(m.model))
	}
	if u != nil {
		fmt.Fprintf(&b, `,"tokens":{"input":%d,"output":%d,"reasoning":%d,"cache":{"read":%d,"write":%d}}`,
			u.Input, u.Output, u.Reasoning, u.Read, u.Write)
	}
	if m.finish != "" {
		fmt.Fprintf(&b, `,"finish":%s`, quote(m.finish))
	}
	if m.summary {
		b.WriteString(`,"summary":true`)
	}
	if m.failure != nil {
		fmt.Fprintf(&b, `,"error":%s`, m.failure)
	}
	b.WriteString(`,"parts":[`)
	for i := range m.parts {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(m.parts[i].raw)
	}
	b.WriteString("]}")
	return b.Bytes()
}

// revisionsOf gives the revision of every prefix of a list, taking from held
// what is the same.
func (p *play) revisionsOf(list []int, same int) []revision {
	revs := append([]revision(nil), p.revs[:same+1]...)
	for _, i := range list[same:] {
		revs = append(revs, revs[len(revs)-1].add(&p.rec.messages[i]))
	}
	return revs
}

// announce starts the sync of a list: what the plugin holds already is kept,
// the rest follows in pieces. It returns the pieces' requests and the revision
// that each of them must answer.
func (p *play) announce(list []int) (pieces []*pending, want []string, err error) {
	same := 0
	for same < len(list) && same < len(p.held) && list[same] == p.held[same] {
		same++
	}
	revs := p.revisionsOf(list, same)
	base, keep := p.revs[len(p.held)], same
	for {
		end, size := keep, 0
		for end < len(list) && (end == keep || size+len(p.raw(list[end])) <= p.piece) {
			size += len(p.raw(list[end]))
			end++
		}
		more := end < len(list)
		one, err := p.client.start("session/sync", p.pieceParams(base, revs[keep], list[keep:end], more))
		if err != nil {
			return nil, nil, err
		}
		pieces, want = append(pieces, one), append(want, revs[end].String())
		base, keep = revs[end], end
		if !more {
			break
		}
	}
	p.held, p.revs = append([]int(nil), list...), revs
	return pieces, want, nil
}

func (p *play) pieceParams(base, check revision, list []int, more bool) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"sessionID":%s,"base":%q,"keep":%d,"check":%q,"messages":[`, quote(p.rec.id), base, check.count, check)
	for i, m := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(p.raw(m))
	}
	fmt.Fprintf(&b, `],"more":%t}`, more)
	return b.Bytes()
}

// resync is a plugin that holds another list than it should.
type resync struct{ err *wireError }

func (r *resync) Error() string { return r.err.Error() }

// sync brings a list over and checks the answered revisions. A *resync says that
// the plugin did not hold what it had confirmed.
func (p *play) sync(ctx context.Context, list []int) error {
	pieces, want, err := p.announce(list)
	if err != nil {
		return err
	}
	return p.confirm(ctx, pieces, want)
}

func (p *play) confirm(ctx context.Context, pieces []*pending, want []string) error {
	for i, one := range pieces {
		reply, err := one.wait(ctx)
		var w *wireError
		if errors.As(err, &w) && w.Data.Code == "resync" {
			return &resync{w}
		}
		if err != nil {
			return err
		}
		var r struct {
			Rev string `json:"rev"`
		}
		if err := json.Unmarshal(reply, &r); err != nil {
			return fmt.Errorf("session/sync: %w", err)
		}
		if r.Rev != want[i] {
			return &revisionError{got: r.Rev, want: want[i]}
		}
	}
	return nil
}

// revisionError is a list whose two ends name it differently.
type revisionError struct{ got, want string }

func (e *revisionError) Error() string {
	return fmt.Sprintf("the plugin calls the list %s, by the formula it is %s", e.got, e.want)
}

// recover follows a resync as a host does: it goes on from what the plugin holds
// if that is a prefix of the list, otherwise from nothing.
func (p *play) recover(ctx context.Context, r *resync, list []int) error {
	keep := r.err.Data.Keep
	p.held, p.revs = nil, []revision{emptyRevision()}
	revs := p.revisionsOf(list, 0)
	if keep >= 0 && keep <= len(list) && revs[keep].String() == r.err.Data.Check {
		p.held, p.revs = append([]int(nil), list[:keep]...), revs[:keep+1]
	}
	return p.sync(ctx, list)
}

// ask is everything about one transform but the list.
type ask struct {
	rev     string
	applied string
	agent   string
	model   string // "provider/model"
	now     int64
}

func (s *settings) transformParams(session string, a ask) []byte {
	provider, model := splitModel(a.model)
	params := struct {
		SessionID  string `json:"sessionID"`
		Rev        string `json:"rev"`
		Applied    string `json:"applied"`
		DeadlineMs int    `json:"deadlineMs"`
		Agent      string `json:"agent"`
		Model      any    `json:"model"`
		FixedBytes int    `json:"fixedBytes"`
		Now        int64  `json:"now"`
	}{session, a.rev, a.applied, int(patience.Milliseconds()), a.agent, struct {
		ID       string              `json:"id"`
		Provider string              `json:"provider"`
		Context  int                 `json:"context"`
		Output   int                 `json:"output"`
		Prices   compartments.Prices `json:"prices"`
	}{model, provider, s.window.context, s.window.output, s.prices}, s.window.prefix * 9 / 2, a.now}
	out, err := json.Marshal(params)
	if err != nil {
		panic(err) // numbers and strings alone
	}
	return out
}

func splitModel(name string) (provider, model string) {
	for i := range name {
		if name[i] == '/' {
			return name[:i], name[i+1:]
		}
	}
	return "", name
}

// stats are the numbers of a transform's answer that the checks look at.
type stats struct {
	Fold        int      `json:"fold"`
	Folded      bool     `json:"folded"`
	Reason      string   `json:"reason"`
	Usable      int      `json:"usable"`
	Messages    int      `json:"messages"`
	Stubs       int      `json:"stubs"`
	Irreducible string   `json:"irreducible"`
	Warnings    []string `json:"warnings"`
}

// transformed is the answer of a transform.
type transformed struct {
	planID    string
	plan      *plan // nil when absent
	maxOutput int
	stats     stats
}

func parseTransformed(reply []byte) (*transformed, error) {
	var w struct {
		PlanID    string          `json:"planID"`
		Plan      json.RawMessage `json:"plan"`
		MaxOutput int             `json:"maxOutput"`
		Stats     stats           `json:"stats"`
	}
	if err := json.Unmarshal(reply, &w); err != nil {
		return nil, fmt.Errorf("session/transform: %w", err)
	}
	t := &transformed{planID: w.PlanID, maxOutput: w.MaxOutput, stats: w.Stats}
	if len(w.Plan) > 0 && string(w.Plan) != "null" {
		p, err := parsePlan(w.Plan)
		if err != nil {
			return nil, fmt.Errorf("session/transform: %w", err)
		}
		if p.ID != w.PlanID {
			return nil, fmt.Errorf("session/transform: the plan is %s, its planID %s", strconv.Quote(p.ID), strconv.Quote(w.PlanID))
		}
		t.plan = p
	}
	return t, nil
}

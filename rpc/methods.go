package rpc

import (
	"context"
	"encoding/json"
	"fmt"

	"ctxplugin/compartments"
	"ctxplugin/session"
)

// spliced stands in the library's envelope for the result that the stream puts
// in its place.
var spliced = json.RawMessage("0")

// method answers one request with the JSON of its result. It runs in the lane of
// the request's session.
type method func(ctx context.Context, s *server, r *request) ([]byte, error)

// methods are those of a session. initialize, shutdown and $/cancelRequest are
// the reader's.
var methods = map[string]method{
	"session/sync":      syncList,
	"session/transform": transform,
	"session/event":     event,
	"session/expand":    expand,
	"session/fold":      fold,
	"session/status":    status,
	"session/undo":      undo,
	"session/pin":       pin,
	"session/unpin":     unpin,
	"session/pins":      pins,
	"session/forget":    forget,
	"tools/call":        callTool,
}

// initialize runs on the reader, so that what follows in the same breath finds
// the connection open.
func (s *server) initialize(r *request) error {
	var version count
	var host struct{ Name, Version string }
	var project struct{ Directory string }
	var can struct{ Generate, Notify, Plan bool }
	if err := r.read(map[string]any{"protocolVersion": &version, "host": &host, "project": &project, "capabilities": &can}); err != nil {
		return err
	}
	if version != ProtocolVersion {
		return &compartments.Error{Code: compartments.CodeUnsupportedVersion,
			Text: fmt.Sprintf("protocol version %d is not served; this is ctxplugin %s, which serves version %d: update the older of the two", version, s.Version, ProtocolVersion),
			Data: map[string]any{"served": []int{ProtocolVersion}}}
	}
	s.Host.greet(Hello{Host: host.Name, Version: host.Version, Directory: project.Directory, Generate: can.Generate, Notify: can.Notify, Plan: can.Plan,
		Options: r.params.get("options")})

	b := appendJSON([]byte(`{"server":{"name":`), s.Name)
	b = appendJSON(append(b, `,"version":`...), s.Version)
	b = fmt.Appendf(b, `},"protocolVersion":%d,"tools":[`, ProtocolVersion)
	for i, t := range s.Sessions.Tools() {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendJSON(append(b, `{"name":`...), t.Name)
		b = appendJSON(append(b, `,"description":`...), t.Description)
		b = append(append(append(b, `,"inputSchema":`...), t.InputSchema...), '}')
	}
	b = append(b, `],"capabilities":{"transform":true,"expand":true,"search":true,"fold":true,"status":true,"pin":true,"forget":true},"placeholder":{"pattern":`...)
	b = appendJSON(b, session.StubPattern)
	b = appendJSON(append(b, `,"refusal":`...), session.StubRefusal)
	b = append(b, "}}"...)
	s.greeted = true
	s.Log.Info("host connected", "host", clip(host.Name, 100), "version", clip(host.Version, 100), "generate", can.Generate, "notify", can.Notify, "plan", can.Plan)
	if r.id != nil {
		s.replyLater(r, b, nil)
	}
	return nil
}

func syncList(ctx context.Context, s *server, r *request) ([]byte, error) {
	var q session.SyncRequest
	var keep count
	err := r.read(map[string]any{"sessionID": &q.Session, "parent": &q.Parent, "base": &q.Base, "keep": &keep, "check": &q.Check, "more": &q.More})
	if err != nil {
		return nil, err
	}
	q.Keep = int(keep)
	if q.Keep < 0 {
		return nil, badInput("session/sync: keep is %d; it counts messages", q.Keep)
	}
	if list := r.params.get("messages"); list != nil {
		if q.Messages = elements(list); q.Messages == nil {
			return nil, badInput("session/sync: messages is no array")
		}
	}
	for i, m := range q.Messages {
		if m[0] != '{' {
			return nil, badInput("session/sync: message %d of this piece is no object", i)
		}
	}
	rev, err := s.Sessions.Sync(ctx, q)
	if err != nil {
		return nil, err
	}
	return append(appendJSON([]byte(`{"rev":`), rev), '}'), nil
}

func transform(ctx context.Context, s *server, r *request) ([]byte, error) {
	var q session.TransformRequest
	var deadline, fixed, now count
	var model struct {
		ID       string `json:"id"`
		Provider string `json:"provider"`
		Context  count  `json:"context"`
		Output   count  `json:"output"`
		Prices   struct {
			Input      count  `json:"input"`
			Output     count  `json:"output"`
			CacheRead  count  `json:"cacheRead"`
			CacheWrite count  `json:"cacheWrite"`
			TTLMs      count  `json:"ttlMs"`
			Kind       string `json:"kind"`
		} `json:"prices"`
	}
	err := r.read(map[string]any{"sessionID": &q.Session, "rev": &q.Rev, "applied": &q.Applied, "deadlineMs": &deadline,
		"agent": &q.Agent, "model": &model, "fixedBytes": &fixed, "now": &now, "sent": &q.Sent})
	if err != nil {
		return nil, err
	}
	p := model.Prices
	q.DeadlineMs, q.FixedBytes, q.Now = max(0, int(deadline)), max(0, int(fixed)), int64(now)
	q.Model = session.Model{ID: model.ID, Provider: model.Provider, Context: max(0, int(model.Context)), Output: max(0, int(model.Output)),
		Prices: compartments.Prices{Input: max(0, int64(p.Input)), Output: max(0, int64(p.Output)), CacheRead: max(0, int64(p.CacheRead)),
			CacheWrite: max(0, int64(p.CacheWrite)), TTLMs: max(0, int64(p.TTLMs)), Kind: p.Kind}}
	reply, err := s.Sessions.Transform(ctx, q)
	if err != nil {
		return nil, err
	}
	stats, err := encode(reply.Stats)
	if err != nil {
		return nil, err
	}
	b := make([]byte, 0, len(reply.Plan)+len(stats)+128)
	b = appendJSON(append(b, `{"planID":`...), reply.PlanID)
	if reply.Plan != nil {
		b = append(append(b, `,"plan":`...), reply.Plan...)
	}
	if reply.MaxOutput > 0 {
		b = fmt.Appendf(b, `,"maxOutput":%d`, reply.MaxOutput)
	}
	b = appendStanding(b, reply.Standing)
	return append(append(append(b, `,"stats":`...), stats...), '}'), nil
}

func appendStanding(b []byte, how *session.Standing) []byte {
	if how == nil {
		return b
	}
	b = appendJSON(append(b, `,"standing":{"rev":`...), how.Rev)
	return fmt.Appendf(b, `,"inside":%d,"next":%d,"until":%d}`, how.Inside, how.Next, how.Until)
}

func event(ctx context.Context, s *server, r *request) ([]byte, error) {
	var e session.Event
	var tokens usage
	var name, message string
	var status count
	err := r.read(map[string]any{"sessionID": &e.Session, "type": &e.Type, "messageID": &e.Message, "tokens": &tokens,
		"name": &name, "message": &message, "status": &status, "overflow": &e.Overflow, "source": &e.Source})
	if err != nil {
		return nil, err
	}
	switch e.Type {
	case "usage":
		e.Usage = tokens.domain()
	case "error":
		e.Text = name
		if status != 0 {
			e.Text = fmt.Sprintf("%s (%d)", name, status)
		}
		e.Text += ": " + message
	case "idle", "deleted":
	case "forkedFrom":
		if e.Source == "" {
			return nil, badInput("session/event: forkedFrom needs a source")
		}
	default:
		return nil, badInput("session/event: no event is called %q", clip(e.Type, 100))
	}
	if err := s.Sessions.Event(ctx, e); err != nil {
		return nil, err
	}
	return []byte("null"), nil
}

func callTool(ctx context.Context, s *server, r *request) ([]byte, error) {
	var id compartments.SessionID
	var name string
	if err := r.read(map[string]any{"sessionID": &id, "name": &name}); err != nil {
		return nil, err
	}
	arguments, ok := argumentsOf(r.params.get("arguments"))
	result := session.ToolResult{Text: "The arguments must be one JSON object.", IsError: true}
	if ok {
		var err error
		if result, err = s.Sessions.CallTool(ctx, id, name, arguments); err != nil {
			return nil, err
		}
	}
	b := appendJSON([]byte(`{"content":[{"type":"text","text":`), result.Text)
	return fmt.Appendf(b, `}],"isError":%t}`, result.IsError), nil
}

func expand(ctx context.Context, s *server, r *request) ([]byte, error) {
	q := session.ExpandRequest{Part: -1}
	var first, last, compartment, offset, limit count
	part := count(-1)
	err := r.read(map[string]any{"sessionID": &q.Session, "first": &first, "last": &last, "compartment": &compartment,
		"message": &q.Message, "part": &part, "offset": &offset, "limit": &limit})
	if err != nil {
		return nil, err
	}
	if err := r.places(part, compartment); err != nil {
		return nil, err
	}
	if offset < 0 || limit < 0 {
		return nil, badInput("session/expand: offset and limit are not negative")
	}
	q.First, q.Last = compartments.Ordinal(first), compartments.Ordinal(last)
	q.Compartment = compartments.CompartmentID(compartment)
	q.Part, q.Offset, q.Limit = int(part), int(offset), int(limit)
	reply, err := s.Sessions.Expand(ctx, q)
	if err != nil {
		return nil, err
	}
	if q.Part >= 0 {
		b := appendJSON([]byte(`{"text":`), reply.Text)
		b = fmt.Appendf(b, `,"offset":%d`, reply.Offset)
		if reply.Next > 0 {
			b = fmt.Appendf(b, `,"next":%d`, reply.Next)
		}
		return fmt.Appendf(b, `,"total":%d}`, reply.Total), nil
	}
	b := []byte(`{"messages":[`)
	for i, m := range reply.Messages {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, `{"ordinal":%d,"id":`, m.Ordinal)
		id, err := m.ID.MarshalJSON()
		if err != nil {
			return nil, err
		}
		b = append(b, id...)
		if m.Withdrawn {
			b = append(b, `,"withdrawn":true`...)
		}
		b = append(appendJSON(append(b, `,"raw":`...), string(m.Raw)), '}')
	}
	b = append(b, ']')
	if reply.Next > 0 {
		b = fmt.Appendf(b, `,"next":{"offset":%d}`, reply.Next)
	}
	return fmt.Appendf(b, `,"total":%d}`, reply.Total), nil
}

func fold(ctx context.Context, s *server, r *request) ([]byte, error) {
	var id compartments.SessionID
	var dry bool
	if err := r.read(map[string]any{"sessionID": &id, "dryRun": &dry}); err != nil {
		return nil, err
	}
	reply, err := s.Sessions.Fold(ctx, id, dry)
	if err != nil {
		return nil, err
	}
	b := fmt.Appendf(nil, `{"folded":%t,"planID":`, reply.Folded)
	b = appendJSON(b, reply.PlanID)
	return append(appendJSON(append(b, `,"reason":`...), reply.Reason), '}'), nil
}

func undo(ctx context.Context, s *server, r *request) ([]byte, error) {
	id, err := r.sessionOnly()
	if err != nil {
		return nil, err
	}
	reply, err := s.Sessions.Undo(ctx, id)
	if err != nil {
		return nil, err
	}
	return encode(reply)
}

func status(ctx context.Context, s *server, r *request) ([]byte, error) {
	id, err := r.sessionOnly()
	if err != nil {
		return nil, err
	}
	st, err := s.Sessions.Status(ctx, id)
	if err != nil {
		return nil, err
	}
	return encode(st)
}

func forget(ctx context.Context, s *server, r *request) ([]byte, error) {
	id, err := r.sessionOnly()
	if err != nil {
		return nil, err
	}
	if err := s.Sessions.Forget(ctx, id); err != nil {
		return nil, err
	}
	return []byte("{}"), nil
}

func (r *request) sessionOnly() (id compartments.SessionID, err error) {
	err = r.read(map[string]any{"sessionID": &id})
	return id, err
}

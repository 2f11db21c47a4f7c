package lab

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"ctxplugin/compartments"
	"ctxplugin/tokens"
)

// fake is a plugin that folds naively: all but the newest messages become one
// more pair, or one pair when there are many. Faults make it break promises.
type fake struct {
	fault string

	mu      sync.Mutex
	list    []compartments.MessageID
	raws    map[compartments.MessageID][]byte
	order   []compartments.MessageID
	msgs    map[compartments.MessageID]message
	prints  map[compartments.MessageID]compartments.Fingerprint
	plan    plan
	folds   []foldLine
	asked   int // transforms answered
	sentTo  int // length of the list at the last transform
	usable  int
	started int
}

func newFake(fault string) *fake {
	return &fake{fault: fault, raws: map[compartments.MessageID][]byte{}, msgs: map[compartments.MessageID]message{},
		prints: map[compartments.MessageID]compartments.Fingerprint{}}
}

// launch is a launcher whose processes share the fake's memory, as real ones
// share a database.
func (f *fake) launch(context.Context, string) (*process, error) {
	f.mu.Lock()
	f.started++
	if f.started > 1 {
		switch f.fault {
		case "amnesia":
			f.list = nil
		case "half amnesia":
			f.list = f.list[:len(f.list)/2]
		case "another plan after a kill":
			f.plan.Head = append(slices.Clone(f.plan.Head), pair{Text: "new"})
			f.name()
		}
	}
	f.mu.Unlock()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.serve(inR, outW)
		outW.Close()
		inR.Close()
	}()
	return &process{stdin: inW, stdout: outR, said: func() string { return "" },
		kill: func() { inR.Close(); outR.Close(); <-done }, wait: func() error { <-done; return nil }}, nil
}

type frame struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

func (f *fake) serve(in io.Reader, out io.Writer) {
	r := bufio.NewReader(in)
	var held []string // answers that a fault keeps back
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return
		}
		var q frame
		if json.Unmarshal(line, &q) != nil || q.ID == nil {
			continue
		}
		result, err := f.answer(q.Method, q.Params)
		reply := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, q.ID, result)
		var failed *fakeError
		if errors.As(err, &failed) {
			reply = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":%s}`, q.ID, failed.body)
		}
		if f.fault == "answers out of order" && q.Method == "session/sync" && f.asked == 3 {
			held = append(held, reply)
			continue
		}
		for _, line := range append([]string{reply}, held...) {
			if _, err := io.WriteString(out, line+"\n"); err != nil {
				return
			}
		}
		held = nil
		if f.fault == "dies" && f.asked > 5 {
			return
		}
	}
}

type fakeError struct{ body string }

func (e *fakeError) Error() string { return e.body }

func (f *fake) answer(method string, params json.RawMessage) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch method {
	case "initialize":
		return `{"protocolVersion":1}`, nil
	case "session/sync":
		return f.sync(params)
	case "session/transform":
		return f.transform(params)
	case "session/status":
		b, err := json.Marshal(map[string]any{"folds": f.folds})
		return string(b), err
	case "session/expand":
		return f.expand(params)
	case "tools/call":
		return f.tool(params)
	}
	return "null", nil
}

func (f *fake) revision(n int) compartments.Revision {
	r := compartments.EmptyRevision()
	for _, id := range f.list[:n] {
		r = r.Add(f.prints[id])
	}
	return r
}

func (f *fake) sync(params []byte) (string, error) {
	var q struct {
		Base, Check string
		Keep        int
		Messages    []json.RawMessage
	}
	if err := json.Unmarshal(params, &q); err != nil {
		return "", err
	}
	if q.Keep > len(f.list) || q.Base != f.revision(len(f.list)).String() && q.Keep > 0 || f.revision(q.Keep).String() != q.Check {
		return "", &fakeError{fmt.Sprintf(`{"code":-32001,"message":"another list","data":{"code":"resync","keep":%d,"check":%q}}`,
			len(f.list), f.revision(len(f.list)))}
	}
	f.list = f.list[:q.Keep:q.Keep]
	for _, raw := range q.Messages {
		m, err := compartments.DecodeMessage(raw)
		if err != nil {
			return "", err
		}
		if f.raws[m.ID] == nil {
			f.order = append(f.order, m.ID)
		}
		f.raws[m.ID], f.prints[m.ID] = raw, m.Print()
		wrapped, _, err := parseMessage(fmt.Appendf(nil, `{"info":%s,"parts":%s}`, raw, rawParts(raw)))
		if err != nil {
			return "", err
		}
		f.msgs[m.ID] = wrapped
		f.list = append(f.list, m.ID)
	}
	rev := f.revision(len(f.list)).String()
	if f.fault == "another revision" && len(f.list) > 10 {
		rev = "1.0000000000000000"
	}
	return fmt.Sprintf(`{"rev":%q}`, rev), nil
}

func rawParts(raw []byte) json.RawMessage {
	var m struct {
		Parts json.RawMessage `json:"parts"`
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		panic(err)
	}
	return m.Parts
}

// recording is the fake's list as a recording, for rendering.
func (f *fake) recording() (*recording, []int) {
	r := &recording{}
	var places []int
	for i, id := range f.list {
		r.messages = append(r.messages, f.msgs[id])
		places = append(places, i)
	}
	return r, places
}

func (f *fake) weigh() int {
	rec, places := f.recording()
	return newRenderer(counts).apply(rec, places, &f.plan).tokens()
}

// remembered counts tokens and keeps the counts.
type remembered struct {
	mu     sync.Mutex
	counts map[string]int
}

var counts = &remembered{counts: map[string]int{}}

func (r *remembered) Count(s string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n, ok := r.counts[s]
	if !ok {
		n = tokens.New().Count(s)
		r.counts[s] = n
	}
	return n
}

func (f *fake) name() {
	f.plan.ID = ""
	b, err := json.Marshal(&f.plan)
	if err != nil {
		panic(err)
	}
	sum := sha256.Sum256(b)
	f.plan.ID = hex.EncodeToString(sum[:])
}

func (f *fake) transform(params []byte) (string, error) {
	var q struct {
		Rev, Applied string
		Model        struct{ Context, Output int }
		FixedBytes   int
	}
	if err := json.Unmarshal(params, &q); err != nil {
		return "", err
	}
	if have := f.revision(len(f.list)).String(); q.Rev != have && f.fault != "another revision" {
		return "", &fakeError{fmt.Sprintf(`{"code":-32001,"message":"another list","data":{"code":"resync","keep":%d,"check":%q}}`, len(f.list), have)}
	}
	f.usable = divide(q.Model.Context, q.Model.Output, q.FixedBytes*2/9).usable
	f.asked++
	s := stats{Fold: len(f.folds), Usable: f.usable}
	if f.plan.ID == "" {
		f.name()
	}
	if f.weigh() > f.usable*6/10 && f.fault != "over the window" && f.fault != "silent about what is irreducible" {
		f.fold(&s)
	}
	f.stub()
	if s.Folded {
		f.folds[len(f.folds)-1].After = f.weigh()
	}
	f.misbehave(&s)
	f.sentTo = len(f.list)
	if f.weigh() > f.usable && f.fault != "silent about what is irreducible" {
		s.Irreducible = "the newest user message"
	}
	out := map[string]any{"planID": f.plan.ID, "stats": s}
	if q.Applied != f.plan.ID {
		out["plan"] = &f.plan
	}
	b, err := json.Marshal(out)
	return string(b), err
}

// fold leaves the newest step and its user message behind the head.
func (f *fake) fold(s *stats) {
	before := f.weigh()
	cut := len(f.list)
	for cut > 0 && cut > len(f.list)-2 {
		cut--
	}
	if cut < 2 || f.list[cut-1] == compartments.MessageID(f.plan.Through) {
		return
	}
	divergence := len(f.plan.Head)
	if divergence >= 3 {
		divergence = 0
	}
	head := slices.Clone(f.plan.Head[:divergence])
	text := fmt.Sprintf("History up to %s: %d messages.", f.list[cut-1], cut)
	if f.fault == "blank pair" {
		text = " \n"
	}
	head = append(head, pair{Text: text})
	claimed := divergence
	if f.fault == "a fold that touches an older pair" && divergence > 0 {
		head[0].Text += " "
	}
	for i := range head {
		head[i].CacheMark = i == len(head)-1
	}
	f.plan.Head, f.plan.Through, f.plan.Keep = head, string(f.list[cut-1]), nil
	newest := false
	for i := len(f.list) - 1; i >= 0 && f.fault != "newest user message lost"; i-- {
		m := f.msgs[f.list[i]]
		if !realUser(&m) || newest && i >= cut {
			continue
		}
		f.plan.Keep = append([]string{string(f.list[i])}, f.plan.Keep...)
		newest = true
		if i < cut { // the user message of the turn in which the tail begins
			break
		}
	}
	f.plan.Edits = slices.DeleteFunc(f.plan.Edits, func(e edit) bool {
		return slices.Index(f.list, compartments.MessageID(e.MessageID)) < cut
	})
	f.name()
	f.folds = append(f.folds, foldLine{Number: len(f.folds) + 1, Reason: "forced", Divergence: claimed, Pairs: len(head),
		Before: before, Tiers: map[string]int{"anchor": cut}})
	s.Fold, s.Folded, s.Reason = len(f.folds), true, "forced"
	if f.fault == "a fold without a reason" {
		s.Reason = ""
	}
}

// stub makes outputs that were never sent small where the window does not hold.
func (f *fake) stub() {
	for i := len(f.list) - 1; i >= f.sentTo && f.weigh() > f.usable && f.fault != "over the window"; i-- {
		m := f.msgs[f.list[i]]
		for at := range m.parts {
			if m.parts[at].kind == "tool" && !m.parts[at].state.open() {
				f.plan.Edits = append(f.plan.Edits, edit{string(f.list[i]), at, "output", "[stored output]"})
			}
		}
		f.name()
	}
}

// misbehave breaks one promise.
func (f *fake) misbehave(s *stats) {
	newest := ""
	for _, id := range f.list {
		if m := f.msgs[id]; m.role == "assistant" {
			newest = string(id)
		}
	}
	late := len(f.folds) == 2 && !s.Folded
	switch f.fault {
	case "a fold that says it freed more":
		if s.Folded {
			f.folds[len(f.folds)-1].After /= 2
		}
	case "a fold that says there was more":
		if s.Folded {
			f.folds[len(f.folds)-1].Before *= 2
		}
	case "a byte changes between folds":
		if late {
			f.plan.Head[0].Text += "."
		}
	case "an old output becomes a stub":
		for _, id := range f.list[:f.sentTo] {
			m := f.msgs[id]
			if late && slices.Index(f.list, id) > slices.Index(f.list, compartments.MessageID(f.plan.Through)) && len(m.parts) > 1 && m.parts[1].kind == "tool" {
				f.plan.Edits = append(f.plan.Edits, edit{string(id), 1, "output", "[gone]"})
				break
			}
		}
	case "the plan is void":
		if late {
			f.plan.Through = "msg_nowhere"
		}
	case "an empty output":
		if late {
			f.plan.Edits = append(f.plan.Edits, edit{newest, 1, "output", ""})
		}
	case "the newest reply is edited":
		if late {
			f.plan.Edits = append(f.plan.Edits, edit{newest, 0, "text", "other words"})
		}
	case "the user is edited":
		if late {
			f.plan.Edits = append(f.plan.Edits, edit{f.plan.Keep[0], 0, "text", "other words"})
		}
	case "everything of a message is dropped":
		if late {
			f.plan.Edits = append(f.plan.Edits, edit{newest, 0, "drop", ""}, edit{newest, 1, "drop", ""}, edit{newest, 2, "drop", ""})
		}
	case "a fold that is not counted":
		if s.Folded {
			s.Folded = false
		}
	}
	f.name()
}

func (f *fake) expand(params []byte) (string, error) {
	var q struct {
		First, Last, Offset, Limit int
		Message                    compartments.MessageID
		Part                       *int
	}
	if err := json.Unmarshal(params, &q); err != nil {
		return "", err
	}
	if q.Part != nil {
		var parts []json.RawMessage
		if err := json.Unmarshal(rawParts(f.raws[q.Message]), &parts); err != nil {
			return "", err
		}
		part := string(parts[*q.Part])
		end := min(len(part), q.Offset+q.Limit)
		for end < len(part) && part[end]&0xc0 == 0x80 {
			end--
		}
		text := part[q.Offset:end]
		if f.fault == "a page of a part is altered" && q.Offset > 0 {
			text = strings.ToUpper(text)
		}
		out := map[string]any{"text": text, "offset": q.Offset, "total": len(part)}
		if end < len(part) {
			out["next"] = end
		}
		b, err := json.Marshal(out)
		return string(b), err
	}
	type one struct {
		Ordinal int                    `json:"ordinal"`
		ID      compartments.MessageID `json:"id"`
		Raw     string                 `json:"raw"`
	}
	out := struct {
		Messages []one `json:"messages"`
		Next     *next `json:"next,omitempty"`
		Total    int   `json:"total"`
	}{Total: q.Last - q.First + 1}
	for o := q.First + q.Offset; o <= q.Last && len(out.Messages) < 7; o++ {
		id := f.order[o-1]
		raw := string(f.raws[id])
		if f.fault == "a message is altered" && o == 9 {
			raw = strings.Replace(raw, " ", "  ", 1)
		}
		if f.fault == "a message is lost" && o == q.Last {
			continue
		}
		out.Messages = append(out.Messages, one{o, id, raw})
	}
	if at := q.Offset + len(out.Messages); q.First+at <= q.Last {
		out.Next = &next{at}
	}
	b, err := json.Marshal(out)
	return string(b), err
}

func (f *fake) tool(params []byte) (string, error) {
	var q struct {
		Name      string
		Arguments struct {
			First, Last, Message, Offset int
			Part                         *int
			Field, Query                 string
		}
	}
	if err := json.Unmarshal(params, &q); err != nil {
		return "", err
	}
	a := q.Arguments
	text := ""
	switch {
	case q.Name == "ctx_search":
		text = f.search(a.Query)
	case a.Part != nil:
		for _, name := range [...]string{"text", "input", "output"} {
			if a.Field == "" || a.Field == name {
				text += f.page(a.Message, *a.Part, name, a.Offset)
			}
		}
	default:
		for o := a.First; o <= a.Last; o++ {
			m := f.msgs[f.order[o-1]]
			for i := range m.parts {
				for _, name := range [...]string{"text", "input", "output"} {
					text += f.page(o, i, name, 0)
				}
			}
		}
	}
	b, err := json.Marshal(map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}})
	return string(b), err
}

// pageBytes is how much of a field the fake shows at a time.
const pageBytes = 700

func (f *fake) page(o, part int, name string, from int) string {
	m := f.msgs[f.order[o-1]]
	s, ok := fieldsOf(&m, o)[field{o, part, name}]
	if !ok || f.fault == "a field is not shown" && name == "input" {
		return ""
	}
	to := min(len(s), from+pageBytes)
	for to < len(s) && s[to]&0xc0 == 0x80 {
		to--
	}
	body := s[from:to]
	if f.fault == "a page is altered" && from > 0 || f.fault == "the end is altered" && to == len(s) {
		body = strings.Repeat("x", len(body))
	}
	out := fmt.Sprintf("=== message %d, part %d, %s (some, (remarks), bytes 1-2 of 3), bytes %d-%d of %d\n%s\n", o, part, name, from, to, len(s), body)
	if to < len(s) {
		if f.fault == "a page has a gap" {
			to++
		}
		if f.fault == "pages never end" {
			to = min(to, from+1)
		}
		if f.fault != "the rest is not named" {
			out += fmt.Sprintf("Rest: ctx_expand({\"message\": %d, \"part\": %d, \"field\": %q, \"offset\": %d})\n", o, part, name, to)
		}
	}
	return out
}

func (f *fake) search(query string) string {
	if f.fault == "nothing is found" {
		return "No hits.\n"
	}
	out := ""
	for at, id := range f.order {
		m := f.msgs[id]
		for _, s := range fieldsOf(&m, at+1) {
			if strings.Contains(strings.ToLower(s), query) {
				out += fmt.Sprintf("1. message %d, part 0, text: %q\n", at+1, query)
			}
		}
	}
	return out
}

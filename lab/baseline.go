package lab

import (
	"ctxplugin/compartments"
	"ctxplugin/lab/provider"
)

// Numbers of the baselines.
const (
	summaryTokens = 2000 // of one flat summary
	summaryMark   = 850  // permille of the usable window at which it is written
	tailShare     = 200  // permille of the usable window that stays behind it
	tailMost      = 20_000
)

// baseline is another way of sending a session, for comparison.
type baseline struct {
	name   string
	bill   bill
	cache  *provider.Cache
	before []digest
	window window
	prices compartments.Prices
	reduce func(b *baseline, req *request, now int64) *request
	from   int // index of the first message that is still sent
	round  int // flat summaries written so far
}

func baselines(w window, p compartments.Prices) []*baseline {
	return []*baseline{
		{name: "everything", cache: provider.NewCache(p), window: w, prices: p,
			reduce: func(_ *baseline, req *request, _ int64) *request { return req }},
		{name: "truncation", cache: provider.NewCache(p), window: w, prices: p, reduce: (*baseline).truncate},
		{name: "flat summary", cache: provider.NewCache(p), window: w, prices: p, reduce: (*baseline).summarize},
	}
}

// send charges the baseline for one step. whole is the request with nothing
// left out.
func (b *baseline) send(whole *request, now int64, output int) {
	req := b.reduce(b, whole, now)
	b.bill.Requests++
	if req.tokens() > b.window.usable {
		b.bill.OverWindow++
	}
	sums := req.sums()
	if !startsWith(sums, b.before) {
		b.bill.NewPrefix++
	}
	b.before = sums
	b.bill.add(b.cache.Bill(req.charge(b.window.prefix, now, output)), b.prices)
}

// truncate leaves out the oldest messages until the rest fits. What was left out
// stays out.
func (b *baseline) truncate(req *request, _ int64) *request {
	total := 0
	for i := b.from; i < len(req.messages); i++ {
		total += req.messages[i].tokens()
	}
	lead := leadOf(req, b.from)
	for b.from < len(req.messages)-1 && total+tokensAt(req, lead) > b.window.usable {
		total -= req.messages[b.from].tokens()
		b.from++
		lead = leadOf(req, b.from)
	}
	return tailOf(req, b.from, lead)
}

// leadOf is the user message that must stand before a list which would start
// with a reply; -1 if it starts with a user message.
func leadOf(req *request, from int) int {
	if from >= len(req.messages) || req.messages[from].role == "user" {
		return -1
	}
	for i := from - 1; i >= 0; i-- {
		if req.messages[i].role == "user" {
			return i
		}
	}
	return -1
}

func tokensAt(req *request, i int) int {
	if i < 0 {
		return 0
	}
	return req.messages[i].tokens()
}

func tailOf(req *request, from, lead int) *request {
	out := &request{marked: -1}
	if lead >= 0 {
		out.messages = append(out.messages, req.messages[lead])
	}
	out.messages = append(out.messages, req.messages[from:]...)
	return out
}

// summarize replaces everything before a tail by one summary as soon as the
// request reaches the mark. The call that writes the summary reads what it
// replaces and pays for it.
func (b *baseline) summarize(req *request, now int64) *request {
	out := b.summarized(req)
	if out.tokens()*1000 <= b.window.usable*summaryMark {
		return out
	}
	room := min(b.window.usable*tailShare/1000, tailMost)
	from, kept := len(req.messages)-1, req.messages[len(req.messages)-1].tokens()
	for from > b.from && kept+req.messages[from-1].tokens() <= room {
		from--
		kept += req.messages[from].tokens()
	}
	if from <= b.from {
		return out
	}
	replaced := &request{marked: -1, messages: append([]sent(nil), out.messages...)}
	replaced.messages = replaced.messages[:len(replaced.messages)-(len(req.messages)-from)]
	// Another system text and no tools: nothing of it is in the cache.
	call := provider.Request{Now: now, Output: summaryTokens}
	for i := range replaced.messages {
		call.Blocks = append(call.Blocks, provider.Block{Tokens: replaced.messages[i].tokens()})
	}
	b.bill.Calls++
	b.bill.add((&provider.Cache{}).Bill(call), b.prices)
	b.from = from
	b.round++
	return b.summarized(req)
}

// summarized is the request with the newest summary in place of what it covers.
func (b *baseline) summarized(req *request) *request {
	if b.round == 0 {
		return req
	}
	out := &request{marked: -1}
	head := block{sum: digest{'f', 'l', 'a', 't', byte(b.round), byte(b.round >> 8)}, tokens: summaryTokens}
	out.messages = append(out.messages,
		sent{index: -1, role: "user", blocks: []block{{sum: digest{'a', 's', 'k'}, tokens: 10}}},
		sent{index: -1, role: "assistant", blocks: []block{head}})
	if lead := leadOf(req, b.from); lead >= 0 {
		out.messages = append(out.messages, req.messages[lead])
	}
	out.messages = append(out.messages, req.messages[b.from:]...)
	return out
}

// startsWith reports whether list begins with all of prefix.
func startsWith(list, prefix []digest) bool { return diverges(list, prefix) < 0 }

// diverges is the place of the first element of prefix that list lacks or has
// otherwise; -1 if it has them all.
func diverges(list, prefix []digest) int {
	for i := range prefix {
		if i >= len(list) || list[i] != prefix[i] {
			return i
		}
	}
	return -1
}

package lab

import (
	"ctxplugin/compartments"
	"ctxplugin/decay"
	"ctxplugin/lab/provider"
)

// charge lays a request out for a provider: system text and tools first, marked;
// marks on the last two of the provider's messages, where hosts put them; the
// head's own mark as long as a provider takes no more than four.
func (r *request) charge(prefix int, now int64, output int) provider.Request {
	q := provider.Request{Now: now, Output: output, Blocks: []provider.Block{{Sum: digest{'s', 'y', 's'}, Tokens: prefix, Mark: true}}}
	var ends []int // last block of each of the provider's messages
	for i := range r.messages {
		m := &r.messages[i]
		for j, b := range m.blocks {
			if j > 0 && b.result != m.blocks[j-1].result {
				ends = append(ends, len(q.Blocks)-1)
			}
			w := provider.Block{Sum: b.sum, Tokens: b.tokens}
			if j == 0 {
				w.Tokens += frameTokens
			}
			q.Blocks = append(q.Blocks, w)
		}
		ends = append(ends, len(q.Blocks)-1)
		if i == r.marked {
			q.Blocks[len(q.Blocks)-1].Mark = true
		}
	}
	for _, at := range ends[max(0, len(ends)-2):] {
		q.Blocks[at].Mark = true
	}
	return q
}

// bill sums what a way of sending a session cost.
type bill struct {
	Requests   int   `json:"requests"`
	Tokens     int64 `json:"tokensSent"` // input side, system and tools included
	Read       int64 `json:"cacheRead"`
	Written    int64 `json:"cacheWritten"`
	Fresh      int64 `json:"fresh"`
	Output     int64 `json:"output"`
	Cost       int64 `json:"costMicro"` // micro-units of money
	Calls      int   `json:"extraCalls"`
	NewPrefix  int   `json:"prefixChanges"` // requests that did not start with all of the one before
	OverWindow int   `json:"overWindow"`    // requests that no provider would have taken
}

func (t *bill) add(b decay.Bill, p compartments.Prices) {
	t.Tokens += int64(b.Read + b.Write + b.Fresh)
	t.Read += int64(b.Read)
	t.Written += int64(b.Write)
	t.Fresh += int64(b.Fresh)
	t.Output += int64(b.Output)
	t.Cost += decay.Cost(b, p)
}

// readShare is the share of the input that came from the cache, permille.
func (t *bill) readShare() int {
	if t.Tokens == 0 {
		return 0
	}
	return int(t.Read * 1000 / t.Tokens)
}

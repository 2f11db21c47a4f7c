package lab

import (
	"testing"

	"ctxplugin/compartments"
	"ctxplugin/decay"
)

func TestBillAdds(t *testing.T) {
	var total bill
	prices := compartments.Prices{Input: 3_000_000, Output: 15_000_000, CacheRead: 300_000, CacheWrite: 3_750_000, Kind: "marks"}
	total.add(decay.Bill{Read: 1000, Write: 200, Fresh: 100, Output: 10}, prices)
	total.add(decay.Bill{Fresh: 700}, prices)
	if total.Tokens != 2000 || total.Read != 1000 || total.readShare() != 500 || total.Cost != 300+750+300+150+2100 {
		t.Errorf("%+v", total)
	}
}

// made is a message of one block.
func made(role string, tokens int, sum byte) sent {
	return sent{index: int(sum), role: role, blocks: []block{{sum: digest{sum}, tokens: tokens - frameTokens}}}
}

func TestBaselines(t *testing.T) {
	w := window{usable: 1000, prefix: 100}
	prices := compartments.Prices{Input: 1_000_000, Output: 1_000_000, Kind: "none"}
	all := baselines(w, prices)
	req := &request{marked: -1}
	add := func(role string, tokens int) {
		req.messages = append(req.messages, made(role, tokens, byte(len(req.messages)+1)))
	}
	add("user", 100)
	for range 7 {
		add("assistant", 150)
		snapshot := &request{marked: -1, messages: req.messages[:len(req.messages):len(req.messages)]}
		for _, b := range all {
			b.send(snapshot, 0, 5)
		}
	}
	for i, want := range []struct{ tokens, over, changes int }{
		{250 + 400 + 550 + 700 + 850 + 1000 + 1150 + 7*100, 1, 0},
		{250 + 400 + 550 + 700 + 850 + 1000 + 1000 + 7*100, 0, 1}, // the last request leaves out a reply, not the user
	} {
		b := all[i].bill
		if int(b.Tokens) != want.tokens || b.OverWindow != want.over || b.NewPrefix != want.changes || b.Requests != 7 {
			t.Errorf("%s: %+v, want %+v", all[i].name, b, want)
		}
	}
	flat := all[2].bill
	if flat.Calls != 2 || flat.Output != 7*5+2*summaryTokens || flat.NewPrefix < 2 {
		t.Errorf("flat summary: %+v", flat)
	}
	if all[0].bill.Cost != 5600+35 {
		t.Errorf("everything costs %d", all[0].bill.Cost)
	}
}

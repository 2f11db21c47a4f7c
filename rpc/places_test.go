package rpc

import (
	"fmt"
	"strings"
	"testing"
)

// What stands for nothing is refused, and is not taken for the whole message or
// for the other end of a range; what is absent or null is still no parameter.
func TestPlaces_ThatNameNothing(t *testing.T) {
	f := newFake()
	p := connect(t, f, Limits{}).greet()
	id := 0
	ask := func(method, params string) string {
		id++
		return p.exchange(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{"sessionID":"ses_1",%s}}`, id, method, params))
	}
	for _, c := range []struct{ method, params, says string }{
		{"session/pin", `"message":1,"part":-1`, "part is -1"},
		{"session/pin", `"message":1,"part":-7e9`, "part is -7000000000"},
		{"session/pin", `"message":1,"quote":""`, "the quote is empty"},
		{"session/pin", `"first":3`, "last is missing"},
		{"session/pin", `"last":3,"first":null`, "first is missing"},
		{"session/pin", `"compartment":0`, "compartment is 0"},
		{"session/pin", `"compartment":-4`, "compartment is -4"},
		{"session/expand", `"message":"msg_1","part":-1`, "part is -1"},
		{"session/expand", `"first":3`, "last is missing"},
		{"session/expand", `"last":3`, "first is missing"},
		{"session/expand", `"compartment":-4`, "compartment is -4"},
	} {
		if got := ask(c.method, c.params); !strings.Contains(got, `"badInput"`) || !strings.Contains(got, c.method+": ") || !strings.Contains(got, c.says) {
			t.Errorf("%s {%s}: %s", c.method, c.params, got)
		}
	}
	if len(f.pinned) > 0 {
		t.Errorf("a refusal pinned %+v", f.pinned)
	}
	if got := ask("session/pin", `"message":1,"part":null,"quote":null,"first":null,"compartment":null`); !strings.Contains(got, `"Pinned."`) || f.pinned[0].Part != -1 {
		t.Errorf("null: %s, %+v", got, f.pinned)
	}
	if got := ask("session/pin", `"message":1,"part":0`); !strings.Contains(got, `"Pinned."`) || f.pinned[1].Part != 0 {
		t.Errorf("part 0: %s, %+v", got, f.pinned)
	}
}

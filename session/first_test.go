package session_test

import "testing"

// An output that fits beside no history becomes a stub at once: nothing is
// folded for it, and the earlier messages stay as they are.
func TestOversizedOutput_IsStubbedBeforeAnythingFolds(t *testing.T) {
	h := start(t, 60_000)
	for range 8 {
		h.user("read the next file, please")
		h.request()
		h.step("reading", 900)
		h.request()
		h.step("done with it")
	}
	h.user("and now the large one")
	h.request()
	h.step("reading", 900_000)
	reply := h.request()
	if reply.Stats.Folded || reply.Stats.Fold != 0 {
		t.Errorf("folded: %+v", reply.Stats)
	}
	if reply.Stats.Stubs != 1 || reply.Stats.Messages > reply.Stats.Usable {
		t.Errorf("%d stubs, %d tokens of messages", reply.Stats.Stubs, reply.Stats.Messages)
	}
	if earlier := 8 * 900 / 4; reply.Stats.Messages < earlier {
		t.Errorf("%d tokens of messages: the earlier outputs, %d tokens, are gone", reply.Stats.Messages, earlier)
	}
}

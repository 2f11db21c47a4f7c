package session_test

import (
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"ctxplugin/session"
)

// What the historian does behind an answer waits a moment for the host, never a
// request for that moment, and every plan is the same as without it. The clock is
// that of the test's bubble.
func TestBehind_Pause(t *testing.T) {
	play := func(after time.Duration) (plans []session.TransformReply) {
		synctest.Test(t, func(t *testing.T) {
			store := newMemory()
			cfg := testConfig(store)
			cfg.WriteAfter = after
			s := session.New(cfg)
			defer closeSessions(t, s)
			h := newHost(t, s, store, 8000)
			start := time.Now()
			for range 30 {
				h.turn("count the rows", 2, 900)
				plans = append(plans, h.request())
			}
			if took := time.Since(start); took > 0 {
				t.Errorf("requests waited for %v", took)
			}
			written := 0
			for range 10 {
				h.turn("count the rows", 2, 900)
				h.request()
				before := len(store.written(h.id))
				time.Sleep(after / 2)
				synctest.Wait()
				if got := len(store.written(h.id)); got != before {
					t.Errorf("%d compartments before the moment was over, %d when it began", got, before)
				}
				time.Sleep(after)
				synctest.Wait()
				written += len(store.written(h.id)) - before
			}
			if written == 0 {
				t.Error("nothing was written after the moment")
			}
		})
		return plans
	}
	if quick, slow := play(time.Nanosecond*2), play(time.Hour); !reflect.DeepEqual(quick, slow) {
		t.Error("plans depend on the pause")
	}
}

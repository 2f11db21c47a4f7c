package session_test

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"
)

func TestLongSession_FitsAndKeepsItsPrefix(t *testing.T) {
	windows, turns := []int{16_000, 60_000, 200_000}, 30
	if testing.Short() {
		windows, turns = windows[:2], 12
	}
	for i, window := range windows {
		t.Run(fmt.Sprint(window), func(t *testing.T) {
			t.Parallel()
			h := start(t, window)
			r := rand.New(rand.NewSource(int64(i)))
			for turn := range turns {
				h.now += int64(r.Intn(400_000))
				h.user(fmt.Sprintf("turn %d: please %s", turn, strings.Repeat("do this and that ", r.Intn(40))))
				for step := range 1 + r.Intn(10) {
					h.request()
					h.now += int64(r.Intn(20_000))
					sizes := make([]int, r.Intn(3))
					for i := range sizes {
						sizes[i] = r.Intn(window / 3)
						if r.Intn(20) == 0 {
							sizes[i] = window * 5 // characters: larger than the window
						}
					}
					h.step(strings.Repeat(fmt.Sprintf("step %d of turn %d. ", step, turn), r.Intn(8)), sizes...)
				}
			}
			if h.folds == 0 {
				t.Fatal("never folded")
			}
			t.Logf("%d requests, %d folds, %d pairs", h.requests, h.folds, len(h.plan.Head))
		})
	}
}

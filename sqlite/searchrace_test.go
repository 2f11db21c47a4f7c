package sqlite_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"ctxplugin/compartments"
)

// What is indexed while a search runs is found by it: it still waits when what
// waits is read, or the index knows it afterwards. Messages that have the words
// apart keep the search from reading all of them.
func TestSearch_FindsWhatIsIndexedMeanwhile(t *testing.T) {
	s := newStore(t)
	const apart, waits = 4, 24
	var first, second string
	for i := range waits {
		first += fmt.Sprintf("left%d ", i)
		second += fmt.Sprintf(" right%d", i)
	}
	missed, searches := 0, 0
	for n := range 40 {
		id := compartments.SessionID(fmt.Sprint("ses", n))
		b := &compartments.Batch{Session: id, ListFrom: -1}
		for i := range apart {
			b.Entries = append(b.Entries, write(t, i+1, user(fmt.Sprint("m", i+1), first+"and"+second)))
		}
		commit(t, s, b)
		index(t, s)
		b = &compartments.Batch{Session: id, Version: 1, ListFrom: -1}
		for i := range waits {
			b.Entries = append(b.Entries, write(t, apart+i+1, user(fmt.Sprint("m", apart+i+1), fmt.Sprintf("left%d right%d", i, i))))
		}
		commit(t, s, b)
		done := make(chan error, 1)
		go func() {
			for {
				if left, err := s.Index(context.Background(), 1); err != nil || left == 0 {
					done <- err
					return
				}
			}
		}()
		for ended := false; !ended; {
			for i := range waits {
				searches++
				want := func(h compartments.Hit) bool { return int(h.Ordinal) == apart+i+1 }
				if !slices.ContainsFunc(search(t, s, id, fmt.Sprintf("left%d right%d", i, i)), want) {
					missed++
				}
			}
			select {
			case err := <-done:
				if err != nil {
					t.Fatal(err)
				}
				ended = true
			default:
			}
		}
	}
	t.Logf("%d searches", searches)
	if missed > 0 {
		t.Errorf("%d of %d searches missed a message", missed, searches)
	}
}

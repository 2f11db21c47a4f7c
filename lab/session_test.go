package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
)

// connected is a play against a fake.
func connected(t *testing.T, f *fake, rec *recording) *play {
	t.Helper()
	proc, err := f.launch(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	c := newClient(proc.stdout, proc.stdin)
	t.Cleanup(func() { proc.kill(); <-c.done })
	return newPlay(rec, c)
}

func TestSyncInPieces(t *testing.T) {
	rec, err := parseRecording("f.json", session(t, 3, 2))
	if err != nil {
		t.Fatal(err)
	}
	f := newFake("")
	p := connected(t, f, rec)
	p.piece = 5000
	ctx := context.Background()
	for _, list := range [][]int{{0, 1, 2, 3, 4, 5, 6}, {0, 1, 2, 3, 4, 5, 6, 7, 8}, {0, 1, 2, 3}, {0, 1, 2, 3}, {5, 6, 0, 1}, {}} {
		pieces, want, err := p.announce(list)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.confirm(ctx, pieces, want); err != nil {
			t.Fatalf("%v: %v", list, err)
		}
		if len(list) == 7 && len(pieces) < 3 {
			t.Errorf("%d pieces", len(pieces))
		}
		var got []string
		for _, id := range f.list {
			got = append(got, string(id))
		}
		var ids []string
		for _, i := range list {
			ids = append(ids, rec.messages[i].id)
		}
		if !slices.Equal(got, ids) {
			t.Errorf("the plugin holds %v, want %v", got, ids)
		}
	}
}

func TestRecover(t *testing.T) {
	rec, err := parseRecording("f.json", session(t, 2, 2))
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	for _, keep := range []int{0, 2} {
		f := newFake("")
		p := connected(t, f, rec)
		if err := p.sync(ctx, []int{0, 1, 2, 3}); err != nil {
			t.Fatal(err)
		}
		f.mu.Lock()
		f.list = f.list[:keep]
		f.mu.Unlock()
		err := p.sync(ctx, []int{0, 1, 2, 3, 4})
		var r *resync
		if !errors.As(err, &r) || r.err.Data.Keep != keep {
			t.Fatal(err)
		}
		if err := p.recover(ctx, r, []int{0, 1, 2, 3, 4}); err != nil || len(f.list) != 5 {
			t.Errorf("%d messages, %v", len(f.list), err)
		}
	}
}

func TestParseTransformedRefuses(t *testing.T) {
	for _, reply := range []string{`[]`, `{"planID":"a","plan":{"id":"b"}}`, `{"planID":"a","plan":7}`} {
		if _, err := parseTransformed([]byte(reply)); err == nil {
			t.Errorf("%s was accepted", reply)
		}
	}
	got, err := parseTransformed([]byte(`{"planID":"a","plan":null,"maxOutput":3,"stats":{"folded":true}}`))
	if err != nil || got.plan != nil || got.maxOutput != 3 || !got.stats.Folded {
		t.Errorf("%+v, %v", got, err)
	}
	if provider, model := splitModel("a/b/c"); fmt.Sprint(provider, model) != "ab/c" {
		t.Error(provider, model)
	}
}

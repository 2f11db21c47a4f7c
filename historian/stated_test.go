package historian

import (
	"slices"
	"strings"
	"testing"

	"ctxplugin/compartments"
)

// TestStated: a name that the user states as the very one is known, and a name that
// is only mentioned is not.
func TestStated(t *testing.T) {
	for _, c := range []struct {
		in   string
		want bool
	}{
		{"The tenant id is `tn-7f3a-eu`, the loader reads it at start.", true},
		{"use exactly v2.4.11", true},
		{"the release tag is still rel-2024-11", true},
		{"tenant id: tn-7f3a-eu", true},
		{"take ticket PAY-1182 first, its id PAY-1182 goes into the commit", true},
		{"die Kennung ist tn-7f3a-eu", true},
		{"el identificador es tn-7f3a-eu", true},
		{"look at `db/load_2.go` and mend it", false},
		{"is the tenant id tn-7f3a-eu?", false},
		{"the test of v2.4.11 is slow", false},
		{"the reason is that load_2.go reads twice", false},
		{"it failed at 12:30 with exit code", false},
	} {
		if o, from, to := statedIn(c.in); (o == statement) != c.want || o == statement && !strings.ContainsAny(c.in[from:to], "0123456789") {
			t.Errorf("%q: %d, %q", c.in, o, c.in[from:to])
		}
	}
}

// TestRejected: what was not taken is known with its cause; a failure, a guess and a
// choice without a cause are not it.
func TestRejected(t *testing.T) {
	for _, c := range []struct {
		in   string
		want bool
	}{
		{"I rejected `pgx/v5` because it needs Go 1.21 and the image has Go 1.19.4", true},
		{"We keep `lib/pq` instead of `pgx/v5` because the image has Go 1.19.4", true},
		{"`pgx/v5` is not an option since the image has Go 1.19.4", true},
		{"`pgx/v5` verworfen, weil das Image Go 1.19.4 hat", true},
		{"`pgx/v5` failed because the image has Go 1.19.4", false},
		{"I used `lib/pq` instead of `pgx/v5`", false},
		{"maybe `pgx/v5` was rejected because of Go 1.19.4", false},
		{"should `pgx/v5` be rejected because of Go 1.19.4?", false},
		{"I rejected advisory locks because the pooler drops them between statements", true},
		{"So we decided against a second queue, because the order would be lost", true},
		{"Sperren habe ich verworfen, weil der Pooler sie zwischen Anweisungen verliert", true},
		{"我们放弃了消息队列，因为运维不支持", true},
		{"descartamos los bloqueos porque el pooler los pierde", true},
		{"the server rejected the upload because the token was too old", false},
		{"did we reject advisory locks because of the pooler?", false},
	} {
		if got := rejects(c.in); got != c.want {
			t.Errorf("%q: %t", c.in, got)
		}
	}
}

// TestStatedAndRejectedStandAtEveryTier: they do not take the room of rules, and
// are quoted from the source letter by letter.
func TestStatedAndRejectedStandAtEveryTier(t *testing.T) {
	r := rangeFrom([]compartments.Message{
		personSays("connect the ledger to its database, but never drop a row silently. The tenant id is `tn-7f3a-eu`, the loader reads it."),
		shellCall("go build ./...", "module github.com/jackc/pgx/v5 requires go >= 1.21", 1),
		agentText("I rejected `pgx/v5` because it needs Go 1.21 and the image has Go 1.19.4. The ledger uses `lib/pq` 1.10.2 now, and the build passes."),
	})
	c, err := testBuiltin().WriteOne(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"never drop a row silently.", "The tenant id is `tn-7f3a-eu`, the loader reads it.", "I rejected `pgx/v5` because it needs Go 1.21 and the image has Go 1.19.4"}
	got := spansOf(&c)
	for i, w := range want {
		if i >= len(got) || !strings.Contains(got[i], w) {
			t.Fatalf("spans %q, want %q", got, want)
		}
	}
	for _, tier := range compartments.Rendered {
		for _, s := range want {
			if n := strings.Count(c.Tiers[tier].Text, s); n == 0 || tier >= compartments.TierCompact && n != 1 {
				t.Errorf("%s has %q %d times:\n%s", tier, s, n, c.Tiers[tier].Text)
			}
		}
	}
	if c.Spans[2].Ordinal != r.Messages[2].Ordinal {
		t.Errorf("the rejection is of message %d", c.Spans[2].Ordinal)
	}
}

// TestRejectedByItsHeading: where an agent heads a line so, the line is kept with
// all that it says.
func TestRejectedByItsHeading(t *testing.T) {
	r := rangeFrom([]compartments.Message{personSays("let importd stop within 15 s"), shellCall("go test ./importd", "ok", 0),
		agentText("importd stops within 15 s.\n\n- Rejected: upgrading the pool. 1.8 would cancel, but has no simple protocol.\n- A batch may fail.")})
	c, err := testBuiltin().WriteOne(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if got := spansOf(&c); !slices.Equal(got, []string{"Rejected: upgrading the pool. 1.8 would cancel, but has no simple protocol"}) {
		t.Errorf("%q", got)
	}
}

// TestRejectedOnlyAsItStands: a sentence that its source breaks into lines, or that
// holds a secret, is no exact span.
func TestRejectedOnlyAsItStands(t *testing.T) {
	for _, text := range []string{
		"I rejected `pgx/v5` because it needs Go 1.21\nand the image has Go 1.19.4.",
		"I rejected `pgx/v5` because password=hunter2hunter2 stands in its Go 1.21 config.",
	} {
		r := rangeFrom([]compartments.Message{personSays("connect the ledger to its database"), shellCall("go build ./...", "failed", 1), agentText(text)})
		c, err := testBuiltin().WriteOne(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if got := spansOf(&c); slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, "rejected") }) {
			t.Errorf("%q gives %q", text, got)
		}
	}
}

package session_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ctxplugin/compartments"
	"ctxplugin/decay"
	"ctxplugin/historian"
	"ctxplugin/session"
)

// promise is what a setting does when it is changed: the same session is played
// with the default and with another value, and what is counted is more or less.
type promise struct {
	key   string
	value int // in the key's unit
	field func(*decay.Settings) *int
	play  play // returns what is counted of the requests
	want  int  // sign of the difference to the default

	writer session.Historian // nil: the naive one
}

const more, less = 1, -1

var promises = []promise{
	{"forceMark", 70, func(s *decay.Settings) *int { return &s.ForceMark }, byPressure(untilFold), less, nil},
	{"forceAim", 10, func(s *decay.Settings) *int { return &s.ForceAim }, byPressure(landing), less, nil},
	{"historyShare", 5, func(s *decay.Settings) *int { return &s.HistoryShare }, asked(weight), less, nil},
	{"historyLeast", 200, func(s *decay.Settings) *int { return &s.HistoryMin }, narrow(asked(weight)), less, nil},
	{"historyMost", 2000, func(s *decay.Settings) *int { return &s.HistoryMax }, asked(weight), less, nil},
	{"tailShare", 0, func(s *decay.Settings) *int { return &s.TailShare }, asked(raw), less, nil},
	{"tailMost", 1000, func(s *decay.Settings) *int { return &s.TailMax }, asked(raw), less, nil},
	{"tailTurns", 40, func(s *decay.Settings) *int { return &s.TailTurns }, asked(raw), more, nil},
	{"demoteTo", 40, func(s *decay.Settings) *int { return &s.DemoteTo }, narrow(asked(weight)), less, nil},
	{"promoteBelow", 0, promoteMark, byPressure(widened), less, nil},
	{"leastGain", 50, func(s *decay.Settings) *int { return &s.LeastGain }, asked(folds), less, nil},
	{"turnShare", 100, func(s *decay.Settings) *int { return &s.TurnShare }, untilFoldInTurn, more, nil},
	{"turnsAhead", 1, func(s *decay.Settings) *int { return &s.TurnsAhead }, byPressure(afterLargeTurn), more, nil},
	{"halfLife", 1000, func(s *decay.Settings) *int { return &s.HalfLife }, narrow(asked(olderHalf)), more, nil},
	{"spare", 100, func(s *decay.Settings) *int { return &s.Spare }, narrow(keptPairs), more, nil},
	{"outputReserveCap", 8000, func(s *decay.Settings) *int { return &s.ReserveCap }, byPressure(reserving(64_000)), more, nil},
	{"outputReserveUnknown", 5000, func(s *decay.Settings) *int { return &s.ReserveUnknown }, byPressure(reserving(0)), more, nil},
	{"outputReserveShare", 5, func(s *decay.Settings) *int { return &s.ReserveShare }, byPressure(reserving(64_000)), more, nil},
	{"windowUnknown", 32_000, func(s *decay.Settings) *int { return &s.WindowUnknown }, byPressure(unknownWindow), less, nil},
	{"fixedUnknown", 15_000, func(s *decay.Settings) *int { return &s.FixedUnknown }, byPressure(unknownFixed), less, nil},
	{"writeBehind", 500, func(s *decay.Settings) *int { return &s.WriteBehind }, untilWritten, less, nil},
	{"stubOver", 5000, func(s *decay.Settings) *int { return &s.StubOver }, rereading, less, nil},
	{"stubOver", 5000, func(s *decay.Settings) *int { return &s.StubOver }, crowded, less, nil},
	{"stubChars", 10_000, func(s *decay.Settings) *int { return &s.StubChars }, askedOfBulk(stubs), less, nil},
	{"stubTurns", 0, func(s *decay.Settings) *int { return &s.StubTurns }, askedOfBulk(stubs), more, nil},
	{"stubShare", 0, func(s *decay.Settings) *int { return &s.StubShare }, askedOfBulk(stubs), more, nil},
	{"stubPreview", 50, func(s *decay.Settings) *int { return &s.StubPreview }, askedOfBulk(stubbed), less, nil},
	{"stubNames", 0, func(s *decay.Settings) *int { return &s.StubNames }, ofSource, less, nil},
	floored("floorConstraints", compartments.Constraints),
	floored("floorIdentifiers", compartments.Identifiers),
	floored("floorDecisions", compartments.DecisionsWhy),
	floored("floorRejected", compartments.Rejected),
	floored("floorFailures", compartments.Failures),
	floored("floorOpenWork", compartments.OpenWork),
	floored("floorUncertainty", compartments.Uncertainty),
	floored("floorProvenance", compartments.Provenance),
	floored("floorLocation", compartments.Location),
	floored("floorNarrative", compartments.Narrative),
}

// TestSettings_KeepTheirPromise: another value than the default changes requests in
// the way that docs/configuration.md says.
func TestSettings_KeepTheirPromise(t *testing.T) {
	rows := documented(t)
	for _, p := range promises {
		t.Run(p.key, func(t *testing.T) {
			t.Parallel()
			row := rows[p.key]
			s := decay.Defaults()
			if *p.field(&s) != row.def*row.per || p.value < row.least || p.value > row.most {
				t.Fatalf("the default is %d and the value %d; documented are %+v", *p.field(&s), p.value, row)
			}
			by := p.play(playing(t, s, cmp.Or[session.Historian](p.writer, &naive{})))
			*p.field(&s) = p.value * row.per
			if with := p.play(playing(t, s, cmp.Or[session.Historian](p.writer, &naive{}))); (with-by)*p.want <= 0 {
				t.Errorf("%d by default, %d with %d", by, with, p.value)
			}
		})
	}
}

// TestSettings_Prefer: cost folds more often than balance, and keeps less; view
// less often.
func TestSettings_Prefer(t *testing.T) {
	t.Parallel()
	made, kept := map[decay.Prefer]int{}, map[decay.Prefer]int{}
	for _, prefer := range []decay.Prefer{decay.PreferView, decay.PreferBalance, decay.PreferCost} {
		s := decay.Defaults()
		s.Prefer = prefer
		h := playing(t, s, &naive{})
		h.goOn(60, 2, 1900)
		made[prefer] = h.folds
		kept[prefer] = asked(weight)(playing(t, s, &naive{}))
	}
	if made["view"] >= made["balance"] || made["balance"] >= made["cost"] || kept["cost"] >= kept["balance"] {
		t.Errorf("folds %v, tokens of history %v", made, kept)
	}
}

// ofTheProgram are the keys that change no request; cmd/ctxplugin has their tests.
var ofTheProgram = map[string]bool{"logLevel": true, "database": true, "notifications": true,
	"historian": true, "historianTokens": true, "historianCost": true}

// TestSettings_AllPromise: every key that is documented, which is every key there
// is, has a case above.
func TestSettings_AllPromise(t *testing.T) {
	rows := documented(t)
	played := map[string]bool{"prefer": true}
	for _, p := range promises {
		played[p.key] = true
	}
	for key := range rows {
		if played[key] == ofTheProgram[key] {
			t.Errorf("%s: what it changes is played here: %v; it is the program's: %v", key, played[key], ofTheProgram[key])
		}
		delete(played, key)
	}
	for key := range played {
		t.Errorf("%s is not documented", key)
	}
}

type documentedKey struct{ def, least, most, per int }

var settingsRow = regexp.MustCompile("(?m)^\\| `(\\w+)` \\| ([^|]+) \\| ([^|]+) \\| ([^|]+) \\|")

// documented is the table of docs/configuration.md, which is made from the keys.
func documented(t *testing.T) map[string]documentedKey {
	t.Helper()
	text, err := os.ReadFile("../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]documentedKey{}
	for _, m := range settingsRow.FindAllStringSubmatch(string(text), -1) {
		row := documentedKey{per: 1}
		if m[4] == "percent" {
			row.per = 10
		}
		if _, err := fmt.Sscanf(strings.ReplaceAll(m[3], ",", ""), "%d to %d", &row.least, &row.most); err == nil {
			if row.def, err = strconv.Atoi(strings.Trim(m[2], "`")); err != nil {
				t.Fatal(err)
			}
		}
		rows[m[1]] = row
	}
	if len(rows) < 30 {
		t.Fatalf("only %d keys are documented", len(rows))
	}
	return rows
}

// playing is a host with these settings and a window of 60,000 tokens.
func playing(t testing.TB, s decay.Settings, writer session.Historian) *host {
	store := newMemory()
	cfg := testConfig(store)
	cfg.Settings, cfg.Historian = s, writer
	return newHost(t, startSessions(t, cfg), store, 60_000)
}

// fading is a historian whose tiers lose nothing but in one dimension.
type fading struct {
	naive
	of compartments.Dimension
}

func (f *fading) Write(ctx context.Context, r historian.Range) ([]compartments.Compartment, error) {
	out, err := f.naive.Write(ctx, r)
	for _, c := range out {
		for t, rendition := range c.Tiers {
			for d := range rendition.Survival {
				if compartments.Dimension(d) != f.of {
					rendition.Survival[d] = 1000
				}
			}
			c.Tiers[t] = rendition
		}
	}
	return out, err
}

// floored: where only one dimension fades, its floor and no other keeps tiers away.
func floored(key string, d compartments.Dimension) promise {
	return promise{key, 60, func(s *decay.Settings) *int { return &s.Floors[d] }, narrow(asked(heldAtLeast)), more, &fading{of: d}}
}

// goOn plays turns, with a request before each step.
func (h *host) goOn(turns, steps, size int) {
	for i := range turns {
		h.user(words(i) + strings.Repeat(" and so on", 10))
		for range steps {
			h.request()
			h.step(words(i), size)
			h.now += 1000
		}
	}
}

// What is counted.

func weight(h *host) int { return h.reply.Stats.Messages }
func folds(h *host) int  { return h.folds }

// history is what stands for what is out of view, in tokens.
func history(h *host) (n int) {
	for _, pair := range h.foldsStored()[h.folds-1].Layout {
		n += pair.Tokens
	}
	return n
}

// heldAtLeast counts the newest compartments in a row that the record shows at the two
// highest tiers, which alone keep 60 percent of anything here.
func heldAtLeast(h *host) (n int) {
	for _, pair := range h.foldsStored()[h.folds-1].Layout {
		for _, item := range pair.Items {
			if n += len(item.Compartments); item.Tier != compartments.TierFull && item.Tier != compartments.TierDense {
				n = 0
			}
		}
	}
	return n
}

func raw(h *host) int   { return len(h.last) - 2*len(h.plan.Head) }
func stubs(h *host) int { return len(h.plan.Edits) }

// stubbed is the size of all stubs, in characters.
func stubbed(h *host) (n int) {
	for _, e := range h.plan.Edits {
		n += len(e.Value)
	}
	return n
}

// olderHalf is what stands for the older half of what is out of view, in tokens.
func olderHalf(h *host) (n int) {
	folds := h.foldsStored()
	layout := folds[len(folds)-1].Layout
	compartments := 0
	for _, pair := range layout {
		for _, item := range pair.Items {
			compartments += len(item.Compartments)
		}
	}
	seen := 0
	for _, pair := range layout {
		for _, item := range pair.Items {
			if seen += len(item.Compartments); 2*seen <= compartments {
				n += item.Tokens
			}
		}
	}
	return n
}

// What is played. A host without prices for its cache folds by pressure alone.

type play func(*host) int

func byPressure(then play) play {
	return func(h *host) int {
		h.prices.Kind = "none"
		return then(h)
	}
}

func narrow(then play) play {
	return func(h *host) int {
		h.context, h.fixed, h.prices.Kind = 12_000, 1500, "none"
		h.goOn(20, 3, 1900)
		return then(h)
	}
}

// asked counts after a fold that is asked for behind twenty turns, none of whose
// outputs is large enough for a stub; askedOfBulk where all are.
func asked(count play) play       { return askedAt(3, 1900, count) }
func askedOfBulk(count play) play { return askedAt(2, 3000, count) }

func askedAt(steps, size int, count play) play {
	return byPressure(func(h *host) int {
		h.goOn(20, steps, size)
		if _, err := h.s.Fold(context.Background(), h.id, false); err != nil {
			h.t.Fatalf("fold: %v", err)
		}
		h.user("and now something else")
		h.request()
		return count(h)
	})
}

// untilFold counts the requests before the first fold; the turns have four steps.
func untilFold(h *host) int { return h.until(4, 1900) }

func untilFoldInTurn(h *host) int { return h.until(1000, 1900) }

func (h *host) until(steps, size int) int {
	for i := 0; h.folds == 0; i++ {
		if i > 200 {
			h.t.Fatalf("never folded: %+v", h.reply.Stats)
		}
		if i%steps == 0 {
			h.user(words(i))
		}
		h.request()
		h.step(words(i), size)
		h.now += 1000
	}
	return h.requests
}

// landing is what a request weighs after a fold that was forced.
func landing(h *host) int {
	untilFoldInTurn(h)
	return h.reply.Stats.Messages
}

// afterLargeTurn counts the requests before the first fold in a session of small
// turns with one large among them.
func afterLargeTurn(h *host) int {
	h.goOn(7, 2, 1900)
	h.goOn(1, 5, 10_000)
	return h.until(2, 1900)
}

// reserving is a model with a large window that states this limit of its replies.
func reserving(output int) play {
	return func(h *host) int {
		h.context, h.output = 200_000, output
		return h.until(4, 12_000)
	}
}

func unknownWindow(h *host) int { h.context = 0; return untilFold(h) }
func unknownFixed(h *host) int  { h.fixed = 0; return untilFold(h) }

// keptPairs counts the pairs that folds left alone.
func keptPairs(h *host) (n int) {
	h.goOn(60, 2, 1900)
	for _, f := range h.foldsStored() {
		n += f.Divergence
	}
	return n
}

// untilWritten counts the requests before the historian has written.
func untilWritten(h *host) int {
	for i := 0; h.reply.Stats.Compartments == 0 && i < 100; i++ {
		h.goOn(1, 2, 1900)
	}
	return h.requests
}

// rereading counts the stubs of a file that is read again and again, whose text is
// too short for a stub otherwise.
func rereading(h *host) int {
	for i := range 30 {
		h.user(words(i))
		h.add("assistant", part{kind: "tool", tool: "read", input: `{"filePath":"a.go"}`, status: "completed", output: lines("a.go", 1500)})
		h.request()
	}
	return askedAt(1, 100, stubs)(h)
}

// promoteMark is promoteBelow where nothing but it speaks against sparing old pairs.
func promoteMark(s *decay.Settings) *int {
	s.Spare = 1000
	return &s.PromoteBelow
}

// widened is what the history takes after the first fold in a window that has room for
// half as much again as that in which it was made small.
func widened(h *host) int {
	h.context = 30_000
	h.goOn(60, 3, 1900)
	h.context = 45_000
	for before := h.folds; h.folds == before; {
		h.goOn(1, 3, 1900)
	}
	return history(h)
}

// ofSource counts the characters of the stubs of files full of names.
func ofSource(h *host) int {
	for i := range 20 {
		var text strings.Builder
		for j := range 150 {
			fmt.Fprintf(&text, "func partOf%d_%d() {}\n", i, j)
		}
		h.user(words(i))
		h.add("assistant", part{kind: "tool", tool: "read", input: fmt.Sprintf(`{"filePath":"a%d.go"}`, i), status: "completed", output: text.String()})
		h.request()
	}
	return askedOfBulk(stubbed)(h)
}

// crowded counts the previews in the stubs of a step that does not fit however
// much is folded.
func crowded(h *host) int {
	h.context, h.fixed = 4000, 500
	h.user(words(0))
	h.step("", slices.Repeat([]int{2000}, 6)...)
	h.request()
	n := 0
	for _, e := range h.plan.Edits {
		n += strings.Count(e.Value, "It begins:")
	}
	return n
}

package sqlite_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"ctxplugin/compartments"
	"ctxplugin/sqlite"
)

func search(t testing.TB, s *sqlite.Store, id compartments.SessionID, query string) []compartments.Hit {
	t.Helper()
	hits, err := s.Search(context.Background(), id, query, 10)
	if err != nil {
		t.Fatalf("search %q: %v", query, err)
	}
	return hits
}

func index(t testing.TB, s *sqlite.Store) {
	t.Helper()
	for left, last := -1, -2; left != 0; last = left {
		var err error
		if left, err = s.Index(context.Background(), 50); err != nil {
			t.Fatalf("index: %v", err)
		}
		if left == last {
			t.Fatalf("%d wait and stay", left)
		}
	}
}

// found writes hits short: ordinal.part.field@offset, or #compartment@offset.
func found(hits []compartments.Hit) string {
	var list []string
	for _, h := range hits {
		if h.Compartment != 0 {
			list = append(list, fmt.Sprintf("#%d@%d", h.Compartment, h.Offset))
		} else {
			list = append(list, fmt.Sprintf("%d.%d.%s@%d", h.Ordinal, h.Part, h.Field, h.Offset))
		}
	}
	return strings.Join(list, " ")
}

func searchSession(t testing.TB, s *sqlite.Store) {
	t.Helper()
	long := strings.Repeat("filler words of no interest\n", 3000)
	store(t, s, "ses",
		user("m1", "Please keep ERR_PNPM_PEER in mind when you upgrade"),
		tool("m2", "bash", `{"command":"pnpm install\n--frozen-lockfile \"x\" src\\main.go"}`, "ok: err_pnpm_peer seen\nline two"),
		tool("m3", "read", `{"path":"docs/résumé.md"}`, long+"the buriedtreasure lies here\n"+long),
		tool("m4", "ctx_search", `{"query":"buriedtreasure"}`, "3: the buriedtreasure lies here"),
		user("m5", "数据库迁移失败了，请检查连接池的配置"),
		user("m6", "upgrade the parser, then upgrade the lexer; keep the upgrade small"),
		user("m7", "the path is a/b//c and the flag is --force-with-lease"),
		`{"id":"m8","role":"assistant","parts":[{"type":"step-start"},{"type":"reasoning","text":"pondering deeply"},{"type":"text","text":"emoji 😀 smile \ud800 lone"}]}`,
		`{"id":"m9","role":"assistant","parts":[{"type":"tool","tool":"bash","state":{"status":"error","input":{"a":1},"error":"boomexplosion happened"}}]}`,
	)
	commit(t, s, &compartments.Batch{Session: "ses", Version: 1, ListFrom: -1, Compartments: []compartments.Compartment{
		{ID: 3, First: 1, Last: 2, Members: ordinals(2), Title: "Peer conflict", Tiers: map[compartments.Tier]compartments.Rendition{
			compartments.TierFull: {Text: "The upgrade failed on quixoticname."}, compartments.TierAnchor: {Text: "anchoronly"}}},
		{ID: 4, First: 3, Last: 3, Members: ordinals(3)[2:], Title: "Retired", Tiers: map[compartments.Tier]compartments.Rendition{
			compartments.TierFull: {Text: "retiredword"}}},
	}, Retired: []compartments.CompartmentID{4}})
}

var searches = []struct{ name, query, want string }{
	{"exact before other case", "ERR_PNPM_PEER", "1.0.text@12 2.1.output@4"},
	{"other case alone", "Err_Pnpm_Peer", "2.1.output@4 1.0.text@12"},
	{"deep in a long output", "buriedtreasure", "3.1.output@84004"},
	{"words anywhere", "lies treasure", ""},
	{"all words", "here lies buriedtreasure", "3.1.output@84004"},
	{"beginning of a word", "buriedtreas", "3.1.output@84004"},
	{"middle of a word", "riedtreasur", "3.1.output@84006"},
	{"path with separators", "a/b//c", "7.0.text@12"},
	{"flag", "--force-with-lease", "7.0.text@35"},
	{"script without blanks", "连接池", "5.0.text@36"},
	{"decoded argument", "install\n--frozen-lockfile", "2.1.input@17"},
	{"decoded backslash", `src\main.go`, "2.1.input@50"},
	{"accents", "résumé", "3.1.input@14"},
	{"error text", "boomexplosion", "9.0.output@0"},
	{"reasoning", "pondering", "8.1.text@0"},
	{"emoji", "😀 smile", "8.2.text@6"},
	{"compartment", "quixoticname", "#3@22"},
	{"compartment title", "peer conflict", "#3@0"},
	{"only the full tier", "anchoronly", ""},
	{"retired compartment", "retiredword", ""},
	{"absent", "nosuchthinganywhere", ""},
	{"syntax is text", `upgrade" OR body:*`, ""},
	{"operators are words", "parser AND lexer", ""},
	{"punctuation alone", "//", "7.0.text@15"},
	{"quote alone", `"x"`, "2.1.input@44"},
	{"NUL", "\x00", "empty"},
	{"blanks", " \n ", "empty"},
	{"no UTF-8", "quixotic\xffname", "#3@22"},
}

func TestSearch_IndexedOrNot(t *testing.T) {
	for _, indexed := range []bool{false, true} {
		s := newStore(t)
		searchSession(t, s)
		if indexed {
			index(t, s)
		}
		for _, test := range searches {
			t.Run(fmt.Sprintf("%s, indexed %v", test.name, indexed), func(t *testing.T) {
				hits, err := s.Search(context.Background(), "ses", test.query, 10)
				if test.want == "empty" {
					wantCode(t, err, compartments.CodeBadInput)
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if got := found(hits); got != test.want {
					t.Errorf("got %q, want %q", got, test.want)
				}
			})
		}
	}
}

func TestSearch_RanksByDensity(t *testing.T) {
	s := newStore(t)
	searchSession(t, s)
	index(t, s)
	if got := found(search(t, s, "ses", "upgrade")); got != "6.0.text@0 #3@4 1.0.text@43" {
		t.Errorf("got %s", got)
	}
	hits, err := s.Search(context.Background(), "ses", "upgrade", 1)
	if err != nil || found(hits) != "6.0.text@0" {
		t.Errorf("one hit: %s, %v", found(hits), err)
	}
}

func TestSearch_FollowsEdits(t *testing.T) {
	s := newStore(t)
	store(t, s, "ses", user("m1", "firstword"), user("m2", "other"))
	store(t, s, "more", user("m1", "firstword of another session"))
	index(t, s)
	commit(t, s, &compartments.Batch{Session: "ses", Version: 1, ListFrom: -1, Entries: []compartments.EntryWrite{write(t, 1, user("m1", "secondword"))}})
	for _, indexed := range []bool{false, true} {
		if indexed {
			index(t, s)
		}
		if got := found(search(t, s, "ses", "firstword")); got != "" {
			t.Errorf("indexed %v: the old text is found: %s", indexed, got)
		}
		if got := found(search(t, s, "ses", "secondword")); got != "1.0.text@0" {
			t.Errorf("indexed %v: the new text: %q", indexed, got)
		}
	}
	_, err := s.Search(context.Background(), "none", "x", 5)
	wantCode(t, err, compartments.CodeUnknownSession)
}

func TestSearch_SurvivesForgetOfItsKey(t *testing.T) {
	s := newStore(t)
	store(t, s, "first", user("m1", "oldsecret"))
	index(t, s)
	if err := s.Forget(context.Background(), "first"); err != nil {
		t.Fatal(err)
	}
	store(t, s, "second", user("m1", "newtext"))
	index(t, s)
	if got := found(search(t, s, "second", "oldsecret")); got != "" {
		t.Errorf("found %s", got)
	}
	if got := found(search(t, s, "second", "newtext")); got != "1.0.text@0" {
		t.Errorf("found %q", got)
	}
}

// TestIndex_HugeMessage: one message of many passages is indexed over several
// transactions and found at its end.
func TestIndex_HugeMessage(t *testing.T) {
	s := newStore(t)
	text := strings.Repeat("many words in a huge message ", 20_000) + "lastwordofall"
	store(t, s, "ses", user("m1", text), user("m2", "small"))
	left, err := s.Index(context.Background(), 1)
	if err != nil || left != 1 {
		t.Fatalf("left %d, %v", left, err)
	}
	index(t, s)
	if n := count(t, s, `SELECT count(*) FROM message_words_docsize`); n < 10 {
		t.Errorf("%d passages", n)
	}
	if got := found(search(t, s, "ses", "lastwordofall")); got != fmt.Sprintf("1.0.text@%d", len(text)-13) {
		t.Errorf("found %q", got)
	}
}

// TestIndex_StartsAgainAfterAnEdit: a message is edited when the first of its
// passages are indexed already.
func TestIndex_StartsAgainAfterAnEdit(t *testing.T) {
	s := newStore(t)
	filler := strings.Repeat("many words in a huge message ", 5000)
	store(t, s, "ses", user("m1", "oldbeginning "+filler))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	sqlOn(t, s.Path(), `UPDATE waiting SET passages = 3`)
	s = open(t, s.Path(), sqlite.Options{})
	commit(t, s, &compartments.Batch{Session: "ses", Version: 1, ListFrom: -1, Entries: []compartments.EntryWrite{write(t, 1, user("m1", "newbeginning "+filler))}})
	index(t, s)
	if got := found(search(t, s, "ses", "newbeginning filler")) + found(search(t, s, "ses", "newbeginning huge")); got != "1.0.text@0" {
		t.Errorf("found %q", got)
	}
}

// TestSearch_ExcerptsAreLines: whatever a message holds, an excerpt is one short
// line of valid UTF-8, and the offset points at the match.
func TestSearch_ExcerptsAreLines(t *testing.T) {
	s := newStore(t)
	next := 0
	rapid.Check(t, func(rt *rapid.T) {
		next++
		piece := rapid.SampledFrom([]string{"a ", "\t", "\n\n", "é", "漢", "😀", "\u0001", "\u200d", "xyz"})
		var b strings.Builder
		for range rapid.IntRange(0, 120).Draw(rt, "before") {
			b.WriteString(piece.Draw(rt, "piece"))
		}
		at := b.Len()
		b.WriteString("markedspot")
		for range rapid.IntRange(0, 120).Draw(rt, "after") {
			b.WriteString(piece.Draw(rt, "piece"))
		}
		id := compartments.SessionID(fmt.Sprint("ses", next))
		text := b.String()
		raw := `{"id":"m","role":"user","parts":[{"type":"text","text":` + strings.ReplaceAll(quoted(text), "\u0001", `\u0001`) + `}]}`
		if _, err := s.Commit(context.Background(), &compartments.Batch{Session: id, Entries: []compartments.EntryWrite{write(t, 1, raw)}}); err != nil {
			rt.Fatal(err)
		}
		hits := search(t, s, id, "markedspot")
		if len(hits) != 1 || hits[0].Offset != at {
			rt.Fatalf("hits %+v, want offset %d", hits, at)
		}
		e := hits[0].Excerpt
		if len(e) > 160 || !utf8.ValidString(e) || strings.ContainsAny(e, "\n\t\u0001") || !strings.Contains(e, "markedspot") {
			rt.Fatalf("excerpt %q of %d bytes", e, len(e))
		}
	})
}

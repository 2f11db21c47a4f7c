package sqlite_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxplugin/compartments"
	"ctxplugin/sqlite"
)

func pinOf(id compartments.PinID, text string) compartments.Pin {
	return compartments.Pin{ID: id, By: compartments.ByUser, At: 1_750_000_000_000, Ordinal: 1, Part: -1, Quote: text,
		Spans: []compartments.PinSpan{{Field: compartments.FieldText, To: len(text), Text: text}}}
}

func pinsOf(t *testing.T, s *sqlite.Store, id compartments.SessionID) []compartments.Pin {
	t.Helper()
	stored, err := s.Load(context.Background(), id)
	if err != nil || stored == nil {
		t.Fatalf("load: %v, %v", stored, err)
	}
	return stored.Pins
}

func TestPins_AreKeptAndReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ctx.db")
	s := open(t, path, sqlite.Options{})
	version := store(t, s, "ses", user("m1", "never drop a row"))
	b := &compartments.Batch{Session: "ses", Version: version, ListFrom: -1, Pins: []compartments.Pin{pinOf(1, "never drop"), pinOf(2, "a row")}}
	commit(t, s, b)
	commit(t, s, b) // stored already: the same again
	ended := pinOf(1, "never drop")
	ended.Ended, ended.EndedAt = true, 5
	commit(t, s, &compartments.Batch{Session: "ses", Version: version + 1, ListFrom: -1, Pins: []compartments.Pin{ended}})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, path, sqlite.Options{})
	got := pinsOf(t, s, "ses")
	if len(got) != 2 || !got[0].Ended || got[0].EndedAt != 5 || got[1].Ended || got[1].Spans[0].Text != "a row" {
		t.Errorf("pins %+v", got)
	}
	_, err := s.Commit(context.Background(), &compartments.Batch{Session: "ses", Version: version + 2, ListFrom: -1, Pins: []compartments.Pin{{}}})
	wantCode(t, err, compartments.CodeBadInput)
}

func TestPins_AreForgotten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ctx.db")
	s := open(t, path, sqlite.Options{})
	version := store(t, s, "ses", user("m1", "hello"))
	secret := "xyzzy-" + strings.Repeat("qua", 9)
	commit(t, s, &compartments.Batch{Session: "ses", Version: version, ListFrom: -1, Pins: []compartments.Pin{pinOf(1, secret)}})
	if err := s.Forget(context.Background(), "ses"); err != nil {
		t.Fatal(err)
	}
	version = store(t, s, "ses", user("m1", "hello"))
	if got := pinsOf(t, s, "ses"); len(got) != 0 {
		t.Errorf("forgotten pins came back: %+v", got)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); err != nil || bytes.Contains(b, []byte(secret)) {
		t.Errorf("the words of a forgotten pin are in the file (%v), version %d", err, version)
	}
}

// A database of the first schema opens, with all that is in it, and takes pins.
func TestOpen_OfTheFirstSchema(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ctx.db")
	s := open(t, path, sqlite.Options{})
	version := store(t, s, "ses", user("m1", "hello"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	sqlOn(t, path, `DROP TABLE pins`, `DROP TABLE calls`, `DROP TABLE breakers`, `DROP TABLE leases`, `DROP TABLE holds`, `DELETE FROM goose_db_version WHERE version_id > 1`, `PRAGMA user_version = 1`)
	_, err := sqlite.Open(context.Background(), path, sqlite.Options{ReadOnly: true})
	wantCode(t, err, compartments.CodeStorage)
	s = open(t, path, sqlite.Options{})
	if got := pinsOf(t, s, "ses"); len(got) != 0 {
		t.Errorf("pins %+v", got)
	}
	commit(t, s, &compartments.Batch{Session: "ses", Version: version, ListFrom: -1, Pins: []compartments.Pin{pinOf(1, "hello")}})
	if got := pinsOf(t, s, "ses"); len(got) != 1 {
		t.Errorf("pins %+v", got)
	}
}

// What a fold was once allowed to show counts while the compartment stands, not
// after it was written anew, by whichever process, nor for a batch that was undone.
func TestFold_AllowedWhileItStands(t *testing.T) {
	made := func(class compartments.Retention) []compartments.Compartment {
		return []compartments.Compartment{{ID: 1, First: 1, Last: 1, Members: ordinals(1), Retention: class,
			Tiers: map[compartments.Tier]compartments.Rendition{compartments.TierFull: {Text: "text", Tokens: 1}}}}
	}
	var fault error
	for name, change := range map[string]func(t *testing.T, s, other *sqlite.Store, b *compartments.Batch) (legal bool){
		"nothing": func(*testing.T, *sqlite.Store, *sqlite.Store, *compartments.Batch) bool { return true },
		"the same batch": func(_ *testing.T, _, _ *sqlite.Store, b *compartments.Batch) bool {
			b.Compartments = made(compartments.Pinned)
			return false
		},
		"a batch before": func(t *testing.T, s, _ *sqlite.Store, b *compartments.Batch) bool {
			b.Version = commit(t, s, &compartments.Batch{Session: "ses", Version: b.Version, ListFrom: -1, Compartments: made(compartments.Pinned)})
			return false
		},
		"another process": func(t *testing.T, _, other *sqlite.Store, b *compartments.Batch) bool {
			b.Version = commit(t, other, &compartments.Batch{Session: "ses", Version: b.Version, ListFrom: -1, Compartments: made(compartments.Pinned)})
			return false
		},
		"undone": func(t *testing.T, s, _ *sqlite.Store, b *compartments.Batch) bool {
			b.Version = commit(t, s, &compartments.Batch{Session: "ses", Version: b.Version, ListFrom: -1, Compartments: made(compartments.Pinned)})
			undone := *b
			undone.Compartments = made(compartments.Compressible)
			fault = errors.New("the disk is full")
			if _, err := s.Commit(context.Background(), &undone); err == nil {
				t.Fatal("it was committed")
			}
			fault = nil
			return false
		},
		"refused": func(t *testing.T, s, _ *sqlite.Store, b *compartments.Batch) bool {
			b.Version = commit(t, s, &compartments.Batch{Session: "ses", Version: b.Version, ListFrom: -1, Compartments: made(compartments.Pinned)})
			refused := *b
			refused.Compartments = append(made(compartments.Compressible), made(compartments.Pinned)...)
			refused.Compartments[1].ID = 2
			refused.Fold = &compartments.Fold{Number: 2, Layout: []compartments.PairLayout{{Items: []compartments.Item{
				{Compartments: []compartments.CompartmentID{1}, Tier: compartments.TierFull}, {Compartments: []compartments.CompartmentID{2}, Tier: compartments.TierFull}}}}}
			_, err := s.Commit(context.Background(), &refused)
			wantCode(t, err, compartments.CodeIllegal)
			return false
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, filepath.Join(t.TempDir(), "ctx.db"), sqlite.Options{FailCommit: func() error { return fault }})
			other := open(t, s.Path(), sqlite.Options{})
			shows := func(version int64, number int) *compartments.Batch {
				return &compartments.Batch{Session: "ses", Version: version, ListFrom: -1, Fold: &compartments.Fold{Number: number,
					Layout: []compartments.PairLayout{{Items: []compartments.Item{{Compartments: []compartments.CompartmentID{1}, Tier: compartments.TierFull}}}}}}
			}
			b := shows(store(t, s, "ses", user("m1", "hello")), 1)
			b.Compartments = made(compartments.Compressible)
			b = shows(commit(t, s, b), 2)
			legal := change(t, s, other, b)
			_, err := s.Commit(context.Background(), b)
			if legal && err != nil {
				t.Fatal(err)
			} else if !legal {
				wantCode(t, err, compartments.CodeIllegal)
			}
		})
	}
}

func TestFold_ShowsNothingThatPolicyForbids(t *testing.T) {
	tier := func(permille uint16) compartments.Rendition {
		r := compartments.Rendition{Text: "text", Tokens: 1}
		for d := range r.Survival {
			r.Survival[d] = permille
		}
		return r
	}
	made := func(class compartments.Retention, floor compartments.Floor) compartments.Compartment {
		return compartments.Compartment{ID: 1, First: 1, Last: 1, Members: ordinals(1), Retention: class, Floor: floor,
			Tiers: map[compartments.Tier]compartments.Rendition{compartments.TierFull: tier(900), compartments.TierAnchor: tier(300)}}
	}
	half := make([]int, compartments.Dimensions)
	half[compartments.Rejected] = 500
	for name, c := range map[string]struct {
		c      compartments.Compartment
		tier   compartments.Tier
		floors []int
		legal  bool
		eased  bool // the entry says that the floors were
	}{
		"a tier that is there":                   {made(compartments.Compressible, compartments.Floor{}), compartments.TierFull, nil, true, false},
		"a tier that is not there":               {made(compartments.Compressible, compartments.Floor{}), compartments.TierDense, nil, false, false},
		"an index line":                          {made(compartments.Compressible, compartments.Floor{}), compartments.TierIndex, nil, true, false},
		"out of the window":                      {made(compartments.Compressible, compartments.Floor{}), compartments.TierArchived, nil, false, false},
		"discardable, out of the window":         {made(compartments.Discardable, compartments.Floor{}), compartments.TierArchived, nil, true, false},
		"pinned, raw":                            {made(compartments.Pinned, compartments.Floor{}), compartments.TierRaw, nil, true, false},
		"pinned, rendered":                       {made(compartments.Pinned, compartments.Floor{}), compartments.TierFull, nil, false, false},
		"pinned, an index line":                  {made(compartments.Pinned, compartments.Floor{}), compartments.TierIndex, nil, false, false},
		"pinned, without room":                   {made(compartments.Pinned, compartments.Floor{}), compartments.TierNone, nil, true, false},
		"may fade, without room":                 {made(compartments.Compressible, compartments.Floor{}), compartments.TierNone, nil, false, false},
		"below its own floor":                    {made(compartments.Compressible, compartments.Floor{Tier: compartments.TierFull}), compartments.TierAnchor, nil, false, false},
		"below a floor of the policy":            {made(compartments.Compressible, compartments.Floor{}), compartments.TierAnchor, half, false, false},
		"above a floor of the policy":            {made(compartments.Compressible, compartments.Floor{}), compartments.TierFull, half, true, false},
		"an index line below such a floor":       {made(compartments.Compressible, compartments.Floor{}), compartments.TierIndex, half, false, false},
		"below a floor that was eased":           {made(compartments.Compressible, compartments.Floor{}), compartments.TierAnchor, half, true, true},
		"an index line below one that was eased": {made(compartments.Compressible, compartments.Floor{}), compartments.TierIndex, half, true, true},
		"below its own floor, which none eases":  {made(compartments.Compressible, compartments.Floor{Tier: compartments.TierFull}), compartments.TierAnchor, half, false, true},
		"pinned, rendered where floors are":      {made(compartments.Pinned, compartments.Floor{}), compartments.TierFull, half, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			version := store(t, s, "ses", user("m1", "hello"))
			item := compartments.Item{Compartments: []compartments.CompartmentID{1}, Tier: c.tier}
			if c.eased {
				item.Eased = item.Compartments
			}
			_, err := s.Commit(context.Background(), &compartments.Batch{Session: "ses", Version: version, ListFrom: -1,
				Compartments: []compartments.Compartment{c.c}, Fold: &compartments.Fold{Number: 1, Inputs: compartments.FoldInputs{Recording: &compartments.Recording{Floors: c.floors}},
					Layout: []compartments.PairLayout{{Items: []compartments.Item{item}}}}})
			if c.legal {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			wantCode(t, err, compartments.CodeIllegal)
			if folds, err := s.Folds(context.Background(), "ses"); err != nil || len(folds) > 0 {
				t.Errorf("a refused fold is stored: %v, %v", folds, err)
			}
		})
	}
}

package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// keeping is a launcher that copies the database of an orderly end to a file.
func keeping(start launcher, file string) launcher {
	return func(ctx context.Context, dir string) (*process, error) {
		p, err := start(ctx, dir)
		if err != nil {
			return nil, err
		}
		wait := p.wait
		p.wait = func() error {
			if err := wait(); err != nil {
				return err
			}
			from, err := os.Open(filepath.Join(dir, "replay.db"))
			if err != nil {
				return err
			}
			defer from.Close()
			to, err := os.Create(file)
			if err != nil {
				return err
			}
			_, err = io.Copy(to, from)
			if closed := to.Close(); err == nil {
				err = closed
			}
			return err
		}
		return p, nil
	}
}

// Every fold of the sample is made again from what is stored of it, and comes out
// the same, byte for byte; and what is said of the tiers and costs adds up. So it
// does where mechanisms are replaced.
func TestSample_EveryFoldIsMadeAgain(t *testing.T) {
	start := built(t)
	for _, without := range []string{"", "tiers,hysteresis,economics,divergence,relevance,superseded", "hull,stubs"} {
		t.Run(without, func(t *testing.T) { madeAgain(t, start, ReplayOptions{NoTimings: true, Ablate: without}) })
	}
	t.Run("floors too high for a small window", func(t *testing.T) {
		config := filepath.Join(t.TempDir(), "config.json")
		if err := os.WriteFile(config, []byte(`{"floorIdentifiers": 60, "floorFailures": 80}`), 0o600); err != nil {
			t.Fatal(err)
		}
		madeAgain(t, built(t, "--config", config), ReplayOptions{NoTimings: true, Window: 16_000})
	})
}

func madeAgain(t *testing.T, start launcher, o ReplayOptions) {
	set, err := o.settings()
	if err != nil {
		t.Fatal(err)
	}
	recordings, err := o.recordings()
	if err != nil {
		t.Fatal(err)
	}
	db := filepath.Join(t.TempDir(), "kept.db")
	res, err := replayOne(context.Background(), recordings[0], set, keeping(start, db), newProgress(&bytes.Buffer{}, 0))
	if err != nil || len(res.verdicts.breaches) > 0 {
		t.Fatalf("%v, %v", err, res.verdicts.breaches)
	}
	run := func(args ...string) []byte {
		t.Helper()
		program, err := build()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(program, append(args, "--db", db)...)
		cmd.Env = isolated(os.Environ(), t.TempDir())
		var said bytes.Buffer
		cmd.Stderr = &said
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s%s", strings.Join(args, " "), err, out, said.Bytes())
		}
		return out
	}
	var verified []struct {
		Folds, Again, Older, Plans int
		Different                  []any
	}
	if err := json.Unmarshal(run("verify", "--json"), &verified); err != nil {
		t.Fatal(err)
	}
	if len(verified) != 1 || verified[0].Folds == 0 || verified[0].Again != verified[0].Folds || verified[0].Plans == 0 || len(verified[0].Different) != 0 {
		t.Errorf("%+v", verified)
	}
	if o.Ablate != "" {
		return // checkExplained works out the mechanisms themselves
	}
	for _, want := range []string{"history budget", "turn-ahead", "not in view", "ctx_expand("} {
		if said := run("explain", recordings[0].id); !bytes.Contains(said, []byte(want)) {
			t.Errorf("explain does not say %q:\n%s", want, said)
		}
	}
	checkExplained(t, run("explain", recordings[0].id, "--json"))
}

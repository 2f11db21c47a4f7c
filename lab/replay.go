package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"ctxplugin/lab/sample"
)

// Exit codes of a replay.
const (
	exitHeld   = 0 // every promise held
	exitBroken = 1 // one did not, or the plugin failed
	exitInput  = 2 // a file or an option is of no use
)

// RunReplay plays session files against the program that runs, one child process
// for each, and prints a report, a JSON document or the history to stdout. A
// progress bar goes to stderr if that is a terminal.
//
// The exit code is 0 if every promise held, 1 if one did not or the plugin
// failed, 2 if a file or an option is of no use. err is one line for the user,
// and nil when stdout says it all. An interrupt ends the replay and its child.
func RunReplay(ctx context.Context, o ReplayOptions, stdout, stderr io.Writer) (exit int, err error) {
	set, err := o.settings()
	if err != nil {
		return exitInput, err
	}
	recordings, err := o.recordings()
	if err != nil {
		return exitInput, err
	}
	if err := o.keepable(); err != nil {
		return exitInput, err
	}
	start := o.start
	if start == nil {
		start = func(ctx context.Context, dir string) (*process, error) { return launch(ctx, dir, o.Keep, o.Config) }
	}
	plays := set.plays()
	total := 0
	for _, r := range recordings {
		total += len(cut(r)) * len(plays)
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	bar := newProgress(stderr, total)
	defer bar.finish()
	var results []*result
	for _, rec := range recordings {
		bar.describe(rec.name)
		for _, one := range plays {
			res, err := replayOne(ctx, rec, one, start, bar)
			if ctx.Err() != nil {
				return exitBroken, errors.New("interrupted")
			}
			if err != nil {
				return exitBroken, fmt.Errorf("%s: %w", rec.name, err)
			}
			results = append(results, res)
			if len(res.verdicts.breaches) > 0 {
				exit = exitBroken
			}
		}
	}
	bar.finish()
	switch {
	case o.JSON:
		err = writeJSON(stdout, results, set, o)
	case o.ShowHistory:
		err = writeHistory(stdout, stderr, results)
	case o.Prefer == PreferAll:
		err = writePreferences(stdout, results, set)
	default:
		err = writeReport(stdout, results, set, o)
	}
	if err != nil {
		return exitBroken, fmt.Errorf("write the report: %w", err)
	}
	return exit, nil
}

// keepable makes the path of the database that is kept absolute. One that exists is
// never written over: it may be the user's own.
func (o *ReplayOptions) keepable() error {
	if o.Keep == "" {
		return nil
	}
	path, err := filepath.Abs(o.Keep)
	if err != nil {
		return fmt.Errorf("--keep %s: %w", o.Keep, err)
	}
	o.Keep = path
	switch _, err := os.Lstat(path); {
	case err == nil:
		return fmt.Errorf("--keep %s: there is a file already", path)
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("--keep: %w", err)
	}
	return nil
}

func (o *ReplayOptions) recordings() ([]*recording, error) {
	if len(o.Files) == 0 {
		r, err := parseRecording(sample.Name, sample.Session())
		if err != nil {
			return nil, err
		}
		return []*recording{r}, nil
	}
	var all []*recording
	for _, file := range o.Files {
		r, err := readRecording(file)
		if err != nil {
			return nil, err
		}
		r.name = filepath.Base(file)
		all = append(all, r)
	}
	return all, nil
}

// fold is one fold as it was seen from outside.
type fold struct {
	Number     int            `json:"number"`
	Step       int            `json:"step"`
	Messages   int            `json:"messages"` // in the host's list
	Reason     string         `json:"reason"`
	Divergence int            `json:"divergence"` // first pair of the head whose bytes changed
	Pairs      int            `json:"pairs"`
	Before     int            `json:"tokensBefore"` // of this very request without the fold, as status says
	After      int            `json:"tokensAfter"`
	History    int            `json:"historyTokens"`
	Tiers      map[string]int `json:"tiers,omitempty"`
}

// irreducible is a request that no plan could have made fit.
type irreducible struct {
	Step   int    `json:"step"`
	Tokens int    `json:"tokens"`
	Named  string `json:"named"`
}

// result is what one replay found.
type result struct {
	rec         *recording
	requests    int
	compactions int // the host's own
	prefer      string
	view, head  int64 // tokens of messages, and of them rendered history, over all requests
	stubs       int
	folds       []fold
	bill        bill
	baselines   []*baseline
	irreducible []irreducible
	latency     []time.Duration
	verdicts    *verdicts
	measures    *measures // nil unless asked for
	warnings    []string
	history     []string // texts of the head's pairs at the end
	peak        int      // most tokens of messages in one request
}

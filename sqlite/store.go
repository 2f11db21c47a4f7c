package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"ctxplugin/compartments"
)

// Options of a store. The zero value is ready for use.
type Options struct {
	// BusyTimeout bounds every wait for another process; 0 means 2 s to open and
	// 600 ms for a call, because sessions try a call three times.
	BusyTimeout time.Duration
	// Own says that path belongs to this program alone, so that whatever lies
	// there and is no database counts as a damaged one. Without it such a file is
	// somebody's, and refused.
	Own bool
	// ReadOnly changes nothing: no file is made, moved, brought up to date or given
	// other rights, and every write fails with CodeStorage.
	ReadOnly bool
	// Temporary says that nothing has to outlive the process: no write waits for
	// the disk.
	Temporary bool
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// RollbackJournal does without a write-ahead log even where one works.
	RollbackJournal bool
	// FailCommit, if set, is called right before a batch is committed; its error
	// undoes the batch. It is there for tests.
	FailCommit func() error
}

const (
	openTimeout = 2 * time.Second
	callTimeout = 600 * time.Millisecond

	readerCount = 2 // connections that read beside the writer

	// walBytes is the size from which indexing moves the write-ahead log into the
	// file, and that the log is cut back to. It is one number: a log that stayed
	// larger would be moved by every indexing, and the first commit after a move
	// waits for the disk, in front of an answer.
	walBytes = 4 << 20
	walMost  = 32 << 20 // size from which a commit moves it, which takes a tenth of a second
)

// Store keeps sessions in one SQLite file. Its methods may be called from any
// goroutine; writes take turns.
type Store struct {
	path string
	opts Options
	vfs  string // SQLite's way to the file system; empty for the usual one
	pack packer

	shown map[compartments.SessionID]*shown // guarded by turn

	callWait time.Duration // most that a call waits for another process; opts.BusyTimeout is for opening

	writeDB *sql.DB
	readDB  *sql.DB
	turn    chan *conn    // holds the writer while nobody writes
	readers chan *conn    // holds a slot for each reader; nil until it is first used
	closing chan struct{} // closed by Close
	closed  sync.Once

	wal     bool
	suspect atomic.Bool // damage was met; the next Open is to check the file

	mu    sync.Mutex
	notes []string // guarded by mu
}

// Open opens the database at path, and makes it, its folder (mode 0700) and its
// schema if they are absent. Files get mode 0600.
//
// A damaged file is moved aside under a name that ends in .corrupt- and the
// time in Unix ms, and an empty one is started; Notes says so. A file without
// SQLite's header is damaged only if the path is the program's Own. Where a
// write-ahead log does not work, a rollback journal serves and Notes says so.
//
// Errors carry CodeNewerSchema when a newer binary owns the file, CodeBusy when
// it stays locked for the bounded wait, CodeStorage when it is of another
// program, or cannot be read or written. Nothing was changed then.
func Open(ctx context.Context, path string, opts Options) (*Store, error) {
	callWait := opts.BusyTimeout
	if opts.BusyTimeout <= 0 {
		opts.BusyTimeout, callWait = openTimeout, callTimeout
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	s := &Store{opts: opts, callWait: callWait}
	if err := s.locate(path); err != nil {
		return nil, failure("open the store", err)
	}
	err := s.openInTurn(ctx)
	if errors.Is(err, ErrDamaged) && !opts.ReadOnly {
		var aside string
		if aside, err = moveAside(s.path, opts.Now()); err == nil {
			s.note("the database was damaged; it was moved to " + aside + " and an empty one started")
			err = s.openInTurn(ctx)
		}
	}
	if err != nil {
		return nil, failure("open "+s.path, err)
	}
	return s, nil
}

// openInTurn opens as soon as no other process is in the way, within BusyTimeout.
// SQLite's own wait does not hear of the end of a context, so it is kept short.
func (s *Store) openInTurn(ctx context.Context) error {
	until := time.Now().Add(s.opts.BusyTimeout)
	for {
		err := s.open(ctx)
		if resultCode(err) != codeBusy || ctx.Err() != nil || !time.Now().Before(until) {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(openPause):
		}
	}
}

// lockWait is how long one attempt to open waits for another process.
func (s *Store) lockWait() time.Duration { return min(s.opts.BusyTimeout, openAttempt) }

const (
	openAttempt = 200 * time.Millisecond
	openPause   = 5 * time.Millisecond
)

// Notes says what a user should know about how the store was opened: that a
// damaged file was moved aside, or that a rollback journal is in use.
func (s *Store) Notes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.notes)
}

func (s *Store) note(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.notes, text) {
		s.notes = append(s.notes, text)
	}
}

// Path is the database file.
func (s *Store) Path() string { return s.path }

// Close waits for the calls in progress, moves the write-ahead log into the
// file and closes it. Later calls fail with CodeStorage.
func (s *Store) Close() error {
	var err error
	s.closed.Do(func() {
		close(s.closing)
		for range readerCount {
			if c := <-s.readers; c != nil {
				c.close()
			}
		}
		w := <-s.turn
		if w != nil {
			if s.wal && !s.opts.ReadOnly && !s.opts.Temporary {
				err = w.checkpoint(context.Background(), "TRUNCATE")
			}
			w.close()
		}
		err = errors.Join(err, s.readDB.Close(), s.writeDB.Close())
		s.pack.close()
	})
	return s.fail("close the store", err)
}

var errClosed = compartments.Errorf(compartments.CodeStorage, "the store is closed")

// fail makes a coded error, and leaves a mark for the next Open if it says that
// the file is damaged.
func (s *Store) fail(what string, err error) error {
	err = failure(what, err)
	if errors.Is(err, ErrDamaged) && !s.opts.ReadOnly && s.suspect.CompareAndSwap(false, true) {
		if f, createErr := os.OpenFile(s.path+suspectSuffix, os.O_CREATE|os.O_WRONLY, fileMode); createErr == nil {
			_ = f.Close() // an empty file says all
		}
	}
	return err
}

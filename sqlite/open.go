package sqlite

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	_ "modernc.org/sqlite" // registers the driver "sqlite"

	"ctxplugin/compartments"
)

const (
	folderMode    = 0o700
	fileMode      = 0o600
	pageBytes     = 8192       // two to three messages a page
	applicationID = 0x63747870 // "ctxp", marks the file as ours
	suspectSuffix = ".suspect" // of the empty file that asks the next Open for a check
)

// locate fixes the path and makes the folder.
func (s *Store) locate(path string) error {
	abs, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	s.path = abs
	if s.opts.ReadOnly {
		return nil
	}
	folder := filepath.Dir(abs)
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(folder, folderMode); err != nil {
			return err
		}
	}
	return nil
}

// open makes the file if need be, brings its schema up to date and connects.
// After an error nothing is open. ErrDamaged asks for the file to be moved
// aside.
func (s *Store) open(ctx context.Context) error {
	h, err := readHeader(s.path)
	if err != nil {
		return err
	}
	if err := h.check(s.path, s.opts.Own); err != nil {
		return err
	}
	if s.opts.ReadOnly {
		if h.fresh {
			return compartments.Errorf(compartments.CodeStorage, "%s holds no sessions yet", s.path)
		}
		return s.connect(ctx)
	}
	if err := claimFile(s.path); err != nil {
		return err
	}
	if h.fresh {
		if err := s.migrate(ctx); err != nil {
			return err
		}
	}
	err = s.connect(ctx)
	if errors.Is(err, errOlderSchema) {
		if err := s.migrate(ctx); err != nil {
			return err
		}
		err = s.connect(ctx)
	}
	return err
}

var errOlderSchema = errors.New("the schema is of an older version")

// connect opens the writer, and readies the readers.
func (s *Store) connect(ctx context.Context) (err error) {
	s.wal = !s.opts.RollbackJournal
	if s.wal && onNetwork(filepath.Dir(s.path)) {
		s.wal = false
		s.note("the database lies on a network file system; a rollback journal is in use instead of a write-ahead log")
	}
	synchronous := "synchronous(NORMAL)"
	if s.opts.Temporary {
		synchronous = "synchronous(OFF)"
	}
	pragmas := []string{"foreign_keys(1)", synchronous, "secure_delete(1)", "temp_store(MEMORY)",
		"wal_autocheckpoint(0)", "journal_size_limit(" + strconv.Itoa(walBytes) + ")", "cache_size(-8192)"}
	if s.opts.ReadOnly {
		pragmas = append(pragmas, "query_only(1)")
	}
	s.writeDB, err = sql.Open("sqlite", s.dsn(s.lockWait(), pragmas...))
	if err != nil {
		return err
	}
	s.writeDB.SetMaxOpenConns(1)
	w, err := s.connectWriter(ctx)
	if err != nil {
		return errors.Join(err, s.writeDB.Close())
	}
	s.readDB, err = sql.Open("sqlite", s.dsn(s.callWait, "query_only(1)", "temp_store(MEMORY)", "cache_size(-8192)"))
	if err != nil {
		w.close()
		return errors.Join(err, s.writeDB.Close())
	}
	s.readDB.SetMaxOpenConns(readerCount)
	s.turn = make(chan *conn, 1)
	s.shown = map[compartments.SessionID]*shown{}
	s.turn <- w
	s.readers = make(chan *conn, readerCount)
	for range readerCount {
		s.readers <- nil
	}
	s.closing = make(chan struct{})
	return nil
}

// connectWriter opens the one connection that writes. It reads just enough to
// know that the file is one of ours and of our version.
func (s *Store) connectWriter(ctx context.Context) (*conn, error) {
	w, err := connect(ctx, s.writeDB)
	if err != nil {
		return nil, damaged(err)
	}
	err = s.ready(ctx, w)
	if err == nil {
		var ms int
		_, err = w.row(ctx, fmt.Sprintf(`PRAGMA busy_timeout = %d`, s.callWait.Milliseconds()), nil, &ms)
	}
	if err != nil {
		w.close()
		return nil, damaged(err)
	}
	return w, nil
}

func (s *Store) ready(ctx context.Context, w *conn) error {
	if s.opts.ReadOnly {
		return s.readyToRead(ctx, w)
	}
	if s.wal {
		var mode string
		if _, err := w.row(ctx, `PRAGMA journal_mode = WAL`, nil, &mode); err != nil || mode != "wal" {
			if code := resultCode(err); code == codeBusy || code == codeCorrupt || code == codeNotADB || ctx.Err() != nil {
				return err
			}
			s.wal = false
			s.note("a write-ahead log does not work on this file system; a rollback journal is in use")
		}
	}
	if !s.wal {
		if err := w.leaveWAL(ctx); err != nil {
			return err
		}
	}
	if err := checkSchema(ctx, w); err != nil {
		return err
	}
	if _, err := os.Stat(s.path + suspectSuffix); err == nil {
		return s.checkSuspect(ctx, w)
	}
	return nil
}

// readyToRead is ready for a store that changes nothing.
func (s *Store) readyToRead(ctx context.Context, w *conn) error {
	err := checkSchema(ctx, w)
	if errors.Is(err, errOlderSchema) {
		return compartments.Errorf(compartments.CodeStorage, "%w; the next start of a host brings it up to date", err)
	}
	return err
}

func checkSchema(ctx context.Context, w *conn) error {
	var version, tables int
	if _, err := w.row(ctx, `PRAGMA user_version`, nil, &version); err != nil {
		return err
	}
	// This parses the whole schema, so a page torn there, or an end that is
	// missing, shows at once.
	if _, err := w.row(ctx, `SELECT count(*) FROM sqlite_schema`, nil, &tables); err != nil {
		return err
	}
	if err := checkVersion(version); err != nil {
		return err
	}
	if version < schemaVersion {
		return errOlderSchema
	}
	return nil
}

// checkSuspect looks through a file in which an earlier run met damage.
func (s *Store) checkSuspect(ctx context.Context, w *conn) error {
	var verdict string
	if _, err := w.row(ctx, `PRAGMA quick_check(1)`, nil, &verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return fmt.Errorf("%w: %s", ErrDamaged, verdict)
	}
	return os.Remove(s.path + suspectSuffix)
}

// damaged marks what SQLite says of a file that it cannot make sense of.
func damaged(err error) error {
	if code := resultCode(err); code == codeCorrupt || code == codeNotADB {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}

func checkVersion(version int) error {
	if version > schemaVersion {
		return compartments.Errorf(compartments.CodeNewerSchema,
			"the database has schema version %d, this binary knows %d: update ctxplugin; nothing was changed", version, schemaVersion)
	}
	return nil
}

// dsn is the data source name of the database, with the longest wait for a lock
// and pragmas that every connection sets. The page size cannot be among them: the driver would set the
// journal mode before it, and then it no longer takes effect.
func (s *Store) dsn(wait time.Duration, pragmas ...string) string {
	path := filepath.ToSlash(s.path)
	if runtime.GOOS == "windows" {
		path = "/" + path
	}
	q := url.Values{"mode": {"rw"}, "_txlock": {"immediate"}}
	if s.vfs != "" {
		q.Set("vfs", s.vfs)
	}
	q.Add("_pragma", "busy_timeout("+strconv.FormatInt(wait.Milliseconds(), 10)+")")
	for _, p := range pragmas {
		q.Add("_pragma", p)
	}
	u := url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}
	return u.String()
}

// header is what the first bytes of the file say.
type header struct {
	fresh       bool // no file, or nothing in it
	recognised  bool // it is an SQLite file
	application uint32
	version     uint32
}

const headerBytes = 100

// readHeader looks at the file without opening it as a database, so that a
// foreign or newer one is left exactly as it is.
func readHeader(path string) (header, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return header{fresh: true}, nil
	}
	if err != nil {
		return header{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return header{}, err
	}
	if !info.Mode().IsRegular() {
		return header{}, fmt.Errorf("%s is no regular file", path)
	}
	if info.Size() == 0 {
		return header{fresh: true}, nil
	}
	b := make([]byte, headerBytes)
	if _, err := io.ReadFull(f, b); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return header{}, nil
		}
		return header{}, err
	}
	return header{
		recognised:  strings.HasPrefix(string(b), "SQLite format 3\x00"),
		application: binary.BigEndian.Uint32(b[68:]),
		version:     binary.BigEndian.Uint32(b[60:]),
	}, nil
}

// check refuses what is not ours to open. own: no file but ours can be at path.
func (h header) check(path string, own bool) error {
	switch {
	case h.fresh:
		return nil
	case !h.recognised && !own:
		return compartments.Errorf(compartments.CodeStorage, "%s is no ctxplugin database; nothing was changed", path)
	case !h.recognised:
		return fmt.Errorf("%w: it is no SQLite database", ErrDamaged)
	case h.application != applicationID:
		return compartments.Errorf(compartments.CodeStorage, "%s is no ctxplugin database: it belongs to another program; choose another file", path)
	}
	return checkVersion(int(h.version))
}

// claimFile makes the file, or takes rights on it away from everyone else.
// SQLite gives the files beside it the same mode.
func claimFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != fileMode {
		return f.Chmod(fileMode)
	}
	return nil
}

func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// moveAside renames a damaged database and the files beside it, and returns the
// new name. Nothing is overwritten.
func moveAside(path string, now time.Time) (string, error) {
	ms := now.UnixMilli()
	aside := ""
	for {
		aside = path + ".corrupt-" + strconv.FormatInt(ms, 10)
		if _, err := os.Lstat(aside); errors.Is(err, fs.ErrNotExist) {
			break
		} else if err != nil {
			return "", err
		}
		ms++
	}
	// The log goes first: an empty file that meets an old log would be filled
	// from it.
	for _, suffix := range []string{"-wal", "-shm", "-journal", ""} {
		if err := os.Rename(path+suffix, aside+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("move the damaged database aside: %w", err)
		}
	}
	if err := os.Remove(path + suspectSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return aside, nil
}

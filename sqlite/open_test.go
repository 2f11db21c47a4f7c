package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"ctxplugin/compartments"
	"ctxplugin/sqlite"
)

func tryOpen(path string, opts sqlite.Options) error {
	s, err := sqlite.Open(context.Background(), path, opts)
	if err != nil {
		return err
	}
	return s.Close()
}

// sqlOn runs statements on a closed database.
func sqlOn(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func names(t *testing.T, folder string) []string {
	t.Helper()
	list, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

func TestOpen_OwnerOnly(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes here")
	}
	permissive(t)
	folder := filepath.Join(t.TempDir(), "data", "ctxplugin")
	path := filepath.Join(folder, "ctx.db")
	s := open(t, path, sqlite.Options{})
	store(t, s, "ses", user("m1", "hello"))
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %o", filepath.Base(name), info.Mode().Perm())
		}
	}
	info, err := os.Stat(folder)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o700 {
		t.Errorf("the folder has mode %o", info.Mode().Perm())
	}
}

func TestOpen_TakesRightsAway(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes here")
	}
	path := filepath.Join(t.TempDir(), "ctx.db")
	if err := emptyAt(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o664); err != nil {
		t.Fatal(err)
	}
	open(t, path, sqlite.Options{})
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestOpen_Settings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "with ? and # and % and é", "ctx.db")
	s := open(t, path, sqlite.Options{})
	store(t, s, "ses", user("m1", "hello"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	b := readFile(t, path)
	if size := int(b[16])<<8 | int(b[17]); size != 8192 {
		t.Errorf("page size %d", size)
	}
	if b[18] != 2 || b[19] != 2 {
		t.Errorf("no write-ahead log: %d %d", b[18], b[19])
	}
	if got := string(b[68:72]); got != "ctxp" {
		t.Errorf("application id %q", got)
	}
	if got := names(t, filepath.Dir(path)); len(got) != 1 {
		t.Errorf("close left %v", got)
	}
}

func TestOpen_RefusesNewerSchema(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ctx.db")
	if err := emptyAt(path); err != nil {
		t.Fatal(err)
	}
	// A journal mode that opening would change, so that it would show.
	sqlOn(t, path, `PRAGMA journal_mode = DELETE`, `PRAGMA user_version = 4711`)
	before := readFile(t, path)
	err := tryOpen(path, sqlite.Options{})
	wantCode(t, err, compartments.CodeNewerSchema)
	if !strings.Contains(err.Error(), "4711") || !strings.Contains(err.Error(), "update ctxplugin") {
		t.Errorf("text: %v", err)
	}
	if !bytes.Equal(before, readFile(t, path)) {
		t.Error("the file was changed")
	}
	if got := names(t, filepath.Dir(path)); len(got) != 1 {
		t.Errorf("files appeared: %v", got)
	}
}

// TestOpen_RefusesNewerSchemaInLog: the newer version stands in the write-ahead
// log of a live process only.
func TestOpen_RefusesNewerSchemaInLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ctx.db")
	if err := emptyAt(path); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(`PRAGMA user_version = 9`); err != nil {
		t.Fatal(err)
	}
	before := readFile(t, path)
	wantCode(t, tryOpen(path, sqlite.Options{}), compartments.CodeNewerSchema)
	if !bytes.Equal(before, readFile(t, path)) {
		t.Error("the file was changed")
	}
}

func TestOpen_RefusesForeignDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ctx.db")
	sqlOn(t, path, `CREATE TABLE theirs (x)`, `INSERT INTO theirs VALUES (1)`)
	before := readFile(t, path)
	wantCode(t, tryOpen(path, sqlite.Options{}), compartments.CodeStorage)
	if !bytes.Equal(before, readFile(t, path)) {
		t.Error("the file was changed")
	}
}

func TestOpen_MovesDamagedFileAside(t *testing.T) {
	stored := filepath.Join(t.TempDir(), "ctx.db")
	s := open(t, stored, sqlite.Options{})
	for i := range 20 {
		store(t, s, compartments.SessionID(fmt.Sprint(i)), user("m1", strings.Repeat("some text ", 2000)), user("m2", "x"))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole := readFile(t, stored)
	torn := bytes.Clone(whole)
	clear(torn[100:8000])
	for name, content := range map[string][]byte{
		"no database":    []byte(strings.Repeat("this is no database\n", 1000)),
		"short":          whole[:60],
		"truncated":      whole[:len(whole)/2],
		"torn schema":    torn,
		"header of zero": append(make([]byte, 100), whole[100:]...),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "ctx.db")
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			own := name != "truncated" && name != "torn schema" // they have no header that names them
			if own {
				wantCode(t, tryOpen(path, sqlite.Options{}), compartments.CodeStorage)
			}
			wantCode(t, tryOpen(path, sqlite.Options{Own: own, ReadOnly: true}), compartments.CodeStorage)
			if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || !bytes.Equal(readFile(t, path), content) {
				t.Errorf("a refusal changed something: %v, %v", entries, err)
			}
			s := open(t, path, sqlite.Options{Own: own, Now: clock(1700000000123)})
			aside := path + ".corrupt-1700000000123"
			if !bytes.Equal(readFile(t, aside), content) {
				t.Error("the damaged file is not as it was")
			}
			if notes := s.Notes(); len(notes) != 1 || !strings.Contains(notes[0], aside) {
				t.Errorf("notes: %q", notes)
			}
			store(t, s, "ses", user("m1", "hello"))
			load(t, s, "ses")
		})
	}
}

// TestOpen_OverwritesNoEarlierDamagedFile: two in the same millisecond.
func TestOpen_OverwritesNoEarlierDamagedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ctx.db")
	for _, content := range []string{"first damaged", "second damaged"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := tryOpen(path, sqlite.Options{Own: true, Now: clock(5)}); err != nil {
			t.Fatal(err)
		}
	}
	if got := string(readFile(t, path+".corrupt-5")) + ", " + string(readFile(t, path+".corrupt-6")); got != "first damaged, second damaged" {
		t.Errorf("aside: %s", got)
	}
}

// TestOpen_ReadOnly: nothing is made or changed, and stored sessions can be read.
func TestOpen_ReadOnly(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "none")
	path := filepath.Join(folder, "ctx.db")
	wantCode(t, tryOpen(path, sqlite.Options{ReadOnly: true}), compartments.CodeStorage)
	if _, err := os.Stat(folder); err == nil {
		t.Error("the folder was made")
	}
	s := open(t, path, sqlite.Options{})
	store(t, s, "ses", user("m1", "hello"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	before := readFile(t, path)
	s = open(t, path, sqlite.Options{ReadOnly: true})
	load(t, s, "ses")
	_, err := s.Commit(context.Background(), &compartments.Batch{Session: "ses", Version: 1, ListFrom: -1, State: []byte("x")})
	wantCode(t, err, compartments.CodeStorage)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 1 || !bytes.Equal(before, readFile(t, path)) {
		t.Errorf("something was changed: %v, %v", entries, err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
		t.Errorf("rights: %v, %v", info.Mode(), err)
	}
}

// TestDamageAtRunTime: a page that Open does not look at is torn. The read that
// meets it says so, and the next Open checks the file and moves it aside.
func TestDamageAtRunTime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ctx.db")
	s := open(t, path, sqlite.Options{})
	for i := range 50 {
		store(t, s, compartments.SessionID(fmt.Sprint(i)), user("m1", fmt.Sprintf("%d %s", i, strings.Repeat("z", 600))))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	b := readFile(t, path)
	for page := 8192 * 2; page < len(b); page += 8192 {
		if bytes.Contains(b[page:page+8192], []byte("CREATE TABLE")) {
			continue // Open reads the schema
		}
		if b[page] == 13 || b[page] == 10 || b[page] == 2 || b[page] == 5 { // kinds of page that hold rows
			for i := page; i < page+64; i++ {
				b[i] = 0xee
			}
		}
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := sqlite.Open(context.Background(), path, sqlite.Options{Now: clock(77)})
	if err != nil {
		t.Fatal(err)
	}
	if notes := s.Notes(); len(notes) == 0 {
		_, err := s.Load(context.Background(), "3")
		wantCode(t, err, compartments.CodeStorage)
		if !strings.Contains(err.Error(), "damaged") {
			t.Errorf("text: %v", err)
		}
	}
	_ = s.Close() // the file is torn
	s = open(t, path, sqlite.Options{Now: clock(78)})
	if notes := s.Notes(); len(notes) != 1 || !strings.Contains(notes[0], ".corrupt-78") {
		t.Errorf("notes: %q", notes)
	}
}

// TestSuspect_SoundFileStays: a mark without damage costs one check.
func TestSuspect_SoundFileStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ctx.db")
	s := open(t, path, sqlite.Options{})
	store(t, s, "ses", user("m1", "hello"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".suspect", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s = open(t, path, sqlite.Options{})
	load(t, s, "ses")
	if len(s.Notes()) > 0 {
		t.Errorf("notes: %q", s.Notes())
	}
	if _, err := os.Stat(path + ".suspect"); err == nil {
		t.Error("the mark is still there")
	}
}

func TestOpen_WithoutPermission(t *testing.T) {
	for _, test := range []struct {
		name   string
		folder fs.FileMode
		file   fs.FileMode
	}{
		{"read-only folder, no file", 0o500, 0},
		{"read-only file", 0o700, 0o400},
		{"unreadable file", 0o700, 0o200},
		{"read-only folder and file", 0o500, 0o400},
	} {
		t.Run(test.name, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "data")
			if err := os.Mkdir(folder, 0o700); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(folder, "ctx.db")
			if test.file != 0 {
				if err := emptyAt(path); err != nil {
					t.Fatal(err)
				}
				if err := os.Chmod(path, test.file); err != nil {
					t.Fatal(err)
				}
			}
			before := names(t, folder)
			if err := os.Chmod(folder, test.folder); err != nil {
				t.Fatal(err)
			}
			defer os.Chmod(folder, 0o700)
			var err error
			unprivileged(t, folder, path, func() { err = tryOpen(path, sqlite.Options{}) })
			wantCode(t, err, compartments.CodeStorage)
			if after := names(t, folder); len(after) != len(before) {
				t.Errorf("files appeared: %v", after)
			}
		})
	}
}

func TestOpen_FolderIsAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("theirs"), 0o600); err != nil {
		t.Fatal(err)
	}
	wantCode(t, tryOpen(filepath.Join(file, "ctx.db"), sqlite.Options{}), compartments.CodeStorage)
	wantCode(t, tryOpen(t.TempDir(), sqlite.Options{}), compartments.CodeStorage)
	if got := string(readFile(t, file)); got != "theirs" {
		t.Errorf("the file says %q", got)
	}
}

func TestLocked_IsBusyAfterTheWait(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ctx.db")
	s := open(t, path, sqlite.Options{BusyTimeout: 30 * time.Millisecond})
	store(t, s, "ses", user("m1", "hello"))
	other, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	other.SetMaxOpenConns(1)
	if _, err := other.Exec(`BEGIN IMMEDIATE`); err != nil {
		t.Fatal(err)
	}
	next := &compartments.Batch{Session: "ses", Version: 1, ListFrom: -1, State: []byte("x")}
	_, err = s.Commit(context.Background(), next)
	wantCode(t, err, compartments.CodeBusy)
	load(t, s, "ses") // reading goes on
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = s.Commit(ctx, next)
	wantCode(t, err, compartments.CodeCancelled)
	if _, err := other.Exec(`ROLLBACK`); err != nil {
		t.Fatal(err)
	}
	if v := commit(t, s, next); v != 2 {
		t.Errorf("version %d", v)
	}
}

func TestOpen_LockedIsBusy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ctx.db")
	if err := emptyAt(path); err != nil {
		t.Fatal(err)
	}
	other, err := sql.Open("sqlite", "file:"+path+"?_pragma=locking_mode(EXCLUSIVE)")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	other.SetMaxOpenConns(1)
	if _, err := other.Exec(`CREATE TABLE x (y)`); err != nil {
		t.Fatal(err)
	}
	wantCode(t, tryOpen(path, sqlite.Options{BusyTimeout: 20 * time.Millisecond}), compartments.CodeBusy)
}

func TestOpen_RollbackJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ctx.db")
	s := open(t, path, sqlite.Options{})
	store(t, s, "ses", user("m1", "hello"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, path, sqlite.Options{RollbackJournal: true})
	commit(t, s, &compartments.Batch{Session: "ses", Version: 1, ListFrom: -1, State: []byte("x")})
	load(t, s, "ses")
	if _, err := os.Stat(path + "-wal"); err == nil {
		t.Error("there is a write-ahead log")
	}
	second := open(t, path, sqlite.Options{RollbackJournal: true})
	commit(t, second, &compartments.Batch{Session: "ses", Version: 2, ListFrom: -1, State: []byte("y")})
	if st := load(t, s, "ses"); string(st.State) != "y" {
		t.Errorf("state %q", st.State)
	}
}

// TestOpen_MigratesOlderSchema: a database of an older version, here of none, is
// brought up to date, but not while another process has it open.
func TestOpen_MigratesOlderSchema(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ctx.db")
	sqlOn(t, path, `PRAGMA application_id = 0x63747870`, `PRAGMA journal_mode = WAL`)
	other, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	var n int
	if err := other.QueryRow(`SELECT count(*) FROM sqlite_schema`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	wantCode(t, tryOpen(path, sqlite.Options{BusyTimeout: 20 * time.Millisecond}), compartments.CodeBusy)
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	s := open(t, path, sqlite.Options{})
	store(t, s, "ses", user("m1", "hello"))
	load(t, s, "ses")
}

func TestClosed_FailsWithStorage(t *testing.T) {
	s := newStore(t)
	store(t, s, "ses", user("m1", "hello"))
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.Load(context.Background(), "ses")
	wantCode(t, err, compartments.CodeStorage)
	_, err = s.Commit(context.Background(), &compartments.Batch{Session: "ses", Version: 1, ListFrom: -1})
	wantCode(t, err, compartments.CodeStorage)
}

func TestLog_StaysSmall(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ctx.db")
	s := open(t, path, sqlite.Options{})
	text := strings.Repeat("0123456789abcdef", 1<<16)
	for v := range int64(60) { // 60 MB and more, hardly to be compressed together
		b := &compartments.Batch{Session: "ses", Version: v, ListFrom: int(v), List: []compartments.Ordinal{compartments.Ordinal(v + 1)},
			Entries: []compartments.EntryWrite{write(t, int(v+1), user(fmt.Sprint(v), fmt.Sprint(v)+scrambled(int(v), len(text))))}}
		commit(t, s, b)
		if info, err := os.Stat(path + "-wal"); err != nil || info.Size() > 36<<20 {
			t.Fatalf("after %d batches the log has %d bytes (%v)", v+1, info.Size(), err)
		}
	}
	// Indexing moves it into the file, and the next commit cuts it back.
	store(t, s, "other", user("m1", "hello"))
	if _, err := s.Index(context.Background(), 1); err != nil {
		t.Fatal(err)
	}
	store(t, s, "third", user("m1", "hello"))
	if info, err := os.Stat(path + "-wal"); err != nil || info.Size() > 5<<20 {
		t.Fatalf("after indexing the log has %d bytes (%v)", info.Size(), err)
	}
	// While it holds little it stays: the commit after a move waits for the disk.
	long := time.Unix(1_000_000_000, 0)
	if err := os.Chtimes(path, long, long); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Index(context.Background(), 1); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || !info.ModTime().Equal(long) {
		t.Fatalf("indexing has moved a log of a few pages into the file (%v)", err)
	}
}

// scrambled is text that does not compress.
func scrambled(seed, n int) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-"
	b := make([]byte, n)
	x := uint64(seed)*2862933555777941757 + 3037000493
	for i := range b {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		b[i] = letters[x>>58]
	}
	return string(b)
}

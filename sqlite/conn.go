package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// conn is one connection with the statements prepared on it. It serves one
// goroutine at a time. A statement must not be run again while its rows are
// open.
type conn struct {
	c     *sql.Conn
	stmts map[string]*sql.Stmt // by text
}

func connect(ctx context.Context, db *sql.DB) (*conn, error) {
	c, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return &conn{c: c, stmts: map[string]*sql.Stmt{}}, nil
}

func (c *conn) close() {
	for _, s := range c.stmts {
		_ = s.Close() // only frees memory
	}
	_ = c.c.Close() // gives the connection back to its pool, whose close reports
}

func (c *conn) stmt(ctx context.Context, query string) (*sql.Stmt, error) {
	if s, ok := c.stmts[query]; ok {
		return s, nil
	}
	s, err := c.c.PrepareContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("%w (in %.60q)", err, query)
	}
	c.stmts[query] = s
	return s, nil
}

func (c *conn) exec(ctx context.Context, query string, args ...any) error {
	_, err := c.run(ctx, query, args...)
	return err
}

// run is exec for those who need the key of the row inserted or the number of
// rows changed.
func (c *conn) run(ctx context.Context, query string, args ...any) (sql.Result, error) {
	s, err := c.stmt(ctx, query)
	if err != nil {
		return nil, err
	}
	return s.ExecContext(ctx, args...)
}

// row reads the first row into dest and reports whether there was one.
func (c *conn) row(ctx context.Context, query string, args []any, dest ...any) (bool, error) {
	s, err := c.stmt(ctx, query)
	if err != nil {
		return false, err
	}
	err = s.QueryRowContext(ctx, args...).Scan(dest...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// rows calls each for every row. each scans and must not use the connection for
// the same query.
func (c *conn) rows(ctx context.Context, query string, args []any, each func(*sql.Rows) error) (err error) {
	s, err := c.stmt(ctx, query)
	if err != nil {
		return err
	}
	rows, err := s.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := each(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// keys reads a column of integers.
func (c *conn) keys(ctx context.Context, query string, args ...any) ([]int64, error) {
	var list []int64
	err := c.rows(ctx, query, args, func(r *sql.Rows) error {
		var key int64
		err := r.Scan(&key)
		list = append(list, key)
		return err
	})
	return list, err
}

// checkpoint moves the write-ahead log into the file. TRUNCATE empties it too. What
// is in the way, a reader of any process or a statement of ours that is still being
// taken back, leaves that to the next one: all that was committed is in the log.
func (c *conn) checkpoint(ctx context.Context, how string) error {
	var busy, pages, moved int
	_, err := c.row(ctx, `PRAGMA wal_checkpoint(`+how+`)`, nil, &busy, &pages, &moved)
	if code := resultCode(err); code == codeBusy || code == codeLocked {
		return nil
	}
	return err
}

// leaveWAL turns a file with a write-ahead log into one with a rollback
// journal. It works where shared memory does not.
func (c *conn) leaveWAL(ctx context.Context) error {
	var mode string
	if _, err := c.row(ctx, `PRAGMA locking_mode = EXCLUSIVE`, nil, &mode); err != nil {
		return err
	}
	if _, err := c.row(ctx, `PRAGMA journal_mode = DELETE`, nil, &mode); err != nil {
		return err
	}
	if mode != "delete" {
		return fmt.Errorf("the database cannot leave journal mode %s", mode)
	}
	if _, err := c.row(ctx, `PRAGMA locking_mode = NORMAL`, nil, &mode); err != nil {
		return err
	}
	var tables int
	_, err := c.row(ctx, `SELECT count(*) FROM sqlite_schema`, nil, &tables) // the lock goes with the next access
	return err
}

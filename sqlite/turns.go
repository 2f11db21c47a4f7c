package sqlite

import (
	"context"

	"ctxplugin/compartments"
)

// reading is a connection inside a transaction, with what it takes to read
// blobs. Its context never ends, since watching one costs more than most
// statements; loops look at the caller's between rounds.
type reading struct {
	ctx    context.Context
	c      *conn
	pack   *packer
	nearby map[int64]blob // payloads read ahead, by key
}

// writing is a write transaction in progress. It holds the writer.
type writing struct {
	reading
	now   int64 // Unix ms, one for the whole transaction
	shown map[compartments.SessionID]*shown
}

// read runs f in a read transaction: f sees one state of the database. It must
// be short, because the write-ahead log cannot shrink under it.
func (s *Store) read(ctx context.Context, f func(*reading) error) error {
	return s.withReader(ctx, func(c *conn) error {
		if err := c.exec(ctx, `BEGIN`); err != nil {
			return err
		}
		r := &reading{ctx: context.WithoutCancel(ctx), c: c, pack: &s.pack}
		err := f(r)
		// Nothing was written, so either end does.
		if endErr := c.exec(r.ctx, `COMMIT`); endErr != nil && err == nil {
			err = endErr
		}
		return err
	})
}

// moveLog moves the write-ahead log into the file, as far as nobody reads it. A
// connection that reads does it, so that no commit has to wait; the next one
// writes the log again from its start if all of it was moved.
func (s *Store) moveLog(ctx context.Context) error {
	return s.withReader(ctx, func(c *conn) error { return c.checkpoint(context.WithoutCancel(ctx), "PASSIVE") })
}

// withReader runs f on a connection that reads, outside any transaction.
func (s *Store) withReader(ctx context.Context, f func(*conn) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	var c *conn
	select {
	case <-s.closing:
		return errClosed
	default:
	}
	select {
	case c = <-s.readers:
	case <-ctx.Done():
		return ctx.Err()
	case <-s.closing:
		return errClosed
	}
	defer func() { s.readers <- c }()
	if c == nil {
		if c, err = connect(ctx, s.readDB); err != nil {
			c = nil
			return err
		}
	}
	if err = f(c); err != nil && !c.idle(context.WithoutCancel(ctx)) {
		c.close()
		c = nil
	}
	return err
}

// write runs f in a write transaction. If f or the commit fails nothing has
// changed.
func (s *Store) write(ctx context.Context, f func(*writing) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var c *conn
	select {
	case <-s.closing:
		return errClosed
	default:
	}
	select {
	case c = <-s.turn:
	case <-ctx.Done():
		return ctx.Err()
	case <-s.closing:
		return errClosed
	}
	defer func() { s.turn <- c }()
	if c == nil { // given up after a failure that it could not recover from
		fresh, err := s.connectWriter(ctx)
		if err != nil {
			return err
		}
		c = fresh
	}
	if err := c.exec(ctx, `BEGIN IMMEDIATE`); err != nil {
		return err
	}
	w := &writing{reading{ctx: context.WithoutCancel(ctx), c: c, pack: &s.pack}, s.opts.Now().UnixMilli(), s.shown}
	err := f(w)
	if err == nil {
		err = c.exec(w.ctx, `COMMIT`)
	}
	if err != nil {
		// A failure such as a full disk may have rolled back already.
		_ = c.exec(w.ctx, `ROLLBACK`)
		if !c.idle(w.ctx) {
			c.close()
			c = nil
		}
		return err
	}
	if s.wal && fileSize(s.path+"-wal") > walMost {
		// Nobody paused for long enough to index. It is written again from its
		// start once all of it is in the file, and cut back then. A failure
		// leaves it for the next time.
		_ = c.checkpoint(w.ctx, "PASSIVE")
	}
	return nil
}

// upkeep runs f on the writer, outside any transaction.
func (s *Store) upkeep(ctx context.Context, f func(context.Context, *conn) error) error {
	select {
	case <-s.closing:
		return errClosed
	default:
	}
	select {
	case c := <-s.turn:
		defer func() { s.turn <- c }()
		if c == nil {
			return nil // the next write connects again
		}
		return f(context.WithoutCancel(ctx), c)
	case <-ctx.Done():
		return ctx.Err()
	case <-s.closing:
		return errClosed
	}
}

// idle reports whether the connection works and is in no transaction.
func (c *conn) idle(ctx context.Context) bool {
	if err := c.exec(ctx, `BEGIN`); err != nil {
		return false
	}
	return c.exec(ctx, `COMMIT`) == nil
}

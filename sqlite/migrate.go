package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var migrations embed.FS

// schemaVersion is the number of the newest migration, and the user_version
// that it sets.
const schemaVersion = 4

// migrate brings the schema up to date. It takes the file for itself until it
// is done, so that two processes never migrate at once, and a live connection
// of another process, never a process id, is what it waits for.
func (s *Store) migrate(ctx context.Context) error {
	db, err := sql.Open("sqlite", s.dsn(s.lockWait(), "locking_mode(EXCLUSIVE)", "secure_delete(1)", "temp_store(MEMORY)"))
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	err = migrateAlone(ctx, db)
	return damaged(errors.Join(err, db.Close()))
}

func migrateAlone(ctx context.Context, db *sql.DB) error {
	version, err := claim(ctx, db)
	if err != nil {
		return fmt.Errorf("take the database for a change of its schema: %w", err)
	}
	if version >= schemaVersion {
		return checkVersion(version)
	}
	sources, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, sources, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return fmt.Errorf("read the migrations: %w", err)
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("change the schema: %w", err)
	}
	return nil
}

// claim locks the file for as long as db is open and returns its version.
func claim(ctx context.Context, db *sql.DB) (version int, err error) {
	c, err := connect(ctx, db)
	if err != nil {
		return 0, err
	}
	defer c.close()
	var pages int
	if _, err := c.row(ctx, `PRAGMA page_count`, nil, &pages); err != nil {
		return 0, err
	}
	if pages == 0 {
		// Both take effect only before the first page is written.
		for _, pragma := range []string{
			fmt.Sprintf(`PRAGMA page_size = %d`, pageBytes),
			fmt.Sprintf(`PRAGMA application_id = %d`, applicationID),
		} {
			if err := c.exec(ctx, pragma); err != nil {
				return 0, err
			}
		}
	}
	// In exclusive locking mode the lock stays after the transaction.
	if err := c.exec(ctx, `BEGIN EXCLUSIVE`); err != nil {
		return 0, err
	}
	if err := c.exec(ctx, `COMMIT`); err != nil {
		return 0, err
	}
	_, err = c.row(ctx, `PRAGMA user_version`, nil, &version)
	return version, err
}

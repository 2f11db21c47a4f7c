package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	driver "modernc.org/sqlite"

	"ctxplugin/compartments"
)

// ErrDamaged is in the chain of every error that says that the database file
// itself is damaged. The next Open checks the file and moves it aside if so.
var ErrDamaged = errors.New("the database file is damaged")

// Primary result codes of SQLite that a caller decides on.
const (
	codeBusy      = 5
	codeLocked    = 6
	codeReadOnly  = 8
	codeInterrupt = 9
	codeCorrupt   = 11
	codeFull      = 13
	codeCantOpen  = 14
	codeNotADB    = 26
)

// resultCode is the primary SQLite result code in the chain of err, 0 if none.
func resultCode(err error) int {
	var e *driver.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// failure makes a coded error of anything that went wrong while doing what.
func failure(what string, err error) error {
	if err == nil {
		return nil
	}
	var coded *compartments.Error
	if errors.As(err, &coded) {
		return err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return compartments.Errorf(compartments.CodeCancelled, "%s: %w", what, err)
	}
	switch resultCode(err) {
	case codeBusy, codeLocked:
		return compartments.Errorf(compartments.CodeBusy, "%s: the database is locked by another process: %w", what, err)
	case codeInterrupt:
		return compartments.Errorf(compartments.CodeCancelled, "%s: %w", what, err)
	case codeFull:
		return compartments.Errorf(compartments.CodeStorage, "%s: the disk is full: %w", what, err)
	case codeReadOnly:
		return compartments.Errorf(compartments.CodeStorage, "%s: the database is read-only: %w", what, err)
	case codeCorrupt, codeNotADB:
		return compartments.Errorf(compartments.CodeStorage, "%s: %w; start again to have it moved aside", what,
			fmt.Errorf("%w: %w", ErrDamaged, err))
	}
	if errors.Is(err, fs.ErrPermission) {
		return compartments.Errorf(compartments.CodeStorage, "%s: no permission: %w", what, err)
	}
	return compartments.Errorf(compartments.CodeStorage, "%s: %w", what, err)
}

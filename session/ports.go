package session

import (
	"context"

	"ctxplugin/compartments"
	"ctxplugin/expand"
	"ctxplugin/historian"
)

// Store keeps sessions. Every method may be called from any goroutine.
//
// Errors carry a code: CodeBusy when another process committed first (reload
// and decide again) or the database stayed locked for the bounded wait,
// CodeStorage when it cannot be read or written, CodeNewerSchema when a newer
// binary owns it. After an error nothing has changed.
type Store interface {
	// Load returns a session, or nil if the store does not know it.
	Load(ctx context.Context, id compartments.SessionID) (*compartments.Stored, error)
	// Version is the version of a session as it is stored now; 0 if it is not.
	Version(ctx context.Context, id compartments.SessionID) (int64, error)
	// Commit stores a batch in one transaction and returns the new version.
	Commit(ctx context.Context, b *compartments.Batch) (version int64, err error)
	// Raw returns the stored JSON of messages, byte for byte, in the order asked.
	// An ordinal that the session never had is CodeNotFound.
	Raw(ctx context.Context, id compartments.SessionID, ordinals []compartments.Ordinal) ([][]byte, error)
	// Copies lists sessions whose first message has this content hash, newest
	// first: the sessions that id may be a fork of.
	Copies(ctx context.Context, id compartments.SessionID, first compartments.Hash) ([]compartments.SessionID, error)
	// Ledger sums up the folds of a session, oldest first.
	Ledger(ctx context.Context, id compartments.SessionID) ([]compartments.FoldSummary, error)
	// Folds returns the folds of a session, oldest first.
	Folds(ctx context.Context, id compartments.SessionID) ([]compartments.Fold, error)
	// Compartments returns every compartment that was ever stored, retired ones
	// too, by ID.
	Compartments(ctx context.Context, id compartments.SessionID) ([]compartments.Compartment, error)
	// Plan returns the bytes of a plan: the one in force, or one that a fold of the
	// last 20 made or replaced. Any other is CodeNotFound.
	Plan(ctx context.Context, id compartments.SessionID, planID string) ([]byte, error)
	// Search finds words or an exact string in messages and compartments.
	Search(ctx context.Context, id compartments.SessionID, query string, limit int) ([]compartments.Hit, error)
	// Index makes up to limit newly stored messages searchable and returns how
	// many wait still.
	Index(ctx context.Context, limit int) (left int, err error)
	// Forget removes a session with all that was derived from it.
	Forget(ctx context.Context, id compartments.SessionID) error
}

// Historian writes compartments from raw messages.
type Historian interface {
	// Write covers the messages of a range, in list order, with compartments:
	// each message in exactly one, no group of calls cut. The compartments come
	// in list order and without IDs. It returns fewer only when ctx ends.
	Write(ctx context.Context, r historian.Range) ([]compartments.Compartment, error)
}

// Leases give one process at a time the right to have a model write for a session.
type Leases interface {
	// Lease takes or renews that right for some ms, and reports whether holder has it.
	Lease(ctx context.Context, id compartments.SessionID, holder string, ms int64) (held bool, err error)
	// Unlease gives it up.
	Unlease(ctx context.Context, id compartments.SessionID, holder string) error
}

// Expander answers the tools of the model and session/expand.
type Expander interface {
	Call(ctx context.Context, v *expand.View, tool string, arguments []byte, room int) (expand.Result, error)
	Stored(ctx context.Context, v *expand.View, r expand.Request) (expand.Reply, error)
}

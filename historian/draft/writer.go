package draft

import (
	"context"

	"ctxplugin/compartments"
	"ctxplugin/historian"
)

// Writer has models write compartments. It may be used by several goroutines.
type Writer struct {
	cfg Config
}

// New returns a writer.
func New(cfg Config) *Writer { return &Writer{cfg: cfg} }

// Write covers the messages of a range with compartments, in list order: each
// message in exactly one, no group of calls cut. It may take minutes, and fails
// only when ctx ends.
func (w *Writer) Write(ctx context.Context, r historian.Range) ([]compartments.Compartment, error) {
	return w.cfg.Builtin.Write(ctx, r)
}

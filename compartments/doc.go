// Package compartments is the domain of ctxplugin: messages and their parts,
// ordinals, compartments with their tiers, retention, floors, and the types of
// plan, fold and decision that every other package speaks in.
//
// # Terminology
//
// An ordinal is the 1-based number a message gets when its session first shows
// it. It is never reused and never renumbered: a name, not a place. The place
// of a message is its index in the host's list, which is the only order there
// is; neither ids nor times are ever sorted.
//
// A compartment is a contiguous run of the host's list with one objective. It
// stores its members and is named by its first and last ordinal. A tier is one
// representation of it: raw (the messages themselves), full, dense, compact,
// anchor. A fold is the one event that changes which tier is applied; a plan is
// the set of mutations in force between two folds.
//
// # Invariants
//
// The package imports only the standard library. It never reads a clock, a
// random source, a file or the environment, and holds no package state that
// changes. Values that cross its borders are copied by the caller who keeps
// them: slices are never shared between a value and its owner's later edits.
package compartments

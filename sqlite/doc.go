// Package sqlite is the store: it keeps sessions in one SQLite file and
// implements the store interface that package session declares. SQL lives only
// here; nothing here decides anything.
//
// # Terminology
//
// A blob is an immutable run of bytes under a key. A document is a blob that a
// message, a compartment, a plan or a fold holds; a payload is a blob that
// documents share by content: the long strings of their JSON are cut out,
// named by SHA-256 and stored once for all sessions. An echo is a payload that
// repeats what the store already has (the result of one of our own tools) and
// is stored as its difference to that. A passage is the piece of a message's
// text that one row of the word index stands for.
//
// # Invariants
//
//   - A document reads back byte for byte; its SHA-256 is checked on every read.
//   - A batch is stored in one transaction or not at all, and only on top of the
//     version that it was made from.
//   - No database is ever deleted or overwritten: a damaged one is moved aside, a
//     newer or foreign one is refused before anything is written.
//   - The writer is never held while text is decoded, and for indexing and
//     forgetting only in small steps. Read transactions are short.
//   - Forgotten bytes leave the file, the write-ahead log and the word index.
//
// The package starts no goroutine, writes no log and reads the clock only
// through Options.Now.
package sqlite
